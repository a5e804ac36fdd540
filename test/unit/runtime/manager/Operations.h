//===- Operations.h - Calls of a manager as a list --------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Operands say which of what is there when an operation runs, modulo how many
// there are. So each part of a list is a list, any bytes are one, and a failing
// one can be cut down to what fails.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_RUNTIME_MANAGER_OPERATIONS_H
#define KVC_TEST_UNIT_RUNTIME_MANAGER_OPERATIONS_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kvc::test {

enum class Do : uint8_t {
  Create,   ///< A sequence in namespace a.
  Free,     ///< Sequence a.
  Append,   ///< b tokens and c drafts to sequence a.
  Together, ///< The same to every sequence without a reservation.
  Abandon,  ///< Append; then roll back, or free (c odd), before any copy.
  Commit,   ///< Of sequence a, b of the drafts.
  Rollback, ///< Of sequence a.
  Fork,     ///< Sequence a at token b.
  Truncate, ///< Sequence a to b tokens.
  Publish,  ///< The first tokens of sequence a, all but b.
  Adopt,    ///< What matches sequence b's tokens, and some, into sequence a.
  Reuse,    ///< Prefix b, however old, into sequence a.
  Pin,      ///< Prefix a, priority b, for c.
  Unpin,    ///< Prefix a.
  Time,     ///< Moves on by a.
  Evict,    ///< a blocks of pool b.
  Reset,    ///< If a is 0 modulo 4.
  Begin,    ///< A step.
  End,      ///< The open step.
  Retire,   ///< Step a of those that have ended.
  Fail,     ///< The same, failed.
  Look,     ///< At tables and stale handles of sequence a; probes.
};
inline constexpr int kKinds = int(Do::Look) + 1;

struct Operation {
  Do what;
  uint8_t a = 0, b = 0, c = 0;

  bool operator==(const Operation &) const = default;
};
using Operations = std::vector<Operation>;

/// A layer group of int8 keys and values.
struct GroupShape {
  int page = 4;
  int sink = 0, recent = 0;
  int keyTokens = 1, valueTokens = 1;
  int window = 0, windowSinks = 0;
  int blocks = 8, rawBlocks = 8;
  int layers = 1;

  std::string json() const;
};

/// What a manager is made of.
struct Setting {
  std::vector<GroupShape> groups{GroupShape()};
  int sequences = 5; ///< At most.
  int tokens = 0;    ///< max_tokens.
  int queries = 1;
  bool freesWindow = false, collides = false, isTraced = false;
  const char *policy = "lru";
};

/// Of 1 to 3 groups, segments, windows, small pools.
Setting randomSetting(uint64_t seed);
Operations randomOperations(uint64_t seed, int count);
/// Four bytes each; those that are too few for one are left out.
Operations operationsOf(const uint8_t *data, size_t size);

/// A test that may be pasted.
std::string asTest(const Setting &setting, const Operations &operations);

/// A setting and a list from which nothing can be left out, and of which no
/// number can be smaller, without `fails` being false.
void shrink(
    Setting &setting, Operations &operations,
    const std::function<bool(const Setting &, const Operations &)> &fails);

} // namespace kvc::test

#endif // KVC_TEST_UNIT_RUNTIME_MANAGER_OPERATIONS_H
