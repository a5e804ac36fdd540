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

def KVC_RopeOp : KVC_Op<"rope", [Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "Rotates pairs of channels by their token's position.";
  let description = [{
    Token t of the tile has position p = first + t. For i below dims / 2 let f be
    the f32 nearest to theta^(-2i / dims) and w = f32(p) * f, one f32 product. Then
    channels a and b become a * cos w - b * sin w and b * cos w + a * sin w: with
    `pairs` a is channel offset + 2i and b the next, else a is channel offset + i
    and b is dims / 2 further. Cosine and sine are within 2^-20 for w < 2^50. Other
    channels stay.

    | value | dims | element |
    |---|---|---|
    | source, result | <t, c> | f32 |

    - C1: the tile has a dim `t`, then one of channels.
    - C2: `dims` is positive and even, `offset` not negative, and offset + dims at
      most the channels.
    - C3: `theta` is finite and above 0.

    Example:

    ```mlir
    %y = kvc.rope %x at %t0 {dims = 64 : i64, offset = 0 : i64, theta = 1.0e4 : f64}
        : tensor<64x128xf32, #kvc.dims<t, c>>
    ```
  }];
  let arguments = (ins Arg<KVC_F32Tile, "channels before RoPE">:$source, Arg<Index, "position of token 0">:$first,
    UnitAttr:$pairs, I64Attr:$dims, I64Attr:$offset, F64Attr:$theta);
  let results = (outs KVC_F32Tile:$result);
  let assemblyFormat = "$source `at` $first attr-dict `:` type($source)";
  let extraClassDeclaration = [{
    /// f of each pair.
    ::llvm::SmallVector<float> getFrequencies();
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// What schemes take beside k and v
//===----------------------------------------------------------------------===//

def KVC_LoadSchemeOp : KVC_Op<"load_scheme"> {
  let summary = "Loads what a scheme takes beside k and v.";
  let description = [{
    A field of the row that one kv head has of an input of a part's scheme
    (kvc/kernel_abi.h):

    | field | numbers | of |
    |---|---|---|
    | `"scale"` | static scales, one per block | parts with a static scale |
    | `"table"` | entries by code | parts with a table per kv head |
    | `"thresholds"` | above which the nearest entry is that of the next step | the same |
    | `"codes"` | the code of each step | the same |
    | `"largest"` | one, the largest magnitude of an entry | the same |
    | `"smooth"` | factors of the part's channels | parts with `smooth` |

    | value | dims | element |
    |---|---|---|
    | result | one, or a scalar for `"largest"` | f32 |

    With more elements than numbers each number is repeated, so that scales can be
    had by block or by channel.

    - C1: the spec has the tensor and the part.
    - C2: the part takes an input with the field.
    - C3: the result is a scalar for `"largest"`; for others it has one dim, whose
      extent is a multiple of the field's numbers.

    Example:

    ```mlir
    %s = kvc.load_scheme %cache[%kv_head] {tensor = #kvc.tensor<key>, field = "scale"}
        : !kvc.cache<#spec> to tensor<128xf32, #kvc.dims<c>>
    ```
  }];
  let arguments = (ins
    Arg<KVC_CacheType, "cache of the sequence", [MemRead]>:$cache, Arg<Index, "kv head">:$kv_head,
    KVC_TensorAttr:$tensor, DefaultValuedAttr<I64Attr, "0">:$part, KVC_RowFieldAttr:$field);
  let results = (outs AnyTypeOf<[KVC_F32Tile, F32]>:$result);
  let assemblyFormat = "$cache `[` $kv_head `]` attr-dict `:` qualified(type($cache)) `to` type($result)";
  let hasVerifier = 1;
}

def KVC_GatherOp : KVC_Op<"gather", [Pure]> {
  let summary = "Looks codes up in a table that was loaded.";
  let description = [{
    result = table[codes]. Codes are indices, 0 and up. `kvc.lookup` with a table
    that is not known before the kernel runs.

    | value | dims | element |
    |---|---|---|
    | codes | any | i8 |
    | table | one | f32 |
    | result | the codes' | f32 |

    - C1: `codes` are the result's tile with i8 elements.
    - C2: the table has one dim of 4, 8 or 16 entries.

    Example:

    ```mlir
    %x = kvc.gather %u from %table : tensor<64x128xi8, #kvc.dims<t, c>>, tensor<16xf32, #kvc.dims<n>>
        to tensor<64x128xf32, #kvc.dims<t, c>>
    ```
  }];
  let arguments = (ins Arg<KVC_CodeTile, "indices">:$codes, Arg<KVC_F32Tile, "entries">:$table);
  let results = (outs KVC_F32Tile:$result);
  let assemblyFormat = "$codes `from` $table attr-dict `:` type($codes) `,` type($table) `to` type($result)";
  let hasVerifier = 1;
}

def KVC_NearestOp : KVC_Op<"nearest", [Pure]> {
  let summary = "The codes of the entries nearest to numbers.";
  let description = [{
    codes[n] for the n of `thresholds` that are below the number.

    | value | dims | element |
    |---|---|---|
    | source | any | f32 |
    | thresholds, codes | one | f32 |
    | result | the source's | i8 |

    - C1: the result is the source's tile with i8 elements.
    - C2: `thresholds` and `codes` have one dim of 4, 8 or 16 numbers. The last
      threshold is +inf.

    Example:

    ```mlir
    %u = kvc.nearest %x by %thresholds, %codes : tensor<1x64xf32, #kvc.dims<b, e>>,
        tensor<16xf32, #kvc.dims<n>>, tensor<16xf32, #kvc.dims<n>> to tensor<1x64xi8, #kvc.dims<b, e>>
    ```
  }];
  let arguments = (ins Arg<KVC_F32Tile, "numbers">:$source, Arg<KVC_F32Tile, "ascending">:$thresholds,
    Arg<KVC_F32Tile, "code of each step">:$codes);
  let results = (outs KVC_CodeTile:$result);
  let assemblyFormat = [{
    $source `by` $thresholds `,` $codes attr-dict
    `:` type($source) `,` type($thresholds) `,` type($codes) `to` type($result)
  }];
  let hasVerifier = 1;
}

#endif // KVC_DIALECT_KVC_KVCTRANSFORMOPS_TD
