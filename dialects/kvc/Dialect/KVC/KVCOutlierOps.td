//===- KVCOutlierOps.td - Level 1: channels kept apart -----*- tablegen -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The sparse part of a scheme: a few channels of each token that keep values of
// their own. Part of the ops of KVCTileOps.td, which includes this file.
//
// Channels are numbered in f32, which holds each number exactly.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVC_KVCOUTLIEROPS_TD
#define KVC_DIALECT_KVC_KVCOUTLIEROPS_TD

include "kvc/Dialect/KVC/KVCOpBase.td"

def KVC_FindOutliersOp : KVC_Op<"find_outliers", [Pure]> {
  let summary = "The channels of largest magnitude.";
  let description = [{
    The numbers of the channels with the largest elements of `source`, ascending;
    of equal elements the one of the lower number. No element is negative. Which
    channels are named beside NaN is unspecified.

    | value | shape | element |
    |---|---|---|
    | source | <b, e> with one block, or <t, c> with one token | f32 |
    | result | <o> | f32 |

    - C1: the source has two dims, the first of extent 1.
    - C2: the result has one dim, of fewer channels than the source.

    Example:

    ```mlir
    %i = kvc.find_outliers %m : tensor<1x128xf32, #kvc.dims<b, e>> to tensor<2xf32, #kvc.dims<o>>
    ```
  }];
  let arguments = (ins Arg<KVC_F32Tile, "magnitudes">:$source);
  let results = (outs KVC_F32Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($result)";
  let hasVerifier = 1;
}

def KVC_PickOp : KVC_Op<"pick", [Pure, AllTypesMatch<["index", "result"]>]> {
  let summary = "The elements of some channels.";
  let description = [{
    result[.., o] = source[.., index[.., o] / width]: an element of the source is
    that of `width` channels.

    | value | shape | element |
    |---|---|---|
    | source | <t, c>, <t, b>, <c> or <b>; or <b, e> with one block | f32 |
    | index, result | <t, o>, or <o> | f32 |

    - C1: index and result have one dim, or two.
    - C2: the source's dims but the last have one element, or are the first of the
      two.

    Example:

    ```mlir
    %v = kvc.pick %x at %i : tensor<1x128xf32, #kvc.dims<b, e>>, tensor<2xf32, #kvc.dims<o>>
    ```
  }];
  let arguments = (ins
    Arg<KVC_F32Tile, "channels, or blocks of them">:$source, Arg<KVC_F32Tile, "numbers of channels">:$index,
    DefaultValuedAttr<I64Attr, "1">:$width);
  let results = (outs KVC_F32Tile:$result);
  let assemblyFormat = "$source `at` $index attr-dict `:` type($source) `,` type($index)";
  let hasVerifier = 1;
}

def KVC_PatchOp : KVC_Op<"patch", [Pure, AllTypesMatch<["dense", "result"]>, AllTypesMatch<["index", "value"]>]> {
  let summary = "Puts values in the place of some channels.";
  let description = [{
    `dense`, but result[.., index[.., o]] = value[.., o]. Indices beyond the
    channels name none. `place` says whether it stays so (`register`) or a product
    becomes one with `dense` and one with the values (`score`, `output`), once that
    is planned.

    | value | shape | element |
    |---|---|---|
    | dense, result | <t, c> or <t, b, e>, or without t | f32 |
    | index, value | <t, o>, or <o> | f32 |

    - C1: index and value have one dim, or two.
    - C2: the dense tile has the first of the two, then one or two dims of
      channels.

    Example:

    ```mlir
    %x = kvc.patch %d, %i, %v : tensor<64x128xf32, #kvc.dims<t, c>>, tensor<64x2xf32, #kvc.dims<t, o>>
    ```
  }];
  let arguments = (ins
    Arg<KVC_F32Tile, "all channels">:$dense, Arg<KVC_F32Tile, "numbers of channels">:$index,
    Arg<KVC_F32Tile, "their values">:$value, OptionalAttr<KVC_PlaceAttr>:$place);
  let results = (outs KVC_F32Tile:$result);
  let assemblyFormat = "$dense `,` $index `,` $value attr-dict `:` type($dense) `,` type($index)";
  let builders = [
    /// The place is left open.
    OpBuilder<(ins "::mlir::Value":$dense, "::mlir::Value":$index, "::mlir::Value":$value)>
  ];
  let hasVerifier = 1;
}

def KVC_GatherDotOp : KVC_Op<"gather_dot", [Pure, AllTypesMatch<["index", "value"]>]> {
  let summary = "Products of rows with a few channels of each token.";
  let description = [{
    result[r, t] = sum over o of rows[r, index[t, o]] * value[t, o].

    | value | shape | element |
    |---|---|---|
    | rows | <r, c> | f32 |
    | index, value | <t, o> | f32 |
    | result | <r, t> | f32 |

    - C1: rows, index and result have two dims.
    - C2: the result has the rows' first dim and the index's first dim.

    Example:

    ```mlir
    %s = kvc.gather_dot %q, %i, %v : tensor<4x128xf32, #kvc.dims<r, c>>, tensor<64x2xf32, #kvc.dims<t, o>> to tensor<4x64xf32, #kvc.dims<r, t>>
    ```
  }];
  let arguments = (ins
    Arg<KVC_F32Tile, "rows of all channels">:$rows, Arg<KVC_F32Tile, "numbers of channels">:$index,
    Arg<KVC_F32Tile, "their values">:$value);
  let results = (outs KVC_F32Tile:$result);
  let assemblyFormat = "$rows `,` $index `,` $value attr-dict `:` type($rows) `,` type($index) `to` type($result)";
  let hasVerifier = 1;
}

def KVC_ScatterDotOp : KVC_Op<"scatter_dot", [Pure, AllTypesMatch<["index", "value"]>]> {
  let summary = "Sums over tokens of which each has a few channels.";
  let description = [{
    result[r, c] = sum over all t and o with index[t, o] = c of
    rows[r, t] * value[t, o].

    | value | shape | element |
    |---|---|---|
    | rows | <r, t> | f32 |
    | index, value | <t, o> | f32 |
    | result | <r, d> | f32 |

    - C1: rows, index and result have two dims.
    - C2: the rows have the result's first dim and the index's first dim.

    Example:

    ```mlir
    %o = kvc.scatter_dot %p, %i, %v : tensor<4x64xf32, #kvc.dims<r, t>>, tensor<64x2xf32, #kvc.dims<t, o>> to tensor<4x128xf32, #kvc.dims<r, d>>
    ```
  }];
  let arguments = (ins
    Arg<KVC_F32Tile, "rows of all tokens">:$rows, Arg<KVC_F32Tile, "numbers of channels">:$index,
    Arg<KVC_F32Tile, "their values">:$value);
  let results = (outs KVC_F32Tile:$result);
  let assemblyFormat = "$rows `,` $index `,` $value attr-dict `:` type($rows) `,` type($index) `to` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// The cache
//===----------------------------------------------------------------------===//

def KVC_LoadOutlierIndicesOp : KVC_LoadFromCacheOp<"load_outlier_indices", KVC_F32Tile> {
  let summary = "Loads the numbers of the channels kept apart.";
  let description = [{
    Those of tokens [token, token + valid), inside their part and ascending;
    unspecified at tokens of the tile beyond, where no memory is touched.

    | value | shape | element |
    |---|---|---|
    | result | <t, o>; o the outliers of the part | f32 |

    - C1: the spec has the tensor and the part.
    - C2: the part has outliers.
    - C3: the result has two dims, the last of the part's outliers.

    Example:

    ```mlir
    %i = kvc.load_outlier_indices %cache[%kv_head, %t0] valid %n {tensor = #kvc.tensor<key>}
        : !kvc.cache<#spec> to tensor<64x2xf32, #kvc.dims<t, o>>
    ```
  }];
}

def KVC_LoadOutlierValuesOp : KVC_LoadFromCacheOp<"load_outlier_values", KVC_F32Tile> {
  let summary = "Loads the values of the channels kept apart.";
  let description = [{
    As `kvc.load_outlier_indices`, for the values.

    | value | shape | element |
    |---|---|---|
    | result | <t, o>; o the outliers of the part | f32 |

    - C1: the spec has the tensor and the part.
    - C2: the part has outliers.
    - C3: the result has two dims, the last of the part's outliers.

    Example:

    ```mlir
    %v = kvc.load_outlier_values %cache[%kv_head, %t0] valid %n {tensor = #kvc.tensor<key>}
        : !kvc.cache<#spec> to tensor<64x2xf32, #kvc.dims<t, o>>
    ```
  }];
}

def KVC_StoreOutlierIndicesOp : KVC_StoreToCacheOp<"store_outlier_indices", KVC_F32Tile> {
  let summary = "Stores the numbers of a token's channels kept apart.";
  let description = [{
    | value | shape | element |
    |---|---|---|
    | source | <o> | f32 |

    - C1: the spec has the tensor and the part.
    - C2: the part has outliers.
    - C3: the tile has one dim, the part's outliers.

    Example:

    ```mlir
    kvc.store_outlier_indices %i, %cache[%kv_head, %t] {tensor = #kvc.tensor<key>}
        : tensor<2xf32, #kvc.dims<o>>, !kvc.cache<#spec>
    ```
  }];
}

def KVC_StoreOutlierValuesOp : KVC_StoreToCacheOp<"store_outlier_values", KVC_F32Tile> {
  let summary = "Stores the values of a token's channels kept apart.";
  let description = [{
    The values are ones of f16 already (`kvc.round_to`).

    | value | shape | element |
    |---|---|---|
    | source | <o> | f32 |

    - C1: the spec has the tensor and the part.
    - C2: the part has outliers.
    - C3: the tile has one dim, the part's outliers.

    Example:

    ```mlir
    kvc.store_outlier_values %v, %cache[%kv_head, %t] {tensor = #kvc.tensor<key>}
        : tensor<2xf32, #kvc.dims<o>>, !kvc.cache<#spec>
    ```
  }];
}

#endif // KVC_DIALECT_KVC_KVCOUTLIEROPS_TD
