//===- SpecStorage.h - Storage of #kvc.spec ---------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The uniqued spec keeps the parsed struct beside its sections: it is parsed
// once, under the uniquer's lock, and read without any.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVC_SPECSTORAGE_H
#define KVC_DIALECT_KVC_SPECSTORAGE_H

#include "SpecJSON.h"
#include "kvc/Dialect/KVC/KVCAttrs.h"

#include "mlir/IR/AttributeSupport.h"

namespace kvc::detail {

struct SpecAttrStorage : mlir::AttributeStorage {
  using KeyTy = std::tuple<mlir::StringAttr, AttentionAttr, IOAttr, SchemeAttr,
                           SchemeAttr, SegmentsAttr, LayoutAttr>;

  SpecAttrStorage(const KeyTy &key, spec::Spec &&spec)
      : name(std::get<0>(key)), attention(std::get<1>(key)),
        io(std::get<2>(key)), key(std::get<3>(key)), value(std::get<4>(key)),
        segments(std::get<5>(key)), layout(std::get<6>(key)),
        spec(std::move(spec)) {}

  KeyTy getAsKey() const {
    return KeyTy(name, attention, io, key, value, segments, layout);
  }
  bool operator==(const KeyTy &other) const { return getAsKey() == other; }

  static SpecAttrStorage *construct(mlir::AttributeStorageAllocator &allocator,
                                    const KeyTy &key) {
    spec::Expected<spec::Spec> parsed = parseSections(key);
    // SpecAttr::verify has parsed the same text; only a C++ caller that skips
    // it can get here with an invalid spec.
    if (!parsed)
      llvm::report_fatal_error(llvm::Twine("invalid #kvc.spec: ") +
                               parsed.error().str());
    return new (allocator.allocate<SpecAttrStorage>())
        SpecAttrStorage(key, std::move(*parsed));
  }

  mlir::StringAttr name;
  AttentionAttr attention;
  IOAttr io;
  SchemeAttr key, value;
  SegmentsAttr segments;
  LayoutAttr layout;
  spec::Spec spec;
};

} // namespace kvc::detail

#endif // KVC_DIALECT_KVC_SPECSTORAGE_H
