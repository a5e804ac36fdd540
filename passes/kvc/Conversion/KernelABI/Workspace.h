//===- Workspace.h - Scratch that no stack holds ----------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CONVERSION_KERNELABI_WORKSPACE_H
#define KVC_CONVERSION_KERNELABI_WORKSPACE_H

#include "llvm/ADT/StringRef.h"

namespace mlir::func {
class FuncOp;
} // namespace mlir::func

namespace kvc {

/// On a kernel's function: i64, what kvc_kernel_info says under that name.
inline constexpr llvm::StringLiteral kWorkspaceBytesAttrName =
    "kvc.workspace_bytes";

/// Where the buffers of a kernel together are too large for the stack of a
/// thread, moves the largest ones into the workspace, which is the kernel's
/// last parameter, memref<?xi8>, and says in that attribute how large it must
/// be. A kernel without such a parameter keeps them.
void moveScratchToWorkspace(mlir::func::FuncOp kernel);

} // namespace kvc

#endif // KVC_CONVERSION_KERNELABI_WORKSPACE_H
