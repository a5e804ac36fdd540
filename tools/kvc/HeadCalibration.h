//===- HeadCalibration.h - The inputs of one head ---------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_HEADCALIBRATION_H
#define KVC_TOOLS_HEADCALIBRATION_H

#include "kvc/Calibration.h"
#include "kvc/Quantise/PartQuantiser.h"

namespace kvc {

/// What is tried for one head.
struct Choice {
  /// Smoothing factors are the channels' largest magnitudes to this power.
  double alpha = 0;
  /// Share of the largest magnitude, or of the percentile, that gets the
  /// largest code; 0: for each block the one of the least weighted error.
  double share = 1;
  bool byPercentile = false;
  bool clusters = false; ///< Else tables are evenly spaced.
};

/// The inputs of one head as far as its scheme takes them.
struct HeadInputs {
  std::vector<float> smooth; ///< [channels]
  struct Part {
    std::vector<float> scale, table;
  };
  std::vector<Part> parts;
};

/// The keys or values of one head that get quantised.
class HeadRows {
public:
  /// `rows` is [tokens][channels].
  HeadRows(const spec::Scheme &scheme, std::vector<float> rows,
           int64_t channels);

  int64_t tokens() const { return numTokens; }
  /// The smoothing factors of an alpha, their geometric mean 1.
  std::vector<float> smoothing(double alpha,
                               const std::optional<spec::Rope> &pairs) const;
  /// Scales and tables below these smoothing factors. `weights` [tokens]
  /// [channels] says what a squared error costs in the basis of the codes; it
  /// is read for tables and for shares by block.
  HeadInputs derive(const Choice &choice, double percentile,
                    std::vector<float> smooth,
                    const std::vector<double> &weights) const;

private:
  const spec::Scheme &scheme;
  std::vector<float> rows;
  int64_t channels, numTokens;
  std::vector<double> largest; ///< Of each channel.
};

} // namespace kvc

#endif // KVC_TOOLS_HEADCALIBRATION_H
