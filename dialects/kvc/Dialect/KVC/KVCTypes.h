//===- KVCTypes.h - Types of the kvc dialect --------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVC_KVCTYPES_H
#define KVC_DIALECT_KVC_KVCTYPES_H

#include "kvc/Dialect/KVC/KVCAttrs.h"

#include "mlir/IR/BuiltinTypes.h"

#define GET_TYPEDEF_CLASSES
#include "kvc/Dialect/KVC/KVCTypes.h.inc"

namespace kvc {
/// The MLIR type of elements of `type`: io types, raw codecs, scales that are
/// floats. E8M0 and E4M3 are stored as bytes.
mlir::Type elementTypeOf(mlir::MLIRContext *context, spec::DType type);
} // namespace kvc

#endif // KVC_DIALECT_KVC_KVCTYPES_H
