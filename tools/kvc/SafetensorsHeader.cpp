//===- SafetensorsHeader.cpp - The JSON header of safetensors -------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The header is an object of objects of known shape, so the events of a SAX
// parser drive a small state machine that refuses the first thing it does not
// expect. Nesting is bounded by the states; no tree is ever built.
//
//===----------------------------------------------------------------------===//

#include "kvc/SafetensorsHeader.h"

#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

using namespace kvc::safetensors;
using namespace kvc::safetensors::detail;

namespace {

/// Reads characters and tells how many were read, so that errors can name the
/// byte: the SAX interface itself has no positions.
class CountingIterator {
public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = const char &;

  CountingIterator(const char *at, const char **seen) : at(at), seen(seen) {}
  reference operator*() const { return *at; }
  CountingIterator &operator++() {
    *seen = ++at;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const CountingIterator &other) const {
    return at == other.at;
  }
  bool operator!=(const CountingIterator &other) const {
    return at != other.at;
  }

private:
  const char *at;
  const char **seen;
};

/// Where the parser stands: what the next event may be.
enum class State {
  Document,     ///< The one object.
  Name,         ///< A tensor's name or `__metadata__`, or the end.
  Entry,        ///< A tensor's object.
  Property,     ///< dtype, shape or data_offsets, or the end.
  DType,        ///< A string.
  Shape,        ///< An array.
  Extent,       ///< A number or the end of the array.
  Offsets,      ///< An array.
  Offset,       ///< A number or the end of the array.
  Metadata,     ///< An object.
  MetadataName, ///< A key or the end.
  MetadataText, ///< A string.
  Done
};

const char *expectedIn(State state) {
  switch (state) {
  case State::Document:
    return "an object";
  case State::Name:
    return "a tensor's name";
  case State::Entry:
    return "an object with dtype, shape and data_offsets";
  case State::Property:
    return "one of dtype, shape, data_offsets";
  case State::DType:
    return "a string for dtype";
  case State::Shape:
    return "an array for shape";
  case State::Extent:
    return "an extent, an integer from 0 to 2^63-1";
  case State::Offsets:
    return "an array of two integers for data_offsets";
  case State::Offset:
    return "a byte offset, an integer from 0 to 2^63-1";
  case State::Metadata:
    return "an object for __metadata__";
  case State::MetadataName:
    return "a key of __metadata__";
  case State::MetadataText:
    return "a string in __metadata__";
  case State::Done:
    return "the end";
  }
  return "";
}

class HeaderHandler {
public:
  HeaderHandler(Header &header, const char *begin, const char *const *seen,
                uint64_t base)
      : header(header), begin(begin), seen(seen), base(base) {}

  Error error; ///< Set when an event returned false; `file` is left out.

  // The interface of nlohmann::json's SAX parser.
  bool null() { return unexpected("null"); }
  bool boolean(bool value) { return unexpected(value ? "true" : "false"); }
  bool number_integer(int64_t value) {
    return unexpected(std::to_string(value));
  }
  bool number_float(double, const std::string &text) {
    return unexpected(text);
  }
  bool number_unsigned(uint64_t value) {
    if (state != State::Extent && state != State::Offset)
      return unexpected(std::to_string(value));
    if (value > uint64_t(std::numeric_limits<int64_t>::max()))
      return unexpected(std::to_string(value));
    if (state == State::Extent) {
      entry().shape.push_back(int64_t(value));
      return true;
    }
    if (offsets == 2)
      return fail("data_offsets, expected two integers, got more");
    (offsets == 0 ? entry().begin : entry().end) = value;
    ++offsets;
    return true;
  }
  bool string(const std::string &text) {
    if (state == State::MetadataText) {
      header.metadata[metadataKey] = text;
      state = State::MetadataName;
      return true;
    }
    if (state != State::DType)
      return unexpected("the string " + printable(text));
    std::optional<kvc::safetensors::DType> type = dtypeOf(text);
    if (!type)
      return fail("dtype, expected one of F64, F32, F16, BF16, U8, I8, U16, "
                  "I16, U32, I32, U64, I64, BOOL, got " +
                  printable(text));
    entry().dtype = *type;
    state = State::Property;
    return true;
  }
  bool binary(const std::vector<uint8_t> &) { return unexpected("binary"); }
  bool start_object(size_t) {
    switch (state) {
    case State::Document:
      state = State::Name;
      return true;
    case State::Entry:
      state = State::Property;
      return true;
    case State::Metadata:
      state = State::MetadataName;
      return true;
    default:
      return unexpected("an object");
    }
  }
  bool key(const std::string &text) {
    switch (state) {
    case State::Name:
      return topKey(text);
    case State::Property:
      return propertyKey(text);
    case State::MetadataName:
      if (header.metadata.count(text))
        return fail("__metadata__, expected every key once, got " +
                    printable(text) + " twice");
      metadataKey = text;
      state = State::MetadataText;
      return true;
    default:
      return unexpected("a key");
    }
  }
  bool end_object() {
    switch (state) {
    case State::Property:
      if (!hasDType || !hasShape || !hasOffsets)
        return fail(std::string("the entry, expected dtype, shape and "
                                "data_offsets, got no ") +
                    (!hasDType   ? "dtype"
                     : !hasShape ? "shape"
                                 : "data_offsets"));
      inEntry = false;
      state = State::Name;
      return true;
    case State::MetadataName:
      state = State::Name;
      return true;
    case State::Name:
      state = State::Done;
      return true;
    default:
      return unexpected("the end of an object");
    }
  }
  bool start_array(size_t) {
    if (state == State::Shape) {
      state = State::Extent;
      return true;
    }
    if (state == State::Offsets) {
      state = State::Offset;
      offsets = 0;
      return true;
    }
    return unexpected("an array");
  }
  bool end_array() {
    if (state == State::Offset && offsets != 2)
      return fail("data_offsets, expected two integers, got " +
                  std::to_string(offsets));
    state = State::Property;
    return true;
  }
  bool parse_error(size_t, const std::string &,
                   const nlohmann::detail::exception &ex) {
    // "[json.exception.parse_error.101] parse error at line 1, column 3: WHY"
    std::string_view why = ex.what();
    if (size_t cut = why.find("] "); cut != std::string_view::npos)
      why.remove_prefix(cut + 2);
    if (size_t cut = why.find(": "); cut != std::string_view::npos)
      why.remove_prefix(cut + 2);
    return fail("the header, expected strict JSON in UTF-8, got " +
                printable(why));
  }

private:
  detail::Entry &entry() { return header.entries.back(); }

  bool topKey(const std::string &text) {
    if (!names.insert(text).second)
      return fail("the header, expected every name once, got " +
                  printable(text) + " twice");
    if (text == "__metadata__") {
      state = State::Metadata;
      return true;
    }
    header.entries.emplace_back();
    entry().name = text;
    entry().offset = position();
    hasDType = hasShape = hasOffsets = false;
    inEntry = true;
    state = State::Entry;
    return true;
  }

  bool propertyKey(const std::string &text) {
    bool *seenBefore = text == "dtype"          ? &hasDType
                       : text == "shape"        ? &hasShape
                       : text == "data_offsets" ? &hasOffsets
                                                : nullptr;
    if (!seenBefore)
      return unexpected("the key " + printable(text));
    if (*seenBefore)
      return fail("the entry, expected every key once, got " + printable(text) +
                  " twice");
    *seenBefore = true;
    state = text == "dtype"   ? State::DType
            : text == "shape" ? State::Shape
                              : State::Offsets;
    return true;
  }

  /// The last byte that was read.
  uint64_t position() const {
    uint64_t read = uint64_t(*seen - begin);
    return base + (read ? read - 1 : 0);
  }

  bool fail(std::string message) {
    error.message = std::move(message);
    error.offset = position();
    if (inEntry)
      error.tensor = entry().name;
    return false;
  }

  bool unexpected(const std::string &got) {
    return fail(std::string("the header, expected ") + expectedIn(state) +
                ", got " + got);
  }

  Header &header;
  const char *begin;
  const char *const *seen;
  uint64_t base;
  State state = State::Document;
  std::set<std::string> names;
  std::string metadataKey;
  bool inEntry = false;
  bool hasDType = false, hasShape = false, hasOffsets = false;
  int offsets = 0; ///< Numbers read of one data_offsets.
};

} // namespace

std::string detail::printable(std::string_view text) {
  constexpr size_t limit = 160;
  static const char digits[] = "0123456789abcdef";
  std::string result = "\"";
  for (char c : text.substr(0, limit)) {
    auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) {
      result += "\\x";
      result += digits[byte >> 4];
      result += digits[byte & 15];
    } else {
      if (c == '"' || c == '\\')
        result += '\\';
      result += c;
    }
  }
  result += text.size() > limit ? "..\"" : "\"";
  return result;
}

std::optional<std::string> detail::jsonString(std::string_view text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception &) {
    return std::nullopt;
  }
}

Expected<Header> detail::parseHeader(std::string_view text, uint64_t base,
                                     const std::string &file) {
  // The format wants '{' as the very first byte, which also excludes a
  // byte-order mark, and spaces alone as padding.
  if (text.empty() || text.front() != '{')
    return Error{file, "", base, "the header, expected '{' as its first byte"};
  size_t last = text.find_last_not_of(' ');
  if (text[last] != '}')
    return Error{file, "", base + last,
                 "the header, expected '}' and then spaces only at its end"};

  Header header;
  const char *begin = text.data();
  const char *seen = begin;
  HeaderHandler handler(header, begin, &seen, base);
  bool ok = nlohmann::json::sax_parse(
      CountingIterator(begin, &seen),
      CountingIterator(begin + text.size(), &seen), &handler);
  if (!ok) {
    handler.error.file = file;
    return std::move(handler.error);
  }
  return header;
}
