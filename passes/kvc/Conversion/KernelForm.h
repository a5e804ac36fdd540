//===- KernelForm.h - What functions of tiles look like ---------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CONVERSION_KERNELFORM_H
#define KVC_CONVERSION_KERNELFORM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kvc {

/// A kernel has one block, and its tiles are its own: none comes in or goes
/// out. Says at the function what is different.
mlir::LogicalResult requireKernelForm(mlir::func::FuncOp func);

} // namespace kvc

#endif // KVC_CONVERSION_KERNELFORM_H
