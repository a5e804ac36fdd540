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

std::string kvc::jsonErrorOf(std::string_view text) {
  try {
    [[maybe_unused]] const Json document = Json::parse(text);
  } catch (const Json::exception &error) {
    // The library's name and number of the error stand in brackets first.
    const std::string_view said = error.what();
    const size_t end = said.find("] ");
    return std::string(end == said.npos ? said : said.substr(end + 2));
  }
  return "";
}

std::string kvc::documentOf(const Json &json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string kvc::lineOf(const Json &json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}
