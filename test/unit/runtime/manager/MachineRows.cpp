//===- MachineRows.cpp - Rows, and what is compared -----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "kvc/Manage/Manager.h"

#include <algorithm>
#include <set>

using namespace kvc::test;

static constexpr int64_t kCode = int64_t(1) << 62;
static constexpr int64_t kPoison = -1;

//===----------------------------------------------------------------------===//
// Writing and reading
//===----------------------------------------------------------------------===//

bool Machine::stateOf(const Living &one, size_t group,
                      kvc_sequence_state &state) {
  state.struct_size = sizeof(state);
  const kvc_status status = kvc_manager_get_sequence(
      manager, one.handle, int64_t(group), &diag, &state);
  return status == KVC_OK || failStatus("get_sequence", KVC_OK, status);
}

Machine::Cell *Machine::cellAt(int32_t pool, int32_t block, int64_t row) {
  return &cells[size_t(pool)][size_t(block * pages[size_t(pool)] + row)];
}

Machine::Cell *Machine::cellOf(const kvc_sequence_state &state, size_t group,
                               int64_t token, bool isCode) {
  const kvc_group_info &info = infos[group];
  const int64_t sinkRows = divideUp(info.sink, info.raw_page) * info.raw_page;
  const int64_t page = isCode ? info.page : info.raw_page;
  const int64_t row = isCode || token >= info.sink
                          ? token - info.sink + (isCode ? 0 : sinkRows)
                          : token;
  const int64_t count = isCode ? state.num_blocks : state.num_raw_blocks;
  const int32_t *table = isCode ? state.blocks : state.raw_blocks;
  if (row / page >= count || table[row / page] == 0) {
    fail("token " + std::to_string(token) + " in group " +
         std::to_string(group) + " has no " + (isCode ? "body" : "raw") +
         " block");
    return nullptr;
  }
  return cellAt(isCode ? info.pool : info.raw_pool, table[row / page],
                row % page);
}

bool Machine::put(int32_t pool, int32_t block, int64_t at, int tensor,
                  int64_t row, bool wasHeld) {
  Cell &cell = *cellAt(pool, block, at);
  const auto t = size_t(tensor);
  // Steps run in order: a sequence may write again what it alone holds.
  if ((cell.readers[t] & inFlight) && !wasHeld)
    return fail("a row is written that a step in flight reads");
  cell.readers[t] = 0;
  cell.row[t] = row;
  cell.step[t] = open;
  int64_t &last = written[size_t(pool)][size_t(block)];
  last = std::max(last, open);
  return true;
}

bool Machine::isSeen(size_t group, int64_t token, int64_t length) const {
  const kvc_group_info &info = infos[group];
  return info.window == 0 || token < info.window_sinks ||
         token >= length - info.window - setting.queries + 1;
}

void Machine::copy() {
  kvc_block_copy taken[4];
  for (int64_t count = -1; count != 0 && wrong.empty();) {
    if (!expect("take_copies", KVC_OK, [&] {
          return kvc_manager_take_copies(manager, 4, &diag, taken, &count);
        }))
      return;
    for (int64_t i = 0; i < count; ++i) {
      const kvc_block_copy &one = taken[i];
      const kvc_group_info &info = infos[size_t(one.group)];
      const int64_t page = one.raw ? info.raw_page : info.page;
      if (one.pool != (one.raw ? info.raw_pool : info.pool) || one.from <= 0 ||
          one.to <= 0 || one.from == one.to || one.key_begin < 0 ||
          one.value_begin < 0 || one.key_end > page || one.value_end > page) {
        fail("take_copies: a copy of no block");
        return;
      }
      const int64_t begins[] = {one.key_begin, one.value_begin};
      const int64_t ends[] = {one.key_end, one.value_end};
      for (int tensor : {0, 1})
        for (int64_t row = 0; row < page; ++row) {
          const Cell &from = *cellAt(one.pool, one.from, row);
          Cell &to = *cellAt(one.pool, one.to, row);
          const auto t = size_t(tensor);
          const bool isCopied = row >= begins[tensor] && row < ends[tensor];
          if (!put(one.pool, one.to, row, tensor, isCopied ? from.row[t] : 0,
                   false))
            return;
          // A copy is gone with the step that wrote its source.
          to.step[t] = isCopied ? std::max(from.step[t], open) : 0;
        }
      int64_t &last = written[size_t(one.pool)][size_t(one.to)];
      last = std::max(last, written[size_t(one.pool)][size_t(one.from)]);
    }
  }
}

void Machine::write(Living &one,
                    const std::vector<std::vector<int32_t>> &held) {
  for (size_t g = 0; g < infos.size() && wrong.empty(); ++g) {
    const kvc_group_info &info = infos[g];
    const bool hasRaw = info.raw_pool >= 0;
    kvc_sequence_state state;
    if (!stateOf(one, g, state))
      return;
    auto store = [&](int64_t token, bool isCode, int tensor) {
      const Cell *cell = cellOf(state, g, token, isCode);
      if (!cell)
        return false;
      const int32_t pool = isCode ? info.pool : info.raw_pool;
      const int64_t at = cell - cells[size_t(pool)].data();
      const auto block = int32_t(at / pages[size_t(pool)]);
      return put(pool, block, at % pages[size_t(pool)], tensor,
                 one.rows[size_t(token)] | (isCode ? kCode : 0),
                 std::ranges::count(held[2 * g + !isCode], block) > 0);
    };
    for (int tensor : {0, 1}) {
      const auto t = size_t(tensor);
      for (int64_t token = one.ends[g][t]; token < one.next[g][t]; ++token) {
        if (hasRaw && token < one.committed) {
          const Cell *raw = cellOf(state, g, token, false);
          if (raw && raw->row[t] != one.rows[size_t(token)])
            fail("the raw row of token " + std::to_string(token) +
                 " is lost before it is coded");
        }
        if (!wrong.empty() || !store(token, true, tensor))
          return;
      }
      for (int64_t token = one.committed; hasRaw && token < one.pending();
           ++token)
        if ((token < info.sink || token >= one.next[g][t]) &&
            !store(token, false, tensor))
          return;
    }
    if (!open)
      continue;
    // The same step attends.
    for (int64_t token = 0; token < one.pending(); ++token)
      for (size_t t : {0, 1})
        if (isSeen(g, token, one.pending()))
          if (Cell *cell = cellOf(state, g, token,
                                  token >= info.sink && token < one.next[g][t]))
            cell->readers[t] |= uint64_t(1) << open % 64;
  }
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

void Machine::settle() {
  if (kvc_manager_check(manager, &diag) != KVC_OK)
    fail(std::string("check: ") + text);
  const kvc::manage::Blocks &blocks = manager->blocks;
  for (size_t p = 0; p < pages.size() && wrong.empty(); ++p)
    for (int32_t block = 1; block < totals[p]; ++block) {
      const bool isFree = blocks.state(manager->idOf(int32_t(p), block)) ==
                          kvc::manage::BlockState::Free;
      uint8_t &was = wasFree[p][size_t(block)];
      if (isFree)
        written[p][size_t(block)] = 0;
      if (isFree && !was)
        for (int64_t row = 0; row < pages[p]; ++row) {
          Cell &cell = *cellAt(int32_t(p), block, row);
          if ((cell.readers[0] | cell.readers[1]) & inFlight)
            fail("a block is free that a step in flight reads");
          cell = {{kPoison, kPoison}, {0, 0}, {0, 0}};
        }
      was = isFree;
    }
  for (Living &one : living)
    if (wrong.empty() && !one.hasFailed)
      compareSequence(one);
  if (wrong.empty())
    compareEntries();
  if (wrong.empty())
    compareStates();
}

void Machine::compareSequence(Living &one) {
  for (size_t g = 0; g < infos.size() && wrong.empty(); ++g) {
    kvc_sequence_state state;
    if (!stateOf(one, g, state))
      return;
    const std::array<int64_t, 6> expected = {one.committed,  one.pending(),
                                             one.ends[g][0], one.ends[g][1],
                                             one.next[g][0], one.next[g][1]};
    const std::array<int64_t, 6> got = {
        state.committed,          state.pending,
        state.key_coded_end,      state.value_coded_end,
        state.next_key_coded_end, state.next_value_coded_end};
    static constexpr const char *kNames[] = {"C",   "P",        "E_K",
                                             "E_V", "next E_K", "next E_V"};
    for (size_t i = 0; i < got.size(); ++i)
      if (got[i] != expected[i])
        fail(std::string(kNames[i]) + " in group " + std::to_string(g) +
             ", expected " + std::to_string(expected[i]) + ", got " +
             std::to_string(got[i]));
    compareTables(one, g, state);
    compareRows(one, g, state, one.ends[g], one.committed);
    if (one.isOpen)
      compareRows(one, g, state, one.next[g], one.pending());
  }
}

void Machine::compareTables(Living &one, size_t g,
                            const kvc_sequence_state &state) {
  const kvc_group_info &info = infos[g];
  const Pair &ends = one.ends[g], &next = one.next[g];
  if (state.num_blocks !=
      divideUp(std::max(next[0], next[1]) - info.sink, info.page))
    fail("body blocks in group " + std::to_string(g));
  for (int64_t i = 0; i < state.num_blocks; ++i) {
    const int64_t begin = info.sink + i * info.page, end = begin + info.page;
    const bool mayBeGone =
        info.window && begin >= info.window_sinks &&
        end <= one.committed - info.window - setting.queries + 1 &&
        end <= std::min(ends[0], ends[1]);
    if (state.blocks[i] == 0 && !mayBeGone)
      fail("body block " + std::to_string(i) + " is gone");
  }
  if (info.raw_pool < 0)
    return;
  const int64_t sinkPages = divideUp(info.sink, info.raw_page);
  const int64_t sinkHeld =
      divideUp(std::min(one.pending(), info.sink), info.raw_page);
  const int64_t rows =
      sinkPages +
      divideUp(std::max<int64_t>(one.pending() - info.sink, 0), info.raw_page);
  for (int64_t i = 0; i < std::max(rows, state.num_raw_blocks); ++i) {
    const int64_t begin = info.sink + (i - sinkPages) * info.raw_page;
    auto holds = [&](const Pair &coded, int64_t length) {
      return i >= sinkPages && std::max(begin, std::min(coded[0], coded[1])) <
                                   std::min(begin + info.raw_page, length);
    };
    const bool expected = i < sinkHeld || holds(ends, one.committed) ||
                          holds(next, one.pending());
    const bool got = i < state.num_raw_blocks && state.raw_blocks[i] != 0;
    if (got != expected)
      fail("raw page " + std::to_string(i) + " in group " + std::to_string(g) +
           (got ? " is held" : " is gone"));
  }
}

void Machine::compareRows(Living &one, size_t g,
                          const kvc_sequence_state &state, const Pair &ends,
                          int64_t length) {
  for (int64_t token = 0; token < length; ++token) {
    if (!isSeen(g, token, length))
      continue;
    for (size_t t : {0, 1}) {
      const bool isCode = token >= infos[g].sink && token < ends[t];
      const Cell *cell = cellOf(state, g, token, isCode);
      if (!cell)
        return;
      if (cell->row[t] != (one.rows[size_t(token)] | (isCode ? kCode : 0))) {
        fail("I7: token " + std::to_string(token) + " of " +
             std::to_string(length) + ", group " + std::to_string(g) +
             ", tensor " + std::to_string(t));
        return;
      }
    }
  }
}

void Machine::compareFreed(Living &one) {
  for (size_t g = 0; g < infos.size() && wrong.empty(); ++g) {
    const kvc_group_info &info = infos[g];
    kvc_sequence_state state;
    if (!info.window || !stateOf(one, g, state))
      continue;
    const int64_t bound =
        std::min({one.committed - info.window - setting.queries + 1,
                  one.ends[g][0], one.ends[g][1]});
    for (int64_t i = 0; i < state.num_blocks; ++i) {
      const int64_t begin = info.sink + i * info.page;
      if (begin >= info.window_sinks && begin + info.page <= bound &&
          state.blocks[i] != 0)
        fail("body block " + std::to_string(i) + " behind the window is held");
    }
  }
}

void Machine::compareEntries() {
  for (const auto &[place, entry] : entries) {
    const bool isRaw = entry.begin < infos[size_t(entry.group)].sink;
    for (size_t i = 0; i < entry.rows.size(); ++i) {
      const Cell &cell = *cellAt(place.first, place.second, int64_t(i));
      const int64_t row = entry.rows[i] | (isRaw ? 0 : kCode);
      if (cell.row != Pair{row, row}) {
        fail("row " + std::to_string(i) + " of the published block " +
             std::to_string(place.second) + " of pool " +
             std::to_string(place.first));
        return;
      }
    }
  }
}

void Machine::compareStates() {
  countHolders();
  std::set<Place> kept;
  for (const auto &[serial, pin] : pins)
    for (Place at = *placeOf(serial); at.second; at = entries[at].parent)
      kept.insert(at);
  const bool isWhole = std::ranges::none_of(
      living, [](const Living &one) { return one.hasFailed; });
  for (size_t p = 0; p < pages.size(); ++p) {
    int64_t used = 0, pinned = 0, cached = 0;
    for (size_t block = 1; block < holders[p].size(); ++block)
      used += holders[p][block] > 0;
    for (const auto &[place, entry] : entries)
      if (place.first == int32_t(p) && holders[p][size_t(place.second)] == 0)
        ++(kept.count(place) ? pinned : cached);
    kvc_pool_stats pool = {};
    pool.struct_size = sizeof(pool);
    kvc_manager_get_pool(manager, int64_t(p), nullptr, &pool);
    // A failed sequence holds blocks that no one can see.
    if (isWhole &&
        (pool.used != used || pool.pinned != pinned || pool.cached != cached))
      fail("I1: pool " + std::to_string(p) + ", expected " +
           std::to_string(used) + " used, " + std::to_string(pinned) +
           " pinned and " + std::to_string(cached) + " cached, got " +
           std::to_string(pool.used) + ", " + std::to_string(pool.pinned) +
           " and " + std::to_string(pool.cached));
    if (pool.null + pool.quarantined + pool.used + pool.pinned + pool.cached +
                pool.free !=
            pool.total ||
        pool.in_flight != 0 || (inFlight == 0 && pool.quarantined != 0))
      fail("I1: states of pool " + std::to_string(p));
  }
  kvc_manager_stats stats = {};
  stats.struct_size = sizeof(stats);
  kvc_manager_get_stats(manager, nullptr, &stats);
  if (stats.sequences != int64_t(living.size()) ||
      stats.entries != int64_t(entries.size()) || stats.hits != hits ||
      stats.hit_tokens != hitTokens)
    fail("stats: sequences, entries or hits");
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

void Machine::look(const Operation &one) {
  if (!gone.empty()) {
    const kvc_sequence old = gone[one.b % gone.size()];
    kvc_append_rows rows = {old, 1, 0};
    expect("append to a freed one", KVC_STALE,
           [&] { return kvc_manager_append(manager, &rows, 1, &diag); });
    int64_t nearest = 0;
    expect("truncate of a freed one", KVC_STALE, [&] {
      return kvc_manager_truncate(manager, old, 0, &diag, &nearest);
    });
  }
  const Living *it = sequenceAt(one.a);
  if (!it || it->hasFailed)
    return;
  const kvc_append_rows twice[] = {{it->handle, 0, 0}, {it->handle, 0, 0}};
  // There may be no room for both either.
  const kvc_status status =
      call([&] { return kvc_manager_append(manager, twice, 2, &diag); });
  if (status != KVC_INVALID_ARGUMENT && status != KVC_OUT_OF_BLOCKS &&
      status != KVC_WAIT)
    failStatus("append twice to one", KVC_INVALID_ARGUMENT, status);
  lookAtTables(*it);
}

void Machine::lookAtTables(const Living &one) {
  for (size_t g = 0; g < infos.size() && wrong.empty(); ++g) {
    const kvc_group_info &info = infos[g];
    kvc_sequence_state state;
    if (!stateOf(one, g, state))
      return;
    const int64_t columns = state.num_blocks + 2;
    std::vector<int32_t> table(size_t(columns), -1), indices(table);
    int32_t length = -1, last = -1;
    int64_t indptr[2] = {-1, -1};
    if (kvc_manager_block_table(manager, int64_t(g), &one.handle, 1, columns,
                                &diag, table.data(), &length) != KVC_OK ||
        kvc_manager_block_rows(manager, int64_t(g), &one.handle, 1, columns,
                               &diag, indptr, indices.data(),
                               &last) != KVC_OK) {
      fail(std::string("tables: ") + text);
      return;
    }
    std::vector<int32_t> expected(state.blocks,
                                  state.blocks + state.num_blocks);
    indices.resize(expected.size());
    const int64_t coded = std::max(one.next[g][0], one.next[g][1]) - info.sink;
    if (indices != expected || indptr[0] != 0 ||
        indptr[1] != state.num_blocks ||
        last != (coded ? (coded - 1) % info.page + 1 : 0))
      fail("block_rows");
    expected.resize(size_t(columns), 0);
    if (table != expected || length != one.pending())
      fail("block_table");
    const int64_t rows = one.pending() - one.committed;
    std::vector<int64_t> slots(size_t(rows) + 1, -1);
    const kvc_status status = kvc_manager_slot_mapping(
        manager, int64_t(g), &one.handle, 1, rows, &diag, slots.data());
    if (status != (info.raw_pool < 0 ? KVC_OK : KVC_UNSUPPORTED))
      failStatus("slot_mapping", KVC_OK, status);
    for (int64_t i = 0; i < rows && status == KVC_OK; ++i) {
      const int64_t token = one.committed + i;
      if (slots[size_t(i)] !=
          state.blocks[token / info.page] * info.page + token % info.page)
        fail("slot_mapping: row " + std::to_string(i));
    }
  }
}
