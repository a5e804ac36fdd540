//===- KVKOps.h - Ops of the kvk dialect ------------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVK_KVKOPS_H
#define KVC_DIALECT_KVK_KVKOPS_H

#include "kvc/Dialect/KVC/KVCDialect.h"
#include "kvc/Dialect/KVK/KVKDialect.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "kvc/Dialect/KVK/KVKOps.h.inc"

#endif // KVC_DIALECT_KVK_KVKOPS_H
