//===- Machine.h - A manager beside a model of it ---------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Runs operations on a kvc_manager and on a model that knows the cache's
// contract and nothing of the manager: what a sequence was given, its extents
// by their formula, which prefixes there are, who is pinned. After every
// operation the answer, all sequences, every row that a query sees, every
// published row, the states of all blocks and kvc_manager_check are compared;
// what a step in flight reads is watched, and free blocks are poisoned.
//
// Of the manager's inside it looks at one thing: which blocks are free.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_RUNTIME_MANAGER_MACHINE_H
#define KVC_TEST_UNIT_RUNTIME_MANAGER_MACHINE_H

#include "Operations.h"
#include "kvc/manager.h"

#include <array>
#include <map>
#include <memory>

namespace kvc::test {

inline int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

class Machine {
public:
  explicit Machine(const Setting &setting);
  ~Machine();
  Machine(const Machine &) = delete;
  Machine &operator=(const Machine &) = delete;

  /// Whether such a manager can be made at all.
  bool isUsable() const { return manager != nullptr; }
  /// False from the first thing on that is wrong.
  bool run(const Operation &operation);
  bool run(const Operations &operations);
  /// Gives everything back: all blocks are free then.
  bool finish();
  /// What is wrong, and at which operation; empty: nothing.
  const std::string &fault() const { return wrong; }
  kvc_manager *get() { return manager; }
  std::array<uint8_t, 32> digest();
  /// What later operations depend on beside the manager.
  std::vector<int64_t> memory() const;
  int64_t calls() const { return callCount; }

  /// Runs the calls that change the manager, if set.
  std::function<kvc_status(Machine &, const std::function<kvc_status()> &)>
      around;
  /// Told when a listener, which allocates, begins (true) and ends.
  std::function<void(bool)> listening;
  /// Leaves out what takes time in proportion to all blocks, until set back.
  void setQuick(bool quick);

private:
  using Pair = std::array<int64_t, 2>; ///< Of K and V.
  struct Cell {
    Pair row{}, step{};
    std::array<uint64_t, 2> readers{}; ///< By step, modulo 64.
  };
  /// A block of a pool.
  using Place = std::pair<int32_t, int32_t>;
  struct Entry {
    int64_t serial = 0;
    int32_t group = 0, space = 0;
    Place parent{0, 0};
    int64_t begin = 0, end = 0;
    std::vector<int32_t> tokens;
    std::vector<int64_t> rows;
  };
  struct Living {
    kvc_sequence handle = 0;
    int32_t space = 0;
    std::vector<int32_t> tokens; ///< Pending ones too.
    std::vector<int64_t> rows;   ///< Theirs.
    int64_t committed = 0, fresh = 0;
    bool isOpen = false, hasFailed = false;
    int64_t step = 0;  ///< The last that appended to it.
    int64_t taint = 0; ///< The last that may have written what it holds.
    std::vector<Pair> ends, next;

    int64_t pending() const { return int64_t(tokens.size()); }
  };
  struct Prefix {
    kvc_prefix handle{};
    std::vector<int32_t> tokens;
    int32_t space = 0;
    std::vector<int64_t> leaves; ///< By group: serials.
  };
  struct Pin {
    int64_t count = 0, end = 0;
  };
  struct Request {
    Living *sequence;
    std::vector<int32_t> tokens;
    int64_t fresh;
  };

  bool fail(const std::string &what);
  bool failStatus(const char *call, kvc_status expected, kvc_status got);
  /// A call that leaves the digest when it fails; `expected` or a fault.
  template <typename Call>
  kvc_status call(Call &&body);
  template <typename Call>
  bool expect(const char *name, kvc_status expected, Call &&body);

  // Operations.
  void create(const Operation &one);
  void free(size_t at);
  void append(const Operation &one);
  bool ask(const std::vector<Request> &requests);
  void take(std::vector<Request> &requests);
  void copy();
  void abandon(const Operation &one);
  void close(const Operation &one, bool isCommit);
  void fork(const Operation &one);
  void truncate(const Operation &one);
  void publish(const Operation &one);
  void adopt(const Operation &one);
  void takeOver(Living &one, const Prefix &prefix);
  void pin(const Operation &one);
  void unpin(const Operation &one);
  void passTime(int64_t by);
  void evict(const Operation &one);
  void reset();
  void begin();
  void end();
  void retire(const Operation &one, bool isFailed);
  void look(const Operation &one);
  void lookAtTables(const Living &one);

  // The model.
  Living *sequenceAt(uint8_t number) {
    return living.empty() ? nullptr : &living[number % living.size()];
  }
  Pair extents(size_t group, const Pair &before, int64_t length,
               int64_t pending) const;
  void addTokens(Living &one, const std::vector<int32_t> &tokens);
  void cutTokens(Living &one, int64_t length);
  std::vector<int32_t> someTokens(int64_t count, uint8_t from) const;
  bool isExact(const Living &one, int64_t position);
  bool isVisible(const Living &one, int64_t position);
  int64_t nearestBelow(const Living &one, int64_t position);
  /// Blocks of each pool that a request takes.
  void addNeeds(const Request &request, std::vector<int64_t> &needs);
  bool isShared(Place place) const;
  void countHolders();
  /// The blocks that hold a prefix of tokens, as far as there are entries.
  std::vector<Place> chain(size_t group, const int32_t *tokens, int64_t count,
                           int32_t space) const;
  /// Tokens that so many blocks of a prefix hold.
  int64_t endOfNode(size_t group, int64_t node) const;
  int64_t matching(const std::vector<int32_t> &tokens, int64_t count,
                   int64_t attend, int32_t space, bool hidesOpen) const;
  int64_t longest(const std::vector<int64_t> &covered, int64_t bound) const;
  bool mayEnd(size_t group, int64_t length) const;
  int64_t sinkNodes(size_t group) const;
  bool isWrittenSince(Place place, int64_t step) const;
  void remember(const kvc_prefix &handle, const std::vector<int32_t> &tokens,
                int32_t space);
  bool isAlive(const Prefix &prefix) const;
  const Place *placeOf(int64_t serial) const;
  void told(const kvc_event &event);

  // Rows.
  bool stateOf(const Living &one, size_t group, kvc_sequence_state &state);
  Cell *cellAt(int32_t pool, int32_t block, int64_t row);
  Cell *cellOf(const kvc_sequence_state &state, size_t group, int64_t token,
               bool isCode);
  bool put(int32_t pool, int32_t block, int64_t at, int tensor, int64_t row,
           bool wasHeld);
  bool isSeen(size_t group, int64_t token, int64_t length) const;
  void write(Living &one, const std::vector<std::vector<int32_t>> &held);

  // Comparisons.
  void settle();
  void compareSequence(Living &one);
  void compareRows(Living &one, size_t group, const kvc_sequence_state &state,
                   const Pair &ends, int64_t length);
  void compareTables(Living &one, size_t group,
                     const kvc_sequence_state &state);
  void compareFreed(Living &one);
  void compareEntries();
  void compareStates();

  Setting setting;
  struct SpecFree {
    void operator()(kvc_spec *spec) const { kvc_spec_free(spec); }
  };
  std::vector<std::unique_ptr<kvc_spec, SpecFree>> specs;
  kvc_manager *manager = nullptr;
  char text[512] = "";
  kvc_diag diag = KVC_DIAG_INIT(text);
  std::string wrong;
  bool isQuick = false;
  int64_t callCount = 0, operationCount = 0;
  std::vector<uint8_t> trace;

  std::vector<kvc_group_info> infos;
  std::vector<int64_t> pages, totals; ///< By pool: rows of a block; blocks.
  std::vector<std::vector<Cell>> cells;
  std::vector<std::vector<uint8_t>> wasFree;
  /// By pool and block: the last step that may have written a row of it.
  std::vector<std::vector<int64_t>> written;
  std::vector<std::vector<int64_t>> holders; ///< By pool and block.
  std::vector<Living> living;
  std::vector<kvc_sequence> gone;
  std::vector<Prefix> prefixes;
  std::map<Place, Entry> entries;
  std::map<int64_t, Pin> pins; ///< By serial.
  int64_t serials = 0, now = 0, hits = 0, hitTokens = 0;
  std::vector<int64_t> ended;
  int64_t open = 0;
  uint64_t inFlight = 0; ///< By step, modulo 64.
  Living *publisher = nullptr;
  std::array<uint8_t, 32> lastDigest{};
};

template <typename Call>
kvc_status Machine::call(Call &&body) {
  ++callCount;
  text[0] = 0;
  const kvc_status status = around ? around(*this, body) : body();
  if (isQuick)
    return status;
  const auto after = digest();
  if (status != KVC_OK && after != lastDigest)
    fail(std::string("I5: a call that failed has changed something: ") + text);
  if (status != KVC_OK && !text[0])
    fail("a call that failed without a message");
  lastDigest = after;
  return status;
}

template <typename Call>
bool Machine::expect(const char *name, kvc_status expected, Call &&body) {
  const kvc_status status = call(body);
  if (status != expected)
    failStatus(name, expected, status);
  return status == KVC_OK && expected == KVC_OK;
}

} // namespace kvc::test

#endif // KVC_TEST_UNIT_RUNTIME_MANAGER_MACHINE_H
