/*===- runtime.h - Plan, then run ---------------------------------*- C -*-===*\
|*
|* Part of kvc.
|*
|* A step of an engine: reserve rows (kvc_cache_append), write the new keys and
|* values (kvc_run_append), let the queries attend (kvc_run_attend), commit.
|* Each run call checks all of its input first and only then starts to write.
|*
|* Results depend on the spec, the module, the lengths and the data, never on
|* threads, on the plan's bounds or on what else is in the batch. On a device
|* with memory of its own they depend on the plan too, which cuts keys so that
|* all of the device is busy.
|*
|* There rows, alibi_slopes and sink_logits are memory of the device, in which
|* no NaN or infinity is looked for; tables and lengths of a batch are the
|* host's, read by the call.
|*
\*===----------------------------------------------------------------------===*/

#ifndef KVC_RUNTIME_H_
#define KVC_RUNTIME_H_

#include "kvc/cache.h"

#ifdef __cplusplus
extern "C" {
#endif

/*--- Data -----------------------------------------------------------------*/

/** An input [tokens, heads, channels] of io.query; channels are dense. */
typedef struct kvc_rows {
  const void *data;     /**< Aligned to its element. */
  int64_t token_stride; /**< Elements; 0: heads * channels. */
  int64_t head_stride;  /**< Elements; 0: channels. */
} kvc_rows;

/** An output [tokens, heads, channels] of io.output (or f32, for lse); channels
 *  are dense. */
typedef struct kvc_out_rows {
  void *data;           /**< Aligned to its element. */
  int64_t token_stride; /**< Elements; 0: heads * channels. */
  int64_t head_stride;  /**< Elements; 0: channels. */
} kvc_out_rows;

/** Converts `count` elements of `from` (f32, f16, bf16) at `source` to `to`:
 *  nearest even, finite overflow saturates. KVC_INVALID_DATA, with `name` and
 *  the index, at the first NaN or infinity. `target` may be `source` where the
 *  types are equal. */
KVC_API kvc_status kvc_convert(const char *name, const void *source,
                               kvc_dtype from, int64_t count, kvc_dtype to,
                               kvc_diag *diag, void *target);

/** KVC_INVALID_DATA, with `name` and index, at the first NaN or infinity. */
KVC_API kvc_status kvc_check_finite(const char *name, const void *data,
                                    kvc_dtype dtype, int64_t count,
                                    kvc_diag *diag);

/*--- Batch ----------------------------------------------------------------*/

enum {
  /** The caller knows that no input has a NaN or an infinity. */
  KVC_SKIP_FINITE_CHECK = 1
};

/** One step of a batch; rows of prefill and decode may be mixed. Rows of
 *  sequence i are token_start[i] .. token_start[i + 1]; rows from
 *  token_start[num_sequences] on are padding, neither read nor written.
 *
 *  The cache's sequences are said by handles, or (paged only) by the caller's
 *  own tables: `sequences` null, and to append `slot_mapping`, to attend
 *  `lengths` and `block_table`. */
typedef struct kvc_batch {
  size_t struct_size;
  kvc_cache *cache;
  uint32_t flags;        /**< KVC_SKIP_FINITE_CHECK. */
  int64_t num_sequences; /**< 0 is fine. */
  /** [num_sequences + 1]; not read by an append with slot_mapping. */
  const int32_t *token_start;
  /** [num_sequences]; none twice in an append. */
  const kvc_sequence *sequences;
  /** [num_sequences]: keys that queries attend to, their own included. */
  const int32_t *lengths;
  /** [num_sequences, block_table_stride]: pages. */
  const int32_t *block_table;
  int64_t block_table_stride;
  int64_t num_slots; /**< Rows of key and value with slot_mapping. */
  /** [num_slots]: page * tokens of a page + token in it; -1 skips the row. */
  const int64_t *slot_mapping;
  kvc_rows query; /**< Attend: [tokens, q_heads, head_dim]. */
  kvc_rows key;   /**< Append: [tokens, kv_heads, head_dim]. */
  kvc_rows value; /**< Append: [tokens, kv_heads, value_dim]. */
  /** Attend, where the spec says alibi: [q_heads]. */
  const float *alibi_slopes;
  /** Attend, where the spec says sink_logits: [q_heads], may be -inf. */
  const float *sink_logits;
  /** Of the cache's device, where that has memory of its own (device.h): runs
   *  are in its order and may return before they are done. */
  void *stream;
} kvc_batch;

/*--- Plan -----------------------------------------------------------------*/

typedef struct kvc_plan kvc_plan;

/** Upper bounds of the batches that a plan can run: at most num_sequences
 *  sequences, sequence i with at most queries[i] queries and lengths[i] keys.
 *  The bounds decide how much memory a plan takes and, on a device with memory
 *  of its own, how keys are cut; nothing else. */
typedef struct kvc_plan_options {
  size_t struct_size;
  const kvc_module *module; /**< Outlives the plan. */
  int64_t num_sequences;
  const int32_t *queries;   /**< [num_sequences] */
  const int32_t *lengths;   /**< [num_sequences]; with the queries' own keys. */
  const kvc_device *device; /**< Null: the host. Outlives the plan. */
} kvc_plan_options;

/** Queries of one sequence run through "decode" while they are at most
 *  KVC_DECODE_MAX_QUERIES and their rows (queries * group) at most
 *  KVC_DECODE_MAX_TILES of its row tiles, else through "prefill". */
#define KVC_DECODE_MAX_QUERIES 8
#define KVC_DECODE_MAX_TILES 4

/** A plan takes the memory that its runs need beyond their batch: the kernels'
 *  arguments and partial results of at most KVC_PLAN_WORKSPACE bytes, or of one
 *  range of rows if that is more; on a device with memory of its own those of
 *  the whole batch. */
#define KVC_PLAN_WORKSPACE ((int64_t)32 << 20)

/** Looks at the bounds and allocates. KVC_UNSUPPORTED where the module lacks
 *  the kernels to attend; KVC_FAILED where the memory is not there. The caller
 *  frees `*plan`. */
KVC_API kvc_status kvc_plan_create(const kvc_plan_options *options,
                                   kvc_diag *diag, kvc_plan **plan);
/** Frees the plan and its memory. No run of it may be in progress. */
KVC_API kvc_status kvc_plan_free(kvc_plan *plan);

typedef struct kvc_plan_info {
  size_t struct_size;
  int64_t workspace_bytes; /**< Of partial results, on the device. */
  /** Keys of one item of "decode" and "prefill"; 0 where it has no kernel. */
  int64_t decode_split, prefill_split;
} kvc_plan_info;

/** Fills `*info`, whose struct_size the caller has set. */
KVC_API kvc_status kvc_plan_get_info(const kvc_plan *plan, kvc_diag *diag,
                                     kvc_plan_info *info);

/*--- Run ------------------------------------------------------------------*/

/** Writes rows of `key` and `value` into the cache: for each sequence of the
 *  batch all rows of its open reservation, or the rows that slot_mapping names,
 *  in their order. `threads` may be null. For threads it is a call that takes
 *  the cache. */
KVC_API kvc_status kvc_run_append(const kvc_module *module,
                                  const kvc_batch *batch,
                                  const kvc_parallel_for *threads,
                                  kvc_diag *diag);

/** Attention: out [tokens, q_heads, value_dim] of io.output, lse [tokens,
 *  q_heads] f32, natural logarithm (null, or null data: not wanted). A sequence
 *  attends to its P tokens; query i of n has position length - n + i.
 *  KVC_UNSUPPORTED beyond the plan's bounds. One run of a plan at a time; for
 *  threads it is a call that takes the cache as const. */
KVC_API kvc_status kvc_run_attend(kvc_plan *plan, const kvc_batch *batch,
                                  const kvc_parallel_for *threads,
                                  kvc_diag *diag, const kvc_out_rows *out,
                                  const kvc_out_rows *lse);

/** kvc_run_append, then kvc_run_attend: rows of query, key and value are the
 *  same tokens. Checks both before it writes; where attention fails none the
 *  less (no memory), the rows are written. */
KVC_API kvc_status kvc_run(kvc_plan *plan, const kvc_batch *batch,
                           const kvc_parallel_for *threads, kvc_diag *diag,
                           const kvc_out_rows *out, const kvc_out_rows *lse);

/** What an update brings to the device, and what a launch runs. */
enum { KVC_RUN_APPEND = 1, KVC_RUN_ATTEND = 2 };

/** The first half of a run on a device with memory of its own: checks the batch
 *  and copies what kernels read of it (tables, lengths, where rows are) to the
 *  plan's memory, in the order of the batch's stream. Not to be captured. Rows
 *  that it appends count as written. Rows to append are those of reservations
 *  (`sequences`); `out` and `lse` as in kvc_run_attend. KVC_UNSUPPORTED on a
 *  host, and beyond the plan's bounds. */
KVC_API kvc_status kvc_run_update(kvc_plan *plan, const kvc_batch *batch,
                                  uint32_t what, kvc_diag *diag,
                                  const kvc_out_rows *out,
                                  const kvc_out_rows *lse);

/** The second half: launches the kernels on `stream`, whose work is behind that
 *  of the last update. Grids depend on the plan alone, so that a captured
 *  launch is replayed after each further update: lengths and sequences may
 *  differ within the plan's bounds. */
KVC_API kvc_status kvc_run_launch(kvc_plan *plan, uint32_t what, void *stream,
                                  kvc_diag *diag);

/** Rows of one part of a tensor in canonical form; what is null is not wanted.
 *  Codes are bytes, signed for symmetric integers. Nothing is written to codes,
 *  scales and zeros of a raw codec, nor to zeros of a scheme without them.
 *  Channels and blocks are the part's. */
typedef struct kvc_unpacked {
  size_t struct_size;
  int8_t *codes; /**< [tokens, kv_heads, channels] */
  float *scales; /**< [tokens, kv_heads, blocks] */
  float *zeros;  /**< [tokens, kv_heads, blocks] */
  float *values; /**< [tokens, kv_heads, channels], dequantised. */
  /** [tokens, kv_heads, outliers]: channels inside the part, ascending, and
   *  their values. */
  float *outlier_indices, *outlier_values;
} kvc_unpacked;

/** Reads tokens [token_begin, token_end) of a sequence, at most its P, back
 *  through the module's "unpack" kernel: into `parts` [num_parts], the parts of
 *  the key, then of the value (none where the value is the key), all of one
 *  struct_size. */
KVC_API kvc_status kvc_cache_unpack(
    const kvc_cache *cache, const kvc_module *module, kvc_sequence sequence,
    int64_t token_begin, int64_t token_end, const kvc_parallel_for *threads,
    kvc_diag *diag, const kvc_unpacked *parts, int64_t num_parts);

#ifdef __cplusplus
}
#endif

#endif /* KVC_RUNTIME_H_ */
