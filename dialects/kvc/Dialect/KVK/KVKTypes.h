//===- KVKTypes.h - Types of the kvk dialect --------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVK_KVKTYPES_H
#define KVC_DIALECT_KVK_KVKTYPES_H

#include "kvc/Dialect/KVC/KVCAttrs.h"
#include "kvc/Dialect/KVK/KVKAttrs.h"

#include "mlir/IR/BuiltinTypes.h"

#define GET_TYPEDEF_CLASSES
#include "kvc/Dialect/KVK/KVKTypes.h.inc"

#endif // KVC_DIALECT_KVK_KVKTYPES_H
