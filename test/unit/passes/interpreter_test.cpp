//===- interpreter_test.cpp - What the tile interpreter refuses -----------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace kvc::test;

namespace {

class TileInterpreter : public testing::Test {
protected:
  std::unique_ptr<MLIRContext> context = makeContext();

  /// Runs the only function of `text`; what was reported.
  std::string run(const std::string &text, std::vector<Argument> arguments) {
    Diagnostics diagnostics(*context);
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(text, context.get());
    if (!module) {
      ADD_FAILURE() << diagnostics.text();
      return "";
    }
    bool ran = succeeded(
        interpret(*module->getOps<func::FuncOp>().begin(), arguments));
    EXPECT_EQ(ran, diagnostics.text().empty()) << diagnostics.text();
    return diagnostics.text();
  }
  void expectError(const std::string &text, std::vector<Argument> arguments,
                   const std::string &message) {
    std::string got = run(text, std::move(arguments));
    EXPECT_NE(got.find(message), std::string::npos) << got;
  }
};

TEST_F(TileInterpreter, RefusesUnknownOps) {
  HostArray array({1}, 0.0);
  expectError("func.func @f(%m: memref<?xf32>) {\n"
              "  %c = arith.constant 0 : index\n"
              "  %x = memref.dim %m, %c : memref<?xf32>\n"
              "  return\n}",
              {&array},
              "'memref.dim' op is none that the tile interpreter knows");
}

TEST_F(TileInterpreter, RefusesMemoryOutsideOfAnArray) {
  HostArray array({1, 3, 16}, 0.0);
  expectError(
      "func.func @f(%m: memref<?x?x16xf32>, %row: index, %end: index) {\n"
      "  %x = kvc.load_partial %m[%row, %row to %end] : memref<?x?x16xf32> to "
      "tensor<4x16xf32, #kvc.dims<r, d>>\n"
      "  return\n}",
      {&array, int64_t(0), int64_t(4)},
      "touches memory outside of its operand");
}

TEST_F(TileInterpreter, RefusesArgumentsOfAnotherKind) {
  HostArray array({1, 3}, 0.0);
  const char *text = "func.func @f(%m: memref<?xf32>) {\n  return\n}";
  expectError(text, {&array}, "argument 0 is no 'memref<?xf32>'");
  expectError(text, {int64_t(1)}, "argument 0 is no 'memref<?xf32>'");
  expectError(text, {}, "expected a body and 0 arguments");
}

TEST_F(TileInterpreter, RefusesNarrowingThatLosesTheValue) {
  const char *text = "func.func @f(%i: index) {\n"
                     "  %a = arith.index_cast %i : index to i64\n"
                     "  %b = arith.trunci %a : i64 to i8\n"
                     "  return\n}";
  EXPECT_EQ(run(text, {int64_t(-128)}), "");
  expectError(text, {int64_t(128)}, "'arith.trunci' op narrows 128");
}

TEST_F(TileInterpreter, RefusesDivisionByZero) {
  expectError("func.func @f(%i: index) {\n"
              "  %b = arith.remui %i, %i : index\n"
              "  return\n}",
              {int64_t(0)}, "'arith.remui' op divides by zero");
}

TEST_F(TileInterpreter, BranchesAndLoops) {
  HostArray array({4}, 7.0);
  // Rows 0 and 2 get the loop's number, row 3 stays.
  std::string got = run(
      "func.func @f(%m: memref<?xf32>, %n: index) {\n"
      "  %c0 = arith.constant 0 : index\n"
      "  %c1 = arith.constant 1 : index\n"
      "  %c2 = arith.constant 2 : index\n"
      "  %zero = arith.constant 0.0 : f32\n"
      "  %one = arith.constant 1.0 : f32\n"
      "  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zero) -> f32 {\n"
      "    %odd = arith.remui %i, %c2 : index\n"
      "    %even = arith.cmpi eq, %odd, %c0 : index\n"
      "    %next = scf.if %even -> f32 {\n"
      "      %t = kvc.broadcast %x : f32 to tensor<1xf32, #kvc.dims<r>>\n"
      "      %end = arith.addi %i, %c1 : index\n"
      "      kvc.store_partial %t, %m[%i to %end] : tensor<1xf32, "
      "#kvc.dims<r>>, memref<?xf32>\n"
      "      scf.yield %x : f32\n"
      "    } else {\n"
      "      %y = arith.addf %x, %one : f32\n"
      "      scf.yield %y : f32\n"
      "    }\n"
      "    scf.yield %next : f32\n"
      "  }\n"
      "  return\n}",
      {&array, int64_t(3)});
  EXPECT_EQ(got, "");
  EXPECT_EQ(array.values, (std::vector<double>{0, 7, 1, 7}));
}

} // namespace
