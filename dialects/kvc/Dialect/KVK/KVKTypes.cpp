//===- KVKTypes.cpp - Types of the kvk dialect -------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Dialect/KVK/KVKTypes.h"
#include "kvc/Dialect/KVK/KVKDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

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
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(elementType) || parser.parseComma() || parser.parseAttribute(dims))
    return {};
  if (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(layout))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<TileType>(loc, parser.getContext(), shape, elementType, dims, layout);
}

void TileType::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printDimensionList(getShape());
  printer << 'x' << getElementType() << ", " << getDims();
  if (getLayout())
    printer << ", " << getLayout();
  printer << '>';
}

/// The extent of one dim in a layout.
static int64_t layoutExtent(LayoutAttr layout, layout::Dim dim) {
  int64_t extent = 1;
  for (ArrayRef<layout::Digit> digits : {layout.getPack(), layout.getReg(), layout.getLane(), layout.getWarp()})
    for (const layout::Digit &digit : digits)
      if (digit.dim == dim)
        extent *= digit.count;
  return extent;
}

static int64_t countOf(ArrayRef<layout::Digit> digits) {
  int64_t count = 1;
  for (const layout::Digit &digit : digits)
    count *= digit.count;
  return count;
}

LogicalResult TileType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape,
                               Type elementType, DimsAttr dims, LayoutAttr layout) {
  if (shape.size() != dims.getNames().size()) // C1
    return emitError() << "expected as many extents as #kvc.dims names (" << dims.getNames().size() << "), got "
                       << shape.size();
  for (auto [name, extent] : llvm::zip_equal(dims.getNames(), shape)) // C1
    if (extent <= 0)
      return emitError() << "expected a positive extent of dim " << name.getValue() << ", got " << extent;
  bool isSmallInteger = elementType.isSignlessInteger() && elementType.getIntOrFloatBitWidth() <= 16;
  if (!isSmallInteger && !isa<Float16Type, BFloat16Type, Float32Type>(elementType)) // C2
    return emitError() << "expected elements of at most 16 integer bits, f16, bf16 or f32, got " << elementType;
  if (!layout)
    return success();
  int64_t elements = 1;
  for (auto [name, extent] : llvm::zip_equal(dims.getNames(), shape)) { // L2
    StringRef text = name.getValue();
    int64_t got = text.size() == 1 ? layoutExtent(layout, text.front()) : 1;
    if (got != extent)
      return emitError() << "layout: expected extent " << extent << " of dim " << text << ", got " << got;
    elements *= extent;
  }
  int64_t positions = 1;
  for (ArrayRef<layout::Digit> digits : {layout.getPack(), layout.getReg(), layout.getLane(), layout.getWarp()})
    for (const layout::Digit &digit : digits)
      if (!digit.isReplicated())
        positions *= digit.count;
  if (positions != elements) // L2
    return emitError() << "layout: expected digits of the tile's dims only";
  int64_t packed = countOf(layout.getPack());
  if (packed != 1 && packed * elementType.getIntOrFloatBitWidth() != 32) // L3
    return emitError() << "layout: expected pack to fill 32 bits, got " << packed << " elements of " << elementType;
  return success();
}

bool TileType::hasDim(StringRef dim) const {
  return llvm::any_of(getDims().getNames(), [&](StringAttr name) { return name.getValue() == dim; });
}

int64_t TileType::getExtent(StringRef dim) const {
  for (auto [name, extent] : llvm::zip_equal(getDims().getNames(), getShape()))
    if (name.getValue() == dim)
      return extent;
  return 1;
}

} // namespace kvc::kvk
