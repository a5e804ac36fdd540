//===- Dot.h - What all loop nests of kvk.dot share -------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// acc[r, j] (+)= row_scale[r] * lane_scale[j] * sum_k weights[r, k] * x[k, j]
//
// Integer weights: pairs of i16 codes are multiplied and summed in i32. Codes
// stay as they are stored; their bias is subtracted exactly by starting from
// -bias * sum_k weights[r, k]. With f32 weights codes become f32, the bias
// comes off in registers.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CONVERSION_KVKTOVECTOR_DOT_H
#define KVC_CONVERSION_KVKTOVECTOR_DOT_H

#include "kvc/Analysis/HostTarget.h"
#include "kvc/Analysis/TileOrder.h"
#include "kvc/Conversion/KVKToVector/CacheView.h"
#include "kvc/Conversion/KVKToVector/Codes.h"
#include "kvc/Dialect/KVK/KVKOps.h"

namespace kvc {

/// A tile operand: what its kvk.load and kvk.widen say.
struct TileOperand {
  HeadRegion region;
  TileOrder order;
  Type element;       ///< Stored: an integer or a float.
  const Codes &codes; ///< Integers: what they stand for.
  bool isTokenFree;   ///< Tokens are the free dim, channels contracted.
  Value token, valid, channel;

  /// Tokens that are not there must not enter a sum, whatever their weight.
  bool isExact() const { return !isTokenFree && (isRaw() || codes.mayBeNaN()); }
  bool isRaw() const { return mlir::isa<mlir::FloatType>(element); }
  layout::Dim contracted() const { return isTokenFree ? 'c' : 't'; }
  layout::Dim free() const { return isTokenFree ? 't' : 'c'; }
};

/// The parts of a dot that no loop nest changes.
class Dot {
public:
  Dot(Emit &b, const HostTarget &target, kvk::DotOp op, int64_t bias,
      double unit);

  Emit &b;
  const HostTarget &target;
  Value weights, operand, acc, rowScales, laneScales; ///< Scales may be null.
  bool accumulates;
  /// Blocks of the contracted dim that have rows of lane scales; 0: all of it
  /// has one.
  int64_t scaleBlocks = 0;
  int64_t rows, depth, lanes;
  bool isInteger; ///< i16 weights.
  int64_t bias;
  double unit; ///< What the operand's elements count.

  Type sumElement() const {
    return isInteger ? Type(b.getI32Type()) : Type(b.getF32Type());
  }

  /// The same product with padded weights, or over padded lanes into `into`
  /// without scales.
  Dot withWeights(Value padded, int64_t depth) const;
  Dot into(Value sums, int64_t lanes) const;

  /// Calls `body` for groups of `size` rows and for what is left over.
  void
  forRowGroups(int64_t size,
               llvm::function_ref<void(Value row, int64_t count)> body) const;
  /// Integers: -bias * sum of each row's weights. Else empty.
  SmallVector<Value> corrections(Value row, int64_t count) const;
  /// acc + the product of `x` and a weight (pair) splat.
  Value multiplyAdd(Value acc, Value x, Value weight) const;
  /// weights[row, k] (and k + 1) in all lanes.
  Value weightSplat(Value row, Value k, int64_t lanes, bool isPair) const;
  /// Scales a vector of sums and stores it to acc[row, lane..].
  void store(Value sums, Value row, Value lane, Value laneScale) const;
  /// lane_scale[lane..], or null where there is none or one for each block.
  Value laneScale(Value lane, int64_t lanes) const;

private:
  Value pairDot(Value acc, Value x, Value weights) const;
  Value weightSum(Value row) const;
};

/// Prefetches what lies ahead of `pointer`, as the target says.
void prefetchAhead(Emit &b, const HostTarget &target, Value pointer,
                   Value pageStride);

/// The free dim on lanes. Null tile: the operand is a panel [K, J].
void emitLaneDot(const Dot &dot, const TileOperand *tile);
/// The contracted dim on lanes. Null tile: the operand is a panel [J, K].
void emitRowDot(const Dot &dot, const TileOperand *tile);

} // namespace kvc

#endif // KVC_CONVERSION_KVKTOVECTOR_DOT_H
