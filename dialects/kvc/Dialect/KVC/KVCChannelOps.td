//===- KVCChannelOps.td - Level 1: ranges of channels ------*- tablegen -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Channels cut into blocks and ranges: other names for the same elements. Part
// of the ops of KVCTileOps.td, which includes this file.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVC_KVCCHANNELOPS_TD
#define KVC_DIALECT_KVC_KVCCHANNELOPS_TD

include "kvc/Dialect/KVC/KVCOpBase.td"

def KVC_SplitOp : KVC_Op<"split", [Pure]> {
  let summary = "Splits the last dim, channels, into blocks.";
  let description = [{
    result[.., b, e] = source[.., b * extent(e) + e].

    | value | example | element |
    |---|---|---|
    | source | <t, c> | any |
    | result | <t, b, e> | the source's |

    - C1: the element types agree.
    - C2: the result has the source's leading dims, then two more.
    - C3: the product of the two last extents is the source's last extent.

    Example:

    ```mlir
    %y = kvc.split %x : tensor<64x128xi8, #kvc.dims<t, c>> to tensor<64x4x32xi8, #kvc.dims<t, b, e>>
    ```
  }];
  let arguments = (ins Arg<KVC_Tile, "tile to split">:$source);
  let results = (outs KVC_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($result)";
  let builders = [
    /// Splits the last dim into <b, e> with `blocks` blocks, a divisor of it.
    OpBuilder<(ins "::mlir::Value":$source, "int64_t":$blocks)>
  ];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def KVC_JoinOp : KVC_Op<"join", [Pure]> {
  let summary = "Joins the two last dims, blocks of channels, into channels.";
  let description = [{
    The inverse of `kvc.split`: result[.., b * extent(e) + e] = source[.., b, e].

    | value | example | element |
    |---|---|---|
    | source | <t, b, e> | any |
    | result | <t, c> | the source's |

    - C1: the element types agree.
    - C2: the result has the source's leading dims, then one more.
    - C3: the result's last extent is the product of the source's two last ones.

    Example:

    ```mlir
    %y = kvc.join %x : tensor<64x4x32xi8, #kvc.dims<t, b, e>> to tensor<64x128xi8, #kvc.dims<t, c>>
    ```
  }];
  let arguments = (ins Arg<KVC_Tile, "tile to join">:$source);
  let results = (outs KVC_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($result)";
  let builders = [
    /// The joined dim is called `dim`.
    OpBuilder<(ins "::mlir::Value":$source, "::llvm::StringRef":$dim)>
  ];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def KVC_SliceOp : KVC_Op<"slice", [Pure]> {
  let summary = "A range of channels.";
  let description = [{
    result[.., c] = source[.., first + c]. The channels of the result may have
    another name.

    | value | example | element |
    |---|---|---|
    | source | <t, c> | any |
    | result | <t, d> | the source's |

    - C1: the element types agree.
    - C2: source and result have the same dims but for the last one.
    - C3: the range lies inside the source's last extent.

    Example:

    ```mlir
    %v = kvc.slice %k {first = 64 : i64} : tensor<64x576xf32, #kvc.dims<t, c>> to tensor<64x512xf32, #kvc.dims<t, d>>
    ```
  }];
  let arguments = (ins Arg<KVC_Tile, "all channels">:$source, DefaultValuedAttr<I64Attr, "0">:$first);
  let results = (outs KVC_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($result)";
  let builders = [
    /// `count` channels from `first` on, called `dim`.
    OpBuilder<(ins "::mlir::Value":$source, "int64_t":$first, "int64_t":$count, "::llvm::StringRef":$dim)>
  ];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def KVC_ConcatOp : KVC_Op<"concat", [Pure]> {
  let summary = "Ranges of channels beside each other.";
  let description = [{
    The channels of the first source, then those of the second, ..

    | value | example | element |
    |---|---|---|
    | sources | <t, c> | any |
    | result | <t, c> | the sources' |

    - C1: the element types agree.
    - C2: the sources have the result's dims but for the last one.
    - C3: the last extents of the sources make up the result's.

    Example:

    ```mlir
    %x = kvc.concat %k0, %k1 : tensor<64x512xf32, #kvc.dims<t, c>>, tensor<64x64xf32, #kvc.dims<t, c>> to tensor<64x576xf32, #kvc.dims<t, c>>
    ```
  }];
  let arguments = (ins Arg<Variadic<KVC_Tile>, "ranges of channels">:$sources);
  let results = (outs KVC_Tile:$result);
  let assemblyFormat = "$sources attr-dict `:` type($sources) `to` type($result)";
  let builders = [
    /// The channels are called as those of the first source.
    OpBuilder<(ins "::mlir::ValueRange":$sources)>
  ];
  let hasVerifier = 1;
}

#endif // KVC_DIALECT_KVC_KVCCHANNELOPS_TD
