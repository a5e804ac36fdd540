//===- KVKOps.cpp - Verifiers of the kvk ops ------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Dialect/KVK/KVKOps.h"
#include "kvc/Dialect/KVC/CachePart.h"
#include "kvc/Dialect/KVC/KVCTiles.h"
#include "kvc/Dialect/KVC/MemRefShape.h"
#include "kvc/Layout/PageLayout.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <limits>

#define GET_OP_CLASSES
#include "kvc/Dialect/KVK/KVKOps.cpp.inc"

using namespace mlir;

namespace kvc::kvk {

using kvc::detail::Extent;
using kvc::detail::MemRefShape;
using kvc::detail::partOrError;
using kvc::detail::verifyCodeElement;

void KVKDialect::registerOps() {
  addOperations<
#define GET_OP_LIST
#include "kvc/Dialect/KVK/KVKOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// What ops on a cache share
//===----------------------------------------------------------------------===//

/// Extent of a dim that a storage's digits cover, from 0 on.
static int64_t coveredExtent(StorageAttr storage, layout::Dim dim) {
  int64_t extent = 1;
  auto cover = [&](const layout::Digit &digit) {
    if (digit.dim == dim)
      extent = std::max(extent, digit.place * digit.count);
  };
  llvm::for_each(storage.getAddr(), cover);
  for (const layout::Step &step : storage.getSteps())
    cover(step.digit);
  return extent;
}

/// A storage of elements of `width` bits for the op's page and `extent`
/// channels or blocks, or none yet. Blocks of tokens share metadata: their low
/// digits are absent, all of them where a page is one block.
template <typename Op>
static LogicalResult verifyStorage(Op op, unsigned width, layout::Dim dim,
                                   int64_t extent, int64_t blockTokens) {
  StorageAttr storage = op.getStorageAttr();
  if (bool(storage) != op.getPage().has_value())
    return op.emitOpError("storage: expected it together with page, got one "
                          "of them");
  if (!storage)
    return success();
  int64_t page = *op.getPage();
  if (storage.getWidth() != width)
    return op.emitOpError() << "storage: expected width " << width << ", got "
                            << storage.getWidth();
  int64_t tokens = std::max(coveredExtent(storage, 't'), blockTokens);
  if (tokens != page)
    return op.emitOpError() << "storage: expected the digits of " << page
                            << " tokens, got those of " << tokens;
  int64_t covered = coveredExtent(storage, dim);
  if (covered != extent)
    return op.emitOpError() << "storage: expected the digits of " << extent
                            << (dim == 'c' ? " channels" : " blocks")
                            << ", got those of " << covered;
  return success();
}

/// `width`: the bits of a code that lie together.
template <typename Op>
static LogicalResult verifyCodeStorage(Op op, unsigned width,
                                       const spec::PartScheme &part) {
  return verifyStorage(op, width, 'c', part.channels(), /*blockTokens=*/1);
}

static LogicalResult verifyChannels(Operation *op, int64_t got,
                                    const spec::PartScheme &part) {
  if (got > part.channels())
    return op->emitOpError() << "expected at most the part's "
                             << part.channels() << " channels, got " << got;
  return success();
}

//===----------------------------------------------------------------------===//
// load, widen
//===----------------------------------------------------------------------===//

LogicalResult LoadOp::verify() {
  const spec::PartScheme *part = partOrError(*this);
  if (!part) // C1
    return failure();
  TileType tile = getType();
  StringRef channels = tile.hasDim("d") ? "d" : "c";
  if (tile.getShape().size() != 2 || !tile.hasDim("t") ||
      !tile.hasDim(channels)) // C2
    return emitOpError(
               "expected a tile with the dims t and c, or t and d, got ")
           << tile;
  if (failed(verifyChannels(*this, tile.getExtent(channels), *part))) // C2
    return failure();
  if (failed(verifyCodeElement(*this, tile.getElementType(), *part,
                               part->codec.bits))) // C3
    return failure();
  return verifyCodeStorage(*this, part->codec.bits, *part); // C4
}

void WidenOp::build(OpBuilder &builder, OperationState &state, Value source,
                    Type element, int64_t bias, StringAttr format,
                    DenseF32ArrayAttr table, Value entries) {
  auto tile = cast<TileType>(source.getType());
  build(builder, state,
        TileType::get(tile.getShape(), element, tile.getDims(), LayoutAttr()),
        source, entries, builder.getI64IntegerAttr(bias), format, table,
        UnitAttr());
}

std::optional<double> WidenOp::unitOf(ArrayRef<float> table) {
  int lowest = std::numeric_limits<int>::max();
  double largest = 0;
  for (float entry : table) {
    largest = std::max(largest, double(std::abs(entry)));
    if (entry == 0)
      continue;
    int exponent;
    constexpr int digits = std::numeric_limits<float>::digits;
    auto significand = static_cast<uint32_t>(
        std::ldexp(std::frexp(std::abs(entry), &exponent), digits));
    lowest = std::min(lowest,
                      exponent - digits + int(llvm::countr_zero(significand)));
  }
  double unit = largest == 0 ? 1 : std::ldexp(1.0, lowest);
  return largest <= 127 * unit ? std::optional(unit) : std::nullopt;
}

LogicalResult WidenOp::verify() {
  TileType source = getSource().getType(), result = getType();
  if (source.getShape() != result.getShape() ||
      source.getDims() != result.getDims()) // C1
    return emitOpError("expected equal dims and extents, got ")
           << source << " and " << result;
  auto integer = dyn_cast<IntegerType>(source.getElementType());
  Type element = result.getElementType();
  bool isOperand =
      element.isF32() || (integer && (element.isInteger(16) ||
                                      element.isF16() || element.isBF16()));
  if (!isOperand) // C1
    return emitOpError("expected result elements f32")
           << (integer ? ", i16, f16 or bf16" : "") << ", got "
           << result.getElementType();
  if (integer && (integer.getWidth() < 2 || integer.getWidth() > 8)) // C2
    return emitOpError("expected source elements of 2 to 8 bits, got ")
           << integer;
  int64_t half = integer ? int64_t(1) << (integer.getWidth() - 1) : 0;
  if (int64_t bias = getBias(); bias != 0 && bias != half) { // C2
    InFlightDiagnostic diagnostic = emitOpError("bias: expected 0");
    if (integer)
      diagnostic << " or " << half;
    return diagnostic << ", got " << bias;
  }
  if (getInPlace()) { // C6
    if (!integer || (integer.getWidth() != 2 && integer.getWidth() != 4) ||
        !element.isF16())
      return emitOpError("in_place: expected i2 or i4 source elements and f16 "
                         "result elements, got ")
             << source.getElementType() << " and " << result.getElementType();
    if (getBias() != 0 || getFormat() || getTable() || getEntries())
      return emitOpError(
          "in_place: expected no bias, no format, no table and no entries");
  }
  if (getFormatAttr()) { // C3
    if (!integer || integer.getWidth() != 8 || !isa<FloatType>(element))
      return emitOpError("format: expected i8 source elements and float result "
                         "elements, got ")
             << source.getElementType() << " and " << result.getElementType();
    if (getBias() != 0 || getTable())
      return emitOpError("format: expected no bias and no table");
  }
  if (getEntries()) { // C5
    if (!integer || integer.getWidth() > 4 || !result.getElementType().isF32())
      return emitOpError("entries: expected source elements of 2 to 4 bits and "
                         "f32 result elements, got ")
             << source.getElementType() << " and " << result.getElementType();
    if (getBias() != 0 || getTable() || getFormat())
      return emitOpError("entries: expected no bias, no format and no table");
    int64_t count = cast<VectorType>(getEntries().getType()).getDimSize(0);
    if (count != int64_t(1) << integer.getWidth())
      return emitOpError("entries: expected ")
             << (1 << integer.getWidth()) << ", got " << count;
  }
  if (std::optional<ArrayRef<float>> table = getTable()) { // C4
    if (!integer || integer.getWidth() > 4 || getBias() != 0)
      return emitOpError("table: expected source elements of 2 to 4 bits and "
                         "no bias, got ")
             << source.getElementType() << " and " << getBias();
    if (table->size() != size_t(1) << integer.getWidth())
      return emitOpError("table: expected ")
             << (1 << integer.getWidth()) << " entries, got " << table->size();
    if (result.getElementType().isInteger() && !unitOf(*table))
      return emitOpError("table: expected multiples of a power of two, at most "
                         "127 times as large");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// dot, quantize_rows
//===----------------------------------------------------------------------===//

/// Extents of the contracted and the free dim, or an error.
static FailureOr<std::pair<int64_t, int64_t>> contractedAndFree(DotOp op) {
  StringRef contract = op.getContract();
  if (TileType tile = op.getTileType()) {
    if (tile.getShape().size() != 2 || !tile.hasDim("t") || !tile.hasDim("c"))
      return op.emitOpError("expected a tile with the dims t and c, got ")
             << tile;
    if (contract != "c" && contract != "t") // C1
      return op.emitOpError(
                 "contract: expected \"c\" or \"t\" for a tile, got \"")
             << contract << '"';
    return std::pair(tile.getExtent(contract),
                     tile.getExtent(contract == "c" ? "t" : "c"));
  }
  if (contract != "minor" && contract != "major") // C1
    return op.emitOpError(
               "contract: expected \"minor\" or \"major\" for a panel, got \"")
           << contract << '"';
  auto panel = cast<MemRefType>(op.getX().getType());
  MemRefShape shape{{Extent::known("major"), Extent::known("minor")},
                    {Float32Type::get(op.getContext())}};
  if (failed(shape.verify(op, "x", panel))) // C5
    return failure();
  int64_t major = panel.getDimSize(0), minor = panel.getDimSize(1);
  return contract == "minor" ? std::pair(minor, major)
                             : std::pair(major, minor);
}

/// Codes of any width fill whole bytes in so many.
constexpr int64_t kScaledBlock = 8;

LogicalResult DotOp::verify() {
  FailureOr<std::pair<int64_t, int64_t>> extents = contractedAndFree(*this);
  if (failed(extents)) // C1, C5
    return failure();
  auto [depth, lanes] = *extents;
  Type f32 = Float32Type::get(getContext());
  TileType tile = getTileType();
  Type element = tile ? tile.getElementType() : f32;
  if (!element.isF32() && !element.isInteger(16)) // C2
    return emitOpError("expected tile elements i16 or f32, got ") << element;
  MemRefShape weights{{Extent::known("R"), Extent::fixed("K", depth)},
                      {element}};
  if (failed(weights.verify(*this, "weights", getWeights()))) // C2
    return failure();
  Extent rows = Extent::fixed("R", getNumRows());
  MemRefShape acc{{rows, Extent::fixed("J", lanes)}, {f32}};
  if (failed(acc.verify(*this, "acc", getAcc()))) // C3
    return failure();
  MemRefShape rowScale{{rows}, {f32}},
      laneScale{{Extent::fixed("J", lanes)}, {f32}};
  if (getRowScale() &&
      failed(rowScale.verify(*this, "row_scale", getRowScale()))) // C4
    return failure();
  if (getLaneScale() && getLaneScale().getType().getRank() == 2) { // C4
    laneScale.extents.insert(laneScale.extents.begin(), Extent::known("B"));
    if (failed(laneScale.verify(*this, "lane_scale", getLaneScale())))
      return failure();
    int64_t blocks = getLaneScale().getType().getDimSize(0);
    bool hasBlocks = getContract() == "c" || getContract() == "minor";
    if (!hasBlocks || depth % (blocks * kScaledBlock) != 0)
      return emitOpError("lane_scale: expected one row, or rows for equal "
                         "blocks of a multiple of ")
             << kScaledBlock << " channels, got " << blocks << " for " << depth
             << " elements of " << getContract();
  } else if (getLaneScale() &&
             failed(laneScale.verify(*this, "lane_scale", // C4
                                     getLaneScale()))) {
    return failure();
  }
  if (tile && tile.getLayout()) // L7
    for (const layout::Digit &digit : tile.getLayout().getPack())
      if (digit.dim != getContract().front())
        return emitOpError("layout: expected pack to hold digits of ")
               << getContract() << " only, got " << layout::str(digit);
  return success();
}

/// Of any more, a weight could not even be 1.
constexpr int64_t kMaxDepth = std::numeric_limits<int32_t>::max() / 128;

LogicalResult QuantizeRowsOp::verify() {
  MLIRContext *context = getContext();
  Type f32 = Float32Type::get(context);
  MemRefShape rows{{Extent::known("R"), Extent::known("K")}, {f32}};
  if (failed(rows.verify(*this, "rows", getRows()))) // C1
    return failure();
  Extent numRows = Extent::fixed("R", getRows().getType().getDimSize(0));
  int64_t depth = getRows().getType().getDimSize(1);
  if (depth > kMaxDepth) // C2
    return emitOpError("rows: expected at most ")
           << kMaxDepth << " weights of a row, got " << depth;
  MemRefShape weights{{numRows, Extent::fixed("K", depth)},
                      {IntegerType::get(context, 16)}};
  if (failed(weights.verify(*this, "weights", getWeights()))) // C1
    return failure();
  MemRefShape scale{{numRows}, {f32}};
  return scale.verify(*this, "scale", getScale()); // C1
}

int64_t QuantizeRowsOp::getMaxWeight(int64_t depth) {
  return std::min<int64_t>(32767, kMaxDepth / depth);
}

//===----------------------------------------------------------------------===//
// Rows and metadata
//===----------------------------------------------------------------------===//

template <typename Op>
static LogicalResult verifyRow(Op op, VectorType row) {
  const spec::PartScheme *part = partOrError(op);
  if (!part) // C1
    return failure();
  if (failed(verifyChannels(op, row.getNumElements(), *part))) // C2
    return failure();
  if (failed(verifyCodeElement(op, row.getElementType(), *part,
                               /*integerBits=*/8))) // C3
    return failure();
  unsigned low = layout::lowBits(op.getCache().getType().getSpec().layout,
                                 part->codec),
           width = op.getHigh() ? part->codec.bits - low : low;
  if (width == 0) // C5
    return op.emitOpError("high: expected it only where bits of codes lie "
                          "apart, codec ")
           << spec::codecName(part->codec) << " has none";
  return verifyCodeStorage(op, width, *part); // C4
}

LogicalResult LoadRowOp::verify() {
  return verifyRow(*this, cast<VectorType>(getType()));
}

LogicalResult StoreRowOp::verify() {
  return verifyRow(*this, cast<VectorType>(getSource().getType()));
}

/// C1, C2 of all metadata ops.
template <typename Op>
static const spec::PartScheme *metaPartOrError(Op op) {
  const spec::PartScheme *part = partOrError(op);
  if (!part) // C1
    return nullptr;
  bool has = isOutlier(op.getKind()) ? part->outliers > 0
             : op.getKind() == MetaKind::Scale
                 ? part->scale && !part->hasStaticScale()
                 : part->zero != spec::Zero::None;
  if (!has) { // C2
    op.emitOpError("kind: the part has no ") << stringifyMetaKind(op.getKind());
    return nullptr;
  }
  return part;
}

template <typename Op>
static LogicalResult verifyMetaStorage(Op op, const spec::PartScheme &part) {
  constexpr unsigned kOutlierBits = 16;
  if (isOutlier(op.getKind()))
    return verifyStorage(op, kOutlierBits, 'b', part.outliers,
                         /*blockTokens=*/1);
  return verifyStorage(op, spec::bitsOf(part.scale->dtype), 'b', part.blocks(),
                       part.scale->tokens);
}

LogicalResult LoadMetaOp::verify() {
  const spec::PartScheme *part = metaPartOrError(*this);
  if (!part) // C1, C2
    return failure();
  if (isa<VectorType>(getType()) != static_cast<bool>(getValid())) // C3
    return emitOpError() << (getValid()
                                 ? "expected a vector result with valid, got "
                                 : "expected valid with a vector result, got ")
                         << getType();
  return verifyMetaStorage(*this, *part); // C4
}

LogicalResult LoadMetaTileOp::verify() {
  const spec::PartScheme *part = metaPartOrError(*this);
  if (!part) // C1, C2
    return failure();
  int64_t blocks = isOutlier(getKind()) ? part->outliers : part->blocks();
  MemRefShape into{{Extent::fixed("B", blocks), Extent::known("T")},
                   {Float32Type::get(getContext())}};
  if (failed(into.verify(*this, "into", getInto()))) // C3
    return failure();
  return verifyMetaStorage(*this, *part); // C4
}

LogicalResult LoadMetaRowOp::verify() {
  const spec::PartScheme *part = metaPartOrError(*this);
  if (!part) // C1, C2
    return failure();
  if (isOutlier(getKind())) // C2
    return emitOpError("kind: expected scale or zero, got ")
           << stringifyMetaKind(getKind());
  if (getType().getDimSize(0) != part->channels()) // C3
    return emitOpError("expected a vector of ")
           << part->channels() << " channels, got " << getType();
  return verifyMetaStorage(*this, *part); // C4
}

LogicalResult StoreMetaOp::verify() {
  const spec::PartScheme *part = metaPartOrError(*this);
  return part ? verifyMetaStorage(*this, *part) : failure(); // C1, C2, C3
}

LogicalResult LoadSchemeOp::verify() {
  return kvc::detail::verifySchemeInput(*this, "vector"); // C1, C2, C3
}

LogicalResult LookupOp::verify() {
  int64_t entries = getTable().getType().getDimSize(0);
  if (entries != 4 && entries != 8 && entries != 16) // C1
    return emitOpError("table: expected 4, 8 or 16 entries, got ") << entries;
  if (getType().getShape() != getCodes().getType().getShape()) // C2
    return emitOpError("expected as many results as codes, got ")
           << getType() << " for " << getCodes().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// mma
//===----------------------------------------------------------------------===//

/// Dims and element of an operand, which is a tensor or a tile of a cache.
struct MmaOperandType {
  SmallVector<TileDim> dims;
  Type element;

  explicit MmaOperandType(Type type) {
    if (auto tile = dyn_cast<TileType>(type)) {
      for (auto [dim, extent] :
           llvm::zip_equal(tile.getDims().getNames(), tile.getShape()))
        dims.push_back({dim.getValue(), extent});
      element = tile.getElementType();
    } else {
      dims = tileDimsOf(type);
      element = cast<RankedTensorType>(type).getElementType();
    }
  }
  const TileDim *find(StringRef name) const {
    const auto *found = llvm::find_if(
        dims, [&](const TileDim &dim) { return dim.first == name; });
    return found == dims.end() ? nullptr : found;
  }
  /// The first dim that `other` has too, or with `shared` false, lacks.
  const TileDim *firstOf(const MmaOperandType &other, bool shared) const {
    const auto *found = llvm::find_if(dims, [&](const TileDim &dim) {
      return bool(other.find(dim.first)) == shared;
    });
    return found == dims.end() ? nullptr : found;
  }
};

StringRef MmaOp::getDepthDim() {
  return MmaOperandType(getLhs().getType())
      .firstOf(MmaOperandType(getRhs().getType()), /*shared=*/true)
      ->first;
}
StringRef MmaOp::getRowDim() {
  return MmaOperandType(getLhs().getType())
      .firstOf(MmaOperandType(getRhs().getType()), /*shared=*/false)
      ->first;
}
StringRef MmaOp::getColumnDim() {
  return MmaOperandType(getRhs().getType())
      .firstOf(MmaOperandType(getLhs().getType()), /*shared=*/false)
      ->first;
}

LogicalResult MmaOp::verify() {
  MmaOperandType lhs(getLhs().getType()), rhs(getRhs().getType());
  const TileDim *depth = lhs.firstOf(rhs, true), *row = lhs.firstOf(rhs, false),
                *column = rhs.firstOf(lhs, false);
  if (lhs.dims.size() != 2 || rhs.dims.size() != 2 || !depth || !row ||
      !column || rhs.find(depth->first)->second != depth->second) // C1
    return emitOpError("expected operands of two dims that share one, got ")
           << getLhs().getType() << " and " << getRhs().getType();
  SmallVector<TileDim> dims = tileDimsOf(getType());
  if (dims.size() != 2 || !llvm::is_contained(dims, *row) ||
      !llvm::is_contained(dims, *column)) // C2
    return emitOpError("expected a result with the dims ")
           << row->first << " and " << column->first << ", got " << getType();
  if (lhs.element != rhs.element ||
      !(lhs.element.isF16() || lhs.element.isBF16())) // C3
    return emitOpError("expected operands of f16 or of bf16, got ")
           << lhs.element << " and " << rhs.element;
  return success();
}

} // namespace kvc::kvk
