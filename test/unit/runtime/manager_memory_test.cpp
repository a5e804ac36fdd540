//===- manager_memory_test.cpp - The system refuses memory ----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Every allocation of every call fails in turn: the call says KVC_FAILED and
// has changed nothing. `new` of this program is replaced for that.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "ManagedRows.h"

#include <cstdlib>
#include <new>

using namespace kvc::test;

/// Allocations of this thread that still succeed; below 0: all.
static thread_local int64_t allocationsLeft = -1;
static thread_local bool wasRefused = false;

static bool mayAllocate() {
  if (allocationsLeft == 0) {
    wasRefused = true;
    return false;
  }
  if (allocationsLeft > 0)
    --allocationsLeft;
  return true;
}

void *operator new(size_t size) {
  if (!mayAllocate())
    throw std::bad_alloc();
  if (void *memory = std::malloc(size ? size : 1))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }

/// The calloc that arrays of the manager come from, by the linker's --wrap.
extern "C" {
void *realCalloc(size_t count, size_t size) __asm__("__real_calloc");
void *refusingCalloc(size_t count, size_t size) __asm__("__wrap_calloc");
void *refusingCalloc(size_t count, size_t size) {
  return mayAllocate() ? realCalloc(count, size) : nullptr;
}
}

namespace {

/// Runs a call with ever more allocations until it succeeds; how many failed.
template <typename Call>
int64_t failInTurn(ManagedRows &rows, Call &&call) {
  for (int64_t allowed = 0;; ++allowed) {
    const auto before = rows.digest();
    allocationsLeft = allowed;
    const kvc_status status = call();
    allocationsLeft = -1;
    EXPECT_EQ(kvc_manager_check(rows.get(), rows.message.get()), KVC_OK)
        << rows.message.text;
    if (status == KVC_OK)
      return allowed;
    EXPECT_EQ(status, KVC_FAILED) << rows.message.text;
    if (status != KVC_FAILED)
      return -1;
    EXPECT_EQ(before, rows.digest()) << "I5, allocation " << allowed;
  }
}

} // namespace

TEST(ManagerMemory, EveryAllocationFailsInTurn) {
  for (ManagedOptions options : layouts())
    for (uint32_t flags : {0u, uint32_t(KVC_MANAGER_LOCK)}) {
      options.flags = flags;
      ManagedRows rows(options);
      kvc_manager *manager = rows.get();
      kvc_sequence one = 0, two = 0, child = 0;
      EXPECT_GT(failInTurn(rows,
                           [&] {
                             return kvc_manager_create_sequence(manager,
                                                                nullptr, &one);
                           }),
                0);
      const kvc_append_rows rowsOfOne = {one, 41, 3};
      EXPECT_GT(failInTurn(rows,
                           [&] {
                             return kvc_manager_append(manager, &rowsOfOne, 1,
                                                       nullptr);
                           }),
                0);
      EXPECT_EQ(failInTurn(rows,
                           [&] {
                             return kvc_manager_commit(manager, one, 42,
                                                       nullptr);
                           }),
                0);
      const Tokens tokens = text(42);
      kvc_prefix prefix = {};
      EXPECT_GT(failInTurn(rows,
                           [&] {
                             return kvc_manager_publish(
                                 manager, one, tokens.data(), 42, nullptr,
                                 nullptr, &prefix);
                           }),
                0);
      EXPECT_GT(failInTurn(rows,
                           [&] {
                             return kvc_manager_pin(manager, &prefix, 1, 0,
                                                    nullptr);
                           }),
                0);
      EXPECT_GT(failInTurn(rows,
                           [&] {
                             return kvc_manager_fork(manager, one, 1, nullptr,
                                                     &child, nullptr);
                           }),
                0);
      EXPECT_GT(failInTurn(rows,
                           [&] {
                             return kvc_manager_create_sequence(manager,
                                                                nullptr, &two);
                           }),
                0);
      EXPECT_GT(failInTurn(rows,
                           [&] {
                             return kvc_manager_adopt(manager, two, &prefix,
                                                      nullptr);
                           }),
                0);
      // Copies on write want room in their list.
      const kvc_append_rows both[] = {{one, 5, 0}, {child, 30, 0}, {two, 3, 0}};
      EXPECT_GT(failInTurn(rows,
                           [&] {
                             return kvc_manager_append(manager, both, 3,
                                                       nullptr);
                           }),
                0);
      for (kvc_sequence sequence : {one, two, child})
        EXPECT_EQ(failInTurn(rows,
                             [&] {
                               return kvc_manager_free_sequence(
                                   manager, sequence, nullptr);
                             }),
                  0);
      EXPECT_EQ(
          failInTurn(rows, [&] { return kvc_manager_reset(manager, nullptr); }),
          0);
      rows.expectAllFree();
    }
}

TEST(ManagerMemory, AppendsTakeNoneWhereTheLongestSequenceIsKnown) {
  for (ManagedOptions options : layouts()) {
    options.maxTokens = 200;
    ManagedRows rows(options);
    const kvc_sequence one = rows.create(), two = rows.create();
    for (int i = 0; i < 8; ++i) {
      const kvc_append_rows both[] = {{one, 1 + i % 3, 4}, {two, 7, 0}};
      EXPECT_EQ(failInTurn(rows,
                           [&] {
                             return kvc_manager_append(rows.get(), both, 2,
                                                       nullptr);
                           }),
                0);
      EXPECT_EQ(kvc_manager_commit(rows.get(), one, 3 + i % 3, nullptr),
                KVC_OK);
      EXPECT_EQ(kvc_manager_commit(rows.get(), two, 7, nullptr), KVC_OK);
    }
  }
}

TEST(ManagerMemory, EveryAllocationOfEveryCallFailsInTurn) {
  // The machine's model knows of successes only, so it tells if a call that
  // failed has done anything, or has lost what the next attempt needs.
  int64_t failed = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Machine machine(randomSetting(seed));
    if (!machine.isUsable())
      continue;
    int64_t left = -1;
    machine.listening = [&](bool begins) {
      if (begins)
        left = allocationsLeft;
      allocationsLeft = begins ? -1 : left;
    };
    machine.around = [&](Machine &it, const std::function<kvc_status()> &call) {
      for (int64_t allowed = 0;; ++allowed) {
        const auto before = it.digest();
        allocationsLeft = allowed;
        wasRefused = false;
        const kvc_status status = call();
        allocationsLeft = -1;
        if (!wasRefused)
          return status;
        EXPECT_EQ(status, KVC_FAILED);
        const bool isSame = before == it.digest();
        EXPECT_TRUE(isSame) << "I5, allocation " << allowed;
        EXPECT_EQ(kvc_manager_check(it.get(), nullptr), KVC_OK);
        if (!isSame)
          return status;
        ++failed;
        if (allowed > 1000)
          return status;
      }
    };
    const Operations operations = randomOperations(seed, 100);
    EXPECT_TRUE(machine.run(operations) && machine.finish())
        << "seed " << seed << ": " << machine.fault();
    if (HasFailure())
      return;
  }
  EXPECT_GT(failed, 1000);
}

TEST(ManagerMemory, EveryAllocationOfACreationFailsInTurn) {
  const SpecPtr spec = parse(GroupText().json());
  const kvc_layer_group group = {sizeof(group), spec.get(), 1, 6, 0};
  kvc_manager_options options = {};
  options.struct_size = sizeof(options);
  options.groups = &group;
  options.num_groups = 1;
  kvc_manager *manager = nullptr;
  int64_t allowed = 0;
  for (; allowed < 200 && !manager; ++allowed) {
    allocationsLeft = allowed;
    const kvc_status status = kvc_manager_create(&options, nullptr, &manager);
    allocationsLeft = -1;
    EXPECT_EQ(status, manager ? KVC_OK : KVC_FAILED);
  }
  // More than 20 arrays alone.
  EXPECT_GT(allowed, 20);
  ASSERT_TRUE(manager);
  EXPECT_EQ(kvc_manager_check(manager, nullptr), KVC_OK);
  kvc_manager_free(manager);
}
