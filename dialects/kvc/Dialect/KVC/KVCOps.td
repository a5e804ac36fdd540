//===- KVCOps.td - Level 0: what a kernel computes ---------*- tablegen -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVC_KVCOPS_TD
#define KVC_DIALECT_KVC_KVCOPS_TD

include "kvc/Dialect/KVC/KVCOpBase.td"
include "mlir/IR/SymbolInterfaces.td"

def KVC_AttentionSpecOp : KVC_Op<"attention_spec", [Symbol, IsolatedFromAbove, SingleBlock]> {
  let summary = "Declares one spec of a module.";
  let description = [{
    The MLIR form of a spec file: a named declaration. Passes that create kernels
    start from it. Its score region, which JSON cannot express, becomes that of
    every `kvc.attend`.

    - C1: the score region, if there, follows C7 to C9 of `kvc.attend`.

    Example:

    ```mlir
    kvc.attention_spec @llama #llama
    kvc.attention_spec @documents #llama
        score(%score: f32, %query: i32, %key: i32, %head: i32, %kv_head: i32) {
      %size = arith.constant 512 : i32
      %a = arith.floordivsi %query, %size : i32
      %b = arith.floordivsi %key, %size : i32
      %same = arith.cmpi eq, %a, %b : i32
      %masked = arith.constant 0xFF800000 : f32
      %result = arith.select %same, %score, %masked : f32
      kvc.yield %result : f32
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, KVC_SpecAttr:$spec);
  let regions = (region AnyRegion:$score);
  let assemblyFormat = "$sym_name qualified($spec) (`score` `` custom<ScoreRegion>($score)^)? attr-dict";
  let hasRegionVerifier = 1;
}

def KVC_YieldOp : KVC_Op<"yield", [Pure, Terminator, ParentOneOf<["AttentionSpecOp", "AttendOp"]>]> {
  let summary = "Gives the score of a score region.";
  let description = [{
    | operand | shape | element |
    |---|---|---|
    | score | scalar | f32 |

    Example:

    ```mlir
    kvc.yield %score : f32
    ```
  }];
  let arguments = (ins Arg<F32, "score">:$score);
  let assemblyFormat = "$score attr-dict `:` type($score)";
}

def KVC_AttendOp : KVC_Op<"attend", [IsolatedFromAbove, SingleBlock]> {
  let summary = "Attention of a range of rows over a range of keys.";
  let description = [{
    Computes, for rows [row_begin, row_end) of one kv head over keys [key_begin,
    key_end) of one sequence, the output normalised by its own softmax sum and the
    natural logarithm of that sum. Row = query * group + head in the group. A row
    that sees no key writes 0 and -inf. Everything that the spec says about
    scores (scale, ALiBi, softcap, mask, windows) is included; sink logits join
    in `kvc.merge`.

    | operand | shape | element |
    |---|---|---|
    | query | [num_queries, q_heads, head_dim], dense channels | io.query |
    | cache[kv_head] | | |
    | slopes | [q_heads] | f32 |
    | partial_out | [row_end - row_begin, value_dim], dense channels | f32 |
    | partial_lse | [row_end - row_begin] | f32 |

    `tile_rows` and `tile_tokens` are the rows and keys of one tile of the
    kernel; key_begin is the tokens of the sink segment plus a multiple of
    `tile_tokens`, or 0; key_end too, or `length`. Both are absent until
    `kvc-schedule` has chosen them.

    The *score region* has the last word on the score of one query head and one
    key: scale, ALiBi, softcap, score region, then the spec's mask and windows.
    Without ALiBi and softcap its score is scale * q.k. What it yields goes into
    the softmax; -inf masks the key, NaN and +inf make the row's output NaN.

    | argument | type | is |
    |---|---|---|
    | score | f32 | the score so far, in units of natural logarithms |
    | query | i32 | position of the query: length - num_queries + its index, which may be negative |
    | key | i32 | position of the key: its token in the sequence |
    | head | i32 | query head |
    | kv_head | i32 | kv head |

    | operations | on |
    |---|---|
    | `arith.constant`, `arith.select` | f32, i32, i1 |
    | `arith.` addf, subf, mulf, divf, negf, maximumf, minimumf, maxnumf, minnumf | f32 |
    | `math.` absf, ceil, copysign, cos, exp, exp2, floor, log, log2, roundeven, sin, sqrt, tanh | f32 |
    | `arith.` addi, subi, muli, minsi, maxsi, divsi, remsi, floordivsi, ceildivsi, shli, shrsi, shrui | i32 |
    | `arith.` andi, ori, xori | i32, i1 |
    | `arith.cmpf`, `arith.cmpi` | f32, i32, to i1 |
    | `arith.` sitofp, uitofp, extui | i32 to f32; i32, i1 to f32; i1 to i32 |

    Each is done as it says: f32 rounds once, i32 wraps; fast-math and overflow
    flags are promises that nothing relies on. Masks of the region skip no tile:
    every key that the spec's mask leaves visible is read.

    - C1: `query` has the shape and element type above; static extents are those
      of the spec, head_dim is static.
    - C2: `partial_out` has the shape and element type above, value_dim static.
    - C3: `partial_lse` has the shape and element type above.
    - C4: `slopes` has the shape and element type above, and is given where the
      spec says `alibi`; otherwise it may be given and is not read.
    - C5: `tile_rows`, if there, is positive.
    - C6: `tile_tokens`, if there, is a power of two.
    - C7: the score region, if there, has the arguments above and ends with
      `kvc.yield`.
    - C8: its operations are those above, on the types above.
    - C9: its integer divisors are constants above 0, its amounts of shifts
      constants from 0 to 31.

    Example:

    ```mlir
    kvc.attend %q, %cache[%kv_head] rows(%row_begin to %row_end of %num_queries)
        keys(%key_begin to %key_end of %length) slopes(%slopes) into %pout, %plse
        {tile_rows = 4, tile_tokens = 64}
        : memref<?x?x128xf16, strided<[?, ?, 1]>>, !kvc.cache<#spec>,
          memref<?x128xf32>, memref<?xf32>, memref<?xf32>
    ```
  }];
  let arguments = (ins
    Arg<KVC_MemRef, "queries of the sequence", [MemRead]>:$query,
    Arg<KVC_CacheType, "cache of the sequence", [MemRead]>:$cache,
    Arg<Index, "kv head">:$kv_head,
    Arg<Index, "first row">:$row_begin, Arg<Index, "end of the rows">:$row_end,
    Arg<Index, "queries of the sequence">:$num_queries,
    Arg<Index, "first key">:$key_begin, Arg<Index, "end of the keys">:$key_end,
    Arg<Index, "keys of the sequence">:$length,
    Arg<Optional<KVC_MemRef>, "ALiBi slopes", [MemRead]>:$slopes,
    Arg<KVC_MemRef, "normalised partial output", [MemWrite]>:$partial_out,
    Arg<KVC_MemRef, "logarithm of the partial sum", [MemWrite]>:$partial_lse,
    OptionalAttr<I64Attr>:$tile_rows, OptionalAttr<I64Attr>:$tile_tokens);
  let regions = (region AnyRegion:$score);
  let assemblyFormat = [{
    $query `,` $cache `[` $kv_head `]` `rows` `(` $row_begin `to` $row_end `of` $num_queries `)`
    `keys` `(` $key_begin `to` $key_end `of` $length `)` (`slopes` `(` $slopes^ `)`)?
    `into` $partial_out `,` $partial_lse (`score` `` custom<ScoreRegion>($score)^)? attr-dict
    `:` type($query) `,` qualified(type($cache)) `,` type($partial_out) `,` type($partial_lse) (`,` type($slopes)^)?
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def KVC_AppendOp : KVC_Op<"append"> {
  let summary = "Stores tokens in a cache.";
  let description = [{
    Codes tokens [token_begin, token_end) of one tensor and kv head as its scheme
    says and stores them. Token 0 of `input` is token_begin.

    With segments the tokens from the cache's coded end up to `coded_end` are
    coded, those below token_begin from their raw rows. New tokens beyond, and
    those of the sink, become raw rows.

    | operand | shape | element |
    |---|---|---|
    | input | [tokens, kv_heads, channels of the tensor], dense channels | io.query |
    | cache[kv_head] | | |

    - C1: `input` has the shape and element type above; static extents are those
      of the spec, the channels are static.
    - C2: the spec has the tensor.
    - C3: `coded_end` is given where the spec has segments; otherwise it may be
      given and is not read.

    Example:

    ```mlir
    kvc.append %k, %cache[%kv_head] tokens(%token_begin to %token_end) coded(%coded_end)
        {tensor = #kvc.tensor<key>} : memref<?x?x128xf16, strided<[?, ?, 1]>>, !kvc.cache<#spec>
    ```
  }];
  let arguments = (ins
    Arg<KVC_MemRef, "k or v of the new tokens", [MemRead]>:$input,
    Arg<KVC_CacheType, "cache of the sequence", [MemRead, MemWrite]>:$cache,
    Arg<Index, "kv head">:$kv_head, Arg<Index, "first token">:$token_begin, Arg<Index, "end of the tokens">:$token_end,
    Arg<Optional<Index>, "where the codes end afterwards">:$coded_end, KVC_TensorAttr:$tensor);
  let assemblyFormat = [{
    $input `,` $cache `[` $kv_head `]` `tokens` `(` $token_begin `to` $token_end `)` (`coded` `(` $coded_end^ `)`)? attr-dict
    `:` type($input) `,` qualified(type($cache))
  }];
  let hasVerifier = 1;
}

def KVC_MergeOp : KVC_Op<"merge"> {
  let summary = "Merges the partial results of the splits of a range of rows.";
  let description = [{
    Combines `num_splits` (0 and up) partial results of rows [row_begin, row_end)
    of one kv head by their log-sums, joins the sink logit of the row's query head
    where the spec says so, rounds to io.output and stores. Row 0 of the partials
    is row_begin. A row without any key gives 0, and as lse its sink logit or -inf.
    `tile_rows`, the rows of one tile, is absent until `kvc-schedule` has chosen it.

    | operand | shape | element |
    |---|---|---|
    | partial_out | [splits, rows, value_dim], dense channels | f32 |
    | partial_lse | [splits, rows] | f32 |
    | sinks | [q_heads] | f32 |
    | out | [queries, q_heads, value_dim], dense channels | io.output |
    | lse | [queries, q_heads] | f32 |

    - C1: `partial_out` has the shape and element type above, value_dim static.
    - C2: `partial_lse` has the shape and element type above.
    - C3: `sinks` has the shape and element type above, and is given where the
      spec says `sink_logits`; otherwise it may be given and is not read.
    - C4: `out` has the shape and element type above; static extents are those of
      the spec, value_dim is static.
    - C5: `lse` has the shape and element type above.
    - C6: `tile_rows`, if there, is positive.

    Example:

    ```mlir
    kvc.merge %pout, %plse rows(%row_begin to %row_end) splits(%num_splits) sinks(%sinks)
        into %out, %lse[%kv_head] {spec = #spec, tile_rows = 4}
        : memref<?x?x128xf32, strided<[?, 128, 1]>>, memref<?x?xf32, strided<[?, 1]>>,
          memref<?x?x128xf16, strided<[?, ?, 1]>>, memref<?x?xf32, strided<[?, ?]>>, memref<?xf32>
    ```
  }];
  let arguments = (ins
    Arg<KVC_MemRef, "partial outputs of all splits", [MemRead]>:$partial_out,
    Arg<KVC_MemRef, "log-sums of all splits", [MemRead]>:$partial_lse,
    Arg<Index, "first row">:$row_begin, Arg<Index, "end of the rows">:$row_end,
    Arg<Index, "number of splits">:$num_splits,
    Arg<Optional<KVC_MemRef>, "sink logits", [MemRead]>:$sinks,
    Arg<KVC_MemRef, "output", [MemWrite]>:$out,
    Arg<KVC_MemRef, "logarithm of the sum", [MemWrite]>:$lse,
    Arg<Index, "kv head">:$kv_head,
    KVC_SpecAttr:$spec, OptionalAttr<I64Attr>:$tile_rows);
  let assemblyFormat = [{
    $partial_out `,` $partial_lse `rows` `(` $row_begin `to` $row_end `)` `splits` `(` $num_splits `)`
    (`sinks` `(` $sinks^ `)`)? `into` $out `,` $lse `[` $kv_head `]` attr-dict
    `:` type($partial_out) `,` type($partial_lse) `,` type($out) `,` type($lse) (`,` type($sinks)^)?
  }];
  let hasVerifier = 1;
}

def KVC_UnpackOp : KVC_Op<"unpack", [AttrSizedOperandSegments]> {
  let summary = "Reads tokens of a cache back in canonical form.";
  let description = [{
    Writes the codes, scales, zeros and dequantised values of tokens [token_begin,
    token_end) of one part of a tensor and kv head. Row 0 is token_begin. Codes are signed
    for symmetric integers and unsigned for the others; scales and zeros are
    widened to f32. What the scheme lacks is not written.

    | operand | shape | element |
    |---|---|---|
    | cache[kv_head] | | |
    | codes | [tokens, channels], dense | i8 |
    | scales, zeros | [tokens, blocks], dense | f32 |
    | x | [tokens, channels], dense | f32 |
    | outlier_indices, outlier_values | [tokens, outliers], dense | f32 |

    - C1: the spec has the tensor and the part.
    - C2: `codes` has the shape and element type above, the part's channels static.
    - C3: `scales` and `zeros` have the shape and element type above, the part's
      blocks static; raw parts have none and leave their number open.
    - C4: `x` has the shape and element type above, the channels static.
    - C5: `outlier_indices` and `outlier_values` have the shape and element type
      above, the part's outliers static, and are given where it has some.

    Example:

    ```mlir
    kvc.unpack %cache[%kv_head] tokens(%token_begin to %token_end) into %codes, %scales, %zeros, %x
        {tensor = #kvc.tensor<key>}
        : !kvc.cache<#spec>, memref<?x128xi8>, memref<?x1xf32>, memref<?x1xf32>, memref<?x128xf32>
    ```
  }];
  let arguments = (ins
    Arg<KVC_CacheType, "cache of the sequence", [MemRead]>:$cache,
    Arg<Index, "kv head">:$kv_head, Arg<Index, "first token">:$token_begin, Arg<Index, "end of the tokens">:$token_end,
    Arg<KVC_MemRef, "canonical codes", [MemWrite]>:$codes,
    Arg<KVC_MemRef, "scales", [MemWrite]>:$scales,
    Arg<KVC_MemRef, "zeros", [MemWrite]>:$zeros,
    Arg<KVC_MemRef, "dequantised values", [MemWrite]>:$x,
    Arg<Optional<KVC_MemRef>, "channels kept apart", [MemWrite]>:$outlier_indices,
    Arg<Optional<KVC_MemRef>, "their values", [MemWrite]>:$outlier_values,
    KVC_TensorAttr:$tensor, DefaultValuedAttr<I64Attr, "0">:$part);
  let assemblyFormat = [{
    $cache `[` $kv_head `]` `tokens` `(` $token_begin `to` $token_end `)`
    `into` $codes `,` $scales `,` $zeros `,` $x (`outliers` `(` $outlier_indices^ `,` $outlier_values `)`)? attr-dict
    `:` qualified(type($cache)) `,` type($codes) `,` type($scales) `,` type($zeros) `,` type($x)
    (`outliers` `(` type($outlier_indices)^ `,` type($outlier_values) `)`)?
  }];
  let hasVerifier = 1;
}

#endif // KVC_DIALECT_KVC_KVCOPS_TD
