//===- target_test.cpp - Names of machines --------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Codegen/Target.h"

#include "llvm/Target/TargetMachine.h"
#include <gtest/gtest.h>

using namespace kvc;

namespace {

TEST(Target, EveryNameParsesAndHasACodeGenerator) {
  for (const TargetName &each : targetNames()) {
    llvm::StringRef name = each.name;
    llvm::Expected<Target> target = parseTarget(name);
    ASSERT_TRUE(bool(target)) << llvm::toString(target.takeError());
    EXPECT_EQ(target->vectorBits % 128, 0u);
    auto machine = createTargetMachine(*target);
    ASSERT_TRUE(bool(machine)) << llvm::toString(machine.takeError());
    EXPECT_TRUE((*machine)->getTargetTriple().isArch64Bit());
  }
}

TEST(Target, LevelsGrow) {
  Target v1 = *parseTarget("x86-64"), v3 = *parseTarget("x86-64-v3"),
         v4 = *parseTarget("x86-64-v4"), vnni = *parseTarget("x86-64-v4+vnni");
  EXPECT_EQ(v1.lanes(), 4u);
  EXPECT_EQ(v3.lanes(), 8u);
  EXPECT_EQ(v4.lanes(), 16u);
  EXPECT_FALSE(v1.hasF16C || v1.hasSSE41);
  EXPECT_TRUE(v3.hasF16C && v3.hasSSE41);
  EXPECT_EQ(v4.prefetchPages, 1);
  EXPECT_EQ(v1.dot, DotKind::Portable);
  EXPECT_EQ(v3.dot, DotKind::AVX2);
  EXPECT_EQ(v4.dot, DotKind::AVX512);
  EXPECT_EQ(vnni.dot, DotKind::VNNI);
}

TEST(Target, NeedsAreThoseOfAllLevelsBelowWithoutTuning) {
  using Names = std::vector<std::string>;
  const Names v3 = {"avx2", "bmi",   "bmi2",  "f16c",
                    "fma",  "lzcnt", "movbe", "popcnt"};
  Names v4 = v3;
  v4.insert(v4.end(),
            {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"});
  Names vnni = v4;
  vnni.push_back("avx512vnni");
  EXPECT_EQ(parseTarget("x86-64")->needs, Names());
  EXPECT_EQ(parseTarget("portable")->needs, Names());
  EXPECT_EQ(parseTarget("x86-64-v3")->needs, v3);
  EXPECT_EQ(parseTarget("x86-64-v4")->needs, v4);
  EXPECT_EQ(parseTarget("x86-64-v4+vnni")->needs, vnni);
}

TEST(Target, PortableIsTheOracle) {
  EXPECT_EQ(parseTarget("portable")->dot, DotKind::Portable);
  EXPECT_FALSE(parseTarget("portable")->integerDots);
}

TEST(Target, HostIsALevelThatRunsHere) {
  Target host = *parseTarget("host");
  EXPECT_NE(host.name, "host");
  EXPECT_FALSE(host.tuneCPU.empty());
  llvm::Error error = checkRunsHere(host);
  EXPECT_FALSE(bool(error)) << llvm::toString(std::move(error));
  // The same kernels as those of the level's own name.
  Target level = *parseTarget(host.name);
  EXPECT_EQ(host.cpu, level.cpu);
  EXPECT_EQ(host.features, level.features);
}

TEST(Target, UnknownNameListsTheValidOnes) {
  for (llvm::StringRef name : {"", "x86-64-v2", "x86-64-v3+vnni", "HOST",
                               "sm_79", "x86-64-v4+vnni "}) {
    llvm::Expected<Target> target = parseTarget(name);
    ASSERT_FALSE(bool(target)) << name.str();
    std::string message = llvm::toString(target.takeError());
    EXPECT_NE(
        message.find(
            "host, x86-64, x86-64-v3, x86-64-v4, x86-64-v4+vnni, portable, "
            "sm_80, sm_86, sm_89, sm_90, sm_100, sm_120"),
        std::string::npos)
        << message;
    EXPECT_NE(message.find("got \"" + name.str() + "\""), std::string::npos)
        << message;
  }
}

} // namespace
