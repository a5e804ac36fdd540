//===- RowAccess.cpp - Channels of one token in canonical order -----------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A row is cut into pieces that lie together in memory, which the digits of the
// storage decide:
//   lanes   neighbouring channels at neighbouring addresses, below them at most
//           tokens that share their words;
//   word    one word of neighbouring channels;
//   bits    eight neighbouring channels in as many bytes as a code has bits;
//   halves  bytes whose two codes are half a run of channels apart;
//   single  one element anywhere.
//
//===----------------------------------------------------------------------===//

#include "kvc/Analysis/TileOrder.h"
#include "kvc/Conversion/KVKToVector/Lowering.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;

namespace kvc {
namespace {

class RowAccess {
public:
  template <typename Op>
  RowAccess(Emit &b, CacheViews &views, Op op, VectorType row)
      : b(b),
        region(b, views, op.getCache(), op.getKvHead(), op.getTensor(),
               op.getHigh() ? layout::RegionKind::HighCodes
                            : layout::RegionKind::Codes,
               op.getPart(), op.getStorageAttr().getStorage(), *op.getPage()),
        order(region.order), channel(op.getChannel()), count(row.getDimSize(0)),
        element(row.getElementType()) {
    layout::Storage storage = op.getStorageAttr().getStorage();
    choosePiece(storage, *op.getPage());
    // The only row of a page needs no step to the next one.
    bool isApart = !storage.steps.empty() || *op.getPage() == 1;
    isPadded = isApart && count * order.width % 8 != 0 &&
               layout::extentOf(storage, 'c') == count;
    Value token = op.getToken();
    inPage = region.inPage(b, token);
    page = region.pageOf(b, token);
  }

  Value load() {
    if (width == count)
      return loadPiece(b.index(0));
    Value buffer = b.scratch(count, element);
    b.loop(b.index(0), b.index(count), width, [&](Value begin) {
      b.storeVector(loadPiece(begin), buffer, begin);
    });
    return b.loadVector(buffer, b.index(0), count);
  }

  void store(Value row) {
    if (isPadded) {
      // A whole row that ends inside of a byte: its last bits are 0.
      Value last = b.offset(
          page,
          b.div(b.add(order.bits(b, 't', inPage), count * order.width - 1), 8));
      b.storeBytes(b.splat(0, b.getI8Type()), last);
    }
    if (width == count)
      return storePiece(row, b.index(0));
    Value buffer = b.scratch(count, element);
    b.storeVector(row, buffer, b.index(0));
    b.loop(b.index(0), b.index(count), width, [&](Value begin) {
      storePiece(b.loadVector(buffer, begin, width), begin);
    });
  }

private:
  enum class Piece : uint8_t { Lanes, Word, Bits, Halves, Single };

  void choosePiece(const layout::Storage &storage, int64_t pageTokens) {
    constexpr int64_t kWidest = 64;
    if (crossesBytes(storage.width)) {
      if (count % 8 == 0) {
        piece = Piece::Bits;
        width = 8;
      }
      return;
    }
    if (int64_t half = halfOfRun(storage);
        half > 1 && count % (2 * half) == 0) {
      piece = Piece::Halves;
      width = 2 * half;
      return;
    }
    if (auto across = tileOrder(storage, 't', 'c', /*needsPairs=*/false,
                                pageTokens, count)) {
      int64_t together =
          across->isWholeRun ? count : std::gcd(count, across->run);
      together = std::min(together & -together, kWidest);
      if (together % across->perByte == 0) {
        piece = Piece::Lanes;
        width = together;
        group = across->group;
        return;
      }
    }
    auto below =
        tileOrder(storage, 'c', 't', /*needsPairs=*/false, count, pageTokens);
    if (below && below->kind == TileOrder::Kind::Words) {
      piece = Piece::Word;
      width = below->group;
      bitOf = below->bitOf;
    }
  }

  /// The channels between the two codes of a byte, where whole bytes of a run
  /// follow each other; 0 in other orders.
  static int64_t halfOfRun(const layout::Storage &storage) {
    if (storage.width != 4 || storage.addr.size() < 2 ||
        storage.addr[0].dim != 'c')
      return 0;
    int64_t run = 1;
    for (const layout::Digit &digit : llvm::drop_begin(storage.addr)) {
      if (digit.dim != 'c' || digit.place != run)
        break;
      run *= digit.count;
    }
    return storage.addr[0].place == run ? run : 0;
  }

  Type vectorOf(Type element) const { return Emit::vectorOf(width, element); }
  int64_t fieldMask() const { return (int64_t(1) << order.width) - 1; }
  bool isSubByte() const { return order.width < 8; }

  //===--------------------------------------------------------------------===//
  // Addresses
  //===--------------------------------------------------------------------===//

  /// Pointer to the piece at channel + begin. Tokens of one word share it.
  Value pointerTo(Value begin) {
    int64_t multiple = piece == Piece::Word ? width : 1;
    Value channels = order.bytes(b, 'c', b.add(channel, begin), multiple);
    Value first = group == 1 ? inPage : b.mul(b.div(inPage, group), group);
    return b.offset(b.offset(page, order.bytes(b, 't', first, group)),
                    channels);
  }

  /// Where the token's codes begin in its words, in all lanes.
  Value wordShift() {
    Value bits = order.bits(b, 't', b.rem(inPage, group));
    return b.splat(arith::IndexCastOp::create(b, b.getI32Type(), bits), width);
  }

  Value bitsInWord() {
    SmallVector<int32_t> bits(bitOf.begin(), bitOf.end());
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(Emit::vectorOf(width, b.getI32Type()),
                                  ArrayRef(bits)));
  }

  /// Pointers to the first and the last byte of a single element, and its shift
  /// in the first one.
  struct Single {
    Value first, last, shift;
  };
  Single single(Value begin) {
    Value bits = b.add(order.bits(b, 't', inPage),
                       order.bits(b, 'c', b.add(channel, begin)));
    Single at;
    at.first = b.offset(page, b.div(bits, 8));
    at.last = crossesBytes(order.width)
                  ? b.offset(page, b.div(b.add(bits, order.width - 1), 8))
                  : Value();
    at.shift = arith::IndexCastOp::create(
        b, at.last ? b.getIntegerType(16) : b.getI8Type(), b.rem(bits, 8));
    return at;
  }

  /// The bytes of a code: one, or two as i16, which may be the same one.
  Value bytesOf(const Single &at) {
    Value first = b.loadBytes(at.first, element);
    if (!at.last)
      return first;
    Type i16 = b.getIntegerType(16);
    auto wide = [&](Value byte) -> Value {
      return arith::ExtUIOp::create(b, i16, byte);
    };
    return b.bitOr(wide(first), b.shl(wide(b.loadBytes(at.last, element)), 8));
  }

  void storeBytesOf(const Single &at, Value bytes) {
    if (at.last) {
      // Of one byte for both, what the first one says remains.
      Value last = b.shr(bytes, 8);
      b.storeBytes(arith::TruncIOp::create(b, b.getI8Type(), last), at.last);
      bytes = arith::TruncIOp::create(b, b.getI8Type(), bytes);
    }
    b.storeBytes(bytes, at.first);
  }

  /// Where the codes of a Bits piece begin.
  Value bitsOfPiece() {
    SmallVector<int64_t> bits;
    for (int64_t i = 0; i < width; ++i)
      bits.push_back(i * order.width);
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(vectorOfBits(), ArrayRef(bits)));
  }
  VectorType vectorOfBits() const {
    return Emit::vectorOf(width, b.getI64Type());
  }

  /// Calls `body` for the runs of 4, 2 and 1 bytes that a Bits piece has.
  void forBytes(llvm::function_ref<void(int64_t begin, Type integer)> body) {
    int64_t begin = 0;
    for (int64_t bytes : {4, 2, 1})
      if (order.width & bytes) {
        body(begin, b.getIntegerType(unsigned(bytes) * 8));
        begin += bytes;
      }
  }

  //===--------------------------------------------------------------------===//
  // Loads
  //===--------------------------------------------------------------------===//

  Value loadPiece(Value begin) {
    Type i8 = b.getI8Type(), i32 = b.getI32Type();
    if (piece == Piece::Single) {
      Single at = single(begin);
      Value value = bytesOf(at);
      if (isSubByte())
        value = b.mask(arith::ShRUIOp::create(b, value, at.shift), fieldMask());
      if (at.last)
        value = arith::TruncIOp::create(b, i8, value);
      return b.splat(value, 1);
    }
    if (piece == Piece::Bits)
      return loadBits(begin);
    Value pointer = pointerTo(begin);
    if (piece == Piece::Halves) {
      Value bytes = b.loadBytes(pointer, Emit::vectorOf(width / 2, i8));
      SmallVector<int64_t> both = llvm::to_vector(llvm::seq<int64_t>(0, width));
      return b.shuffle(b.mask(bytes, fieldMask()), b.shr(bytes, order.width),
                       both);
    }
    if (piece == Piece::Word || group > 1) {
      Value words = piece == Piece::Word
                        ? b.splat(b.loadBytes(pointer, i32), width)
                        : b.loadBytes(pointer, vectorOf(i32));
      Value shift = piece == Piece::Word ? bitsInWord() : wordShift();
      Value field =
          b.mask(arith::ShRUIOp::create(b, words, shift), fieldMask());
      return arith::TruncIOp::create(b, vectorOf(i8), field);
    }
    if (!isSubByte())
      return b.loadBytes(pointer, vectorOf(element));
    int64_t perByte = 8 / order.width;
    Value bytes = b.loadBytes(pointer, Emit::vectorOf(width / perByte, i8));
    SmallVector<Value> fields;
    for (int64_t i = 0; i < perByte; ++i)
      fields.push_back(b.mask(b.shr(bytes, i * order.width), fieldMask()));
    return b.interleave(fields);
  }

  Value loadBits(Value begin) {
    Value pointer = pointerTo(begin), all;
    forBytes([&](int64_t first, Type integer) {
      Value bytes = arith::ExtUIOp::create(
          b, b.getI64Type(),
          b.loadBytes(b.offset(pointer, b.index(first)), integer));
      Value placed = b.shl(bytes, first * 8);
      all = all ? b.bitOr(all, placed) : placed;
    });
    Value fields =
        arith::ShRUIOp::create(b, b.splat(all, width), bitsOfPiece());
    return arith::TruncIOp::create(b, vectorOf(b.getI8Type()),
                                   b.mask(fields, fieldMask()));
  }

  //===--------------------------------------------------------------------===//
  // Stores
  //===--------------------------------------------------------------------===//

  void storeBits(Value row, Value begin) {
    Value pointer = pointerTo(begin);
    Value fields =
        b.mask(b.widen(row, b.getI64Type(), /*isSigned=*/false), fieldMask());
    Value all = vector::ReductionOp::create(
        b, vector::CombiningKind::OR,
        arith::ShLIOp::create(b, fields, bitsOfPiece()));
    forBytes([&](int64_t first, Type integer) {
      b.storeBytes(arith::TruncIOp::create(b, integer, b.shr(all, first * 8)),
                   b.offset(pointer, b.index(first)));
    });
  }

  /// old with `field << shift` in the place of the field there.
  Value replaced(Value old, Value field, Value shift) {
    Value mask =
        arith::ShLIOp::create(b, b.splat(fieldMask(), old.getType()), shift);
    Value others = arith::AndIOp::create(
        b, old, arith::XOrIOp::create(b, mask, b.splat(-1, mask.getType())));
    return b.bitOr(others, arith::ShLIOp::create(b, field, shift));
  }

  void storePiece(Value row, Value begin) {
    Type i32 = b.getI32Type();
    if (piece == Piece::Single) {
      Single at = single(begin);
      Value value = vector::ExtractOp::create(b, row, 0);
      if (isSubByte()) {
        value = b.mask(value, fieldMask());
        if (at.last)
          value = arith::ExtUIOp::create(b, b.getIntegerType(16), value);
        value = replaced(bytesOf(at), value, at.shift);
      }
      return storeBytesOf(at, value);
    }
    if (piece == Piece::Bits)
      return storeBits(row, begin);
    Value pointer = pointerTo(begin);
    if (piece == Piece::Halves) {
      Value low = b.mask(b.slice(row, 0, width / 2), fieldMask());
      Value high = b.shl(b.slice(row, width / 2, width / 2), order.width);
      return b.storeBytes(b.bitOr(low, high), pointer);
    }
    if (piece == Piece::Word || group > 1) {
      Value field = b.mask(b.widen(row, i32, /*isSigned=*/false), fieldMask());
      if (piece == Piece::Word) {
        Value parts = arith::ShLIOp::create(b, field, bitsInWord());
        return b.storeBytes(
            vector::ReductionOp::create(b, vector::CombiningKind::OR, parts),
            pointer);
      }
      return b.storeBytes(
          replaced(b.loadBytes(pointer, vectorOf(i32)), field, wordShift()),
          pointer);
    }
    if (!isSubByte())
      return b.storeBytes(row, pointer);
    int64_t perByte = 8 / order.width;
    Value bytes;
    for (int64_t i = 0; i < perByte; ++i) {
      SmallVector<int64_t> every;
      for (int64_t lane = i; lane < width; lane += perByte)
        every.push_back(lane);
      Value field = b.shl(b.mask(b.shuffle(row, row, every), fieldMask()),
                          i * order.width);
      bytes = bytes ? b.bitOr(bytes, field) : field;
    }
    b.storeBytes(bytes, pointer);
  }

  Emit &b;
  HeadRegion region;
  const PageBytes &order;
  Value channel;
  int64_t count;
  Type element;
  Piece piece = Piece::Single;
  int64_t width = 1;           ///< Channels of a piece.
  int64_t group = 1;           ///< Tokens that share a word of lanes.
  std::vector<unsigned> bitOf; ///< Word: where each channel begins.
  bool isPadded;               ///< The row ends inside of a byte.
  Value inPage, page;
};

} // namespace

Value lowerLoadRow(Emit &b, CacheViews &views, kvk::LoadRowOp op) {
  return RowAccess(b, views, op, cast<VectorType>(op.getType())).load();
}

void lowerStoreRow(Emit &b, CacheViews &views, kvk::StoreRowOp op) {
  RowAccess(b, views, op, cast<VectorType>(op.getSource().getType()))
      .store(op.getSource());
}

} // namespace kvc
