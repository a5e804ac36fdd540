//===- Schedule.cpp - Rows and keys of a tile by cost ---------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Every row of a tile is computed, wanted or not, and every tile reads and
// widens all keys again. In vector operations per vector of operands, a tile of
// R rows costs
//
//   kRead + groups(R) * kWiden + R * (1 + 1 / vectors(R)) [+ kPanel]
//
// where groups and vectors are the register blocking of a dot: rows beyond one
// group widen the operands once more, and a weight that is loaded meets
// `vectors` of them. Keys that products read from a panel are made anew for
// each tile of rows; of prefill, which may have few rows, that is left out. The
// fewest rows within kSlack of the cheapest win, because what the formula
// leaves out (scratch in the first-level cache, keys that a tile visits for its
// last row alone) grows with the rows.
//
//===----------------------------------------------------------------------===//

#include "kvc/Analysis/HostTarget.h"
#include "kvc/Analysis/WarpOperand.h"
#include "kvc/Dialect/KVC/KVCDialect.h"
#include "kvc/Dialect/KVC/KVCOps.h"
#include "kvc/Dialect/KVC/KVCTypes.h"
#include "kvc/Remark.h"
#include "kvc/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Format.h"

using namespace mlir;

namespace kvc {

#define GEN_PASS_DEF_SCHEDULE
#include "kvc/Transforms/Passes.h.inc"

namespace {

/// Operations per vector of operands: to bring it from the second-level cache
/// once more, and to load and widen it (convert, or shift and mask).
constexpr double kRead = 1, kWiden = 2;
/// To decode, scale and store a vector of keys that are values too, half of it
/// for each product, and to rotate one by its position.
constexpr double kPanel = 4, kRope = 40;
constexpr double kSlack = 1.05;
constexpr int64_t kMostRows = 128;
/// Four vectors of 16 tokens: each weight of a query is loaded once per tile.
constexpr int64_t kTileTokens = 64;
/// Rows of a merge share nothing but the loop over the splits.
constexpr int64_t kMergeRows = 4;

/// What keys cost once for all rows of a tile, beside reading them.
double keyCost(const spec::Spec &spec) {
  if (spec.key.rope)
    return kRope;
  bool isPanel = spec.attention.valueIsKey &&
                 llvm::any_of(spec.key.parts, [](const auto &part) {
                   return part.rotate != 0 || !part.codec.isRaw();
                 });
  return isPanel ? kPanel : 0;
}

double costOfTile(const HostTarget &target, double keys, int64_t rows) {
  Blocking blocking = blockingFor(target, rows, 1, 2);
  int64_t groups = (rows + blocking.rows - 1) / blocking.rows;
  return kRead + keys + double(groups) * kWiden +
         double(rows) * (1 + 1.0 / double(blocking.vectors));
}

/// A number of rows and what each wanted row then costs.
struct RowCost {
  int64_t rows;
  double cost;
};

/// Of tiles of `rows` rows for `wanted` rows; 0: more than any tile has.
RowCost costOf(const HostTarget &target, double keys, int64_t rows,
               int64_t wanted) {
  double tile = costOfTile(target, keys, rows);
  if (wanted == 0)
    return {rows, tile / double(rows)};
  int64_t tiles = (wanted + rows - 1) / rows;
  return {rows, double(tiles) * tile / double(wanted)};
}

SmallVector<RowCost> candidates(const HostTarget &target, double keys,
                                int64_t wanted) {
  SmallVector<RowCost> costs;
  for (int64_t rows = 1; rows <= (wanted ? wanted : kMostRows);
       rows = wanted ? rows + 1 : rows * 2)
    costs.push_back(costOf(target, keys, rows, wanted));
  return costs;
}

/// Keys of a tile: those of a scale block where its factors could leave the
/// codes only if a tile lies in one.
int64_t tokensOfTile(const spec::Spec &spec) {
  constexpr int64_t kLeast = 16, kLanes = 16;
  int64_t tokens = kTileTokens;
  for (spec::Tensor tensor : {spec::Tensor::Key, spec::Tensor::Value})
    if (const spec::Scheme *scheme = spec::schemeOf(spec, tensor))
      for (const spec::PartScheme &part : scheme->parts) {
        int64_t block = part.scale ? part.scale->tokens : 1;
        if (block >= kLeast && llvm::has_single_bit(uint64_t(block)) &&
            part.blocks() > 1 && part.blockChannels() % kLanes != 0)
          tokens = std::min(tokens, block);
      }
  return tokens;
}

/// Rows and keys of a tile in the registers of a warp. Eight rows are the
/// columns of one fragment; more of them share each loaded tile of keys.
constexpr int64_t kFragmentRows = 8, kMostWarpRows = 16;
constexpr int64_t kFragmentTokens = 16;
/// Registers of a lane for the keys of a tile, as they are loaded.
constexpr int64_t kKeyRegisters = 32;

int64_t warpRows(const spec::Spec &spec, bool isPrefill) {
  return isPrefill || spec.attention.group() > kFragmentRows ? kMostWarpRows
                                                             : kFragmentRows;
}

int64_t warpTokens(const spec::Spec &spec) {
  int64_t tokens = kTileTokens;
  for (spec::Tensor tensor : {spec::Tensor::Key, spec::Tensor::Value})
    if (const spec::Scheme *scheme = spec::schemeOf(spec, tensor)) {
      int64_t bits = 0;
      // What is dequantised is an operand of at least 16 bits.
      bool isWords = !scheme->rope && !spec.attention.valueIsKey;
      for (const spec::PartScheme &part : scheme->parts) {
        bool isLoaded = isWords && part.blocks() <= 1 && part.outliers == 0 &&
                        isWordOperand(spec, part);
        bits += part.channels() * (isLoaded ? int64_t(part.codec.bits) : 16);
      }
      while (tokens > kFragmentTokens &&
             tokens * bits > kKeyRegisters * 32 * 32)
        tokens /= 2;
    }
  // A tile lies in one page where pages hold a fragment.
  int64_t page = spec.layout.kind == spec::LayoutKind::Paged ? spec.layout.page
                                                             : kTileTokens;
  return std::max(kFragmentTokens, std::min(tokens, page));
}

class Schedule : public impl::ScheduleBase<Schedule> {
public:
  using Base::Base;

  void runOnOperation() override {
    if (failed(checkOptions()))
      return signalPassFailure();
    target.vectorBits = vectorBits;
    getOperation().walk([&](Operation *op) {
      if (auto attend = dyn_cast<AttendOp>(op))
        schedule(attend);
      else if (auto merge = dyn_cast<MergeOp>(op))
        schedule(merge);
    });
  }

private:
  LogicalResult checkOptions() {
    auto outOfRange = [&](StringRef name, StringRef expected, int64_t got) {
      return getOperation().emitError()
             << "kvc-schedule: " << name << ": expected " << expected
             << ", got " << got;
    };
    if (decodeRows < 0 || decodeRows > kMostRows)
      return outOfRange("decode-rows", "0 to 128", decodeRows);
    if (prefillRows < 0 || prefillRows > kMostRows)
      return outOfRange("prefill-rows", "0 to 128", prefillRows);
    if (tileTokens != 0 && (tileTokens < 16 || tileTokens > 256 ||
                            !llvm::has_single_bit(uint64_t(tileTokens))))
      return outOfRange("tile-tokens", "0 or a power of two from 16 to 256",
                        tileTokens);
    if (vectorBits != 128 && vectorBits != 256 && vectorBits != 512)
      return outOfRange("vector-bits", "128, 256 or 512", vectorBits);
    return success();
  }

  void schedule(AttendOp op) {
    auto kind = getOperation()->getAttrOfType<StringAttr>(
        KVCDialect::getKernelAttrName());
    bool isPrefill = kind && kind.getValue() == "prefill";
    const spec::Spec &spec = op.getCache().getType().getSpec();
    int64_t group = spec.attention.group();
    double keys = isPrefill ? 0 : keyCost(spec);
    SmallVector<RowCost> costs =
        candidates(target, keys, isPrefill ? 0 : group);
    double best = llvm::min_element(costs, [](auto &a, auto &b) {
                    return a.cost < b.cost;
                  })->cost;
    int64_t cheapest = llvm::find_if(costs, [&](const RowCost &each) {
                         return each.cost <= best * kSlack;
                       })->rows;
    int64_t asked = isPrefill ? prefillRows : decodeRows;
    bool isGiven = op.getTileRows() || asked;
    int64_t rows = op.getTileRows().value_or(asked   ? asked
                                             : warps ? warpRows(spec, isPrefill)
                                                     : cheapest);
    op.setTileRows(rows);

    bool tokensGiven = op.getTileTokens() || tileTokens;
    int64_t tokens =
        op.getTileTokens().value_or(tileTokens ? int64_t(tileTokens)
                                    : warps    ? warpTokens(spec)
                                               : tokensOfTile(spec));
    op.setTileTokens(tokens);
    if (kind) {
      Builder builder(op);
      getOperation()->setAttr(KVCDialect::getTileRowsAttrName(),
                              builder.getI64IntegerAttr(rows));
      getOperation()->setAttr(KVCDialect::getTileTokensAttrName(),
                              builder.getI64IntegerAttr(tokens));
    }
    if (!remarks)
      return;
    if (warps) {
      emitChoice(op) << "tile_rows: " << rows << ", tile_tokens: " << tokens
                     << (isGiven || tokensGiven
                             ? " as asked"
                             : ", what fragments and registers of a warp hold");
      return;
    }
    explainRows(op, costOf(target, keys, rows, isPrefill ? 0 : group), isGiven,
                std::move(costs));
    emitChoice(op) << "tile_tokens: " << tokens
                   << (tokensGiven ? " as asked"
                       : tokens < kTileTokens
                           ? ", those of a scale block"
                           : ", four vectors of 16 tokens: a tile "
                             "loads each weight once");
  }

  static void explainRows(AttendOp op, RowCost chosen, bool isGiven,
                          SmallVector<RowCost> costs) {
    llvm::erase_if(costs, [&](auto &each) { return each.rows == chosen.rows; });
    llvm::sort(costs, [](auto &a, auto &b) { return a.cost < b.cost; });
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << "tile_rows: " << chosen.rows << (isGiven ? " as asked," : "")
           << llvm::format(" at %.2f", chosen.cost)
           << " operations per row and vector of operands"
           << (isGiven ? "" : ", the fewest within 5 % of the cheapest")
           << (costs.empty() ? "" : "; others: ");
    llvm::interleaveComma(
        ArrayRef(costs).take_front(3), stream, [&](const RowCost &each) {
          stream << each.rows << llvm::format(" (%.2f)", each.cost);
        });
    emitChoice(op) << text;
  }

  void schedule(MergeOp op) {
    int64_t group = op.getSpec().getSpec().attention.group();
    bool isGiven = op.getTileRows() || decodeRows;
    int64_t rows = op.getTileRows().value_or(
        decodeRows ? int64_t(decodeRows) : std::min(group, kMergeRows));
    op.setTileRows(rows);
    if (remarks)
      emitChoice(op) << "tile_rows: " << rows
                     << (isGiven ? " as asked"
                                 : ", those of a group, at most 4: rows share "
                                   "only the loop over the splits");
  }

  HostTarget target;
};

} // namespace

} // namespace kvc
