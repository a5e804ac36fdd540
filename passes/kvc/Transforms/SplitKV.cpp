//===- SplitKV.cpp - Keys of one work item --------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Boundaries of splits are multiples of `kvc.split_tokens`, a function of the
// spec and of tile sizes alone: results depend on it, so it must not depend on
// the threads there are.
//
//   decode   reads: the power of two of tokens whose bytes in the cache, of one
//            kv head, are nearest to kSplitBytes. A split then takes some tens
//            of microseconds, costs at most 5 % over longer ones
//            (passes/README.md) and leaves 4 to 16 work items per head at 8k
//            tokens.
//   prefill  computes: nearest to kSplitProducts multiplications in one row
//            tile, about a millisecond. Rows keep all threads busy there; a
//            split only bounds the longest work item.
//
//===----------------------------------------------------------------------===//

#include "kvc/Dialect/KVC/KVCDialect.h"
#include "kvc/Dialect/KVC/KVCOps.h"
#include "kvc/Dialect/KVC/KVCTypes.h"
#include "kvc/Layout/PageLayout.h"
#include "kvc/Remark.h"
#include "kvc/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Format.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace kvc {

#define GEN_PASS_DEF_SPLITKV
#include "kvc/Transforms/Passes.h.inc"

namespace {

constexpr double kSplitBytes = 256 << 10;
constexpr double kSplitProducts = 1 << 26;
/// What kernel_abi.h allows, the tokens of the longest sequence.
constexpr int64_t kMaxSplit = std::numeric_limits<int32_t>::max();

/// Bytes of the cache of one token and kv head, metadata included.
double bytesPerToken(const spec::Spec &spec) {
  constexpr auto family = layout::TargetFamily::Host;
  int64_t page = layout::pageLayout(spec, spec::Tensor::Key, family).pageTokens;
  return double(layout::pageBytes(spec, family)) /
         double(page * spec.attention.kvHeads);
}

/// The power of two nearest to `tokens`, by ratio.
int64_t powerNear(double tokens) {
  return int64_t(1) << std::lround(std::log2(std::max(tokens, 1.0)));
}

class SplitKV : public impl::SplitKVBase<SplitKV> {
public:
  using Base::Base;

  void runOnOperation() override {
    WalkResult result = getOperation().walk([&](AttendOp op) {
      return failed(split(op)) ? WalkResult::interrupt()
                               : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  LogicalResult split(AttendOp op) {
    if (!op.getTileRows() || !op.getTileTokens())
      return op.emitOpError("tile_rows and tile_tokens: expected both, got "
                            "none: run kvc-schedule first");
    const spec::Spec &spec = op.getCache().getType().getSpec();
    func::FuncOp kernel = getOperation();
    auto kind =
        kernel->getAttrOfType<StringAttr>(KVCDialect::getKernelAttrName());
    bool isPrefill = kind && kind.getValue() == "prefill";
    int64_t tile = *op.getTileTokens();

    auto given = kernel->getAttrOfType<IntegerAttr>(
        KVCDialect::getSplitTokensAttrName());
    int64_t asked = given       ? given.getInt()
                    : isPrefill ? prefillSplitTokens
                                : splitTokens;
    if (asked < 0 || asked > kMaxSplit || asked % tile != 0)
      return op.emitOpError(isPrefill ? "prefill-split-tokens" : "split-tokens")
             << ": expected a multiple of tile_tokens = " << tile
             << ", at most " << kMaxSplit << ", got " << asked;
    double bytes = bytesPerToken(spec),
           products = double(*op.getTileRows()) *
                      double(spec.attention.headDim + spec.attention.valueDim);
    int64_t nearest =
        powerNear(isPrefill ? kSplitProducts / products : kSplitBytes / bytes);
    int64_t tokens = asked ? asked : warps ? tile : std::max(tile, nearest);
    kernel->setAttr(KVCDialect::getSplitTokensAttrName(),
                    Builder(op).getI64IntegerAttr(tokens));
    if (!remarks)
      return success();
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << "split_tokens: " << tokens;
    if (asked)
      stream << " as asked";
    else if (warps)
      stream << ", one tile: plans choose how many";
    else if (nearest < tile)
      stream << ", one tile";
    else
      stream << ", the power of two nearest to "
             << (isPrefill ? "2^26 products" : "256 KiB");
    if (isPrefill)
      stream << llvm::format(": %.1f million products in a row tile",
                             products * double(tokens) / 1e6);
    else
      stream << llvm::format(": %.0f KiB of one kv head",
                             bytes * double(tokens) / 1024);
    emitChoice(op) << text;
    return success();
  }
};

} // namespace

} // namespace kvc
