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
#include "kvc/Sim/ObserverList.h"

namespace kvc {

struct SimWatchOptions {
  bool counts = false, checks = false, listing = false;
  std::string ptxas; ///< A file with the output of ptxas -v.
};

/// Counts and checks one launch, as the options say.
class SimWatch {
public:
  explicit SimWatch(const SimWatchOptions &options);

  /// For the memory and the launch; null if nobody wants to know.
  sim::Observer *observer() { return all.isEmpty() ? nullptr : &all; }

  /// Something that the checker itself cannot see.
  void add(std::string_view kind, const std::string &message) {
    others.emplace_back(kind, message);
  }
  size_t findings() const { return checker.findings().size() + others.size(); }

  /// After the launch.
  std::string text(std::string_view kernel) const;
  void addTo(Json &json, std::string_view kernel) const;
  /// The findings alone, one a line.
  std::string findingsText() const;

private:
  std::optional<sim::PtxasReport> ptxas(std::string_view kernel) const;

  SimWatchOptions options;
  sim::Counter counter;
  sim::Checker checker;
  sim::ObserverList all;
  std::string ptxasOutput;
  std::vector<std::pair<std::string, std::string>> others;
};

} // namespace kvc

#endif // KVC_TOOLS_SIMWATCH_H
