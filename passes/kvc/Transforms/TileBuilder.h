//===- TileBuilder.h - Arithmetic on tiles, briefly -------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// An op builder for level-1 IR. Expansions of level-0 ops are formulas; this
// keeps them readable as such: `b.mul(x, b.broadcast(s, x))`.
//
// Binary operations take operands of equal type, or one tile and one value of
// fewer dims, which is then broadcast by name.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TRANSFORMS_TILEBUILDER_H
#define KVC_TRANSFORMS_TILEBUILDER_H

#include "kvc/Dialect/KVC/KVCTiles.h"
#include "kvc/Spec/SchemeInputs.h"
#include "kvc/Spec/Spec.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace kvc {

/// Inputs of a scheme as tiles.
struct SchemeTiles {
  mlir::Value scale, smooth; ///< Of every channel.
  mlir::Value table;         ///< <n>.
};

class TileBuilder : public mlir::ImplicitLocOpBuilder {
public:
  /// `flags` go onto sums, differences and products.
  TileBuilder(
      mlir::Location loc, mlir::OpBuilder &builder,
      mlir::arith::FastMathFlags flags = mlir::arith::FastMathFlags::none)
      : ImplicitLocOpBuilder(loc, builder), flags(flags) {}

  //===--------------------------------------------------------------------===//
  // Types
  //===--------------------------------------------------------------------===//

  /// The tile type with these dims.
  mlir::RankedTensorType tile(llvm::ArrayRef<TileDim> dims,
                              mlir::Type element) {
    return makeTile(getContext(), dims, element);
  }
  mlir::RankedTensorType f32Tile(llvm::ArrayRef<TileDim> dims) {
    return tile(dims, getF32Type());
  }
  /// The type that a raw element or a code of `codec` has in a tile.
  mlir::Type elementType(const spec::Codec &codec);

  //===--------------------------------------------------------------------===//
  // Constants and broadcasts
  //===--------------------------------------------------------------------===//

  mlir::Value index(int64_t value);
  /// A scalar or a splat, of any float or int type.
  mlir::Value constant(mlir::Type type, double value);
  mlir::Value constant(mlir::Type type, int64_t value);
  /// A constant of `like`'s type.
  template <typename T>
  mlir::Value constantLike(mlir::Value like, T value) {
    return constant(like.getType(), value);
  }
  /// `value` with the dims of `type`, by name; `value` itself if it has them.
  mlir::Value broadcast(mlir::Value value, mlir::Type type);

  //===--------------------------------------------------------------------===//
  // Schemes
  //===--------------------------------------------------------------------===//

  /// What codes are multiplied by: a stored scale, times the second level where
  /// the scheme has one.
  mlir::Value effectiveScale(const spec::Scale &scale, mlir::Value stored);
  /// Loaded codes as the numbers that a scale multiplies: integers are left as
  /// they are, patterns are decoded, indices looked up: in `table` where that
  /// is given per kv head.
  mlir::Value decoded(const spec::Codec &codec, mlir::Value codes,
                      mlir::Value table);
  /// What a part of a tensor's scheme takes beside k and v, null where it does
  /// not. Scales, second level included, and smoothing factors have the
  /// dim `channels`.
  SchemeTiles schemeTiles(mlir::Value cache, mlir::Value kvHead,
                          spec::Tensor tensor, unsigned part,
                          llvm::StringRef channels);
  mlir::Value loadScheme(mlir::Type type, mlir::Value cache, mlir::Value kvHead,
                         spec::Tensor tensor, unsigned part,
                         spec::RowField field);

  //===--------------------------------------------------------------------===//
  // Floats
  //===--------------------------------------------------------------------===//

  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs);
  mlir::Value div(mlir::Value lhs, mlir::Value rhs);
  /// The larger one; which of two zeros is unspecified.
  mlir::Value max(mlir::Value lhs, mlir::Value rhs);
  /// `value` within [low, high].
  mlir::Value clamp(mlir::Value value, double low, double high);
  mlir::Value add(mlir::Value lhs, double rhs) {
    return add(lhs, constantLike(lhs, rhs));
  }
  mlir::Value sub(mlir::Value lhs, double rhs) {
    return sub(lhs, constantLike(lhs, rhs));
  }
  mlir::Value mul(mlir::Value lhs, double rhs) {
    return mul(lhs, constantLike(lhs, rhs));
  }
  mlir::Value div(mlir::Value lhs, double rhs) {
    return div(lhs, constantLike(lhs, rhs));
  }
  /// `value` times a factor of any size, in steps that are normal f32s: as one
  /// constant a large factor would be infinite and make NaN of 0, and a small
  /// one would have lost bits.
  mlir::Value scale(mlir::Value value, double factor);
  /// `tile` with blocks of its last dim rotated; `tile` itself for a block of
  /// 0.
  mlir::Value rotate(mlir::Value tile, int64_t block);
  /// `count` channels from `first` on, called `dim`; `tile` itself where these
  /// are all and that is their name.
  mlir::Value slice(mlir::Value tile, int64_t first, int64_t count,
                    llvm::StringRef dim);
  /// Ordered comparison with a constant.
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value lhs,
                      double rhs);
  mlir::Value select(mlir::Value condition, mlir::Value then,
                     mlir::Value otherwise);

  //===--------------------------------------------------------------------===//
  // Integers: indices, i64 tiles
  //===--------------------------------------------------------------------===//

  mlir::Value addInt(mlir::Value lhs, mlir::Value rhs);
  mlir::Value subInt(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mulInt(mlir::Value lhs, int64_t rhs);
  /// Quotient and remainder of a value that is not negative.
  mlir::Value divInt(mlir::Value lhs, int64_t rhs);
  mlir::Value remInt(mlir::Value lhs, int64_t rhs);
  mlir::Value minInt(mlir::Value lhs, mlir::Value rhs);
  mlir::Value maxInt(mlir::Value lhs, mlir::Value rhs);
  mlir::Value addInt(mlir::Value lhs, int64_t rhs) {
    return addInt(lhs, constantLike(lhs, rhs));
  }
  mlir::Value subInt(mlir::Value lhs, int64_t rhs) {
    return subInt(lhs, constantLike(lhs, rhs));
  }
  mlir::Value maxInt(mlir::Value lhs, int64_t rhs) {
    return maxInt(lhs, constantLike(lhs, rhs));
  }
  mlir::Value minInt(mlir::Value lhs, int64_t rhs) {
    return minInt(lhs, constantLike(lhs, rhs));
  }
  mlir::Value compareInt(mlir::arith::CmpIPredicate predicate, mlir::Value lhs,
                         mlir::Value rhs);
  /// An index as i64.
  mlir::Value toI64(mlir::Value index);
  /// An i64, or a tile of them, as i32: the value must fit.
  mlir::Value toI32(mlir::Value value);
  /// An integer, or a tile of them, to the nearest f32.
  mlir::Value toF32(mlir::Value value);

private:
  /// Brings both sides to the type of the one with more dims.
  void unify(mlir::Value &lhs, mlir::Value &rhs);

  mlir::arith::FastMathFlags flags;
};

} // namespace kvc

#endif // KVC_TRANSFORMS_TILEBUILDER_H
