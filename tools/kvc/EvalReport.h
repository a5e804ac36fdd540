//===- EvalReport.h - What kvc eval prints ----------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_EVALREPORT_H
#define KVC_TOOLS_EVALREPORT_H

#include "kvc/PresetSpecs.h"

namespace kvc {

/// One spec over all inputs.
struct EvalRow {
  std::string name;
  /// Codes, scales, zeros and outliers; then with the tokens that these inputs
  /// leave raw.
  double bitsPerValue = 0, bitsHere = 0;
  double bytesPerToken = 0, smaller = 0;
  double error = 0, worstError = 0; ///< Of the output.
  int64_t worstHead = 0;
  double scoreError = 0;
  double divergence = 0; ///< Nats per query and head.
  double stepUs = 0, f16StepUs = 0;
};

struct EvalReport {
  std::vector<EvalRow> rows;
  std::vector<Refusal> refused;

  std::string asText() const;
  std::string asJson() const;
  std::string asSvg() const;
};

} // namespace kvc

#endif // KVC_TOOLS_EVALREPORT_H
