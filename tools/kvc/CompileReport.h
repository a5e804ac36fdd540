//===- CompileReport.h - What kvc compile has to say ------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_COMPILEREPORT_H
#define KVC_TOOLS_COMPILEREPORT_H

#include "kvc/Engine.h"

namespace kvc {

using ArtifactsHandle = Handle<kvc_artifacts, kvc_artifacts_free>;

/// Everything that came out of one spec.
struct CompileResult {
  std::string spec; ///< Path.
  std::vector<ArtifactsHandle> artifacts;
  std::vector<std::string> remarks;
  std::vector<std::string> paths; ///< Of the artefacts, in the order of list().
  double cpuMs = 0; ///< Of the run that went furthest, printing included.

  /// MLIR first, stage by stage, then what is made of it.
  std::vector<kvc_artifact> list() const;
  /// Of the run that went furthest.
  std::span<const kvc_phase> phases() const;
};

/// For people: the files, then the remarks, then the tables of the report.
std::string reportText(std::span<const CompileResult> results, bool remarks,
                       bool report);
std::string reportJson(std::span<const CompileResult> results, bool remarks,
                       bool report);

} // namespace kvc

#endif // KVC_TOOLS_COMPILEREPORT_H
