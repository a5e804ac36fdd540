//===- Converter.h - From tiles to loops over vectors -----------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The state of one function's conversion from level 2 to level 3. The new body
// is built beside the old one, in order:
//
//   - operations on scalars are copied;
//   - neighbouring tile operations with the same loops form a *group*, which is
//     emitted as one loop nest (Groups.cpp; what stands inside it:
//     Elements.cpp, Rotate.cpp, Rope.cpp, Memory.cpp);
//   - contractions become kvk.dot (Contract.cpp; integer weights: Weights.cpp);
//   - tiles carried by a loop live in one scratch memref (Scratch.cpp) that
//     every iteration updates in place (Converter.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CONVERSION_KVCTOKVK_CONVERTER_H
#define KVC_CONVERSION_KVCTOKVK_CONVERTER_H

#include "TileValues.h"

#include "kvc/Dialect/KVC/KVCTileOps.h"
#include "kvc/Dialect/KVC/KVCTypes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace kvc {

/// The codes of one part of a tensor, as they are stored.
struct StoredCodes {
  StoredCodes(CacheType cache, spec::Tensor tensor, unsigned part);

  mlir::Type element; ///< iN or the raw type.
  int64_t centre = 0; ///< Added to a centred code before it is stored.
  /// Bits that lie together where the others lie apart; 0: all do.
  int64_t lowBits = 0;
};

/// Neighbouring tile operations that run in one loop nest.
struct Group {
  llvm::SmallVector<TileLoop, 4> loops;
  llvm::SmallVector<mlir::Operation *> ops;
};

/// A cast of codes to floats: part of a dot's operand.
bool isWidening(mlir::Operation *op);

/// Whether an operation loads the metadata of several blocks, or several
/// outliers, of each token: one operation at level 3 too.
bool loadsMetaTile(mlir::Operation *op);

/// Whether an operation mixes the channels of a row, or loads the row once for
/// all, so that it takes even wide rows as one vector.
bool needsWholeRows(mlir::Operation *op);

/// One iteration of a group's loop nest while its body is emitted.
struct Iteration {
  Iteration(llvm::ArrayRef<TileLoop> loops, llvm::ArrayRef<mlir::Value> ivs)
      : loops(loops), ivs(ivs.begin(), ivs.end()) {}

  llvm::ArrayRef<TileLoop> loops;
  llvm::SmallVector<mlir::Value, 4> ivs;           ///< One per loop.
  llvm::DenseMap<mlir::Value, mlir::Value> values; ///< Tiles of this iteration.

  bool isLoop(llvm::StringRef dim) const;
  /// A tile's loops and vector here: whole rows where chunks are no loop.
  TileShape shapeOf(mlir::Type tile) const;
  /// The induction variable of a dim whose indices are a loop here.
  mlir::Value iv(llvm::StringRef dim) const;
};

class Converter {
public:
  Converter(mlir::func::FuncOp function, bool integerDots)
      : function(function), builder(function.getContext()),
        integerDots(integerDots) {}

  mlir::LogicalResult run();

private:
  // Converter.cpp: blocks and loops.
  mlir::LogicalResult convertBlock(mlir::Block &block);
  mlir::LogicalResult convertOp(mlir::Operation *op);
  mlir::LogicalResult convertFor(mlir::scf::ForOp loop);
  mlir::LogicalResult convertIf(mlir::scf::IfOp branch);
  void noteOperands();
  mlir::Value scalar(mlir::Value value) {
    return scalars.lookupOrDefault(value);
  }
  /// A carried tile's memref if `result` may be written there directly: nothing
  /// after operation `last` reads the carried value any more.
  mlir::Value carriedScratchFor(mlir::Value result, mlir::Operation *last);

  // Groups.cpp
  mlir::LogicalResult addToGroup(mlir::Operation *op);
  mlir::LogicalResult flush();
  mlir::LogicalResult emitUniform(mlir::Operation *op);
  void emitPairwise(ReduceOp reduce);
  void addNeighbours(mlir::Value copy, mlir::Value i);
  mlir::LogicalResult emitNest(const Group &group);
  mlir::Value tokenBound(const Group &group);
  mlir::Value inIteration(Iteration &iteration, mlir::Value tile);
  /// Where this iteration's vector begins in its dim.
  mlir::Value beginOf(const TileShape &shape, const Iteration &iteration);
  void storeInIteration(const Iteration &iteration, mlir::Value value,
                        const TileShape &shape, mlir::Value scratch);
  void convertConcat(ConcatOp op);
  void reinterpret(mlir::Operation *op);

  // Elements.cpp: one operation inside a loop nest.
  mlir::LogicalResult emitInIteration(mlir::Operation *op,
                                      Iteration &iteration);
  mlir::Value emitReduce(mlir::Operation *op, Iteration &iteration);
  mlir::Value emitIota(mlir::Operation *op, const Iteration &iteration);
  mlir::Value saturate(mlir::Value value, mlir::FloatType type);

  // Outliers.cpp
  void convertFindOutliers(FindOutliersOp op);
  void convertPick(PickOp op);
  void convertGatherDot(GatherDotOp op);
  void convertScatterDot(ScatterDotOp op);
  mlir::Value
  elementOf(mlir::Value tile,
            llvm::ArrayRef<std::pair<llvm::StringRef, mlir::Value>> indices);
  mlir::Value emitPatch(PatchOp op, Iteration &iteration);

  // Rotate.cpp
  mlir::Value emitRotate(mlir::Value channels, int64_t block);

  // Rope.cpp
  mlir::Value emitRope(RopeOp rope, Iteration &iteration);

  // Memory.cpp: tile operations that touch memory, inside a loop nest.
  bool emitMemory(mlir::Operation *op, Iteration &iteration);
  void convertLoadMetaTile(mlir::Operation *op);
  mlir::Value emitLoadScheme(LoadSchemeOp load, mlir::Type type);
  struct QueryRow {
    mlir::Value inRange, query, head;
  };
  QueryRow queryRow(mlir::Value row, mlir::Value rowEnd, mlir::Value kvHead,
                    int64_t group, const Iteration &iteration);
  mlir::Value channelOf(const TileShape &shape, const Iteration &iteration);
  mlir::Value emitGiven(LoadGivenOp load, const Iteration &iteration);

  // Contract.cpp
  /// Rows of weights: f32, or i16 with a scale per row.
  struct Weights {
    mlir::Value rows;  ///< memref<RxKxf32> or memref<RxKxi16>.
    mlir::Value scale; ///< memref<Rxf32>; null for f32 rows.
    /// What rounding to i16 left, as another pair of rows and scale, and an i1:
    /// it matters. Null: it never does.
    mlir::Value residualRows, residualScale, residualMatters;

    static Weights floats(mlir::Value rows) {
      Weights weights;
      weights.rows = rows;
      return weights;
    }
  };
  struct DotOperand {
    LoadCodesOp codes; ///< Null: a panel.
    /// What they stand for: a small float, an entry, or else the code.
    mlir::StringAttr format;
    mlir::DenseF32ArrayAttr table;
    mlir::Value entries; ///< Of a table that was loaded.
    mlir::Value panel;   ///< memref<TxCxf32>.
    int64_t tokens = 0;
    bool sumsTokens = false, isInteger = false;
  };
  /// Where the product with channels [channel, channel + channels) of an
  /// operand goes, and the factor of each of its lanes, if any.
  struct Product {
    mlir::Value into, laneScale, channel;
    int64_t channels;
    bool accumulates;
  };
  /// carried * alpha + dot (or scatter_dot), yielded as the next carried.
  struct Accumulation {
    mlir::Value carried, alpha, sum;
  };
  /// Where such a sum is kept, its rows rescaled; null for other results.
  mlir::Value rescaledSumOf(mlir::Operation *dot);
  /// sum over blocks of scale * dot.
  struct PartialDots {
    mlir::Value scale, sum;
  };
  void findDotPatterns(mlir::Block &block);
  /// Whether a kvc.load_codes is read by contractions alone (through casts and
  /// splits of its channels) whose dots read its order, so that no element of
  /// it is ever materialised.
  bool onlyDotsRead(LoadCodesOp load);
  bool onlyDotsRead(mlir::Value codes, LoadCodesOp load);
  bool dotReads(LoadCodesOp load, ContractOp contract);
  bool readsOnLanes(LoadCodesOp load, ContractOp contract, int64_t channels,
                    bool freeDim);
  bool takesIntegers(LoadCodesOp load, mlir::Operation *decoding);
  /// Contractions without channels on the right, or with nothing else there,
  /// are sums of metadata: elementwise products and a reduction.
  void expandSkinnyContracts();
  void convertContract(ContractOp contract);
  DotOperand operandOf(ContractOp contract);
  void emitDots(ContractOp contract, mlir::Value into, bool accumulates);
  void emitDot(const DotOperand &operand, const Weights &weights,
               const Product &product);

  // Weights.cpp
  Weights weightsOf(mlir::Value tile, mlir::Value rows, ContractOp contract,
                    bool integer);
  Weights quantise(mlir::Value rows);
  void addResidual(Weights &weights, mlir::Value tile, mlir::Value rows);
  mlir::Value rotatedRows(mlir::Value rows, int64_t block);
  mlir::Value anyRowStandsOut(mlir::Value rows, mlir::Value given);

  // Scratch.cpp
  mlir::Value newScratch(mlir::MemRefType type);
  mlir::Value index(int64_t value);
  /// The chunks of `extent` channels: in a loop, or one.
  void
  forChunks(int64_t extent,
            llvm::function_ref<void(mlir::Value begin, int64_t lanes)> body);
  /// The vectors of scratch: their type, and the indices of each.
  void forVectors(
      mlir::MemRefType type,
      llvm::function_ref<void(mlir::VectorType vector, mlir::ValueRange at)>
          body);
  void fill(mlir::Value scratch, mlir::TypedAttr element);
  void copy(mlir::Value from, mlir::Value to);
  /// The tile as a scratch memref, spilling a vector or filling a constant.
  mlir::Value scratchOf(mlir::Value tile);
  void rescaleRows(mlir::Value rows, mlir::Value alpha);
  void zeroRowsFrom(mlir::Value panel, mlir::Value first);
  mlir::Value flatRows(mlir::Value scratch);
  mlir::Value expandRows(mlir::Value scratch, mlir::MemRefType type);
  mlir::Value blockOf(mlir::Value scratch, mlir::Value block);
  mlir::Value rowOf(mlir::Value scratch, mlir::Value row);
  mlir::Value columnsOf(mlir::Value scratch, mlir::OpFoldResult first,
                        int64_t count);

  mlir::func::FuncOp function;
  mlir::OpBuilder builder;
  bool integerDots;

  mlir::Block *entry = nullptr; ///< Of the new body; scratch is allocated here.
  mlir::IRMapping scalars;
  llvm::DenseMap<mlir::Value, TileValue> tiles;
  Group pending;
  /// Tiles that the innermost loop yields, and the carried tile that each
  /// becomes.
  llvm::DenseMap<mlir::Value, mlir::Value> carriedOfYielded;
  /// Operations that another operation's conversion has covered.
  llvm::DenseSet<mlir::Operation *> covered;
  llvm::DenseMap<mlir::Operation *, Accumulation> accumulations;
  llvm::DenseMap<mlir::Operation *, PartialDots> partialDots;
  llvm::DenseMap<mlir::Value, Weights> quantisedRows;
  /// By old loop.
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> newLoops;
};

} // namespace kvc

#endif // KVC_CONVERSION_KVCTOKVK_CONVERTER_H
