//===- KVCOps.h - Level 0: what a kernel computes ---------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVC_KVCOPS_H
#define KVC_DIALECT_KVC_KVCOPS_H

#include "kvc/Dialect/KVC/KVCDialect.h"
#include "kvc/Dialect/KVC/ScoreRegion.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "kvc/Dialect/KVC/KVCOps.h.inc"

#endif // KVC_DIALECT_KVC_KVCOPS_H
