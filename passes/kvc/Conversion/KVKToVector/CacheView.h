//===- CacheView.h - The bytes behind a cache -------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A cache is a pointer to a kvc_cache_view. Its fields are loaded once, where
// the function begins; pages are looked up in the page table, or are their own
// number where there is none. In-page bytes are the terms of the storage's
// digits. The raw rows of a cache are another view, which its own points to.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CONVERSION_KVKTOVECTOR_CACHEVIEW_H
#define KVC_CONVERSION_KVKTOVECTOR_CACHEVIEW_H

#include "kvc/Conversion/KVKToVector/Emit.h"
#include "kvc/Layout/PageLayout.h"
#include "kvc/Spec/Spec.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

namespace kvc {

/// kvc_region as SSA values.
struct RegionView {
  Value base, pageStride, headStride; ///< Pointer, index, index.
};

struct PageTable {
  Value entries;  ///< Pointer that may be read at entry 0 even without a table.
  Value isAbsent; ///< i1.
};

/// The caches of one function.
class CacheViews {
public:
  explicit CacheViews(mlir::func::FuncOp func)
      : CacheViews(func, layout::TargetFamily::Host, &func.getBody().front()) {}
  /// Fields are loaded where `entry` begins.
  CacheViews(mlir::func::FuncOp func, layout::TargetFamily family,
             mlir::Block *entry)
      : func(func), family(family), entry(entry) {}

  RegionView region(Emit &b, Value cache, spec::Tensor tensor,
                    layout::RegionKind kind, unsigned part);
  PageTable pageTable(Emit &b, Value cache);
  /// Where input `number` of the spec's schemes begins.
  Value input(Emit &b, Value cache, size_t number);
  /// Where the codes of a tensor end.
  Value codedEnd(Emit &b, Value cache, spec::Tensor tensor);
  /// Tokens of a ring; null for other kinds.
  Value ringTokens(Emit &b, Value cache);
  /// Turns parameters of type !kvc.cache into marked pointers. Whatever still
  /// uses one afterwards is reported.
  mlir::LogicalResult finish();

private:
  Value pointerTo(Emit &b, Value cache);
  Value field(Emit &b, Value pointer, int64_t bytes, Type type);

  /// Of GPUs: device memory.
  Type pointerType() const;

  mlir::func::FuncOp func;
  layout::TargetFamily family;
  mlir::Block *entry;
  llvm::MapVector<Value, Value> pointers; ///< Cache -> cast to a pointer.
  llvm::DenseMap<std::pair<Value, unsigned>, RegionView> regions;
  llvm::DenseMap<Value, PageTable> tables;
  llvm::DenseMap<std::pair<Value, unsigned>, Value> inputs;
  llvm::DenseMap<Value, Value> rings;
};

/// In-page bytes of a storage order.
class PageBytes {
public:
  explicit PageBytes(const layout::Storage &storage);

  /// Bytes that the digits of `dim` add at `index`, a multiple of `multiple`.
  /// Digits below `multiple` add nothing. Below a byte the rest is dropped.
  Value bytes(Emit &b, layout::Dim dim, Value index,
              int64_t multiple = 1) const;
  /// The same for a constant.
  int64_t bytes(layout::Dim dim, int64_t index) const;
  /// The same in bits, nothing dropped.
  Value bits(Emit &b, layout::Dim dim, Value index) const;
  int64_t bits(layout::Dim dim, int64_t index) const;

  unsigned width;

private:
  /// The digit [place, place * count) of an index in `dim`.
  Value digit(Emit &b, const layout::Digit &digit, Value index) const;

  std::vector<layout::Term> terms;
  std::vector<layout::Step> steps;
  int64_t extents[2]; ///< Of t and of the other dim.
};

/// One region of one kv head: pages and tokens.
struct HeadRegion {
  RegionView view;
  PageTable table;
  PageBytes order;
  int64_t page; ///< Tokens.
  Value ring;   ///< Tokens of a ring; null for other kinds.
  Value head;   ///< Pointer to page 0.

  HeadRegion(Emit &b, CacheViews &views, Value cache, Value kvHead,
             spec::Tensor tensor, layout::RegionKind kind, unsigned part,
             const layout::Storage &storage, int64_t page);

  /// Pointer to the page of `token`.
  Value pageOf(Emit &b, Value token) const;
  Value inPage(Emit &b, Value token) const { return b.rem(token, page); }
  /// Pointer to the first element of `token` (a multiple of `multiple`).
  Value tokenPointer(Emit &b, Value token, int64_t multiple = 1) const;
};

} // namespace kvc

#endif // KVC_CONVERSION_KVKTOVECTOR_CACHEVIEW_H
