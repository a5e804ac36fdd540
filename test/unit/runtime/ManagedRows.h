//===- ManagedRows.h - A manager and rows that are told apart ---*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A device in miniature beside a kvc_manager: blocks are cells, one for each
// row of K and of V. A row of a token is a number that follows from all tokens
// up to it; a code is the same number with a mark. Appends write as kernels
// would, from what the manager says alone; reads are compared with the tokens
// that a sequence was given. Free blocks are poisoned after every call, and
// every call is followed by kvc_manager_check.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_RUNTIME_MANAGEDROWS_H
#define KVC_TEST_UNIT_RUNTIME_MANAGEDROWS_H

#include "FakeModule.h"
#include "kvc/manager.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>

namespace kvc::test {

/// A layer group of int8 keys and values.
struct GroupText {
  int page = 4;
  int sink = 0, recent = 0;
  int keyTokens = 1, valueTokens = 1; ///< n; above 1 needs recent >= n.
  int window = 0, windowSinks = 0;
  int64_t blocks = 16, rawBlocks = 64;
  int64_t layers = 1;

  std::string json() const;
};

/// What the manager of a test is made of.
struct ManagedOptions {
  std::vector<GroupText> groups{GroupText()};
  int64_t maxSequences = 16, maxTokens = 0, maxQueries = 0;
  uint32_t flags = 0;
  kvc_policy policy = {};
  bool isTraced = false;
  void (*hash)(void *, const void *, size_t, uint8_t *) = nullptr;
};

/// A token's id.
using Tokens = std::vector<int32_t>;

class ManagedRows {
public:
  explicit ManagedRows(const ManagedOptions &options = {});
  ~ManagedRows();
  kvc_manager *get() const { return manager; }

  kvc_sequence create();
  kvc_status free(kvc_sequence sequence);
  /// Appends tokens and drafts and lets the kernels write them.
  kvc_status append(kvc_sequence sequence, const Tokens &tokens,
                    const Tokens &drafts = {});
  struct Rows {
    kvc_sequence sequence;
    Tokens tokens, drafts;
  };
  kvc_status append(const std::vector<Rows> &rows);
  kvc_status commit(kvc_sequence sequence, int64_t accepted);
  kvc_status rollback(kvc_sequence sequence);
  /// append and commit.
  kvc_status grow(kvc_sequence sequence, const Tokens &tokens);
  kvc_status fork(kvc_sequence parent, int64_t position, kvc_sequence &child,
                  int64_t *nearest = nullptr);
  kvc_status truncate(kvc_sequence sequence, int64_t length,
                      int64_t *nearest = nullptr);
  kvc_prefix publish(kvc_sequence sequence,
                     const kvc_namespace *name = nullptr);
  kvc_prefix match(const Tokens &tokens, int64_t attendLength,
                   const kvc_namespace *name = nullptr);
  kvc_status adopt(kvc_sequence sequence, const kvc_prefix &prefix,
                   const Tokens &tokens);
  kvc_status pin(const kvc_prefix &prefix, int32_t priority = 0,
                 int64_t ttl = 0);
  kvc_status unpin(const kvc_prefix &prefix);
  kvc_status setTime(int64_t now);
  int64_t evict(int64_t pool, int64_t count);
  kvc_status reset();
  int64_t beginStep();
  kvc_status endStep(int64_t step);
  kvc_status retire(int64_t step, bool failed = false);

  /// All rows of a sequence that its next queries see, against its tokens.
  void verify(kvc_sequence sequence);
  /// Reads what an attending call in the open step reads; looked at again when
  /// the step retires.
  void attend(kvc_sequence sequence);
  /// kvc_manager_check, and poison for what is free. After every call.
  void settle();

  kvc_sequence_state state(kvc_sequence sequence, int64_t group = 0);
  std::vector<int32_t> body(kvc_sequence sequence, int64_t group = 0);
  kvc_pool_stats pool(int64_t number = 0);
  kvc_manager_stats stats();
  const Tokens &tokensOf(kvc_sequence sequence) { return tokens[sequence]; }
  std::array<uint8_t, 32> digest();
  bool says(const std::string &text) const {
    return std::string(message.text).find(text) != std::string::npos;
  }
  /// Everything freed, reset and retired: all blocks are free (I8).
  void expectAllFree();

  /// The stored bytes of a sequence, in the order of its tokens.
  std::vector<int64_t> stored(kvc_sequence sequence, int64_t group = 0);

  Message message;
  std::vector<uint8_t> trace; ///< Where it is traced.

private:
  struct Cell {
    int64_t row[2] = {0, 0};  ///< K, V.
    int64_t step[2] = {0, 0}; ///< That wrote them.
  };
  struct Read {
    int64_t step;
    const int64_t *at;
    int64_t row;
  };
  /// A call that must leave the digest alone when it fails.
  template <typename Call>
  kvc_status call(Call &&body);
  void copy();
  void write(kvc_sequence sequence, const Tokens &all,
             const std::set<const Cell *> &held);
  void put(int32_t pool, const Cell &target, int tensor, int64_t row,
           const std::set<const Cell *> &held);
  static std::vector<int64_t> rowsOf(const Tokens &all);
  Cell &cell(int32_t pool, int32_t block, int64_t row);
  const Cell &cellOf(const kvc_sequence_state &state, int64_t group,
                     int64_t token, bool isCode);
  int64_t firstSeen(int64_t group, int64_t token, int64_t length) const;

  ManagedOptions options;
  std::vector<SpecPtr> specs;
  kvc_manager *manager = nullptr;
  std::vector<kvc_group_info> infos;
  std::vector<int64_t> pages;           ///< By pool: cells of a block.
  std::vector<std::vector<Cell>> pools; ///< Cells.
  std::map<kvc_sequence, Tokens> tokens, pending;
  std::vector<Read> reads;
  int64_t openStep = 0;
};

/// `count` tokens from `first` on.
Tokens text(int64_t count, int32_t first = 1);
Tokens joined(Tokens a, const Tokens &b);

/// One of the library's.
kvc_policy policy(const char *name);
/// One group without segments.
ManagedOptions plain(int64_t blocks, int page = 4);
/// Layouts that every scenario of prefixes and forks must hold for.
std::vector<ManagedOptions> layouts();

} // namespace kvc::test

#endif // KVC_TEST_UNIT_RUNTIME_MANAGEDROWS_H
