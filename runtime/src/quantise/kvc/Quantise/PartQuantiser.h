//===- PartQuantiser.h - One part of a tensor, to the bit -------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// SPEC.md section 2 for the channels of one part, as scalar steps: a row of
// channels is transformed, its outliers are found, each block gets a scale,
// each value a code, and back. Nothing here allocates once a PartQuantiser is
// made. Calls expect the default floating-point environment.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_QUANTISE_PARTQUANTISER_H
#define KVC_QUANTISE_PARTQUANTISER_H

#include "kvc/Spec/Lookup.h"
#include "kvc/Spec/Spec.h"

#include <bitset>
#include <span>
#include <vector>

namespace kvc::quantise {

/// A static scale as its type stores it: rounded, e8m0 down.
float storedStaticScale(const spec::Scale &scale, float input);

/// The orthonormal Walsh-Hadamard transform of every `n` of `count` channels.
void rotateBlocks(float *row, int64_t count, int64_t n);

/// The inputs of one part; null where its scheme takes none.
struct PartInputs {
  const float *scale = nullptr;  ///< [heads][blocks]
  const float *table = nullptr;  ///< [heads][2^bits]
  const float *smooth = nullptr; ///< [heads][channels of the tensor]
};

/// Rows of the part's channels in memory of the caller's.
struct Rows {
  float *data = nullptr;
  int64_t stride = 0; ///< Floats from a token to the next.

  float *operator[](int64_t token) const { return data + token * stride; }
};

/// The numbers of one block.
struct BlockScale {
  float stored = 0; ///< e4m3: before global.
  float zero = 0;
  float factor = 0;      ///< What multiplies: e4m3: after global.
  float base = 0;        ///< codes_from "exact": what is subtracted first, ..
  float inverse = 0;     ///< .. and what multiplies then.
  bool hasCodes = false; ///< Else every code is 0.
};

class PartQuantiser {
public:
  /// The largest number of channels.
  static constexpr int64_t kMaxChannels = 576;
  using Channels = std::bitset<kMaxChannels>;

  /// Copies the inputs, which have been checked.
  PartQuantiser(const spec::PartScheme &scheme, int64_t heads,
                int64_t tensorChannels, const PartInputs &inputs);

  const spec::PartScheme &scheme() const { return part; }
  /// Tokens of a block: 1 with raw codecs and static scales.
  int64_t blockTokens() const { return tokens; }

  /// Quantises blockTokens() rows and puts what they read as in their place.
  void roundTrip(int64_t head, Rows rows) const;

  //===--------------------------------------------------------------------===//
  // The steps of it
  //===--------------------------------------------------------------------===//

  /// x / smooth, rotated; and back.
  void transform(int64_t head, float *row) const;
  void restore(int64_t head, float *row) const;
  /// Which channels of a transformed row are outliers.
  Channels outliersOf(int64_t head, const float *row) const;
  /// The scale of channel block `block` of transformed rows.
  BlockScale scaleOf(int64_t head, int64_t block, Rows rows) const;
  /// x/s, or what stands for it: what a code is chosen by.
  float scaled(const BlockScale &scale, float x) const;
  uint8_t codeOf(int64_t head, float scaled) const;
  /// x' before outliers and transforms.
  float read(int64_t head, const BlockScale &scale, uint8_t code) const;

private:
  struct Extremes;

  void quantiseRow(int64_t head, const BlockScale *scales, float *row) const;
  template <typename Fn>
  void forEach(int64_t head, int64_t block, Rows rows, Fn fn) const;
  float rmsOf(int64_t head, int64_t block, Rows rows) const;
  BlockScale symmetricScale(int64_t head, int64_t block, Rows rows,
                            const Extremes &extremes) const;
  BlockScale minScale(const Extremes &extremes) const;
  BlockScale codeScale(const Extremes &extremes) const;
  BlockScale midScale(int64_t head, int64_t block, Rows rows,
                      const Extremes &extremes) const;
  float storeQuotient(float quotient) const;
  BlockScale finished(BlockScale scale, float exact, float base) const;

  const float *tableOf(int64_t head) const {
    return tables.data() + (tables.size() > entries ? head * entries : 0);
  }

  spec::PartScheme part;
  int64_t tokens = 1, width = 1, blocks = 0;
  size_t entries = 0;                ///< Of a table.
  float largestInt = 0;              ///< codec_max of everything but tables.
  float lowest = 0, highest = 0;     ///< Integer codes.
  std::vector<float> tables;         ///< One, or one per head.
  std::vector<float> largestEntries; ///< As many.
  std::vector<spec::LookupSteps> steps;
  std::vector<BlockScale> staticScales; ///< [heads][blocks]
  std::vector<float> smooth;            ///< [heads][channels of the part]
};

} // namespace kvc::quantise

#endif // KVC_QUANTISE_PARTQUANTISER_H
