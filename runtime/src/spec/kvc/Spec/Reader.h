//===- Reader.h - Reading JSON objects by rule ------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The accessors that the spec's parser is written with. Each reads one key,
// checks type and range, and leaves its output alone when the key is absent.
// The first failure is kept; every function returns false once there is one.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SPEC_READER_H
#define KVC_SPEC_READER_H

#include "kvc/Spec/Json.h"
#include "kvc/Spec/Names.h"

#include <initializer_list>

namespace kvc::spec {

/// Where the first error of a document goes.
struct Diagnosis {
  std::optional<Error> error;

  bool fail(std::string path, const char *rule, std::string message) {
    if (!error)
      error = Error{std::move(path), rule, std::move(message)};
    return false;
  }
};

struct IntegerRange {
  int64_t low, high;
  bool contains(int64_t value) const { return low <= value && value <= high; }
  std::string str() const;
};

/// Largest token count that a spec names.
inline constexpr int64_t kMaxTokens = 0x7FFFFFFF;

/// The ranges of numbers that are no integer keys. They hold for the f64 and
/// for the f32 that it rounds to.
enum class NumberRange : uint8_t { Finite, Positive, UnitInterval };

/// `value` rounded to f32; infinite beyond it.
float roundToF32(double value);

/// `name` quoted with its nearest neighbour: " did you mean "x"?" or nothing.
std::string suggestion(std::string_view name,
                       const std::vector<std::string_view> &valid);

/// "\"a\", \"b\" or \"c\"".
std::string listed(const std::vector<std::string_view> &names);

bool readInteger(const JsonValue &value, const std::string &path,
                 IntegerRange range, const char *rule, int64_t &out,
                 Diagnosis &diagnosis);
bool readNumber(const JsonValue &value, const std::string &path,
                NumberRange range, const char *rule, double &out,
                Diagnosis &diagnosis);

/// A list [begin, end) of two integers with 0 <= begin < end <= limit.
bool readChannelRange(const JsonValue &value, const std::string &path,
                      int64_t limit, const char *rule,
                      std::array<int64_t, 2> &out, Diagnosis &diagnosis);

class ObjectReader {
public:
  ObjectReader(const JsonValue &value, std::string path, Diagnosis &diagnosis)
      : value(value), path(std::move(path)), diagnosis(diagnosis) {}

  /// Checks that this is an object whose keys are all among `keys`.
  bool open(std::initializer_list<std::string_view> keys);

  const JsonValue *find(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }
  std::string at(std::string_view key) const { return joinPath(path, key); }
  bool fail(std::string_view key, const char *rule, std::string message) {
    return diagnosis.fail(at(key), rule, std::move(message));
  }

  /// Fails unless `key` is there; `expected` says what it holds.
  bool require(std::string_view key, std::string_view expected);

  bool integer(std::string_view key, IntegerRange range, const char *rule,
               int64_t &out) {
    const JsonValue *child = find(key);
    return !child || readInteger(*child, at(key), range, rule, out, diagnosis);
  }
  bool number(std::string_view key, NumberRange range, const char *rule,
              double &out) {
    const JsonValue *child = find(key);
    return !child || readNumber(*child, at(key), range, rule, out, diagnosis);
  }
  bool boolean(std::string_view key, bool &out);
  bool string(std::string_view key, std::string &out);

  /// A string of `table`.
  template <typename T, size_t N>
  bool named(std::string_view key, const Named<T> (&table)[N], const char *rule,
             T &out) {
    std::vector<std::string_view> names;
    for (const Named<T> &entry : table)
      names.push_back(entry.name);
    std::optional<size_t> index;
    if (!word(key, names, rule, index))
      return false;
    if (index)
      out = table[*index].value;
    return true;
  }

private:
  bool word(std::string_view key, const std::vector<std::string_view> &names,
            const char *rule, std::optional<size_t> &index);

  const JsonValue &value;
  std::string path;
  Diagnosis &diagnosis;
};

} // namespace kvc::spec

#endif // KVC_SPEC_READER_H
