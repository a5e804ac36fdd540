/*===- kernel_abi.h - The contract between compiler and runtime ---*- C -*-===*\
|*
|* Part of kvc.
|*
|* A host kernel is `void kernel(const void *args)`. `args` points at the struct
|* of its kind below. A GPU kernel has one parameter, the address in device
|* memory of an array of these structs; block i of its grid does item i, and
|* nothing for an item of zeros. All pointers in there are device memory's too.
|* Every struct is a run of 8-byte slots in the order of the
|* kernel function's parameters at level 0 (dialects/README.md):
|*
|*   !kvc.cache  -> kvc_cache_view, in place
|*   memref      -> pointer, then one int64_t per dynamic stride, outermost
|*                  first, counted in elements
|*   index       -> int64_t
|*
|* The compiler lowers function signatures by this rule alone. The asserts at
|* the end and test/unit/codegen check both against each other.
|*
|* Kernels are re-entrant, allocate nothing, call nothing, set MXCSR to its
|* default (round to nearest, no flush to zero) and restore it. What they keep
|* for themselves lies on the stack, or in a workspace where that is much.
|*
\*===----------------------------------------------------------------------===*/

#ifndef KVC_KERNEL_ABI_H_
#define KVC_KERNEL_ABI_H_

#include <assert.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of everything in this header. */
#define KVC_KERNEL_ABI_VERSION 2

/*--- Caches ---------------------------------------------------------------*/

/** One region of a tensor: codes, scales, .. of one part of its scheme. Page
 *  slot i of a sequence and kv head h begins at `base + page * page_stride +
 *  h * head_stride`, where page is `page_table[i]`, or i without a table. */
typedef struct kvc_region {
  uint8_t *base;
  int64_t page_stride; /**< Bytes. */
  int64_t head_stride; /**< Bytes. */
} kvc_region;

/** The cache of one sequence: tokens `segments.sink` .. coded end of a tensor
 *  lie in its regions, of which index 0 is token `segments.sink`; all others
 *  are raw rows. Specs without segments have no raw rows. */
typedef struct kvc_cache_view {
  /** The key's regions, then the value's, each in the order of its page layout
   *  (runtime/src/layout). */
  const kvc_region *regions;
  /** One entry per page of the sequence; null: page i is page i. */
  const int32_t *page_table;
  /** What the schemes take beside k and v, in the order of kvc_spec_get_input;
   *  null where that is nothing. Rows of one kv head after the other:
   *    scale   the blocks' scales, as they are stored (e4m3: before global)
   *    table   the n entries; the numbers in ascending order above which the
   *            nearest entry is the next one, filled up with +inf to n; the
   *            codes of these n steps; the largest magnitude of an entry
   *    smooth  the channels' factors */
  const float *const *inputs;
  /** Raw rows, a cache of spec::rawRows; null without segments. Row t of the
   *  sink is its index t, others t - sink + sink rounded up to pages. Pages
   *  without a raw row have entry 0. */
  const struct kvc_cache_view *raw;
  /** Ends of the tokens that are codes; read only with segments. */
  int64_t key_coded_end, value_coded_end;
  /** Kind "ring": token t is kept where token t mod ring_tokens would be, each
   *  counted from the sink's end. A multiple of the tokens of every page. */
  int64_t ring_tokens;
} kvc_cache_view;

/*--- Arguments ------------------------------------------------------------*/

/** "decode", "prefill": attention of rows [row_begin, row_end) of one sequence
 *  and kv head over keys [key_begin, key_end). A row is query * group + head in
 *  the group. */
typedef struct kvc_attend_args {
  kvc_cache_view cache;
  /** [queries, q_heads, head_dim] of io.query; channels are dense. */
  const void *query;
  int64_t query_token_stride; /**< Elements. */
  int64_t query_head_stride;  /**< Elements. */
  /** [rows, value_dim]; row 0 is row_begin. Normalised by its own sum. */
  float *partial_out;
  /** [rows]; natural logarithm of the sum, -inf where no key is visible. */
  float *partial_lse;
  /** [q_heads]; read only where the spec says alibi. */
  const float *alibi_slopes;
  int64_t kv_head;
  int64_t num_queries; /**< Queries of the sequence. */
  int64_t length;      /**< Keys of the sequence. */
  int64_t row_begin, row_end;
  /** Each is `segments.sink` + i * the kernel's tile_tokens; key_begin may also
   *  be 0, and key_end `length`. */
  int64_t key_begin, key_end;
} kvc_attend_args;

/** "append": stores tokens [token_begin, token_end) of one sequence and kv head
 *  in its cache. One thread at a time appends to each of these. */
typedef struct kvc_append_args {
  kvc_cache_view cache;
  /** [tokens, kv_heads, head_dim] of io.query; token 0 is token_begin. */
  const void *key;
  int64_t key_token_stride, key_head_stride; /**< Elements. */
  /** [tokens, kv_heads, value_dim] of io.query; token 0 is token_begin. */
  const void *value;
  int64_t value_token_stride, value_head_stride; /**< Elements. */
  int64_t kv_head;
  int64_t token_begin, token_end;
  /** Read only with segments: tokens from the view's coded ends up to these
   *  become codes, those below token_begin from their raw rows. New tokens
   *  beyond become raw rows. */
  int64_t key_coded_end, value_coded_end;
  /** The kernel's `workspace_bytes` for this call alone, aligned to 64; their
   *  content is unspecified before and after. Null where that is 0. */
  void *workspace;
} kvc_append_args;

/** "merge": joins the partial results of one sequence and kv head. */
typedef struct kvc_merge_args {
  const float *partial_out;         /**< [splits, rows, value_dim] */
  int64_t partial_out_split_stride; /**< Elements. */
  const float *partial_lse;         /**< [splits, rows] */
  int64_t partial_lse_split_stride; /**< Elements. */
  /** [q_heads]; read only where the spec says sink_logits. */
  const float *sink_logits;
  void *out; /**< [queries, q_heads, value_dim] of io.output. */
  int64_t out_token_stride, out_head_stride; /**< Elements. */
  float *lse;                                /**< [queries, q_heads] */
  int64_t lse_token_stride, lse_head_stride; /**< Elements. */
  int64_t kv_head;
  int64_t row_begin, row_end; /**< Row 0 of the partials is row_begin. */
  int64_t num_splits;         /**< 0: no key at all. */
} kvc_merge_args;

/** Where the canonical form of one part of a tensor goes; what the part lacks
 *  is not written. */
typedef struct kvc_unpack_part {
  /** [tokens, channels]; one code a byte, signed for symmetric integers. */
  int8_t *codes;
  float *scales; /**< [tokens, blocks], widened. */
  float *zeros;  /**< [tokens, blocks], widened. */
  float *values; /**< [tokens, channels], dequantised. */
  /** [tokens, outliers], both widened; the channels count inside the part. */
  float *outlier_indices, *outlier_values;
} kvc_unpack_part;

/** "unpack": reads tokens [token_begin, token_end) of one sequence and kv head
 *  back in canonical form; token 0 of the arrays is token_begin. Behind these
 *  arguments follows a kvc_unpack_part for each part of the key, then of the
 *  value. */
typedef struct kvc_unpack_args {
  kvc_cache_view cache;
  int64_t kv_head;
  int64_t token_begin, token_end;
} kvc_unpack_args;

typedef void (*kvc_kernel_fn)(const void *args);

/*--- Modules --------------------------------------------------------------*/

/** What a plan needs to know about compiled kernels. */
typedef struct kvc_kernel_info {
  const char *name; /**< "decode", "prefill", "append", "merge", "unpack". */
  kvc_kernel_fn function; /**< Null on GPUs. */
  int64_t tile_rows;      /**< Query rows of a tile; 0 where it has none. */
  int64_t tile_tokens; /**< Keys of a tile; split boundaries are multiples. */
  /** Keys of one split, below 2^31: of the spec and the target alone. */
  int64_t split_tokens;
  /** Types that its dots multiply by codes, "i16", "i16, f32", "bf16 in 3
   *  terms", ..; "" where it has none. For people. */
  const char *operands;
  /** Of GPU kernels, null and 0 on hosts: the entry's name in the module's
   *  code, the threads of a block (along x), the bytes of shared memory to ask
   *  for at the launch, and the registers of a thread (0: not known). */
  const char *symbol;
  int64_t threads, shared_bytes, registers;
  /** What a call needs beside the stack; 0 for all kernels but "append". */
  int64_t workspace_bytes;
} kvc_kernel_info;

/** The table that every ahead-of-time object exports as `kvc_module`. */
typedef struct kvc_module_table {
  int32_t abi_version; /**< KVC_KERNEL_ABI_VERSION. */
  int32_t num_kernels;
  const char *spec_json;          /**< The canonical spec. */
  const char *layout_hash;        /**< kvc_layout_hash of it. */
  const char *target;             /**< "x86-64-v4+vnni", .. */
  const kvc_kernel_info *kernels; /**< [num_kernels] */
  /** Text of the score region, which `spec_json` cannot say; "" without one.
   *  Two modules compute the same only where both texts agree. */
  const char *score;
  /** What a GPU's driver loads: PTX text with its final NUL, which code_bytes
   *  counts, or a cubin. Null and 0 on hosts. */
  const void *code;
  int64_t code_bytes;
} kvc_module_table;

#if defined(__cplusplus) || __STDC_VERSION__ >= 201112L
static_assert(sizeof(kvc_cache_view) == 7 * 8, "slots of a cache view");
static_assert(sizeof(kvc_attend_args) == (7 + 13) * 8, "slots of attend");
static_assert(sizeof(kvc_append_args) == (7 + 12) * 8, "slots of append");
static_assert(sizeof(kvc_merge_args) == 15 * 8, "slots of merge");
static_assert(sizeof(kvc_unpack_args) == (7 + 3) * 8, "slots of unpack");
#endif

#ifdef __cplusplus
}
#endif

#endif /* KVC_KERNEL_ABI_H_ */
