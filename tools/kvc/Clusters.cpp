//===- Clusters.cpp - Weighted k-means in one dimension -------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Clusters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

using namespace kvc;

namespace {

constexpr int kMaxIterations = 300;
constexpr size_t kBins = 512;

/// Which centre is tied to +-LargestCentre::low.
enum class Pin : uint8_t { None, First, Last };

class Lloyd {
public:
  Lloyd(std::vector<WeightedValue> given, size_t count,
        const LargestCentre &largest)
      : values(std::move(given)), count(count), largest(largest) {
    std::ranges::sort(values, {}, &WeightedValue::value);
    sums.resize(values.size() + 1);
    for (size_t i = 0; i < values.size(); ++i) {
      const auto &[value, weight] = values[i];
      sums[i + 1] = {sums[i][0] + weight, sums[i][1] + weight * value,
                     sums[i][2] + weight * value * value};
    }
  }

  Clusters best() const {
    std::optional<Clusters> best;
    for (const std::vector<double> &start :
         {evenly(), byWeight(1.0), byWeight(1.0 / 3)})
      for (Pin pin : {Pin::None, Pin::First, Pin::Last}) {
        const Clusters found = from(start, pin);
        const double reach = std::max(std::fabs(found.centres.front()),
                                      std::fabs(found.centres.back()));
        if (reach >= largest.low && (!best || found.loss < best->loss))
          best = found;
      }
    return *best;
  }

private:
  std::vector<double> evenly() const {
    const double low = values.front().value, high = values.back().value;
    std::vector<double> centres;
    for (size_t i = 0; i < count; ++i)
      centres.push_back(low + (high - low) * (static_cast<double>(i) + 0.5) /
                                  static_cast<double>(count));
    return centres;
  }

  /// Equal shares of the sum of weight^power over bins; a third is where many
  /// centres end up.
  std::vector<double> byWeight(double power) const {
    const double low = values.front().value,
                 width = (values.back().value - low) / kBins;
    std::array<double, kBins> bins{};
    for (const WeightedValue &each : values) {
      const double bin = width > 0 ? (each.value - low) / width : 0;
      bins[std::min(static_cast<size_t>(bin), kBins - 1)] += each.weight;
    }
    double total = 0;
    for (double &bin : bins)
      total += bin = std::pow(bin, power);
    std::vector<double> centres;
    double sum = 0;
    for (size_t i = 0; i < kBins; ++i) {
      sum += bins[i];
      while (centres.size() < count &&
             sum * static_cast<double>(count) >=
                 total * (static_cast<double>(centres.size()) + 0.5))
        centres.push_back(low + width * (static_cast<double>(i) + 0.5));
    }
    centres.resize(count, values.back().value);
    return centres;
  }

  void constrain(std::vector<double> &centres, Pin pin) const {
    for (double &centre : centres)
      centre = std::clamp(centre, -largest.high, largest.high);
    if (pin == Pin::First)
      centres.front() = -largest.low;
    if (pin == Pin::Last)
      centres.back() = largest.low;
    std::ranges::sort(centres);
  }

  /// The values nearest to each centre: begin of each, and the end.
  std::vector<size_t> bordersOf(const std::vector<double> &centres) const {
    std::vector<size_t> borders = {0};
    for (size_t i = 1; i < count; ++i) {
      const double middle = (centres[i - 1] + centres[i]) / 2;
      borders.push_back(
          std::ranges::upper_bound(values, middle, {}, &WeightedValue::value) -
          values.begin());
    }
    borders.push_back(values.size());
    return borders;
  }

  Clusters from(std::vector<double> centres, Pin pin) const {
    constrain(centres, pin);
    for (int i = 0; i < kMaxIterations; ++i) {
      const std::vector<size_t> borders = bordersOf(centres);
      std::vector<double> moved = centres;
      for (size_t c = 0; c < count; ++c) {
        const double weight = sums[borders[c + 1]][0] - sums[borders[c]][0];
        if (weight > 0)
          moved[c] = (sums[borders[c + 1]][1] - sums[borders[c]][1]) / weight;
      }
      constrain(moved, pin);
      if (moved == centres)
        break;
      centres = std::move(moved);
    }
    Clusters result;
    const std::vector<size_t> borders = bordersOf(centres);
    for (size_t c = 0; c < count; ++c) {
      const auto &begin = sums[borders[c]], &end = sums[borders[c + 1]];
      result.loss += (end[2] - begin[2]) -
                     2 * centres[c] * (end[1] - begin[1]) +
                     centres[c] * centres[c] * (end[0] - begin[0]);
      result.centres.push_back(static_cast<float>(centres[c]));
    }
    return result;
  }

  std::vector<WeightedValue> values; ///< Ascending.
  size_t count;
  LargestCentre largest;
  /// Sums of weight, weight * value and weight * value^2 of the first i.
  std::vector<std::array<double, 3>> sums;
};

} // namespace

Clusters kvc::clusterValues(std::vector<WeightedValue> values, size_t count,
                            const LargestCentre &largest) {
  return Lloyd(std::move(values), count, largest).best();
}
