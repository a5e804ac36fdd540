//===- emit_test.cpp - From the LLVM dialect to running code --------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Codegen/Emit.h"
#include "kvc/JIT/LoadedModule.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"
#include <gtest/gtest.h>
#include <numeric>

using namespace kvc;

namespace {

/// args: {const float *x, float *y, i64 n}; y[i] += x[i] for 16 elements a
/// step.
constexpr const char *kAddKernel = R"mlir(
llvm.func @kvc_add(%args: !llvm.ptr) attributes {kvc.kernel = "add", kvc.tile_rows = 4 : i64, kvc.tile_tokens = 64 : i64, kvc.split_tokens = 1024 : i64} {
  %c0 = llvm.mlir.constant(0 : i64) : i64
  %c16 = llvm.mlir.constant(16 : i64) : i64
  %x = llvm.load %args : !llvm.ptr -> !llvm.ptr
  %y_slot = llvm.getelementptr %args[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %y = llvm.load %y_slot : !llvm.ptr -> !llvm.ptr
  %n_slot = llvm.getelementptr %args[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %n = llvm.load %n_slot : !llvm.ptr -> i64
  llvm.br ^head(%c0 : i64)
^head(%i: i64):
  %more = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %more, ^body, ^exit
^body:
  %xp = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %yp = llvm.getelementptr %y[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %xv = llvm.load %xp {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
  %yv = llvm.load %yp {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
  %s = llvm.fadd %xv, %yv : vector<16xf32>
  llvm.store %s, %yp {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
  %next = llvm.add %i, %c16 : i64
  llvm.br ^head(%next : i64)
^exit:
  llvm.return
})mlir";

/// Stores the address of a 64-byte aligned frame buffer and of itself.
constexpr const char *kFrameKernel = R"mlir(
llvm.func @kvc_frame(%args: !llvm.ptr) attributes {kvc.kernel = "frame"} {
  %n = llvm.mlir.constant(64 : i64) : i64
  %buffer = llvm.alloca %n x f32 {alignment = 64 : i64} : (i64) -> !llvm.ptr
  %address = llvm.ptrtoint %buffer : !llvm.ptr to i64
  llvm.store volatile %address, %buffer : i64, !llvm.ptr
  llvm.store %address, %args : i64, !llvm.ptr
  llvm.return
})mlir";

class Emit : public testing::Test {
protected:
  Emit() {
    mlir::registerBuiltinDialectTranslation(context);
    mlir::registerLLVMDialectTranslation(context);
    context.loadDialect<mlir::LLVM::LLVMDialect>();
    context.allowUnregisteredDialects();
  }

  mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::StringRef text) {
    return mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }

  /// An emitter that has been through every step but the last.
  llvm::Expected<Emitter>
  prepare(llvm::StringRef text, llvm::StringRef targetName, bool asan = false) {
    llvm::Expected<Target> target = parseTarget(targetName);
    if (!target)
      return target.takeError();
    llvm::Expected<Emitter> emitter = Emitter::create(
        *target,
        {asan, uniqueTableSymbol("my spec", target->name, "0123456789"),
         "my spec"});
    if (!emitter)
      return emitter.takeError();
    mlir::OwningOpRef<mlir::ModuleOp> module = parse(text);
    if (!module)
      return llvm::createStringError("parse error");
    table.specJson = "{\"kvc\": 1}";
    table.layoutHash = "abc";
    if (llvm::Error error = emitter->translate(*module, table))
      return error;
    if (llvm::Error error = emitter->checkIntrinsics())
      return error;
    if (llvm::Error error = emitter->optimise())
      return error;
    return emitter;
  }

  std::string failure(llvm::StringRef text, llvm::StringRef target) {
    llvm::Expected<Emitter> emitter = prepare(text, target);
    if (!emitter)
      return llvm::toString(emitter.takeError());
    auto object = emitter->emitObject();
    return object ? "no failure" : llvm::toString(object.takeError());
  }

  std::unique_ptr<LoadedModule> load(llvm::StringRef text,
                                     llvm::StringRef target) {
    llvm::Expected<Emitter> emitter = prepare(text, target);
    EXPECT_TRUE(bool(emitter)) << llvm::toString(emitter.takeError());
    auto object = emitter->emitObject();
    EXPECT_TRUE(bool(object)) << llvm::toString(object.takeError());
    auto loaded = LoadedModule::load(*object, /*asan=*/false);
    EXPECT_TRUE(bool(loaded)) << llvm::toString(loaded.takeError());
    return std::move(*loaded);
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  KernelTable table;
};

TEST_F(Emit, RunsAKernelOnEveryTargetOfThisMachine) {
  for (const TargetName &each : targetNames()) {
    llvm::StringRef name = each.name;
    if (llvm::Error error = checkRunsHere(*parseTarget(name))) {
      llvm::consumeError(std::move(error));
      continue;
    }
    std::unique_ptr<LoadedModule> module = load(kAddKernel, name);
    const kvc_module_table &loaded = module->table();
    EXPECT_EQ(loaded.abi_version, KVC_KERNEL_ABI_VERSION);
    ASSERT_EQ(loaded.num_kernels, 1);
    EXPECT_STREQ(loaded.spec_json, "{\"kvc\": 1}");
    EXPECT_STREQ(loaded.layout_hash, "abc");
    EXPECT_EQ(loaded.target, parseTarget(name)->name);
    const kvc_kernel_info &kernel = loaded.kernels[0];
    EXPECT_STREQ(kernel.name, "add");
    EXPECT_EQ(kernel.tile_rows, 4);
    EXPECT_EQ(kernel.tile_tokens, 64);
    EXPECT_EQ(kernel.split_tokens, 1024);

    std::vector<float> x(48), y(48, 1.0f);
    std::iota(x.begin(), x.end(), 0.0f);
    struct {
      const float *x;
      float *y;
      int64_t n;
    } args = {x.data(), y.data(), 48};
    kernel.function(&args);
    for (int i = 0; i < 48; ++i)
      EXPECT_EQ(y[i], 1.0f + i);
  }
}

TEST_F(Emit, FrameBuffersAreAligned) {
  std::unique_ptr<LoadedModule> module = load(kFrameKernel, "host");
  // Called at stack depths that differ by 16 bytes.
  for (int depth = 0; depth < 4; ++depth) {
    volatile char *pad =
        static_cast<char *>(__builtin_alloca(16 * (depth + 1)));
    pad[0] = 0;
    int64_t address = 0;
    module->table().kernels[0].function(&address);
    EXPECT_EQ(address % 64, 0);
  }
}

TEST_F(Emit, UsesTheRegistersOfTheLevel) {
  for (auto [name, used, unused] : {std::tuple{"x86-64", "%xmm", "%ymm"},
                                    std::tuple{"x86-64-v3", "%ymm", "%zmm"},
                                    std::tuple{"x86-64-v4", "%zmm", "%xmm"}}) {
    llvm::Expected<Emitter> emitter = prepare(kAddKernel, name);
    ASSERT_TRUE(bool(emitter)) << llvm::toString(emitter.takeError());
    auto text = emitter->emitAssembly();
    ASSERT_TRUE(bool(text)) << llvm::toString(text.takeError());
    EXPECT_NE(text->find(used), std::string::npos) << name;
    EXPECT_EQ(text->find(unused), std::string::npos) << name;
    EXPECT_NE(text->find("kvc_module_my_spec_"), std::string::npos);
  }
}

TEST_F(Emit, PrintingLeavesTheModuleAlone) {
  llvm::Expected<Emitter> emitter = prepare(kAddKernel, "x86-64-v3");
  ASSERT_TRUE(bool(emitter)) << llvm::toString(emitter.takeError());
  std::string before = emitter->printIR();
  EXPECT_NE(before.find("define internal void @kvc_add"), std::string::npos)
      << before;
  ASSERT_TRUE(bool(emitter->emitAssembly()));
  EXPECT_EQ(emitter->printIR(), before);
}

TEST_F(Emit, AsanInstruments) {
  llvm::Expected<Emitter> emitter =
      prepare(kAddKernel, "x86-64-v3", /*asan=*/true);
  ASSERT_TRUE(bool(emitter)) << llvm::toString(emitter.takeError());
  // Every byte of 16 floats, not the first and the last. (The store goes where
  // a load has been checked.)
  std::string text = emitter->printIR();
  EXPECT_TRUE(llvm::Regex("call void @__asan_loadN\\(i64 %[0-9]+, i64 64\\)")
                  .match(text))
      << text;
  EXPECT_TRUE(bool(emitter->emitObject()));
}

TEST_F(Emit, AsanInstrumentsFrames) {
  llvm::Expected<Emitter> emitter =
      prepare(kFrameKernel, "x86-64-v3", /*asan=*/true);
  ASSERT_TRUE(bool(emitter)) << llvm::toString(emitter.takeError());
  // What AddressSanitizer writes at the start of a frame with red zones.
  EXPECT_NE(emitter->printIR().find("store i64 1102416563,"), std::string::npos)
      << emitter->printIR();
  EXPECT_TRUE(bool(emitter->emitObject()));
}

TEST_F(Emit, EmissionIsDeterministic) {
  auto emit = [&] {
    return std::move(*prepare(kAddKernel, "x86-64-v4")->emitObject());
  };
  EXPECT_EQ(emit(), emit());
}

/// Copies 16 bfloats; the value lives across a branch.
constexpr const char *kBFloatKernel = R"mlir(
llvm.func @kvc_move(%args: !llvm.ptr) attributes {kvc.kernel = "move"} {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %x = llvm.load volatile %args {alignment = 2 : i64} : !llvm.ptr -> vector<16xbf16>
  %flag_slot = llvm.getelementptr %args[64] : (!llvm.ptr) -> !llvm.ptr, i8
  %flag = llvm.load volatile %flag_slot : !llvm.ptr -> i64
  %set = llvm.icmp "ne" %flag, %zero : i64
  llvm.cond_br %set, ^copy, ^exit
^copy:
  %to = llvm.getelementptr %args[32] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %x, %to {alignment = 2 : i64} : vector<16xbf16>, !llvm.ptr
  llvm.br ^exit
^exit:
  llvm.return
})mlir";

TEST_F(Emit, MovesBFloatsWithoutConvertingThem) {
  for (llvm::StringRef name : {"x86-64", "x86-64-v3", "x86-64-v4"})
    EXPECT_EQ(failure(kBFloatKernel, name), "no failure") << name.str();
  std::unique_ptr<LoadedModule> module = load(kBFloatKernel, "host");
  struct {
    uint16_t from[16], to[16];
    int64_t flag;
  } args = {};
  // A signalling NaN among them: a conversion would quieten it.
  for (int i = 0; i < 16; ++i)
    args.from[i] = 0x7f81 + i;
  args.flag = 1;
  module->table().kernels[0].function(&args);
  for (int i = 0; i < 16; ++i)
    EXPECT_EQ(args.to[i], args.from[i]);
}

constexpr const char *kVNNI = R"mlir(
llvm.func @kvc_dot(%args: !llvm.ptr) attributes {kvc.kernel = "dot"} {
  %x = llvm.load %args {alignment = 4 : i64} : !llvm.ptr -> vector<16xi32>
  %y = llvm.bitcast %x : vector<16xi32> to vector<32xi16>
  %r = llvm.call_intrinsic "llvm.x86.avx512.vpdpwssd.512"(%x, %y, %y) : (vector<16xi32>, vector<32xi16>, vector<32xi16>) -> vector<16xi32>
  llvm.store %r, %args {alignment = 4 : i64} : vector<16xi32>, !llvm.ptr
  llvm.return
})mlir";

TEST_F(Emit, RefusesIntrinsicsThatTheTargetLacks) {
  EXPECT_EQ(failure(kVNNI, "x86-64-v4+vnni"), "no failure");
  std::string message = failure(kVNNI, "x86-64-v4");
  EXPECT_NE(message.find("x86-64-v4: intrinsic llvm.x86.avx512.vpdpwssd.512 "
                         "needs +avx512vnni"),
            std::string::npos)
      << message;
}

TEST_F(Emit, RefusesUndefinedSymbols) {
  constexpr const char *call = R"mlir(
llvm.func @kvc_exp(%args: !llvm.ptr) attributes {kvc.kernel = "exp"} {
  %x = llvm.load %args : !llvm.ptr -> f32
  %y = llvm.intr.exp2(%x) : (f32) -> f32
  llvm.store %y, %args : f32, !llvm.ptr
  llvm.return
})mlir";
  EXPECT_EQ(failure(call, "x86-64-v3"),
            "object: expected no undefined symbol, got exp2f");
}

TEST_F(Emit, RefusesAModuleWithoutKernels) {
  EXPECT_EQ(failure("llvm.func @f() { llvm.return }", "host"),
            "module: expected at least one kernel, got none");
  EXPECT_EQ(failure("llvm.func @f() attributes {kvc.kernel = \"f\"}", "host"),
            "kernel f: its function f is not defined");
}

TEST(LoadedModule, RefusesBytesThatAreNoObject) {
  auto loaded = LoadedModule::load(std::string(100, 'x'), /*asan=*/false);
  ASSERT_FALSE(bool(loaded));
  EXPECT_FALSE(llvm::toString(loaded.takeError()).empty());
}

} // namespace
