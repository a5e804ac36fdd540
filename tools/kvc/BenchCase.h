//===- BenchCase.h - One measurement of kvc bench ---------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_BENCHCASE_H
#define KVC_TOOLS_BENCHCASE_H

#include "kvc/Decode.h"
#include "kvc/Timing.h"

#include <memory>

namespace kvc {

/// Zeroed memory in large pages where the system has them.
class MappedMemory {
public:
  explicit MappedMemory(size_t bytes);
  ~MappedMemory();
  MappedMemory(const MappedMemory &) = delete;
  std::span<std::byte> bytes() const { return {data, size}; }

private:
  std::byte *data;
  size_t size;
};

/// Bytes of memory that a case's parts must be beyond, so that the last-level
/// cache holds nothing of what comes next; less where memory is short. Three
/// such parts exist at a time.
size_t coldBytes();

/// Enough sequences of one context length to be cold, and a decode step that
/// visits them in turn.
class ColdCache {
public:
  ColdCache(const Engine &engine, int64_t context, int64_t batch,
            size_t coldBytes);
  ~ColdCache();

  /// How many sequences that takes; throws where memory is too small.
  static int64_t sequencesFor(const Engine &engine, int64_t context,
                              int64_t batch, size_t coldBytes);

  /// One step over the next `batch` sequences; microseconds.
  double run(const kvc_parallel_for *threads);
  /// What a step has to read.
  double bytesPerStep() const { return stepBytes; }

private:
  void fillPages();
  void fillSequences();
  BatchInputs randomKeys(int64_t tokens) const;

  const Engine &engine;
  int64_t context, batch, numSequences;
  double stepBytes;
  int64_t next = 0;
  std::unique_ptr<MappedMemory> pages; ///< Paged only; lent to the cache.
  CacheHandle cache;
  std::vector<int32_t> table;        ///< [sequences, pages of one]; paged only.
  std::vector<kvc_sequence> handles; ///< Contiguous only.
  std::unique_ptr<DecodeStep> step;
};

/// Times of a kernel, its f16 twin and the machine's reads, taken in turn.
struct Measurement {
  Quartiles stepUs;
  Quartiles shareOfRead; ///< Of the machine's read bandwidth.
  Quartiles overF16;     ///< How many times as fast.
  int streams = 0;       ///< Of the best streaming read.
  double readGBs = 0;
  int64_t repetitions = 0;
};

/// `twin` is null where the spec is its own twin. `memory` is cold and holds at
/// least the bytes of a step.
Measurement measure(ColdCache &ours, ColdCache *twin,
                    std::span<const std::byte> memory, const Threads &threads);

} // namespace kvc

#endif // KVC_TOOLS_BENCHCASE_H
