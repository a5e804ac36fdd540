//===- PackedBytes.h - The bytes that a cache must hold ---------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// SPEC.md section 5, element by element and bit by bit, from the canonical form
// of Quantise.h. Knows nothing of runtime/src/layout, whose bytes it checks.
// The order "auto" has no bytes of its own here: its codes, scales and zeros
// are compared in canonical form.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_PACKEDBYTES_H
#define KVC_TEST_PACKEDBYTES_H

#include "kvc/Test/Quantise.h"

#include <string>

namespace kvc::test {

/// Bytes of which some bits may be anything: unused slots, gaps between
/// regions.
struct PackedBytes {
  std::vector<uint8_t> bytes;
  std::vector<uint8_t> known; ///< Bits that are fixed; the others are 0 above.

  /// The first byte of `actual` that differs where it is known, "byte N:
  /// expected X, got Y"; empty if none does and the sizes agree.
  std::string firstDifference(std::span<const uint8_t> actual) const;
};

/// The body tokens of one sequence, as rows of a TensorData.
struct BodyRows {
  int64_t begin = 0, end = 0;
};
BodyRows bodyRows(const spec::Spec &spec, spec::Tensor tensor,
                  std::span<const int64_t> cu, size_t sequence);

/// Page number `page` of one sequence in order nhd, hnd, ggml or token: the
/// slice of K or V, or with `interleaved` K's slice and then V's.
PackedBytes packedPage(const spec::Spec &spec, spec::Tensor tensor,
                       const TensorData &data, BodyRows body, int64_t page);
PackedBytes packedInterleavedPage(const spec::Spec &spec, const TensorData &k,
                                  BodyRows kBody, const TensorData &v,
                                  BodyRows vBody, int64_t page);

/// A contiguous cache's tensor of one sequence: one page of all body tokens,
/// its capacity their number rounded up to runs of 64.
PackedBytes packedContiguous(const spec::Spec &spec, spec::Tensor tensor,
                             const TensorData &data, BodyRows body);

/// The record of one token and kv head in order ggml or token.
std::vector<uint8_t> packedRecord(const spec::Spec &spec, spec::Tensor tensor,
                                  const TensorData &data, int64_t row,
                                  int64_t head);

/// `k_pages` or `v_pages` of --dump-cache: the records of all body tokens,
/// sequences in order. `stored` receives the number of tokens.
std::vector<uint8_t> packedRecords(const spec::Spec &spec, spec::Tensor tensor,
                                   const TensorData &data,
                                   std::span<const int64_t> cu,
                                   int64_t &stored);

} // namespace kvc::test

#endif // KVC_TEST_PACKEDBYTES_H
