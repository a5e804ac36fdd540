//===- RowMask.h - Which bits of a page are whose ---------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// What leaves the pool has zeros wherever no token of the sequence lies: a page
// keeps what its former owners wrote until it is written again.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SAVED_ROWMASK_H
#define KVC_SAVED_ROWMASK_H

#include "kvc/Saved/Layout.h"

namespace kvc::saved {

class RowMask {
public:
  explicit RowMask(const spec::Spec &spec) : spec(spec), slices(spec) {}

  /// Clears all bits of a block of `layers` layers but those of some rows.
  void clearOthers(const Rows &rows, int64_t layers, uint8_t *bytes);
  /// Whether all bits but those of some rows are zero.
  bool isClearBeside(const Rows &rows, int64_t layers, const uint8_t *bytes);
  /// Ones where the rows lie in the slices of one layer, K's first.
  const std::vector<uint8_t> &of(const Rows &rows);

private:
  void mark(spec::Tensor tensor, Span rows, std::vector<uint8_t> &bits) const;

  const spec::Spec &spec;
  Slices slices;
  /// Those made last: nearly all blocks are full, in few ways a block is not.
  struct Made {
    Rows rows;
    std::vector<uint8_t> bits;
  };
  std::vector<Made> made;
};

} // namespace kvc::saved

#endif // KVC_SAVED_ROWMASK_H
