//===- Convert.h - Moving a tile between register layouts -------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A conversion between two layouts of one tile, classified by what it takes and
// priced in clocks of a multiprocessor per warp (issue slots, not latency).
//
//===----------------------------------------------------------------------===//

#ifndef KVC_LAYOUT_CONVERT_H
#define KVC_LAYOUT_CONVERT_H

#include "kvc/Layout/Layout.h"

namespace kvc::layout {

/// Clocks per warp instruction: ALUs and byte permutations take 64 lanes a
/// clock, shuffles and movmatrix 32.
struct InstructionCosts {
  double bytePermute = 0.5;
  double select = 0.5;
  double shuffle = 1.0;
  double movmatrix = 1.0;
  double shared16 = 8.0; ///< A 16-byte access of all lanes to shared memory.
  double barrier = 30.0;
};

/// What a conversion takes at most; each kind includes those before it.
enum class ConversionKind : uint8_t {
  None,
  Renaming,
  InLaneBytes,
  Movmatrix,
  Shuffles,
  SharedMemory
};

std::string_view nameOf(ConversionKind kind);

/// One step; `after` is the layout that it reaches.
struct ConversionStep {
  enum class Op : uint8_t {
    Movmatrix, ///< On every register.
    SwapPack,  ///< Pack digit `from` and register digit `to` change places.
    SwapLane,  ///< Lane digit `from` and register digit `to` change places: one
               ///< butterfly shuffle per pair of registers.
    Gather, ///< Lane digit `from` becomes the highest register digit; the lanes
            ///< that held its values hold copies from now on.
    Select, ///< Register digit `to` becomes lane digit `from`, where copies
            ///< were: each lane keeps half of its registers.
    Lanes,  ///< Lanes in another order: one indexed shuffle per register.
    InLane, ///< Pack and register digits in another order.
    Rename, ///< Register digits in another order: no instruction.
    Shared, ///< Store to and load from shared memory, between barriers.
  };
  Op op;
  unsigned from = 0, to = 0;
  RegisterLayout after;

  ConversionKind kind() const;
};

struct Conversion {
  std::vector<ConversionStep> steps;
  double cost = 0;
  /// Digits of free dims that come out under another number: (wanted, there).
  /// The other operand or the storage order absorbs it.
  std::vector<std::pair<Digit, Digit>> renumbering;

  /// The costliest kind among the steps.
  ConversionKind kind() const;
  /// Every kind among the steps in the order they run, "movmatrix + shuffles".
  std::string str() const;
};

/// The cheapest conversion found from `from` to `to`; at most one movmatrix,
/// first or last. "*" in `to` means that the value must be there in every copy.
/// Digits of `free` dims (contracted ones, if both operands agree) may be
/// renumbered. Nothing if the layouts are not of one tile and one machine:
/// digits, pack and lane counts must agree.
std::optional<Conversion> convert(const RegisterLayout &from,
                                  const RegisterLayout &to, Dims free = "",
                                  const InstructionCosts &costs = {});

} // namespace kvc::layout

#endif // KVC_LAYOUT_CONVERT_H
