//===- MemRefShape.cpp - Shapes that verifiers ask for --------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "MemRefShape.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace kvc::detail {

static void printExtents(InFlightDiagnostic &diagnostic,
                         ArrayRef<Extent> extents) {
  diagnostic << '[';
  llvm::interleaveComma(extents, diagnostic, [&](const Extent &extent) {
    diagnostic << extent.name;
    if (extent.kind == Extent::Size || extent.kind == Extent::SizeOrDynamic)
      diagnostic << " = " << extent.size;
  });
  diagnostic << ']';
}

static bool accepts(const Extent &extent, int64_t got) {
  switch (extent.kind) {
  case Extent::Any:
    return true;
  case Extent::Static:
    return got > 0; // kDynamic is negative.
  case Extent::SizeOrDynamic:
    return ShapedType::isDynamic(got) || got == extent.size;
  case Extent::Size:
    return got == extent.size;
  }
  llvm_unreachable("every kind of extent is handled");
}

LogicalResult MemRefShape::verify(Operation *op, StringRef name,
                                  MemRefType type) const {
  bool fits = type.getRank() == static_cast<int64_t>(extents.size());
  if (fits)
    for (auto [extent, got] : llvm::zip_equal(extents, type.getShape()))
      fits &= accepts(extent, got);
  if (!fits) {
    InFlightDiagnostic diagnostic = op->emitOpError()
                                    << name << ": expected shape ";
    printExtents(diagnostic, extents);
    return diagnostic << ", got " << type;
  }
  if (!llvm::is_contained(elements, type.getElementType())) {
    InFlightDiagnostic diagnostic = op->emitOpError()
                                    << name << ": expected elements ";
    llvm::interleave(elements, diagnostic, " or ");
    return diagnostic << ", got " << type.getElementType();
  }
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return op->emitOpError()
           << name << ": expected a strided layout, got " << type;
  if (denseInner && strides.back() != 1)
    return op->emitOpError()
           << name << ": expected a dense last dim, got " << type;
  return success();
}

} // namespace kvc::detail
