//===- Prefixes.h - Blocks that can be found by their tokens ----*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// An entry is a block with the tokens whose rows it holds, and the entry before
// it: entries of one group and namespace are a tree. An entry goes when its
// block is reused and takes those that follow it along, so that a chain of
// entries always reaches back to the first token.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_MANAGE_PREFIXES_H
#define KVC_MANAGE_PREFIXES_H

#include "kvc/Manage/Blocks.h"
#include "kvc/Manage/Groups.h"

#include <array>
#include <map>
#include <string>
#include <string_view>

namespace kvc::manage {

using Key = std::array<uint8_t, 32>;

/// What a prefix is looked up by.
struct EntryName {
  int32_t group;
  int32_t space;  ///< Number of the namespace.
  BlockId parent; ///< 0: none.
  Span tokens;    ///< Positions.
  const int32_t *ids;
  Key key; ///< Of the parent's and these.
};

/// Told of entries that come and go.
struct EntryListener {
  void (*call)(void *user, const kvc_event *event) = nullptr;
  void *user = nullptr;
};

class Prefixes {
public:
  using Hash = void (*)(void *user, const void *data, size_t size,
                        uint8_t digest[32]);

  explicit Prefixes(Blocks &blocks) : blocks(blocks) {}
  /// `tokens`: by pool, of its longest entry.
  void allocate(const std::vector<int64_t> &tokens, Hash given, void *user,
                EntryListener told);

  /// The key of the first entry of a group.
  Key rootKey(std::string_view layout, int64_t group,
              std::string_view space) const;
  /// The key of the entry that follows `parent`.
  Key keyAfter(const Key &parent, const int32_t *ids, int64_t count) const;

  /// The number of a namespace, or -1.
  int32_t find(std::string_view space) const;
  /// The same, holding it until drop(); entries hold theirs.
  int32_t hold(std::string_view space);
  void drop(int32_t space);

  /// The entry of that name among the blocks of a pool, or 0.
  BlockId find(int32_t pool, const EntryName &name) const;
  /// Whether the entry has that name.
  bool is(BlockId block, const EntryName &name) const;
  void insert(BlockId block, const EntryName &name);
  /// The entry and all that follow it are none any more.
  void remove(BlockId block);
  void clear();

  /// A value for a handle: generation and block.
  uint64_t handleOf(BlockId block) const {
    return uint64_t(generations[block]) << 32 | uint32_t(block);
  }
  /// The entry of a handle, or 0.
  BlockId entryOf(uint64_t handle) const;

  /// So that as many calls of pin() allocate nothing.
  void reservePins(size_t more) { reserveMore(pinnedLeaves, more); }
  void pin(BlockId leaf);
  void unpin(BlockId leaf);

  int64_t count() const { return entries; }
  /// By name: the number of a namespace.
  const std::map<std::string, int32_t, std::less<>> &spacesByName() const {
    return spaceNumbers;
  }
  const std::vector<int32_t> &unusedSpaces() const { return freeSpaces; }
  const std::vector<BlockId> &pinned() const { return pinnedLeaves; }
  const int32_t *idsOf(BlockId block) const { return &ids[idsAt(block)]; }

  // By block, of entries.
  ZeroedArray<uint32_t> generations; ///< Of the living or the last entry.
  ZeroedArray<BlockId> parents, children, siblings, siblingsBefore;
  ZeroedArray<int32_t> groups, spaces;
  ZeroedArray<int32_t> begins, ends; ///< Positions of its tokens.
  ZeroedArray<Key> keys;
  ZeroedArray<int32_t> uses, priorities, pins;
  ZeroedArray<int32_t> pinPlaces; ///< Of leaves: where in pinned().
  ZeroedArray<int64_t> lastUses, pinEnds;

private:
  /// Room for more; in steps that grow, so that it costs little when asked
  /// often.
  template <typename T>
  static void reserveMore(std::vector<T> &list, size_t more) {
    if (list.capacity() - list.size() < more)
      list.reserve(std::max(list.size() + more, 2 * list.capacity()));
  }
  int64_t idsAt(BlockId block) const;
  BlockId &bucketOf(int32_t pool, const Key &key);
  const BlockId &bucketOf(int32_t pool, const Key &key) const;
  void removeOne(BlockId block);
  void tell(kvc_event_kind kind, BlockId block) const;

  Blocks &blocks;
  Hash hash = nullptr;
  void *hashUser = nullptr;
  EntryListener listener;
  std::vector<int64_t> idStrides, idStarts; ///< By pool.
  ZeroedArray<int32_t> ids;
  std::vector<ZeroedArray<BlockId>> buckets; ///< By pool: first entries.
  std::vector<uint64_t> masks;
  ZeroedArray<BlockId> nextInBucket;
  std::vector<BlockId> pinnedLeaves;
  using Spaces = std::map<std::string, int32_t, std::less<>>;
  struct Space {
    Spaces::iterator name;
    int64_t holders;
  };
  Spaces spaceNumbers;
  std::vector<Space> allSpaces;
  std::vector<int32_t> freeSpaces;
  int64_t entries = 0;
};

} // namespace kvc::manage

#endif // KVC_MANAGE_PREFIXES_H
