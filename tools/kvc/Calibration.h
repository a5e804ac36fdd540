//===- Calibration.h - Inputs of schemes from real activations --*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Static scales, smoothing factors and lookup tables for one spec, each kv head
// by itself. Candidates are judged by the squared error of the attention's
// output, in f64, when one tensor is quantised and the other one is not; every
// token beyond the sink counts as quantised, the recent ones too, which only
// wait for their turn. Nothing is random.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_CALIBRATION_H
#define KVC_TOOLS_CALIBRATION_H

#include "kvc/Batch.h"
#include "kvc/Spec/SchemeInputs.h"

#include <functional>
#include <optional>

namespace kvc {

/// How large a static scale is.
enum class ScaleMethod : uint8_t {
  Amax,       ///< The largest magnitude gets the largest code.
  Percentile, ///< A percentile of the magnitudes does.
  Search      ///< Whatever share of the largest gives the least error.
};

struct CalibrationOptions {
  ScaleMethod method = ScaleMethod::Search;
  double percentile = 99.9;
  /// Channels that rotate together get one smoothing factor.
  std::optional<spec::Rope> pairs;
  const kvc_parallel_for *threads = nullptr;
  /// Is told what begins; may be empty.
  std::function<void(const std::string &)> onStep;
};

struct CalibratedInput {
  spec::SchemeInput input;
  std::vector<float> values; ///< [heads, columns]
  std::string method;
  std::vector<double> choices; ///< Per head: alpha, or share of the largest.
};

/// ||out - ref|| / ||ref||.
struct CalibrationError {
  double before = 0; ///< Scales by amax, no smoothing, evenly spaced tables.
  double after = 0;
};

struct Calibration {
  std::vector<CalibratedInput> inputs; ///< Those of schemeInputs.
  CalibrationError tensors[2];         ///< By spec::Tensor; one quantised.
  CalibrationError all;                ///< Both quantised.
};

/// `inputs` are those of `spec`, with queries that see keys and with tokens
/// beyond the sink; otherwise a Failure says what is missing.
Calibration calibrate(const spec::Spec &spec, const kvc_spec_info &info,
                      const BatchInputs &inputs,
                      const CalibrationOptions &options);

} // namespace kvc

#endif // KVC_TOOLS_CALIBRATION_H
