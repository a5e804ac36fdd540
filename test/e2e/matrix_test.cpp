//===- matrix_test.cpp - Properties together ------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Each case of the matrix, of every two properties and of every three of those
// that matter most: compiled for this machine, for the portable path and (each
// tenth) for another level that this machine runs; appended in chunks,
// attended, read back; compared with the reference to the bit where SPEC.md
// says so, within its bounds elsewhere.
//
// KVC_MATRIX_SEED=N in the environment makes another matrix,
// KVC_MATRIX_STRIDE=N runs each Nth case of it, KVC_MATRIX_PAIRS_STRIDE=M each
// Mth of those of two properties, each second one of these on the portable
// path. Under AddressSanitizer kernels are instrumented.
//
//===----------------------------------------------------------------------===//

#include "Expect.h"
#include "Matrix.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <unistd.h>
#if KVC_TEST_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

using namespace kvc;
using namespace kvc::test;

namespace {

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

/// How long the compiling thread worked: machines that run tests are busy.
double threadMs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) * 1e3 + double(now.tv_nsec) * 1e-6;
}

struct {
  double totalMs = 0, slowestMs = 0;
  int64_t count = 0;
  std::string slowest;
} compilations;

/// `kernels` null: all.
Engine compile(const std::string &spec, const std::string &name,
               const std::string &target, const char *kernels) {
  static const CompilerHandle compiler = createCompiler();
  kvc_compile_options options = testOptionsFor(target);
  options.kernels = kernels;
  double start = threadMs();
  Engine engine(compiler.get(), spec, name, options);
  double ms = threadMs() - start;
  compilations.totalMs += ms;
  ++compilations.count;
  if (ms > compilations.slowestMs) {
    compilations.slowestMs = ms;
    compilations.slowest = name + " for " + target;
  }
  return engine;
}

/// Fails where instrumented kernels need more than the sanitizer's functions.
void compileInstrumented(const MatrixCase &test) {
  const CompilerHandle compiler = createCompiler();
  const std::string target = "x86-64";
  kvc_compile_options options = compileOptionsFor(target);
  options.asan = 1;
  options.kernels = test.kernels.c_str();
  Diag diag;
  kvc_artifacts *made = nullptr;
  diag.check(kvc_compile_artifacts(compiler.get(), test.spec.data(),
                                   test.spec.size(), &options, KVC_EMIT_OBJ,
                                   nullptr, diag, &made),
             test.name);
  kvc_artifacts_free(made);
}

/// Targets that this machine runs, beside "host" and "portable".
const std::vector<std::string> &otherTargets() {
  static const std::vector<std::string> targets = [] {
    const kvc_named *names = nullptr;
    int64_t count = 0;
    kvc_target_names(&names, &count);
    std::vector<std::string> result;
    for (int64_t i = 0; i < count; ++i) {
      std::string name = names[i].name;
      if (name == "host" || name == "portable" || name.starts_with("sm_"))
        continue;
      try {
        compile(R"({"kvc": 1, "name": "probe",
                    "attention": {"q_heads": 1, "kv_heads": 1, "head_dim": 16},
                    "io": {"query": "f32"},
                    "key": {"codec": "f32"}, "value": {"codec": "f32"}})",
                "probe", name, nullptr);
        result.push_back(name);
      } catch (const Failure &) {
        continue; // Another architecture, or a level above this machine's.
      }
    }
    return result;
  }();
  return targets;
}

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

const std::vector<MatrixCase> &cases() {
  static const std::vector<MatrixCase> all = [] {
    const char *text = std::getenv("KVC_MATRIX_SEED");
    const uint64_t seed = text ? std::strtoull(text, nullptr, 10) : 1;
    std::vector<MatrixCase> result = matrixCases(seed);
    for (MatrixCase &test : combinationCases(seed))
      result.push_back(std::move(test));
    return result;
  }();
  return all;
}

size_t numberFrom(const char *variable, size_t otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::max<size_t>(std::strtoull(text, nullptr, 10), 1)
              : otherwise;
}

const size_t stride = numberFrom("KVC_MATRIX_STRIDE", 1);
const size_t pairsStride = numberFrom("KVC_MATRIX_PAIRS_STRIDE", stride);

/// A case to run: its number, and how many are run before it.
struct Chosen {
  size_t number, turn;
};

std::vector<Chosen> chosenCases() {
  const auto pairs = size_t(
      std::count_if(cases().begin(), cases().end(), [](const MatrixCase &test) {
        return test.name.starts_with("matrix_");
      }));
  std::vector<Chosen> chosen;
  for (size_t i = 0; i < cases().size();
       i += i < pairs ? std::min(pairsStride, pairs - i) : stride)
    chosen.push_back({i, chosen.size()});
  return chosen;
}

/// What a case is compiled for.
std::vector<std::string> targetsOf(size_t turn) {
  std::vector<std::string> targets = {"host"};
  if (stride == 1 || turn % 2 == 0)
    targets.emplace_back("portable");
  if (turn % 10 == 3 && !otherTargets().empty())
    targets.push_back(otherTargets()[turn / 10 % otherTargets().size()]);
  return targets;
}

/// Says which case ran into a guard page or was reported by a sanitizer. Its
/// kernels cannot be walked by a debugger, so nothing else would.
std::string onCrash;
void sayWhere() {
  if (write(STDERR_FILENO, onCrash.data(), onCrash.size()) < 0)
    std::abort();
}
void reportCrash(int signal) {
  sayWhere();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

class Matrix : public testing::TestWithParam<Chosen> {
protected:
  static void SetUpTestSuite() {
    std::signal(SIGSEGV, reportCrash);
    std::signal(SIGBUS, reportCrash);
#if KVC_TEST_ASAN
    __sanitizer_set_death_callback(sayWhere);
#endif
  }

  void SetUp() override {
    const auto parsed = spec::parseSpec(test.spec);
    ASSERT_TRUE(parsed) << parsed.error().str() << "\n" << test.spec;
    spec = *parsed;
    inputs = randomInputs(spec, test.lengths, test.mode, test.inputSeed);
    expected = answer(spec, inputs);
  }

  void TearDown() override {
    if (!HasFailure() || spec.name.empty())
      return;
    const std::filesystem::path folder =
        std::filesystem::path(testing::TempDir()) / "kvc_matrix";
    std::filesystem::create_directories(folder);
    std::cout << test.levels << "\n"
              << test.spec
              << repeatCommand(test, spec, inputs, folder.string(),
                               failedTarget)
              << "\n"
              << std::flush;
  }

  static void TearDownTestSuite() {
    onCrash.clear();
    std::cout << compilations.count << " compilations took "
              << compilations.totalMs / double(compilations.count)
              << " ms each; the slowest: " << compilations.slowest << ", "
              << compilations.slowestMs << " ms\n";
  }

  void expectNone(const std::string &target, const std::string &what,
                  const std::vector<std::string> &wrong) {
    for (const std::string &line : wrong) {
      failedTarget = target;
      ADD_FAILURE() << target << ", " << what << ": " << line;
    }
  }

  void expectSame(const std::string &target, const std::string &what,
                  const Attended &one, const Attended &other) {
    if (one.outBytes != other.outBytes || one.lseBytes != other.lseBytes)
      expectNone(target, what, {"expected the same bits, got others"});
  }

  const MatrixCase &test = cases()[GetParam().number];
  spec::Spec spec;
  Inputs inputs;
  Answer expected;
  std::string failedTarget = "host";
};

TEST_P(Matrix, RunsAsSpecified) {
  if (GetParam().turn % 20 == 7 && !KVC_TEST_ASAN)
    compileInstrumented(test);
  static const Threads twoThreads(2);

  std::optional<Session> hostSession;
  std::optional<Engine> host;
  for (const std::string &target : targetsOf(GetParam().turn)) {
    onCrash = "crash in " + test.name + " for " + target + "\n" + test.levels +
              "\n" + test.spec;
    Engine engine = compile(test.spec, test.name, target, test.kernels.c_str());
    Session session(engine, spec, inputs, test.rows, test.appendChunk);
    expectNone(target, "stored", wrongStored(spec, session, engine, expected));
    Attended attended = session.attend(engine, nullptr);
    expectNone(target, "attended",
               wrongAttended(spec, inputs, attended, expected));
    expectSame(target, "with two threads and block tables", attended,
               session.attend(engine, twoThreads.loop(), true));

    Session other(engine, spec, inputs, test.rows, test.otherChunk);
    const std::string chunk =
        "append chunk " + std::to_string(test.otherChunk) + ", ";
    expectNone(target, chunk + "stored",
               wrongStored(spec, other, engine, expected));
    expectSame(target, chunk + "attended", attended,
               other.attend(engine, nullptr));
    other.freeCache();
    if (other.device().overruns())
      expectNone(target, "memory", {"something was written behind its end"});

    // One cache serves the kernels of every target.
    if (hostSession)
      expectNone(target, "on a cache of host's",
                 wrongAttended(spec, inputs,
                               hostSession->attend(engine, nullptr), expected));
    else {
      host.emplace(std::move(engine));
      hostSession.emplace(*host, spec, inputs, test.rows, test.appendChunk);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Matrix, testing::ValuesIn(chosenCases()),
                         [](const auto &info) {
                           return cases()[info.param.number].name;
                         });

//===----------------------------------------------------------------------===//
// How long a user waits
//===----------------------------------------------------------------------===//

/// `kvc compile --report` and `kvc run --stats` print the phases: they are the
/// stages and what is around them, and parts of the time that passes. How long
/// they are is never asserted.
TEST(Compilation, PhasesArePartsOfItsTime) {
  std::ifstream file(KVC_EXAMPLES "/specs/llama3_8b_int4.json");
  const std::string spec{std::istreambuf_iterator<char>(file), {}};
  const auto start = std::chrono::steady_clock::now();
  const Engine engine = compile(spec, "llama3_8b_int4", "host", nullptr);
  const std::chrono::duration<double, std::milli> passed =
      std::chrono::steady_clock::now() - start;

  std::vector<std::string> expected = {"parse"}, phases;
  const kvc_named *stages = nullptr;
  int64_t count = 0;
  ASSERT_EQ(kvc_stage_names(&stages, &count), KVC_OK);
  for (int64_t i = 0; i < count; ++i)
    expected.emplace_back(stages[i].name);
  for (const char *name : {"translate", "optimise", "emit", "load"})
    expected.emplace_back(name);
  double together = 0;
  for (const kvc_phase &phase : engine.phases()) {
    phases.emplace_back(phase.name);
    EXPECT_GE(phase.ms, 0) << phase.name;
    together += phase.ms;
  }
  EXPECT_EQ(phases, expected);
  EXPECT_EQ(engine.compileMs(), together);
  EXPECT_LE(together, passed.count() + 1e-6);
}

//===----------------------------------------------------------------------===//
// The matrix itself
//===----------------------------------------------------------------------===//

TEST(MatrixCases, AreManyAndValid) {
  EXPECT_GE(matrixCases(1).size(), 300u);
  EXPECT_GE(combinationCases(1).size(), 1500u);
  for (const MatrixCase &test : cases()) {
    const auto parsed = spec::parseSpec(test.spec);
    ASSERT_TRUE(parsed) << parsed.error().str() << "\n" << test.spec;
  }
}

TEST(MatrixCases, CoverEveryPairThatMayMeet) {
  for (ValueIs value : kValueIs) {
    std::vector<Property> properties = matrixProperties(value);
    Allowed allowed = matrixAllowed(properties);
    std::vector<Row> rows = coveringRows(properties, allowed, 5);
    for (size_t p = 0; p < properties.size(); ++p)
      for (size_t q = 0; q < p; ++q)
        for (size_t a = 0; a < properties[p].levels.size(); ++a)
          for (size_t b = 0; b < properties[q].levels.size(); ++b) {
            bool meets = std::any_of(rows.begin(), rows.end(), [&](auto &row) {
              return row[p] == a && row[q] == b;
            });
            EXPECT_EQ(meets, allowed({p, a}, {q, b}))
                << properties[p].name << "=" << properties[p].levels[a] << ", "
                << properties[q].name << "=" << properties[q].levels[b];
          }
  }
}

TEST(MatrixCases, HaveManyHeadDimsAndGroups) {
  std::set<int64_t> headDims, valueDims, groups;
  for (const MatrixCase &test : matrixCases(1)) {
    const auto parsed = spec::parseSpec(test.spec);
    ASSERT_TRUE(parsed) << parsed.error().str() << "\n" << test.spec;
    headDims.insert(parsed->attention.headDim);
    valueDims.insert(parsed->attention.valueDim);
    groups.insert(parsed->attention.group());
  }
  EXPECT_EQ(*headDims.begin(), 16);
  EXPECT_EQ(*headDims.rbegin(), 576);
  EXPECT_EQ(*groups.begin(), 1);
  EXPECT_EQ(*groups.rbegin(), 128);
  EXPECT_GE(headDims.size(), 30u);
  EXPECT_GE(valueDims.size(), 30u);
  EXPECT_GE(groups.size(), 50u);
}

TEST(MatrixCases, AreAFunctionOfTheSeed) {
  std::vector<MatrixCase> one = matrixCases(3), two = matrixCases(3),
                          other = matrixCases(4);
  ASSERT_EQ(one.size(), two.size());
  size_t equal = 0;
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].spec, two[i].spec);
    EXPECT_EQ(one[i].inputSeed, two[i].inputSeed);
    equal += i < other.size() && one[i].spec == other[i].spec;
  }
  EXPECT_LT(equal, one.size() / 10);
}

} // namespace
