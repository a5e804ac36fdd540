//===- File.h - What a kvc_saved holds --------------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SAVED_FILE_H
#define KVC_SAVED_FILE_H

#include "kvc/Saved/Layout.h"
#include "kvc/saved.h"

#include <string>

namespace kvc::saved {

/// One layer group of a file.
struct GroupRecord {
  std::unique_ptr<Group> group; ///< With its spec.
  int64_t layers = 0;
  State state;
  std::vector<uint8_t> inputHashes; ///< [layers][32].
  std::vector<SavedBlock> blocks;   ///< In the order of the file.
  std::vector<uint32_t> sums;       ///< Of each.
  Slices slices, rawSlices;
  const uint8_t *bytes = nullptr; ///< Of the first block.

  const Slices &slicesOf(SavedBlock block) const {
    return block.isRaw ? rawSlices : slices;
  }
  int64_t bytesOf(SavedBlock block) const {
    return slicesOf(block).total() * layers;
  }
};

/// A file in the address space.
class Mapping {
public:
  Mapping() = default;
  Mapping(const Mapping &) = delete;
  Mapping &operator=(const Mapping &) = delete;
  ~Mapping();
  kvc_status open(const char *path, kvc_diag *diag);

  const void *data() const { return memory; }
  size_t size() const { return bytes; }

private:
  void *memory = nullptr;
  size_t bytes = 0;
};

} // namespace kvc::saved

struct kvc_saved {
  kvc::saved::Mapping mapping; ///< Empty: the caller's bytes.
  int64_t bytes = 0, length = 0;
  std::string model;
  std::vector<int32_t> tokens;
  std::vector<kvc::saved::GroupRecord> groups;
};

#endif // KVC_SAVED_FILE_H
