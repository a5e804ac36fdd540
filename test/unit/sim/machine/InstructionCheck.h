//===- InstructionCheck.h - One instruction, every lane ---------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// An instruction runs in a kernel of its own on random operands and corners,
// with all lanes and with some, at every level, and is compared with an
// expression of C++.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_SIM_MACHINE_INSTRUCTIONCHECK_H
#define KVC_TEST_UNIT_SIM_MACHINE_INSTRUCTIONCHECK_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kvc::test {

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using s8 = int8_t;
using s16 = int16_t;
using s32 = int32_t;
using s64 = int64_t;
__extension__ using u128 = unsigned __int128;
__extension__ using s128 = __int128;

/// What operands are drawn from.
enum class Draw : uint8_t { Any, Small, Float, Half };

struct InstructionCase {
  std::string text; ///< Up to its operands; with $d, $a, $b, $c in it: all.
  unsigned d;       ///< Bits of the registers.
  std::vector<unsigned> sources;
  std::function<u64(u64, u64, u64)> expected;
  Draw draw = Draw::Any;
  std::string version = "8.6", target = "sm_100a";
};

void checkAll(const std::vector<InstructionCase> &instructions);

} // namespace kvc::test

#endif // KVC_TEST_UNIT_SIM_MACHINE_INSTRUCTIONCHECK_H
