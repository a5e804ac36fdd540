//===- KVKOps.td - Ops of the kvk dialect ------------------*- tablegen -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVK_KVKOPS_TD
#define KVC_DIALECT_KVK_KVKOPS_TD

include "kvc/Dialect/KVC/KVCTypes.td"
include "kvc/Dialect/KVK/KVKTypes.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class KVK_Op<string mnemonic, list<Trait> traits = []> : Op<KVK_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

def KVK_LoadOp : KVK_Op<"load"> {
  let summary = "Names a tile of codes in a cache.";
  let description = [{
    Tokens [token, token + valid) and channels from `channel` on of one part of a
    tensor, as stored. `storage` is the order of the part's codes inside a page of
    `page` tokens; `kvk-derive-storage` writes both. Tokens of the tile beyond
    `valid` are unspecified and touch no memory.

    | value | shape | element |
    |---|---|---|
    | result | t x c, or t x d | the codec's bits as integer, or the raw type |

    - C1: the spec has the tensor and the part.
    - C2: the result has the dims t and c, or t and d, and at most the part's
      channels.
    - C3: the result's element is the raw type for raw codecs, otherwise an integer
      of the codec's bits.
    - C4: `storage` and `page` are given together, or not yet; the storage has the
      width of the element, `page` tokens and the part's channels.

    Example:

    ```mlir
    %x = kvk.load %cache[%kv_head, %t0] valid %n channels %c0
        {tensor = #kvc.tensor<key>, storage = #storage, page = 64}
        : !kvc.cache<#spec> to !kvk.tile<64x128xi4, #kvc.dims<t, c>>
    ```
  }];
  let arguments = (ins
    Arg<KVC_CacheType, "cache of the sequence", [MemRead]>:$cache,
    Arg<Index, "kv head">:$kv_head, Arg<Index, "token, or the first one of the tile">:$token,
    Arg<Index, "tokens of the tile to touch, from the first on">:$valid, Arg<Index, "first channel">:$channel,
    KVC_TensorAttr:$tensor, DefaultValuedAttr<I64Attr, "0">:$part,
    OptionalAttr<KVK_StorageAttr>:$storage, OptionalAttr<I64Attr>:$page);
  let results = (outs KVK_TileType:$result);
  let assemblyFormat = [{
    $cache `[` $kv_head `,` $token `]` `valid` $valid `channels` $channel attr-dict
    `:` qualified(type($cache)) `to` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def KVK_WidenOp : KVK_Op<"widen", [Pure]> {
  let summary = "Converts stored elements to the type of an operand.";
  let description = [{
    Integer codes: with `bias` 0 what is stored is two's complement; with `bias` b
    it is unsigned and b is subtracted. Raw values are widened. Codes with a
    `format` are small floats, codes with a `table` its indices; i16 results then
    are the entries in units of a power of two, the largest that makes all of them
    integers, and a dot multiplies its sum by it. A table that is known only when
    the kernel runs is `entries`. The layout of the result says
    where a dot finds each element: which dim lies on the lanes, and what is packed
    into one. `kvk-assign-layouts` writes it.

    | value | shape | element |
    |---|---|---|
    | source | any | i2 .. i8, or f16, bf16, f32 |
    | entries | vector | f32 |
    | result | the same | i16, f16, bf16 or f32; f32 for raw values and with entries |

    - C1: source and result have the same dims and extents, and the result's
      element is f32, or i16, f16 or bf16 where the source's is an integer.
    - C2: the source's element is an integer of 2 to 8 bits, or a float; `bias` is
      0, or half the range of the integer.
    - C3: with a `format` the source has integers of 8 bits, the result floats, and
      there is no bias and no table.
    - C4: with a `table` the source has integers of at most 4 bits, an entry for
      each, and there is no bias; for i16 results all entries are multiples of one
      power of two, at most 127 times as large.
    - C5: with `entries` the source has integers of at most 4 bits, an entry for
      each, the result f32, and there is no bias, no format and no table.
    - C6: with `in_place` the source has unsigned integers of 2 or 4 bits, the
      result f16, and there is no bias, no format, no table and no entries.

    Examples:

    ```mlir
    %w = kvk.widen %x {bias = 8 : i64} : !kvk.tile<64x128xi4, #kvc.dims<t, c>>
        to !kvk.tile<64x128xi16, #kvc.dims<t, c>, #layout>
    %y = kvk.widen %u {table = array<f32: -1.0, -0.5, 0.5, 1.0>} : !kvk.tile<64x128xi2, #kvc.dims<t, c>>
        to !kvk.tile<64x128xf32, #kvc.dims<t, c>>
    %z = kvk.widen %u table %entries : vector<4xf32> : !kvk.tile<64x128xi2, #kvc.dims<t, c>>
        to !kvk.tile<64x128xf32, #kvc.dims<t, c>>
    ```
  }];
  let arguments = (ins Arg<KVK_TileType, "stored elements">:$source,
    Arg<Optional<VectorOfRankAndType<[1], [F32]>>, "entries of the codes' table">:$entries,
    DefaultValuedAttr<I64Attr, "0">:$bias,
    OptionalAttr<KVC_FloatFormatAttr>:$format, OptionalAttr<DenseF32ArrayAttr>:$table,
    UnitAttr:$in_place);
  let results = (outs KVK_TileType:$result);
  let assemblyFormat = [{
    $source (`table` $entries^ `:` type($entries))? attr-dict
    `:` qualified(type($source)) `to` qualified(type($result))
  }];
  let builders = [
    /// The source's dims, elements `element`.
    OpBuilder<(ins "::mlir::Value":$source, "::mlir::Type":$element, "int64_t":$bias,
                   "::mlir::StringAttr":$format, "::mlir::DenseF32ArrayAttr":$table,
                   CArg<"::mlir::Value", "{}">:$entries)>
  ];
  let extraClassDeclaration = [{
    /// The largest power of two of which all entries are multiples; nothing if one
    /// is more than 127 times as large.
    static std::optional<double> unitOf(::llvm::ArrayRef<float> table);
  }];
  let hasVerifier = 1;
}

def KVK_DotOp : KVK_Op<"dot", [AttrSizedOperandSegments]> {
  let summary = "Product of a matrix of weights with a tile or panel.";
  let description = [{
    acc[r, j] = row_scale[r] * lane_scale[j] * sum_k weights[r, k] * x[k, j];
    with `accumulate` the product is added to what acc holds. j is the free dim of
    x, k the one that `contract` names: `"c"` or `"t"` of a tile, `"minor"` (the
    last) or `"major"` of a panel in memory. With a `lane_scale` of B rows the
    sum over each of B equal blocks of k is multiplied by its own.

    With i16 weights the sum is exact in i32: the caller keeps |sum| below 2^31
    (`kvk.quantize_rows`). With f32 weights the order of the sum is not fixed.

    Tokens beyond the `valid` of the tile's load are touched nowhere in memory: if
    t is free, acc stays unspecified there; if t is contracted, the weights there
    are 0 and raw elements do not enter the sum.

    | operand | shape | element |
    |---|---|---|
    | weights | [R, K], dense | i16, f32 |
    | x | tile K x J or J x K; panel the same | i16, f32; panel f32 |
    | acc | [R, J], dense | f32 |
    | row_scale | [R], dense | f32 |
    | lane_scale | [J] or [B, J], dense | f32 |

    - C1: `contract` is "c" or "t" for a tile, "minor" or "major" for a panel.
    - C2: `weights` has the shape above and the element type of x.
    - C3: `acc` has the shape and element type above.
    - C4: `row_scale` and `lane_scale` have the shape and element type above; K is
      then a multiple of 8 B, and `contract` is "c" or "minor".
    - C5: a panel has two static extents and dense f32 elements.
    - L7: a layout of the tile packs digits of the contracted dim only.

    Example:

    ```mlir
    kvk.dot %w, %x into %acc scale_rows %f scale_lanes %g {contract = "c"}
        : memref<4x128xi16>, !kvk.tile<64x128xi16, #kvc.dims<t, c>> into memref<4x64xf32>
        scale_rows memref<4xf32> scale_lanes memref<64xf32>
    ```
  }];
  let arguments = (ins
    Arg<KVC_MemRef, "weights", [MemRead]>:$weights,
    Arg<AnyTypeOf<[KVK_TileType, KVC_MemRef]>, "tile or panel", [MemRead]>:$x,
    Arg<KVC_MemRef, "accumulator", [MemRead, MemWrite]>:$acc,
    Arg<Optional<KVC_MemRef>, "factor of each row", [MemRead]>:$row_scale,
    Arg<Optional<KVC_MemRef>, "factor of each lane", [MemRead]>:$lane_scale,
    StrAttr:$contract, UnitAttr:$accumulate);
  let assemblyFormat = [{
    $weights `,` $x `into` $acc (`scale_rows` $row_scale^)? (`scale_lanes` $lane_scale^)? attr-dict
    `:` type($weights) `,` type($x) `into` type($acc)
    (`scale_rows` type($row_scale)^)? (`scale_lanes` type($lane_scale)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The tile's type; null for a panel.
    ::kvc::kvk::TileType getTileType() { return ::llvm::dyn_cast<::kvc::kvk::TileType>(getX().getType()); }
    /// Extents of the rows, of the contracted dim and of the free dim.
    int64_t getNumRows() { return getWeights().getType().getDimSize(0); }
    int64_t getDepth() { return getWeights().getType().getDimSize(1); }
    int64_t getNumLanes() { return getAcc().getType().getDimSize(1); }
  }];
}

def KVK_QuantizeRowsOp : KVK_Op<"quantize_rows"> {
  let summary = "Codes rows of weights as 16-bit integers.";
  let description = [{
    scale[r] = max_k |rows[r, k]| / wmax, weights[r, k] = round(rows[r, k] /
    scale[r]), where wmax = min(32767, floor((2^31 - 1) / (128 * K))), so that a sum
    of K products with 8-bit codes fits i32. A row of zeros has scale 0 and weights 0.

    | operand | shape | element |
    |---|---|---|
    | rows | [R, K], dense | f32 |
    | weights | [R, K], dense | i16 |
    | scale | [R], dense | f32 |

    - C1: `rows`, `weights` and `scale` have the shapes and element types above.
    - C2: K is at most 16777215, so that wmax is at least 1.

    Example:

    ```mlir
    kvk.quantize_rows %rows into %w, %f : memref<4x128xf32> into memref<4x128xi16>, memref<4xf32>
    ```
  }];
  let arguments = (ins
    Arg<KVC_MemRef, "rows", [MemRead]>:$rows,
    Arg<KVC_MemRef, "integer weights", [MemWrite]>:$weights,
    Arg<KVC_MemRef, "scale of each row", [MemWrite]>:$scale);
  let assemblyFormat = [{
    $rows `into` $weights `,` $scale attr-dict `:` type($rows) `into` type($weights) `,` type($scale)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The largest weight, wmax, of rows of `depth` elements.
    static int64_t getMaxWeight(int64_t depth);
  }];
}

//===----------------------------------------------------------------------===//
// Rows and metadata of one token
//===----------------------------------------------------------------------===//

def KVK_RowVector : VectorOfRankAndType<[1], [I8, F16, BF16, F32]>;

def KVK_LoadRowOp : KVK_Op<"load_row"> {
  let summary = "Loads channels of one token in canonical order.";
  let description = [{
    Channels from `channel` on, one after the other whatever the order of the
    storage, as stored: an unsigned code or two's complement, extended to 8 bits.
    Where bits of a code lie apart from the lower ones, those are loaded, or with
    `high` the others, shifted down.

    | value | shape | element |
    |---|---|---|
    | result | vector of the channels to load | i8, or the raw type |

    - C1: the spec has the tensor and the part.
    - C2: the result has at most the part's channels.
    - C3: the result's element is the raw type for raw codecs, i8 for others.
    - C4: `storage` and `page` are given together, or not yet; the storage has the
      width of what lies together, `page` tokens and the part's channels.
    - C5: `high` is given only where bits of codes lie apart.

    Example:

    ```mlir
    %v = kvk.load_row %cache[%kv_head, %t] channels %c0
        {tensor = #kvc.tensor<key>, storage = #storage, page = 64} : !kvc.cache<#spec> to vector<32xi8>
    ```
  }];
  let arguments = (ins
    Arg<KVC_CacheType, "cache of the sequence", [MemRead]>:$cache,
    Arg<Index, "kv head">:$kv_head, Arg<Index, "token, or the first one of the tile">:$token,
    Arg<Index, "first channel">:$channel,
    KVC_TensorAttr:$tensor, DefaultValuedAttr<I64Attr, "0">:$part,
    OptionalAttr<KVK_StorageAttr>:$storage, OptionalAttr<I64Attr>:$page, UnitAttr:$high);
  let results = (outs KVK_RowVector:$result);
  let assemblyFormat = [{
    $cache `[` $kv_head `,` $token `]` `channels` $channel attr-dict `:` qualified(type($cache)) `to` type($result)
  }];
  let hasVerifier = 1;
}

def KVK_StoreRowOp : KVK_Op<"store_row"> {
  let summary = "Stores channels of one token.";
  let description = [{
    The inverse of `kvk.load_row`. Where a byte holds codes of several tokens or
    channels the others keep their bits.

    | value | shape | element |
    |---|---|---|
    | source | vector of the channels to store | i8, or the raw type |

    - C1: the spec has the tensor and the part.
    - C2: the vector has at most the part's channels.
    - C3: the vector's element is the raw type for raw codecs, i8 for others.
    - C4: `storage` and `page` are given together, or not yet; the storage has the
      width of what lies together, `page` tokens and the part's channels.
    - C5: `high` is given only where bits of codes lie apart.

    Example:

    ```mlir
    kvk.store_row %v, %cache[%kv_head, %t] channels %c0
        {tensor = #kvc.tensor<key>, storage = #storage, page = 64} : vector<32xi8>, !kvc.cache<#spec>
    ```
  }];
  let arguments = (ins
    Arg<KVK_RowVector, "channels to store">:$source,
    Arg<KVC_CacheType, "cache of the sequence", [MemRead, MemWrite]>:$cache,
    Arg<Index, "kv head">:$kv_head, Arg<Index, "token, or the first one of the tile">:$token,
    Arg<Index, "first channel">:$channel,
    KVC_TensorAttr:$tensor, DefaultValuedAttr<I64Attr, "0">:$part,
    OptionalAttr<KVK_StorageAttr>:$storage, OptionalAttr<I64Attr>:$page, UnitAttr:$high);
  let assemblyFormat = [{
    $source `,` $cache `[` $kv_head `,` $token `]` `channels` $channel attr-dict `:` type($source) `,` qualified(type($cache))
  }];
  let hasVerifier = 1;
}

def KVK_LoadMetaOp : KVK_Op<"load_meta"> {
  let summary = "Loads scales, zeros or outliers.";
  let description = [{
    The scale or zero of channel block `block`, or the channel or value of outlier
    `block`, widened to f32: of one token, or of
    as many tokens from `token` on as the result has elements, of which the first
    `valid` are read and the others are 0. `token` is then a multiple of their
    number, unless the op is `unaligned`.

    | value | shape | element |
    |---|---|---|
    | result | scalar, or vector over tokens | f32 |

    - C1: the spec has the tensor and the part.
    - C2: the part has scales, zeros or outliers in its pages, as `kind` says.
    - C3: `valid` is given exactly with a vector.
    - C4: `storage` and `page` are given together, or not yet; the storage has the
      width of the scale's dtype, `page` tokens and the part's blocks; for
      outliers 16 bits and their number.

    Example:

    ```mlir
    %s = kvk.load_meta %cache[%kv_head, %t0] block %b valid %n
        {tensor = #kvc.tensor<key>, kind = #kvk.meta<scale>, storage = #storage, page = 64}
        : !kvc.cache<#spec> to vector<64xf32>
    ```
  }];
  let arguments = (ins
    Arg<KVC_CacheType, "cache of the sequence", [MemRead]>:$cache,
    Arg<Index, "kv head">:$kv_head, Arg<Index, "token, or the first one of the tile">:$token,
    Arg<Index, "block of channels">:$block, Arg<Optional<Index>, "tokens to read, from the first on">:$valid,
    KVC_TensorAttr:$tensor, DefaultValuedAttr<I64Attr, "0">:$part, KVK_MetaKindAttr:$kind, UnitAttr:$unaligned,
    OptionalAttr<KVK_StorageAttr>:$storage, OptionalAttr<I64Attr>:$page);
  let results = (outs AnyTypeOf<[F32, VectorOfRankAndType<[1], [F32]>]>:$result);
  let assemblyFormat = [{
    $cache `[` $kv_head `,` $token `]` `block` $block (`valid` $valid^)? attr-dict
    `:` qualified(type($cache)) `to` type($result)
  }];
  let hasVerifier = 1;
}

def KVK_LoadMetaTileOp : KVK_Op<"load_meta_tile"> {
  let summary = "Loads the scales, zeros or outliers of a tile.";
  let description = [{
    Row b of `into` is what kvk.load_meta of block `b` gives: of as many tokens from
    `token` on as the row has elements, of which the first `valid` are read and the
    others are 0. `token` is a multiple of their number. Where the blocks of a token
    lie together they are loaded together.

    | operand | shape | element |
    |---|---|---|
    | into | [B, T], dense | f32 |

    - C1: the spec has the tensor and the part.
    - C2: the part has scales, zeros or outliers in its pages, as `kind` says.
    - C3: B is the number of the part's blocks, or of its outliers.
    - C4: `storage` and `page` are given together, or not yet; the storage has the
      width of the scale's dtype, `page` tokens and the part's blocks; for
      outliers 16 bits and their number.

    Example:

    ```mlir
    kvk.load_meta_tile %cache[%kv_head, %t0] valid %n into %scales
        {tensor = #kvc.tensor<key>, kind = #kvk.meta<scale>, storage = #storage, page = 64}
        : !kvc.cache<#spec> into memref<4x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<KVC_CacheType, "cache of the sequence", [MemRead]>:$cache,
    Arg<Index, "kv head">:$kv_head, Arg<Index, "first token of the tile">:$token,
    Arg<Index, "tokens to read, from the first on">:$valid,
    Arg<KVC_MemRef, "a row for each block", [MemWrite]>:$into,
    KVC_TensorAttr:$tensor, DefaultValuedAttr<I64Attr, "0">:$part, KVK_MetaKindAttr:$kind,
    OptionalAttr<KVK_StorageAttr>:$storage, OptionalAttr<I64Attr>:$page);
  let assemblyFormat = [{
    $cache `[` $kv_head `,` $token `]` `valid` $valid `into` $into attr-dict
    `:` qualified(type($cache)) `into` type($into)
  }];
  let hasVerifier = 1;
}

def KVK_LoadMetaRowOp : KVK_Op<"load_meta_row"> {
  let summary = "Loads the scales or zeros of the channels of one token.";
  let description = [{
    Element i is that of the channel block which channel i belongs to, widened to
    f32.

    | value | shape | element |
    |---|---|---|
    | result | vector of the part's channels | f32 |

    - C1: the spec has the tensor and the part.
    - C2: the part has scales or zeros, as `kind` says.
    - C3: the result has the part's channels.
    - C4: `storage` and `page` are given together, or not yet; the storage has the
      width of the scale's dtype, `page` tokens and the part's blocks.

    Example:

    ```mlir
    %s = kvk.load_meta_row %cache[%kv_head, %t]
        {tensor = #kvc.tensor<key>, kind = #kvk.meta<scale>, storage = #storage, page = 64}
        : !kvc.cache<#spec> to vector<128xf32>
    ```
  }];
  let arguments = (ins
    Arg<KVC_CacheType, "cache of the sequence", [MemRead]>:$cache,
    Arg<Index, "kv head">:$kv_head, Arg<Index, "token">:$token,
    KVC_TensorAttr:$tensor, DefaultValuedAttr<I64Attr, "0">:$part, KVK_MetaKindAttr:$kind,
    OptionalAttr<KVK_StorageAttr>:$storage, OptionalAttr<I64Attr>:$page);
  let results = (outs VectorOfRankAndType<[1], [F32]>:$result);
  let assemblyFormat = [{
    $cache `[` $kv_head `,` $token `]` attr-dict `:` qualified(type($cache)) `to` type($result)
  }];
  let hasVerifier = 1;
}

def KVK_StoreMetaOp : KVK_Op<"store_meta"> {
  let summary = "Stores the scale, zero or an outlier of one token.";
  let description = [{
    The value is one of the stored type already.

    | value | shape | element |
    |---|---|---|
    | source | scalar | f32 |

    - C1: the spec has the tensor and the part.
    - C2: the part has scales, zeros or outliers in its pages, as `kind` says.
    - C3: `storage` and `page` are given together, or not yet; the storage has the
      width of the scale's dtype, `page` tokens and the part's blocks; for
      outliers 16 bits and their number.

    Example:

    ```mlir
    kvk.store_meta %s, %cache[%kv_head, %t] block %b
        {tensor = #kvc.tensor<key>, kind = #kvk.meta<scale>, storage = #storage, page = 64}
        : f32, !kvc.cache<#spec>
    ```
  }];
  let arguments = (ins
    Arg<F32, "scale or zero">:$source,
    Arg<KVC_CacheType, "cache of the sequence", [MemWrite]>:$cache,
    Arg<Index, "kv head">:$kv_head, Arg<Index, "token, or the first one of the tile">:$token,
    Arg<Index, "block of channels">:$block,
    KVC_TensorAttr:$tensor, DefaultValuedAttr<I64Attr, "0">:$part, KVK_MetaKindAttr:$kind,
    OptionalAttr<KVK_StorageAttr>:$storage, OptionalAttr<I64Attr>:$page);
  let assemblyFormat = [{
    $source `,` $cache `[` $kv_head `,` $token `]` `block` $block attr-dict `:` type($source) `,` qualified(type($cache))
  }];
  let hasVerifier = 1;
}

def KVK_LoadSchemeOp : KVK_Op<"load_scheme"> {
  let summary = "Loads what a scheme takes beside k and v.";
  let description = [{
    As `kvc.load_scheme`: a field of the row that the kv head has of an input.

    | value | shape | element |
    |---|---|---|
    | result | vector, or scalar for the field `"largest"` | f32 |

    - C1: the spec has the tensor and the part.
    - C2: the part takes an input with the field.
    - C3: the result is a scalar for `"largest"`; for others it is a vector of a
      multiple of the field's numbers, each of which is repeated.

    Example:

    ```mlir
    %s = kvk.load_scheme %cache[%kv_head] {tensor = #kvc.tensor<key>, field = "scale"}
        : !kvc.cache<#spec> to vector<128xf32>
    ```
  }];
  let arguments = (ins
    Arg<KVC_CacheType, "cache of the sequence", [MemRead]>:$cache, Arg<Index, "kv head">:$kv_head,
    KVC_TensorAttr:$tensor, DefaultValuedAttr<I64Attr, "0">:$part, KVC_RowFieldAttr:$field);
  let results = (outs AnyTypeOf<[F32, VectorOfRankAndType<[1], [F32]>]>:$result);
  let assemblyFormat = "$cache `[` $kv_head `]` attr-dict `:` qualified(type($cache)) `to` type($result)";
  let hasVerifier = 1;
}

def KVK_LookupOp : KVK_Op<"lookup", [Pure]> {
  let summary = "Looks up codes in a table that is in registers.";
  let description = [{
    result[i] = table[codes[i]]; bits of a code above those of an index are
    ignored.

    | value | shape | element |
    |---|---|---|
    | codes | [L] | i8 |
    | table | [2^n], n = 2, 3, 4 | f32 |
    | result | [L] | f32 |

    - C1: the table has 4, 8 or 16 entries.
    - C2: there are as many results as codes.

    Example:

    ```mlir
    %x = kvk.lookup %codes in %table : vector<128xi8> in vector<16xf32> to vector<128xf32>
    ```
  }];
  let arguments = (ins VectorOfRankAndType<[1], [I8]>:$codes, VectorOfRankAndType<[1], [F32]>:$table);
  let results = (outs VectorOfRankAndType<[1], [F32]>:$result);
  let assemblyFormat = "$codes `in` $table attr-dict `:` type($codes) `in` type($table) `to` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Tiles in registers of a warp
//===----------------------------------------------------------------------===//

// A tile of a GPU kernel is a tensor whose elements lie in the registers of the
// lanes; `kvk.layouts` on the op that makes it says where.

def KVK_MmaOp : KVK_Op<"mma", [Pure]> {
  let summary = "Multiplies two tiles of 16-bit floats on tensor cores.";
  let description = [{
    As `kvc.contract`: dims are matched by name, and the result is the sum of
    lhs * rhs over the dim that it lacks, plus `acc`. Products are exact, sums are
    in f32, in no fixed order. `lhs` has the rows of the instruction (16 to a
    fragment), `rhs` its columns (8).

    | value | example | element |
    |---|---|---|
    | lhs | <t, c> | f16, bf16 |
    | rhs | <r, c> | the same |
    | acc, result | <r, t> | f32 |

    - C1: each operand has two dims, of which they share one, with one extent.
    - C2: the result has the two others, with the operands' extents.
    - C3: the operands have one element type, f16 or bf16.

    Example:

    ```mlir
    %s = kvk.mma %k, %q : !kvk.tile<64x128xf16, #kvc.dims<t, c>>, tensor<8x128xf16, #kvc.dims<r, c>>
        to tensor<8x64xf32, #kvc.dims<r, t>>
    ```
  }];
  let arguments = (ins
    Arg<AnyTypeOf<[KVK_TileType, KVC_Tile]>, "rows of the instruction">:$lhs,
    Arg<AnyTypeOf<[KVK_TileType, KVC_Tile]>, "columns of the instruction">:$rhs,
    Arg<Optional<KVC_F32Tile>, "what the product is added to">:$acc);
  let results = (outs KVC_F32Tile:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`acc` $acc^)? attr-dict `:` type($lhs) `,` type($rhs) `to` type($result)
    (`acc` type($acc)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The dim that is summed over, and those of the rows and columns.
    ::llvm::StringRef getDepthDim();
    ::llvm::StringRef getRowDim();
    ::llvm::StringRef getColumnDim();
  }];
}

def KVK_ConvertLayoutOp : KVK_Op<"convert_layout", [Pure, SameOperandsAndResultType]> {
  let summary = "Moves a tile between registers and lanes.";
  let description = [{
    The same elements in the layout that `kvk.layouts` says of the result: by
    renaming registers, movmatrix or shuffles.

    | value | dims | element |
    |---|---|---|
    | source, result | any, the same | any |

    Example:

    ```mlir
    %b = kvk.convert_layout %p {kvk.layouts = [#layout]} : tensor<8x64xf16, #kvc.dims<r, t>>
    ```
  }];
  let arguments = (ins Arg<KVC_Tile, "tile">:$source);
  let results = (outs KVC_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($result)";
}

#endif // KVC_DIALECT_KVK_KVKOPS_TD
