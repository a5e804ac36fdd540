//===- Remark.h - What a pass chose, for people -----------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// One line per choice: "KERNEL: WHAT: CHOICE, why or at which cost; the
// others".
//
//===----------------------------------------------------------------------===//

#ifndef KVC_REMARK_H
#define KVC_REMARK_H

#include "kvc/Dialect/KVC/KVCDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"

namespace kvc {

/// A remark at `op`, begun with the name of its kernel where it is in one.
inline mlir::InFlightDiagnostic emitChoice(mlir::Operation *op) {
  mlir::InFlightDiagnostic remark = mlir::emitRemark(op->getLoc());
  if (auto function = op->getParentOfType<mlir::func::FuncOp>())
    if (auto kernel = function->getAttrOfType<mlir::StringAttr>(
            KVCDialect::getKernelAttrName()))
      remark << kernel.getValue() << ": ";
  return remark;
}

} // namespace kvc

#endif // KVC_REMARK_H
