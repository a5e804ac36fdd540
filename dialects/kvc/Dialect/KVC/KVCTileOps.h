//===- KVCTileOps.h - Level 1: computing on tiles ---------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVC_KVCTILEOPS_H
#define KVC_DIALECT_KVC_KVCTILEOPS_H

#include "kvc/Dialect/KVC/KVCDialect.h"
#include "kvc/Dialect/KVC/KVCTiles.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "kvc/Dialect/KVC/KVCTileOps.h.inc"

#endif // KVC_DIALECT_KVC_KVCTILEOPS_H
