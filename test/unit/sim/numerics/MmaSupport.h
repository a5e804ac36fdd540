//===- MmaSupport.h - Matrices in and out of registers ----------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Fragments by the formulas of the PTX ISA, written out once more, so that the
// library's tables are compared with something else.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_SIM_NUMERICS_MMASUPPORT_H
#define KVC_TEST_UNIT_SIM_NUMERICS_MMASUPPORT_H

#include "Support.h"

#include "kvc/Sim/Numerics/HostFloat.h"
#include "kvc/Sim/Numerics/Mma.h"

#include <array>

namespace kvc::test {

/// Codes of A [16][k], B [k][8], and C and D [16][8].
struct Matrices {
  uint32_t a[16][64] = {}, b[64][8] = {}, c[16][8] = {}, d[16][8] = {};
};

inline int elementBits(sim::Type type) {
  switch (type) {
  case sim::Type::TF32:
  case sim::Type::F32:
  case sim::Type::S32:
    return 32;
  case sim::Type::F16:
  case sim::Type::BF16:
    return 16;
  case sim::Type::S4:
  case sim::Type::U4:
    return 4;
  default:
    return 8;
  }
}

/// Runs an instruction over matrices.
inline void runMma(const sim::Mma &mma, const sim::MmaForm &form,
                   Matrices &matrices) {
  uint32_t a[4][32] = {}, b[2][32] = {}, c[4][32] = {}, d[4][32] = {};
  const int bits = elementBits(form.a), per = 32 / bits;
  const int regsA = form.k * bits * 16 / 1024, regsB = regsA / 2;
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane / 4, thread = lane % 4;
    for (int reg = 0; reg < regsA; ++reg)
      for (int i = 0; i < per; ++i) {
        // Register 0: row group, 1: row group + 8, then the second half of k.
        int row = reg % 2 ? group + 8 : group;
        int k = thread * per + i + (reg / 2) * 4 * per;
        a[reg][lane] |= matrices.a[row][k] << (i * bits % 32);
      }
    for (int reg = 0; reg < regsB; ++reg)
      for (int i = 0; i < per; ++i)
        b[reg][lane] |= matrices.b[thread * per + i + reg * 4 * per][group]
                        << (i * bits % 32);
    for (int i = 0; i < 4; ++i) {
      uint32_t code = matrices.c[i < 2 ? group : group + 8][thread * 2 + i % 2];
      if (form.d == sim::Type::F16)
        c[i / 2][lane] |= code << (i % 2 * 16);
      else
        c[i][lane] = code;
    }
  }
  uint32_t *rowsD[] = {d[0], d[1], d[2], d[3]};
  const uint32_t *rowsA[] = {a[0], a[1], a[2], a[3]};
  const uint32_t *rowsB[] = {b[0], b[1]};
  const uint32_t *rowsC[] = {c[0], c[1], c[2], c[3]};
  {
    sim::HostFloatScope scope;
    mma(rowsD, rowsA, rowsB, rowsC);
  }
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i)
      matrices.d[i < 2 ? lane / 4 : lane / 4 + 8][lane % 4 * 2 + i % 2] =
          form.d == sim::Type::F16 ? d[i / 2][lane] >> (i % 2 * 16) & 0xFFFF
                                   : d[i][lane];
}

inline const sim::FloatFormat &mmaFormat(sim::Type type) {
  switch (type) {
  case sim::Type::F16:
    return sim::kF16;
  case sim::Type::BF16:
    return sim::kBF16;
  case sim::Type::TF32:
    return sim::kTF32;
  case sim::Type::E4M3:
    return sim::kE4M3;
  case sim::Type::E5M2:
    return sim::kE5M2;
  default:
    return sim::kF32;
  }
}

} // namespace kvc::test

#endif // KVC_TEST_UNIT_SIM_NUMERICS_MMASUPPORT_H
