//===- Passes.h - Passes on the kvc dialect ---------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Declarations, options structs and registration of the passes in Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TRANSFORMS_PASSES_H
#define KVC_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

#include <memory>

namespace mlir::func {
class FuncOp;
} // namespace mlir::func

namespace kvc {

#define GEN_PASS_DECL
#include "kvc/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "kvc/Transforms/Passes.h.inc"

} // namespace kvc

#endif // KVC_TRANSFORMS_PASSES_H
