//===- sweep_test.cpp - Every pass over every input -----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Whatever MLIR a pass is given, it succeeds or says what is wrong; it never
// crashes. Inputs are those of the tests and examples, and the kernels of
// example specs behind each stage; most of them are not what a pass expects.
// Each KVC_SWEEP_STRIDE-th pair of input and pass runs (1: all).
//
//===----------------------------------------------------------------------===//

#include "kvc/Codegen/Pipelines.h"
#include "kvc/Compiler/SpecText.h"
#include "kvc/Conversion/Passes.h"
#include "kvc/Transforms/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace kvc;
namespace fs = std::filesystem;

namespace {

const fs::path kSource = fs::path(KVC_TEST_DATA).parent_path().parent_path();
constexpr const char *kTargets[] = {"x86-64-v3", "sm_90"};

struct Input {
  std::string name, text;
};

std::string read(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Files of a folder and below with one of the extensions, sorted.
std::vector<fs::path> filesIn(const fs::path &folder,
                              std::initializer_list<const char *> extensions) {
  std::vector<fs::path> files;
  for (const auto &entry : fs::recursive_directory_iterator(folder))
    if (std::ranges::count(extensions, entry.path().extension()))
      files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

/// What "-----" divides, and what C++ programs hold as R"mlir(..)mlir".
std::vector<Input> writtenInputs() {
  std::vector<Input> inputs;
  const auto add = [&](const fs::path &path, llvm::StringRef text) {
    inputs.push_back(
        {path.filename().string() + " #" + std::to_string(inputs.size()),
         text.str()});
  };
  for (const fs::path &path : filesIn(kSource / "test/lit", {".mlir"})) {
    const std::string text = read(path);
    llvm::SmallVector<llvm::StringRef> pieces;
    llvm::StringRef(text).split(pieces, "\n// -----");
    for (llvm::StringRef piece : pieces)
      add(path, piece.starts_with("\n") ? piece : piece.split('\n').second);
  }
  for (const fs::path &path : filesIn(kSource / "examples", {".mlir"}))
    add(path, read(path));
  for (const char *folder : {"test/unit", "test/e2e"})
    for (const fs::path &path : filesIn(kSource / folder, {".cpp"})) {
      const std::string text = read(path);
      for (llvm::StringRef rest = text; rest.contains("R\"mlir(");) {
        rest = rest.split("R\"mlir(").second;
        add(path, rest.split(")mlir\"").first);
      }
    }
  return inputs;
}

/// The kernels of specs behind every stage, for hosts and GPUs.
std::vector<Input> compiledInputs(mlir::MLIRContext &context) {
  std::vector<Input> inputs;
  for (const char *spec : {"int4", "static_int4"})
    for (const char *target : kTargets) {
      auto module = readSpec(
          read(kSource / "examples/specs" / (std::string(spec) + ".json")),
          context);
      if (!module) {
        ADD_FAILURE() << llvm::toString(module.takeError());
        continue;
      }
      for (const Stage &stage : hostStages()) {
        const std::string name = "kvc-stage-" + stage.name.str();
        mlir::PassManager manager(&context);
        EXPECT_TRUE(succeeded(mlir::parsePassPipeline(
            name + "{target=" + target + "}", manager)));
        EXPECT_TRUE(succeeded(manager.run(**module))) << spec << " " << name;
        Input &input = inputs.emplace_back();
        input.name = std::string(spec) + " for " + target + " behind " + name;
        llvm::raw_string_ostream(input.text) << **module;
      }
    }
  return inputs;
}

/// Every pass and pipeline as a textual pipeline, for hosts and for GPUs where
/// an option tells them apart.
std::vector<std::string> pipelines() {
  std::vector<std::string> result;
  for (const char *folder : {"Transforms", "Conversion"}) {
    const std::string text =
        read(kSource / "passes/kvc" / folder / "Passes.td");
    llvm::SmallVector<llvm::StringRef> definitions;
    llvm::StringRef(text).split(definitions, "\ndef ");
    for (llvm::StringRef each : llvm::ArrayRef(definitions).drop_front()) {
      const std::string name =
          each.split("Pass<\"").second.split('"').first.str();
      EXPECT_TRUE(mlir::PassInfo::lookup(name)) << name;
      const bool isOfFunctions =
          each.split('\n').first.contains("::mlir::func::FuncOp");
      for (std::string options : {"", "{warps=true}", "{blocks=true}"})
        if (options.empty() ||
            each.contains(", \"" + options.substr(1, options.find('=') - 1) +
                          "\", \"bool\""))
          result.push_back(isOfFunctions ? "func.func(" + name + options + ")"
                                         : name + options);
    }
  }
  for (const char *target : kTargets) {
    for (const Stage &stage : hostStages())
      result.push_back("kvc-stage-" + stage.name.str() + "{target=" + target +
                       "}");
    result.push_back(std::string("kvc-to-host{target=") + target + "}");
  }
  return result;
}

mlir::DialectRegistry &dialects() {
  static mlir::DialectRegistry registry;
  static const bool once = [] {
    registerHostDialects(registry);
    registerKVCTransformsPasses();
    registerKVCConversionPasses();
    registerHostPipelines();
    return true;
  }();
  (void)once;
  return registry;
}

/// A crash is caught, so that one run tells all of them; what it was in the
/// middle of is left alone.
class Sweep : public testing::Test {
protected:
  Sweep() { llvm::CrashRecoveryContext::Enable(); }
  ~Sweep() override { llvm::CrashRecoveryContext::Disable(); }

  void run(const Input &input, const std::string &pipeline) {
    int errors = 0;
    bool isRead = false, isGood = false;
    auto *context = new mlir::MLIRContext(
        dialects(), mlir::MLIRContext::Threading::DISABLED);
    context->getDiagEngine().registerHandler([&](mlir::Diagnostic &diagnostic) {
      errors += diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
      return mlir::success();
    });
    llvm::CrashRecoveryContext recovery;
    const bool isWhole = recovery.RunSafely([&] {
      auto module =
          mlir::parseSourceString<mlir::ModuleOp>(input.text, context);
      if (!module)
        return;
      isRead = true;
      mlir::PassManager manager(context);
      isGood = succeeded(mlir::parsePassPipeline(pipeline, manager)) &&
               succeeded(manager.run(*module));
    });
    EXPECT_TRUE(isWhole) << "crash: " << pipeline << " over " << input.name;
    if (!isWhole)
      return;
    EXPECT_TRUE(isGood || errors > 0)
        << "failure without a word: " << pipeline << " over " << input.name;
    good += isGood;
    refused += isRead && !isGood;
    delete context;
  }

  void runAll(const std::vector<Input> &inputs, size_t stride) {
    const std::vector<std::string> all = pipelines();
    if (const char *given = std::getenv("KVC_SWEEP_STRIDE"))
      stride = std::max(1, std::atoi(given));
    for (size_t i = 0; i < inputs.size(); ++i)
      for (size_t j = 0; j < all.size(); ++j)
        if ((i + j) % stride == 0)
          run(inputs[i], all[j]);
    RecordProperty("good", good);
    RecordProperty("refused", refused);
    EXPECT_GT(good, 0);
    EXPECT_GT(refused, 0);
  }

private:
  int good = 0, refused = 0;
};

TEST_F(Sweep, EveryPassOverWhatTestsAndExamplesWrite) {
  dialects();
  const std::vector<Input> inputs = writtenInputs();
  ASSERT_GT(inputs.size(), 400u);
  runAll(inputs, 11);
}

TEST_F(Sweep, EveryPassBehindEveryStage) {
  mlir::MLIRContext context(dialects(), mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  const std::vector<Input> inputs = compiledInputs(context);
  ASSERT_EQ(inputs.size(), 4 * hostStages().size());
  runAll(inputs, 23);
}

} // namespace
