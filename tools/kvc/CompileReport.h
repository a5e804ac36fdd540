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

/// The kind of artefacts that ptxas makes; no bit of kvc_compile_artifacts.
inline constexpr uint32_t kEmitCubin = uint32_t(1) << 31;

/// An artefact that this program made of another one.
struct OwnArtifact {
  uint32_t kind;
  std::string name, data;
};

/// Everything that came out of one spec.
struct CompileResult {
  std::string spec; ///< Path.
  std::vector<ArtifactsHandle> artifacts;
  std::vector<OwnArtifact> own; ///< Instead of those of the same name.
  uint32_t hidden = 0;          ///< Kinds that were only a step.
  std::vector<std::string> remarks;
  std::vector<std::string> paths; ///< Of the artefacts, in the order of list().
  double cpuMs = 0; ///< Of the run that went furthest, printing included.

  /// The text of its PTX, hidden or not; "" without.
  std::string_view ptx() const;
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
