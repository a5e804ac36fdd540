//===- KVCTypes.cpp - Types of the kvc dialect ----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Dialect/KVC/KVCDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#define GET_TYPEDEF_CLASSES
#include "kvc/Dialect/KVC/KVCTypes.cpp.inc"

using namespace mlir;

namespace kvc {

void KVCDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "kvc/Dialect/KVC/KVCTypes.cpp.inc"
      >();
}

Type elementTypeOf(MLIRContext *context, spec::DType type) {
  switch (type) {
  case spec::DType::F32:
    return Float32Type::get(context);
  case spec::DType::F16:
    return Float16Type::get(context);
  case spec::DType::BF16:
    return BFloat16Type::get(context);
  case spec::DType::E8M0:
  case spec::DType::E4M3:
    return IntegerType::get(context, 8);
  }
  llvm_unreachable("every DType has an element type");
}

} // namespace kvc
