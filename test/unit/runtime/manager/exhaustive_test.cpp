//===- exhaustive_test.cpp - Every order of a few operations --------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Twelve operations in every order up to a depth, on pools of three blocks. Two
// orders after which the manager says the same (its digest holds all that later
// calls depend on) and was given the same go on as one, so that a state is
// looked at once; where an order is refused it goes on nowhere.
// KVC_MANAGER_DEPTH: how deep.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "kvc/Test/Sanitizers.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

using namespace kvc::test;

namespace {

/// What stands before every order: two sequences, one with tokens.
constexpr Operation kBefore[] = {
    {Do::Create}, {Do::Create}, {Do::Append, 0, 3}, {Do::Commit}};
constexpr Operation kListed[] = {
    {Do::Append, 0, 1, 0}, {Do::Append, 1, 3, 0}, {Do::Together, 0, 0, 2},
    {Do::Commit, 0, 1},    {Do::Commit, 1, 0},    {Do::Fork, 0, 2},
    {Do::Truncate, 0, 1},  {Do::Publish, 0, 0},   {Do::Adopt, 1, 0, 1},
    {Do::Free, 0},         {Do::Begin},           {Do::End},
};
/// With what takes back, keeps, and fails.
constexpr Operation kOthers[] = {
    {Do::Append, 0, 1, 1}, {Do::Rollback, 0},  {Do::Commit, 0, 0},
    {Do::Publish, 0, 0},   {Do::Reuse, 1, 0},  {Do::Abandon, 1, 2, 0},
    {Do::Free, 0},         {Do::Pin, 0, 5, 1}, {Do::Evict, 1, 0},
    {Do::Begin},           {Do::End},          {Do::Fail},
};

struct Visited {
  int64_t orders = 0, states = 0;
};

Visited visitAll(const Setting &setting, const Operation *listed, int depth) {
  Visited result;
  std::set<std::pair<std::array<uint8_t, 32>, std::vector<int64_t>>> seen;
  std::vector<Operations> level{
      Operations(std::begin(kBefore), std::end(kBefore))};
  for (int length = 1; length <= depth; ++length) {
    std::vector<Operations> next;
    for (const Operations &before : level)
      for (int i = 0; i < 12; ++i) {
        Machine machine(setting);
        machine.setQuick(true);
        machine.run(before);
        machine.setQuick(false);
        const auto digest = machine.digest();
        ++result.orders;
        machine.run(listed[i]);
        Operations order = before;
        order.push_back(listed[i]);
        if (!machine.fault().empty()) {
          ADD_FAILURE() << machine.fault() << "\n" << asTest(setting, order);
          return result;
        }
        const auto after = machine.digest();
        if (after == digest || !seen.emplace(after, machine.memory()).second)
          continue;
        ++result.states;
        if (length == depth) {
          if (!machine.finish()) {
            ADD_FAILURE() << machine.fault() << "\n" << asTest(setting, order);
            return result;
          }
          continue;
        }
        next.push_back(std::move(order));
      }
    level = std::move(next);
  }
  return result;
}

void check(const char *name, const GroupShape &group, int64_t *states) {
  Setting setting;
  setting.groups[0] = group;
  setting.groups[0].blocks = setting.groups[0].rawBlocks = 3;
  setting.sequences = 3;
  setting.freesWindow = true;
  const char *given = std::getenv("KVC_MANAGER_DEPTH");
  const bool isShort = KVC_TEST_ASAN && !std::getenv("KVC_LONG_TESTS");
  const int depth = given ? std::atoi(given) : isShort ? 4 : 6;
  for (const Operation *listed : {kListed, kOthers}) {
    const Visited all = visitAll(setting, listed, depth);
    std::printf("%s: %lld orders up to depth %d, %lld states\n", name,
                static_cast<long long>(all.orders), depth,
                static_cast<long long>(all.states));
    *states += all.states;
  }
}

} // namespace

TEST(ManagerExhaustive, TwelveOperationsInEveryOrder) {
  int64_t states = 0;
  GroupShape plain, segments, window;
  plain.page = segments.page = 2;
  window.page = 1;
  segments.sink = 1;
  segments.recent = 1;
  window.window = 1;
  window.windowSinks = 1;
  check("plain", plain, &states);
  check("segments", segments, &states);
  check("window", window, &states);
  EXPECT_GT(states, 500);
}
