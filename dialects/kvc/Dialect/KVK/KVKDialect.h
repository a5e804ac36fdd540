//===- KVKDialect.h - The kvk dialect ---------------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The dialect with its attributes and types; ops are in KVKOps.h.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVK_KVKDIALECT_H
#define KVC_DIALECT_KVK_KVKDIALECT_H

#include "mlir/IR/Dialect.h"

#include "kvc/Dialect/KVK/KVKAttrs.h"
#include "kvc/Dialect/KVK/KVKTypes.h"

#include "kvc/Dialect/KVK/KVKDialect.h.inc"

#endif // KVC_DIALECT_KVK_KVKDIALECT_H
