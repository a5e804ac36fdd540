//===- MemRefShape.h - Shapes that verifiers ask for ------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The memref operands of both dialects are checked against tables of extents;
// this is the table and the one place that words its errors.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVC_MEMREFSHAPE_H
#define KVC_DIALECT_KVC_MEMREFSHAPE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace kvc::detail {

/// What an extent may be.
struct Extent {
  llvm::StringRef name;
  int64_t size = 0;
  enum Kind { Any, Static, SizeOrDynamic, Size } kind = Any;

  static Extent any(llvm::StringRef name) { return {name, 0, Any}; }
  /// Any, but static and positive.
  static Extent known(llvm::StringRef name) { return {name, 0, Static}; }
  /// `size` or dynamic.
  static Extent of(llvm::StringRef name, int64_t size) {
    return {name, size, SizeOrDynamic};
  }
  /// `size`, static.
  static Extent fixed(llvm::StringRef name, int64_t size) {
    return {name, size, Size};
  }
};

struct MemRefShape {
  llvm::SmallVector<Extent, 3> extents;
  /// Element types, any of which will do.
  llvm::SmallVector<mlir::Type, 3> elements;
  /// Whether the last dim must have stride 1.
  bool denseInner = true;

  /// Emits an error of `op` about its operand `name` if `type` is another
  /// memref.
  llvm::LogicalResult verify(mlir::Operation *op, llvm::StringRef name,
                             mlir::MemRefType type) const;
  llvm::LogicalResult verify(mlir::Operation *op, llvm::StringRef name,
                             mlir::Value value) const {
    return verify(op, name, llvm::cast<mlir::MemRefType>(value.getType()));
  }
};

} // namespace kvc::detail

#endif // KVC_DIALECT_KVC_MEMREFSHAPE_H
