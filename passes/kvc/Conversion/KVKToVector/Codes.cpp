//===- Codes.cpp - Stored codes as operands of dots -----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Conversion/KVKToVector/Codes.h"

#include "kvc/Spec/Spec.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;

namespace kvc {

namespace {

// Of f16.
constexpr int kBias = 15, kMantissaBits = 10, kSignBit = 15;

/// Of byte shuffles: no byte.
constexpr int8_t kZeroByte = -128;

Value callIntrinsic(Emit &b, Type type, const Twine &name,
                    ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(b, type, b.getStringAttr(name), operands)
      .getResult(0);
}

template <typename T>
Value constantVector(Emit &b, ArrayRef<T> period, int64_t lanes, Type element) {
  SmallVector<T> values;
  for (int64_t i = 0; i < lanes; ++i)
    values.push_back(period[size_t(i) % period.size()]);
  return arith::ConstantOp::create(
      b,
      DenseElementsAttr::get(Emit::vectorOf(lanes, element), ArrayRef(values)));
}

} // namespace

Codes::Codes(kvk::WidenOp widen, const HostTarget &target)
    : bias(int64_t(widen.getBias())), target(target),
      loaded(widen.getEntries()) {
  if (auto stored =
          dyn_cast<IntegerType>(widen.getSource().getType().getElementType()))
    width = stored.getWidth();
  if (std::optional<spec::CodecKind> kind = widen.getFormat()) {
    format = &spec::formatOf(*kind);
    unit = std::ldexp(1.0, kBias - format->bias);
  }
  if (std::optional<ArrayRef<float>> entries = widen.getTable()) {
    table.assign(entries->begin(), entries->end());
    if (widen.getType().getElementType().isF32())
      return;
    unit = *kvk::WidenOp::unitOf(table);
    auto inUnits = [&](float entry) { return int64_t(entry / unit); };
    for (float entry : table)
      bias = std::max(bias, -inUnits(entry));
    for (float entry : table)
      integers.push_back(static_cast<int8_t>(inUnits(entry) + bias));
  }
}

Codes::Codes(Value table, const HostTarget &target)
    : target(target),
      width(llvm::Log2_64(static_cast<uint64_t>(Emit::lanesOf(table)))),
      loaded(table) {}

bool Codes::mayBeNaN() const {
  // The largest exponent of IEEE formats is infinity's and that of NaNs.
  return format && format->exponentBits == kSignBit - kMantissaBits;
}

Value extractField(Emit &b, Value x, unsigned bit, unsigned width,
                   bool isSigned, unsigned valid) {
  unsigned lane = getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth();
  if (isSigned)
    return b.sar(b.shl(x, lane - width - bit), lane - width);
  Value field = b.shr(x, bit);
  return bit + width >= valid ? field
                              : b.mask(field, (int64_t(1) << width) - 1);
}

/// Each lane takes the bytes that its code is in, which two shifts cut out.
Value Codes::gather(Emit &b, ArrayRef<Value> sources, ArrayRef<int64_t> bitOf,
                    unsigned laneBits) const {
  Type lane = b.getIntegerType(laneBits);
  ByteOrder order;
  SmallVector<APInt> shifts;
  for (int64_t bit : bitOf)
    for (size_t source = 0; source < sources.size(); ++source) {
      int64_t first = bit / 8, last = (bit + width - 1) / 8;
      for (unsigned byte = 0; byte < laneBits / 8; ++byte)
        order.emplace_back(source, std::min(first + byte, last));
      shifts.push_back(APInt(laneBits, laneBits - width - uint64_t(bit % 8)));
    }
  VectorType type = Emit::vectorOf(int64_t(shifts.size()), lane);
  Value fields = b.bitcast(gatherBytes(b, sources, order), type);
  Value highest = arith::ShLIOp::create(
      b, fields,
      arith::ConstantOp::create(b, DenseElementsAttr::get(type, shifts)));
  return b.shr(highest, laneBits - width);
}

/// The bytes of `order`. Those of two registers would cross 128 bits in ways
/// that backends take many instructions for: each is copied to all 128 bits
/// first.
Value Codes::gatherBytes(Emit &b, ArrayRef<Value> sources,
                         const ByteOrder &order) const {
  constexpr int64_t kRegister = 16;
  auto count = static_cast<int64_t>(order.size());
  int64_t machine = std::min(count, 4 * target.lanes());
  bool shuffles = target.lanes() >= 8 && machine % (2 * kRegister) == 0 &&
                  llvm::all_of(sources, [](Value source) {
                    return Emit::lanesOf(source) <= kRegister;
                  });
  if (sources.size() == 1 || !shuffles) {
    Value all = sources.front();
    int64_t second = Emit::lanesOf(all);
    if (sources.size() > 1)
      all = b.concat(all, sources[1]);
    SmallVector<int64_t> bytes;
    for (auto [source, byte] : order)
      bytes.push_back(byte + (source ? second : 0));
    return b.shuffle(all, all, bytes);
  }
  Value result;
  for (int64_t begin = 0; begin < count; begin += machine) {
    Value merged;
    for (auto [number, source] : llvm::enumerate(sources)) {
      SmallVector<int64_t> copies;
      SmallVector<int8_t> from;
      for (int64_t i = 0; i < machine; ++i) {
        copies.push_back(i % kRegister < Emit::lanesOf(source)
                             ? i % kRegister
                             : vector::ShuffleOp::kPoisonIndex);
        auto [ofSource, byte] = order[size_t(begin + i)];
        from.push_back(ofSource == number ? static_cast<int8_t>(byte)
                                          : kZeroByte);
      }
      Value bytes = shuffleBytes(
          b, b.shuffle(source, source, copies),
          constantVector(b, ArrayRef(from), machine, b.getI8Type()));
      merged = merged ? b.bitOr(merged, bytes) : bytes;
    }
    result = result ? b.concat(result, merged) : merged;
  }
  return result;
}

/// Of each 128 bits of `bytes` those that `from` names; kZeroByte gives 0.
Value Codes::shuffleBytes(Emit &b, Value bytes, Value from) {
  int64_t count = Emit::lanesOf(bytes);
  StringRef name = count == 64   ? "llvm.x86.avx512.pshuf.b.512"
                   : count == 32 ? "llvm.x86.avx2.pshuf.b"
                                 : "llvm.x86.ssse3.pshuf.b.128";
  return callIntrinsic(b, bytes.getType(), name, {bytes, from});
}

//===----------------------------------------------------------------------===//
// f32
//===----------------------------------------------------------------------===//

Value Codes::toF32(Emit &b, Value x, unsigned bit, unsigned valid) const {
  if (isTable())
    return permute(b, b.shr(x, bit));
  if (isFloat())
    return floatsToF32(
        b,
        arith::TruncIOp::create(
            b, Emit::vectorOf(Emit::lanesOf(x), b.getI8Type()), b.shr(x, bit)));
  return integersToF32(b, extractField(b, x, bit, width, isSigned(), valid));
}

Value Codes::integersToF32(Emit &b, Value integers) const {
  Value value = b.toF32(integers);
  return bias == 0
             ? value
             : Value(arith::SubFOp::create(
                   b, value, b.splat(double(bias), Emit::lanesOf(value))));
}

Value Codes::floatsToF32(Emit &b, Value bytes) const {
  int64_t lanes = Emit::lanesOf(bytes);
  int shift = kMantissaBits - format->mantissaBits;
  // The sign fills what the exponent lacks, and is taken off there.
  Value half =
      b.shl(b.widen(bytes, b.getIntegerType(16), /*isSigned=*/true), shift);
  if (shift < 8)
    half = b.mask(half, (1 << kSignBit) | (0x7f << shift));
  return b.toF32(b.bitcast(half, Emit::vectorOf(lanes, b.getF16Type())));
}

Value Codes::entriesFrom(Emit &b, int64_t begin, int64_t lanes) const {
  if (!loaded)
    return constantVector(b, ArrayRef(table).drop_front(size_t(begin)), lanes,
                          b.getF32Type());
  int64_t count = Emit::lanesOf(loaded);
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < lanes; ++i)
    order.push_back((begin + i) % count);
  return lanes == count && begin == 0 ? loaded
                                      : b.shuffle(loaded, loaded, order);
}

/// table[index], bits above the index ignored.
Value Codes::permute(Emit &b, Value index) const {
  constexpr int64_t kZmm = 16, kYmm = 8;
  int64_t lanes = Emit::lanesOf(index), count = int64_t(1) << width;
  auto entries = [&](int64_t begin) { return entriesFrom(b, begin, lanes); };
  Type result = Emit::vectorOf(lanes, b.getF32Type());
  bool isWide = count > kYmm;
  if (target.lanes() == kZmm && lanes == kZmm)
    return callIntrinsic(b, result, "llvm.x86.avx512.permvar.sf.512",
                         {entries(0), index});
  if (target.lanes() >= kYmm && lanes == kYmm) {
    auto permuted = [&](int64_t begin) {
      return callIntrinsic(b, result, "llvm.x86.avx2.permps",
                           {entries(begin), index});
    };
    if (!isWide)
      return permuted(0);
    // Bit 3 as a sign chooses between the halves of the table.
    Value upper =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, b.shl(index, 28),
                              b.splat(0, index.getType()));
    return arith::SelectOp::create(b, upper, permuted(kYmm), permuted(0));
  }
  SmallVector<Value> splats;
  for (int64_t i = 0; i < count; ++i)
    splats.push_back(
        loaded ? b.splat(vector::ExtractOp::create(b, loaded, i), lanes)
               : b.splat(double(table[size_t(i)]), lanes));
  return select(b, index, splats);
}

/// A machine vector at a time, where the target permutes those.
Value Codes::lookUp(Emit &b, Value bytes) const {
  Value index = b.widen(bytes, b.getI32Type(), /*isSigned=*/false);
  int64_t count = Emit::lanesOf(index), machine = target.lanes();
  if (machine < 8 || count <= machine)
    return permute(b, index);
  Value result = b.splat(0.0, count);
  for (int64_t begin = 0; begin < count; begin += machine) {
    Value piece = vector::ExtractStridedSliceOp::create(
        b, index, begin, std::min(machine, count - begin), 1);
    result = vector::InsertStridedSliceOp::create(b, permute(b, piece), result,
                                                  begin, 1);
  }
  return result;
}

/// entries[index], bits above the index ignored: the lowest bit halves the
/// candidates first.
Value Codes::select(Emit &b, Value index, ArrayRef<Value> entries) const {
  SmallVector<Value> left(entries);
  for (unsigned bit = 0; left.size() > 1; ++bit) {
    Value isSet = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                        b.mask(index, int64_t(1) << bit),
                                        b.splat(0, index.getType()));
    SmallVector<Value> half;
    for (size_t i = 0; i < left.size(); i += 2)
      half.push_back(arith::SelectOp::create(b, isSet, left[i + 1], left[i]));
    left = std::move(half);
  }
  return left.front();
}

//===----------------------------------------------------------------------===//
// i16
//===----------------------------------------------------------------------===//

Value Codes::toI16(Emit &b, Value x, unsigned bit, unsigned valid) const {
  if (!isTable())
    return extractField(b, x, bit, width, isSigned(), valid);
  int64_t lanes = Emit::lanesOf(x);
  if (looksUpBytes(lanes / 2)) {
    Value field = extractField(b, x, bit, width, /*isSigned=*/false, valid);
    Value bytes = lookUpIntegers(
        b, b.bitcast(field, Emit::vectorOf(2 * lanes, b.getI8Type())));
    return b.mask(b.bitcast(bytes, x.getType()), 0xff);
  }
  SmallVector<Value> constants;
  for (int8_t entry : integers)
    constants.push_back(b.splat(uint8_t(entry), x.getType()));
  return select(b, b.shr(x, bit), constants);
}

bool Codes::looksUpBytes(int64_t lanes) const {
  return !integers.empty() && target.lanes() >= 8 && lanes >= 4 &&
         lanes <= target.lanes() && llvm::isPowerOf2_64(lanes);
}

Value Codes::lookUpBytes(Emit &b, Value words, unsigned index) const {
  int64_t field = (int64_t(1) << width) - 1, fields = 0;
  for (int byte = 0; byte < 4; ++byte)
    fields |= field << (8 * byte);
  Value indices = b.mask(b.shr(words, index * width), fields);
  int64_t bytes = 4 * Emit::lanesOf(words);
  return lookUpIntegers(
      b, b.bitcast(indices, Emit::vectorOf(bytes, b.getI8Type())));
}

Value Codes::lookUpIntegers(Emit &b, Value bytes) const {
  return shuffleBytes(b,
                      constantVector(b, ArrayRef(integers),
                                     Emit::lanesOf(bytes), b.getI8Type()),
                      bytes);
}

} // namespace kvc
