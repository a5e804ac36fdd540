//===- property_test.cpp - Any operations on any manager ------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// KVC_MANAGER_SEEDS: how many random lists of 200 operations;
// KVC_MANAGER_FIRST: the first seed. What fails is cut down and printed as a
// test.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "kvc/Test/Sanitizers.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <malloc.h>

using namespace kvc::test;

namespace {

/// What is wrong; empty: nothing.
std::string faultOf(const Setting &setting, const Operations &operations) {
  Machine machine(setting);
  if (!machine.isUsable())
    return "";
  if (machine.run(operations))
    machine.finish();
  return machine.fault();
}

void expectSound(const Setting &setting, const Operations &operations) {
  EXPECT_EQ(faultOf(setting, operations), "");
}

int64_t given(const char *name, int64_t usual) {
  const char *text = std::getenv(name);
  return text ? std::atoll(text) : usual;
}

} // namespace

TEST(ManagerProperty, RandomOperationsKeepTheContract) {
  const int64_t first = given("KVC_MANAGER_FIRST", 1);
  const int64_t seeds =
      given("KVC_MANAGER_SEEDS",
            fewerUnderAsan(std::getenv("KVC_LONG_TESTS") ? 50000 : 10000));
  int64_t unusable = 0;
  for (int64_t seed = first; seed < first + seeds; ++seed) {
    Setting setting = randomSetting(uint64_t(seed));
    Operations operations = randomOperations(uint64_t(seed), 200);
    Machine machine(setting);
    unusable += !machine.isUsable();
    if (!machine.isUsable() || (machine.run(operations) && machine.finish()))
      continue;
    int runs = 0;
    if (given("KVC_MANAGER_SHRINK", 1))
      shrink(setting, operations,
             [&](const Setting &smaller, const Operations &fewer) {
               return ++runs < 20000 && !faultOf(smaller, fewer).empty();
             });
    FAIL() << "seed " << seed << ": " << machine.fault()
           << "\ncut down: " << faultOf(setting, operations) << "\n"
           << asTest(setting, operations);
  }
  EXPECT_LT(unusable, seeds / 100 + 1);
}

TEST(ManagerProperty, WhatFailsIsCutDown) {
  // As if a manager went wrong once it evicts after a hit.
  auto fails = [](const Setting &setting, const Operations &operations) {
    Machine machine(setting);
    if (!machine.isUsable() || !machine.run(operations))
      return false;
    kvc_manager_stats stats = {};
    stats.struct_size = sizeof(stats);
    kvc_pool_stats pool = {};
    pool.struct_size = sizeof(pool);
    return kvc_manager_get_stats(machine.get(), nullptr, &stats) == KVC_OK &&
           kvc_manager_get_pool(machine.get(), 0, nullptr, &pool) == KVC_OK &&
           stats.hits > 0 && pool.evictions > 0;
  };
  int cut = 0;
  for (uint64_t seed = 1; cut < 3 && seed < 200; ++seed) {
    Setting setting = randomSetting(seed);
    Operations operations = randomOperations(seed, 200);
    if (!fails(setting, operations))
      continue;
    ++cut;
    shrink(setting, operations, fails);
    EXPECT_TRUE(fails(setting, operations));
    EXPECT_LE(operations.size(), 14u) << asTest(setting, operations);
    EXPECT_EQ(setting.groups.size(), 1u);
    for (size_t i = 0; i < operations.size(); ++i) {
      Operations rest = operations;
      rest.erase(rest.begin() + ptrdiff_t(i));
      EXPECT_FALSE(fails(setting, rest)) << "operation " << i << " is needless";
    }
  }
  EXPECT_EQ(cut, 3);
}

TEST(ManagerProperty, AListIsPrintedAsATest) {
  Setting setting;
  setting.groups[0].sink = 3;
  setting.policy = "lfu";
  EXPECT_EQ(asTest(setting, {{Do::Create}, {Do::Append, 0, 4}}),
            "TEST(ManagerFound, Name) {\n  Setting setting;\n"
            "  setting.groups[0].sink = 3;\n  setting.policy = \"lfu\";\n"
            "  expectSound(setting, {{Do::Create},\n"
            "                        {Do::Append, 0, 4}});\n}\n");
}

TEST(ManagerProperty, ASoakTakesNoMemory) {
  Setting setting;
  setting.groups.resize(2);
  setting.groups[1].sink = 3;
  setting.groups[1].recent = 5;
  setting.groups[1].keyTokens = 4;
  setting.groups[1].window = 9;
  setting.groups[0].blocks = setting.groups[1].blocks = 12;
  setting.groups[1].rawBlocks = 16;
  setting.freesWindow = true;
  const int parts = std::getenv("KVC_LONG_TESTS") ? 100 : 3;
  Machine machine(setting);
  ASSERT_TRUE(machine.isUsable());
  size_t early = 0;
  for (int part = 0; part < parts; ++part) {
    ASSERT_TRUE(machine.run(randomOperations(uint64_t(part) + 1, 10000)))
        << machine.fault();
    if (part == parts / 10)
      early = mallinfo2().uordblks;
  }
  // Tables have their largest size by then; no call leaves anything behind.
  EXPECT_LE(mallinfo2().uordblks, early + 16384);
  EXPECT_TRUE(machine.finish()) << machine.fault();
}

//===----------------------------------------------------------------------===//
// Found
//===----------------------------------------------------------------------===//

TEST(ManagerFound, EvictsNoMoreThanAskedForAlthoughStepsRead) {
  Setting setting;
  setting.groups[0].page = 2;
  setting.groups[0].sink = 5;
  expectSound(setting, {{Do::Create},
                        {Do::Together, 0, 4, 1},
                        {Do::Commit, 0, 1},
                        {Do::Publish},
                        {Do::Truncate},
                        {Do::Begin},
                        {Do::Together, 0, 154},
                        {Do::Commit},
                        {Do::Publish},
                        {Do::Free},
                        {Do::Evict, 3, 1}});
}
