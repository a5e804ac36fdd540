//===- KVCAttrs.h - Attributes of the kvc dialect ---------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVC_KVCATTRS_H
#define KVC_DIALECT_KVC_KVCATTRS_H

#include "kvc/Spec/SchemeInputs.h"
#include "kvc/Spec/Spec.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"

#include "kvc/Dialect/KVC/KVCEnums.h.inc"

namespace kvc {
namespace detail {
struct SpecAttrStorage;
} // namespace detail

// How enums of the spec are written in the IR: as in spec files.
llvm::StringRef stringifyTensor(spec::Tensor tensor);
std::optional<spec::Tensor> symbolizeTensor(llvm::StringRef text);
llvm::StringRef stringifyZeroKind(spec::Zero zero);
/// "none", "min" or "code".
std::optional<spec::Zero> symbolizeZeroKind(llvm::StringRef text);
llvm::StringRef stringifyRoundType(spec::DType type);
/// "f16", "bf16" or "f32".
std::optional<spec::DType> symbolizeRoundType(llvm::StringRef text);

/// Names of the float codecs that are not raw.
llvm::StringRef stringifyFloatFormat(spec::CodecKind kind);
std::optional<spec::CodecKind> symbolizeFloatFormat(llvm::StringRef text);

/// Names of what kernels read of a scheme's inputs.
llvm::StringRef stringifyRowField(spec::RowField field);
std::optional<spec::RowField> symbolizeRowField(llvm::StringRef text);
} // namespace kvc

#define GET_ATTRDEF_CLASSES
#include "kvc/Dialect/KVC/KVCAttrs.h.inc"

#endif // KVC_DIALECT_KVC_KVCATTRS_H
