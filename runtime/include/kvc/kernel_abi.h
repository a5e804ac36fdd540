/*===- kernel_abi.h - The contract between compiler and runtime ---*- C -*-===*\
|*
|* Part of kvc.
|*
|* A host kernel is `void kernel(const void *args)`. `args` points at the struct
|* of its kind below. Every struct is a run of 8-byte slots in the order of the
|* kernel function's parameters at level 0 (dialects/README.md):
|*   !kvc.cache       -> kvc_cache_view, in place
|*   memref           -> pointer, then one int64_t per dynamic stride, outermost
|*                       first, counted in elements
|*   index            -> int64_t
|* The compiler lowers function signatures by this rule alone; the asserts at
the
|* end and test/unit/codegen check both against each other.
|*
|* Kernels are re-entrant, allocate nothing, call nothing, set MXCSR to its
|* default (round to nearest, no flush to zero) and restore it.
|*
\*===----------------------------------------------------------------------===*/

#ifndef KVC_KERNEL_ABI_H_
#define KVC_KERNEL_ABI_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of everything in this header. */
#define KVC_KERNEL_ABI_VERSION 1

/** One region of a tensor (its codes, scales or zeros). Page slot i of a
 * sequence and kv head h begin at `base + page * page_stride + h *
 * head_stride`, in bytes, where page is `page_table[i]`, or i where the table
 * is null. A region that the scheme lacks is all zero and never read. */
typedef struct kvc_region {
  uint8_t *base;
  int64_t page_stride;
  int64_t head_stride;
} kvc_region;

typedef struct kvc_tensor_view {
  kvc_region codes, scales, zeros;
} kvc_tensor_view;

/** The cache of one sequence. Tokens count from 0. */
typedef struct kvc_cache_view {
  kvc_tensor_view key, value;
  const int32_t
      *page_table; /**< Entry per page of the sequence; null: identity. */
} kvc_cache_view;

/** Attention of rows [row_begin, row_end) of one sequence and kv head over keys
 *  [key_begin, key_end). A row is query * group + head in the group. */
typedef struct kvc_attend_args {
  kvc_cache_view cache;
  const void *query; /**< [queries, q_heads, head_dim] of io.query; channels are
                        dense. */
  int64_t query_token_stride; /**< Elements. */
  int64_t query_head_stride;  /**< Elements. */
  float *partial_out; /**< [rows, value_dim]; row 0 is row_begin. Normalised by
                         its own sum. */
  float *partial_lse; /**< [rows]; natural logarithm of the sum; -inf where no
                         key is visible. */
  const float
      *alibi_slopes; /**< [q_heads]; read only where the spec says alibi. */
  int64_t kv_head;
  int64_t num_queries; /**< Queries of the sequence. */
  int64_t length;      /**< Keys of the sequence. */
  int64_t row_begin, row_end;
  int64_t key_begin, key_end; /**< Multiples of the kernel's tile, but key_end
                                 may be `length`. */
} kvc_attend_args;

/** Quantises tokens [token_begin, token_end) of one sequence and kv head into
 * its cache. One thread at a time appends to a (sequence, kv head). */
typedef struct kvc_append_args {
  kvc_cache_view cache;
  const void *key; /**< [tokens, kv_heads, head_dim] of io.query; token 0 is
                      token_begin. */
  int64_t key_token_stride, key_head_stride; /**< Elements. */
  const void *value; /**< [tokens, kv_heads, value_dim] of io.query. */
  int64_t value_token_stride, value_head_stride; /**< Elements. */
  int64_t kv_head;
  int64_t token_begin, token_end;
} kvc_append_args;

/** Merges the partial results of one sequence and kv head. */
typedef struct kvc_merge_args {
  const float *partial_out;         /**< [splits, rows, value_dim]. */
  int64_t partial_out_split_stride; /**< Elements. */
  const float *partial_lse;         /**< [splits, rows]. */
  int64_t partial_lse_split_stride; /**< Elements. */
  const float *
      sink_logits; /**< [q_heads]; read only where the spec says sink_logits. */
  void *out;       /**< [queries, q_heads, value_dim] of io.output. */
  int64_t out_token_stride, out_head_stride; /**< Elements. */
  float *lse;                                /**< [queries, q_heads]. */
  int64_t lse_token_stride, lse_head_stride; /**< Elements. */
  int64_t kv_head;
  int64_t row_begin, row_end; /**< Row 0 of the partials is row_begin. */
  int64_t num_splits;         /**< 0: no key at all. */
} kvc_merge_args;

/** Reads tokens [token_begin, token_end) of one sequence and kv head back, in
 *  canonical form: codes as SPEC.md's --dump-cache shows them (signed for
 *  symmetric integers), scales and zeros widened to f32, x the dequantised
 * value. */
typedef struct kvc_unpack_args {
  kvc_cache_view cache;
  int8_t
      *key_codes; /**< [tokens, head_dim]; null-free; unused for raw codecs. */
  float *key_scales; /**< [tokens, blocks]. */
  float *key_zeros;  /**< [tokens, blocks]. */
  float *key;        /**< [tokens, head_dim]. */
  int8_t *value_codes;
  float *value_scales;
  float *value_zeros;
  float *value;
  int64_t kv_head;
  int64_t token_begin, token_end;
} kvc_unpack_args;

typedef void (*kvc_kernel_fn)(const void *args);

/** What a plan needs to know about compiled kernels. */
typedef struct kvc_kernel_info {
  const char *name; /**< "decode", "prefill", "append", "merge", "unpack". */
  kvc_kernel_fn function;
  int64_t tile_rows;    /**< Query rows of a tile; 0 where it has none. */
  int64_t tile_tokens;  /**< Keys of a tile; split boundaries are multiples. */
  int64_t split_tokens; /**< Keys of one split; a function of the spec and
                           target alone. */
  /** Types that its dots multiply by codes, "i16", "f32" or "i16, f32"; ""
   * where it has none. For people. */
  const char *operands;
} kvc_kernel_info;

/** The table that every ahead-of-time object exports as `kvc_module`. */
typedef struct kvc_module_table {
  int32_t abi_version; /**< KVC_KERNEL_ABI_VERSION. */
  int32_t num_kernels;
  const char *spec_json; /**< Canonical spec. */
  const char *layout_hash;
  const char *target; /**< "x86-64-v4+vnni", .. */
  const kvc_kernel_info *kernels;
} kvc_module_table;

#ifdef __cplusplus
}
#endif

#endif /* KVC_KERNEL_ABI_H_ */
