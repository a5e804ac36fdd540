//===- InspectSpec.h - What a spec says -------------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_INSPECTSPEC_H
#define KVC_TOOLS_INSPECTSPEC_H

#include "kvc/spec.h"

#include <string>

namespace kvc {

/// The attention, the schemes, bytes per token, and the regions of a page.
/// `score` is the text of the score region, "" without one.
std::string inspectSpec(const kvc_spec *spec, const std::string &score,
                        bool json);

} // namespace kvc

#endif // KVC_TOOLS_INSPECTSPEC_H
