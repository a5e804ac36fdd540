//===- Reader.cpp - Reading JSON objects by rule --------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Spec/Reader.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace kvc::spec;

using Kind = JsonValue::Kind;

/// Edits (insert, delete, replace, swap neighbours) between two short words.
static size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1,
                                     std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    d[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j)
    d[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i)
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t best = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1,
                              d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        best = std::min(best, d[i - 2][j - 2] + 1);
      d[i][j] = best;
    }
  return d[a.size()][b.size()];
}

std::string kvc::spec::suggestion(std::string_view name,
                                  const std::vector<std::string_view> &valid) {
  std::string_view nearest;
  size_t best = std::numeric_limits<size_t>::max();
  // No valid word is longer than this by far; the cut bounds the work.
  std::string_view word = name.substr(0, 32);
  for (std::string_view candidate : valid)
    if (size_t distance = editDistance(word, candidate); distance < best) {
      best = distance;
      nearest = candidate;
    }
  return nearest.empty() ? "" : "; did you mean " + quote(nearest) + "?";
}

std::string kvc::spec::listed(const std::vector<std::string_view> &names) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i != 0)
      out += i + 1 == names.size() ? " or " : ", ";
    out += quote(names[i]);
  }
  return out;
}

std::string IntegerRange::str() const {
  return low == high ? std::to_string(low)
                     : "an integer from " + std::to_string(low) + " to " +
                           std::to_string(high);
}

float kvc::spec::roundToF32(double value) {
  // Half a step beyond the largest f32 is where nearest-even reaches infinity.
  constexpr double limit = 0x1.ffffffp127;
  if (std::fabs(value) >= limit)
    return std::copysign(std::numeric_limits<float>::infinity(),
                         static_cast<float>(value < 0 ? -1 : 1));
  return static_cast<float>(value);
}

bool kvc::spec::readInteger(const JsonValue &value, const std::string &path,
                            IntegerRange range, const char *rule, int64_t &out,
                            Diagnosis &diagnosis) {
  if (value.kind != Kind::Integer)
    return diagnosis.fail(path, "J10",
                          "wrong type, expected " + range.str() + ", got " +
                              value.str());
  if (!value.fits || !range.contains(value.integer))
    return diagnosis.fail(path, rule,
                          "out of range, expected " + range.str() + ", got " +
                              value.str());
  out = value.integer;
  return true;
}

static const char *nameOfRange(NumberRange range) {
  switch (range) {
  case NumberRange::Finite:
    return "a finite number";
  case NumberRange::Positive:
    return "a finite number > 0";
  case NumberRange::UnitInterval:
    return "a number in (0, 1]";
  }
  return "a number";
}

static bool isInside(NumberRange range, double value) {
  switch (range) {
  case NumberRange::Finite:
    return std::isfinite(value);
  case NumberRange::Positive:
    return std::isfinite(value) && value > 0;
  case NumberRange::UnitInterval:
    return value > 0 && value <= 1;
  }
  return false;
}

bool kvc::spec::readNumber(const JsonValue &value, const std::string &path,
                           NumberRange range, const char *rule, double &out,
                           Diagnosis &diagnosis) {
  std::string expected =
      std::string(", expected ") + nameOfRange(range) + ", got " + value.str();
  if (!value.isNumber())
    return diagnosis.fail(path, "J10", "wrong type" + expected);
  if (!isInside(range, value.number))
    return diagnosis.fail(path, rule, "out of range" + expected);
  if (!isInside(range, roundToF32(value.number)))
    return diagnosis.fail(path, rule,
                          "out of range after rounding to f32" + expected);
  out = value.number;
  return true;
}

bool kvc::spec::readChannelRange(const JsonValue &value,
                                 const std::string &path, int64_t limit,
                                 const char *rule, std::array<int64_t, 2> &out,
                                 Diagnosis &diagnosis) {
  if (value.kind != Kind::List)
    return diagnosis.fail(path, "J10",
                          "wrong type, expected a list [begin, end), got " +
                              value.str());
  if (value.items.size() != 2)
    return diagnosis.fail(
        path, rule,
        "wrong length, expected a list [begin, end) of 2, got " + value.str());
  for (size_t i = 0; i < 2; ++i)
    if (!readInteger(value.items[i], joinPath(path, i), {0, limit}, rule,
                     out[i], diagnosis))
      return false;
  if (out[0] >= out[1])
    return diagnosis.fail(
        path, rule,
        "empty channel range, expected [begin, end) with begin < end, got [" +
            std::to_string(out[0]) + ", " + std::to_string(out[1]) + ")");
  return true;
}

bool ObjectReader::open(std::initializer_list<std::string_view> keys) {
  if (value.kind != Kind::Object)
    return diagnosis.fail(path, "J10",
                          "wrong type, expected an object, got " + value.str());
  for (const JsonMember &member : value.members)
    if (std::find(keys.begin(), keys.end(), member.key) == keys.end())
      return fail(member.key, "J8",
                  "unknown key, expected " + listed(keys) + ", got " +
                      quote(member.key) + suggestion(member.key, keys));
  return true;
}

const JsonValue *ObjectReader::find(std::string_view key) const {
  for (const JsonMember &member : value.members)
    if (member.key == key)
      return &member.value;
  return nullptr;
}

bool ObjectReader::require(std::string_view key, std::string_view expected) {
  if (has(key))
    return true;
  return fail(key, "J9",
              "missing key, expected " + std::string(expected) +
                  ", got nothing");
}

bool ObjectReader::boolean(std::string_view key, bool &out) {
  const JsonValue *child = find(key);
  if (!child)
    return true;
  if (child->kind != Kind::Boolean)
    return fail(key, "J10",
                "wrong type, expected true or false, got " + child->str());
  out = child->boolean;
  return true;
}

bool ObjectReader::string(std::string_view key, std::string &out) {
  const JsonValue *child = find(key);
  if (!child)
    return true;
  if (child->kind != Kind::String)
    return fail(key, "J10",
                "wrong type, expected a string, got " + child->str());
  out = child->text;
  return true;
}

bool ObjectReader::word(std::string_view key,
                        const std::vector<std::string_view> &names,
                        const char *rule, std::optional<size_t> &index) {
  const JsonValue *child = find(key);
  if (!child)
    return true;
  if (child->kind != Kind::String)
    return fail(key, "J10",
                "wrong type, expected " + listed(names) + ", got " +
                    child->str());
  auto found = std::find(names.begin(), names.end(), child->text);
  if (found == names.end())
    return fail(key, rule,
                "unknown value, expected " + listed(names) + ", got " +
                    child->str() + suggestion(child->text, names));
  index = found - names.begin();
  return true;
}
