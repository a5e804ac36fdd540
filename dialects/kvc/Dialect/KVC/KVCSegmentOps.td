//===- KVCSegmentOps.td - Level 1: raw rows and codes ------*- tablegen -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Where a sequence's codes end, and its rows outside of them. Part of the ops of
// KVCTileOps.td, which includes this file.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVC_KVCSEGMENTOPS_TD
#define KVC_DIALECT_KVC_KVCSEGMENTOPS_TD

include "kvc/Dialect/KVC/KVCOpBase.td"

def KVC_RawRowsOp : KVC_Op<"raw_rows", [Pure]> {
  let summary = "The raw rows of a cache, as a cache.";
  let description = [{
    Tokens outside of a tensor's codes, as they were given. Token t of the sink is
    row t; other tokens t are row t - sink plus the sink rounded up to pages.

    | value | what |
    |---|---|
    | cache | of a spec with segments |
    | result | of its raw rows |

    - C1: the spec has segments, and the result's is that of its raw rows.

    Example:

    ```mlir
    %raw = kvc.raw_rows %cache : !kvc.cache<#spec> to !kvc.cache<#raw>
    ```
  }];
  let arguments = (ins Arg<KVC_CacheType, "cache of the sequence">:$cache);
  let results = (outs KVC_CacheType:$result);
  let assemblyFormat = "$cache attr-dict `:` qualified(type($cache)) `to` qualified(type($result))";
  let builders = [
    /// The type follows from the spec.
    OpBuilder<(ins "::mlir::Value":$cache)>
  ];
  let hasVerifier = 1;
}

def KVC_CodedEndOp : KVC_Op<"coded_end", [Pure]> {
  let summary = "Where the codes of a tensor end.";
  let description = [{
    Tokens from the sink's end up to here are codes. A state of the sequence, at
    least the tokens of the sink.

    | value | what |
    |---|---|
    | cache | of a spec with segments |
    | result | a token |

    - C1: the spec has segments and the tensor.

    Example:

    ```mlir
    %end = kvc.coded_end %cache {tensor = #kvc.tensor<key>} : !kvc.cache<#spec>
    ```
  }];
  let arguments = (ins Arg<KVC_CacheType, "cache of the sequence">:$cache, KVC_TensorAttr:$tensor);
  let results = (outs Index:$result);
  let assemblyFormat = "$cache attr-dict `:` qualified(type($cache))";
  let builders = [
    OpBuilder<(ins "::mlir::Value":$cache, "::kvc::spec::Tensor":$tensor)>
  ];
  let hasVerifier = 1;
}

def KVC_LoadGivenOp : KVC_Op<"load_given"> {
  let summary = "Loads rows as they were given, old ones from raw rows.";
  let description = [{
    Row i of the tile is row (token + i) of the raw rows for i < count, else row
    (index + i) of the memref; `index` may be negative. As f32.

    | value | shape | element |
    |---|---|---|
    | raw[kv_head] | | |
    | memref | [tokens, kv_heads, channels], dense channels | f16, bf16, f32 |
    | result | <b, e>, or <t, b, e> or <t, c> | f32 |

    - C1: `memref` has the shape and element type above.
    - C2: the result's dims other than t hold channels that lie, from `channel`
      on, inside the memref's.
    - C3: `raw` has the tensor, raw, of the memref's channels and element.

    Example:

    ```mlir
    %x = kvc.load_given %raw[%kv_head, %t] count %n else %k[%i] {tensor = #kvc.tensor<key>}
        : !kvc.cache<#raw>, memref<?x?x128xf16, strided<[?, ?, 1]>> to tensor<32x128xf32, #kvc.dims<t, c>>
    ```
  }];
  let arguments = (ins
    Arg<KVC_CacheType, "raw rows of the sequence", [MemRead]>:$raw,
    Arg<Index, "kv head">:$kv_head, Arg<Index, "first row in the raw rows">:$token,
    Arg<Index, "rows of the tile that are raw rows">:$count,
    Arg<KVC_MemRef, "k or v of the new tokens", [MemRead]>:$memref,
    Arg<Index, "first row in the memref">:$index,
    KVC_TensorAttr:$tensor, DefaultValuedAttr<I64Attr, "0">:$channel);
  let results = (outs KVC_F32Tile:$result);
  let assemblyFormat = [{
    $raw `[` $kv_head `,` $token `]` `count` $count `else` $memref `[` $index `]` attr-dict
    `:` qualified(type($raw)) `,` type($memref) `to` type($result)
  }];
  let hasVerifier = 1;
}

#endif // KVC_DIALECT_KVC_KVCSEGMENTOPS_TD
