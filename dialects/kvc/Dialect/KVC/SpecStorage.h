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
  using KeyTy = Sections;

  SpecAttrStorage(const Sections &sections, spec::Spec &&spec)
      : sections(sections), spec(std::move(spec)) {}

  const KeyTy &getAsKey() const { return sections; }
  bool operator==(const KeyTy &other) const { return sections == other; }

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

  Sections sections;
  spec::Spec spec;
};

} // namespace kvc::detail

#endif // KVC_DIALECT_KVC_SPECSTORAGE_H
