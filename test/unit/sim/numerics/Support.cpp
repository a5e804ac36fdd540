//===- Support.cpp - Oracles of the numerics tests ------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Support.h"

#include <algorithm>
#include <cfenv>
#include <charconv>
#include <cmath>

using namespace kvc;
using namespace kvc::test;

ValueTable::ValueTable(const sim::FloatFormat &format) : format(format) {
  // Each exponent has 2^fractionBits values; the lowest ones lie in steps of
  // the second exponent, without a leading one.
  for (uint64_t code = 0; code <= format.largest(); ++code) {
    auto exponent = int(code >> format.fractionBits);
    double fraction = double(code & format.fractionMask());
    double leading = exponent ? std::ldexp(1.0, format.fractionBits) : 0;
    values.push_back(std::ldexp(leading + fraction, std::max(exponent, 1) -
                                                        format.bias() -
                                                        format.fractionBits));
  }
}

double ValueTable::value(uint64_t code) const {
  double magnitude = values.at(code & (format.signBit() - 1));
  return code & format.signBit() ? -magnitude : magnitude;
}

uint64_t ValueTable::round(Quad x, sim::Rounding rounding,
                           bool satfinite) const {
  bool negative = x < 0;
  Quad magnitude = negative ? -x : x;
  uint64_t sign = negative ? format.signBit() : 0;
  // Comparing with an f64 is quick where that is the number itself.
  auto narrow = double(magnitude);
  auto found = Quad(narrow) == magnitude
                   ? std::lower_bound(values.begin(), values.end(), narrow)
                   : std::lower_bound(values.begin(), values.end(), magnitude);
  auto above = uint64_t(found - values.begin());
  if (above < values.size() && Quad(values[above]) == magnitude)
    return sign | above;
  uint64_t below = above - 1;
  // The number that would follow the largest decides whether it is nearer.
  bool overflows = above == values.size();
  Quad step = Quad(values[values.size() - 1]) - Quad(values[values.size() - 2]);
  Quad high = overflows ? Quad(values.back()) + step : Quad(values[above]);
  Quad low = values[below];
  bool up = false;
  switch (rounding) {
  case sim::Rounding::TowardZero:
    break;
  case sim::Rounding::Down:
    up = negative;
    break;
  case sim::Rounding::Up:
    up = !negative;
    break;
  case sim::Rounding::NearestEven:
  case sim::Rounding::NearestAway:
    up = magnitude - low > high - magnitude ||
         (magnitude - low == high - magnitude &&
          (rounding == sim::Rounding::NearestAway || below % 2 == 1));
  }
  if (overflows)
    return sign | (up && !satfinite ? format.infinity() : format.largest());
  return sign | (up ? above : below);
}

MachineRounding::MachineRounding(sim::Rounding rounding)
    : saved(std::fegetround()) {
  switch (rounding) {
  case sim::Rounding::NearestEven:
  case sim::Rounding::NearestAway:
    std::fesetround(FE_TONEAREST);
    break;
  case sim::Rounding::TowardZero:
    std::fesetround(FE_TOWARDZERO);
    break;
  case sim::Rounding::Down:
    std::fesetround(FE_DOWNWARD);
    break;
  case sim::Rounding::Up:
    std::fesetround(FE_UPWARD);
    break;
  }
}

MachineRounding::~MachineRounding() { std::fesetround(saved); }

uint64_t Codes::bits() {
  // splitmix64
  uint64_t z = state += 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

uint64_t Codes::next(const sim::FloatFormat &format) {
  uint64_t choice = bits() % 16, random = bits();
  uint64_t all = format.signBit() * 2 - 1;
  uint64_t sign = random & format.signBit();
  uint64_t fraction = random & format.fractionMask();
  auto withExponent = [&](int64_t exponent) {
    int64_t highest = (int64_t(1) << format.exponentBits) - 1;
    exponent = std::clamp<int64_t>(exponent, 0, highest);
    return sign | uint64_t(exponent) << format.fractionBits | fraction;
  };
  switch (choice) {
  case 0: // Zeros, subnormals, the smallest normal numbers.
    return sign |
           (random >> 40) % 3 *
               ((uint64_t(1) << format.fractionBits) - 1 + (random >> 50) % 3);
  case 1:
    return sign | fraction;
  case 2: // Infinity, NaN, the largest numbers.
    return sign | (format.infinity() - 2 + (random >> 40) % 5);
  case 3: // Around powers of two.
    fraction =
        uint64_t(int64_t((random >> 40) % 5) - 2) & format.fractionMask();
    return withExponent(format.bias() + int64_t(random >> 50) % 8 - 4);
  case 4: // Few bits set.
    fraction &= bits() & bits() & bits();
    return withExponent(format.bias() + int64_t(random >> 50) % 32 - 16);
  case 5:
  case 6:
  case 7:
    return random & all;
  case 8: // The low end, where results become subnormal.
    return withExponent(format.bias() / 2 + int64_t(random >> 50) % 32 - 16);
  case 9: // The high end, where they overflow.
    return withExponent(format.bias() * 3 / 2 + int64_t(random >> 50) % 32 -
                        16);
  default: // Numbers of like size.
    return withExponent(format.bias() + int64_t(random >> 50) % 8 - 4);
  }
}

std::vector<sim::SimdLevel> kvc::test::levels() {
  std::vector<sim::SimdLevel> supported;
  for (sim::SimdLevel level :
       {sim::SimdLevel::Baseline, sim::SimdLevel::Avx2, sim::SimdLevel::Avx512})
    if (sim::isSupported(level))
      supported.push_back(level);
  return supported;
}

std::string kvc::test::hex(uint64_t value) {
  char text[16];
  auto [end, error] = std::to_chars(text, text + sizeof(text), value, 16);
  return "0x" + std::string(text, end);
}
