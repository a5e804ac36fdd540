//===- Layout.cpp - Digits, their text and their addresses ----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Layout/Layout.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>

namespace kvc::layout {

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

namespace {

bool isPowerOfTwo(int64_t value) {
  return value > 0 && std::has_single_bit(uint64_t(value));
}

/// Takes a decimal number without sign or leading zeros off the front of
/// `text`.
std::optional<int64_t> takeNumber(std::string_view &text) {
  if (text.empty() || text[0] < '0' || text[0] > '9' ||
      (text[0] == '0' && text.size() > 1 && text[1] >= '0' && text[1] <= '9'))
    return std::nullopt;
  int64_t value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc())
    return std::nullopt;
  text.remove_prefix(size_t(end - text.data()));
  return value;
}

bool takeChar(std::string_view &text, char wanted) {
  if (text.empty() || text[0] != wanted)
    return false;
  text.remove_prefix(1);
  return true;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ')
    text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ')
    text.remove_suffix(1);
  return text;
}

/// Takes the text before the next `separator` (or all of it) off the front.
std::string_view takePiece(std::string_view &text, char separator) {
  size_t end = std::min(text.find(separator), text.size());
  std::string_view piece = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return piece;
}

} // namespace

std::string str(const Digit &digit) {
  if (digit.isReplicated())
    return "*";
  if (digit.count == 2 && isPowerOfTwo(digit.place))
    return digit.dim + std::to_string(std::countr_zero(uint64_t(digit.place)));
  return std::string(1, digit.dim) + "[" + std::to_string(digit.place) + ":" +
         std::to_string(digit.count) + "]";
}

std::optional<Digit> parseDigit(std::string_view text) {
  if (text == "*")
    return Digit{};
  if (text.empty() || text[0] < 'a' || text[0] > 'z')
    return std::nullopt;
  Dim dim = text[0];
  text.remove_prefix(1);
  if (!takeChar(text, '[')) {
    std::optional<int64_t> number = takeNumber(text);
    if (!number || !text.empty() || *number > 61)
      return std::nullopt;
    return bitOf(dim, unsigned(*number));
  }
  std::optional<int64_t> place = takeNumber(text);
  if (!place || !takeChar(text, ':'))
    return std::nullopt;
  std::optional<int64_t> count = takeNumber(text);
  if (!count || !takeChar(text, ']') || !text.empty() || *place < 1 ||
      *count < 2 || *place > std::numeric_limits<int64_t>::max() / *count)
    return std::nullopt;
  return Digit{dim, *place, *count};
}

std::string str(const Digits &digits) {
  std::string text;
  for (const Digit &digit : digits)
    text += (text.empty() ? "" : " ") + str(digit);
  return text;
}

std::optional<Digits> parseDigits(std::string_view text) {
  Digits digits;
  while (!(text = trim(text)).empty()) {
    std::optional<Digit> digit = parseDigit(takePiece(text, ' '));
    if (!digit)
      return std::nullopt;
    digits.push_back(*digit);
  }
  return digits;
}

std::string str(const RegisterLayout &layout) {
  std::string text;
  auto add = [&](const char *name, const Digits &digits) {
    if (!digits.empty())
      text +=
          (text.empty() ? "" : " | ") + std::string(name) + " " + str(digits);
  };
  add("pack", layout.pack);
  add("reg", layout.reg);
  add("lane", layout.lane);
  add("warp", layout.warp);
  return text;
}

std::optional<RegisterLayout> parseRegisterLayout(std::string_view text) {
  RegisterLayout layout;
  while (!(text = trim(text)).empty()) {
    std::string_view piece = trim(takePiece(text, '|'));
    std::string_view name = takePiece(piece, ' ');
    Digits *space = name == "pack"   ? &layout.pack
                    : name == "reg"  ? &layout.reg
                    : name == "lane" ? &layout.lane
                    : name == "warp" ? &layout.warp
                                     : nullptr;
    std::optional<Digits> digits = parseDigits(piece);
    if (!space || !space->empty() || !digits || digits->empty())
      return std::nullopt;
    *space = *std::move(digits);
  }
  return layout;
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

int64_t extentOf(const Digits &digits) {
  int64_t extent = 1;
  for (const Digit &digit : digits)
    extent *= digit.count;
  return extent;
}

int64_t extentOf(const Digits &digits, Dim dim) {
  int64_t extent = 1;
  for (const Digit &digit : digits)
    extent *= digit.dim == dim ? digit.count : 1;
  return extent;
}

Digits digitsOf(Dim dim, int64_t extent, int64_t place) {
  Digits digits;
  for (; extent > 1 && extent % 2 == 0; extent /= 2, place *= 2)
    digits.push_back({dim, place, 2});
  if (extent > 1)
    digits.push_back({dim, place, extent});
  return digits;
}

bool coversOnce(const Digits &digits, Dim dim, int64_t extent) {
  Digits own;
  for (const Digit &digit : digits)
    if (digit.dim == dim)
      own.push_back(digit);
  std::sort(own.begin(), own.end(),
            [](const Digit &a, const Digit &b) { return a.place < b.place; });
  int64_t place = 1;
  for (const Digit &digit : own) {
    if (digit.place != place ||
        place > std::numeric_limits<int64_t>::max() / digit.count)
      return false;
    place *= digit.count;
  }
  return place == extent;
}

Digits RegisterLayout::digits() const {
  Digits all;
  for (const Digits *space : {&pack, &reg, &lane, &warp})
    for (const Digit &digit : *space)
      if (!digit.isReplicated())
        all.push_back(digit);
  return all;
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

std::vector<Term> termsOf(const Storage &storage) {
  std::vector<Term> terms;
  int64_t stride = 1;
  for (const Digit &digit : storage.addr) {
    // An order is dense, so strides are proportional exactly where neighbouring
    // digits follow each other in their index too.
    bool continues = !terms.empty() && terms.back().dim == digit.dim &&
                     terms.back().place * terms.back().count == digit.place;
    if (continues)
      terms.back().count *= digit.count;
    else
      terms.push_back({digit.dim, digit.place, digit.count, stride});
    stride *= digit.count;
  }
  return terms;
}

std::vector<Term> termsOf(const Storage &storage, Dims dims) {
  std::vector<Term> terms = termsOf(storage);
  std::erase_if(terms, [&](const Term &term) {
    return dims.find(term.dim) == Dims::npos;
  });
  return terms;
}

int64_t addressOf(const Storage &storage,
                  std::initializer_list<std::pair<Dim, int64_t>> index) {
  int64_t address = 0, stride = 1;
  for (const Digit &digit : storage.addr) {
    for (auto [dim, value] : index)
      if (dim == digit.dim)
        address += value / digit.place % digit.count * stride;
    stride *= digit.count;
  }
  return address;
}

int64_t bitAddressOf(const Storage &storage,
                     std::initializer_list<std::pair<Dim, int64_t>> index) {
  int64_t bits =
      addressOf({storage.addr, storage.width}, index) * int64_t(storage.width);
  for (const Step &step : storage.steps)
    for (auto [dim, value] : index)
      if (dim == step.digit.dim)
        bits += value / step.digit.place % step.digit.count * step.bytes * 8;
  return bits;
}

int64_t extentOf(const Storage &storage, Dim dim) {
  int64_t extent = extentOf(storage.addr, dim);
  for (const Step &step : storage.steps)
    if (step.digit.dim == dim)
      extent *= step.digit.count;
  return extent;
}

std::string str(const Step &step) {
  return str(step.digit) + " * " + std::to_string(step.bytes);
}

std::string str(const Storage &storage) {
  std::string text = str(storage.addr);
  for (const Step &step : storage.steps)
    text += (text.empty() ? "" : " ") + std::string("+ ") + str(step);
  return text;
}

} // namespace kvc::layout
