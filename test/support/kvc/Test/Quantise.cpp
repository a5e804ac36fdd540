//===- Quantise.cpp - What a cache holds ----------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Test/Quantise.h"

#include "kvc/Test/Block.h"
#include "kvc/Test/Floats.h"
#include "kvc/Test/Transforms.h"

#include <algorithm>
#include <cmath>

using namespace kvc;
using namespace kvc::test;
using spec::PartScheme;

/// Tokens that share a scale, for walking: static scales are per token too.
static int64_t tokensOfBlock(const PartScheme &part) {
  return part.scale && !part.scale->isStatic ? part.scale->tokens : 1;
}

static int64_t channelsOfBlock(const PartScheme &part) {
  return part.scale->channels == spec::kAll ? part.channels()
                                            : part.scale->channels;
}

Body kvc::test::bodyOf(const spec::Scheme &scheme,
                       const spec::Segments &segments, int64_t length) {
  int64_t n = 1;
  for (const PartScheme &part : scheme.parts)
    n = std::max(n, tokensOfBlock(part));
  int64_t begin = std::min(length, segments.sink);
  int64_t rest = std::max<int64_t>(0, length - segments.sink - segments.recent);
  return {begin, begin + rest / n * n};
}

namespace {

/// Writes and reads one part of one tensor.
class PartQuantiser {
public:
  PartQuantiser(const PartScheme &part, const PartInputs &inputs,
                std::span<const float> smooth, int64_t tokens, int64_t heads,
                int64_t channels)
      : part(part), inputs(inputs), smooth(smooth), heads(heads),
        tensorChannels(channels) {
    size_t rows = size_t(tokens * heads);
    data.channels = part.channels();
    data.outliers = part.outliers;
    if (part.codec.isRaw()) {
      data.values.resize(rows * size_t(data.channels));
      return;
    }
    data.blocks = data.channels / channelsOfBlock(part);
    data.codes.resize(rows * size_t(data.channels));
    data.scale.resize(rows * size_t(data.blocks));
    if (part.zero != spec::Zero::None)
      data.zero.resize(rows * size_t(data.blocks));
    data.outlierIndex.resize(rows * size_t(data.outliers));
    data.outlierValue.resize(rows * size_t(data.outliers));
  }

  PartData data;

  /// Stores rows begin .. begin + tokensOfBlock of one head.
  void writeBlock(int64_t begin, int64_t head, std::span<const float> x) {
    int64_t tokens = tokensOfBlock(part);
    std::vector<std::vector<float>> rows;
    std::vector<std::vector<uint8_t>> isOutlier;
    for (int64_t t = begin; t < begin + tokens; ++t) {
      rows.push_back(transformed(t, head, x));
      if (part.codec.isRaw()) {
        storeRaw(t, head, rows.back());
        continue;
      }
      isOutlier.push_back(takeOutliers(t, head, rows.back()));
    }
    for (int64_t block = 0; block < data.blocks; ++block)
      storeBlock(begin, head, block, rows, isOutlier);
  }

  /// x' of one row, into the tensor's row.
  void readRow(int64_t token, int64_t head, std::span<float> x) const {
    std::vector<float> row(size_t(data.channels));
    for (int64_t c = 0; c < data.channels; ++c)
      row[size_t(c)] = decoded(token, head, c);
    for (int64_t i = 0; i < data.outliers; ++i) {
      size_t at = rowOf(token, head) * size_t(data.outliers) + size_t(i);
      row[data.outlierIndex[at]] = decode(kF16, data.outlierValue[at]);
    }
    if (part.rotate)
      hadamard(row, part.rotate);
    for (int64_t c = 0; c < data.channels; ++c)
      x[at(token, head, c)] =
          part.smooth ? row[size_t(c)] * smoothOf(head, c) : row[size_t(c)];
  }

private:
  size_t rowOf(int64_t token, int64_t head) const {
    return size_t(token * heads + head);
  }
  /// Of the part's channel c in the tensor's [tokens][heads][channels].
  size_t at(int64_t token, int64_t head, int64_t c) const {
    return rowOf(token, head) * size_t(tensorChannels) + size_t(part.begin + c);
  }
  float smoothOf(int64_t head, int64_t c) const {
    return smooth[size_t(head * tensorChannels + part.begin + c)];
  }
  std::span<const float> tableOf(int64_t head) const {
    if (!part.codec.table.empty() || part.codec.kind != spec::CodecKind::Lut)
      return part.codec.table;
    size_t entries = size_t(1) << part.codec.bits;
    return std::span(inputs.table).subspan(size_t(head) * entries, entries);
  }
  std::optional<float> staticScaleOf(int64_t head, int64_t block) const {
    if (!part.scale->isStatic)
      return std::nullopt;
    return inputs.scale[size_t(head * data.blocks + block)];
  }

  /// One row, smoothed and rotated.
  std::vector<float> transformed(int64_t token, int64_t head,
                                 std::span<const float> x) const {
    std::vector<float> row;
    for (int64_t c = 0; c < data.channels; ++c) {
      float value = x[at(token, head, c)];
      row.push_back(part.smooth ? value / smoothOf(head, c) : value);
    }
    if (part.rotate)
      hadamard(row, part.rotate);
    return row;
  }

  void storeRaw(int64_t token, int64_t head, std::span<const float> row) {
    const FloatFormat &format = part.codec.raw == spec::DType::F32   ? kF32
                                : part.codec.raw == spec::DType::F16 ? kF16
                                                                     : kBF16;
    for (int64_t c = 0; c < data.channels; ++c)
      data.values[rowOf(token, head) * size_t(data.channels) + size_t(c)] =
          roundTo(format, row[size_t(c)]);
  }

  /// What outliers are compared by: |x|, or |x|/s with static scales.
  float magnitude(int64_t head, int64_t c, float x) const {
    if (!part.scale->isStatic)
      return std::fabs(x);
    float stored = storeStaticScale(
        *part.scale, *staticScaleOf(head, c / channelsOfBlock(part)));
    return std::fabs(x) / effectiveScale(*part.scale, stored);
  }

  /// Stores the outliers of one row and says which channels they are.
  std::vector<uint8_t> takeOutliers(int64_t token, int64_t head,
                                    std::span<const float> row) {
    std::vector<uint8_t> result(row.size(), 0);
    for (int64_t i = 0; i < data.outliers; ++i) {
      int64_t best = -1;
      for (int64_t c = 0; c < data.channels; ++c)
        if (!result[size_t(c)] &&
            (best < 0 || magnitude(head, c, row[size_t(c)]) >
                             magnitude(head, best, row[size_t(best)])))
          best = c;
      result[size_t(best)] = 1;
    }
    size_t slot = rowOf(token, head) * size_t(data.outliers);
    for (size_t c = 0; c < row.size(); ++c)
      if (result[c]) {
        data.outlierIndex[slot] = uint16_t(c);
        data.outlierValue[slot++] = uint16_t(encode(kF16, row[c]));
      }
    return result;
  }

  /// Quantises the channels of one block of the rows, token-major.
  void storeBlock(int64_t begin, int64_t head, int64_t block,
                  const std::vector<std::vector<float>> &rows,
                  const std::vector<std::vector<uint8_t>> &isOutlier) {
    int64_t width = channelsOfBlock(part), first = block * width;
    std::vector<float> values;
    std::vector<uint8_t> outside;
    for (size_t t = 0; t < rows.size(); ++t)
      for (int64_t c = first; c < first + width; ++c) {
        values.push_back(rows[t][size_t(c)]);
        outside.push_back(isOutlier[t][size_t(c)]);
      }
    BlockCodes codes = quantiseBlock(part, tableOf(head), values, outside,
                                     staticScaleOf(head, block));
    for (size_t t = 0; t < rows.size(); ++t) {
      size_t row = rowOf(begin + int64_t(t), head);
      std::copy_n(codes.codes.begin() + ptrdiff_t(t) * width, width,
                  data.codes.begin() + ptrdiff_t(row) * data.channels + first);
      data.scale[row * size_t(data.blocks) + size_t(block)] = codes.scale;
      if (part.zero != spec::Zero::None)
        data.zero[row * size_t(data.blocks) + size_t(block)] = codes.zero;
    }
  }

  /// x' of one code, before outliers and transforms.
  float decoded(int64_t token, int64_t head, int64_t c) const {
    size_t row = rowOf(token, head);
    size_t element = row * size_t(data.channels) + size_t(c);
    if (part.codec.isRaw())
      return data.values[element];
    size_t block =
        row * size_t(data.blocks) + size_t(c / channelsOfBlock(part));
    return dequantise(part, tableOf(head), data.scale[block],
                      data.zero.empty() ? 0.0f : data.zero[block],
                      data.codes[element]);
  }

  const PartScheme &part;
  const PartInputs &inputs;
  std::span<const float> smooth;
  int64_t heads, tensorChannels;
};

} // namespace

TensorData kvc::test::quantise(const spec::Scheme &scheme,
                               const spec::Segments &segments, int64_t heads,
                               int64_t channels, std::span<const float> x,
                               std::span<const int64_t> cu,
                               const SchemeInputs &inputs) {
  TensorData result;
  result.tokens = cu.back();
  result.heads = heads;
  result.channels = channels;
  result.isRaw.assign(size_t(result.tokens), 1);
  // Raw rows read as given; the others are overwritten below.
  result.x.assign(x.begin(), x.end());

  for (size_t i = 0; i < scheme.parts.size(); ++i) {
    const PartScheme &part = scheme.parts[i];
    static const PartInputs none;
    PartQuantiser quantiser(part,
                            i < inputs.parts.size() ? inputs.parts[i] : none,
                            inputs.smooth, result.tokens, heads, channels);
    for (size_t s = 0; s + 1 < cu.size(); ++s) {
      Body body = bodyOf(scheme, segments, cu[s + 1] - cu[s]);
      int64_t begin = cu[s] + body.begin, end = cu[s] + body.end;
      for (int64_t t = begin; t < end; t += tokensOfBlock(part))
        for (int64_t h = 0; h < heads; ++h)
          quantiser.writeBlock(t, h, x);
      for (int64_t t = begin; t < end; ++t) {
        result.isRaw[size_t(t)] = 0;
        for (int64_t h = 0; h < heads; ++h)
          quantiser.readRow(t, h, result.x);
      }
    }
    result.parts.push_back(std::move(quantiser.data));
  }
  return result;
}
