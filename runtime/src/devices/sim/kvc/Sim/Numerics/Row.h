//===- Row.h - A register of all lanes of a warp ----------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Operations work on rows: the values that one register has in the 32 lanes of
// a warp. A row of a 64-bit register is 32 uint64_t, every other one 32
// uint32_t: 8 and 16 bits lie lowest, what lies above them is ignored in
// operands and 0 in results (or the sign, where an instruction extends it). A
// result may be written over an operand's row; other overlaps are not allowed.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_NUMERICS_ROW_H
#define KVC_SIM_NUMERICS_ROW_H

#include <cstdint>

namespace kvc::sim {

inline constexpr int kLanes = 32;

/// Bit l is lane l.
using LaneMask = uint32_t;
inline constexpr LaneMask kAllLanes = ~LaneMask(0);

/// Instruction sets of the machine that rows are compiled for. Every result is
/// the same on all of them.
enum class SimdLevel : uint8_t { Baseline, Avx2, Avx512 };

const char *nameOf(SimdLevel level);
bool isSupported(SimdLevel level);
/// The highest level that this machine runs.
SimdLevel bestSimdLevel();

/// Copies the lanes in `active` of a row of `Word`.
template <typename Word>
void copyLanes(Word *to, const Word *from, LaneMask active) {
  for (int lane = 0; lane < kLanes; ++lane)
    to[lane] = (active >> lane) & 1 ? from[lane] : to[lane];
}

} // namespace kvc::sim

#endif // KVC_SIM_NUMERICS_ROW_H
