//===- KVCDialect.h - The kvc dialect ---------------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The dialect with its attributes and types. Ops are in KVCOps.h (level 0) and
// KVCTileOps.h (level 1).
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVC_KVCDIALECT_H
#define KVC_DIALECT_KVC_KVCDIALECT_H

#include "mlir/IR/Dialect.h"

#include "kvc/Dialect/KVC/KVCAttrs.h"
#include "kvc/Dialect/KVC/KVCTypes.h"

#include "kvc/Dialect/KVC/KVCDialect.h.inc"

#endif // KVC_DIALECT_KVC_KVCDIALECT_H
