//===- Session.h - One batch through compiled kernels -----------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Append, attend and read back through the runtime's C API, with every byte
// that kernels may touch in guarded memory: a paged cache gets pages that the
// session lends to it, everything else comes from a guarded device.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_E2E_SESSION_H
#define KVC_TEST_E2E_SESSION_H

#include "Guard.h"
#include "Rows.h"
#include "kvc/Engine.h"
#include "kvc/Test/Inputs.h"
#include "kvc/Test/PackedBytes.h"

#include <optional>

namespace kvc::test {

/// Options of a compilation for `target`, which outlives them. Where
/// AddressSanitizer is, kernels are instrumented.
kvc_compile_options testOptionsFor(const std::string &target);

/// The pages that a session lends.
struct LentPages {
  int64_t stride = 0; ///< Bytes between pages; 0: as they come.
  /// What they are full of before anyone writes to them.
  uint32_t fill = 0xFFFFFFFF;
};

/// What an attend wrote.
struct Attended {
  std::vector<double> out; ///< [total_q][q_heads][value_dim]
  std::vector<double> lse; ///< [total_q][q_heads]
  std::vector<uint8_t> outBytes, lseBytes;
  bool gapsAreUntouched = true;
};

/// One part of a tensor as "unpack" reads it, shaped as in Quantise.h; 0 where
/// a ring has lost a row.
struct Unpacked {
  std::vector<uint8_t> codes;
  std::vector<float> scales, zeros, values, outlierIndices, outlierValues;
};

/// A cache with the keys and values of `inputs`. Failures are thrown.
class Session {
public:
  /// Appends through `engine`, at most `chunk` tokens of every sequence per
  /// call (0: all at once).
  Session(const Engine &engine, const spec::Spec &spec, const Inputs &inputs,
          RowOrder rowOrder, int64_t chunk, const LentPages &pages = {});
  /// With room for what `inputs` become later: those of `largest`.
  Session(const Engine &engine, const spec::Spec &spec, const Inputs &inputs,
          RowOrder rowOrder, const Inputs &largest);

  /// Appends what `inputs` have got since the last time.
  void appendNew(const Engine &engine) { append(engine, 0); }

  /// Attends through any module whose kernels read this cache. A paged cache's
  /// tables are handed over as an engine of its own would, in guarded memory,
  /// with `ownTables`.
  Attended attend(const kvc_module *module, const kvc_parallel_for *threads,
                  bool ownTables = false) const;
  Attended attend(const Engine &engine, const kvc_parallel_for *threads,
                  bool ownTables = false) const {
    return attend(engine.module(), threads, ownTables);
  }
  Unpacked unpack(const Engine &engine, spec::Tensor tensor, size_t part,
                  const TensorData &data) const;

  /// What is wrong with the bytes of a cache whose order means `order`, nhd or
  /// hnd: one line per page, or per region of a contiguous cache, that differs.
  std::vector<std::string> wrongBytes(const Answer &expected,
                                      spec::Order order) const;

  /// Which tokens of a tensor the cache still has.
  std::vector<bool> keptRows(spec::Tensor tensor, const TensorData &data) const;

  /// Plans for sequences that have so many keys more than these.
  void planForMoreKeys(int32_t keys) { moreKeys = keys; }

  const GuardedDevice &device() const { return guardedDevice; }
  /// Frees the cache and with it what it took from the device.
  void freeCache() { cache.reset(); }

private:
  size_t batch() const { return inputs.cuKv.size() - 1; }
  int64_t length(size_t i) const { return inputs.cuKv[i + 1] - inputs.cuKv[i]; }
  /// The pages of sequence i at run i; each run ends behind the longest table.
  GuardedRuns blockTables() const;
  void createCache(const Inputs &largest, const LentPages &pages);
  void append(const Engine &engine, int64_t chunk);
  void comparePages(const spec::Spec &packing, const Answer &expected,
                    size_t sequence, const kvc_cache_view &view,
                    std::vector<std::string> &wrong) const;
  void compareRun(const spec::Spec &packing, const Answer &expected,
                  spec::Tensor tensor, size_t sequence,
                  const kvc_cache_view &view,
                  std::vector<std::string> &wrong) const;

  static void compareRecords(const spec::Spec &packing, spec::Tensor tensor,
                             const PackedBytes &all, const kvc_cache_view &view,
                             std::vector<std::string> &wrong);

  const spec::Spec &spec;
  const Inputs &inputs;
  RowOrder rowOrder;
  const kvc_spec *specHandle;
  int32_t moreKeys = 0;
  // The cache refers to the device and to the pages.
  GuardedDevice guardedDevice;
  std::optional<GuardedRuns> keyPages, valuePages;
  CacheHandle cache;
  std::vector<kvc_sequence> sequences;
  std::vector<int64_t> done; ///< Tokens of each.
};

} // namespace kvc::test

#endif // KVC_TEST_E2E_SESSION_H
