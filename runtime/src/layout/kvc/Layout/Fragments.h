//===- Fragments.h - Layouts of instruction operands ------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// What the instructions of the targets want: matrix fragments of mma.sync, the
// 8x8 blocks of ldmatrix and movmatrix, SIMD registers. Their dims are m, n, k;
// `rename` gives them the names of a tile.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_LAYOUT_FRAGMENTS_H
#define KVC_LAYOUT_FRAGMENTS_H

#include "kvc/Layout/Layout.h"

namespace kvc::layout {

enum class MmaOperand : uint8_t { A, B, C };

/// Lane bits of a warp.
inline constexpr unsigned kWarpLaneBits = 5;

/// Fragment of mma.sync m16n8k(256/bits), `bits` 32, 16, 8 or 4: A (m, k),
/// B (k, n) or the 32-bit accumulator C (m, n).
RegisterLayout mmaFragment(MmaOperand operand, unsigned bits = 16);

/// A SIMD register: the digits of its lanes and of the elements inside one
/// lane.
RegisterLayout simdFragment(Digits lane, Digits pack = {});

/// The fragment without one digit: m16n8k8 lacks k3; a tail of eight rows lacks
/// m3.
RegisterLayout withoutDigit(RegisterLayout layout, const Digit &digit);

/// Gives dims other names: rename(f, {{'m', 't'}, {'k', 'c'}}).
RegisterLayout rename(RegisterLayout layout,
                      std::initializer_list<std::pair<Dim, Dim>> names);

/// True if movmatrix applies: 16-bit elements in all lanes of a warp.
bool canMovmatrix(const RegisterLayout &layout);
/// The layout after movmatrix on every register: the six positions pack 0 and
/// lane 0..4 turn by three, which transposes 8x8 blocks.
RegisterLayout movmatrix(RegisterLayout layout);

enum class LdmatrixForm : uint8_t { None, Plain, Transposed };

/// The form of ldmatrix that reads `operand` from a shared memory order. A row
/// of its 8x8 blocks is the eight 16-bit units of the lowest address digits.
LdmatrixForm ldmatrixForm(const Storage &storage,
                          const RegisterLayout &operand);

} // namespace kvc::layout

#endif // KVC_LAYOUT_FRAGMENTS_H
