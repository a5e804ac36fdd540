//===- Passes.td - Passes on the kvc dialect ------------------*- tablegen -*-===//
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

    What a plan must know about a kernel stands on its function: `kvc.kernel` (its
    kind), `kvc.tile_rows`, `kvc.tile_tokens` and `kvc.split_tokens`, the last
    three where the kernel has such a thing. All are functions of the spec and the
    options alone, so that results never depend on the machine's load.

    An error, with the module unchanged: no spec or more than one, a spec that is
    not lowered yet, a symbol that is taken, an option out of range.
  }];
  let options = [
    Option<"decodeRows", "decode-rows", "int64_t", /*default=*/"0",
           "Query rows of a tile of `decode` and `merge`, 1..128. 0: the group rounded up to a power of two, at most 4.">,
    Option<"prefillRows", "prefill-rows", "int64_t", /*default=*/"16",
           "Query rows of a tile of `prefill`, 1..128.">,
    Option<"tileTokens", "tile-tokens", "int64_t", /*default=*/"64",
           "Keys of a tile, a power of two from 16 to 256.">,
    Option<"splitTokens", "split-tokens", "int64_t", /*default=*/"1024",
           "Keys of one split of `decode`, a multiple of tile-tokens.">,
    Option<"prefillSplitTokens", "prefill-split-tokens", "int64_t", /*default=*/"16384",
           "Keys of one split of `prefill`, a multiple of tile-tokens. Rows already keep every thread busy there; a split only bounds the longest work item.">,
  ];
  let dependentDialects = ["::kvc::KVCDialect", "::mlir::func::FuncDialect"];
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
    cheapest into `scale_place` and `zero_place`. A place that is already there is
    kept if it is legal and is an error otherwise. Changes no code.
  }];
  let options = [
    Option<"remarks", "remarks", "bool", /*default=*/"false",
           "Emit a remark for each factor: its place, its cost and the runners-up.">,
  ];
  let dependentDialects = ["::kvc::KVCDialect"];
}

def ApplyPlacement : Pass<"kvc-apply-placement", "::mlir::func::FuncOp"> {
  let summary = "Move the scale and zero of codes to their places";
  let description = [{
    Obeys the places that `kvc-place-factors` wrote (level 1 to level 2). What is
    contracted afterwards are centred codes, so zeros become products of metadata
    with sums of queries or probabilities. A `kvc.dequantize` that nothing
    contracts is opened as it is written.

    Numerics: reassociates inside contractions; bit-exact elsewhere.
  }];
  let dependentDialects = ["::kvc::KVCDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

#endif // KVC_TRANSFORMS_PASSES_TD
