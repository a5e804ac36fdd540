//===- WarpCache.cpp - Codes and metadata of a warp -----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Conversion/ExpandMath/FloatCodes.h"
#include "kvc/Conversion/KVCToGPU/CacheRuns.h"
#include "kvc/Conversion/KVCToGPU/WarpLowering.h"
#include "kvc/Dialect/KVC/KVCTypes.h"
#include "kvc/Layout/PageLayout.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kvc {

namespace {

constexpr int64_t kMostBits = 128; ///< Of one access of a lane.

/// Tensor, part, first token and head of any op on a cache.
struct CacheAccess {
  Value cache, kvHead, token, valid;
  spec::Tensor tensor;
  unsigned part;
  bool unaligned = false;

  const spec::Spec &spec() const {
    return cast<CacheType>(cache.getType()).getSpec();
  }
  const spec::PartScheme &scheme() const {
    return spec::schemeOf(spec(), tensor)->parts[part];
  }
};

CacheAccess accessOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, CacheAccess>(op)
      .Case<LoadCodesOp, LoadScaleOp, LoadZeroOp>([](auto op) {
        return CacheAccess{op.getCache(),    op.getKvHead(),
                           op.getToken(),    op.getValid(),
                           op.getTensor(),   unsigned(op.getPart()),
                           op.getUnaligned()};
      })
      .Case<StoreCodesOp, StoreScaleOp, StoreZeroOp>([](auto op) {
        return CacheAccess{op.getCache(),  op.getKvHead(),
                           op.getToken(),  Value(),
                           op.getTensor(), unsigned(op.getPart())};
      });
}

const layout::Region &regionOf(const layout::PageLayout &pages,
                               const CacheAccess &access,
                               layout::RegionKind kind) {
  return pages.region(kind, access.part);
}

/// Addresses of elements of a tile, which lies in one page or does not.
class PagePlaces {
public:
  PagePlaces(Emit &b, Lanes &lanes, HeadRegion region, const WarpTile &tile,
             Value token, Value valid, int64_t tokens, bool unaligned,
             char column)
      : b(b), lanes(lanes), region(std::move(region)), tile(tile), token(token),
        valid(valid), column(column),
        isInPage(!unaligned && this->region.page % tokens == 0) {
    if (isInPage)
      page = this->region.tokenPointer(b, token);
  }

  /// A pointer and the bits from it to an element.
  std::pair<Value, Value> place(int64_t number) {
    const PageBytes &order = region.order;
    // Digits of lanes and of elements are apart, so that their bits add up.
    Value lane = order.bits(b, column, lanes.begin(tile.layout(), column));
    int64_t own = order.bits(column, tile.index(column, number));
    if (isInPage) {
      own += order.bits('t', tile.index('t', number));
      lane = b.add(lane, order.bits(b, 't', lanes.begin(tile.layout(), 't')));
      return {page, b.add(lane, own)};
    }
    // Tokens beyond the valid ones need not have a page.
    Value at = lanes.index(tile, 't', number);
    if (valid)
      at = b.min(at, b.sub(valid, b.index(1)));
    at = b.add(token, at);
    Value inPage = order.bits(b, 't', region.inPage(b, at));
    return {region.pageOf(b, at), b.add(b.add(inPage, lane), own)};
  }

  Value byteAddress(int64_t number) {
    auto [pointer, bits] = place(number);
    return b.offset(pointer, b.div(bits, 8));
  }

  /// Whether the element's token is one to read; null where all are.
  Value isValid(int64_t number) {
    if (!valid)
      return {};
    return arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                 lanes.index(tile, 't', number), valid);
  }

private:
  Emit &b;
  Lanes &lanes;
  HeadRegion region;
  WarpTile tile;
  Value token, valid, page;
  char column;
  bool isInPage;
};

int64_t tokensOf(Type tile) {
  return hasDim(tile, "t") ? extentOf(tile, "t") : 1;
}

/// The type in memory of a scale.
Type storedType(MLIRContext *context, spec::DType dtype) {
  if (spec::bitsOf(dtype) == 8)
    return IntegerType::get(context, 8);
  return elementTypeOf(context, dtype);
}

} // namespace

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

HeadRegion WarpLowering::region(Operation *op, layout::RegionKind kind) {
  CacheAccess access = accessOf(op);
  layout::PageLayout pages = layout::pageLayout(access.spec(), access.tensor,
                                                layout::TargetFamily::Nvptx);
  const layout::Region &found = regionOf(pages, access, kind);
  return HeadRegion(b, *views, get(access.cache), get(access.kvHead),
                    access.tensor, kind, access.part, found.storage,
                    found.pageTokens);
}

/// Code by code: for kernels that read a few tokens, in any order.
WarpLowering::Result WarpLowering::lowerLoadCodes(LoadCodesOp op) {
  CacheAccess access = accessOf(op);
  WarpTile tile = inPage(tileOf(op), op.getType());
  PagePlaces places(b, *lanes, region(op, layout::RegionKind::Codes), tile,
                    get(access.token), get(access.valid),
                    tokensOf(op.getType()), access.unaligned, 'c');
  const spec::Codec &codec = access.scheme().codec;
  Type element = getElementTypeOrSelf(op.getType());
  SmallVector<Value> codes;
  for (int64_t i = 0; i < tile.size(); ++i) {
    if (isa<FloatType>(element)) {
      Type bits = b.getIntegerType(codec.bits);
      Value stored =
          b.loadBytes(places.byteAddress(i), bits, int64_t(codec.bits) / 8);
      if (Value isValid = places.isValid(i))
        stored = arith::SelectOp::create(b, isValid, stored,
                                         b.splat(int64_t(0), bits));
      codes.push_back(b.bitcast(stored, element));
      continue;
    }
    auto [pointer, bits] = places.place(i);
    int64_t width = codec.bits;
    Type word = b.getIntegerType(16);
    Value stored =
        b.widen(b.loadBytes(b.offset(pointer, b.div(bits, 8)), b.getI8Type()),
                word, false);
    if (8 % width != 0) { // A code may end in the next byte.
      Value last = b.loadBytes(
          b.offset(pointer, b.div(b.add(bits, width - 1), 8)), b.getI8Type());
      stored = b.bitOr(stored, b.shl(b.widen(last, word, false), 8));
    }
    if (width < 8) {
      Value shift = arith::IndexCastOp::create(b, word, b.rem(bits, 8));
      stored = arith::ShRUIOp::create(b, stored, shift);
      stored = b.mask(stored, (int64_t(1) << width) - 1);
    }
    bool isCentred = codec.isInt() &&
                     !(width == 8 && access.scheme().zero == spec::Zero::None);
    if (isCentred)
      stored = arith::SubIOp::create(b, stored,
                                     b.splat(int64_t(1) << (width - 1), word));
    codes.push_back(arith::TruncIOp::create(b, b.getI8Type(), stored));
  }
  return collect(codes);
}

LogicalResult WarpLowering::lowerStoreCodes(StoreCodesOp op) {
  CacheAccess access = accessOf(op);
  Type type = op.getSource().getType();
  WarpTile tile = inPage(tileOf(op.getSource()), type);
  HeadRegion codes = region(op, layout::RegionKind::Codes);
  layout::PageLayout pages = layout::pageLayout(access.spec(), access.tensor,
                                                layout::TargetFamily::Nvptx);
  const layout::Storage &storage =
      regionOf(pages, access, layout::RegionKind::Codes).storage;
  PagePlaces places(b, *lanes, std::move(codes), tile, get(access.token),
                    Value(), tokensOf(type), access.unaligned, 'c');
  CacheRuns runs(tile, storage, kMostBits);
  const spec::Codec &codec = access.scheme().codec;
  int64_t width = codec.bits, length = runs.length();
  if (length * width % 8 != 0)
    return op.emitOpError("expected the codes of a byte in one lane, got ")
           << length << " of " << width << " bits";
  // Whole bytes of what may be no power of two of them.
  if (8 % width != 0 && width < 8)
    length = 8;
  bool isCentred = codec.isInt() &&
                   !(width == 8 && access.scheme().zero == spec::Zero::None);
  Value source = get(op.getSource());
  if (isa<FloatType>(getElementTypeOrSelf(type)))
    source =
        b.bitcast(source, Emit::vectorOf(Emit::lanesOf(source),
                                         b.getIntegerType(unsigned(width))));
  else if (isCentred)
    source = arith::AddIOp::create(
        b, source, b.splat(int64_t(1) << (width - 1), source.getType()));
  Value isFirst = lanes->isFirstCopy(tile.layout());
  for (int64_t first = 0; first < tile.size(); first += length) {
    auto element = [&](int64_t i) {
      return runs.element((first + i) / runs.length(),
                          (first + i) % runs.length());
    };
    Value pointer = places.byteAddress(element(0));
    int64_t bytes = length * width / 8;
    // Of pieces of a power of two of bytes.
    SmallVector<std::pair<int64_t, Value>> pieces;
    if (width >= 8) {
      SmallVector<Value> values;
      for (int64_t i = 0; i < length; ++i)
        values.push_back(at(source, element(i)));
      pieces.push_back({0, length == 1 ? values[0] : collect(values)});
    } else {
      SmallVector<Value> stored;
      Type word = b.getI64Type();
      int64_t perWord = std::min<int64_t>(length, 8);
      for (int64_t begin = 0; begin < length; begin += perWord) {
        Value packed = b.splat(int64_t(0), word);
        for (int64_t i = 0; i < perWord; ++i) {
          Value code =
              b.mask(b.widen(at(source, element(begin + i)), word, false),
                     (int64_t(1) << width) - 1);
          packed = b.bitOr(packed, b.shl(code, i * width));
        }
        for (int64_t byte = 0; byte < perWord * width / 8; ++byte)
          stored.push_back(arith::TruncIOp::create(b, b.getI8Type(),
                                                   b.shr(packed, byte * 8)));
      }
      if (llvm::has_single_bit(uint64_t(bytes)))
        pieces.push_back({0, bytes == 1 ? stored[0] : collect(stored)});
      else
        for (auto [i, byte] : llvm::enumerate(stored))
          pieces.push_back({int64_t(i), byte});
    }
    emitIf(b, isFirst, [&] {
      for (auto [offset, piece] : pieces)
        b.storeBytes(piece, b.offset(pointer, b.index(offset)),
                     pieces.size() == 1 ? bytes : 1);
    });
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Metadata
//===----------------------------------------------------------------------===//

WarpLowering::Result WarpLowering::lowerLoadMeta(Operation *op,
                                                 layout::RegionKind kind) {
  CacheAccess access = accessOf(op);
  Type type = op->getResult(0).getType();
  for (StringRef dim : dimsOf(type))
    if (dim != "t" && dim != "b")
      return op->emitOpError(
          "factors of channels are not lowered for GPUs yet");
  if (access.scheme().scale->tokens != 1)
    return op->emitOpError(
        "scale blocks of several tokens are not lowered for GPUs yet");
  WarpTile tile = tileOf(op->getResult(0));
  layout::PageLayout pages = layout::pageLayout(access.spec(), access.tensor,
                                                layout::TargetFamily::Nvptx);
  const layout::Storage &storage = regionOf(pages, access, kind).storage;
  HeadRegion meta = region(op, kind);
  bool isInPage = !access.unaligned && meta.page % tokensOf(type) == 0;
  PagePlaces places(b, *lanes, std::move(meta), tile, get(access.token),
                    get(access.valid), tokensOf(type), access.unaligned, 'b');
  spec::DType dtype = access.scheme().scale->dtype;
  Type stored = storedType(b.getContext(), dtype);
  int64_t bits = stored.getIntOrFloatBitWidth();
  CacheRuns runs(tile, storage, isInPage ? kMostBits : bits);
  Type word = b.getIntegerType(unsigned(bits));
  SmallVector<Value> elements(size_t(tile.size()));
  for (int64_t run = 0; run < runs.size(); ++run) {
    int64_t length = runs.length();
    Value pointer = places.byteAddress(runs.element(run, 0));
    Value loaded = b.loadBytes(
        pointer, length == 1 ? word : Type(Emit::vectorOf(length, word)),
        length * bits / 8);
    for (int64_t i = 0; i < length; ++i) {
      int64_t number = runs.element(run, i);
      Value value = length == 1 ? loaded : at(loaded, i);
      value = arith::SelectOp::create(b, places.isValid(number), value,
                                      b.splat(int64_t(0), word));
      elements[size_t(number)] = b.bitcast(value, stored);
    }
  }
  Value all = collect(elements);
  if (dtype == spec::DType::E8M0)
    return floatmath::decodeE8M0(b, all);
  if (dtype == spec::DType::E4M3)
    return floatmath::decodeFloat(b, all, spec::kFP8E4M3);
  return b.toF32(all);
}

LogicalResult WarpLowering::lowerStoreMeta(Operation *op,
                                           layout::RegionKind kind) {
  CacheAccess access = accessOf(op);
  Value given = op->getOperand(0);
  WarpTile tile = tileOf(given);
  HeadRegion meta = region(op, kind);
  int64_t tokens = access.scheme().scale->tokens;
  PagePlaces places(b, *lanes, std::move(meta), tile, get(access.token),
                    Value(), tokens, access.unaligned, 'b');
  spec::DType dtype = access.scheme().scale->dtype;
  Value source = get(given);
  if (dtype == spec::DType::E8M0)
    source = floatmath::encodeE8M0(b, source);
  else if (dtype == spec::DType::E4M3)
    source = floatmath::encodeFloat(b, source, spec::kFP8E4M3);
  else
    source = b.fromF32(source, elementTypeOf(b.getContext(), dtype));
  int64_t bytes = spec::bitsOf(dtype) / 8;
  Value isFirst = lanes->isFirstCopy(tile.layout());
  for (int64_t i = 0; i < tile.size(); ++i) {
    Value pointer = places.byteAddress(i);
    emitIf(b, isFirst, [&] { b.storeBytes(at(source, i), pointer, bytes); });
  }
  return success();
}

} // namespace kvc
