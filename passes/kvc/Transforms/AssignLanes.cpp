//===- AssignLanes.cpp - Choose the lanes of every tile -------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// One layout per set of dims of a kernel (Analysis/LaneLayouts.h), found at its
// products; then one walk in program order that gives each value its layout and
// inserts conversions.
//
//===----------------------------------------------------------------------===//

#include "kvc/Analysis/LaneLayouts.h"
#include "kvc/Dialect/KVC/KVCDialect.h"
#include "kvc/Dialect/KVC/KVCTileOps.h"
#include "kvc/Dialect/KVC/KVCTiles.h"
#include "kvc/Dialect/KVC/KVCTypes.h"
#include "kvc/Dialect/KVK/KVKDialect.h"
#include "kvc/Dialect/KVK/KVKOps.h"
#include "kvc/Dialect/KVK/KVKTypes.h"
#include "kvc/Layout/Convert.h"
#include "kvc/Layout/PageLayout.h"
#include "kvc/Layout/Tile.h"
#include "kvc/Remark.h"
#include "kvc/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace mlir;

namespace kvc {

#define GEN_PASS_DEF_ASSIGNLANES
#include "kvc/Transforms/Passes.h.inc"

namespace {

using layout::RegisterLayout;

LaneDims laneDimsOf(Type tile) {
  LaneDims dims;
  for (auto [name, extent] : tileDimsOf(tile))
    dims.push_back({name.front(), extent});
  return dims;
}

std::string keyOf(Type tile) {
  std::string key;
  for (StringRef dim : dimsOf(tile))
    key += dim.front();
  llvm::sort(key);
  return key;
}

/// Dims and extents: what has one layout in a kernel.
std::string nameOf(Type tile) {
  SmallVector<std::string> dims;
  for (auto [dim, extent] : tileDimsOf(tile))
    dims.push_back((dim + Twine(extent)).str());
  llvm::sort(dims);
  return llvm::join(dims, " ");
}

/// The op that names the codes of a product's left operand.
kvk::LoadOp loadOf(Value operand) {
  if (auto widen = operand.getDefiningOp<kvk::WidenOp>())
    operand = widen.getSource();
  return operand.getDefiningOp<kvk::LoadOp>();
}

class Assignment {
public:
  Assignment(func::FuncOp func, bool remarks) : func(func), remarks(remarks) {}

  LogicalResult run() {
    WalkResult result = func.walk([&](kvk::MmaOp op) {
      return failed(anchor(op)) ? WalkResult::interrupt()
                                : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    findSharedBytes();
    findBlocks();
    findRows();
    return assign(func.getBody().front());
  }

private:
  //===--------------------------------------------------------------------===//
  // Layouts by dims
  //===--------------------------------------------------------------------===//

  LogicalResult anchor(kvk::MmaOp op) {
    Value lhs = op.getLhs();
    bool isLoaded = isa<kvk::TileType>(lhs.getType());
    kvk::LoadOp load = loadOf(lhs);
    if (isLoaded && (!load || !load.getStorageAttr()))
      return op.emitOpError("expected codes of a cache with their storage as "
                            "the left operand");
    auto extentOfLhs = [&](StringRef dim) {
      auto tile = dyn_cast<kvk::TileType>(lhs.getType());
      return tile ? tile.getExtent(dim) : extentOf(lhs.getType(), dim);
    };
    auto rhs = cast<RankedTensorType>(op.getRhs().getType());
    auto named = [](StringRef dim, int64_t extent) {
      return std::pair(dim.front(), extent);
    };
    StringRef row = op.getRowDim(), depth = op.getDepthDim(),
              column = op.getColumnDim();
    char channels = row == "t" ? depth.front() : row.front();
    layout::Storage storage;
    if (isLoaded)
      storage = load.getStorageAttr().getStorage();
    for (layout::Digit &digit : storage.addr)
      if (digit.dim == 'c')
        digit.dim = channels;
    unsigned width = storage.width;
    bool isInt = isLoaded && width < 16 && !formatOf(lhs);
    unsigned packPosition = isInt ? llvm::Log2_32(16 / width) : 0;
    std::optional<ProductLayouts> found = productLayouts(
        named(row, extentOfLhs(row)), named(depth, extentOfLhs(depth)),
        named(column, extentOf(rhs, column)), channels, storage, packPosition);
    if (!found)
      return op.emitOpError("expected multiples of 16 ")
             << row << ", 16 " << depth << " and 8 " << column << ", got "
             << lhs.getType() << " and " << rhs;
    layouts[nameOf(op.getType())] = found->result;
    order.push_back(found->result);
    products[op] = *found;
    if (!isLoaded) {
      layouts[nameOf(lhs.getType())] = unpacked(found->lhs);
      order.push_back(unpacked(found->lhs));
    }
    // Others are results of an earlier product.
    if (isQuery(op.getRhs())) {
      layouts[nameOf(rhs)] = unpacked(found->rhs);
      order.push_back(unpacked(found->rhs));
    }
    if (remarks)
      emitChoice(op) << row << " x " << column << ": registers "
                     << layout::str(found->result);
    return success();
  }

  /// As f32s have it.
  static RegisterLayout unpacked(RegisterLayout layout) {
    layout.reg.insert(layout.reg.begin(), layout.pack.begin(),
                      layout.pack.end());
    layout.pack.clear();
    return layout;
  }

  /// Tiles in blocks of channels have the layout of the channels.
  void findBlocks() {
    func.walk([&](Operation *op) {
      if (!isa<SplitOp, JoinOp>(op))
        return;
      Type split = op->getResult(0).getType(),
           whole = op->getOperand(0).getType();
      if (isa<JoinOp>(op))
        std::swap(split, whole);
      auto known = layouts.find(nameOf(whole));
      if (known == layouts.end() || layouts.count(nameOf(split)) != 0)
        return;
      char channels = dimsOf(whole).back().front();
      if (auto blocks =
              inBlocks(*known->second, channels, extentOf(split, "e"))) {
        layouts[nameOf(split)] = *blocks;
        order.push_back(*blocks);
      }
    });
  }

  /// `layout` with blocks of `inner` channels, nothing where a digit belongs to
  /// both.
  static std::optional<RegisterLayout> inBlocks(RegisterLayout layout,
                                                char channels, int64_t inner) {
    for (layout::Digits *space : {&layout.pack, &layout.reg, &layout.lane})
      for (layout::Digit &digit : *space) {
        if (digit.dim != channels)
          continue;
        if (digit.place * digit.count <= inner) {
          digit.dim = 'e';
        } else if (digit.place % inner == 0) {
          digit.dim = 'b';
          digit.place /= inner;
        } else {
          return std::nullopt;
        }
      }
    return layout;
  }

  static bool formatOf(Value operand) {
    auto widen = operand.getDefiningOp<kvk::WidenOp>();
    return widen && widen.getFormatAttr();
  }

  /// Whether an operand comes from outside of the loop over keys.
  bool isQuery(Value operand) { return !hasDim(operand.getType(), "t"); }

  /// Channels whose codes share a byte stay in one lane, where appends store
  /// them.
  void findSharedBytes() {
    func.walk([&](StoreCodesOp op) {
      const spec::Spec &spec = op.getCache().getType().getSpec();
      layout::PageLayout pages =
          layout::pageLayout(spec, op.getTensor(), layout::TargetFamily::Nvptx);
      Type source = op.getSource().getType();
      for (const layout::Region &region : pages.regions)
        if (region.part == op.getPart() &&
            (region.kind == layout::RegionKind::Codes ||
             region.kind == layout::RegionKind::HighCodes))
          keepBytes(region.storage,
                    hasDim(source, "e") ? extentOf(source, "e") : 0);
    });
  }

  /// `extent`: of e in a tile that has it.
  void keepBytes(const layout::Storage &storage, int64_t extent) {
    // Of widths that do not divide a byte eight codes are the first whole
    // bytes, or all of a row.
    constexpr int64_t kByte = 8;
    bool isOdd = kByte % storage.width != 0;
    int64_t codes = isOdd ? kByte : kByte / storage.width, count = 1;
    if (isOdd && layout::extentOf(storage.addr, 'c') % kByte != 0)
      codes = std::numeric_limits<int64_t>::max();
    for (const layout::Digit &digit : storage.addr) {
      if (storage.width >= kByte || count >= codes || digit.dim != 'c')
        break;
      count *= digit.count;
      layout::Digit inTile = digit;
      if (extent)
        inTile = digit.place < extent
                     ? layout::Digit{'e', digit.place, digit.count}
                     : layout::Digit{'b', digit.place / extent, digit.count};
      if (!llvm::is_contained(inLane, inTile))
        inLane.push_back(inTile);
    }
  }

  /// Tiles of several dims come before values that are slices of them.
  void findRows() {
    constexpr size_t kMostDims = 4;
    for (size_t dims = kMostDims; dims > 1; --dims)
      func.walk([&](Operation *op) {
        for (Type type : op->getResultTypes())
          if (isTile(type) && dimsOf(type).size() == dims)
            layoutFor(type);
      });
  }

  RegisterLayout layoutFor(Type tile) {
    auto &known = layouts[nameOf(tile)];
    if (known)
      return *known;
    for (const RegisterLayout &each : order) {
      layout::Digits digits = each.digits();
      if (llvm::all_of(laneDimsOf(tile), [&](const auto &dim) {
            // One element has no digit.
            return layout::extentOf(digits, dim.first) == dim.second;
          }))
        return *(known = layout::sliceLayout(each, keyOf(tile)));
    }
    // Every lane has a table.
    layout::Digits alone = inLane;
    for (auto [dim, extent] : tileDimsOf(tile))
      if (dim == "n")
        alone = layout::digitsOf('n', extent);
    RegisterLayout rows = rowLayout(laneDimsOf(tile), alone);
    order.push_back(rows);
    return *(known = rows);
  }

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  void setLayouts(Operation *op, ArrayRef<RegisterLayout> each) {
    SmallVector<Attribute> attributes;
    for (const RegisterLayout &layout : each)
      attributes.push_back(kvk::LayoutAttr::get(func.getContext(), layout));
    op->setAttr(kvk::KVKDialect::getLayoutsAttrName(),
                ArrayAttr::get(func.getContext(), attributes));
  }

  void give(Value value, const RegisterLayout &layout) {
    layoutOf[value] = layout;
  }

  /// `value` in the layout `wanted`, for use at `op`.
  Value ensure(Value value, const RegisterLayout &wanted, Operation *op) {
    auto known = layoutOf.find(value);
    if (known == layoutOf.end() || known->second == wanted)
      return value;
    OpBuilder b(op->getContext());
    b.setInsertionPointAfterValue(value);
    if (auto constant = value.getDefiningOp<arith::ConstantOp>();
        constant && cast<DenseElementsAttr>(constant.getValue()).isSplat()) {
      Operation *copy = b.clone(*constant);
      setLayouts(copy, wanted);
      give(copy->getResult(0), wanted);
      return copy->getResult(0);
    }
    Value &converted =
        conversions[{value.getAsOpaquePointer(), layout::str(wanted)}];
    if (converted)
      return converted;
    auto convert = kvk::ConvertLayoutOp::create(b, op->getLoc(), value);
    setLayouts(convert, wanted);
    give(convert, wanted);
    if (remarks)
      if (auto plan = layout::convert(known->second, wanted))
        emitChoice(op) << keyOf(value.getType()) << ": " << plan->str();
    return converted = convert;
  }

  void ensureOperand(Operation *op, unsigned number,
                     const RegisterLayout &wanted) {
    op->setOperand(number, ensure(op->getOperand(number), wanted, op));
  }

  LogicalResult assign(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block))
      if (failed(assign(&op)))
        return failure();
    return success();
  }

  LogicalResult assign(Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return assign(loop);
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return assign(branch);
    if (auto mma = dyn_cast<kvk::MmaOp>(op)) {
      assign(mma);
      return success();
    }
    if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      RegisterLayout result = layoutFor(broadcast.getType());
      if (isTile(broadcast.getSource().getType()))
        ensureOperand(op, 0,
                      layout::sliceLayout(
                          result, keyOf(broadcast.getSource().getType())));
      return finish(op, result);
    }
    if (auto reduce = dyn_cast<ReduceOp>(op))
      return finish(op, layout::sliceLayout(layoutOf[reduce.getSource()],
                                            keyOf(reduce.getType())));
    if (auto narrow = dyn_cast<arith::TruncFOp>(op);
        narrow && isTile(narrow.getType()))
      return finish(op, narrowed(narrow));
    if (op->getNumResults() == 1 && isTile(op->getResult(0).getType())) {
      RegisterLayout result = layoutFor(op->getResult(0).getType());
      if (isa<PickOp, PatchOp>(op))
        for (Value index : op->getOperands().drop_front())
          ensureOperand(op, index == op->getOperand(1) ? 1 : 2,
                        layoutFor(index.getType()));
      // One to one, with the layout that the operand has.
      if (isa<RotateOp, RoundToOp, PowerOfTwoOp, EncodeFloatOp, DecodeFloatOp,
              LookupOp, GatherOp, NearestOp>(op))
        if (auto known = layoutOf.find(op->getOperand(0));
            known != layoutOf.end())
          result = known->second;
      if (op->hasTrait<OpTrait::Elementwise>()) {
        // The layout that most of a chain already has.
        for (Value operand : op->getOperands())
          if (auto known = layoutOf.find(operand);
              known != layoutOf.end() &&
              !operand.getDefiningOp<arith::ConstantOp>()) {
            result = known->second;
            break;
          }
        for (unsigned i = 0; i < op->getNumOperands(); ++i)
          ensureOperand(op, i, result);
      }
      return finish(op, result);
    }
    return success();
  }

  LogicalResult finish(Operation *op, const RegisterLayout &layout) {
    setLayouts(op, layout);
    give(op->getResult(0), layout);
    return success();
  }

  /// Pairs of 16-bit elements of a product's operand share a register.
  RegisterLayout narrowed(arith::TruncFOp op) {
    for (Operation *user : op->getUsers())
      if (auto mma = dyn_cast<kvk::MmaOp>(user);
          mma && (mma.getLhs() == op.getResult() || isQuery(op))) {
        const ProductLayouts &product = products.at(mma);
        const RegisterLayout &wanted =
            mma.getLhs() == op.getResult() ? product.lhs : product.rhs;
        ensureOperand(op, 0, unpacked(wanted));
        return wanted;
      }
    RegisterLayout layout = layoutOf[op.getIn()];
    bool isOperand = llvm::any_of(
        op->getUsers(), [](Operation *user) { return isa<kvk::MmaOp>(user); });
    if (isOperand && layout.pack.empty() && !layout.reg.empty() &&
        layout.reg.front().count == 2) {
      layout.pack = {layout.reg.front()};
      layout.reg.erase(layout.reg.begin());
    }
    return layout;
  }

  void assign(kvk::MmaOp op) {
    const ProductLayouts &product = products.at(op);
    auto asOperand = [&](Value value, const RegisterLayout &wanted) -> Value {
      auto narrow = value.getDefiningOp<arith::TruncFOp>();
      if (!narrow || layoutOf[value].pack == wanted.pack)
        return ensure(value, wanted, op);
      // Pairs are formed where they are wanted.
      OpBuilder b(narrow);
      auto copy = cast<arith::TruncFOp>(b.clone(*narrow));
      ensureOperand(copy, 0, unpacked(wanted));
      setLayouts(copy, wanted);
      give(copy, wanted);
      return copy;
    };
    auto withLayout = [&](Value value) {
      auto type = cast<kvk::TileType>(value.getType());
      value.setType(kvk::TileType::get(
          type.getShape(), type.getElementType(), type.getDims(),
          kvk::LayoutAttr::get(func.getContext(), product.lhs)));
    };
    if (isa<kvk::TileType>(op.getLhs().getType()))
      withLayout(op.getLhs());
    else
      op.getLhsMutable().set(asOperand(op.getLhs(), product.lhs));
    op.getRhsMutable().set(isQuery(op.getRhs())
                               ? asOperand(op.getRhs(), product.rhs)
                               : ensure(op.getRhs(), product.rhs, op));
    if (op.getAcc())
      op.getAccMutable().assign(ensure(op.getAcc(), product.result, op));
    setLayouts(op, product.result);
    give(op, product.result);
  }

  LogicalResult assign(scf::ForOp loop) {
    SmallVector<RegisterLayout> results;
    for (auto [i, init] : llvm::enumerate(loop.getInitArgs())) {
      if (!isTile(init.getType())) {
        results.emplace_back();
        continue;
      }
      RegisterLayout layout = layoutFor(init.getType());
      loop.getInitArgsMutable()[unsigned(i)].set(ensure(init, layout, loop));
      give(loop.getRegionIterArg(unsigned(i)), layout);
      give(loop.getResult(unsigned(i)), layout);
      results.push_back(layout);
    }
    if (!results.empty())
      setLayouts(loop, results);
    if (failed(assign(*loop.getBody())))
      return failure();
    return assignYield(loop.getBody()->getTerminator(), results);
  }

  LogicalResult assign(scf::IfOp branch) {
    SmallVector<RegisterLayout> results;
    for (Value result : branch.getResults()) {
      results.emplace_back();
      if (!isTile(result.getType()))
        continue;
      results.back() = layoutFor(result.getType());
      give(result, results.back());
    }
    if (!results.empty())
      setLayouts(branch, results);
    for (Region &region : branch->getRegions())
      if (!region.empty() &&
          (failed(assign(region.front())) ||
           failed(assignYield(region.front().getTerminator(), results))))
        return failure();
    return success();
  }

  LogicalResult assignYield(Operation *yield, ArrayRef<RegisterLayout> wanted) {
    for (unsigned i = 0; i < yield->getNumOperands(); ++i)
      if (isTile(yield->getOperand(i).getType()))
        ensureOperand(yield, i, wanted[i]);
    return success();
  }

  func::FuncOp func;
  bool remarks;
  /// By nameOf.
  std::map<std::string, std::optional<RegisterLayout>> layouts;
  std::vector<RegisterLayout> order; ///< What slices are taken of.
  layout::Digits inLane;
  DenseMap<Operation *, ProductLayouts> products;
  DenseMap<Value, RegisterLayout> layoutOf;
  /// By value and layout.
  std::map<std::pair<const void *, std::string>, Value> conversions;
};

class AssignLanes : public impl::AssignLanesBase<AssignLanes> {
public:
  using Base::Base;

  void runOnOperation() override {
    if (!getOperation().isExternal() &&
        failed(Assignment(getOperation(), remarks).run()))
      signalPassFailure();
  }
};

} // namespace

} // namespace kvc
