//===- HeadCalibration.cpp - The inputs of one head -----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/HeadCalibration.h"

#include "kvc/Clusters.h"
#include "kvc/Quantise/Floats.h"

#include <algorithm>
#include <cmath>
#include <utility>

using namespace kvc;
using quantise::BlockScale;
using quantise::PartQuantiser;
using spec::PartScheme;

namespace {

/// Shares tried for each block alone.
constexpr double kBlockShares[] = {1,    0.95, 0.9,  0.85, 0.8,  0.75, 0.7,
                                   0.65, 0.6,  0.55, 0.5,  0.45, 0.4,  0.3};
/// Outliers are chosen by x/s, and s without outliers: a few rounds settle it.
constexpr int kOutlierRounds = 4;
/// Of the mean weight: what no query sees yet counts a little.
constexpr double kLeastWeight = 1e-6;

bool takesTable(const PartScheme &part) {
  return part.codec.kind == spec::CodecKind::Lut && part.codec.table.empty();
}

/// The code of a magnitude that a table from an input is laid out for is 1.
double largestCode(const PartScheme &part) {
  return takesTable(part) ? 1 : part.codec.largest();
}

/// A static scale under which `magnitude` has the largest code, one that is
/// still above 0 when it is stored.
float scaleFor(const PartScheme &part, double magnitude) {
  const spec::Scale &scale = *part.scale;
  if (magnitude == 0)
    return 1;
  double wanted = magnitude / largestCode(part);
  // Stored downwards, an exponent would lose up to half of the range; the
  // exponents of both are what dynamic scales take.
  if (scale.dtype == spec::DType::E8M0)
    wanted =
        std::ldexp(1.0, std::ilogb(magnitude) - std::ilogb(largestCode(part)));
  auto given = static_cast<float>(std::clamp(wanted, 1e-38, 3e38));
  while (quantise::storedStaticScale(scale, given) <= 0)
    given *= 2;
  return given;
}

/// Linear between neighbours; changes the order of `magnitudes`.
double percentileOf(std::vector<float> &magnitudes, double percentile) {
  const double place =
      percentile / 100 * static_cast<double>(magnitudes.size() - 1);
  const auto below = static_cast<size_t>(place);
  std::ranges::nth_element(magnitudes, magnitudes.begin() + below);
  const double low = magnitudes[below];
  if (below + 1 == magnitudes.size())
    return low;
  const double high = *std::ranges::min_element(magnitudes.begin() + below + 1,
                                                magnitudes.end());
  return low + (high - low) * (place - static_cast<double>(below));
}

std::vector<float> evenTable(size_t entries) {
  std::vector<float> table;
  for (size_t i = 0; i < entries; ++i)
    table.push_back(-1 + 2 * static_cast<float>(i) /
                             static_cast<float>(entries - 1));
  return table;
}

/// One part of one head.
class PartCalibrator {
public:
  PartCalibrator(const PartScheme &given, const std::vector<float> &smooth,
                 const std::vector<float> &rows, int64_t channels,
                 const std::vector<double> &weights)
      : part(given), weights(weights), tensorChannels(channels),
        tokens(static_cast<int64_t>(rows.size()) / channels),
        smooth(smooth.begin() + (smooth.empty() ? 0 : given.begin),
               smooth.begin() + (smooth.empty() ? 0 : given.end)) {
    // Offsets inside of the part: its quantisers see nothing else.
    part.begin = 0;
    part.end = given.channels();
    begin = given.begin;
    if (part.codec.isRaw())
      return;
    table = takesTable(part) ? evenTable(size_t(1) << part.codec.bits)
                             : part.codec.table;
    scale.assign(part.blocks(), 1);
    const PartQuantiser quantiser = make();
    for (int64_t t = 0; t < tokens; ++t) {
      const float *row = rows.data() + t * channels + begin;
      values.insert(values.end(), row, row + part.channels());
      quantiser.transform(0, rowOf(t));
    }
  }

  void findScales(const Choice &choice, double percentile) {
    findThresholds(choice, percentile);
    if (choice.share > 0)
      for (int64_t block = 0; block < part.blocks(); ++block)
        scale[block] = scaleFor(part, thresholds[block] * choice.share);
    else
      findShares();
  }

  void findTable() {
    const PartQuantiser quantiser = make();
    std::vector<WeightedValue> samples;
    forEachCoded(quantiser, [&](const BlockScale &block, int64_t t, int64_t c) {
      const double value = quantiser.scaled(block, rowOf(t)[c]);
      samples.push_back({value, weightOf(t, c) * double(block.factor) *
                                    double(block.factor)});
    });
    double total = 0;
    for (const WeightedValue &sample : samples)
      total += sample.weight;
    if (total == 0)
      return;
    for (WeightedValue &sample : samples)
      sample.weight +=
          kLeastWeight * total / static_cast<double>(samples.size());
    const std::vector<float> found =
        clusterValues(std::move(samples), table.size(), largestCentre())
            .centres;
    if (std::ranges::any_of(found, [](float entry) { return entry != 0; }))
      table = found;
  }

  std::vector<float> scale, table;

private:
  PartQuantiser make() const {
    return {
        part, 1, part.channels(), {scale.data(), table.data(), smooth.data()}};
  }
  float *rowOf(int64_t t) { return values.data() + t * part.channels(); }
  double weightOf(int64_t t, int64_t c) const {
    return weights[t * tensorChannels + begin + c];
  }

  /// Calls fn(block, t, c) for every value that gets a code that is read.
  template <typename Fn>
  void forEachCoded(const PartQuantiser &quantiser, Fn fn) {
    const int64_t width = part.blockChannels(), n = quantiser.blockTokens();
    for (int64_t first = 0; first + n <= tokens; first += n) {
      std::vector<BlockScale> blocks;
      for (int64_t block = 0; block < part.blocks(); ++block)
        blocks.push_back(
            quantiser.scaleOf(0, block, {rowOf(first), part.channels()}));
      for (int64_t t = first; t < first + n; ++t) {
        const PartQuantiser::Channels outliers =
            quantiser.outliersOf(0, rowOf(t));
        for (int64_t c = 0; c < part.channels(); ++c)
          if (!outliers[c] && blocks[c / width].hasCodes)
            fn(blocks[c / width], t, c);
      }
    }
  }

  /// What the largest magnitude of each block is, or a percentile of them.
  void findThresholds(const Choice &choice, double percentile) {
    const int64_t width = part.blockChannels();
    for (int round = 0; round < (part.outliers ? kOutlierRounds : 1); ++round) {
      std::vector<std::vector<float>> magnitudes(part.blocks());
      const bool isFirst = round == 0;
      const PartQuantiser quantiser = make();
      for (int64_t t = 0; t < tokens; ++t) {
        const PartQuantiser::Channels outliers =
            isFirst ? PartQuantiser::Channels()
                    : quantiser.outliersOf(0, rowOf(t));
        for (int64_t c = 0; c < part.channels(); ++c)
          if (!outliers[c])
            magnitudes[c / width].push_back(std::fabs(rowOf(t)[c]));
      }
      thresholds.assign(part.blocks(), 0);
      for (int64_t block = 0; block < part.blocks(); ++block) {
        if (magnitudes[block].empty())
          continue;
        const double largest = *std::ranges::max_element(magnitudes[block]);
        thresholds[block] = choice.byPercentile
                                ? percentileOf(magnitudes[block], percentile)
                                : largest;
        // Where most are zeros, so is the percentile.
        if (thresholds[block] == 0)
          thresholds[block] = largest;
        scale[block] = scaleFor(part, thresholds[block]);
      }
    }
  }

  /// For each block the share of the least weighted squared error.
  void findShares() {
    const int64_t width = part.blockChannels();
    std::vector<double> least(part.blocks(), INFINITY);
    std::vector<float> chosen(part.blocks());
    for (double share : kBlockShares) {
      for (int64_t block = 0; block < part.blocks(); ++block)
        scale[block] = scaleFor(part, thresholds[block] * share);
      const PartQuantiser quantiser = make();
      std::vector<double> errors(part.blocks());
      forEachCoded(quantiser, [&](const BlockScale &block, int64_t t,
                                  int64_t c) {
        const float x = rowOf(t)[c];
        const double off =
            double(quantiser.read(
                0, block, quantiser.codeOf(0, quantiser.scaled(block, x)))) -
            x;
        errors[c / width] += weightOf(t, c) * off * off;
      });
      for (int64_t block = 0; block < part.blocks(); ++block)
        if (errors[block] < least[block]) {
          least[block] = errors[block];
          chosen[block] = scale[block];
        }
    }
    scale = chosen;
  }

  /// Dynamic scales divide by the largest entry, so only its ratio to the
  /// others is free: it stays where the values were divided by 1, an e8m0
  /// scale's anywhere in the binade.
  LargestCentre largestCentre() const {
    if (part.scale->isStatic || part.estimate == spec::Estimate::Rms)
      return {};
    if (part.scale->dtype == spec::DType::E8M0 &&
        part.scale->round == spec::ScaleRound::Down)
      return {1, std::nextafter(2.0F, 1.0F)};
    return {1, 1};
  }

  PartScheme part;
  const std::vector<double> &weights;
  int64_t tensorChannels, tokens, begin = 0;
  std::vector<float> smooth, values;
  std::vector<double> thresholds;
};

} // namespace

HeadRows::HeadRows(const spec::Scheme &scheme, std::vector<float> given,
                   int64_t channels)
    : scheme(scheme), rows(std::move(given)), channels(channels),
      numTokens(static_cast<int64_t>(rows.size()) / channels),
      largest(channels) {
  for (size_t i = 0; i < rows.size(); ++i)
    largest[i % channels] =
        std::max(largest[i % channels], std::fabs(double(rows[i])));
}

std::vector<float>
HeadRows::smoothing(double alpha,
                    const std::optional<spec::Rope> &pairs) const {
  std::vector<double> sizes = largest;
  if (pairs)
    for (int64_t i = 0; i < pairs->dims / 2; ++i) {
      double &a = sizes[pairs->offset + (pairs->pairs ? 2 * i : i)];
      double &b = sizes[pairs->offset +
                        (pairs->pairs ? 2 * i + 1 : i + pairs->dims / 2)];
      a = b = std::max(a, b);
    }
  // Channels of zeros say nothing.
  double sum = 0;
  int64_t count = 0;
  for (double size : sizes)
    if (size > 0) {
      sum += std::log(size);
      ++count;
    }
  const double mean = count ? sum / static_cast<double>(count) : 0;
  std::vector<float> factors;
  for (double size : sizes)
    factors.push_back(static_cast<float>(
        size > 0 ? std::exp(alpha * (std::log(size) - mean)) : 1));
  return factors;
}

HeadInputs HeadRows::derive(const Choice &choice, double percentile,
                            std::vector<float> smooth,
                            const std::vector<double> &weights) const {
  HeadInputs result;
  for (const PartScheme &part : scheme.parts) {
    HeadInputs::Part &inputs = result.parts.emplace_back();
    if (part.codec.isRaw() || (!part.scale->isStatic && !takesTable(part)))
      continue;
    PartCalibrator calibrator(part, smooth, rows, channels, weights);
    if (part.scale->isStatic) {
      Choice shared = choice;
      // A table moves with the scale: there is nothing to be had by block.
      if (takesTable(part) && shared.share == 0)
        shared.share = 1;
      calibrator.findScales(shared, percentile);
      inputs.scale = calibrator.scale;
    }
    if (takesTable(part)) {
      if (choice.clusters)
        calibrator.findTable();
      inputs.table = calibrator.table;
    }
  }
  result.smooth = std::move(smooth);
  return result;
}
