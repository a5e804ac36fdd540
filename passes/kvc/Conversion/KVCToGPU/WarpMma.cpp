//===- WarpMma.cpp - Products on tensor cores and their operands ----------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Analysis/WarpOperand.h"
#include "kvc/Conversion/KVCToGPU/CacheRuns.h"
#include "kvc/Conversion/KVCToGPU/WarpLowering.h"
#include "kvc/Conversion/KVCToGPU/WidenWords.h"
#include "kvc/Dialect/KVK/KVKTypes.h"
#include "kvc/Layout/Convert.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kvc {

namespace {
constexpr int64_t kWordBits = 32;
} // namespace

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

namespace {

/// The codes that a lane loads of an operand, in words.
struct OperandWords {
  WarpTile tile; ///< With the names of a page.
  CacheRuns runs;
  unsigned width;
  /// Order of the codes in the words: digits of a word, then of the words'
  /// number; once halves were exchanged.
  layout::Digits order;
  /// The digit of a word's number that its halves change places with; 0: none.
  size_t exchanged = 0;

  size_t inWord() const { return llvm::Log2_32(kWordBits / width); }
  size_t half() const { return inWord() - 1; }

  explicit OperandWords(kvk::LoadOp op, const WarpTile &operand)
      : tile(inPage(operand, op.getType())),
        runs(tile, op.getStorageAttr().getStorage(), kMostAccessBits),
        width(op.getStorageAttr().getWidth()), order(runs.order()) {
    if (runs.length() * width < kWordBits)
      return;
    auto pack =
        size_t(llvm::find(order, tile.layout().pack[0]) - order.begin());
    if (pack < inWord() || pack >= order.size() || inWord() == 0)
      return;
    exchanged = pack;
    std::swap(order[half()], order[pack]);
  }

  /// Where in the words an element is: word, position in it.
  std::pair<int64_t, int64_t> find(int64_t element) const {
    int64_t number = 0, stride = 1;
    for (const layout::Digit &digit : order) {
      number +=
          tile.index(digit.dim, element) / digit.place % digit.count * stride;
      stride *= digit.count;
    }
    int64_t perWord = kWordBits / width;
    return {number / perWord, number % perWord};
  }
};

} // namespace

static WarpTile operandTile(kvk::LoadOp op) {
  // A widen gives the layout of what it makes; raw values have their own.
  for (Operation *user : op->getUsers())
    if (auto widen = dyn_cast<kvk::WidenOp>(user))
      return WarpTile(widen.getType().getLayout().getLayout());
  return WarpTile(op.getType().getLayout().getLayout());
}

/// The halves of words `i` and `i + stride` in pairs: low ones, high ones.
static void exchangeHalves(Emit &b, MutableArrayRef<Value> words,
                           int64_t stride) {
  auto permute = [&](Value x, Value y, int64_t selector) -> Value {
    return LLVM::CallIntrinsicOp::create(
               b, b.getI32Type(), b.getStringAttr("llvm.nvvm.prmt"),
               ValueRange{x, y, b.splat(selector, b.getI32Type())})
        .getResult(0);
  };
  constexpr int64_t kLow = 0x5410, kHigh = 0x7632;
  for (size_t i = 0; i < words.size(); ++i) {
    if (int64_t(i) / stride % 2 != 0)
      continue;
    Value x = words[i], y = words[i + size_t(stride)];
    words[i] = permute(x, y, kLow);
    words[i + size_t(stride)] = permute(x, y, kHigh);
  }
}

WarpLowering::Result WarpLowering::lowerLoadOperand(kvk::LoadOp op) {
  OperandWords operand(op, operandTile(op));
  const WarpTile &tile = operand.tile;
  int64_t width = operand.width, length = operand.runs.length();
  if (length * width < kWordBits)
    return op.emitOpError(
               "expected a lane's codes to fill words in memory, got "
               "neighbours of ")
           << length * width << " bits";
  layout::Storage storage = op.getStorageAttr().getStorage();
  int64_t page = *op.getPage(), tokens = op.getType().getExtent("t");
  HeadRegion region(b, *views, get(op.getCache()), get(op.getKvHead()),
                    op.getTensor(), layout::RegionKind::Codes,
                    unsigned(op.getPart()), storage, page);
  const PageBytes &order = region.order;
  Value token = get(op.getToken()), valid = get(op.getValid()), first;
  Value firstChannel = lanes->begin(tile.layout(), 'c'),
        firstToken = lanes->begin(tile.layout(), 't');
  // Digits of lanes and of elements are apart, so that their bytes add up.
  Value laneBytes = order.bytes(b, 'c', firstChannel);
  if (page % tokens == 0)
    first = b.offset(region.tokenPointer(b, token),
                     b.add(laneBytes, order.bytes(b, 't', firstToken)));
  SmallVector<Value> words;
  for (int64_t run = 0; run < operand.runs.size(); ++run) {
    int64_t number = operand.runs.element(run, 0);
    int64_t bytes = order.bytes('c', tile.index('c', number));
    Value pointer;
    if (first) {
      bytes += order.bytes('t', tile.index('t', number));
      pointer = b.offset(first, b.index(bytes));
    } else {
      // Tokens beyond the valid ones need not have a page.
      Value own =
          b.min(lanes->index(tile, 't', number), b.sub(valid, b.index(1)));
      Value at = b.add(token, own);
      Value inPage = order.bytes(b, 't', region.inPage(b, at));
      pointer = b.offset(region.pageOf(b, at),
                         b.add(b.add(inPage, laneBytes), bytes));
    }
    int64_t count = length * width / kWordBits;
    Type type = count == 1 ? Type(b.getI32Type())
                           : Type(Emit::vectorOf(count, b.getI32Type()));
    Value loaded = b.loadBytes(pointer, type, count * kWordBits / 8);
    for (int64_t i = 0; i < count; ++i)
      words.push_back(count == 1 ? loaded : at(loaded, i));
  }
  if (operand.exchanged) {
    int64_t stride = 1;
    for (size_t i = operand.inWord(); i < operand.exchanged; ++i)
      stride *= operand.order[i].count;
    exchangeHalves(b, words, stride);
  }
  Value all = collect(words);
  if (tile.layout().pack[0].dim == 't')
    all = maskTokens(all, tile, width, valid, tokens,
                     [&](int64_t element) { return operand.find(element); });
  if (isa<IntegerType>(op.getType().getElementType()))
    return all;
  // Raw values are operands as they are.
  SmallVector<int64_t> registers;
  for (int64_t i = 0; i < tile.size(); i += 2) {
    auto [word, position] = operand.find(i);
    if (position != 0 || operand.find(i + 1) != std::pair(word, int64_t(1)))
      return op.emitOpError("expected pairs of ")
             << layout::str(tile.layout().pack[0]) << " in words of memory";
    registers.push_back(word);
  }
  return b.shuffle(all, all, registers);
}

/// Codes of tokens at `valid` and beyond become 0: what is there meets weights
/// of 0, but may be anything.
Value WarpLowering::maskTokens(
    Value words, const WarpTile &tile, int64_t width, Value valid,
    int64_t tokens,
    function_ref<std::pair<int64_t, int64_t>(int64_t)> placeOf) {
  Value isPartial = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, valid,
                                          b.index(tokens));
  auto branch = scf::IfOp::create(b, words.getType(), isPartial,
                                  /*withElseRegion=*/true);
  InsertionGuard guard(b);
  b.setInsertionPointToEnd(branch.thenBlock());
  // Codes of a word with one token share a mask.
  std::map<std::pair<int64_t, int64_t>, int64_t> masks; // (word, token) -> bits
  for (int64_t i = 0; i < tile.size(); ++i) {
    auto [word, position] = placeOf(i);
    masks[{word, tile.index('t', i)}] |= ((int64_t(1) << width) - 1)
                                         << (position * width);
  }
  SmallVector<Value> kept(size_t(Emit::lanesOf(words)));
  std::map<int64_t, Value> isValid;
  Value first = lanes->begin(tile.layout(), 't');
  for (auto [key, bits] : masks) {
    auto [word, token] = key;
    Value &below = isValid[token];
    if (!below)
      below = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                    b.add(first, token), valid);
    Value mask =
        arith::SelectOp::create(b, below, b.splat(bits, b.getI32Type()),
                                b.splat(int64_t(0), b.getI32Type()));
    Value &known = kept[size_t(word)];
    known = known ? b.bitOr(known, mask) : mask;
  }
  Value masked = arith::AndIOp::create(b, words, collect(kept));
  scf::YieldOp::create(b, masked);
  b.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(b, words);
  return branch.getResult(0);
}

WarpLowering::Result WarpLowering::lowerWiden(kvk::WidenOp op) {
  auto load = op.getSource().getDefiningOp<kvk::LoadOp>();
  OperandWords operand(load, WarpTile(op.getType().getLayout().getLayout()));
  const WarpTile &tile = operand.tile;
  Type element = op.getType().getElementType();
  int64_t width = operand.width;
  // A float is found by its byte, pairs of integers lie 16 bits apart.
  auto [firstWord, firstPosition] = operand.find(0);
  auto [secondWord, secondPosition] = operand.find(1);
  int64_t distance = secondPosition - firstPosition;
  bool isPair = firstWord == secondWord &&
                (distance * width == 16 || (op.getFormatAttr() && width == 8));
  if (!isPair || op.getTable())
    return op.emitOpError("is not lowered for GPUs yet: ")
           << (op.getTable() ? "lookup tables" : "this order of codes");
  WidenWords widen(
      b, {width, distance, int64_t(op.getBias()), element, target.hasFloat8});
  if (StringAttr format = op.getFormatAttr())
    widen.format = format.getValue();
  Value source = get(op.getSource());
  std::vector<PlacedDigit> placed =
      placedDigits(load.getStorageAttr().getStorage());
  // How far up in its byte a code's channel puts it.
  auto bitsOf = [&](int64_t element) {
    int64_t channel = tile.index('c', element), bits = 0;
    for (const PlacedDigit &digit : placed)
      bits += channel / digit.place % 2 * digit.bits;
    return bits;
  };
  SmallVector<Value> registers;
  for (int64_t i = 0; i < tile.size(); i += 2) {
    auto [word, position] = operand.find(i);
    Value codes = at(source, word);
    registers.push_back(op.getInPlace()
                            ? widen.pairInPlace(codes, position, bitsOf(i))
                            : widen.pair(codes, position));
  }
  return collect(registers);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

WarpLowering::Result WarpLowering::lowerMma(kvk::MmaOp op) {
  WarpTile lhs = tileOf(op.getLhs()), rhs = tileOf(op.getRhs()),
           result = tileOf(op);
  char row = op.getRowDim().front(), depth = op.getDepthDim().front(),
       column = op.getColumnDim().front();
  bool isBFloat =
      cast<RankedTensorType>(op.getRhs().getType()).getElementType().isBF16();
  Value a = get(op.getLhs()), x = get(op.getRhs());
  auto registers = [&](Value vector, const WarpTile &tile,
                       const Coordinates &indices) -> Value {
    Value word = at(vector, tile.number(indices) / 2);
    if (isBFloat)
      return word;
    return LLVM::BitcastOp::create(b, Emit::vectorOf(2, b.getF16Type()), word);
  };
  // The fragment's own digits, and how many copies of it there are.
  auto others = [](const WarpTile &tile, char dim, size_t own) {
    layout::Digits digits;
    for (const layout::Digit &digit : tile.elements())
      if (digit.dim == dim)
        digits.push_back(digit);
    digits.erase(digits.begin(), digits.begin() + ptrdiff_t(own));
    return digits;
  };
  auto indexOf = [](const layout::Digits &digits, int64_t number) {
    int64_t index = 0;
    for (const layout::Digit &digit : digits) {
      index += number % digit.count * digit.place;
      number /= digit.count;
    }
    return index;
  };
  // A lane has 2 rows and 4 of the depth of each fragment, 2 columns of its
  // result.
  layout::Digits rowCopies = others(lhs, row, 1),
                 depthCopies = others(lhs, depth, 2),
                 columnCopies = others(result, column, 1);
  auto ownDigit = [](const WarpTile &tile, char dim, size_t number) {
    for (const layout::Digit &digit : tile.elements())
      if (digit.dim == dim && number-- == 0)
        return digit.place;
    return int64_t(0);
  };
  int64_t rowHalf = ownDigit(lhs, row, 0), depthHalf = ownDigit(lhs, depth, 1),
          columnNext = ownDigit(result, column, 0);

  Value start = op.getAcc() ? get(op.getAcc()) : b.splat(0.0, result.size());
  SmallVector<Value> sums;
  for (int64_t i = 0; i < result.size(); ++i)
    sums.push_back(at(start, i));
  auto f32 = b.getF32Type();
  Type product =
      LLVM::LLVMStructType::getLiteral(b.getContext(), {f32, f32, f32, f32});
  std::optional<std::array<NVVM::MMATypes, 2>> types;
  if (isBFloat)
    types = {NVVM::MMATypes::bf16, NVVM::MMATypes::bf16};
  for (int64_t k = 0; k < layout::extentOf(depthCopies); ++k)
    for (int64_t m = 0; m < layout::extentOf(rowCopies); ++m) {
      int64_t r = indexOf(rowCopies, m), d = indexOf(depthCopies, k);
      SmallVector<Value> as;
      for (int64_t half = 0; half < 2; ++half)
        for (int64_t low = 0; low < 2; ++low)
          as.push_back(registers(
              a, lhs,
              {{row, r + low * rowHalf}, {depth, d + half * depthHalf}}));
      for (int64_t n = 0; n < layout::extentOf(columnCopies); ++n) {
        int64_t c = indexOf(columnCopies, n);
        SmallVector<Value> xs, cs;
        for (int64_t half = 0; half < 2; ++half)
          xs.push_back(
              registers(x, rhs, {{column, c}, {depth, d + half * depthHalf}}));
        int64_t numbers[4];
        for (int64_t i = 0; i < 4; ++i) {
          numbers[i] = result.number(
              {{row, r + i / 2 * rowHalf}, {column, c + i % 2 * columnNext}});
          cs.push_back(sums[size_t(numbers[i])]);
        }
        Value made = NVVM::MmaOp::create(
            b, product, as, xs, cs, ArrayRef<int64_t>{16, 8, 16}, std::nullopt,
            std::nullopt, types,
            std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
        for (int64_t i = 0; i < 4; ++i)
          sums[size_t(numbers[i])] = LLVM::ExtractValueOp::create(b, made, i);
      }
    }
  return collect(sums);
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// The layout of elements that are no pairs yet.
static layout::RegisterLayout unpacked(const WarpTile &tile) {
  layout::RegisterLayout layout = tile.layout();
  layout.reg = tile.elements();
  layout.pack.clear();
  return layout;
}

/// Neighbours of 16 bits in one register.
Value WarpLowering::pairsOf(Value elements) {
  SmallVector<Value> pairs;
  for (int64_t i = 0; i < Emit::lanesOf(elements); i += 2)
    pairs.push_back(
        LLVM::BitcastOp::create(b, b.getI32Type(), b.slice(elements, i, 2)));
  return collect(pairs);
}

WarpLowering::Result WarpLowering::lowerConvert(kvk::ConvertLayoutOp op) {
  WarpTile from = tileOf(op.getSource()), to = tileOf(op);
  Value source = get(op.getSource());
  std::optional<layout::Conversion> plan =
      layout::convert(from.layout(), to.layout());
  bool turns = plan && !plan->steps.empty() &&
               plan->steps[0].op == layout::ConversionStep::Op::Movmatrix;
  layout::RegisterLayout now = from.layout();
  if (turns) {
    now = plan->steps[0].after;
    source = each(source, [&](Value word) -> Value {
      return LLVM::InlineAsmOp::create(
                 b, TypeRange{b.getI32Type()}, ValueRange{word},
                 "movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;", "=r,r",
                 /*has_side_effects=*/false, /*is_align_stack=*/false,
                 LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
          .getResult(0);
    });
  }
  if (now.pack.empty() && !to.layout().pack.empty())
    return pairsOf(exchange(source, WarpTile(now), WarpTile(unpacked(to)),
                            dimsOf(op.getType())));
  if (now.pack != to.layout().pack)
    return op.emitOpError("expected a conversion of whole registers, got ")
           << layout::str(from.layout()) << " to " << layout::str(to.layout());
  return exchange(source, WarpTile(now), to, dimsOf(op.getType()));
}

/// Each element of `to` from the lane that has it in `from`.
Value WarpLowering::exchange(Value source, const WarpTile &from,
                             const WarpTile &to, ArrayRef<StringRef> dims) {
  int64_t perRegister = from.size() / Emit::lanesOf(source);
  const layout::Digits &lanesFrom = from.layout().lane,
                       &lanesTo = to.layout().lane;
  // The lane to read: a bit for each digit of the source's, which is one of
  // this lane or of the wanted element's number.
  bool isSame = lanesFrom == lanesTo;
  Value lane = lanes->number(), zero = b.splat(int64_t(0), b.getI32Type());
  // Digits that this lane has and the source's registers hold: what to take
  // then depends on the lane.
  SmallVector<std::pair<layout::Digit, unsigned>> choosing;
  for (auto [i, digit] : llvm::enumerate(lanesTo))
    if (!digit.isReplicated() && !llvm::is_contained(lanesFrom, digit))
      choosing.push_back({digit, unsigned(i)});

  SmallVector<Value> registers;
  for (int64_t number = 0; number < to.size(); number += perRegister) {
    Value wanted = zero;
    for (auto [i, digit] : llvm::enumerate(lanesFrom)) {
      if (digit.isReplicated())
        continue;
      auto there = llvm::find(lanesTo, digit);
      Value bit;
      if (there != lanesTo.end()) {
        auto position = int64_t(there - lanesTo.begin());
        bit = b.mask(b.shr(lane, position), 1);
      } else {
        bit = b.splat(to.index(digit.dim, number) / digit.place % digit.count,
                      b.getI32Type());
      }
      wanted = b.createOrFold<arith::OrIOp>(wanted, b.shl(bit, int64_t(i)));
    }
    // One candidate for each choice of those digits.
    SmallVector<Value> candidates;
    for (int64_t choice = 0; choice < (int64_t(1) << choosing.size());
         ++choice) {
      Coordinates indices;
      for (StringRef dim : dims)
        indices[dim.front()] = to.index(dim.front(), number);
      for (auto [i, digit] : llvm::enumerate(choosing))
        indices[digit.first.dim] += (choice >> i & 1) * digit.first.place;
      Value value = at(source, from.number(indices) / perRegister);
      candidates.push_back(isSame ? value : lanes->shuffle(value, wanted));
    }
    for (auto [digit, position] : choosing) {
      Value isSet = lanes->bit(position);
      SmallVector<Value> left;
      for (size_t i = 0; i < candidates.size(); i += 2)
        left.push_back(arith::SelectOp::create(b, isSet, candidates[i + 1],
                                               candidates[i]));
      candidates = std::move(left);
    }
    registers.push_back(candidates.front());
  }
  return collect(registers);
}

} // namespace kvc
