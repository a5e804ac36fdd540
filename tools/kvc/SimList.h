//===- SimList.h - What a PTX module holds and needs ------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_SIMLIST_H
#define KVC_TOOLS_SIMLIST_H

#include "kvc/Sim/Machine/Machine.h"

namespace kvc {

/// The kernels of a module, as a table or JSON: sizes, classes of instructions,
/// and what stands in the way of those that do not run.
std::string simList(sim::LoadedModule &module, bool asJson);

} // namespace kvc

#endif // KVC_TOOLS_SIMLIST_H
