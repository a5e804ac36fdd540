//===- SimWatch.h - What kvc sim tells of a launch --------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_SIMWATCH_H
#define KVC_TOOLS_SIMWATCH_H

#include "kvc/Json.h"
#include "kvc/Sim/Check/Checker.h"
#include "kvc/Sim/Count/Report.h"
#include "kvc/Sim/Machine/ObserverList.h"

namespace kvc {

struct SimWatchOptions {
  bool counts = false, listing = false;
  /// Those that --check names. Deadlocks and failed assertions are told always.
  sim::FindingKinds checks = {sim::Finding::Kind::Deadlock,
                              sim::Finding::Kind::Assert};
  std::string ptxas; ///< A file with the output of ptxas -v.
};

/// "race,sync" and the like: the kinds that the checks find.
void addChecks(const std::string &text, sim::FindingKinds &kinds);
/// All that --check may name.
std::string allChecks();

/// Counts and checks one launch, as the options say.
class SimWatch {
public:
  explicit SimWatch(const SimWatchOptions &options);

  /// For the memory and the launch; null if nobody wants to know.
  sim::Observer *observer() { return all.isEmpty() ? nullptr : &all; }

  /// Whether a finding of that kind is told.
  bool tells(sim::Finding::Kind kind) const { return options.checks.has(kind); }
  /// Something that the checker did not see.
  void add(sim::Finding finding) { others.push_back(std::move(finding)); }
  /// Whether the launch was watched for what the checker finds.
  bool isChecked() const { return hasChecker; }
  size_t findings() const { return checker.findings().size() + others.size(); }

  /// After the launch.
  std::string text(std::string_view kernel) const;
  void addTo(Json &json, std::string_view kernel) const;
  /// The findings alone, one a line.
  std::string findingsText() const;

private:
  std::optional<sim::PtxasReport> ptxas(std::string_view kernel) const;
  std::vector<sim::Finding> allFindings() const;

  SimWatchOptions options;
  sim::Counter counter;
  sim::Checker checker;
  bool hasChecker = false;
  sim::ObserverList all;
  std::string ptxasOutput;
  std::vector<sim::Finding> others;
};

} // namespace kvc

#endif // KVC_TOOLS_SIMWATCH_H
