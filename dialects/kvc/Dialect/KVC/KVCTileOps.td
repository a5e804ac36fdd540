//===- KVCTileOps.td - Level 1: computing on tiles ---------*- tablegen -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVC_KVCTILEOPS_TD
#define KVC_DIALECT_KVC_KVCTILEOPS_TD

include "kvc/Dialect/KVC/KVCOpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

//===----------------------------------------------------------------------===//
// Computing by names of dims
//===----------------------------------------------------------------------===//

def KVC_IotaOp : KVC_Op<"iota", [Pure]> {
  let summary = "Counts along the only dim of a tile.";
  let description = [{
    Element i of the result is i.

    | result | element |
    |---|---|
    | <x> | i32, i64 |

    - C1: the result has one dim.

    Example:

    ```mlir
    %i = kvc.iota : tensor<64xi32, #kvc.dims<t>>
    ```
  }];
  let results = (outs KVC_IntTile:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def KVC_BroadcastOp : KVC_Op<"broadcast", [Pure]> {
  let summary = "Repeats a tile along the dims that it lacks.";
  let description = [{
    Dims are matched by name: result[.., all dims ..] = source[.. its dims ..]. A
    scalar is repeated everywhere.

    | operand | dims |
    |---|---|
    | source | a subset of the result's, or a scalar |

    - C1: the element types agree.
    - C2: each dim of the source is one of the result, of the same extent.

    Example:

    ```mlir
    %y = kvc.broadcast %x : tensor<4xf32, #kvc.dims<r>> to tensor<4x64xf32, #kvc.dims<r, t>>
    %z = kvc.broadcast %c : f32 to tensor<4xf32, #kvc.dims<r>>
    ```
  }];
  let arguments = (ins Arg<AnyTypeOf<[KVC_Tile, F32, I64, I32, I1]>, "tile or scalar">:$source);
  let results = (outs KVC_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def KVC_ContractOp : KVC_Op<"contract", [Pure]> {
  let summary = "Multiplies two tiles and sums.";
  let description = [{
    Dims are matched by name. result = sum of lhs * rhs over every dim that an
    operand has and the result lacks; a dim of both operands and the result is a
    batch dim. The order of the summation is not fixed.

    | value | example: scores | example: output |
    |---|---|---|
    | lhs | <r, c> | <r, t> |
    | rhs | <t, c> | <t, d> |
    | result | <r, t> | <r, d> |

    - C1: operands and result have the same floating-point element type.
    - C2: a dim of both operands has the same extent in both.
    - C3: each dim of the result is one of an operand, of the same extent.

    Example:

    ```mlir
    %s = kvc.contract %q, %k : tensor<4x128xf32, #kvc.dims<r, c>>, tensor<64x128xf32, #kvc.dims<t, c>>
        to tensor<4x64xf32, #kvc.dims<r, t>>
    ```
  }];
  let arguments = (ins Arg<KVC_Tile, "left operand">:$lhs, Arg<KVC_Tile, "right operand">:$rhs);
  let results = (outs KVC_Tile:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `to` type($result)";
  let builders = [
    /// The result has the dims `dims`, in this order, with the operands' extents.
    OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs, "::llvm::ArrayRef<::llvm::StringRef>":$dims)>
  ];
  let hasVerifier = 1;
}

def KVC_ReduceOp : KVC_Op<"reduce", [Pure]> {
  let summary = "Reduces a tile over the dims that the result lacks.";
  let description = [{
    | kind | combines | elements |
    |---|---|---|
    | `add` | sums, in no fixed order | floats, integers |
    | `maximumf` | the maximum; NaN wins | floats |
    | `maxnumf` | the maximum; numbers win | floats |
    | `minimumf` | the minimum; NaN wins | floats |
    | `pairwise_add` | sums of neighbours, then of neighbouring sums, ..; zeros fill up to a power of two | floats |

    - C1: the element types agree, and are floats unless the kind is `add`.
    - C2: each dim of the result is one of the source, of the same extent.
    - C3: the result lacks at least one dim of the source.

    Example:

    ```mlir
    %m = kvc.reduce maximumf %s : tensor<4x64xf32, #kvc.dims<r, t>> to tensor<4xf32, #kvc.dims<r>>
    ```
  }];
  let arguments = (ins KVC_ReductionKindAttr:$kind, Arg<KVC_Tile, "what is reduced">:$source);
  let results = (outs KVC_Tile:$result);
  let assemblyFormat = "$kind $source attr-dict `:` type($source) `to` type($result)";
  let builders = [
    /// The result is `source` without the dim `dim`.
    OpBuilder<(ins "::kvc::ReductionKind":$kind, "::mlir::Value":$source, "::llvm::StringRef":$dim)>
  ];
  let hasVerifier = 1;
}

def KVC_DequantizeOp : KVC_Op<"dequantize", [Pure, AttrSizedOperandSegments]> {
  let summary = "What codes stand for.";
  let description = [{
    With u = codes + centre:

    | zero_kind | result |
    |---|---|
    | without scale | u, widened |
    | `"none"` | scale * u |
    | `"min"` | scale * u + zero |
    | `"code"` | scale * (u - zero) |

    `scale` and `zero` are broadcast by name. All in f32; the order of the
    operations is as written. `scale_place` and `zero_place` say where each factor
    is to be applied, once that is planned.

    | operand | dims | element |
    |---|---|---|
    | codes | any | i8, or f32; f16, bf16, f32 without scale |
    | scale, zero | a subset of the codes' | f32 |

    - C1: the result is the codes' tile with f32 elements.
    - C2: each dim of `scale` and `zero` is one of the codes, of the same extent.
    - C3: `zero` is given exactly where zero_kind is not `"none"`, and only with `scale`.
    - C4: i8 codes have a scale, f16 and bf16 values have none (decoded codes are
      f32 with a scale), and only i8 has a centre other than 0.
    - C5: `scale_place` and `zero_place` are given only with their operand.

    Example:

    ```mlir
    %x = kvc.dequantize %u, %s, %z {centre = 8 : i64, zero_kind = "min"}
        : tensor<64x128xi8, #kvc.dims<t, c>>, tensor<64xf32, #kvc.dims<t>>, tensor<64xf32, #kvc.dims<t>>
        to tensor<64x128xf32, #kvc.dims<t, c>>
    ```
  }];
  let arguments = (ins
    Arg<KVC_CodeTile, "centred codes or raw values">:$codes,
    Arg<Optional<KVC_F32Tile>, "scale of every element">:$scale,
    Arg<Optional<KVC_F32Tile>, "zero of every element">:$zero,
    DefaultValuedAttr<I64Attr, "0">:$centre,
    DefaultValuedAttr<KVC_ZeroKindAttr, "::kvc::spec::Zero::None">:$zero_kind,
    OptionalAttr<KVC_PlaceAttr>:$scale_place,
    OptionalAttr<KVC_PlaceAttr>:$zero_place);
  let results = (outs KVC_F32Tile:$result);
  let assemblyFormat = [{
    $codes (`,` $scale^)? (`,` $zero^)? attr-dict
    `:` type($codes) (`,` type($scale)^)? (`,` type($zero)^)? `to` type($result)
  }];
  let builders = [
    /// Places are left open; `scale` and `zero` may be null.
    OpBuilder<(ins "::mlir::Value":$codes, "::mlir::Value":$scale, "::mlir::Value":$zero, "int64_t":$centre,
                   "::kvc::spec::Zero":$zeroKind)>
  ];
  let hasVerifier = 1;
}

def KVC_RoundToOp : KVC_Op<"round_to", [Pure, SameOperandsAndResultType]> {
  let summary = "Rounds to the values of a storage type.";
  let description = [{
    The nearest value of `dtype`, ties to even, at most the largest finite one;
    as f32. NaN stays NaN.

    | value | dims | element |
    |---|---|---|
    | source, result | any, the same | f32 |

    Example:

    ```mlir
    %y = kvc.round_to %x {dtype = "f16"} : tensor<4xf32, #kvc.dims<b>>
    ```
  }];
  let arguments = (ins Arg<KVC_F32Tile, "values to round">:$source, KVC_RoundTypeAttr:$dtype);
  let results = (outs KVC_F32Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($result)";
  let hasFolder = 1;
}

def KVC_PowerOfTwoOp : KVC_Op<"power_of_two", [Pure, SameOperandsAndResultType]> {
  let summary = "A power of two next to a value.";
  let description = [{
    2^(n + offset) for the least n with value <= 2^n, with `down` for the largest n
    with 2^n <= value; the exponent clamped to [smallest, largest]. 0 for 0. The
    values are not negative.

    | value | dims | element |
    |---|---|---|
    | source, result | any, the same | f32 |

    - C1: -149 <= smallest <= largest <= 127, so that f32 holds every result.

    Example:

    ```mlir
    %y = kvc.power_of_two %x from -24 to 15 : tensor<4xf32, #kvc.dims<b>>
    ```
  }];
  let arguments = (ins Arg<KVC_F32Tile, "values">:$source, I64Attr:$smallest, I64Attr:$largest,
    DefaultValuedAttr<I64Attr, "0">:$offset, UnitAttr:$down);
  let results = (outs KVC_F32Tile:$result);
  let assemblyFormat = "$source `from` $smallest `to` $largest attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def KVC_EncodeFloatOp : KVC_Op<"encode_float", [Pure]> {
  let summary = "Rounds to a small float.";
  let description = [{
    The bit pattern of the nearest value of `format`, ties to even, at most the
    largest finite one. The sign of zero is kept.

    | value | dims | element |
    |---|---|---|
    | source | any | f32 |
    | result | the same | i8 |

    - C1: the result is the source's tile with i8 elements.

    Example:

    ```mlir
    %u = kvc.encode_float %x {format = "fp8_e4m3"} : tensor<4x32xf32, #kvc.dims<b, e>>
        to tensor<4x32xi8, #kvc.dims<b, e>>
    ```
  }];
  let arguments = (ins Arg<KVC_F32Tile, "values to round">:$source, KVC_FloatFormatAttr:$format);
  let results = (outs KVC_CodeTile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($result)";
  let hasVerifier = 1;
}

def KVC_DecodeFloatOp : KVC_Op<"decode_float", [Pure]> {
  let summary = "What patterns of a small float stand for.";
  let description = [{
    The inverse of `kvc.encode_float`: exact.

    | value | dims | element |
    |---|---|---|
    | codes | any | i8 |
    | result | the same | f32 |

    - C1: `codes` are the result's tile with i8 elements.

    Example:

    ```mlir
    %x = kvc.decode_float %u {format = "fp8_e4m3"} : tensor<64x128xi8, #kvc.dims<t, c>>
        to tensor<64x128xf32, #kvc.dims<t, c>>
    ```
  }];
  let arguments = (ins Arg<KVC_CodeTile, "bit patterns">:$codes, KVC_FloatFormatAttr:$format);
  let results = (outs KVC_F32Tile:$result);
  let assemblyFormat = "$codes attr-dict `:` type($codes) `to` type($result)";
  let hasVerifier = 1;
}

def KVC_LookupOp : KVC_Op<"lookup", [Pure]> {
  let summary = "Looks codes up in a table.";
  let description = [{
    result = table[codes]. Codes are indices, 0 and up.

    | value | dims | element |
    |---|---|---|
    | codes | any | i8 |
    | result | the same | f32 |

    - C1: `codes` are the result's tile with i8 elements.
    - C2: the table has 4, 8 or 16 entries.

    Example:

    ```mlir
    %x = kvc.lookup %u in [-1.0, -0.25, 0.25, 1.0] : tensor<64x128xi8, #kvc.dims<t, c>>
        to tensor<64x128xf32, #kvc.dims<t, c>>
    ```
  }];
  let arguments = (ins Arg<KVC_CodeTile, "indices">:$codes, DenseF32ArrayAttr:$table);
  let results = (outs KVC_F32Tile:$result);
  let assemblyFormat = "$codes `in` $table attr-dict `:` type($codes) `to` type($result)";
  let hasVerifier = 1;
}

include "kvc/Dialect/KVC/KVCChannelOps.td"
include "kvc/Dialect/KVC/KVCTransformOps.td"
include "kvc/Dialect/KVC/KVCSegmentOps.td"

//===----------------------------------------------------------------------===//
// Attention: loads
//===----------------------------------------------------------------------===//

def KVC_LoadQueryOp : KVC_Op<"load_query"> {
  let summary = "Loads the query rows of a kv head.";
  let description = [{
    Row i of the result is row (row + i) of the kv head: query (row + i) / group,
    head kv_head * group + (row + i) % group. Rows at row_end and beyond read 0
    and touch no memory. Elements are widened to f32.

    | value | shape | element |
    |---|---|---|
    | memref | [queries, q_heads, channels], dense channels | f16, bf16, f32 |
    | result | <r, c> | f32 |

    - C1: `memref` has the shape and element type above.
    - C2: the result has two dims, the last of the memref's channels.
    - C3: `group` is positive.

    Example:

    ```mlir
    %q = kvc.load_query %mem[%row to %row_end, %kv_head] group 4
        : memref<?x?x128xf16, strided<[?, ?, 1]>> to tensor<4x128xf32, #kvc.dims<r, c>>
    ```
  }];
  let arguments = (ins
    Arg<KVC_MemRef, "queries", [MemRead]>:$memref,
    Arg<Index, "first row of the tile">:$row, Arg<Index, "end of the rows">:$row_end, Arg<Index, "kv head">:$kv_head,
    I64Attr:$group);
  let results = (outs KVC_F32Tile:$result);
  let assemblyFormat = [{
    $memref `[` $row `to` $row_end `,` $kv_head `]` `group` $group attr-dict `:` type($memref) `to` type($result)
  }];
  let hasVerifier = 1;
}

def KVC_LoadRowValuesOp : KVC_Op<"load_row_values"> {
  let summary = "Loads a value of the query head of each row.";
  let description = [{
    Element i of the result is memref[kv_head * group + (row + i) % group]: the
    ALiBi slope or sink logit of the row's head. Rows at row_end and beyond read 0
    and touch no memory.

    | value | shape | element |
    |---|---|---|
    | memref | [q_heads] | f32 |
    | result | <r> | f32 |

    - C1: `memref` has the shape and element type above.
    - C2: the result has one dim.
    - C3: `group` is positive.

    Example:

    ```mlir
    %s = kvc.load_row_values %slopes[%row to %row_end, %kv_head] group 4
        : memref<?xf32> to tensor<4xf32, #kvc.dims<r>>
    ```
  }];
  let arguments = (ins
    Arg<KVC_MemRef, "value per query head", [MemRead]>:$memref,
    Arg<Index, "first row of the tile">:$row, Arg<Index, "end of the rows">:$row_end, Arg<Index, "kv head">:$kv_head,
    I64Attr:$group);
  let results = (outs KVC_F32Tile:$result);
  let assemblyFormat = [{
    $memref `[` $row `to` $row_end `,` $kv_head `]` `group` $group attr-dict `:` type($memref) `to` type($result)
  }];
  let hasVerifier = 1;
}

class KVC_LoadFromCacheOp<string mnemonic, Type resultType> : KVC_Op<mnemonic> {
  let arguments = (ins
    Arg<KVC_CacheType, "cache of the sequence", [MemRead]>:$cache,
    Arg<Index, "kv head">:$kv_head, Arg<Index, "token, or the first one of the tile">:$token,
    Arg<Index, "tokens of the tile to touch, from the first on">:$valid,
    KVC_TensorAttr:$tensor, DefaultValuedAttr<I64Attr, "0">:$part, UnitAttr:$unaligned);
  let results = (outs resultType:$result);
  let assemblyFormat = [{
    $cache `[` $kv_head `,` $token `]` `valid` $valid attr-dict `:` qualified(type($cache)) `to` type($result)
  }];
  let hasVerifier = 1;
}

def KVC_LoadCodesOp : KVC_LoadFromCacheOp<"load_codes", KVC_CodeTile> {
  let summary = "Loads a tile of codes.";
  let description = [{
    Tokens [token, token + valid) of one part of a tensor. Codes are *centred*:
    what is stored minus 2^(bits-1), except for symmetric integers of 8 bits,
    which are stored signed and not moved. At tokens of the tile beyond, codes are
    unspecified and raw values 0; no memory is touched there. `token` is a multiple
    of the tile's tokens unless the op is `unaligned`, which reads row by row.

    | value | shape | element |
    |---|---|---|
    | result | <t, c>; c the channels of the part | i8, or the raw type |

    - C1: the spec has the tensor and the part.
    - C2: the result has two dims, the last of the part's channels.
    - C3: the result's element is the raw type for raw codecs, i8 for others.

    Example:

    ```mlir
    %u = kvc.load_codes %cache[%kv_head, %t0] valid %n {tensor = #kvc.tensor<key>}
        : !kvc.cache<#spec> to tensor<64x128xi8, #kvc.dims<t, c>>
    ```
  }];
}

def KVC_LoadScaleOp : KVC_LoadFromCacheOp<"load_scale", KVC_F32Tile> {
  let summary = "Loads the scales of a tile of tokens.";
  let description = [{
    The scale of every token (and block of channels, where there are several) in
    [token, token + valid), widened to f32; 0 at tokens of the tile beyond, where
    no memory is touched. With a dim of channels each has the scale of its block;
    without one of tokens all have the first one's.

    | value | shape | element |
    |---|---|---|
    | result | <t, b>, or <t> where the part has one block; <t, c>, or <c> | f32 |

    - C1: the spec has the tensor and the part.
    - C2: the part has a scale that is not static.
    - C3: the result has a dim of tokens, then one of the part's blocks (which may
      be left out where there is one block) or one of the part's channels, which
      may be alone.

    Example:

    ```mlir
    %s = kvc.load_scale %cache[%kv_head, %t0] valid %n {tensor = #kvc.tensor<key>}
        : !kvc.cache<#spec> to tensor<64xf32, #kvc.dims<t>>
    ```
  }];
}

def KVC_LoadZeroOp : KVC_LoadFromCacheOp<"load_zero", KVC_F32Tile> {
  let summary = "Loads the zeros of a tile of tokens.";
  let description = [{
    As `kvc.load_scale`, for the zeros.

    | value | shape | element |
    |---|---|---|
    | result | <t, b>, or <t> where the part has one block; <t, c>, or <c> | f32 |

    - C1: the spec has the tensor and the part.
    - C2: the part has a zero.
    - C3: the result has a dim of tokens, then one of the part's blocks (which may
      be left out where there is one block) or one of the part's channels, which
      may be alone.

    Example:

    ```mlir
    %z = kvc.load_zero %cache[%kv_head, %t0] valid %n {tensor = #kvc.tensor<key>}
        : !kvc.cache<#spec> to tensor<64xf32, #kvc.dims<t>>
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Partial results and output
//===----------------------------------------------------------------------===//

def KVC_LoadPartialOp : KVC_Op<"load_partial"> {
  let summary = "Loads rows of the partial results of one split.";
  let description = [{
    Rows [row, row_end) of a split; rows of the tile beyond read 0 and touch no
    memory.

    | value | shape | element |
    |---|---|---|
    | memref | [splits, rows, channels], dense channels, or [splits, rows] | f32 |
    | result | <r, d>, or <r> | f32 |

    - C1: `memref` has the shape and element type above.
    - C2: the result has one dim less than the memref, and its channels.

    Example:

    ```mlir
    %o = kvc.load_partial %pout[%split, %row to %row_end]
        : memref<?x?x128xf32, strided<[?, 128, 1]>> to tensor<4x128xf32, #kvc.dims<r, d>>
    ```
  }];
  let arguments = (ins
    Arg<KVC_MemRef, "partial results of all splits", [MemRead]>:$memref,
    Arg<Index, "split">:$split, Arg<Index, "first row of the tile">:$row, Arg<Index, "end of the rows">:$row_end);
  let results = (outs KVC_F32Tile:$result);
  let assemblyFormat = [{
    $memref `[` $split `,` $row `to` $row_end `]` attr-dict `:` type($memref) `to` type($result)
  }];
  let hasVerifier = 1;
}

def KVC_StorePartialOp : KVC_Op<"store_partial"> {
  let summary = "Stores rows of a partial result.";
  let description = [{
    Row i of the tile goes to row (row + i) of the memref, which counts from the
    first row of the kernel; rows at row_end and beyond are not stored.

    | value | shape | element |
    |---|---|---|
    | source | <r, d>, or <r> | f32 |
    | memref | [rows, channels], dense channels, or [rows] | f32 |

    - C1: `memref` has the shape and element type above.
    - C2: the tile has as many dims as the memref; with `channel` (the first one
      stored) its channels lie inside the memref's.

    Example:

    ```mlir
    kvc.store_partial %o, %pout[%row to %row_end] : tensor<4x128xf32, #kvc.dims<r, d>>, memref<?x128xf32>
    ```
  }];
  let arguments = (ins
    Arg<KVC_F32Tile, "rows">:$source,
    Arg<KVC_MemRef, "partial result", [MemWrite]>:$memref,
    Arg<Index, "first row of the tile">:$row, Arg<Index, "end of the rows">:$row_end,
    DefaultValuedAttr<I64Attr, "0">:$channel);
  let assemblyFormat = [{
    $source `,` $memref `[` $row `to` $row_end `]` attr-dict `:` type($source) `,` type($memref)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$source, "::mlir::Value":$memref, "::mlir::Value":$row, "::mlir::Value":$rowEnd), [{
      build($_builder, $_state, source, memref, row, rowEnd, /*channel=*/0);
    }]>
  ];
  let hasVerifier = 1;
}

def KVC_StoreOutputOp : KVC_Op<"store_output"> {
  let summary = "Stores rows of a kv head into the output.";
  let description = [{
    Row i of the tile goes to query (row + i) / group and head kv_head * group +
    (row + i) % group; rows at row_end and beyond are not stored. Elements are
    rounded to the memref's type, ties to even, at most the largest finite value;
    infinities stay where the type is f32.

    | value | shape | element |
    |---|---|---|
    | source | <r, d>, or <r> | f32 |
    | memref | [queries, q_heads, channels], dense channels, or [queries, q_heads] | f16, bf16, f32 |

    - C1: `memref` has the shape and element type above.
    - C2: the tile has one dim less than the memref, and its channels.
    - C3: `group` is positive.

    Example:

    ```mlir
    kvc.store_output %o, %out[%row to %row_end, %kv_head] group 4
        : tensor<4x128xf32, #kvc.dims<r, d>>, memref<?x?x128xf16, strided<[?, ?, 1]>>
    ```
  }];
  let arguments = (ins
    Arg<KVC_F32Tile, "rows">:$source,
    Arg<KVC_MemRef, "output", [MemWrite]>:$memref,
    Arg<Index, "first row of the tile">:$row, Arg<Index, "end of the rows">:$row_end, Arg<Index, "kv head">:$kv_head,
    I64Attr:$group);
  let assemblyFormat = [{
    $source `,` $memref `[` $row `to` $row_end `,` $kv_head `]` `group` $group attr-dict
    `:` type($source) `,` type($memref)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Append
//===----------------------------------------------------------------------===//

def KVC_LoadInputOp : KVC_Op<"load_input"> {
  let summary = "Loads k or v of one token.";
  let description = [{
    result[b, e] = memref[index, kv_head, b * extent(e) + e], widened to f32.

    | value | shape | element |
    |---|---|---|
    | memref | [tokens, kv_heads, channels], dense channels | f16, bf16, f32 |
    | result | <b, e> | f32 |

    - C1: `memref` has the shape and element type above.
    - C2: the result has two dims; with `channel` (the first one read) it lies
      inside the memref's channels.

    Example:

    ```mlir
    %x = kvc.load_input %k[%i, %kv_head]
        : memref<?x?x128xf16, strided<[?, ?, 1]>> to tensor<4x32xf32, #kvc.dims<b, e>>
    ```
  }];
  let arguments = (ins
    Arg<KVC_MemRef, "k or v of the new tokens", [MemRead]>:$memref,
    Arg<Index, "position in the memref">:$index, Arg<Index, "kv head">:$kv_head,
    DefaultValuedAttr<I64Attr, "0">:$channel);
  let results = (outs KVC_F32Tile:$result);
  let assemblyFormat = "$memref `[` $index `,` $kv_head `]` attr-dict `:` type($memref) `to` type($result)";
  let builders = [
    OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$memref, "::mlir::Value":$index, "::mlir::Value":$kvHead), [{
      build($_builder, $_state, result, memref, index, kvHead, /*channel=*/0);
    }]>
  ];
  let hasVerifier = 1;
}

class KVC_StoreToCacheOp<string mnemonic, Type sourceType> : KVC_Op<mnemonic> {
  let arguments = (ins
    Arg<sourceType, "values of one token, or of a scale block of tokens">:$source,
    Arg<KVC_CacheType, "cache of the sequence", [MemRead, MemWrite]>:$cache,
    Arg<Index, "kv head">:$kv_head, Arg<Index, "token, or the first one of the tile">:$token,
    KVC_TensorAttr:$tensor, DefaultValuedAttr<I64Attr, "0">:$part);
  let assemblyFormat = [{
    $source `,` $cache `[` $kv_head `,` $token `]` attr-dict `:` type($source) `,` qualified(type($cache))
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$source, "::mlir::Value":$cache, "::mlir::Value":$kvHead, "::mlir::Value":$token,
                   "::kvc::spec::Tensor":$tensor), [{
      build($_builder, $_state, source, cache, kvHead, token, tensor, /*part=*/0);
    }]>
  ];
  let hasVerifier = 1;
}

def KVC_StoreCodesOp : KVC_StoreToCacheOp<"store_codes", KVC_CodeTile> {
  let summary = "Stores the codes of one token, or of several.";
  let description = [{
    The inverse of `kvc.load_codes` for one token, or for all tokens of a tile
    from `token` on: codes are centred.

    | value | shape | element |
    |---|---|---|
    | source | <b, e>, together the channels of the part; or <t, c> | i8, or the raw type |

    - C1: the spec has the tensor and the part.
    - C2: the tile has two dims; the product of those other than t is the part's
      channels.
    - C3: the tile's element is the raw type for raw codecs, i8 for others.

    Example:

    ```mlir
    kvc.store_codes %u, %cache[%kv_head, %t] {tensor = #kvc.tensor<key>}
        : tensor<4x32xi8, #kvc.dims<b, e>>, !kvc.cache<#spec>
    ```
  }];
}

def KVC_StoreScaleOp : KVC_StoreToCacheOp<"store_scale", KVC_F32Tile> {
  let summary = "Stores the scales of one token, or of its scale block.";
  let description = [{
    The values are already ones of the scale's dtype (`kvc.round_to`).

    | value | shape | element |
    |---|---|---|
    | source | <b>, or <c> where blocks have one channel | f32 |

    - C1: the spec has the tensor and the part.
    - C2: the part has a scale that is not static.
    - C3: the tile has one dim, the part's blocks.

    Example:

    ```mlir
    kvc.store_scale %s, %cache[%kv_head, %t] {tensor = #kvc.tensor<key>}
        : tensor<1xf32, #kvc.dims<b>>, !kvc.cache<#spec>
    ```
  }];
}

def KVC_StoreZeroOp : KVC_StoreToCacheOp<"store_zero", KVC_F32Tile> {
  let summary = "Stores the zeros of one token, or of its scale block.";
  let description = [{
    The values are already ones of the scale's dtype (`kvc.round_to`).

    | value | shape | element |
    |---|---|---|
    | source | <b>, or <c> where blocks have one channel | f32 |

    - C1: the spec has the tensor and the part.
    - C2: the part has a zero.
    - C3: the tile has one dim, the part's blocks.

    Example:

    ```mlir
    kvc.store_zero %z, %cache[%kv_head, %t] {tensor = #kvc.tensor<key>}
        : tensor<1xf32, #kvc.dims<b>>, !kvc.cache<#spec>
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Unpack
//===----------------------------------------------------------------------===//

def KVC_StoreRowsOp : KVC_Op<"store_rows"> {
  let summary = "Stores the first rows of a tile.";
  let description = [{
    memref[index + i, ..] = source[i, ..] for i < valid.

    | value | shape | element |
    |---|---|---|
    | source | <t, c>, <t, b>, or <t> | i8, f32 |
    | memref | [tokens, channels or blocks], dense; one block for <t> | the source's |

    - C1: `memref` has the shape and element type above.
    - C2: the tile's last extent is the memref's; a tile of one dim goes to a
      memref of one column.

    Example:

    ```mlir
    kvc.store_rows %u, %codes[%i] valid %n : tensor<64x128xi8, #kvc.dims<t, c>>, memref<?x128xi8>
    ```
  }];
  let arguments = (ins
    Arg<KVC_CodeTile, "rows">:$source,
    Arg<KVC_MemRef, "rows", [MemWrite]>:$memref,
    Arg<Index, "position in the memref">:$index, Arg<Index, "tokens of the tile to touch, from the first on">:$valid);
  let assemblyFormat = "$source `,` $memref `[` $index `]` `valid` $valid attr-dict `:` type($source) `,` type($memref)";
  let hasVerifier = 1;
}

include "kvc/Dialect/KVC/KVCOutlierOps.td"

#endif // KVC_DIALECT_KVC_KVCTILEOPS_TD
