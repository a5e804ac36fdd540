//===- MachineModel.cpp - What the contract says --------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include <algorithm>

using namespace kvc::test;

/// Whether two ranges of tokens have some in common.
static bool meet(int64_t begin, int64_t end, int64_t otherBegin,
                 int64_t otherEnd) {
  return std::max(begin, otherBegin) < std::min(end, otherEnd);
}

std::vector<int64_t> Machine::memory() const {
  std::vector<int64_t> all = {open, now, int64_t(living.size())};
  for (const Living &one : living) {
    all.insert(all.end(), {int64_t(one.handle), one.space, one.committed,
                           one.pending(), one.step, one.taint});
    all.insert(all.end(), one.rows.begin(), one.rows.end());
  }
  for (const Prefix &prefix : prefixes) {
    all.insert(all.end(), {-1, prefix.space, prefix.handle.length});
    all.insert(all.end(), prefix.tokens.begin(), prefix.tokens.end());
    all.insert(all.end(), prefix.leaves.begin(), prefix.leaves.end());
  }
  all.insert(all.end(), gone.begin(), gone.end());
  all.insert(all.end(), ended.begin(), ended.end());
  return all;
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

Machine::Pair Machine::extents(size_t group, const Pair &before, int64_t length,
                               int64_t pending) const {
  const kvc_group_info &info = infos[group];
  if (info.raw_pool < 0)
    return {pending, pending};
  auto at = [&](int64_t was, int64_t n) {
    const int64_t coded =
        std::max<int64_t>(0, length - info.sink - info.recent) / n * n;
    return std::max(was, info.sink + coded);
  };
  return {at(before[0], info.key_block_tokens),
          at(before[1], info.value_block_tokens)};
}

std::vector<int32_t> Machine::someTokens(int64_t count, uint8_t from) const {
  // Few different ones, so that prefixes meet.
  std::vector<int32_t> result;
  for (int64_t i = 0; i < count; ++i)
    result.push_back((from + i) % 11 == 3);
  return result;
}

void Machine::addTokens(Living &one, const std::vector<int32_t> &tokens) {
  // A row follows from all tokens up to it and from the namespace: sharing
  // another's shows.
  uint64_t hash = one.rows.empty() ? 1469598103934665603u + uint64_t(one.space)
                                   : uint64_t(one.rows.back());
  for (int32_t token : tokens) {
    hash = (hash ^ uint32_t(token)) * 1099511628211u + 1;
    hash &= (uint64_t(1) << 48) - 1;
    one.rows.push_back(int64_t(hash));
    one.tokens.push_back(token);
  }
}

void Machine::cutTokens(Living &one, int64_t length) {
  one.committed = length;
  one.tokens.resize(size_t(length));
  one.rows.resize(size_t(length));
  for (size_t g = 0; g < infos.size(); ++g) {
    for (int64_t &end : one.ends[g])
      end = std::min(end, std::max(length, infos[g].sink));
    one.next[g] = one.ends[g];
  }
}

bool Machine::isExact(const Living &one, int64_t position) {
  for (size_t g = 0; g < infos.size(); ++g) {
    const kvc_group_info &info = infos[g];
    const int64_t n[2] = {info.key_block_tokens, info.value_block_tokens};
    for (size_t tensor : {0, 1})
      if (position > info.sink && position < one.ends[g][tensor] &&
          (position - info.sink) % n[tensor] != 0)
        return false;
  }
  return true;
}

bool Machine::isVisible(const Living &one, int64_t position) {
  for (size_t g = 0; g < infos.size() && position > 0; ++g) {
    const kvc_group_info &info = infos[g];
    kvc_sequence_state state;
    if (!stateOf(one, g, state))
      return false;
    for (int64_t i = 0; i < state.num_blocks; ++i)
      if (state.blocks[i] == 0 &&
          info.sink + (i + 1) * info.page >
              position - info.window - setting.queries + 1)
        return false;
  }
  return true;
}

int64_t Machine::nearestBelow(const Living &one, int64_t position) {
  int64_t below = position;
  while (!isExact(one, below))
    --below;
  return isVisible(one, below) ? below : 0;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void Machine::countHolders() {
  for (std::vector<int64_t> &pool : holders)
    std::ranges::fill(pool, 0);
  for (const Living &one : living) {
    // What a failed one holds is not to be seen.
    if (one.hasFailed)
      continue;
    for (size_t g = 0; g < infos.size(); ++g) {
      kvc_sequence_state state;
      if (!stateOf(one, g, state))
        return;
      for (int64_t i = 0; i < state.num_blocks; ++i)
        ++holders[size_t(infos[g].pool)][size_t(state.blocks[i])];
      for (int64_t i = 0; i < state.num_raw_blocks; ++i)
        ++holders[size_t(infos[g].raw_pool)][size_t(state.raw_blocks[i])];
    }
  }
}

bool Machine::isShared(Place place) const {
  return holders[size_t(place.first)][size_t(place.second)] > 1 ||
         entries.count(place) > 0;
}

void Machine::addNeeds(const Request &request, std::vector<int64_t> &needs) {
  const Living &one = *request.sequence;
  const int64_t length = one.committed + request.fresh;
  const int64_t pending = one.committed + int64_t(request.tokens.size());
  for (size_t g = 0; g < infos.size(); ++g) {
    const kvc_group_info &info = infos[g];
    const Pair &ends = one.ends[g];
    const Pair next = extents(g, ends, length, pending);
    kvc_sequence_state state;
    if (!stateOf(one, g, state))
      return;
    int64_t &body = needs[size_t(info.pool)];
    body += divideUp(std::max(next[0], next[1]) - info.sink, info.page) -
            state.num_blocks;
    for (int64_t i = 0; i < state.num_blocks; ++i) {
      const int64_t begin = info.sink + i * info.page;
      if (meet(begin, begin + info.page, ends[0], next[0]) ||
          meet(begin, begin + info.page, ends[1], next[1]))
        body += isShared({info.pool, state.blocks[i]});
    }
    if (info.raw_pool < 0)
      continue;
    int64_t &raw = needs[size_t(info.raw_pool)];
    const int64_t least = std::min(next[0], next[1]);
    const int64_t sinkPages = divideUp(info.sink, info.raw_page);
    const int64_t all =
        sinkPages +
        divideUp(std::max<int64_t>(pending - info.sink, 0), info.raw_page);
    for (int64_t i = 0; i < all; ++i) {
      const bool isSink = i < sinkPages;
      const int64_t begin = isSink
                                ? i * info.raw_page
                                : info.sink + (i - sinkPages) * info.raw_page;
      const int64_t end = isSink ? std::min(begin + info.raw_page, info.sink)
                                 : begin + info.raw_page;
      const bool isHeld = i < state.num_raw_blocks && state.raw_blocks[i] != 0;
      if (!isHeld)
        raw += meet(begin, end, isSink ? 0 : least, pending);
      else if (meet(begin, end,
                    isSink ? one.committed : std::max(one.committed, least),
                    pending))
        raw += isShared({info.raw_pool, state.raw_blocks[i]});
    }
  }
}

//===----------------------------------------------------------------------===//
// Prefixes
//===----------------------------------------------------------------------===//

int64_t Machine::sinkNodes(size_t group) const {
  return divideUp(infos[group].sink, infos[group].raw_page);
}

int64_t Machine::endOfNode(size_t group, int64_t node) const {
  const kvc_group_info &info = infos[group];
  const int64_t sinks = sinkNodes(group);
  return node < sinks ? std::min((node + 1) * info.raw_page, info.sink)
                      : info.sink + (node - sinks + 1) * info.page;
}

std::vector<Machine::Place> Machine::chain(size_t group, const int32_t *tokens,
                                           int64_t count, int32_t space) const {
  std::vector<Place> result;
  Place parent{0, 0};
  for (int64_t begin = 0;;) {
    const int64_t end = endOfNode(group, int64_t(result.size()));
    if (end > count)
      return result;
    const Place *found = nullptr;
    for (const auto &[place, entry] : entries)
      if (entry.group == int32_t(group) && entry.space == space &&
          entry.parent == parent && entry.begin == begin && entry.end == end &&
          std::equal(entry.tokens.begin(), entry.tokens.end(), tokens + begin))
        found = &place;
    if (!found)
      return result;
    result.push_back(parent = *found);
    begin = end;
  }
}

bool Machine::mayEnd(size_t group, int64_t length) const {
  const kvc_group_info &info = infos[group];
  return length >= info.sink &&
         (length - info.sink) % info.key_block_tokens == 0 &&
         (length - info.sink) % info.value_block_tokens == 0;
}

int64_t Machine::longest(const std::vector<int64_t> &covered,
                         int64_t bound) const {
  for (int64_t end : covered)
    bound = std::min(bound, end);
  for (; bound > 0; --bound) {
    bool isCommon = true;
    for (size_t g = 0; g < infos.size(); ++g)
      isCommon &= mayEnd(g, bound);
    if (isCommon)
      return bound;
  }
  return 0;
}

bool Machine::isWrittenSince(Place place, int64_t step) const {
  const int64_t page = pages[size_t(place.first)];
  const Cell *cell = &cells[size_t(place.first)][size_t(place.second * page)];
  return std::any_of(cell, cell + page, [&](const Cell &one) {
    return one.step[0] >= step || one.step[1] >= step;
  });
}

int64_t Machine::matching(const std::vector<int32_t> &tokens, int64_t count,
                          int64_t attend, int32_t space, bool hidesOpen) const {
  std::vector<int64_t> covered;
  int64_t bound = count;
  for (size_t g = 0; g < infos.size(); ++g) {
    bound = std::min(bound, attend - std::max<int64_t>(infos[g].recent, 1));
    int64_t nodes = 0;
    for (Place place : chain(g, tokens.data(), count, space)) {
      if (hidesOpen && open && isWrittenSince(place, open))
        break;
      ++nodes;
    }
    covered.push_back(nodes ? endOfNode(g, nodes - 1) : 0);
  }
  return longest(covered, bound);
}

const Machine::Place *Machine::placeOf(int64_t serial) const {
  for (const auto &[place, entry] : entries)
    if (entry.serial == serial)
      return &place;
  return nullptr;
}

bool Machine::isAlive(const Prefix &prefix) const {
  return std::ranges::all_of(
      prefix.leaves, [&](int64_t leaf) { return placeOf(leaf) != nullptr; });
}

void Machine::told(const kvc_event &event) {
  const Place place{event.pool, event.block};
  if (event.kind == KVC_EVENT_CLEARED) {
    entries.clear();
    return;
  }
  if (event.kind == KVC_EVENT_REMOVED) {
    const auto found = entries.find(place);
    if (found == entries.end()) {
      fail("an event of an entry that is not there");
      return;
    }
    for (const auto &[other, entry] : entries)
      if (entry.parent == place)
        fail("an entry went before one that follows it");
    pins.erase(found->second.serial);
    entries.erase(found);
    return;
  }
  Entry made;
  made.serial = ++serials;
  made.group = event.group;
  if (event.parent) {
    made.parent = {event.parent_pool, event.parent};
    const auto parent = entries.find(made.parent);
    if (parent == entries.end()) {
      fail("an entry behind one that is not there");
      return;
    }
    made.begin = parent->second.end;
  }
  made.end = made.begin + event.num_tokens;
  made.tokens.assign(event.tokens, event.tokens + event.num_tokens);
  if (!publisher || made.end > publisher->committed ||
      !std::equal(made.tokens.begin(), made.tokens.end(),
                  publisher->tokens.begin() + made.begin)) {
    fail("an entry of tokens that are not the sequence's");
    return;
  }
  made.space = publisher->space;
  made.rows.assign(publisher->rows.begin() + made.begin,
                   publisher->rows.begin() + made.end);
  if (!entries.emplace(place, std::move(made)).second)
    fail("a block that is two entries");
}
