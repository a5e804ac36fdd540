//===- Json.cpp - A strict JSON tree --------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Spec/Json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_set>

using namespace kvc::spec;

namespace {

constexpr size_t kMaxDepth = 64;
/// Characters of user text that a message repeats.
constexpr size_t kShown = 40;

using Kind = JsonValue::Kind;

/// Builds the tree. Its base has the signatures of nlohmann's SAX interface; a
/// callback that returns false stops the parser.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
public:
  explicit TreeBuilder(std::string_view text) : text(text) {}

  JsonValue root;
  std::optional<Error> error;

  bool null() override {
    return fail(here(), "J7",
                "null is no value here, expected a value (leave the key out "
                "for its default), got null");
  }

  bool boolean(bool value) override {
    JsonValue *slot = add(Kind::Boolean);
    slot->boolean = value;
    return true;
  }

  bool number_integer(number_integer_t value) override {
    JsonValue *slot = add(Kind::Integer);
    slot->integer = value;
    slot->number = static_cast<double>(value);
    slot->text = std::to_string(value);
    return true;
  }

  bool number_unsigned(number_unsigned_t value) override {
    JsonValue *slot = add(Kind::Integer);
    slot->fits = value <= static_cast<uint64_t>(INT64_MAX);
    slot->integer = slot->fits ? static_cast<int64_t>(value) : 0;
    slot->number = static_cast<double>(value);
    slot->text = std::to_string(value);
    return true;
  }

  /// Also receives integers beyond 64 bits; their spelling tells.
  bool number_float(number_float_t value, const string_t &spelling) override {
    if (!std::isfinite(value))
      return fail(here(), "J3",
                  "number out of range, expected a finite number, got " +
                      shortened(spelling));
    bool integer = spelling.find_first_of(".eE") == string_t::npos;
    JsonValue *slot = add(integer ? Kind::Integer : Kind::Number);
    slot->fits = !integer;
    slot->number = value;
    slot->text = spelling;
    return true;
  }

  bool string(string_t &value) override {
    JsonValue *slot = add(Kind::String);
    slot->text = std::move(value);
    return true;
  }

  bool binary(binary_t &) override {
    return fail(here(), "J2", "binary value, expected JSON, got bytes");
  }

  bool start_object(std::size_t) override { return open(Kind::Object); }
  bool start_array(std::size_t) override { return open(Kind::List); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t &name) override {
    Frame &frame = frames.back();
    if (!frame.names.insert(name).second) {
      std::string object = pathOf(frames.size() - 1);
      return fail(joinPath(object, name), "J5",
                  "repeated key, expected each key once, got " + quote(name) +
                      " again");
    }
    frame.value->members.push_back({std::move(name), {}});
    return true;
  }

  bool parse_error(std::size_t position, const std::string &,
                   const nlohmann::detail::exception &exception) override {
    // `position` counts the characters read; the last one is inside the token.
    size_t at = std::min(position == 0 ? 0 : position - 1, text.size());
    size_t begin = at;
    while (begin > 0 && isWord(text[begin - 1]))
      --begin;
    size_t end = at;
    while (end < text.size() && isWord(text[end]))
      ++end;
    std::string_view word = text.substr(begin, end - begin);
    std::string where = " at " + lineAndColumn(begin);
    if (root.kind != Kind::None && frames.empty())
      return fail("$", "J6",
                  "text after the document" + where +
                      ", expected its end, got " +
                      quote(text.substr(begin, kShown)));
    std::string_view bare =
        word.substr(word.starts_with('-') || word.starts_with('+') ? 1 : 0);
    bool overflow = exception.id == 406;
    if (overflow || bare == "NaN" || bare == "nan" || bare == "Infinity" ||
        bare == "inf" || bare == "Inf")
      return fail(here(), "J3",
                  "number out of range" + where +
                      ", expected a finite number, got " + shortened(word));
    std::string got = at >= text.size()
                          ? "the end of the text"
                          : quote(word.empty() ? text.substr(at, 1) : word);
    return fail(here(), "J2",
                "not JSON" + where + ", expected " +
                    expectation(exception.what()) + ", got " + got);
  }

  bool fail(std::string path, const char *rule, std::string message) {
    if (!error)
      error = Error{std::move(path), rule, std::move(message)};
    return false;
  }

private:
  /// An open object or list. Its parent does not grow while it is open, so the
  /// pointer stays valid.
  struct Frame {
    JsonValue *value;
    std::unordered_set<std::string> names;
  };

  static bool isWord(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.' ||
           c == '_';
  }

  static std::string shortened(std::string_view spelling) {
    return spelling.size() <= kShown
               ? std::string(spelling)
               : std::string(spelling.substr(0, kShown)) + "..";
  }

  /// The parser's own words for what it wanted, which end its message, or for
  /// what is wrong with a string.
  static std::string expectation(std::string_view what) {
    const auto after = [&](std::string_view words) -> std::string {
      const size_t at = what.rfind(words);
      if (at == std::string_view::npos)
        return "";
      std::string_view rest = what.substr(at + words.size());
      return std::string(rest.substr(0, rest.find("; last read")));
    };
    if (std::string wanted = after("; expected "); !wanted.empty())
      return wanted;
    const std::string fault = after("invalid string: ");
    return fault.empty() ? "strict JSON" : "strict JSON (" + fault + ")";
  }

  std::string lineAndColumn(size_t offset) const {
    size_t line = 1 + std::count(text.begin(), text.begin() + offset, '\n');
    size_t newline = text.substr(0, offset).rfind('\n');
    size_t column =
        newline == std::string_view::npos ? offset + 1 : offset - newline;
    return "line " + std::to_string(line) + ", column " +
           std::to_string(column);
  }

  /// Where the next value goes.
  JsonValue *add(Kind kind) {
    JsonValue *slot = &root;
    if (!frames.empty()) {
      JsonValue *parent = frames.back().value;
      slot = parent->kind == Kind::List ? &parent->items.emplace_back()
                                        : &parent->members.back().value;
    }
    slot->kind = kind;
    return slot;
  }

  bool open(Kind kind) {
    if (frames.size() == kMaxDepth)
      return fail(here(), "J4",
                  "nested too deeply, expected at most 64 levels, got more");
    JsonValue *slot = add(kind);
    frames.push_back({slot, {}});
    return true;
  }

  bool close() {
    frames.pop_back();
    return true;
  }

  /// Path of the frame `depth`: each outer frame contributes its last child.
  std::string pathOf(size_t depth) const {
    std::string path = "$";
    for (size_t i = 0; i < depth; ++i) {
      const JsonValue &value = *frames[i].value;
      path = value.kind == Kind::List
                 ? joinPath(path, value.items.size() - 1)
                 : joinPath(path, value.members.back().key);
    }
    return path;
  }

  /// Path of the value that is being read.
  std::string here() const {
    if (frames.empty())
      return "$";
    std::string path = pathOf(frames.size() - 1);
    const JsonValue &value = *frames.back().value;
    if (value.kind == Kind::List)
      return joinPath(path, value.items.size());
    if (!value.members.empty() && value.members.back().value.kind == Kind::None)
      return joinPath(path, value.members.back().key);
    return path;
  }

  std::string_view text;
  std::vector<Frame> frames;
};

} // namespace

std::string JsonValue::str() const {
  switch (kind) {
  case Kind::None:
    return "nothing";
  case Kind::Boolean:
    return boolean ? "true" : "false";
  case Kind::Integer:
  case Kind::Number:
    return text.size() <= kShown ? text : text.substr(0, kShown) + "..";
  case Kind::String:
    return quote(text);
  case Kind::List:
    return "a list of " + std::to_string(items.size());
  case Kind::Object:
    return "an object";
  }
  return "nothing";
}

std::string kvc::spec::quote(std::string_view text) {
  static const char *digits = "0123456789abcdef";
  bool cut = text.size() > kShown;
  if (cut) {
    // Not through the middle of a UTF-8 sequence.
    size_t end = kShown;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
      --end;
    text = text.substr(0, end);
  }
  std::string out = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      out += "\\x";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    } else {
      out += c;
    }
  }
  return out + (cut ? "..\"" : "\"");
}

std::string kvc::spec::joinPath(const std::string &path, std::string_view key) {
  bool plain = !key.empty() && key.size() <= kShown;
  for (char c : key)
    plain &= (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
             (c >= '0' && c <= '9') || c == '_';
  if (plain)
    return path + "." + std::string(key);
  return path + "[" + quote(key) + "]";
}

std::string kvc::spec::joinPath(const std::string &path, size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

Expected<JsonValue> kvc::spec::readJson(std::string_view text) {
  // What nlohmann's lexer lets through: it skips a byte-order mark and takes a
  // zero byte for the end.
  if (text.starts_with("\xEF\xBB\xBF") || text.starts_with("\xFE\xFF") ||
      text.starts_with("\xFF\xFE"))
    return Error{"$", "J1",
                 "byte-order mark, expected UTF-8 text without one, got one at "
                 "its start"};
  if (size_t zero = text.find('\0'); zero != std::string_view::npos)
    return Error{"$", "J2",
                 "zero byte, expected JSON text, got one at byte " +
                     std::to_string(zero)};

  TreeBuilder builder(text);
  bool ok = nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  if (builder.error)
    return *builder.error;
  if (!ok)
    return Error{"$", "J2",
                 "not JSON, expected one document, got something else"};
  return std::move(builder.root);
}
