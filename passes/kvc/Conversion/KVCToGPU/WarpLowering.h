//===- WarpLowering.h - One kernel, from tiles to a warp --------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Rebuilds the body of a kernel: every tile becomes the vector that a lane
// holds of it, by the layout that kvk-assign-lanes gave it; loops and scalars
// stay. One method for each kind of operation.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CONVERSION_KVCTOGPU_WARPLOWERING_H
#define KVC_CONVERSION_KVCTOGPU_WARPLOWERING_H

#include "kvc/Conversion/KVCToGPU/WarpTile.h"
#include "kvc/Conversion/KVKToVector/CacheView.h"
#include "kvc/Dialect/KVC/KVCTileOps.h"
#include "kvc/Dialect/KVK/KVKOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

#include <map>
#include <vector>

namespace kvc {

/// What instructions a target has.
struct WarpTarget {
  bool hasFloat8 = false; ///< Converts pairs of 8-bit floats to f16.
};

class WarpLowering {
public:
  WarpLowering(mlir::func::FuncOp func, WarpTarget target);

  mlir::LogicalResult run();

private:
  using Op = mlir::Operation;
  using Result = mlir::FailureOr<Value>;

  //===--------------------------------------------------------------------===//
  // WarpLowering.cpp: control and arithmetic
  //===--------------------------------------------------------------------===//
  Value guard(mlir::Block &body);
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lower(Op *op);
  mlir::LogicalResult lowerLoop(Op *op);
  mlir::LogicalResult lowerIf(Op *op);
  Result lowerValue(Op *op);
  Result lowerElementwise(Op *op);
  Result lowerConstant(mlir::arith::ConstantOp op);
  Result lowerIota(IotaOp op);
  Result lowerBroadcast(BroadcastOp op);
  Result lowerReduce(ReduceOp op);
  Value addPairwise(ArrayRef<Value> values, const layout::Digits &left,
                    const layout::Digits &digits);
  Result lowerNarrow(mlir::arith::TruncFOp op);
  /// split and join: the same elements under other names.
  Result lowerRenamed(Op *op);
  Result lowerScheme(LoadSchemeOp op);

  //===--------------------------------------------------------------------===//
  // WarpSkips.cpp: what few tiles need, sums over keys
  //===--------------------------------------------------------------------===//
  Value choose(Value condition, Value otherwise,
               llvm::function_ref<Value()> make);
  Value inAnyLane(Value condition);
  Value anyOf(Value vector, llvm::function_ref<Value(Value)> test);
  Value whereValid(Value elements, Value valid, int64_t tokens,
                   llvm::function_ref<Value(int64_t)> isValid);
  Result lowerSelect(mlir::arith::SelectOp op);
  Result lowerProduct(mlir::arith::MulFOp op);
  void findLaneSums(mlir::scf::ForOp loop);
  /// By which bits lanes differ that have parts of the loop's sum `i`.
  llvm::SmallVector<int64_t> lanesOfSum(mlir::scf::ForOp loop, unsigned i);
  static bool isReduced(ReduceOp op, const layout::Digit &digit);
  Value shareOf(Value init, Value lowered, size_t lanes);
  Value sumOverLanes(Value sum, ArrayRef<int64_t> masks);

  //===--------------------------------------------------------------------===//
  // WarpMemory.cpp: queries, inputs, partial results, outputs, rows
  //===--------------------------------------------------------------------===//
  Result lowerLoadQuery(LoadQueryOp op);
  Result lowerLoadRowValues(LoadRowValuesOp op);
  Result lowerLoadPartial(LoadPartialOp op);
  Result lowerLoadInput(LoadInputOp op);
  mlir::LogicalResult lowerStorePartial(StorePartialOp op);
  mlir::LogicalResult lowerStoreOutput(StoreOutputOp op);
  mlir::LogicalResult lowerStoreRows(StoreRowsOp op);

  struct Memory {
    Value pointer;                    ///< In device memory.
    llvm::SmallVector<Value> strides; ///< In elements; index.
    Type element;
  };
  const Memory &memoryOf(Value memref);
  Value address(const Memory &memory, mlir::ValueRange indices);
  /// Row `row` + its own of the tile, made one below `end`; and whether it was.
  std::pair<Value, Value> rowBelow(Value row, Value end, Value own);
  void storeRuns(const WarpTile &tile, Value value, layout::Dim dim,
                 Type element,
                 llvm::function_ref<std::pair<Value, Value>(int64_t)> place);

  //===--------------------------------------------------------------------===//
  // WarpShared.cpp: elements that move anywhere
  //===--------------------------------------------------------------------===//
  Result lowerSlice(SliceOp op);
  Result lowerConcat(ConcatOp op);
  Result lowerPick(PickOp op);
  Result lowerPatch(PatchOp op);
  Result lowerFindOutliers(FindOutliersOp op);
  Result lowerRotate(RotateOp op);
  Result lowerRope(RopeOp op);
  Value renumber(Value source, Value result);
  /// The kernel's buffer, of at least so many bytes.
  Value shared(int64_t bytes);
  mlir::LogicalResult declareShared();
  void waitForWarp();
  void beginShared(Type tile);
  /// Writes a tile, row by row, for all lanes to read.
  Value writeTile(Value tile);
  /// Where element `number` of a lane then is.
  Value flatIndex(const WarpTile &tile, Type type, int64_t number);
  void writeShared(Value source, const WarpTile &tile,
                   llvm::function_ref<Value(int64_t)> indexOf);
  Value readShared(const WarpTile &tile, Type element,
                   llvm::function_ref<Value(int64_t)> indexOf);
  std::pair<Value, Value> namedChannel(Value index, int64_t i, int64_t pitch);
  /// Where numbers that the code knows lie.
  Value constants(ArrayRef<float> values, llvm::StringRef name);

  //===--------------------------------------------------------------------===//
  // WarpCache.cpp: codes and metadata, element by element
  //===--------------------------------------------------------------------===//
  Result lowerLoadCodes(LoadCodesOp op);
  Result lowerLoadMeta(Op *op, layout::RegionKind kind);
  Result lowerLoadGiven(LoadGivenOp op);
  mlir::LogicalResult lowerStoreCodes(StoreCodesOp op);
  mlir::LogicalResult storeField(StoreCodesOp op, Value source,
                                 layout::RegionKind kind, int64_t width);
  llvm::SmallVector<Value> packed(Value source, int64_t width, int64_t length,
                                  llvm::function_ref<int64_t(int64_t)> element);
  mlir::LogicalResult lowerStoreMeta(Op *op, layout::RegionKind kind);
  HeadRegion region(Op *op, layout::RegionKind kind);

  //===--------------------------------------------------------------------===//
  // WarpMma.cpp: operands from the cache, products, conversions
  //===--------------------------------------------------------------------===//
  Result lowerLoadOperand(kvk::LoadOp op);
  Result lowerWiden(kvk::WidenOp op);
  Result lowerMma(kvk::MmaOp op);
  Result lowerConvert(kvk::ConvertLayoutOp op);
  Value
  maskTokens(Value words, const WarpTile &tile, int64_t width, Value valid,
             int64_t tokens,
             llvm::function_ref<std::pair<int64_t, int64_t>(int64_t)> placeOf);
  Value pairsOf(Value elements);
  Value exchange(Value source, const WarpTile &from, const WarpTile &to,
                 ArrayRef<llvm::StringRef> dims);

  //===--------------------------------------------------------------------===//
  // What they share
  //===--------------------------------------------------------------------===//
  static WarpTile tileOf(Value value);
  static mlir::LogicalResult
  failOfLayouts(mlir::Operation *op, const WarpTile &got,
                const layout::RegisterLayout &expected);
  Value get(Value old) { return map.lookupOrDefault(old); }
  mlir::LogicalResult define(Op *op, Result value);
  /// Element `i` of a vector.
  Value at(Value vector, int64_t i);
  Value collect(ArrayRef<Value> elements);
  /// f(element) of every element.
  Value each(Value vector, llvm::function_ref<Value(Value)> f);

  mlir::func::FuncOp func;
  WarpTarget target;
  mlir::Block *body = nullptr;
  Emit b;
  std::optional<CacheViews> views;
  std::optional<Lanes> lanes;
  mlir::IRMapping map;
  Value sharedPointer;
  std::map<std::vector<float>, Value> frequencies; ///< By what they are.
  int64_t sharedBytes = 0;
  bool storesCodes = false;
  llvm::DenseSet<Op *> laneSums;     ///< Reductions that stay in their lanes.
  llvm::SmallVector<Op *> rawCaches; ///< kvc.raw_rows of the new body.
  llvm::DenseMap<Value, Memory> memories;
};

} // namespace kvc

#endif // KVC_CONVERSION_KVCTOGPU_WARPLOWERING_H
