//===- KVKAttrs.h - Attributes of the kvk dialect ---------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVK_KVKATTRS_H
#define KVC_DIALECT_KVK_KVKATTRS_H

#include "kvc/Layout/Layout.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"

#include "kvc/Dialect/KVK/KVKEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "kvc/Dialect/KVK/KVKAttrs.h.inc"

#endif // KVC_DIALECT_KVK_KVKATTRS_H
