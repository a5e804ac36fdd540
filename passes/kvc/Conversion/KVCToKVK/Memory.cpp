//===- Memory.cpp - Tile operations that touch memory, in a loop nest -----===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Converter.h"

#include "kvc/Dialect/KVK/KVKOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kvc {

namespace {

Type withElement(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(element);
  return element;
}

Value loadAs(OpBuilder &builder, Location loc, Type type, Value memory,
             ValueRange indices) {
  Type stored = cast<MemRefType>(memory.getType()).getElementType();
  Type loaded = withElement(type, stored);
  Value value =
      isa<VectorType>(type)
          ? Value(vector::LoadOp::create(builder, loc, cast<VectorType>(loaded),
                                         memory, indices))
          : Value(memref::LoadOp::create(builder, loc, memory, indices));
  return loaded == type
             ? value
             : Value(arith::ExtFOp::create(builder, loc, type, value));
}

void storeTo(OpBuilder &builder, Location loc, Value value, Value memory,
             ValueRange indices) {
  if (isa<VectorType>(value.getType()))
    vector::StoreOp::create(builder, loc, value, memory, indices);
  else
    memref::StoreOp::create(builder, loc, value, memory, indices);
}

/// Adds a constant to a code of any integer type.
Value addConstant(OpBuilder &builder, Location loc, Value value,
                  int64_t addend) {
  if (addend == 0)
    return value;
  TypedAttr attribute =
      builder.getIntegerAttr(getElementTypeOrSelf(value.getType()), addend);
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    attribute = SplatElementsAttr::get(vector, attribute);
  return arith::AddIOp::create(
      builder, loc, value, arith::ConstantOp::create(builder, loc, attribute));
}

/// The metadata that an op moves.
template <typename Op>
constexpr kvk::MetaKind metaKindOf() {
  if constexpr (std::is_same_v<Op, LoadScaleOp> ||
                std::is_same_v<Op, StoreScaleOp>)
    return kvk::MetaKind::Scale;
  else if constexpr (std::is_same_v<Op, LoadZeroOp> ||
                     std::is_same_v<Op, StoreZeroOp>)
    return kvk::MetaKind::Zero;
  else if constexpr (std::is_same_v<Op, LoadOutlierIndicesOp> ||
                     std::is_same_v<Op, StoreOutlierIndicesOp>)
    return kvk::MetaKind::OutlierIndex;
  else
    return kvk::MetaKind::OutlierValue;
}

/// A vector of codes with its bits moved by a constant.
template <typename Op>
Value shiftedBits(OpBuilder &builder, Location loc, Value codes,
                  int64_t count) {
  auto type = cast<VectorType>(codes.getType());
  auto by = SplatElementsAttr::get(
      type, builder.getIntegerAttr(type.getElementType(), count));
  return Op::create(builder, loc, codes,
                    arith::ConstantOp::create(builder, loc, by));
}

} // namespace

/// Where row `row + r` of a kv head is: rows of all queries of a head follow
/// each other, `group` heads per query. Out-of-range rows read the last one.
Converter::QueryRow Converter::queryRow(Value row, Value rowEnd, Value kvHead,
                                        int64_t group,
                                        const Iteration &iteration) {
  Location loc = row.getLoc();
  Value at = arith::AddIOp::create(builder, loc, row, iteration.iv("r"));
  Value last = arith::SubIOp::create(builder, loc, rowEnd, index(1));
  QueryRow result;
  result.inRange = arith::CmpIOp::create(builder, loc,
                                         arith::CmpIPredicate::slt, at, rowEnd);
  Value clamped = arith::MinSIOp::create(builder, loc, at, last);
  Value firstHead = arith::MulIOp::create(builder, loc, kvHead, index(group));
  result.query = arith::DivUIOp::create(builder, loc, clamped, index(group));
  result.head = arith::AddIOp::create(
      builder, loc, firstHead,
      arith::RemUIOp::create(builder, loc, clamped, index(group)));
  return result;
}

/// First channel of this iteration: its place in the block behind the blocks
/// before it.
Value Converter::channelOf(const TileShape &shape, const Iteration &iteration) {
  Value begin = beginOf(shape, iteration);
  if (!shape.isLoop("b"))
    return begin;
  Location loc = function.getLoc();
  Value block = arith::MulIOp::create(builder, loc, iteration.iv("b"),
                                      index(shape.vector->second));
  return arith::AddIOp::create(builder, loc, block, begin);
}

/// The field as a scalar or vector.
Value Converter::emitLoadScheme(LoadSchemeOp load, Type type) {
  return kvk::LoadSchemeOp::create(builder, load.getLoc(), type,
                                   scalar(load.getCache()),
                                   scalar(load.getKvHead()), load.getTensor(),
                                   load.getPart(), load.getField());
}

/// A row of the raw rows or of the input, whichever has it.
Value Converter::emitGiven(LoadGivenOp load, const Iteration &iteration) {
  Location loc = load.getLoc();
  TileShape shape = TileShape::of(load.getType());
  auto type = cast<VectorType>(shape.iterationType());
  auto stored = cast<VectorType>(
      withElement(type, load.getMemref().getType().getElementType()));
  Value row = shape.isLoop("t") ? iteration.iv("t") : index(0);
  Value channel =
      arith::AddIOp::create(builder, loc, channelOf(shape, iteration),
                            index(static_cast<int64_t>(load.getChannel())));
  Value isRaw = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                      row, scalar(load.getCount()));
  auto branch = scf::IfOp::create(builder, loc, type, isRaw,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  // Widened before they meet: a narrow float is no value to carry.
  auto yield = [&](Value value) {
    if (value.getType() != type)
      value = arith::ExtFOp::create(builder, loc, type, value);
    scf::YieldOp::create(builder, loc, value);
  };
  builder.setInsertionPointToStart(branch.thenBlock());
  Value token =
      arith::AddIOp::create(builder, loc, scalar(load.getToken()), row);
  yield(kvk::LoadRowOp::create(
      builder, loc, stored, scalar(load.getRaw()), scalar(load.getKvHead()),
      token, channel, load.getTensor(), /*part=*/0,
      /*storage=*/kvk::StorageAttr(), /*page=*/IntegerAttr()));
  builder.setInsertionPointToStart(branch.elseBlock());
  Value at = arith::AddIOp::create(builder, loc, scalar(load.getIndex()), row);
  yield(loadAs(builder, loc, stored, scalar(load.getMemref()),
               {at, scalar(load.getKvHead()), channel}));
  return branch.getResult(0);
}

bool loadsMetaTile(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<LoadScaleOp, LoadZeroOp, LoadOutlierIndicesOp, LoadOutlierValuesOp>(
          [](auto load) {
            TileShape shape = TileShape::of(load.getType());
            return !load.getUnaligned() && shape.vector &&
                   shape.vector->first == "t" && shape.loops.size() == 1 &&
                   shape.loops.front().extent > 1;
          })
      .Default(false);
}

void Converter::convertLoadMetaTile(Operation *op) {
  Value into =
      newScratch(TileShape::of(op->getResult(0).getType()).scratchType());
  tiles[op->getResult(0)].scratch = into;
  llvm::TypeSwitch<Operation *>(op)
      .Case<LoadScaleOp, LoadZeroOp, LoadOutlierIndicesOp, LoadOutlierValuesOp>(
          [&](auto load) {
            kvk::LoadMetaTileOp::create(
                builder, load.getLoc(), scalar(load.getCache()),
                scalar(load.getKvHead()), scalar(load.getToken()),
                scalar(load.getValid()), into, load.getTensor(), load.getPart(),
                metaKindOf<decltype(load)>(),
                /*storage=*/kvk::StorageAttr(), /*page=*/IntegerAttr());
          });
}

bool Converter::emitMemory(Operation *op, Iteration &iteration) {
  Location loc = op->getLoc();
  auto define = [&](Value tile, Value value) {
    iteration.values[tile] = value;
  };
  auto typeOf = [](Value tile) {
    return TileShape::of(tile.getType()).iterationType();
  };
  auto shifted = [&](Value channel, int64_t by) -> Value {
    return by == 0 ? channel
                   : arith::AddIOp::create(builder, loc, channel, index(by));
  };
  auto guarded = [&](Value condition, llvm::function_ref<void()> body) {
    auto branch =
        scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    body();
  };

  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](LoadQueryOp load) {
        QueryRow row =
            queryRow(scalar(load.getRow()), scalar(load.getRowEnd()),
                     scalar(load.getKvHead()), load.getGroup(), iteration);
        auto type = cast<VectorType>(typeOf(load.getResult()));
        Value value =
            loadAs(builder, loc, type, scalar(load.getMemref()),
                   {row.query, row.head,
                    beginOf(TileShape::of(load.getType()), iteration)});
        Value zero =
            arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
        define(load.getResult(),
               arith::SelectOp::create(builder, loc, row.inRange, value, zero));
        return true;
      })
      .Case([&](LoadRowValuesOp load) {
        QueryRow row =
            queryRow(scalar(load.getRow()), scalar(load.getRowEnd()),
                     scalar(load.getKvHead()), load.getGroup(), iteration);
        define(load.getResult(),
               memref::LoadOp::create(builder, loc, scalar(load.getMemref()),
                                      ValueRange{row.head}));
        return true;
      })
      .Case([&](LoadInputOp load) {
        TileShape shape = TileShape::of(load.getType());
        define(load.getResult(),
               loadAs(builder, loc, shape.iterationType(),
                      scalar(load.getMemref()),
                      {scalar(load.getIndex()), scalar(load.getKvHead()),
                       shifted(channelOf(shape, iteration),
                               static_cast<int64_t>(load.getChannel()))}));
        return true;
      })
      .Case([&](LoadGivenOp load) {
        define(load.getResult(), emitGiven(load, iteration));
        return true;
      })
      .Case([&](LoadCodesOp load) {
        TileShape shape = TileShape::of(load.getType());
        Value token = arith::AddIOp::create(
            builder, loc, scalar(load.getToken()), iteration.iv("t"));
        StoredCodes codes(load.getCache().getType(), load.getTensor(),
                          load.getPart());
        auto bits = [&](bool high) -> Value {
          return kvk::LoadRowOp::create(
              builder, loc, shape.iterationType(), scalar(load.getCache()),
              scalar(load.getKvHead()), token, channelOf(shape, iteration),
              load.getTensor(), load.getPart(), /*storage=*/kvk::StorageAttr(),
              /*page=*/IntegerAttr(), high);
        };
        Value value = bits(/*high=*/false);
        if (codes.lowBits)
          value = arith::OrIOp::create(
              builder, loc, value,
              shiftedBits<arith::ShLIOp>(builder, loc, bits(/*high=*/true),
                                         codes.lowBits));
        define(load.getResult(),
               addConstant(builder, loc, value, -codes.centre));
        return true;
      })
      .Case<LoadScaleOp, LoadZeroOp, LoadOutlierIndicesOp, LoadOutlierValuesOp>(
          [&](auto load) {
            constexpr kvk::MetaKind kind = metaKindOf<decltype(load)>();
            TileShape shape = iteration.shapeOf(load.getType());
            if (shape.vector && shape.vector->first != "t") {
              Value token = scalar(load.getToken());
              if (shape.isLoop("t"))
                token = arith::AddIOp::create(builder, loc, token,
                                              iteration.iv("t"));
              define(load.getResult(),
                     kvk::LoadMetaRowOp::create(
                         builder, loc, shape.iterationType(),
                         scalar(load.getCache()), scalar(load.getKvHead()),
                         token, load.getTensor(), load.getPart(), kind,
                         /*storage=*/kvk::StorageAttr(),
                         /*page=*/IntegerAttr()));
              return true;
            }
            Value block = shape.isLoop("b")   ? iteration.iv("b")
                          : shape.isLoop("o") ? iteration.iv("o")
                                              : index(0);
            Value token = scalar(load.getToken()),
                  valid = scalar(load.getValid());
            // Chunks begin anywhere in pages.
            bool isChunked =
                !shape.loops.empty() && shape.loops.back().isChunks();
            if (isChunked) {
              Value begin = beginOf(shape, iteration);
              token = arith::AddIOp::create(builder, loc, token, begin);
              Value left = arith::SubIOp::create(builder, loc, valid, begin);
              valid = arith::MinSIOp::create(
                  builder, loc,
                  arith::MaxSIOp::create(builder, loc, left, index(0)),
                  index(shape.loops.back().step));
            }
            define(load.getResult(),
                   kvk::LoadMetaOp::create(
                       builder, loc, shape.iterationType(),
                       scalar(load.getCache()), scalar(load.getKvHead()), token,
                       block, valid, load.getTensor(), load.getPart(), kind,
                       load.getUnaligned() || isChunked,
                       /*storage=*/kvk::StorageAttr(),
                       /*page=*/IntegerAttr()));
            return true;
          })
      .Case([&](LoadSchemeOp load) {
        define(load.getResult(),
               emitLoadScheme(
                   load, iteration.shapeOf(load.getType()).iterationType()));
        return true;
      })
      .Case([&](StoreCodesOp store) {
        TileShape shape = TileShape::of(store.getSource().getType());
        StoredCodes codes(store.getCache().getType(), store.getTensor(),
                          store.getPart());
        Value value =
            addConstant(builder, loc, inIteration(iteration, store.getSource()),
                        codes.centre);
        Value token = scalar(store.getToken());
        if (shape.isLoop("t"))
          token = arith::AddIOp::create(builder, loc, token, iteration.iv("t"));
        auto storeBits = [&](Value bits, bool high) {
          kvk::StoreRowOp::create(
              builder, loc, bits, scalar(store.getCache()),
              scalar(store.getKvHead()), token, channelOf(shape, iteration),
              store.getTensor(), store.getPart(),
              /*storage=*/kvk::StorageAttr(), /*page=*/IntegerAttr(), high);
        };
        storeBits(value, /*high=*/false);
        if (codes.lowBits)
          storeBits(
              shiftedBits<arith::ShRUIOp>(builder, loc, value, codes.lowBits),
              /*high=*/true);
        return true;
      })
      .Case<StoreScaleOp, StoreZeroOp, StoreOutlierIndicesOp,
            StoreOutlierValuesOp>([&](auto store) {
        auto storeBlock = [&](Value value, Value block) {
          kvk::StoreMetaOp::create(
              builder, loc, value, scalar(store.getCache()),
              scalar(store.getKvHead()), scalar(store.getToken()), block,
              store.getTensor(), store.getPart(), metaKindOf<decltype(store)>(),
              /*storage=*/kvk::StorageAttr(), /*page=*/IntegerAttr());
        };
        TileShape shape = TileShape::of(store.getSource().getType());
        if (!shape.vector) {
          storeBlock(inIteration(iteration, store.getSource()),
                     iteration.iv(shape.isLoop("b") ? "b" : "o"));
          return true;
        }
        // One channel a block.
        Value scratch = scratchOf(store.getSource());
        auto loop = scf::ForOp::create(builder, loc, index(0),
                                       index(shape.vector->second), index(1));
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPointToStart(loop.getBody());
        storeBlock(memref::LoadOp::create(builder, loc, scratch,
                                          loop.getInductionVar()),
                   loop.getInductionVar());
        return true;
      })
      .Case([&](LoadPartialOp load) {
        // Rows past the end read the last one; nothing stores them.
        Value last = arith::SubIOp::create(builder, loc,
                                           scalar(load.getRowEnd()), index(1));
        Value row = arith::AddIOp::create(builder, loc, scalar(load.getRow()),
                                          iteration.iv("r"));
        SmallVector<Value> indices{
            scalar(load.getSplit()),
            arith::MinSIOp::create(builder, loc, row, last)};
        if (isa<VectorType>(typeOf(load.getResult())))
          indices.push_back(beginOf(TileShape::of(load.getType()), iteration));
        define(load.getResult(), loadAs(builder, loc, typeOf(load.getResult()),
                                        scalar(load.getMemref()), indices));
        return true;
      })
      .Case([&](StorePartialOp store) {
        Value row = arith::AddIOp::create(builder, loc, scalar(store.getRow()),
                                          iteration.iv("r"));
        Value inRange =
            arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, row,
                                  scalar(store.getRowEnd()));
        Value value = inIteration(iteration, store.getSource());
        guarded(inRange, [&] {
          SmallVector<Value> indices{row};
          if (isa<VectorType>(value.getType()))
            indices.push_back(shifted(
                beginOf(TileShape::of(store.getSource().getType()), iteration),
                static_cast<int64_t>(store.getChannel())));
          storeTo(builder, loc, value, scalar(store.getMemref()), indices);
        });
        return true;
      })
      .Case([&](StoreOutputOp store) {
        QueryRow row =
            queryRow(scalar(store.getRow()), scalar(store.getRowEnd()),
                     scalar(store.getKvHead()), store.getGroup(), iteration);
        Value value = inIteration(iteration, store.getSource());
        auto element = cast<FloatType>(
            cast<MemRefType>(store.getMemref().getType()).getElementType());
        if (!element.isF32())
          value = arith::TruncFOp::create(builder, loc,
                                          withElement(value.getType(), element),
                                          saturate(value, element));
        guarded(row.inRange, [&] {
          SmallVector<Value> indices{row.query, row.head};
          if (isa<VectorType>(value.getType()))
            indices.push_back(
                beginOf(TileShape::of(store.getSource().getType()), iteration));
          storeTo(builder, loc, value, scalar(store.getMemref()), indices);
        });
        return true;
      })
      .Case([&](StoreRowsOp store) {
        TileShape shape = TileShape::of(store.getSource().getType());
        Value value = inIteration(iteration, store.getSource());
        if (shape.vector->first != "t") {
          Value row = arith::AddIOp::create(
              builder, loc, scalar(store.getIndex()), iteration.iv("t"));
          storeTo(builder, loc, value, scalar(store.getMemref()),
                  {row, channelOf(shape, iteration)});
          return true;
        }
        // A column of metadata: one element per token.
        Value column = shape.isLoop("b")   ? iteration.iv("b")
                       : shape.isLoop("o") ? iteration.iv("o")
                                           : index(0);
        auto loop = scf::ForOp::create(builder, loc, index(0),
                                       scalar(store.getValid()), index(1));
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPointToStart(loop.getBody());
        Value element = vector::ExtractOp::create(
            builder, loc, value, OpFoldResult(loop.getInductionVar()));
        Value row = arith::AddIOp::create(
            builder, loc, scalar(store.getIndex()), loop.getInductionVar());
        memref::StoreOp::create(builder, loc, element,
                                scalar(store.getMemref()),
                                ValueRange{row, column});
        return true;
      })
      .Default(false);
}

} // namespace kvc
