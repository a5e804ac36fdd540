//===- Passes.td - Passes on the kvc dialect ---------------*- tablegen -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TRANSFORMS_PASSES_TD
#define KVC_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def CreateKernels : Pass<"kvc-create-kernels", "::mlir::ModuleOp"> {
  let summary = "Make the kernels of a spec";
  let description = [{
    Adds to a module with one `kvc.attention_spec` the functions `decode`,
    `prefill`, `append`, `merge` and `unpack`, each a level-0 op over the kernel's
    parameters. The parameters are the fields of `kvc/kernel_abi.h`, in order.

    A function's kind stands in its attribute `kvc.kernel`.

    An error, with the module unchanged: no spec or more than one, a symbol that
    is taken.
  }];
  let dependentDialects = ["::kvc::KVCDialect", "::mlir::func::FuncDialect"];
}

def CheckLevel : Pass<"kvc-check-level", "::mlir::ModuleOp"> {
  let summary = "Refuse kernels of another level";
  let description = [{
    Changes nothing. An error at the first op that stands at none of the levels
    from `lowest` to `highest`: level-0 ops, `kvc.dequantize` (1), `kvc.contract`
    (1 and 2), tiles (1 and 2, on GPUs 3), `kvk` (3, and there for this kind of
    target), kernels without any of these (3 and 4 in `func`, 5 in `llvm`), a spec
    (below all of them). Pipelines run it before each stage.
  }];
  let options = [
    Option<"lowest", "lowest", "int64_t", /*default=*/"0", "The lowest level, 0..5.">,
    Option<"highest", "highest", "int64_t", /*default=*/"5", "The highest level, 0..5.">,
    Option<"warps", "warps", "bool", /*default=*/"false",
           "The levels of targets whose lanes are a warp's, not a host's.">,
  ];
}

def Schedule : Pass<"kvc-schedule", "::mlir::func::FuncOp"> {
  let summary = "Choose the rows and keys of a kernel's tiles";
  let description = [{
    Writes `tile_rows` and `tile_tokens` into `kvc.attend` and `tile_rows` into
    `kvc.merge` (level 0), and what a plan must know of them on the kernel's
    function: `kvc.tile_rows`, `kvc.tile_tokens`. Rows are chosen by cost: those
    of `prefill` for any number of rows, others for one group. What an op says
    already is kept. Functions of the spec, the options and the width of the
    target's vectors alone: the machine's load is none of them.
  }];
  let options = [
    Option<"decodeRows", "decode-rows", "int64_t", /*default=*/"0",
           "Query rows of a tile of `merge` and of every kernel but `prefill`, 1..128. 0: by cost.">,
    Option<"prefillRows", "prefill-rows", "int64_t", /*default=*/"0",
           "Query rows of a tile of `prefill`, 1..128. 0: by cost.">,
    Option<"tileTokens", "tile-tokens", "int64_t", /*default=*/"0",
           "Keys of a tile, a power of two from 16 to 256. 0: 64.">,
    Option<"vectorBits", "vector-bits", "unsigned", /*default=*/"512",
           "Width of a machine vector: 128, 256 or 512; the register blocking of dots follows from it.">,
    Option<"warps", "warps", "bool", /*default=*/"false",
           "Tiles for the registers of a warp: fragments of 8 rows, as many keys as 32 registers of a lane hold.">,
    Option<"remarks", "remarks", "bool", /*default=*/"false",
           "Emit a remark for each choice: its cost and the runners-up.">,
  ];
  let dependentDialects = ["::kvc::KVCDialect"];
}

def SplitKV : Pass<"kvc-split-kv", "::mlir::func::FuncOp"> {
  let summary = "Choose the keys of one work item";
  let description = [{
    Writes `kvc.split_tokens` on each function with a `kvc.attend` (level 0): the
    multiple of `tile_tokens` at which plans cut the keys of a sequence. Without
    an option it is the power of two whose bytes in the cache of one kv head are
    nearest to 256 KiB; for `prefill` the one with nearest to 2^26 products in a
    row tile. What the function says already is kept. Never a function of lengths
    or threads, on which results may not depend.
  }];
  let options = [
    Option<"splitTokens", "split-tokens", "int64_t", /*default=*/"0",
           "Keys of one split of every kernel but `prefill`, a multiple of tile_tokens, below 2^31. 0: by bytes.">,
    Option<"prefillSplitTokens", "prefill-split-tokens", "int64_t", /*default=*/"0",
           "Keys of one split of `prefill`, a multiple of tile_tokens, below 2^31. 0: by products.">,
    Option<"warps", "warps", "bool", /*default=*/"false",
           "Splits are a plan's choice, any number of tiles: one tile, unless an option says more.">,
    Option<"remarks", "remarks", "bool", /*default=*/"false",
           "Emit a remark for each choice: what one split reads or computes.">,
  ];
  let dependentDialects = ["::kvc::KVCDialect"];
}

def Expand : Pass<"kvc-expand", "::mlir::func::FuncOp"> {
  let summary = "Expand level-0 ops into loops over tiles";
  let description = [{
    Rewrites `kvc.attend`, `kvc.append`, `kvc.merge` and `kvc.unpack` (level 0)
    into `scf` loops over tiles with all arithmetic explicit (level 1). Nothing is
    placed or fused yet: keys and values appear dequantised, as the spec defines
    them.

    `kvc.append` and `kvc.unpack` follow the spec's f32 arithmetic operation by
    operation and carry no fast-math flag. `kvc.attend` allows contraction.
  }];
  let dependentDialects = ["::kvc::KVCDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
}

def PlaceFactors : Pass<"kvc-place-factors", "::mlir::func::FuncOp"> {
  let summary = "Decide where the scale and zero of codes are applied";
  let description = [{
    For each contraction of a `kvc.dequantize`, lists the legal places of its scale
    and its zero by their index sets, counts what each costs, and writes the
    cheapest into `scale_place` and `zero_place`; of a `kvc.patch` between the two,
    which outliers make, first into its `place`. A place that is already there is
    kept if it is legal and is an error otherwise. Changes no code.
  }];
  let options = [
    Option<"remarks", "remarks", "bool", /*default=*/"false",
           "Emit a remark for each factor: its place, its cost and the runners-up.">,
    Option<"warps", "warps", "bool", /*default=*/"false",
           "Products of tiles in registers: factors of blocks of channels and outliers stay in registers.">,
  ];
  let dependentDialects = ["::kvc::KVCDialect"];
}

def ApplyPlacement : Pass<"kvc-apply-placement", "::mlir::func::FuncOp"> {
  let summary = "Move the scale and zero of codes to their places";
  let description = [{
    Obeys the places that `kvc-place-factors` wrote (level 1 to level 2). What is
    contracted afterwards are centred codes, so zeros become products of metadata
    with sums of queries or probabilities. Outliers that leave the codes become
    `kvc.gather_dot` and `kvc.scatter_dot`. A `kvc.dequantize` that nothing
    contracts is opened as it is written. Where probabilities meet scales that may
    be as small as f32s are, they are enlarged by a power of two, which the sum over
    tiles loses behind its loop.

    Numerics: reassociates inside contractions; bit-exact elsewhere.
  }];
  let dependentDialects = ["::kvc::KVCDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def DeriveStorage : Pass<"kvk-derive-storage", "::mlir::func::FuncOp"> {
  let summary = "Give kvk ops on a cache their storage order";
  let description = [{
    Fills in `storage` and `page` of the kvk ops on a cache (level 3) from the
    spec's layout, by the computation that the runtime's pages follow too. An op
    that has them already keeps them.
  }];
  let options = [
    Option<"remarks", "remarks", "bool", /*default=*/"false",
           "Emit a remark for each region of a kernel: its order.">,
    Option<"warps", "warps", "bool", /*default=*/"false",
           "The orders of the targets whose lanes are a warp's, not a host's.">,
  ];
  let dependentDialects = ["::kvc::kvk::KVKDialect"];
}

def AssignLayouts : Pass<"kvk-assign-layouts", "::mlir::func::FuncOp"> {
  let summary = "Choose which elements of dots' operands lie on lanes";
  let description = [{
    Gives the result of each `kvk.widen` that a `kvk.dot` reads its `#kvk.layout`
    (level 3): the free dim on the lanes where the storage order delivers it, so
    that no sum crosses lanes; the contracted dim otherwise. Pairs of the
    contracted dim are packed for 16-bit weights. The lanes are the elements that
    lie together in memory; the lowering cuts them into machine vectors.

    A layout that is already there is kept if a loop nest reads the storage in it,
    and is an error otherwise.
  }];
  let options = [
    Option<"remarks", "remarks", "bool", /*default=*/"false",
           "Emit a remark for each operand: its lanes and what was packed.">,
  ];
  let dependentDialects = ["::kvc::kvk::KVKDialect"];
}

def FormMma : Pass<"kvk-form-mma", "::mlir::func::FuncOp"> {
  let summary = "Put contractions of codes on tensor cores";
  let description = [{
    For targets with `mma.sync`, level 2 to level 3. A contraction of codes becomes a
    `kvk.mma` over a `kvk.load` (and `kvk.widen`); the other operand is rounded to
    the type of the queries. Where it is neither a query nor a probability, a power
    of two of each row is taken out first, so that products of probabilities and
    scales stay inside of f16. A sum that a product is added to becomes its
    accumulator. Keys and values with factors in registers, or of codes that no
    lane widens in words, are rounded to that type too, in units of a power of two;
    channels are filled up to fragments with zeros. Operands of f32 are three terms
    of bf16, the product is the sum of the six largest. Contractions of a tile and a row value are products and a sum.

    Numerics: probabilities are rounded to f16 or bf16, relative error 2^-12 or 2^-9;
    dequantised keys and values too.
  }];
  let dependentDialects = ["::kvc::kvk::KVKDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def AssignLanes : Pass<"kvk-assign-lanes", "::mlir::func::FuncOp"> {
  let summary = "Choose the lanes and registers of every tile";
  let description = [{
    Writes `kvk.layouts`, one `#kvk.layout` per result, on each op that makes a tile,
    and the layout of `kvk.load` and `kvk.widen`. The operands of `kvk.mma` are the
    anchors: its left one has 16 rows to a fragment, its right one 8 columns. Tiles
    with the dims of a product's result have its layout, values per row or token a
    slice of that; all others are rows of channels across the lanes. Where an
    operation needs another layout than its operand has, a `kvk.convert_layout` is
    inserted.

    Numerics: the order of sums.
  }];
  let options = [
    Option<"remarks", "remarks", "bool", /*default=*/"false",
           "Emit a remark for each product and each conversion.">,
  ];
  let dependentDialects = ["::kvc::kvk::KVKDialect", "::mlir::arith::ArithDialect"];
}

#endif // KVC_TRANSFORMS_PASSES_TD
