//===- Quantise.h - What a cache holds --------------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The reference quantiser: SPEC.md section 2 for a whole tensor (K or V) of a
// ragged batch, in canonical form whatever the cache's order. Slow, scalar, and
// meant to be read beside the specification.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_QUANTISE_H
#define KVC_TEST_QUANTISE_H

#include "kvc/Spec/Spec.h"

#include <span>
#include <vector>

namespace kvc::test {

/// The optional inputs of one part; empty where the scheme takes none.
struct PartInputs {
  std::vector<float> scale; ///< [heads][blocks], static scales.
  std::vector<float> table; ///< [heads][2^bits], a lut without a list.
};

/// The optional inputs of one tensor.
struct SchemeInputs {
  std::vector<PartInputs> parts; ///< One per part.
  std::vector<float> smooth;     ///< [heads][channels of the tensor].
};

/// What is stored for one part. Rows of raw segments hold zeros.
struct PartData {
  int64_t channels = 0, blocks = 0, outliers = 0;
  std::vector<uint8_t> codes; ///< [tokens][heads][channels]; see BlockCodes.
  std::vector<float> values;  ///< The same shape, raw codecs only.
  std::vector<float> scale;   ///< [tokens][heads][blocks]; e4m3: before global.
  std::vector<float> zero;    ///< The same shape; empty without a zero.
  std::vector<uint16_t> outlierIndex; ///< [tokens][heads][outliers], ascending.
  std::vector<uint16_t> outlierValue; ///< The same shape, f16 bits.
};

/// What is stored for one tensor, and what it reads as.
struct TensorData {
  int64_t tokens = 0, heads = 0, channels = 0;
  std::vector<uint8_t> isRaw; ///< [tokens]: 1 in the raw segments.
  std::vector<PartData> parts;
  /// x' in the model's basis, before RoPE: [tokens][heads][channels].
  std::vector<float> x;
};

/// The tokens of a sequence of `length` that are quantised: [begin, end).
struct Body {
  int64_t begin = 0, end = 0;
};
Body bodyOf(const spec::Scheme &scheme, const spec::Segments &segments,
            int64_t length);

/// Quantises x [tokens][heads][channels], already converted to io.query.
/// Sequence i is rows cu[i] .. cu[i+1].
TensorData quantise(const spec::Scheme &scheme, const spec::Segments &segments,
                    int64_t heads, int64_t channels, std::span<const float> x,
                    std::span<const int64_t> cu, const SchemeInputs &inputs);

} // namespace kvc::test

#endif // KVC_TEST_QUANTISE_H
