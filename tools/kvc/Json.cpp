//===- Json.cpp - JSON documents of the tools -----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Json.h"

using namespace kvc;

Json kvc::parseJson(std::string_view text) {
  Json result = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return result.is_discarded() ? Json() : result;
}

std::string kvc::documentOf(const Json &json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string kvc::lineOf(const Json &json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}
