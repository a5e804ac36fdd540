//===- WarpTile.h - A tile in the registers of a warp -----------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A lane holds some elements of a tile, in a vector whose positions are the
// layout's pack and reg digits, lowest first. 16-bit elements of a layout that
// packs are pairs in a vector of i32.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CONVERSION_KVCTOGPU_WARPTILE_H
#define KVC_CONVERSION_KVCTOGPU_WARPTILE_H

#include "kvc/Conversion/KVKToVector/Emit.h"
#include "kvc/Layout/Layout.h"

#include <functional>
#include <map>

namespace kvc {

/// Indices of an element, by dim.
using Coordinates = std::map<layout::Dim, int64_t>;

/// Which elements a lane holds.
class WarpTile {
public:
  explicit WarpTile(layout::RegisterLayout layout);

  const layout::RegisterLayout &layout() const { return where; }
  /// Elements of a lane.
  int64_t size() const { return count; }
  bool isPacked() const { return !where.pack.empty(); }
  /// What the lane's digits leave open: the indices of its element `number`.
  int64_t index(layout::Dim dim, int64_t number) const;
  /// The element at these indices; digits on the lanes do not count.
  int64_t number(const Coordinates &indices) const;
  /// The vector of a lane.
  VectorType type(Type element) const;
  const layout::Digits &elements() const { return digits; }

private:
  layout::RegisterLayout where;
  layout::Digits digits;
  int64_t count;
};

/// The lane that runs, and what its digits add to indices.
class Lanes {
public:
  Lanes(Emit &b, mlir::Block *entry) : b(b), entry(entry) {}

  /// The lane's number, i32.
  Value number();
  /// The index of the lane's first element along `dim`.
  Value begin(const layout::RegisterLayout &layout, layout::Dim dim);
  /// Index of element `number` along `dim`.
  Value index(const WarpTile &tile, layout::Dim dim, int64_t number);
  /// Whether this lane is the first of those with the same elements; null if
  /// there is no other.
  Value isFirstCopy(const layout::RegisterLayout &layout);
  /// `value` of lane `lane` (i32).
  Value shuffle(Value value, Value lane);
  /// `value` of the lane whose number differs in `mask`.
  Value butterfly(Value value, int64_t mask);
  /// Is bit `position` of the lane's number set?
  Value bit(unsigned position);

private:
  Value exchange(Value value, Value operand, bool isButterfly);

  Emit &b;
  mlir::Block *entry;
  Value lane;
  std::map<std::string, Value> begins;
};

/// Emits `body` under `condition`, or without one if that is null.
void emitIf(Emit &b, Value condition, llvm::function_ref<void()> body);

} // namespace kvc

#endif // KVC_CONVERSION_KVCTOGPU_WARPTILE_H
