//===- Layout.h - What lies where in a saved sequence -----------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The part of FILE_FORMAT.md that follows from a spec: which blocks a file
// holds, of which bytes, with which rows. Shared by writing and reading.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SAVED_LAYOUT_H
#define KVC_SAVED_LAYOUT_H

#include "kvc/Manage/Groups.h"
#include "kvc/Spec/Segments.h"

#include <array>
#include <vector>

namespace kvc::saved {

using manage::Ends;
using manage::Group;
using manage::Span;

inline constexpr std::array<char, 16> kMagic = {'k', 'v', 'c', ' ', 's', 'a',
                                                'v', 'e', 'd', ' ', 'c', 'a',
                                                'c', 'h', 'e', '\n'};
inline constexpr uint32_t kVersion = 1;
inline constexpr int64_t kHeaderBytes = 64;
inline constexpr int64_t kHashBytes = 32;

/// A sequence in one group, as a file tells of it.
struct State {
  Ends ends;
  int64_t freed = 0; ///< Body blocks that a window has gone past.
};

/// The bytes of one layer of a block. Of interleaved pages all are the key's.
struct Slices {
  Slices() = default;
  explicit Slices(const spec::Spec &spec);

  std::array<int64_t, 2> bytes{}; ///< Of K and V.
  int64_t total() const { return bytes[0] + bytes[1]; }
};

/// A block of a saved sequence.
struct SavedBlock {
  bool isRaw;
  int64_t number; ///< In the sequence's table.
};

/// The blocks of a sequence of `length` tokens, in the order of the file.
std::vector<SavedBlock> blocksOf(const Group &group, const State &state,
                                 int64_t length);

/// Rows of a block that hold something, counted in the block.
struct Rows {
  Span key, value;

  bool operator==(const Rows &other) const {
    return key.begin == other.key.begin && key.end == other.key.end &&
           value.begin == other.value.begin && value.end == other.value.end;
  }
};
Rows rowsOf(const Group &group, const State &state, int64_t length,
            SavedBlock block);

} // namespace kvc::saved

#endif // KVC_SAVED_LAYOUT_H
