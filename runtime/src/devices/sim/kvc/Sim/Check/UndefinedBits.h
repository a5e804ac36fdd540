//===- UndefinedBits.h - Which bits of a result are undefined ---*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// What an instruction computes from undefined bits is undefined where the
// result depends on them: bitwise for logic, shifts, fields and choices; from
// the lowest undefined bit on for sums and products of integers; as a whole for
// everything else, halves of packed types apart. 0 * x stays undefined.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_CHECK_UNDEFINEDBITS_H
#define KVC_SIM_CHECK_UNDEFINEDBITS_H

#include "kvc/Sim/Decode/Program.h"

#include <span>

namespace kvc::sim {

inline constexpr uint64_t kAllBits = ~uint64_t(0);

/// The low bits of a word; from 64 on all.
inline uint64_t maskOf(unsigned bits) {
  return bits >= 64 ? kAllBits : (uint64_t(1) << bits) - 1;
}

/// A source of one lane: what it holds, and which of its bits mean nothing.
struct PartlyUndefined {
  uint64_t undefined = 0, value = 0;
};

/// All bits of a half in which any is undefined.
inline uint64_t wholeHalves(uint64_t undefined) {
  return (undefined & 0xFFFF ? 0xFFFFu : 0) |
         (undefined & 0xFFFF0000 ? 0xFFFF0000u : 0);
}

/// Undefined bits of the first result of an instruction that reads these, in
/// the order of its form.
uint64_t undefinedResult(const Inst &inst, const Modifiers &modifiers,
                         std::span<const PartlyUndefined> sources);

} // namespace kvc::sim

#endif // KVC_SIM_CHECK_UNDEFINEDBITS_H
