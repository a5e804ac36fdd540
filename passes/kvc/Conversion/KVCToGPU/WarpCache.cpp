//===- WarpCache.cpp - Codes and metadata of a warp -----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Analysis/StoredCodes.h"
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
      .Case<LoadCodesOp, LoadScaleOp, LoadZeroOp, LoadOutlierIndicesOp,
            LoadOutlierValuesOp>([](auto op) {
        return CacheAccess{op.getCache(),    op.getKvHead(),
                           op.getToken(),    op.getValid(),
                           op.getTensor(),   unsigned(op.getPart()),
                           op.getUnaligned()};
      })
      .Case<StoreCodesOp, StoreScaleOp, StoreZeroOp, StoreOutlierIndicesOp,
            StoreOutlierValuesOp>([](auto op) {
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

  /// The same where the element of the region is another one than the tile's:
  /// that of column `index`.
  Value byteAddress(int64_t number, Value index) {
    Value at = lanes.index(tile, 't', number);
    if (valid)
      at = b.min(at, b.sub(valid, b.index(1)));
    at = b.add(token, at);
    Value bits = b.add(region.order.bits(b, 't', region.inPage(b, at)),
                       region.order.bits(b, column, index));
    return b.offset(region.pageOf(b, at), b.div(bits, 8));
  }

  /// Whether the element's token is one to read.
  Value isValid(int64_t number) {
    assert(valid && "all tokens are to be written");
    return arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                 lanes.index(tile, 't', number), valid);
  }

private:
  Emit &b;
  Lanes &lanes;
  HeadRegion region;
  WarpTile tile;
  Value token;
  Value valid; ///< Null where tokens are written: all of a tile are there.
  Value page;
  char column;
  bool isInPage;
};

int64_t tokensOf(Type tile) {
  return hasDim(tile, "t") ? extentOf(tile, "t") : 1;
}

/// The type in memory of a scale, a zero, or of an outlier.
Type storedType(MLIRContext *context, const CacheAccess &access,
                layout::RegionKind kind) {
  if (kind == layout::RegionKind::OutlierIndices)
    return IntegerType::get(context, 16);
  if (kind == layout::RegionKind::OutlierValues)
    return Float16Type::get(context);
  spec::DType dtype = access.scheme().scale->dtype;
  if (spec::bitsOf(dtype) == 8)
    return IntegerType::get(context, 8);
  return elementTypeOf(context, dtype);
}

/// Rows of records begin anywhere.
bool isAlignedIn(const CacheAccess &access) {
  spec::Order order = access.spec().layout.order;
  return order != spec::Order::Ggml && order != spec::Order::Token;
}

/// A tile's layout with the name that a region has for its columns.
WarpTile withColumns(const WarpTile &tile, Type type) {
  layout::RegisterLayout layout = tile.layout();
  for (layout::Digits *space : {&layout.pack, &layout.reg, &layout.lane})
    for (layout::Digit &digit : *space)
      if (digit.dim != 't' && !digit.isReplicated())
        digit.dim = 'b';
  return WarpTile(layout);
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

/// Code by code, in any order; 0 where there is no token.
WarpLowering::Result WarpLowering::lowerLoadCodes(LoadCodesOp op) {
  CacheAccess access = accessOf(op);
  WarpTile tile = inPage(tileOf(op), op.getType());
  auto placesOf = [&](layout::RegionKind kind) {
    return PagePlaces(b, *lanes, region(op, kind), tile, get(access.token),
                      get(access.valid), tokensOf(op.getType()),
                      access.unaligned, 'c');
  };
  PagePlaces places = placesOf(layout::RegionKind::Codes);
  auto whereValid = [&](Value all) {
    return WarpLowering::whereValid(
        all, get(access.valid), tokensOf(op.getType()),
        [&](int64_t i) { return places.isValid(i); });
  };
  const spec::Codec &codec = access.scheme().codec;
  Type element = getElementTypeOrSelf(op.getType());
  SmallVector<Value> codes;
  if (isa<FloatType>(element)) {
    Type bits = b.getIntegerType(codec.bits);
    int64_t alignment = isAlignedIn(access) ? int64_t(codec.bits) / 8 : 1;
    for (int64_t i = 0; i < tile.size(); ++i) {
      Value stored = b.loadBytes(places.byteAddress(i), bits, alignment);
      codes.push_back(b.bitcast(stored, element));
    }
    return whereValid(collect(codes));
  }
  Type word = b.getIntegerType(16);
  auto loadField = [&](PagePlaces &from, int64_t i, int64_t width) -> Value {
    auto [pointer, bits] = from.place(i);
    Value stored =
        b.widen(b.loadBytes(b.offset(pointer, b.div(bits, 8)), b.getI8Type()),
                word, false);
    if (8 % width != 0) { // A code may end in the next byte.
      Value last = b.loadBytes(
          b.offset(pointer, b.div(b.add(bits, width - 1), 8)), b.getI8Type());
      stored = b.bitOr(stored, b.shl(b.widen(last, word, false), 8));
    }
    if (width == 8)
      return stored;
    Value shift = arith::IndexCastOp::create(b, word, b.rem(bits, 8));
    stored = arith::ShRUIOp::create(b, stored, shift);
    return b.mask(stored, (int64_t(1) << width) - 1);
  };
  int64_t width = codec.bits,
          low = layout::lowBits(access.spec().layout, codec);
  std::optional<PagePlaces> highPlaces;
  if (low < width)
    highPlaces.emplace(placesOf(layout::RegionKind::HighCodes));
  const int64_t centre = storedCentre(access.scheme());
  for (int64_t i = 0; i < tile.size(); ++i) {
    Value stored = loadField(places, i, low);
    if (highPlaces)
      stored =
          b.bitOr(stored, b.shl(loadField(*highPlaces, i, width - low), low));
    if (centre != 0)
      stored = arith::SubIOp::create(b, stored, b.splat(centre, word));
    codes.push_back(arith::TruncIOp::create(b, b.getI8Type(), stored));
  }
  return whereValid(collect(codes));
}

/// Rows from one of two places, token by token.
WarpLowering::Result WarpLowering::lowerLoadGiven(LoadGivenOp op) {
  WarpTile tile = inPage(tileOf(op), op.getType());
  const spec::Spec &raw = cast<CacheType>(op.getRaw().getType()).getSpec();
  layout::PageLayout pages =
      layout::pageLayout(raw, op.getTensor(), layout::TargetFamily::Nvptx);
  const layout::Region &codes = pages.region(layout::RegionKind::Codes);
  HeadRegion rows(b, *views, get(op.getRaw()), get(op.getKvHead()),
                  op.getTensor(), layout::RegionKind::Codes, 0, codes.storage,
                  codes.pageTokens);
  const Memory &memory = memoryOf(op.getMemref());
  int64_t bytes = memory.element.getIntOrFloatBitWidth() / 8;
  Type bits = b.getIntegerType(unsigned(bytes * 8));
  SmallVector<Value> elements(size_t(tile.size()));
  std::map<int64_t, SmallVector<int64_t>> byToken;
  for (int64_t i = 0; i < tile.size(); ++i)
    byToken[tile.index('t', i)].push_back(i);
  for (const auto &[token, numbers] : byToken) {
    auto count = int64_t(numbers.size());
    Value own = lanes->index(tile, 't', numbers.front());
    Value isOld = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, own,
                                        get(op.getCount()));
    auto load = scf::IfOp::create(b, Emit::vectorOf(count, bits), isOld,
                                  /*withElseRegion=*/true);
    auto loadAll = [&](Block *block, function_ref<Value(Value)> addressOf) {
      InsertionGuard guard(b);
      b.setInsertionPointToEnd(block);
      SmallVector<Value> loaded;
      for (int64_t i : numbers)
        loaded.push_back(b.loadBytes(addressOf(b.add(lanes->index(tile, 'c', i),
                                                     int64_t(op.getChannel()))),
                                     bits, bytes));
      Value all = collect(loaded);
      scf::YieldOp::create(b, all);
    };
    loadAll(load.thenBlock(), [&](Value channel) {
      Value at = b.add(get(op.getToken()), own);
      Value inPage = b.add(rows.order.bits(b, 't', rows.inPage(b, at)),
                           rows.order.bits(b, 'c', channel));
      return b.offset(rows.pageOf(b, at), b.div(inPage, 8));
    });
    loadAll(load.elseBlock(), [&](Value channel) {
      return address(memory, {b.add(get(op.getIndex()), own),
                              get(op.getKvHead()), channel});
    });
    for (auto [i, number] : llvm::enumerate(numbers))
      elements[size_t(number)] =
          b.bitcast(at(load.getResult(0), int64_t(i)), memory.element);
  }
  return b.toF32(collect(elements));
}

LogicalResult WarpLowering::lowerStoreCodes(StoreCodesOp op) {
  CacheAccess access = accessOf(op);
  const spec::Codec &codec = access.scheme().codec;
  Type type = op.getSource().getType();
  int64_t width = codec.bits,
          low = layout::lowBits(access.spec().layout, codec);
  const int64_t centre = storedCentre(access.scheme());
  Value source = get(op.getSource());
  if (isa<FloatType>(getElementTypeOrSelf(type)))
    source =
        b.bitcast(source, Emit::vectorOf(Emit::lanesOf(source),
                                         b.getIntegerType(unsigned(width))));
  else if (centre != 0)
    source =
        arith::AddIOp::create(b, source, b.splat(centre, source.getType()));
  if (low == width)
    return storeField(op, source, layout::RegionKind::Codes, width);
  if (failed(storeField(op, source, layout::RegionKind::Codes, low)))
    return failure();
  return storeField(op, b.shr(source, low), layout::RegionKind::HighCodes,
                    width - low);
}

/// The low `width` bits of each element of `source`.
LogicalResult WarpLowering::storeField(StoreCodesOp op, Value source,
                                       layout::RegionKind kind, int64_t width) {
  CacheAccess access = accessOf(op);
  Type type = op.getSource().getType();
  WarpTile tile = inPage(tileOf(op.getSource()), type);
  layout::PageLayout pages = layout::pageLayout(access.spec(), access.tensor,
                                                layout::TargetFamily::Nvptx);
  PagePlaces places(b, *lanes, region(op, kind), tile, get(access.token),
                    Value(), tokensOf(type), access.unaligned, 'c');
  const layout::Storage &storage = regionOf(pages, access, kind).storage;
  CacheRuns runs(tile, storage, kMostAccessBits);
  if (runs.length() * width % 8 != 0)
    runs = CacheRuns(tile, storage, std::numeric_limits<int32_t>::max());
  // Codes that share bytes with none but each other: those of a run, or of a
  // row that one lane has.
  int64_t length = runs.length();
  constexpr int64_t kCodes = 8;
  if (width < 8 && 8 % width != 0 && length % kCodes == 0)
    length = kCodes;
  bool isRow = length == access.scheme().channels();
  if (length * width % 8 != 0 && !isRow)
    return op.emitOpError("expected the codes of a byte in one lane, got ")
           << length << " of " << width << " bits";
  Value isFirst = lanes->isFirstCopy(tile.layout());
  bool isAligned = isAlignedIn(access);
  for (int64_t first = 0; first < tile.size(); first += length) {
    auto element = [&](int64_t i) {
      return runs.element((first + i) / runs.length(),
                          (first + i) % runs.length());
    };
    Value pointer = places.byteAddress(element(0));
    int64_t bytes = (length * width + 7) / 8;
    // Of pieces of a power of two of bytes.
    SmallVector<std::pair<int64_t, Value>> pieces;
    if (width >= 8) {
      SmallVector<Value> values;
      for (int64_t i = 0; i < length; ++i)
        values.push_back(at(source, element(i)));
      if (llvm::has_single_bit(uint64_t(length)))
        pieces.push_back({0, length == 1 ? values[0] : collect(values)});
      else
        for (auto [i, value] : llvm::enumerate(values))
          pieces.push_back({int64_t(i) * width / 8, value});
    } else {
      SmallVector<Value> stored = packed(source, width, length, element);
      if (llvm::has_single_bit(uint64_t(bytes)))
        pieces.push_back({0, bytes == 1 ? stored[0] : collect(stored)});
      else
        for (auto [i, byte] : llvm::enumerate(stored))
          pieces.push_back({int64_t(i), byte});
    }
    int64_t alignment = !isAligned           ? 1
                        : pieces.size() == 1 ? bytes
                                             : std::max<int64_t>(width / 8, 1);
    emitIf(b, isFirst, [&] {
      for (auto [offset, piece] : pieces)
        b.storeBytes(piece, b.offset(pointer, b.index(offset)), alignment);
    });
  }
  return success();
}

/// Bytes of codes one after the other, lowest bits first; bits beyond are 0.
SmallVector<Value>
WarpLowering::packed(Value source, int64_t width, int64_t length,
                     function_ref<int64_t(int64_t)> element) {
  SmallVector<Value> bytes;
  Type word = b.getI64Type();
  constexpr int64_t kCodes = 8; // Whole bytes.
  for (int64_t begin = 0; begin < length; begin += kCodes) {
    int64_t count = std::min(kCodes, length - begin);
    Value packed = b.splat(int64_t(0), word);
    for (int64_t i = 0; i < count; ++i) {
      Value code = b.mask(b.widen(at(source, element(begin + i)), word, false),
                          (int64_t(1) << width) - 1);
      packed = b.bitOr(packed, b.shl(code, i * width));
    }
    for (int64_t byte = 0; byte < (count * width + 7) / 8; ++byte)
      bytes.push_back(
          arith::TruncIOp::create(b, b.getI8Type(), b.shr(packed, byte * 8)));
  }
  return bytes;
}

//===----------------------------------------------------------------------===//
// Metadata
//===----------------------------------------------------------------------===//

WarpLowering::Result WarpLowering::lowerLoadMeta(Operation *op,
                                                 layout::RegionKind kind) {
  CacheAccess access = accessOf(op);
  Type type = op->getResult(0).getType();
  WarpTile given = tileOf(op->getResult(0)), tile = withColumns(given, type);
  layout::PageLayout pages = layout::pageLayout(access.spec(), access.tensor,
                                                layout::TargetFamily::Nvptx);
  const layout::Storage &storage = regionOf(pages, access, kind).storage;
  HeadRegion meta = region(op, kind);
  bool isAligned = isAlignedIn(access);
  bool isInPage = !access.unaligned && meta.page % tokensOf(type) == 0;
  PagePlaces places(b, *lanes, std::move(meta), tile, get(access.token),
                    get(access.valid), tokensOf(type), access.unaligned, 'b');
  Type stored = storedType(b.getContext(), access, kind);
  int64_t bits = stored.getIntOrFloatBitWidth();
  Type word = b.getIntegerType(unsigned(bits));
  SmallVector<Value> elements(size_t(tile.size()));
  auto define = [&](int64_t number, Value value) {
    elements[size_t(number)] = b.bitcast(value, stored);
  };
  StringRef last = dimsOf(type).back();
  bool isOutlier = kind == layout::RegionKind::OutlierIndices ||
                   kind == layout::RegionKind::OutlierValues;
  if (isOutlier && storesCodes) // Which this kernel stored.
    waitForWarp();
  if (!isOutlier && last != "t" && last != "b") {
    // Channels, each with the factor of its block.
    for (int64_t i = 0; i < tile.size(); ++i) {
      Value block = b.div(lanes->index(given, last.front(), i),
                          access.scheme().blockChannels());
      define(i, b.loadBytes(places.byteAddress(i, block), word,
                            isAligned ? bits / 8 : 1));
    }
  } else {
    CacheRuns runs(tile, storage, isInPage ? kMostAccessBits : bits);
    if (!llvm::has_single_bit(uint64_t(runs.length())))
      runs = CacheRuns(tile, storage, bits);
    for (int64_t run = 0; run < runs.size(); ++run) {
      int64_t length = runs.length();
      Value pointer = places.byteAddress(runs.element(run, 0));
      Value loaded = b.loadBytes(
          pointer, length == 1 ? word : Type(Emit::vectorOf(length, word)),
          isAligned ? length * bits / 8 : 1);
      for (int64_t i = 0; i < length; ++i)
        define(runs.element(run, i), length == 1 ? loaded : at(loaded, i));
    }
  }
  Value all = collect(elements), numbers;
  spec::DType dtype =
      isOutlier ? spec::DType::F16 : access.scheme().scale->dtype;
  if (kind == layout::RegionKind::OutlierIndices)
    numbers = arith::UIToFPOp::create(
        b, Emit::vectorOf(tile.size(), b.getF32Type()), all);
  else if (dtype == spec::DType::E8M0)
    numbers = floatmath::decodeE8M0(b, all);
  else if (dtype == spec::DType::E4M3)
    numbers = floatmath::decodeFloat(b, all, spec::kFP8E4M3);
  else
    numbers = b.toF32(all);
  return whereValid(numbers, get(access.valid), tokensOf(type),
                    [&](int64_t i) { return places.isValid(i); });
}

LogicalResult WarpLowering::lowerStoreMeta(Operation *op,
                                           layout::RegionKind kind) {
  CacheAccess access = accessOf(op);
  Value given = op->getOperand(0);
  WarpTile tile = withColumns(tileOf(given), given.getType());
  PagePlaces places(b, *lanes, region(op, kind), tile, get(access.token),
                    Value(), /*tokens=*/1, access.unaligned, 'b');
  Value source = get(given);
  Type stored = storedType(b.getContext(), access, kind);
  if (kind == layout::RegionKind::OutlierIndices)
    source =
        arith::FPToUIOp::create(b, Emit::vectorOf(tile.size(), stored), source);
  else if (kind == layout::RegionKind::OutlierValues)
    source = b.fromF32(source, stored);
  else if (access.scheme().scale->dtype == spec::DType::E8M0)
    source = floatmath::encodeE8M0(b, source);
  else if (access.scheme().scale->dtype == spec::DType::E4M3)
    source = floatmath::encodeFloat(b, source, spec::kFP8E4M3);
  else
    source = b.fromF32(source, stored);
  int64_t bytes = isAlignedIn(access) ? stored.getIntOrFloatBitWidth() / 8 : 1;
  Value isFirst = lanes->isFirstCopy(tile.layout());
  for (int64_t i = 0; i < tile.size(); ++i) {
    Value pointer = places.byteAddress(i);
    emitIf(b, isFirst, [&] { b.storeBytes(at(source, i), pointer, bytes); });
  }
  return success();
}

} // namespace kvc
