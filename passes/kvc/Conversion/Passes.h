//===- Passes.h - Passes that leave a dialect -------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CONVERSION_PASSES_H
#define KVC_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

#include <memory>

namespace kvc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "kvc/Conversion/Passes.h.inc"

} // namespace kvc

#endif // KVC_CONVERSION_PASSES_H
