//===- KVKTypes.cpp - Types of the kvk dialect ----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Dialect/KVK/KVKTypes.h"
#include "kvc/Base/Checked.h"
#include "kvc/Dialect/KVK/KVKDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

#define GET_TYPEDEF_CLASSES
#include "kvc/Dialect/KVK/KVKTypes.cpp.inc"

using namespace mlir;

namespace kvc::kvk {

void KVKDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "kvc/Dialect/KVK/KVKTypes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Tile
//===----------------------------------------------------------------------===//

// !kvk.tile<64x128xi4, #kvc.dims<t, c>[, #kvk.layout<..>]>

Type TileType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  DimsAttr dims;
  LayoutAttr layout;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(elementType) || parser.parseComma() ||
      parser.parseAttribute(dims))
    return {};
  if (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(layout))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<TileType>(loc, parser.getContext(), shape,
                                     elementType, dims, layout);
}

void TileType::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printDimensionList(getShape());
  printer << 'x' << getElementType() << ", " << getDims();
  if (getLayout())
    printer << ", " << getLayout();
  printer << '>';
}

static SmallVector<layout::Digit> digitsOf(LayoutAttr layout) {
  SmallVector<layout::Digit> digits;
  for (ArrayRef<layout::Digit> list :
       {layout.getPack(), layout.getReg(), layout.getLane(), layout.getWarp()})
    llvm::append_range(digits, list);
  return digits;
}

/// L2: the digits are those of the tile's dims, all of them.
static LogicalResult
verifyLayoutExtents(function_ref<InFlightDiagnostic()> emitError,
                    ArrayRef<int64_t> shape, DimsAttr dims, LayoutAttr layout) {
  SmallVector<layout::Digit> digits = digitsOf(layout);
  size_t numMatched = llvm::count_if(
      digits, [](const layout::Digit &digit) { return digit.isReplicated(); });
  for (auto [name, expected] : llvm::zip_equal(dims.getNames(), shape)) {
    StringRef text = name.getValue();
    int64_t extent = 1;
    for (const layout::Digit &digit : digits) {
      if (text.size() != 1 || digit.dim != text.front())
        continue;
      extent = std::max(extent, digit.place * digit.count);
      ++numMatched;
    }
    if (extent != expected)
      return emitError() << "layout: expected extent " << expected << " of dim "
                         << text << ", got " << extent;
  }
  if (numMatched != digits.size())
    return emitError() << "layout: expected digits of the tile's dims only";
  return success();
}

/// L3: the pack fills a word of 32 bits, or holds one element.
static LogicalResult verifyPack(function_ref<InFlightDiagnostic()> emitError,
                                Type elementType,
                                ArrayRef<layout::Digit> pack) {
  uint64_t packed = 1;
  for (const layout::Digit &digit : pack)
    packed = llvm::SaturatingMultiply<uint64_t>(packed, digit.count);
  unsigned bits = elementType.getIntOrFloatBitWidth();
  if (packed != 1 && (32 % bits != 0 || packed != 32 / bits))
    return emitError() << "layout: expected pack to fill 32 bits, got "
                       << packed << " elements of " << elementType;
  return success();
}

LogicalResult TileType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<int64_t> shape, Type elementType,
                               DimsAttr dims, LayoutAttr layout) {
  if (shape.size() != dims.getNames().size()) // C1
    return emitError() << "expected as many extents as #kvc.dims names ("
                       << dims.getNames().size() << "), got " << shape.size();
  for (auto [name, extent] : llvm::zip_equal(dims.getNames(), shape)) // C1
    if (extent <= 0)
      return emitError() << "expected a positive extent of dim "
                         << name.getValue() << ", got " << extent;
  unsigned bits =
      elementType.isSignlessInteger() ? elementType.getIntOrFloatBitWidth() : 0;
  bool isSmallInteger = bits >= 1 && bits <= 16;
  if (!isSmallInteger &&
      !isa<Float16Type, BFloat16Type, Float32Type>(elementType)) // C2
    return emitError() << "expected elements of 1 to 16 integer bits, f16, "
                          "bf16 or f32, got "
                       << elementType;
  Checked elements = 1;
  for (int64_t extent : shape)
    elements = elements * extent;
  if (!elements.isValid()) // C3
    return emitError() << "expected fewer than 2^63 elements";
  if (!layout)
    return success();
  if (failed(verifyLayoutExtents(emitError, shape, dims, layout))) // L2
    return failure();
  return verifyPack(emitError, elementType, layout.getPack()); // L3
}

bool TileType::hasDim(StringRef dim) const {
  return llvm::any_of(getDims().getNames(),
                      [&](StringAttr name) { return name.getValue() == dim; });
}

int64_t TileType::getExtent(StringRef dim) const {
  for (auto [name, extent] : llvm::zip_equal(getDims().getNames(), getShape()))
    if (name.getValue() == dim)
      return extent;
  return 1;
}

} // namespace kvc::kvk
