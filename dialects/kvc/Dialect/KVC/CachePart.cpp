//===- CachePart.cpp - The part of a cache that an op names ---------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "CachePart.h"
#include "kvc/Dialect/KVC/KVCAttrs.h"
#include "kvc/Dialect/KVC/KVCTypes.h"

#include "mlir/IR/BuiltinTypeInterfaces.h"

using namespace mlir;

namespace kvc::detail {

const spec::Scheme *schemeOrError(Operation *op, const spec::Spec &spec,
                                  spec::Tensor tensor) {
  const spec::Scheme *scheme = spec::schemeOf(spec, tensor);
  if (!scheme)
    op->emitOpError() << "tensor: the spec has no " << stringifyTensor(tensor)
                      << ", its value is the key";
  return scheme;
}

const spec::PartScheme *partOrError(Operation *op, const spec::Spec &spec,
                                    spec::Tensor tensor, int64_t part) {
  const spec::Scheme *scheme = schemeOrError(op, spec, tensor);
  if (!scheme)
    return nullptr;
  if (part < 0 || part >= static_cast<int64_t>(scheme->parts.size())) {
    InFlightDiagnostic error = op->emitOpError() << "part: expected 0";
    if (scheme->parts.size() > 1)
      error << " to " << scheme->parts.size() - 1;
    error << ", got " << part;
    return nullptr;
  }
  return &scheme->parts[part];
}

LogicalResult verifyCodeElement(Operation *op, Type got,
                                const spec::PartScheme &part,
                                unsigned integerBits) {
  MLIRContext *context = op->getContext();
  Type expected = part.codec.isRaw()
                      ? elementTypeOf(context, part.codec.raw)
                      : Type(IntegerType::get(context, integerBits));
  if (got != expected)
    return op->emitOpError()
           << "expected elements " << expected << " for codec "
           << spec::codecName(part.codec) << ", got " << got;
  return success();
}

LogicalResult verifySchemeInput(Operation *op, const spec::Spec &spec,
                                spec::Tensor tensor, int64_t number,
                                spec::RowField field, Type got,
                                StringRef shaped) {
  const spec::PartScheme *part = partOrError(op, spec, tensor, number);
  if (!part)
    return failure();
  if (!spec::hasField(*part, field))
    return op->emitOpError("field: the part takes no input with \"")
           << stringifyRowField(field) << "\"";
  auto type = dyn_cast<ShapedType>(got);
  if (static_cast<bool>(type) == (field == spec::RowField::Largest))
    return op->emitOpError("expected a ")
           << (type ? "scalar" : shaped) << ", got " << got;
  int64_t count = spec::rowRange(spec, tensor, size_t(number), field).count;
  if (type && type.getDimSize(0) % count != 0)
    return op->emitOpError("expected a multiple of ")
           << count << " elements, got " << type.getDimSize(0);
  return success();
}

} // namespace kvc::detail
