//===- KVKAttrs.cpp - Attributes of the kvk dialect -----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Dialect/KVK/KVKAttrs.h"
#include "kvc/Base/Checked.h"
#include "kvc/Dialect/KVK/KVKDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <map>

using namespace mlir;

namespace kvc::layout {
/// Found by the uniquer of attributes.
static llvm::hash_code hash_value(const Digit &digit) {
  return llvm::hash_combine(digit.dim, digit.place, digit.count);
}
static llvm::hash_code hash_value(const Step &step) {
  return llvm::hash_combine(step.digit, step.bytes);
}
} // namespace kvc::layout

namespace kvc::kvk {

using layout::Digit;
using layout::Digits;
using layout::Step;

//===----------------------------------------------------------------------===//
// Digits
//===----------------------------------------------------------------------===//

/// One of `*`, `t3`, `c[16:5]`. The tokens are put together again and read by
/// the one parser of digits.
static ParseResult parseDigit(AsmParser &parser,
                              SmallVectorImpl<Digit> &digits) {
  SMLoc loc = parser.getCurrentLocation();
  std::string text;
  if (succeeded(parser.parseOptionalStar())) {
    text = "*";
  } else {
    StringRef keyword;
    if (parser.parseKeyword(&keyword))
      return failure();
    text = keyword.str();
    if (succeeded(parser.parseOptionalLSquare())) {
      int64_t place, count;
      if (parser.parseInteger(place) || parser.parseColon() ||
          parser.parseInteger(count) || parser.parseRSquare())
        return failure();
      text += "[" + std::to_string(place) + ":" + std::to_string(count) + "]";
    }
  }
  std::optional<Digit> digit = layout::parseDigit(text);
  if (!digit)
    return parser.emitError(loc)
           << "expected a digit (t3, c[16:5] or *), got " << text;
  digits.push_back(*digit);
  return success();
}

static ParseResult parseDigits(AsmParser &parser, SmallVector<Digit> &digits) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&] { return parseDigit(parser, digits); });
}

static void printDigits(AsmPrinter &printer, ArrayRef<Digit> digits) {
  printer << '[';
  llvm::interleaveComma(digits, printer, [&](const Digit &digit) {
    printer << layout::str(digit);
  });
  printer << ']';
}

/// Steps, `c[32:4] * 34`.
static ParseResult parseSteps(AsmParser &parser, SmallVector<Step> &steps) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() -> ParseResult {
        SmallVector<Digit, 1> digit;
        int64_t bytes;
        if (parseDigit(parser, digit) || parser.parseStar() ||
            parser.parseInteger(bytes))
          return failure();
        steps.push_back({digit.front(), bytes});
        return success();
      });
}

static void printSteps(AsmPrinter &printer, ArrayRef<Step> steps) {
  printer << '[';
  llvm::interleaveComma(
      steps, printer, [&](const Step &step) { printer << layout::str(step); });
  printer << ']';
}

/// L1: the digits of each dim, sorted by place, follow each other.
static LogicalResult verifyCover(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<Digit> digits) {
  std::map<layout::Dim, SmallVector<Digit>> byDim;
  for (const Digit &digit : digits)
    if (!digit.isReplicated())
      byDim[digit.dim].push_back(digit);
  for (auto &[dim, group] : byDim) {
    llvm::sort(group, [](const Digit &a, const Digit &b) {
      return a.place < b.place;
    });
    for (auto [i, digit] : llvm::enumerate(group)) {
      if (i == 0)
        continue;
      // Saturated: no digit is there.
      int64_t expected =
          (Checked(group[i - 1].place) * group[i - 1].count).saturated();
      if (digit.place < expected)
        return emitError() << "digit " << layout::str(digit) << " overlaps "
                           << layout::str(group[i - 1]);
      if (digit.place > expected)
        return emitError() << "expected a digit of dim "
                           << StringRef(&digit.dim, 1) << " at place "
                           << expected << ", the next is "
                           << layout::str(digit);
    }
  }
  return success();
}

/// Tokens, channels of K and of V, channel blocks and heads are in memory; the
/// channels of a block, query rows and the dims of fragments in registers only.
constexpr StringLiteral kStoredDims("tcdbh"), kRegisterDims("tcdbehqrmnk");

static LogicalResult verifyDims(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<Digit> digits, StringRef dims) {
  for (const Digit &digit : digits)
    if (!digit.isReplicated() && !dims.contains(digit.dim))
      return emitError() << "digit " << layout::str(digit)
                         << ": expected one of the dims "
                         << llvm::join(llvm::map_range(dims,
                                                       [](char dim) {
                                                         return std::string(
                                                             1, dim);
                                                       }),
                                       ", ");
  return success();
}

static Checked product(ArrayRef<Digit> digits) {
  Checked result = 1;
  for (const Digit &digit : digits)
    result = result * digit.count;
  return result;
}

static LogicalResult
verifyNotReplicated(function_ref<InFlightDiagnostic()> emitError,
                    ArrayRef<Digit> digits, StringRef where) {
  if (llvm::any_of(digits,
                   [](const Digit &digit) { return digit.isReplicated(); }))
    return emitError() << where << ": expected no *";
  return success();
}

static Digits toDigits(ArrayRef<Digit> digits) {
  return Digits(digits.begin(), digits.end());
}

//===----------------------------------------------------------------------===//
// Layout, storage
//===----------------------------------------------------------------------===//

LayoutAttr LayoutAttr::get(MLIRContext *context,
                           const layout::RegisterLayout &layout) {
  return get(context, ArrayRef(layout.pack), ArrayRef(layout.reg),
             ArrayRef(layout.lane), ArrayRef(layout.warp));
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<Digit> pack, ArrayRef<Digit> reg,
                                 ArrayRef<Digit> lane, ArrayRef<Digit> warp) {
  SmallVector<Digit> all;
  for (ArrayRef<Digit> list : {pack, reg, lane, warp})
    llvm::append_range(all, list);
  if (failed(verifyCover(emitError, all))) // L1
    return failure();
  if (failed(verifyNotReplicated(emitError, pack, "pack")) ||
      failed(verifyNotReplicated(emitError, reg, "reg"))) // L4
    return failure();
  if (failed(verifyDims(emitError, all, kRegisterDims))) // C1
    return failure();
  if (!product(all).isValid()) // C2
    return emitError() << "expected a product of all counts below 2^63";
  return success();
}

layout::RegisterLayout LayoutAttr::getLayout() const {
  return {toDigits(getPack()), toDigits(getReg()), toDigits(getLane()),
          toDigits(getWarp())};
}

StorageAttr StorageAttr::get(MLIRContext *context,
                             const layout::Storage &storage) {
  return get(context, storage.width, ArrayRef(storage.addr),
             ArrayRef(storage.steps));
}

LogicalResult StorageAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  unsigned width, ArrayRef<Digit> addr,
                                  ArrayRef<Step> steps) {
  SmallVector<Digit> all(addr);
  for (const Step &step : steps)
    all.push_back(step.digit);
  if (failed(verifyCover(emitError, all))) // L1
    return failure();
  if (failed(verifyNotReplicated(emitError, all, "addr"))) // L4
    return failure();
  for (const Step &step : steps)
    if (step.bytes <= 0) // C1
      return emitError() << "steps: expected a positive number of bytes, got "
                         << step.bytes;
  if (width < 1 || width > 64) // C1
    return emitError() << "width: expected 1 to 64, got " << width;
  if (failed(verifyDims(emitError, all, kStoredDims))) // C2
    return failure();
  Checked end = product(addr) * width;
  for (const Step &step : steps)
    end = end + Checked(step.bytes) * 8 * (step.digit.count - 1);
  if (!end.isValid()) // C3
    return emitError() << "expected addresses below 2^63 bits";
  return success();
}

layout::Storage StorageAttr::getStorage() const {
  return {toDigits(getAddr()), getWidth(), getSteps().vec()};
}

} // namespace kvc::kvk

#include "kvc/Dialect/KVK/KVKEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "kvc/Dialect/KVK/KVKAttrs.cpp.inc"

namespace kvc::kvk {
void KVKDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "kvc/Dialect/KVK/KVKAttrs.cpp.inc"
      >();
}
} // namespace kvc::kvk
