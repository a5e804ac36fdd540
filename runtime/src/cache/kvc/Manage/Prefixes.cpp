//===- Prefixes.cpp - Blocks that can be found by their tokens ------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Manage/Prefixes.h"

#include "kvc/Spec/Sha256.h"

#include <bit>
#include <cstring>

using namespace kvc;
using namespace kvc::manage;

static void sha256(void *, const void *data, size_t size, uint8_t digest[32]) {
  spec::Sha256 hash;
  hash.update(data, size);
  const auto result = hash.finish();
  std::memcpy(digest, result.data(), result.size());
}

void Prefixes::allocate(const std::vector<int64_t> &tokens, Hash given,
                        void *user, EntryListener told) {
  const int64_t total = blocks.total();
  hash = given ? given : sha256;
  hashUser = user;
  listener = told;
  generations = ZeroedArray<uint32_t>(total);
  for (ZeroedArray<BlockId> *array :
       {&parents, &children, &siblings, &siblingsBefore, &groups, &spaces,
        &begins, &ends, &uses, &priorities, &pins, &pinPlaces, &nextInBucket})
    *array = ZeroedArray<BlockId>(total);
  keys = ZeroedArray<Key>(total);
  lastUses = ZeroedArray<int64_t>(total);
  pinEnds = ZeroedArray<int64_t>(total);
  int64_t size = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    idStrides.push_back(tokens[i]);
    idStarts.push_back(size);
    const int64_t count = blocks.pools()[i].total;
    size += tokens[i] * count;
    masks.push_back(std::bit_ceil(uint64_t(count)) - 1);
    buckets.emplace_back(int64_t(masks.back() + 1));
  }
  ids = ZeroedArray<int32_t>(size);
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

Key Prefixes::rootKey(std::string_view layout, int64_t group,
                      std::string_view space) const {
  std::string text(layout);
  text += '/';
  text += std::to_string(group);
  text += '/';
  text += space;
  Key key;
  hash(hashUser, text.data(), text.size(), key.data());
  return key;
}

Key Prefixes::keyAfter(const Key &parent, const int32_t *given,
                       int64_t count) const {
  constexpr size_t kMost = 256;
  std::array<uint8_t, sizeof(Key) + kMost * sizeof(int32_t)> text;
  const size_t bytes = size_t(count) * sizeof(int32_t);
  std::memcpy(text.data(), parent.data(), parent.size());
  std::memcpy(text.data() + parent.size(), given, bytes);
  Key key;
  hash(hashUser, text.data(), parent.size() + bytes, key.data());
  return key;
}

int32_t Prefixes::find(std::string_view space) const {
  const auto found = spaceNumbers.find(space);
  return found == spaceNumbers.end() ? -1 : found->second;
}

int32_t Prefixes::hold(std::string_view space) {
  const auto found = spaceNumbers.find(space);
  if (found != spaceNumbers.end()) {
    ++allSpaces[size_t(found->second)].holders;
    return found->second;
  }
  reserveMore(allSpaces, 1);
  // Room for all numbers at once: drop() allocates nothing.
  if (freeSpaces.capacity() < allSpaces.capacity())
    freeSpaces.reserve(allSpaces.capacity());
  const auto made = spaceNumbers.emplace(std::string(space), 0).first;
  if (freeSpaces.empty()) {
    freeSpaces.push_back(int32_t(allSpaces.size()));
    allSpaces.emplace_back();
  }
  made->second = freeSpaces.back();
  freeSpaces.pop_back();
  allSpaces[size_t(made->second)] = {made, 1};
  return made->second;
}

void Prefixes::drop(int32_t number) {
  Space &space = allSpaces[size_t(number)];
  if (--space.holders > 0)
    return;
  spaceNumbers.erase(space.name);
  freeSpaces.push_back(number);
}

int64_t Prefixes::idsAt(BlockId block) const {
  const auto pool = size_t(blocks.poolOf(block));
  return idStarts[pool] + (block - blocks.pools()[pool].base) * idStrides[pool];
}

const BlockId &Prefixes::bucketOf(int32_t pool, const Key &key) const {
  uint64_t bits;
  std::memcpy(&bits, key.data(), sizeof(bits));
  return buckets[size_t(pool)][int64_t(bits & masks[size_t(pool)])];
}

BlockId &Prefixes::bucketOf(int32_t pool, const Key &key) {
  return const_cast<BlockId &>(std::as_const(*this).bucketOf(pool, key));
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

bool Prefixes::is(BlockId block, const EntryName &name) const {
  return keys[block] == name.key && parents[block] == name.parent &&
         groups[block] == name.group && spaces[block] == name.space &&
         begins[block] == name.tokens.begin && ends[block] == name.tokens.end &&
         std::memcmp(idsOf(block), name.ids,
                     size_t(name.tokens.size()) * sizeof(int32_t)) == 0;
}

BlockId Prefixes::find(int32_t pool, const EntryName &name) const {
  for (BlockId block = bucketOf(pool, name.key); block;
       block = nextInBucket[block])
    if (is(block, name))
      return block;
  return 0;
}

void Prefixes::insert(BlockId block, const EntryName &name) {
  ++generations[block];
  parents[block] = name.parent;
  children[block] = 0;
  siblingsBefore[block] = 0;
  siblings[block] = 0;
  if (name.parent) {
    const BlockId sibling = children[name.parent];
    siblings[block] = sibling;
    if (sibling)
      siblingsBefore[sibling] = block;
    children[name.parent] = block;
  }
  groups[block] = name.group;
  spaces[block] = name.space;
  begins[block] = int32_t(name.tokens.begin);
  ends[block] = int32_t(name.tokens.end);
  keys[block] = name.key;
  uses[block] = priorities[block] = pins[block] = 0;
  std::memcpy(&ids[idsAt(block)], name.ids,
              size_t(name.tokens.size()) * sizeof(int32_t));
  BlockId &bucket = bucketOf(blocks.poolOf(block), name.key);
  nextInBucket[block] = bucket;
  bucket = block;
  blocks.setEntry(block);
  ++allSpaces[size_t(name.space)].holders;
  ++entries;
  tell(KVC_EVENT_STORED, block);
}

void Prefixes::remove(BlockId block) {
  // Those that follow first, so that each has its parent until it goes.
  for (BlockId leaf = block;;) {
    while (children[leaf])
      leaf = children[leaf];
    const BlockId parent = parents[leaf];
    removeOne(leaf);
    if (leaf == block)
      return;
    leaf = parent;
  }
}

void Prefixes::removeOne(BlockId block) {
  if (pins[block]) {
    pins[block] = 1;
    unpin(block);
  }
  const BlockId before = siblingsBefore[block], after = siblings[block];
  if (before)
    siblings[before] = after;
  else if (parents[block])
    children[parents[block]] = after;
  if (after)
    siblingsBefore[after] = before;
  BlockId *link = &bucketOf(blocks.poolOf(block), keys[block]);
  while (*link != block)
    link = &nextInBucket[*link];
  *link = nextInBucket[block];
  --entries;
  tell(KVC_EVENT_REMOVED, block);
  blocks.clearEntry(block);
  drop(spaces[block]);
}

void Prefixes::clear() {
  const EntryListener told = listener;
  listener.call = nullptr;
  for (const Pool &pool : blocks.pools())
    for (int64_t i = 1; i < pool.fresh; ++i)
      if (const auto block = BlockId(pool.base + i); blocks.isEntry(block))
        remove(block);
  listener = told;
  if (!listener.call)
    return;
  kvc_event event = {};
  event.struct_size = sizeof(event);
  event.kind = KVC_EVENT_CLEARED;
  listener.call(listener.user, &event);
}

BlockId Prefixes::entryOf(uint64_t handle) const {
  const auto number = uint32_t(handle);
  if (number == 0 || int64_t(number) >= blocks.total())
    return 0;
  const auto block = BlockId(number);
  return blocks.isEntry(block) && generations[block] == handle >> 32 ? block
                                                                     : 0;
}

void Prefixes::tell(kvc_event_kind kind, BlockId block) const {
  if (!listener.call)
    return;
  const int32_t pool = blocks.poolOf(block);
  const BlockId parent = parents[block];
  kvc_event event = {};
  event.struct_size = sizeof(event);
  event.kind = kind;
  event.group = groups[block];
  event.pool = pool;
  event.block = block - blocks.pools()[size_t(pool)].base;
  event.parent_pool = parent ? blocks.poolOf(parent) : pool;
  event.parent =
      parent ? parent - blocks.pools()[size_t(event.parent_pool)].base : 0;
  event.tokens = idsOf(block);
  event.num_tokens = ends[block] - begins[block];
  event.key = keys[block].data();
  listener.call(listener.user, &event);
}

//===----------------------------------------------------------------------===//
// Pins
//===----------------------------------------------------------------------===//

void Prefixes::pin(BlockId leaf) {
  if (pins[leaf] == 0) {
    pinPlaces[leaf] = int32_t(pinnedLeaves.size());
    pinnedLeaves.push_back(leaf);
    pinEnds[leaf] = 0;
    for (BlockId block = leaf; block; block = parents[block])
      blocks.keep(block);
  }
  ++pins[leaf];
}

void Prefixes::unpin(BlockId leaf) {
  if (--pins[leaf] > 0)
    return;
  const BlockId moved = pinnedLeaves.back();
  pinnedLeaves[size_t(pinPlaces[leaf])] = moved;
  pinPlaces[moved] = pinPlaces[leaf];
  pinnedLeaves.pop_back();
  // From the last on, which is so the first to be evicted.
  for (BlockId block = leaf; block; block = parents[block])
    blocks.unkeep(block);
}
