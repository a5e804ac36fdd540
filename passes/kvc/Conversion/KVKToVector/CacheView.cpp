//===- CacheView.cpp - The bytes behind a cache ---------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Conversion/KVKToVector/CacheView.h"

#include "kvc/Dialect/KVC/KVCDialect.h"
#include "kvc/Dialect/KVC/KVCTileOps.h"
#include "kvc/kernel_abi.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <cstddef>

using namespace mlir;

namespace kvc {

//===----------------------------------------------------------------------===//
// CacheViews
//===----------------------------------------------------------------------===//

Type CacheViews::pointerType() const {
  constexpr unsigned kGlobal = 1;
  Operation *op = func;
  return LLVM::LLVMPointerType::get(
      op->getContext(), family == layout::TargetFamily::Nvptx ? kGlobal : 0);
}

Value CacheViews::pointerTo(Emit &b, Value cache) {
  Value &pointer = pointers[cache];
  if (!pointer) {
    InsertionGuard guard(b);
    Type type = pointerType();
    if (auto rows = cache.getDefiningOp<RawRowsOp>()) {
      Value parent = pointerTo(b, rows.getCache());
      b.setInsertionPointAfterValue(parent);
      // The call above may have moved the map's entries.
      return pointers[cache] =
                 field(b, parent, offsetof(kvc_cache_view, raw), type);
    }
    b.setInsertionPointToStart(entry);
    pointer = UnrealizedConversionCastOp::create(b, type, cache).getResult(0);
  }
  return pointer;
}

Value CacheViews::field(Emit &b, Value pointer, int64_t bytes, Type type) {
  Value address = b.offset(pointer, b.index(bytes));
  Type stored = isa<IndexType>(type) ? b.getI64Type() : type;
  Value value = LLVM::LoadOp::create(
      b, stored, address, /*alignment=*/8, /*isVolatile=*/false,
      /*isNonTemporal=*/false, /*isInvariant=*/true);
  return isa<IndexType>(type)
             ? Value(arith::IndexCastOp::create(b, type, value))
             : value;
}

RegionView CacheViews::region(Emit &b, Value cache, spec::Tensor tensor,
                              layout::RegionKind kind, unsigned part) {
  unsigned number = layout::regionNumber(
      cast<CacheType>(cache.getType()).getSpec(), tensor, kind, part, family);
  RegionView &view = regions[{cache, number}];
  if (!view.base) {
    Value pointer = pointerTo(b, cache);
    InsertionGuard guard(b);
    b.setInsertionPointAfterValue(pointer);
    Value list =
        field(b, pointer, offsetof(kvc_cache_view, regions), pointer.getType());
    int64_t at = int64_t(number) * int64_t(sizeof(kvc_region));
    view.base = field(b, list, at + offsetof(kvc_region, base), list.getType());
    view.pageStride = field(b, list, at + offsetof(kvc_region, page_stride),
                            b.getIndexType());
    view.headStride = field(b, list, at + offsetof(kvc_region, head_stride),
                            b.getIndexType());
  }
  return view;
}

PageTable CacheViews::pageTable(Emit &b, Value cache) {
  PageTable &table = tables[cache];
  if (!table.entries) {
    Value pointer = pointerTo(b, cache);
    InsertionGuard guard(b);
    b.setInsertionPointAfterValue(pointer);
    Value given = field(b, pointer, offsetof(kvc_cache_view, page_table),
                        pointer.getType());
    Value null = LLVM::ZeroOp::create(b, pointer.getType());
    table.isAbsent =
        LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, given, null);
    table.entries = arith::SelectOp::create(b, table.isAbsent, pointer, given);
  }
  return table;
}

Value CacheViews::input(Emit &b, Value cache, size_t number) {
  Value &start = inputs[{cache, unsigned(number)}];
  if (!start) {
    Value pointer = pointerTo(b, cache);
    InsertionGuard guard(b);
    b.setInsertionPointAfterValue(pointer);
    Value list =
        field(b, pointer, offsetof(kvc_cache_view, inputs), pointer.getType());
    start = field(b, list, int64_t(number * sizeof(const float *)),
                  pointer.getType());
  }
  return start;
}

Value CacheViews::codedEnd(Emit &b, Value cache, spec::Tensor tensor) {
  Value pointer = pointerTo(b, cache);
  InsertionGuard guard(b);
  b.setInsertionPointAfterValue(pointer);
  return field(b, pointer,
               tensor == spec::Tensor::Key
                   ? offsetof(kvc_cache_view, key_coded_end)
                   : offsetof(kvc_cache_view, value_coded_end),
               b.getIndexType());
}

Value CacheViews::ringTokens(Emit &b, Value cache) {
  if (cast<CacheType>(cache.getType()).getSpec().layout.kind !=
      spec::LayoutKind::Ring)
    return {};
  Value &tokens = rings[cache];
  if (!tokens) {
    Value pointer = pointerTo(b, cache);
    InsertionGuard guard(b);
    b.setInsertionPointAfterValue(pointer);
    tokens = field(b, pointer, offsetof(kvc_cache_view, ring_tokens),
                   b.getIndexType());
  }
  return tokens;
}

LogicalResult CacheViews::finish() {
  MLIRContext *context = func.getContext();
  Type type = pointerType();
  for (BlockArgument argument : func.getArguments()) {
    if (!isa<CacheType>(argument.getType()))
      continue;
    Value pointer = pointers.lookup(argument);
    Operation *cast = pointer ? pointer.getDefiningOp() : nullptr;
    for (Operation *user : argument.getUsers())
      if (user != cast)
        return user->emitOpError("uses a cache and was not lowered");
    argument.setType(type);
    func.setArgAttr(argument.getArgNumber(), KVCDialect::getCacheViewAttrName(),
                    UnitAttr::get(context));
    if (cast) {
      pointer.replaceAllUsesWith(argument);
      cast->erase();
    }
  }
  func.setFunctionType(
      FunctionType::get(context, func.getBody().front().getArgumentTypes(),
                        func.getResultTypes()));
  return success();
}

//===----------------------------------------------------------------------===//
// PageBytes
//===----------------------------------------------------------------------===//

static int64_t extentNamed(const layout::Storage &storage, bool tokens) {
  // Tokens may start above place 0 (blocks of tokens): count those below too.
  int64_t extent = 1;
  auto cover = [&](const layout::Digit &digit) {
    if (digit.dim != 'h' && (digit.dim == 't') == tokens)
      extent = std::max(extent, digit.place * digit.count);
  };
  llvm::for_each(storage.addr, cover);
  for (const layout::Step &step : storage.steps)
    cover(step.digit);
  return extent;
}

PageBytes::PageBytes(const layout::Storage &storage)
    : width(storage.width),
      extents{extentNamed(storage, true), extentNamed(storage, false)} {
  // Heads are a run-time stride of the region.
  for (const layout::Term &term : layout::termsOf(storage))
    if (term.dim != 'h')
      terms.push_back(term);
  for (const layout::Step &step : storage.steps)
    if (step.digit.dim != 'h')
      steps.push_back(step);
}

Value PageBytes::digit(Emit &b, const layout::Digit &digit, Value index) const {
  Value value = b.div(index, digit.place);
  if (digit.place * digit.count < extents[digit.dim == 't' ? 0 : 1])
    value = b.rem(value, digit.count);
  return value;
}

Value PageBytes::bytes(Emit &b, layout::Dim dim, Value index,
                       int64_t multiple) const {
  Value total = b.index(0), below = b.index(0);
  for (const layout::Term &term : terms) {
    if (term.dim != dim || term.place * term.count <= multiple)
      continue;
    Value value = digit(b, {dim, term.place, term.count}, index);
    int64_t bits = term.stride * width;
    if (bits % 8 == 0)
      total = b.add(total, b.mul(value, bits / 8));
    else
      below = b.add(below, b.mul(value, bits));
  }
  for (const layout::Step &step : steps)
    if (step.digit.dim == dim && step.digit.place * step.digit.count > multiple)
      total = b.add(total, b.mul(digit(b, step.digit, index), step.bytes));
  return b.add(total, b.div(below, 8));
}

int64_t PageBytes::bytes(layout::Dim dim, int64_t index) const {
  return bits(dim, index) / 8;
}

int64_t PageBytes::bits(layout::Dim dim, int64_t index) const {
  int64_t bits = 0;
  for (const layout::Term &term : terms)
    if (term.dim == dim)
      bits += index / term.place % term.count * term.stride * width;
  for (const layout::Step &step : steps)
    if (step.digit.dim == dim)
      bits += index / step.digit.place % step.digit.count * step.bytes * 8;
  return bits;
}

Value PageBytes::bits(Emit &b, layout::Dim dim, Value index) const {
  Value total = b.index(0);
  for (const layout::Term &term : terms)
    if (term.dim == dim)
      total = b.add(total, b.mul(digit(b, {dim, term.place, term.count}, index),
                                 term.stride * width));
  for (const layout::Step &step : steps)
    if (step.digit.dim == dim)
      total = b.add(total, b.mul(digit(b, step.digit, index), step.bytes * 8));
  return total;
}

//===----------------------------------------------------------------------===//
// HeadRegion
//===----------------------------------------------------------------------===//

HeadRegion::HeadRegion(Emit &b, CacheViews &views, Value cache, Value kvHead,
                       spec::Tensor tensor, layout::RegionKind kind,
                       unsigned part, const layout::Storage &storage,
                       int64_t page)
    : view(views.region(b, cache, tensor, kind, part)),
      table(views.pageTable(b, cache)), order(storage), page(page),
      ring(views.ringTokens(b, cache)) {
  head = b.offset(view.base, arith::MulIOp::create(b, kvHead, view.headStride));
}

Value HeadRegion::pageOf(Emit &b, Value token) const {
  Value number = b.div(token, page);
  if (ring)
    number = arith::RemUIOp::create(b, number, b.div(ring, page));
  // Without a table entry 0 of the view itself is read and dropped: no branch.
  Value slot = arith::SelectOp::create(b, table.isAbsent, b.index(0), number);
  Value entry = LLVM::LoadOp::create(
      b, b.getI32Type(), b.offset(table.entries, b.mul(slot, 4)),
      /*alignment=*/4,
      /*isVolatile=*/false, /*isNonTemporal=*/false, /*isInvariant=*/true);
  Value looked = arith::IndexCastOp::create(b, b.getIndexType(), entry);
  Value actual = arith::SelectOp::create(b, table.isAbsent, number, looked);
  return b.offset(head, arith::MulIOp::create(b, actual, view.pageStride));
}

Value HeadRegion::tokenPointer(Emit &b, Value token, int64_t multiple) const {
  return b.offset(pageOf(b, token),
                  order.bytes(b, 't', inPage(b, token), multiple));
}

} // namespace kvc
