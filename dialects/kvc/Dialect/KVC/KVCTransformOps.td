//===- KVCTransformOps.td - Level 1: channels before codes -*- tablegen -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// What a scheme does to channels before it quantises them. Part of the ops of
// KVCTileOps.td, which includes this file.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVC_KVCTRANSFORMOPS_TD
#define KVC_DIALECT_KVC_KVCTRANSFORMOPS_TD

include "kvc/Dialect/KVC/KVCOpBase.td"

def KVC_RotateOp : KVC_Op<"rotate", [Pure, SameOperandsAndResultType]> {
  let summary = "Rotates blocks of channels by a Walsh-Hadamard matrix.";
  let description = [{
    Each `block` neighbours of the last dim are multiplied by the orthonormal
    Walsh-Hadamard matrix in Sylvester order, which is symmetric and its own
    inverse. In f32 and in this order: for strides h = 1, 2, .. block / 2 the
    elements a and b that are h apart become a + b and a - b; then each is
    multiplied by the f32 nearest to 1 / sqrt(block).

    | value | dims | element |
    |---|---|---|
    | source, result | any, the same | f32 |

    - C1: `block` is a power of two that divides the last dim's extent.

    Example:

    ```mlir
    %y = kvc.rotate %x {block = 32} : tensor<4x96xf32, #kvc.dims<r, c>>
    ```
  }];
  let arguments = (ins Arg<KVC_F32Tile, "channels to rotate">:$source, I64Attr:$block);
  let results = (outs KVC_F32Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source)";
  let hasVerifier = 1;
}

#endif // KVC_DIALECT_KVC_KVCTRANSFORMOPS_TD
