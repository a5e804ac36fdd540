//===- Reports.h - What is told of kernels ----------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DRIVER_REPORTS_H
#define KVC_DRIVER_REPORTS_H

#include "kvc/Driver/Settings.h"
#include "kvc/Sim/Check/Checker.h"
#include "kvc/Sim/Machine/ObserverList.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>

namespace kvc::driver {

/// A line on stderr, "kvc-sim: " before it, whole.
void say(const std::string &text);
/// The same, but each text once in a process.
void sayOnce(const std::string &text);

/// Watches launches and tells of them. Its callers see to it that one launch
/// runs at a time.
class Reports {
public:
  explicit Reports(const Settings &settings);

  /// For the memory and launches; null if nobody wants to know.
  sim::Observer *observer() { return all.isEmpty() ? nullptr : &all; }
  /// After each launch of `blocks` blocks; `kernel` says which for a message.
  void launched(const std::string &kernel, const std::string &title,
                uint64_t blocks, const sim::LaunchResult &result);
  /// A kernel's fault, with its line of PTX.
  void fault(const std::string &title, const std::string &text,
             const sim::LaunchResult &result);
  /// At the end of the program.
  void finish();

  size_t findings() const { return told.size(); }

private:
  struct Totals {
    uint64_t launches = 0, issued = 0, sectors = 0, uniqueBytes = 0;
    uint64_t wavefronts = 0, divergences = 0, barriers = 0;
  };
  void found(const std::string &text);
  void count(const std::string &kernel);

  const Settings &settings;
  sim::Checker checker;
  sim::Counter counter;
  sim::ObserverList all;
  std::map<std::string, uint64_t> told; ///< Findings, and how often.
  std::set<std::string> checked;        ///< Kernels, by their titles.
  uint64_t checkedLaunches = 0, checkedBlocks = 0;
  std::map<std::string, Totals> totals; ///< By kernel.
};

} // namespace kvc::driver

#endif // KVC_DRIVER_REPORTS_H
