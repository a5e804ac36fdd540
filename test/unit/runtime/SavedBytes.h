//===- SavedBytes.h - Memory of blocks, and files of them -------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_RUNTIME_SAVEDBYTES_H
#define KVC_TEST_UNIT_RUNTIME_SAVEDBYTES_H

#include "ManagedRows.h"
#include "kvc/saved.h"

#include <tuple>
#include <vector>

namespace kvc::test {

using Bytes = std::vector<uint8_t>;
using SavedPtr = std::unique_ptr<kvc_saved, Deleter<kvc_saved, kvc_saved_free>>;

/// Page slices, each made when it is first asked for. What no one has written
/// is `former`: some former owner's.
class SliceMemory {
public:
  explicit SliceMemory(int former = 0xFF) : former(former) {}

  const kvc_slice_memory *get() { return &functions; }
  /// Fills the slices of a sequence with bytes that follow from where they lie.
  void fill(ManagedRows &rows, kvc_sequence sequence, uint32_t seed);
  Bytes &at(const kvc_slice &slice);

  int64_t calls = 0;
  int64_t failAt = -1;                      ///< The call that fails.
  void (*onCall)(int64_t) = [](int64_t) {}; ///< Told of each, by number.

private:
  static SliceMemory &of(void *user) {
    return *static_cast<SliceMemory *>(user);
  }
  bool isNext() {
    onCall(calls);
    return calls++ != failAt;
  }

  int former;
  std::map<std::tuple<int, int, int, int64_t, int>, Bytes> slices;
  kvc_slice_memory functions = {
      sizeof(kvc_slice_memory), this,
      [](void *user, const kvc_slice *slice, void *bytes) {
        if (!of(user).isNext())
          return KVC_FAILED;
        const Bytes &from = of(user).at(*slice);
        std::copy(from.begin(), from.end(), static_cast<uint8_t *>(bytes));
        return KVC_OK;
      },
      [](void *user, const kvc_slice *slice, const void *bytes) {
        if (!of(user).isNext())
          return KVC_FAILED;
        const auto *from = static_cast<const uint8_t *>(bytes);
        of(user).at(*slice).assign(from, from + slice->bytes);
        return KVC_OK;
      }};
};

kvc_saved_identity identity(const char *model = "tiny-1");
Bytes readBytes(const std::string &path);
void writeBytes(const std::string &path, const Bytes &bytes);
/// A file's place among those of the test that runs.
std::string temporary(const std::string &name);
/// What kvc_saved_read says; the message is left in `message`.
kvc_status readSaved(const Bytes &bytes, SavedPtr &saved, Message &message);
/// Puts right the sums of header and head.
void fixSums(Bytes &file);

} // namespace kvc::test

#endif // KVC_TEST_UNIT_RUNTIME_SAVEDBYTES_H
