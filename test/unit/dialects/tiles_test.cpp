//===- tiles_test.cpp - Tiles by name, builders that infer their type -----===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Dialect/KVC/KVCTileOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

using namespace kvc;

namespace {

class TilesTest : public testing::Test {
protected:
  TilesTest() : builder(&context) {
    context.loadDialect<KVCDialect>();
    module = mlir::ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToStart(module->getBody());
  }

  mlir::RankedTensorType tile(llvm::ArrayRef<TileDim> dims) {
    return makeTile(&context, dims, builder.getF32Type());
  }
  mlir::Location loc() { return builder.getUnknownLoc(); }

  /// A value of any type: the tests look at types alone.
  mlir::Value value(mlir::Type type) {
    return mlir::UnrealizedConversionCastOp::create(builder, loc(), type,
                                                    mlir::ValueRange())
        .getResult(0);
  }
  bool isValid() { return mlir::succeeded(mlir::verify(*module)); }

  mlir::MLIRContext context;
  mlir::OpBuilder builder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

TEST_F(TilesTest, AsksByName) {
  mlir::Type type = tile({{"r", 4}, {"t", 64}});
  EXPECT_TRUE(isTile(type));
  EXPECT_EQ(dimsOf(type), (llvm::SmallVector<llvm::StringRef>{"r", "t"}));
  EXPECT_TRUE(hasDim(type, "t"));
  EXPECT_FALSE(hasDim(type, "c"));
  EXPECT_EQ(findDim(type, "t"), 1u);
  EXPECT_EQ(extentOf(type, "t"), 64);
  EXPECT_EQ(extentOf(type, "c"), 1);
  EXPECT_EQ(vectorDimOf(type), "t");
}

TEST_F(TilesTest, ScalarsAndPlainTensorsHaveNoDims) {
  mlir::Type f32 = builder.getF32Type();
  for (mlir::Type type :
       {f32, mlir::Type(mlir::RankedTensorType::get({4}, f32))}) {
    EXPECT_FALSE(isTile(type));
    EXPECT_TRUE(dimsOf(type).empty());
    EXPECT_EQ(extentOf(type, "r"), 1);
  }
}

TEST_F(TilesTest, MakesTilesOfTiles) {
  mlir::Type type = tile({{"t", 64}, {"c", 128}});
  EXPECT_EQ(tileWithoutDims(type, {"c"}), tile({{"t", 64}}));
  EXPECT_EQ(tileWithDims(type, {"c", "t"}), tile({{"c", 128}, {"t", 64}}));
  EXPECT_EQ(cloneWithElement(type, builder.getI8Type()),
            makeTile(&context, {{"t", 64}, {"c", 128}}, builder.getI8Type()));
  mlir::Type split = tileWithSplitLastDim(type, 4);
  EXPECT_EQ(split, tile({{"t", 64}, {"b", 4}, {"e", 32}}));
  EXPECT_EQ(tileWithJoinedLastDims(split, "c"), type);
}

TEST_F(TilesTest, BuildersInferResults) {
  mlir::Value q = value(tile({{"r", 4}, {"c", 128}}));
  mlir::Value k = value(tile({{"t", 64}, {"c", 128}}));
  auto scores = ContractOp::create(builder, loc(), q, k,
                                   llvm::ArrayRef<llvm::StringRef>{"r", "t"});
  EXPECT_EQ(scores.getType(), tile({{"r", 4}, {"t", 64}}));
  auto max = ReduceOp::create(builder, loc(), ReductionKind::MaximumF,
                              scores.getResult(), "t");
  EXPECT_EQ(max.getType(), tile({{"r", 4}}));
  auto split = SplitOp::create(builder, loc(), k, int64_t(4));
  EXPECT_EQ(split.getType(), tile({{"t", 64}, {"b", 4}, {"e", 32}}));
  auto join = JoinOp::create(builder, loc(), split.getResult(), "c");
  EXPECT_EQ(join.getType(), k.getType());
  auto rounded =
      RoundToOp::create(builder, loc(), join.getResult(), spec::DType::F16);
  EXPECT_EQ(rounded.getType(), k.getType());
  EXPECT_EQ(rounded.getDtype(), spec::DType::F16);
  EXPECT_TRUE(isValid());
}

TEST_F(TilesTest, BuildsDequantizations) {
  mlir::Type f32 = builder.getF32Type(), f16 = builder.getF16Type();
  mlir::RankedTensorType type = tile({{"t", 8}, {"c", 16}});
  mlir::Value codes = value(cloneWithElement(type, builder.getI8Type()));
  mlir::Value scale = value(makeTile(&context, {{"t", 8}}, f32));
  auto min = DequantizeOp::create(builder, loc(), codes, scale, scale, 8,
                                  spec::Zero::Min);
  EXPECT_EQ(min.getType(), type);
  EXPECT_EQ(min.getZeroKind(), spec::Zero::Min);
  EXPECT_FALSE(min.getScalePlace());
  auto symmetric = DequantizeOp::create(builder, loc(), codes, scale,
                                        mlir::Value(), 0, spec::Zero::None);
  EXPECT_FALSE(symmetric.getZero());
  auto raw =
      DequantizeOp::create(builder, loc(), value(cloneWithElement(type, f16)),
                           mlir::Value(), mlir::Value(), 0, spec::Zero::None);
  EXPECT_FALSE(raw.getScale());
  EXPECT_EQ(raw.getType(), type);
  EXPECT_TRUE(isValid());
}

} // namespace
