//===- storage_attr_test.cpp - Layouts as attributes and back -------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Dialect/KVC/KVCDialect.h"
#include "kvc/Dialect/KVK/KVKOps.h"
#include "kvc/Layout/PageLayout.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

using namespace kvc;

namespace {

class StorageAttrTest : public testing::Test {
protected:
  StorageAttrTest() {
    context.loadDialect<KVCDialect, kvk::KVKDialect>();
    // An attribute that its verifier refuses is null here and no assert.
    emitError = [this] {
      return mlir::emitError(mlir::UnknownLoc::get(&context));
    };
  }

  mlir::MLIRContext context;
  std::function<mlir::InFlightDiagnostic()> emitError;
};

TEST_F(StorageAttrTest, LayoutsRoundTrip) {
  layout::RegisterLayout layout;
  layout.pack = {{'c', 1, 2}};
  layout.reg = {{'c', 2, 2}, {'c', 4, 5}};
  layout.lane = {{'t', 1, 2}, {'*', 1, 2}};
  layout.warp = {{'t', 2, 2}};
  auto attr = kvk::LayoutAttr::get(&context, layout);
  EXPECT_EQ(attr.getLayout(), layout);
  EXPECT_EQ(attr, kvk::LayoutAttr::get(&context, layout));
}

// What the computation of page layouts gives is what the verifier accepts.
TEST_F(StorageAttrTest, StoragesOfPagesRoundTrip) {
  for (const char *order : {"auto", "nhd", "hnd", "token"})
    for (const char *kind :
         {R"("paged", "page": 64)", R"("paged", "page": 8)", R"("contiguous")"})
      for (const char *channels : {"80", "128"}) {
        std::string json =
            std::string(R"({"kvc": 1, "name": "s", "attention": {"q_heads": 6,
              "kv_heads": 3, "head_dim": )") +
            channels + R"(}, "io": {"query": "f16"},
              "key": {"codec": "int4", "zero": "min", "scale":
                      {"tokens": 1, "channels": 16, "dtype": "f16"}},
              "value": {"codec": "f16"},
              "layout": {"kind": )" +
            kind + R"(, "order": ")" + order + R"("}})";
        spec::Expected<spec::Spec> spec = spec::parseSpec(json);
        ASSERT_TRUE(spec) << spec.error().str();
        for (spec::Tensor tensor : {spec::Tensor::Key, spec::Tensor::Value})
          for (const layout::Region &region :
               layout::pageLayout(*spec, tensor, layout::TargetFamily::Host)
                   .regions) {
            auto attr = kvk::StorageAttr::getChecked(
                emitError, &context, region.storage.width,
                llvm::ArrayRef(region.storage.addr),
                llvm::ArrayRef(region.storage.steps));
            ASSERT_TRUE(attr) << json;
            EXPECT_EQ(attr.getStorage(), region.storage);
          }
      }
}

TEST_F(StorageAttrTest, WeightsFitTheSumsOfTheirDepth) {
  EXPECT_EQ(kvk::QuantizeRowsOp::getMaxWeight(64), 32767);
  for (int64_t depth : {16, 128, 512, 576, 4096}) {
    int64_t max = kvk::QuantizeRowsOp::getMaxWeight(depth);
    EXPECT_LT(max * 128 * depth, int64_t(1) << 31);
    EXPECT_GT(max, 1000);
  }
}

} // namespace
