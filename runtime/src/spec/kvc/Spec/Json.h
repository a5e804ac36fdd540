//===- Json.h - A strict JSON tree ------------------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A JSON document as a tree that keeps what a spec needs to know and ordinary
// readers lose: whether a number was written as an integer, the order of keys,
// and how a number was spelled. Reading is strict (rules J1-J7).
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SPEC_JSON_H
#define KVC_SPEC_JSON_H

#include "kvc/Spec/Spec.h"

namespace kvc::spec {

struct JsonMember;

struct JsonValue {
  enum class Kind : uint8_t {
    None,
    Boolean,
    Integer,
    Number,
    String,
    List,
    Object
  };

  Kind kind = Kind::None;
  bool boolean = false;
  bool fits = true; ///< Integer only: `integer` holds it.
  int64_t integer = 0;
  double number = 0; ///< Of integers too.
  std::string text;  ///< A string's content; a number as it was written.
  std::vector<JsonValue> items;
  std::vector<JsonMember> members;

  bool isNumber() const {
    return kind == Kind::Integer || kind == Kind::Number;
  }
  /// The value in an error message: "4.0", "\"abc\"", "a list of 3", "an
  /// object".
  std::string str() const;
};

struct JsonMember {
  std::string key;
  JsonValue value;
};

/// Reads one document. Never throws, needs no stack in proportion to the input.
Expected<JsonValue> readJson(std::string_view text);

/// `text` in double quotes, shortened and with everything unprintable escaped.
std::string quote(std::string_view text);

/// `path` extended by a key: "$.key", or "$[\"odd key\"]".
std::string joinPath(const std::string &path, std::string_view key);
std::string joinPath(const std::string &path, size_t index);

} // namespace kvc::spec

#endif // KVC_SPEC_JSON_H
