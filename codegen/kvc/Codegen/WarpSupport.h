//===- WarpSupport.h - What compiles for GPUs -------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CODEGEN_WARPSUPPORT_H
#define KVC_CODEGEN_WARPSUPPORT_H

#include "kvc/Spec/Spec.h"

namespace kvc {

/// The property of a valid spec that no pass lowers for the warps of a GPU yet,
/// as the end of a message; null where there is none.
const char *unsupportedOnWarps(const spec::Spec &spec);

} // namespace kvc

#endif // KVC_CODEGEN_WARPSUPPORT_H
