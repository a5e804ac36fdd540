//===- Publish.cpp - Prefixes of sequences --------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Manage/Manager.h"

using namespace kvc;
using namespace kvc::manage;

using Entries = std::array<BlockId, KVC_MAX_LAYER_GROUPS>;
using Lengths = std::array<int64_t, KVC_MAX_LAYER_GROUPS>;

std::string kvc::manage::spaceOf(const kvc_namespace *name) {
  std::string text;
  if (!name)
    return text;
  auto add = [&](char kind, const void *data, size_t size) {
    if (size == 0)
      return;
    text += kind;
    text += std::to_string(size);
    text += ':';
    text.append(static_cast<const char *>(data), size);
  };
  add('s', name->salt, name->salt_size);
  add('a', name->adapter, name->adapter_size);
  add('m', name->media, name->media_size);
  return text;
}

/// The longest prefix of at most `bound` tokens that every group may end.
static int64_t commonLength(const std::vector<Group> &groups, int64_t bound) {
  // Scale blocks are powers of two up to a page of 256 tokens.
  constexpr int64_t kPeriod = 256;
  for (int64_t length = bound; length > std::max<int64_t>(bound - kPeriod, 0);
       --length) {
    bool isCommon = true;
    for (const Group &group : groups)
      isCommon &= group.mayEndPrefix(length);
    if (isCommon)
      return length;
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// Publish
//===----------------------------------------------------------------------===//

namespace {

struct Insertion {
  BlockId block;
  EntryName name;
};

} // namespace

kvc_status kvc_manager::publish(kvc_sequence handle, const int32_t *tokens,
                                int64_t count, const std::string &space,
                                kvc_diag *diag, kvc_prefix &prefix) {
  Sequence *sequence = nullptr;
  KVC_TRY(findSound(handle, diag, sequence));
  if (count < 0 || count > sequence->committed)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "count: expected 0 to %lld tokens, got %lld",
                static_cast<long long>(sequence->committed),
                static_cast<long long>(count));
  const int32_t known = prefixes.find(space);
  std::vector<Insertion> insertions;
  std::vector<std::vector<BlockId>> chains(groups.size());
  int64_t covered = count;
  for (size_t g = 0; g < groups.size(); ++g) {
    const Group &group = groups[g];
    const Held &held = sequence->groups[g];
    const int64_t nodes =
        count < group.sink
            ? 0
            : group.wholeNodes(std::min(count, held.ends.least()));
    EntryName next = {
        int32_t(g), known,
        0,          {},
        nullptr,    prefixes.rootKey(group.spec->hash, int64_t(g), space)};
    bool isAfterNew = false;
    for (int64_t node = 0; node < nodes; ++node) {
      const int32_t number = node < group.sinkNodes()
                                 ? held.raw[size_t(node)]
                                 : held.body[size_t(node - group.sinkNodes())];
      const BlockId own = number ? idOf(group.nodePool(node), number) : 0;
      next.tokens = group.nodeTokens(node);
      next.ids = tokens + next.tokens.begin;
      next.key = prefixes.keyAfter(next.key, next.ids, next.tokens.size());
      const BlockId found =
          isAfterNew ? 0 : prefixes.find(group.nodePool(node), next);
      if (own && blocks.isEntry(own) && (isAfterNew || !prefixes.is(own, next)))
        return fail(diag, KVC_INVALID_ARGUMENT,
                    "tokens: expected those and the namespace that block %d of "
                    "pool %d was published with, got others before token %lld",
                    number, group.nodePool(node),
                    static_cast<long long>(next.tokens.end));
      if (!found && !own)
        break;
      next.parent = found ? found : own;
      chains[g].push_back(next.parent);
      if (found)
        continue;
      // `next` names this entry but for its parent, the one before it.
      insertions.push_back({own, next});
      insertions.back().name.parent =
          chains[g].size() > 1 ? chains[g][chains[g].size() - 2] : 0;
      isAfterNew = true;
    }
    const auto reached = int64_t(chains[g].size());
    covered = std::min(covered, reached ? group.nodeTokens(reached - 1).end
                                        : int64_t(0));
  }
  // The last change that may fail.
  const int32_t number = prefixes.hold(space);
  for (Insertion &insertion : insertions) {
    insertion.name.space = number;
    prefixes.insert(insertion.block, insertion.name);
    prefixes.lastUses[insertion.block] = uses;
  }
  prefixes.drop(number);
  ++uses;
  prefix = {};
  prefix.length = commonLength(groups, covered);
  for (size_t g = 0; g < groups.size() && prefix.length; ++g)
    prefix.entries[g] = prefixes.handleOf(
        chains[g][size_t(groups[g].nodesUpTo(prefix.length) - 1)]);
  return KVC_OK;
}

//===----------------------------------------------------------------------===//
// Match and adopt
//===----------------------------------------------------------------------===//

void kvc_manager::match(const int32_t *tokens, int64_t count,
                        const std::string &space, int64_t attendLength,
                        kvc_prefix &prefix) const {
  prefix = {};
  const int32_t known = prefixes.find(space);
  if (known < 0)
    return;
  Entries last{};
  Lengths nodes{};
  int64_t bound = count;
  for (size_t g = 0; g < groups.size(); ++g) {
    const Group &group = groups[g];
    bound = std::min(bound, attendLength - std::max<int64_t>(group.recent, 1));
    EntryName next = {
        int32_t(g), known,
        0,          {},
        nullptr,    prefixes.rootKey(group.spec->hash, int64_t(g), space)};
    int64_t &node = nodes[g];
    for (;; ++node) {
      next.tokens = group.nodeTokens(node);
      // One block may reach beyond what can be taken over.
      if (next.tokens.end > count || next.tokens.begin >= bound)
        break;
      next.ids = tokens + next.tokens.begin;
      next.key = prefixes.keyAfter(next.key, next.ids, next.tokens.size());
      const BlockId found = prefixes.find(group.nodePool(node), next);
      if (!found || (steps.open() && blocks.written[found] == steps.open()))
        break;
      last[g] = next.parent = found;
    }
    bound = std::min(bound, node ? group.nodeTokens(node - 1).end : int64_t(0));
  }
  const int64_t length = bound > 0 ? commonLength(groups, bound) : 0;
  if (length == 0)
    return;
  prefix.length = length;
  for (size_t g = 0; g < groups.size(); ++g) {
    BlockId entry = last[g];
    for (int64_t node = nodes[g]; node > groups[g].nodesUpTo(length); --node)
      entry = prefixes.parents[entry];
    prefix.entries[g] = prefixes.handleOf(entry);
  }
}

kvc_status kvc_manager::resolve(const kvc_prefix &prefix, kvc_diag *diag,
                                Entries &entries) const {
  for (size_t g = 0; g < groups.size(); ++g) {
    const Group &group = groups[g];
    const BlockId entry = prefixes.entryOf(prefix.entries[g]);
    if (prefix.length > 0 && !entry)
      return fail(diag, KVC_STALE,
                  "prefix: expected an entry that exists in group %zu, got "
                  "block %u of generation %u",
                  g, unsigned(prefix.entries[g]),
                  unsigned(prefix.entries[g] >> 32));
    if (prefix.length <= 0 || !group.mayEndPrefix(prefix.length) ||
        prefixes.groups[entry] != int32_t(g) ||
        prefix.length <= prefixes.begins[entry] ||
        prefix.length > prefixes.ends[entry])
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "prefix: expected at least one token of one that publish "
                  "or match gave, got %lld",
                  static_cast<long long>(prefix.length));
    entries[g] = entry;
  }
  return KVC_OK;
}

kvc_status kvc_manager::adopt(kvc_sequence handle, const kvc_prefix &prefix,
                              kvc_diag *diag) {
  Sequence *sequence = nullptr;
  KVC_TRY(findOpen(handle, false, diag, sequence));
  if (sequence->committed)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "sequence: expected an empty one, got %lld tokens",
                static_cast<long long>(sequence->committed));
  const int64_t length = prefix.length;
  if (maxTokens && length > maxTokens)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "prefix: expected at most max_tokens (%lld), got %lld",
                static_cast<long long>(maxTokens),
                static_cast<long long>(length));
  Entries entries{};
  KVC_TRY(resolve(prefix, diag, entries));
  int64_t lastStep = 0;
  for (size_t g = 0; g < groups.size(); ++g) {
    for (BlockId entry = entries[g]; entry; entry = prefixes.parents[entry])
      lastStep = std::max(lastStep, blocks.written[entry]);
    reserveTables(groups[g], sequence->groups[g], {length, length}, length);
  }
  if (steps.open() && lastStep == steps.open())
    return fail(diag, KVC_WAIT,
                "prefix: expected one that no open step writes, got one of "
                "step %lld",
                static_cast<long long>(lastStep));
  ++uses;
  for (size_t g = 0; g < groups.size(); ++g) {
    const Group &group = groups[g];
    Held &held = sequence->groups[g];
    held.ends = held.nextEnds = {length, length};
    held.body.resize(size_t(group.blocksUpTo(length)));
    held.raw.resize(size_t(group.sinkNodes()));
    held.firstRaw = group.sinkNodes();
    const Span freed = group.freedBlocks(held.ends, length);
    held.freed = freed.size() ? freed.end : 0;
    int64_t node = group.nodesUpTo(length);
    for (BlockId entry = entries[g]; entry; entry = prefixes.parents[entry]) {
      const int64_t block = --node - group.sinkNodes();
      if (freed.contains(block))
        continue;
      blocks.addReference(entry);
      ++prefixes.uses[entry];
      prefixes.lastUses[entry] = uses;
      const int32_t number = numberOf(group.nodePool(node), entry);
      (block < 0 ? held.raw[size_t(node)] : held.body[size_t(block)]) = number;
    }
  }
  sequence->committed = sequence->pending = length;
  sequence->lastStep = std::max(sequence->lastStep, lastStep);
  ++hits;
  hitTokens += length;
  return KVC_OK;
}
