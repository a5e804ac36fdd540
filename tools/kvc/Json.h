//===- Json.h - JSON documents of the tools ---------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// What the commands read and print. The library's parser and printer are
// compiled in Json.cpp alone: in each file they would take longer than all else
// in it.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_JSON_H
#define KVC_TOOLS_JSON_H

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace kvc {

/// Keys stay in the order in which they were added.
using Json = nlohmann::ordered_json;

/// Null in place of a document if the text is none. (A document can be null
/// too; callers expect an object or a list.)
Json parseJson(std::string_view text);

/// Why the text is no JSON and where; empty if it is.
std::string jsonErrorOf(std::string_view text);

/// For people and machines: indented, with a newline at the end; bytes that are
/// not UTF-8 are replaced.
std::string documentOf(const Json &json);

/// The same on one line, without a newline.
std::string lineOf(const Json &json);

} // namespace kvc

#endif // KVC_TOOLS_JSON_H
