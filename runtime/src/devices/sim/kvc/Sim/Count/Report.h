//===- Report.h - Counts as text, JSON and beside the source ----*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_COUNT_REPORT_H
#define KVC_SIM_COUNT_REPORT_H

#include "kvc/Sim/Count/Devices.h"

namespace kvc::sim {

/// A table of totals, and of what they mean on each device. Without a report of
/// ptxas the occupancy is unknown.
std::string countsAsText(const Counts &counts,
                         const std::optional<PtxasReport> &ptxas);

/// Totals and lines as one JSON object, keys as in the text.
std::string countsAsJson(const Counts &counts,
                         const std::optional<PtxasReport> &ptxas);

/// The kernel's lines of PTX with counts before them.
std::string annotatedListing(const Counts &counts);

} // namespace kvc::sim

#endif // KVC_SIM_COUNT_REPORT_H
