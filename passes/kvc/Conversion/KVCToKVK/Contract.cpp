//===- Contract.cpp - Contractions become kvk.dot -------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Every contraction has rows of weights on its left (queries or probabilities,
// in scratch) and tokens on its right. If the right side is codes and nothing
// but a cast, the dot reads them from the cache itself; otherwise they were
// dequantised into a panel of scratch. Two shapes around a dot are folded into
// it:
//
//   o * alpha + dot            a rescale of the rows of o whose alpha is not 1,
//                              then a dot that accumulates (`Accumulation`)
//   sum_b scale[b] * dot[b]    dots over channel blocks that accumulate, each
//                              scaled per token (`PartialDots`)
//
//===----------------------------------------------------------------------===//

#include "Converter.h"

#include "kvc/Analysis/TileOrder.h"
#include "kvc/Dialect/KVK/KVKOps.h"
#include "kvc/Layout/PageLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;

namespace kvc {

namespace {

/// The load_codes behind casts and splits, or null.
LoadCodesOp codesBehind(Value tile) {
  Operation *op = tile.getDefiningOp();
  while (op && (isWidening(op) || isa<SplitOp>(op)))
    op = op->getOperand(0).getDefiningOp();
  return dyn_cast_if_present<LoadCodesOp>(op);
}

/// What decodes the codes behind casts and splits, or null.
Operation *decodingBehind(Value tile) {
  Operation *op = tile.getDefiningOp();
  while (op && !isa<LoadCodesOp, DecodeFloatOp, LookupOp, GatherOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return isa_and_present<LoadCodesOp>(op) ? nullptr : op;
}

float valueOf(const spec::FloatFormat &format, unsigned code) {
  unsigned mantissa = code & ((1U << format.mantissaBits) - 1),
           exponent = (code >> format.mantissaBits) &
                      ((1U << format.exponentBits) - 1);
  if (exponent > 0)
    mantissa |= 1U << format.mantissaBits;
  float magnitude =
      std::ldexp(float(mantissa), int(std::max(exponent, 1U)) - format.bias -
                                      format.mantissaBits);
  return code >> (format.mantissaBits + format.exponentBits) ? -magnitude
                                                             : magnitude;
}

/// The values of the codes that an operation decodes; none where they are many,
/// or not known.
SmallVector<float> tableOf(Operation *decoding) {
  constexpr int kFewBits = 4;
  if (auto lookup = dyn_cast_if_present<LookupOp>(decoding))
    return llvm::to_vector(lookup.getTable());
  SmallVector<float> table;
  if (auto decode = dyn_cast_if_present<DecodeFloatOp>(decoding)) {
    const spec::FloatFormat &format = spec::formatOf(decode.getFormat());
    int bits = 1 + format.exponentBits + format.mantissaBits;
    for (unsigned code = 0; bits <= kFewBits && code < 1U << bits; ++code)
      table.push_back(valueOf(format, code));
  }
  return table;
}

/// The one user of a value, or null.
Operation *onlyUser(Value value) {
  return value.hasOneUse() ? *value.user_begin() : nullptr;
}

Value otherOperand(Operation *op, Value value) {
  return op->getOperand(0) == value ? op->getOperand(1) : op->getOperand(0);
}

bool isInteger(Value tile) {
  return cast<RankedTensorType>(tile.getType()).getElementType().isInteger();
}

/// Channel blocks are a batch dim: a dot for each.
bool isByBlocks(ContractOp contract) {
  return llvm::all_of(TypeRange{contract.getLhs().getType(),
                                contract.getRhs().getType(),
                                contract.getType()},
                      [](Type type) { return hasDim(type, "b"); });
}

} // namespace

bool isWidening(Operation *op) {
  return isa<arith::SIToFPOp, arith::ExtFOp, DecodeFloatOp, LookupOp, GatherOp>(
      op);
}

/// Codes are multiplied by 16-bit weights.
bool Converter::takesIntegers(LoadCodesOp load, Operation *decoding) {
  if (!integerDots || !isInteger(load.getResult()) ||
      load.getCache().getType().getSpec().io.query == spec::DType::F32)
    return false;
  SmallVector<float> table = tableOf(decoding);
  return table.empty() ? !isa_and_nonnull<DecodeFloatOp, GatherOp>(decoding)
                       : kvk::WidenOp::unitOf(table).has_value();
}

/// Whether a loop nest over `channels` channels reads the codes in the order in
/// which they are stored, with the free or the contracted dim on the lanes.
bool Converter::readsOnLanes(LoadCodesOp load, ContractOp contract,
                             int64_t channels, bool freeDim) {
  const spec::Spec &spec = load.getCache().getType().getSpec();
  layout::PageLayout pages =
      layout::pageLayout(spec, load.getTensor(), layout::TargetFamily::Host);
  int64_t tokens = extentOf(load.getType(), "t");
  bool sumsTokens = !hasDim(contract.getType(), "t");
  DotShape shape{sumsTokens ? 't' : 'c',
                 sumsTokens ? 'c' : 't',
                 sumsTokens ? tokens : channels,
                 sumsTokens ? channels : tokens,
                 takesIntegers(load, decodingBehind(contract.getRhs())),
                 isInteger(load.getResult())};
  const layout::Storage &storage =
      pages.region(layout::RegionKind::Codes, load.getPart()).storage;
  return operandLayout(storage, shape, freeDim ? shape.free : shape.contracted)
      .has_value();
}

bool Converter::dotReads(LoadCodesOp load, ContractOp contract) {
  int64_t channels = isByBlocks(contract)
                         ? extentOf(contract.getRhs().getType(), "e")
                         : load.getType().getDimSize(1);
  return readsOnLanes(load, contract, channels, /*freeDim=*/true) ||
         readsOnLanes(load, contract, channels, /*freeDim=*/false);
}

bool Converter::onlyDotsRead(LoadCodesOp load) {
  // Rows that begin anywhere are dequantised one by one.
  return !load.getUnaligned() && onlyDotsRead(load.getResult(), load);
}

bool Converter::onlyDotsRead(Value codes, LoadCodesOp load) {
  return llvm::all_of(codes.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto contract = dyn_cast<ContractOp>(user))
      return use.getOperandNumber() == 1 && dotReads(load, contract);
    return (isWidening(user) || isa<SplitOp>(user)) &&
           onlyDotsRead(user->getResult(0), load);
  });
}

void Converter::findDotPatterns(Block &block) {
  for (Operation &op : block) {
    if (!isa<ContractOp, ScatterDotOp>(op))
      continue;
    Value dot = op.getResult(0);
    Operation *user = onlyUser(dot), *join = nullptr;
    if (user && isa<JoinOp>(user)) {
      join = user;
      dot = join->getResult(0);
      user = onlyUser(dot);
    }
    if (!user || user->getBlock() != &block)
      continue;

    if (auto sum = dyn_cast<arith::AddFOp>(user)) {
      auto rescale = otherOperand(sum, dot).getDefiningOp<arith::MulFOp>();
      Value carried = carriedOfYielded.lookup(sum.getResult());
      if (!carried || !rescale || !rescale->hasOneUse() ||
          !carried.hasOneUse() || *carried.user_begin() != rescale)
        continue;
      auto alpha = otherOperand(rescale, carried).getDefiningOp<BroadcastOp>();
      Operation *definition =
          alpha ? alpha.getSource().getDefiningOp() : nullptr;
      if (!definition || definition->getBlock() != &block ||
          !definition->isBeforeInBlock(&op))
        continue;
      accumulations[&op] = {carried, alpha.getSource(), sum.getResult()};
      covered.insert(sum);
      covered.insert(rescale);
      if (join)
        covered.insert(join);
      if (alpha->hasOneUse())
        covered.insert(alpha);
      continue;
    }

    auto contract = dyn_cast<ContractOp>(op);
    auto scaled = dyn_cast<arith::MulFOp>(user);
    auto sum = contract && scaled
                   ? dyn_cast_if_present<ReduceOp>(onlyUser(scaled.getResult()))
                   : nullptr;
    if (join || !sum || sum.getKind() != ReductionKind::Add ||
        hasDim(sum.getType(), "b") || !isByBlocks(contract) ||
        !hasDim(dot.getType(), "t"))
      continue;
    auto factor = otherOperand(scaled, dot).getDefiningOp<BroadcastOp>();
    if (!factor || hasDim(factor.getSource().getType(), "r") ||
        !hasDim(factor.getSource().getType(), "t"))
      continue;
    partialDots[contract] = {factor.getSource(), sum.getResult()};
    covered.insert(scaled);
    covered.insert(sum);
    if (factor->hasOneUse())
      covered.insert(factor);
  }
}

void Converter::expandSkinnyContracts() {
  SmallVector<ContractOp> skinny;
  function.walk([&](ContractOp contract) {
    // A row of numbers, or of tokens in each block: no panel.
    Type type = contract.getRhs().getType();
    std::optional<TileDim> vector = TileShape::of(type).vector;
    if (vector && (vector->first == "t" || dimsOf(type).size() == 1) &&
        !codesBehind(contract.getRhs()))
      skinny.push_back(contract);
  });
  for (ContractOp contract : skinny) {
    OpBuilder at(contract);
    Location loc = contract.getLoc();
    SmallVector<TileDim> dims;
    for (Value operand : contract->getOperands())
      for (StringRef dim : dimsOf(operand.getType()))
        if (llvm::none_of(dims,
                          [&](auto &known) { return known.first == dim; }))
          dims.push_back({dim, extentOf(operand.getType(), dim)});
    auto element = cast<RankedTensorType>(contract.getType()).getElementType();
    RankedTensorType product = makeTile(at.getContext(), dims, element);
    Value lhs = contract.getLhs(), rhs = contract.getRhs();
    if (lhs.getType() != product)
      lhs = BroadcastOp::create(at, loc, product, lhs);
    if (rhs.getType() != product)
      rhs = BroadcastOp::create(at, loc, product, rhs);
    Value scaled = arith::MulFOp::create(at, loc, lhs, rhs);
    Value sum = ReduceOp::create(at, loc, contract.getType(),
                                 ReductionKind::Add, scaled);
    contract.replaceAllUsesWith(sum);
    contract.erase();
  }
}

Value Converter::rescaledSumOf(Operation *dot) {
  auto it = accumulations.find(dot);
  if (it == accumulations.end())
    return {};
  const Accumulation &pattern = it->second;
  Value into = tiles[pattern.carried].scratch;
  rescaleRows(into, scratchOf(pattern.alpha));
  tiles[pattern.sum].scratch = into;
  return into;
}

void Converter::convertContract(ContractOp contract) {
  // Where the result goes: into the carried rows, into the sum of partial dots,
  // or into scratch of its own.
  Value result = contract.getResult(), into = rescaledSumOf(contract);
  bool accumulates = into != nullptr;
  if (into) {
    if (TileShape shape = TileShape::of(result.getType());
        shape.isLoop("b")) // joined
      into = expandRows(into, shape.scratchType());
  } else if (auto it = partialDots.find(contract); it != partialDots.end()) {
    into = newScratch(TileShape::of(it->second.sum.getType()).scratchType());
    fill(into, builder.getF32FloatAttr(0));
    tiles[it->second.sum].scratch = into;
    accumulates = true;
  } else {
    into = newScratch(TileShape::of(result.getType()).scratchType());
    tiles[result].scratch = into;
  }

  emitDots(contract, into, accumulates);
}

/// The right side of a contraction: codes where they lie in a cache, or a panel
/// of floats.
Converter::DotOperand Converter::operandOf(ContractOp contract) {
  Value rhs = contract.getRhs();
  DotOperand operand;
  operand.sumsTokens = !hasDim(contract.getType(), "t");
  operand.tokens = extentOf(rhs.getType(), "t");
  if (LoadCodesOp codes = codesBehind(rhs); codes && tiles[rhs].codes) {
    operand.codes = codes;
    Operation *decoding = decodingBehind(rhs);
    SmallVector<float> table = tableOf(decoding);
    if (!table.empty())
      operand.table = builder.getDenseF32ArrayAttr(table);
    else if (auto decode = dyn_cast_if_present<DecodeFloatOp>(decoding))
      operand.format = decode.getFormatAttr();
    else if (auto gather = dyn_cast_if_present<GatherOp>(decoding)) {
      Iteration once({}, {});
      operand.entries = inIteration(once, gather.getTable());
    }
    operand.isInteger = takesIntegers(codes, decoding);
    return operand;
  }
  operand.panel = flatRows(scratchOf(rhs));
  if (operand.sumsTokens && tiles[rhs].valid)
    zeroRowsFrom(operand.panel, tiles[rhs].valid);
  return operand;
}

/// Dots of one operand over one range of its channels: the product with the
/// weights and, where it matters, with what rounding left of them.
void Converter::emitDot(const DotOperand &operand, const Weights &weights,
                        const Product &product) {
  Location loc = function.getLoc();
  Value x;
  StringRef contract;
  if (LoadCodesOp codes = operand.codes) {
    StoredCodes stored(codes.getCache().getType(), codes.getTensor(),
                       codes.getPart());
    auto tile =
        kvk::TileType::get({operand.tokens, product.channels}, stored.element,
                           DimsAttr::get(builder.getContext(), {"t", "c"}));
    Value loaded = kvk::LoadOp::create(
        builder, loc, tile, scalar(codes.getCache()), scalar(codes.getKvHead()),
        scalar(codes.getToken()), scalar(codes.getValid()), product.channel,
        codes.getTensor(), codes.getPart(), /*storage=*/kvk::StorageAttr(),
        /*page=*/IntegerAttr());
    Type element = operand.isInteger ? Type(builder.getI16Type())
                                     : Type(builder.getF32Type());
    x = kvk::WidenOp::create(builder, loc, loaded, element, stored.centre,
                             operand.format, operand.table, operand.entries);
    contract = operand.sumsTokens ? "t" : "c";
  } else {
    auto panel = cast<MemRefType>(operand.panel.getType());
    x = panel.getDimSize(1) == product.channels
            ? operand.panel
            : columnsOf(operand.panel, product.channel, product.channels);
    contract = operand.sumsTokens ? "major" : "minor";
  }
  kvk::DotOp::create(builder, loc, weights.rows, x, product.into, weights.scale,
                     product.laneScale, contract, product.accumulates);
  if (!weights.residualMatters)
    return;
  auto branch = scf::IfOp::create(builder, loc, weights.residualMatters,
                                  /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  kvk::DotOp::create(builder, loc, weights.residualRows, x, product.into,
                     weights.residualScale, product.laneScale, contract,
                     /*accumulate=*/true);
}

void Converter::emitDots(ContractOp contract, Value into, bool accumulates) {
  Location loc = contract.getLoc();
  Type rhs = contract.getRhs().getType();
  DotOperand operand = operandOf(contract);
  Value rows = scratchOf(contract.getLhs());

  if (!isByBlocks(contract)) {
    int64_t channels = extentOf(rhs, "b") * extentOf(rhs, dimsOf(rhs).back());
    emitDot(operand,
            weightsOf(contract.getLhs(), flatRows(rows), contract,
                      operand.isInteger),
            {flatRows(into), Value(), index(0), channels, accumulates});
    return;
  }

  // One dot per channel block. Keys: the rows are quantised as a whole. Values:
  // each block has its own probabilities.
  int64_t blocks = extentOf(rhs, "b"), channels = extentOf(rhs, "e");
  Weights whole;
  if (!operand.sumsTokens)
    whole = weightsOf(contract.getLhs(), flatRows(rows), contract,
                      operand.isInteger);
  Value scales;
  if (auto it = partialDots.find(contract); it != partialDots.end())
    scales = scratchOf(it->second.scale);

  // With channels on the lanes one sum across them serves all blocks.
  int64_t all = blocks * channels;
  if (scales && operand.codes &&
      !readsOnLanes(operand.codes, contract, all, /*freeDim=*/true)) {
    emitDot(operand, whole, {into, scales, index(0), all, accumulates});
    return;
  }

  OpBuilder::InsertionGuard guard(builder);
  auto loop =
      scf::ForOp::create(builder, loc, index(0), index(blocks), index(1));
  builder.setInsertionPointToStart(loop.getBody());
  Value block = loop.getInductionVar();
  Value channel = arith::MulIOp::create(builder, loc, block, index(channels));
  if (operand.sumsTokens) {
    Value ofBlock = blockOf(rows, block);
    emitDot(operand,
            operand.isInteger ? quantise(ofBlock) : Weights::floats(ofBlock),
            {blockOf(into, block), Value(), channel, channels, accumulates});
    return;
  }
  Weights ofBlock = whole;
  ofBlock.rows = columnsOf(whole.rows, channel, channels);
  if (whole.residualRows)
    ofBlock.residualRows = columnsOf(whole.residualRows, channel, channels);
  emitDot(operand, ofBlock,
          {scales ? into : blockOf(into, block),
           scales ? rowOf(scales, block) : Value(), channel, channels,
           accumulates});
}

} // namespace kvc
