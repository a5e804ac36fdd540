//===- KVKAttrs.h - Attributes of the kvk dialect ---------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVK_KVKATTRS_H
#define KVC_DIALECT_KVK_KVKATTRS_H

#include "kvc/Layout/PageLayout.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"

#include "kvc/Dialect/KVK/KVKEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "kvc/Dialect/KVK/KVKAttrs.h.inc"

namespace kvc::kvk {

/// The region of a page that holds metadata of a kind.
inline layout::RegionKind regionOf(MetaKind kind) {
  switch (kind) {
  case MetaKind::Scale:
    return layout::RegionKind::Scales;
  case MetaKind::Zero:
    return layout::RegionKind::Zeros;
  case MetaKind::OutlierIndex:
    return layout::RegionKind::OutlierIndices;
  case MetaKind::OutlierValue:
    return layout::RegionKind::OutlierValues;
  }
  llvm_unreachable("unknown kind");
}

/// The number of an outlier's channel, or its value.
inline bool isOutlier(MetaKind kind) {
  return kind == MetaKind::OutlierIndex || kind == MetaKind::OutlierValue;
}

} // namespace kvc::kvk

#endif // KVC_DIALECT_KVK_KVKATTRS_H
