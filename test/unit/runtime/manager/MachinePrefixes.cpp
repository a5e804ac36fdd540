//===- MachinePrefixes.cpp - Operations on prefixes -----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include <algorithm>

using namespace kvc::test;

static kvc_namespace spaceOf(int32_t space) {
  kvc_namespace name = {};
  name.struct_size = sizeof(name);
  if (space) {
    name.salt = "X";
    name.salt_size = 1;
  }
  return name;
}

void Machine::publish(const Operation &one) {
  Living *sequence = sequenceAt(one.a);
  if (!sequence)
    return;
  const int64_t count =
      sequence->committed - one.b % 4 % (sequence->committed + 1);
  const kvc_namespace name = spaceOf(sequence->space);
  kvc_prefix prefix = {};
  publisher = sequence;
  const bool isDone =
      expect("publish", sequence->hasFailed ? KVC_FAILED : KVC_OK, [&] {
        return kvc_manager_publish(manager, sequence->handle,
                                   sequence->tokens.data(), count, &name, &diag,
                                   &prefix);
      });
  publisher = nullptr;
  if (!isDone)
    return;
  std::vector<int64_t> covered;
  for (size_t g = 0; g < infos.size(); ++g) {
    const Pair &ends = sequence->ends[g];
    const int64_t most = std::min({count, ends[0], ends[1]});
    const auto all =
        chain(g, sequence->tokens.data(),
              count < infos[g].sink ? 0 : std::max(most, infos[g].sink),
              sequence->space);
    covered.push_back(all.empty() ? 0 : endOfNode(g, int64_t(all.size()) - 1));
    // Of a sequence that still has all its blocks everything is an entry.
    kvc_sequence_state state;
    if (!stateOf(*sequence, g, state))
      return;
    if (count >= infos[g].sink && !infos[g].window) {
      const int64_t whole =
          infos[g].sink + std::max<int64_t>(most - infos[g].sink, 0) /
                              infos[g].page * infos[g].page;
      if (std::max(covered.back(), infos[g].sink) != whole &&
          (sinkNodes(g) || covered.back() || whole != infos[g].sink))
        fail("publish: expected entries up to token " + std::to_string(whole) +
             ", got " + std::to_string(covered.back()));
    }
  }
  const int64_t expected = longest(covered, count);
  if (prefix.length != expected)
    fail("publish: expected " + std::to_string(expected) + " tokens, got " +
         std::to_string(prefix.length));
  remember(prefix, sequence->tokens, sequence->space);
}

void Machine::remember(const kvc_prefix &handle,
                       const std::vector<int32_t> &tokens, int32_t space) {
  if (handle.length == 0 || !wrong.empty())
    return;
  Prefix prefix;
  prefix.handle = handle;
  prefix.tokens.assign(tokens.begin(), tokens.begin() + handle.length);
  prefix.space = space;
  for (size_t g = 0; g < infos.size(); ++g) {
    int64_t node = 0;
    while (endOfNode(g, node) < handle.length)
      ++node;
    // The last block may hold tokens behind the prefix: of any of its kind.
    const auto begun = chain(g, tokens.data(), int64_t(tokens.size()), space);
    if (int64_t(begun.size()) <= node) {
      fail("a handle of entries that are not there");
      return;
    }
    prefix.leaves.push_back(entries[begun[size_t(node)]].serial);
  }
  if (prefixes.size() >= 12)
    prefixes.erase(prefixes.begin());
  prefixes.push_back(std::move(prefix));
}

void Machine::adopt(const Operation &one) {
  Living *to = sequenceAt(one.a);
  if (!to)
    return;
  if (one.what == Do::Adopt) {
    const Living *like = sequenceAt(one.b);
    std::vector<int32_t> tokens(like->tokens.begin(),
                                like->tokens.begin() + like->committed);
    const int64_t known = int64_t(tokens.size());
    for (int32_t token : someTokens(one.c % 3, one.c))
      tokens.push_back(token);
    const kvc_namespace name = spaceOf(like->space);
    const int64_t attend = one.c % 2 ? known + 20 : known + one.c % 5;
    kvc_prefix prefix = {};
    if (kvc_manager_match(manager, tokens.data(), int64_t(tokens.size()), &name,
                          attend, &diag, &prefix) != KVC_OK) {
      fail(std::string("match: ") + text);
      return;
    }
    const int64_t expected =
        matching(tokens, int64_t(tokens.size()), attend, like->space, true);
    if (prefix.length != expected)
      fail("match: expected " + std::to_string(expected) + " tokens, got " +
           std::to_string(prefix.length));
    if (!isQuick && digest() != lastDigest)
      fail("match: a probe has changed something");
    if (prefix.length == 0)
      return;
    remember(prefix, tokens, like->space);
    if (wrong.empty())
      takeOver(*to, prefixes.back());
  } else if (!prefixes.empty()) {
    takeOver(*to, prefixes[one.b % prefixes.size()]);
  }
}

void Machine::takeOver(Living &one, const Prefix &prefix) {
  const int64_t length = prefix.handle.length;
  kvc_status expected = KVC_OK;
  int64_t taint = 0;
  if (one.hasFailed)
    expected = KVC_FAILED;
  else if (one.isOpen || one.committed > 0)
    expected = KVC_INVALID_ARGUMENT;
  else if (!isAlive(prefix))
    expected = KVC_STALE;
  else
    for (int64_t leaf : prefix.leaves)
      for (Place at = *placeOf(leaf); at.second; at = entries[at].parent) {
        if (open && isWrittenSince(at, open))
          expected = KVC_WAIT;
        taint = std::max(taint, written[size_t(at.first)][size_t(at.second)]);
      }
  if (!expect("adopt", expected, [&] {
        return kvc_manager_adopt(manager, one.handle, &prefix.handle, &diag);
      }))
    return;
  one.space = prefix.space;
  addTokens(one, prefix.tokens);
  one.committed = length;
  one.taint = std::max(one.taint, taint);
  for (size_t g = 0; g < infos.size(); ++g)
    one.ends[g] = one.next[g] = {length, length};
  ++hits;
  hitTokens += length;
  // It holds the prefix's own blocks.
  for (size_t g = 0; g < infos.size() && wrong.empty(); ++g) {
    kvc_sequence_state state;
    if (!stateOf(one, g, state))
      return;
    const auto all = chain(g, one.tokens.data(), length, one.space);
    for (size_t node = 0; node < all.size(); ++node) {
      const int64_t block = int64_t(node) - sinkNodes(g);
      const int32_t got =
          block < 0 ? state.raw_blocks[node] : state.blocks[block];
      if (got != 0 && got != all[node].second)
        fail("adopt: a block of another prefix");
    }
  }
  compareFreed(one);
}

void Machine::pin(const Operation &one) {
  if (prefixes.empty())
    return;
  const Prefix &prefix = prefixes[one.a % prefixes.size()];
  const int64_t ttl = one.c % 4;
  if (one.b > 100)
    expect("pin", KVC_INVALID_ARGUMENT, [&] {
      return kvc_manager_pin(manager, &prefix.handle, one.b, ttl, &diag);
    });
  if (!expect("pin", isAlive(prefix) ? KVC_OK : KVC_STALE, [&] {
        return kvc_manager_pin(manager, &prefix.handle, one.b % 101, ttl,
                               &diag);
      }))
    return;
  for (int64_t leaf : prefix.leaves) {
    Pin &held = pins[leaf];
    ++held.count;
    held.end = std::max(held.end, ttl ? now + ttl : INT64_MAX);
  }
}

void Machine::unpin(const Operation &one) {
  if (prefixes.empty())
    return;
  const Prefix &prefix = prefixes[one.a % prefixes.size()];
  bool isPinned = isAlive(prefix);
  for (int64_t leaf : prefix.leaves)
    isPinned &= pins.count(leaf) > 0;
  if (!expect("unpin", isPinned ? KVC_OK : KVC_STALE, [&] {
        return kvc_manager_unpin(manager, &prefix.handle, &diag);
      }))
    return;
  for (int64_t leaf : prefix.leaves)
    if (--pins[leaf].count == 0)
      pins.erase(leaf);
}

void Machine::passTime(int64_t by) {
  now += by;
  expect("set_time", KVC_OK,
         [&] { return kvc_manager_set_time(manager, now, &diag); });
  std::erase_if(pins, [&](const auto &pin) {
    return pin.second.end != INT64_MAX && pin.second.end <= now;
  });
  if (now > 0)
    expect("set_time backwards", KVC_INVALID_ARGUMENT,
           [&] { return kvc_manager_set_time(manager, now - 1, &diag); });
}

void Machine::evict(const Operation &one) {
  const size_t pool = one.b % pages.size();
  const int64_t count = one.a % 4;
  kvc_pool_stats before = {}, after = {};
  before.struct_size = after.struct_size = sizeof(before);
  kvc_manager_get_pool(manager, int64_t(pool), nullptr, &before);
  int64_t evicted = -1;
  if (!expect("evict", KVC_OK, [&] {
        return kvc_manager_evict(manager, int64_t(pool), count, &diag,
                                 &evicted);
      }))
    return;
  kvc_manager_get_pool(manager, int64_t(pool), nullptr, &after);
  if (evicted != before.cached - after.cached)
    fail("evict: an answer of " + std::to_string(evicted) + " for " +
         std::to_string(before.cached - after.cached));
  if (evicted != std::min(count, before.cached))
    fail("evict: expected " + std::to_string(std::min(count, before.cached)) +
         " blocks, got " + std::to_string(evicted));
}

void Machine::reset() {
  expect("reset", KVC_OK, [&] { return kvc_manager_reset(manager, &diag); });
  if (!entries.empty())
    fail("reset: listeners were not told");
  pins.clear();
}
