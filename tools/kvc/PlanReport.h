//===- PlanReport.h - What kvc plan prints ----------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_PLANREPORT_H
#define KVC_TOOLS_PLANREPORT_H

#include "kvc/ModelConfig.h"
#include "kvc/planning.h"

#include <optional>
#include <utility>

namespace kvc {

struct PlannedGroup {
  int64_t layers, window, page;
  double bitsPerValue;
  kvc_group_memory memory; ///< Of a sequence of the planned context.
};

struct PlannedScheme {
  std::string name;
  double tokenBytes = 0; ///< Of a coded token in all groups.
  std::vector<PlannedGroup> groups;
  std::optional<kvc_memory_plan> plan; ///< Nothing: not one sequence fits.
  int64_t context = 0;
  bool fits = false;
  /// Contexts and how many users of each fit.
  std::vector<std::pair<int64_t, int64_t>> curve;
};

struct PlanReport {
  std::optional<ModelConfig> model;
  int64_t memory = 0, append = 0;
  std::vector<PlannedScheme> schemes;
  std::vector<std::pair<std::string, std::string>> refused;

  std::string asText() const;
  std::string asJson() const;
  std::string asSvg() const;
};

} // namespace kvc

#endif // KVC_TOOLS_PLANREPORT_H
