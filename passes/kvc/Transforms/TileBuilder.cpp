//===- TileBuilder.cpp - Arithmetic on tiles, briefly ---------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Transforms/TileBuilder.h"

#include "kvc/Dialect/KVC/KVCTileOps.h"
#include "kvc/Dialect/KVC/KVCTypes.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace kvc {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type TileBuilder::elementType(const spec::Codec &codec) {
  return codec.isRaw() ? elementTypeOf(getContext(), codec.raw) : getI8Type();
}

//===----------------------------------------------------------------------===//
// Constants and broadcasts
//===----------------------------------------------------------------------===//

Value TileBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(*this, value);
}

static TypedAttr splat(Type type, Attribute element) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    return DenseElementsAttr::get(shaped, element);
  return cast<TypedAttr>(element);
}

Value TileBuilder::constant(Type type, double value) {
  // Through f32: a spec's number means its nearest f32.
  FloatAttr element =
      FloatAttr::get(getElementTypeOrSelf(type), static_cast<float>(value));
  return arith::ConstantOp::create(*this, splat(type, element));
}

Value TileBuilder::constant(Type type, int64_t value) {
  IntegerAttr element = IntegerAttr::get(getElementTypeOrSelf(type), value);
  return arith::ConstantOp::create(*this, splat(type, element));
}

Value TileBuilder::broadcast(Value value, Type type) {
  auto shaped = dyn_cast<RankedTensorType>(type);
  if (!shaped)
    return value;
  auto result = RankedTensorType::get(
      shaped.getShape(), getElementTypeOrSelf(value), shaped.getEncoding());
  return value.getType() == result
             ? value
             : BroadcastOp::create(*this, result, value).getResult();
}

void TileBuilder::unify(Value &lhs, Value &rhs) {
  auto rank = [](Value value) {
    auto shaped = dyn_cast<RankedTensorType>(value.getType());
    return shaped ? shaped.getRank() : 0;
  };
  if (rank(lhs) < rank(rhs))
    lhs = broadcast(lhs, rhs.getType());
  else
    rhs = broadcast(rhs, lhs.getType());
}

//===----------------------------------------------------------------------===//
// Schemes
//===----------------------------------------------------------------------===//

Value TileBuilder::effectiveScale(const spec::Scale &scale, Value stored) {
  bool hasGlobal = scale.dtype == spec::DType::E4M3 && scale.global != 1;
  return hasGlobal ? mul(stored, scale.global) : stored;
}

Value TileBuilder::loadScheme(Type type, Value cache, Value kvHead,
                              spec::Tensor tensor, unsigned part,
                              spec::RowField field) {
  return LoadSchemeOp::create(*this, type, cache, kvHead, tensor, part, field);
}

SchemeTiles TileBuilder::schemeTiles(Value cache, Value kvHead,
                                     spec::Tensor tensor, unsigned number,
                                     StringRef channels) {
  const spec::PartScheme &part =
      spec::schemeOf(cast<CacheType>(cache.getType()).getSpec(), tensor)
          ->parts[number];
  RankedTensorType perChannel = f32Tile({{channels, part.channels()}});
  auto load = [&](Type type, spec::RowField field) {
    return loadScheme(type, cache, kvHead, tensor, number, field);
  };
  SchemeTiles tiles;
  if (part.hasStaticScale())
    tiles.scale =
        effectiveScale(*part.scale, load(perChannel, spec::RowField::Scale));
  if (part.smooth)
    tiles.smooth = load(perChannel, spec::RowField::Smooth);
  if (part.codec.takesTable())
    tiles.table = load(f32Tile({{"n", int64_t(1) << part.codec.bits}}),
                       spec::RowField::Table);
  return tiles;
}

Value TileBuilder::decoded(const spec::Codec &codec, Value codes, Value table) {
  Type type = cloneWithElement(codes.getType(), getF32Type());
  if (table)
    return GatherOp::create(*this, type, codes, table);
  if (codec.isFloatCode())
    return DecodeFloatOp::create(*this, type, codes, codec.kind);
  if (codec.kind == spec::CodecKind::Lut)
    return LookupOp::create(*this, type, codes, codec.table);
  return codes;
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

Value TileBuilder::add(Value lhs, Value rhs) {
  unify(lhs, rhs);
  return arith::AddFOp::create(*this, lhs, rhs, flags);
}

Value TileBuilder::sub(Value lhs, Value rhs) {
  unify(lhs, rhs);
  return arith::SubFOp::create(*this, lhs, rhs, flags);
}

Value TileBuilder::mul(Value lhs, Value rhs) {
  unify(lhs, rhs);
  return arith::MulFOp::create(*this, lhs, rhs, flags);
}

Value TileBuilder::div(Value lhs, Value rhs) {
  unify(lhs, rhs);
  return arith::DivFOp::create(*this, lhs, rhs);
}

Value TileBuilder::max(Value lhs, Value rhs) {
  unify(lhs, rhs);
  return arith::MaxNumFOp::create(*this, lhs, rhs);
}

Value TileBuilder::clamp(Value value, double low, double high) {
  // Compares rather than maxnumf, which plain x86-64 calls a library for in
  // some shapes; a NaN becomes `low` all the same.
  Value raised = select(compare(arith::CmpFPredicate::OGT, value, low), value,
                        constantLike(value, low));
  return select(compare(arith::CmpFPredicate::OLT, raised, high), raised,
                constantLike(raised, high));
}

Value TileBuilder::scale(Value value, double factor) {
  for (; factor >= 0x1p127; factor *= 0x1p-64)
    value = mul(value, 0x1p64);
  for (; factor > 0 && factor < 0x1p-126; factor *= 0x1p64)
    value = mul(value, 0x1p-64);
  return mul(value, factor);
}

Value TileBuilder::rotate(Value tile, int64_t block) {
  return block == 0
             ? tile
             : RotateOp::create(*this, tile.getType(), tile, block).getResult();
}

Value TileBuilder::slice(Value tile, int64_t first, int64_t count,
                         StringRef dim) {
  auto [name, extent] = tileDimsOf(tile.getType()).back();
  return first == 0 && count == extent && name == dim
             ? tile
             : SliceOp::create(*this, tile, first, count, dim).getResult();
}

Value TileBuilder::compare(arith::CmpFPredicate predicate, Value lhs,
                           double rhs) {
  return arith::CmpFOp::create(*this, predicate, lhs, constantLike(lhs, rhs));
}

Value TileBuilder::select(Value condition, Value then, Value otherwise) {
  unify(then, otherwise);
  return arith::SelectOp::create(*this, broadcast(condition, then.getType()),
                                 then, otherwise);
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

Value TileBuilder::addInt(Value lhs, Value rhs) {
  unify(lhs, rhs);
  return arith::AddIOp::create(*this, lhs, rhs);
}

Value TileBuilder::subInt(Value lhs, Value rhs) {
  unify(lhs, rhs);
  return arith::SubIOp::create(*this, lhs, rhs);
}

Value TileBuilder::mulInt(Value lhs, int64_t rhs) {
  return rhs == 1 ? lhs
                  : arith::MulIOp::create(*this, lhs, constantLike(lhs, rhs))
                        .getResult();
}

Value TileBuilder::divInt(Value lhs, int64_t rhs) {
  return rhs == 1 ? lhs
                  : arith::DivUIOp::create(*this, lhs, constantLike(lhs, rhs))
                        .getResult();
}

Value TileBuilder::remInt(Value lhs, int64_t rhs) {
  return arith::RemUIOp::create(*this, lhs, constantLike(lhs, rhs));
}

Value TileBuilder::minInt(Value lhs, Value rhs) {
  unify(lhs, rhs);
  return arith::MinSIOp::create(*this, lhs, rhs);
}

Value TileBuilder::maxInt(Value lhs, Value rhs) {
  unify(lhs, rhs);
  return arith::MaxSIOp::create(*this, lhs, rhs);
}

Value TileBuilder::compareInt(arith::CmpIPredicate predicate, Value lhs,
                              Value rhs) {
  unify(lhs, rhs);
  return arith::CmpIOp::create(*this, predicate, lhs, rhs);
}

Value TileBuilder::toI64(Value index) {
  return arith::IndexCastOp::create(*this, getI64Type(), index);
}

/// `type` with another element type.
static Type withElement(Type type, Type element) {
  if (auto shaped = dyn_cast<RankedTensorType>(type))
    return shaped.clone(element);
  return element;
}

Value TileBuilder::toI32(Value value) {
  return arith::TruncIOp::create(
      *this, withElement(value.getType(), getI32Type()), value);
}

Value TileBuilder::toF32(Value value) {
  return arith::SIToFPOp::create(
      *this, withElement(value.getType(), getF32Type()), value);
}

} // namespace kvc
