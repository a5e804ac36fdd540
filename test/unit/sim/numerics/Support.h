//===- Support.h - Oracles of the numerics tests ----------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Two oracles that share nothing with the library: a format as the sorted list
// of its values, in which rounding is a search; and the machine's float unit in
// each of its rounding modes.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_SIM_NUMERICS_SUPPORT_H
#define KVC_TEST_UNIT_SIM_NUMERICS_SUPPORT_H

#include "kvc/Sim/Numerics/FloatFormat.h"
#include "kvc/Sim/Numerics/Row.h"

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace kvc::test {

__extension__ using Quad = __float128;

inline float asFloat(uint32_t code) { return std::bit_cast<float>(code); }
inline double asFloat(uint64_t code) { return std::bit_cast<double>(code); }
inline uint32_t codeOf(float value) { return std::bit_cast<uint32_t>(value); }
inline uint64_t codeOf(double value) { return std::bit_cast<uint64_t>(value); }

/// A format of at most 16 bits by the values of its codes.
class ValueTable {
public:
  explicit ValueTable(const sim::FloatFormat &format);

  /// The value of a code that is finite.
  double value(uint64_t code) const;
  /// The code of `x` rounded; overflow goes to infinity or to the largest
  /// number as IEEE says, or always to the largest with `satfinite`.
  uint64_t round(Quad x, sim::Rounding rounding, bool satfinite = false) const;

private:
  sim::FloatFormat format;
  std::vector<double> values; ///< By code, from 0 to the largest number.
};

/// Runs with the machine's rounding mode set.
class MachineRounding {
public:
  explicit MachineRounding(sim::Rounding rounding);
  ~MachineRounding();
  MachineRounding(const MachineRounding &) = delete;
  MachineRounding &operator=(const MachineRounding &) = delete;

private:
  int saved;
};

inline constexpr sim::Rounding kIeeeRoundings[] = {
    sim::Rounding::NearestEven, sim::Rounding::TowardZero, sim::Rounding::Down,
    sim::Rounding::Up};

/// A repeatable stream of codes, rich in the cases that matter: zeros,
/// infinities, NaN, subnormals, the ends of the range, neighbours of powers of
/// two, and numbers of like size.
class Codes {
public:
  explicit Codes(uint64_t seed) : state(seed) {}

  uint64_t bits();
  uint64_t next(const sim::FloatFormat &format);

private:
  uint64_t state;
};

/// All levels that this machine runs.
std::vector<sim::SimdLevel> levels();

std::string hex(uint64_t value);

} // namespace kvc::test

#endif // KVC_TEST_UNIT_SIM_NUMERICS_SUPPORT_H
