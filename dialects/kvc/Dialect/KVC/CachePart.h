//===- CachePart.h - The part of a cache that an op names -------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Checks that the verifiers of both dialects share: ops that read or write a
// cache name a tensor of its spec, a part of it, and move elements of its
// codec.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVC_CACHEPART_H
#define KVC_DIALECT_KVC_CACHEPART_H

#include "kvc/Dialect/KVC/KVCTypes.h"
#include "kvc/Spec/SchemeInputs.h"

#include "mlir/IR/Operation.h"

namespace kvc::detail {

/// The scheme of a tensor, or null after an error that the spec has none.
const spec::Scheme *schemeOrError(mlir::Operation *op, const spec::Spec &spec,
                                  spec::Tensor tensor);

/// The part of a tensor, or null after an error that there is none.
const spec::PartScheme *partOrError(mlir::Operation *op, const spec::Spec &spec,
                                    spec::Tensor tensor, int64_t part);

/// The part that an op with `cache`, `tensor` and `part` names, or null.
template <typename Op>
const spec::PartScheme *partOrError(Op op) {
  return partOrError(op, op.getCache().getType().getSpec(), op.getTensor(),
                     op.getPart());
}

/// Whether `got` is the element of the part's codes: floats of raw codecs,
/// integers of `integerBits` bits of all others.
mlir::LogicalResult verifyCodeElement(mlir::Operation *op, mlir::Type got,
                                      const spec::PartScheme &part,
                                      unsigned integerBits);

/// Whether the part takes an input with `field`, and `got` holds it: a scalar
/// where a kv head has one, else what `shaped` calls one dim of a multiple of
/// the input's elements.
mlir::LogicalResult verifySchemeInput(mlir::Operation *op,
                                      const spec::Spec &spec,
                                      spec::Tensor tensor, int64_t part,
                                      spec::RowField field, mlir::Type got,
                                      llvm::StringRef shaped);
template <typename Op>
mlir::LogicalResult verifySchemeInput(Op op, llvm::StringRef shaped) {
  mlir::Type cache = op.getCache().getType();
  return verifySchemeInput(op, llvm::cast<CacheType>(cache).getSpec(),
                           op.getTensor(), op.getPart(), op.getField(),
                           op.getType(), shaped);
}

} // namespace kvc::detail

#endif // KVC_DIALECT_KVC_CACHEPART_H
