/*===- cache.h - The memory of sequences --------------------------*- C -*-===*\
|*
|* Part of kvc.
|*
|* A cache holds the keys and values of many sequences for one spec (one layer).
|* Its unit of allocation is the *block*: a page of the spec, or 64 tokens of
|* one run of memory per sequence where the layout is contiguous or a
|* ring.
|*
|* A sequence has a committed length C and a pending length P >= C. An append
|* reserves rows C .. P for a batch of sequences, all or nothing; kernels write
|* them (kvc_run_append); kvc_cache_commit makes them part of the sequence,
|* kvc_cache_rollback gives them back. Queries attend to P tokens.
|*
|* Threads: calls that take `kvc_cache *` are serialised by the caller. Calls
|* that take it as const may run beside each other, not beside the former.
|*
\*===----------------------------------------------------------------------===*/

#ifndef KVC_CACHE_H_
#define KVC_CACHE_H_

#include "kvc/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kvc_cache kvc_cache;

/** A sequence: a slot and its generation. Never 0; a handle of a freed sequence
 *  is refused as KVC_STALE, also when its slot lives on in another one. */
typedef uint64_t kvc_sequence;

/** Pages that the caller owns, in the device's memory. Page i of K begins
 *  `i * key_stride` bytes from `key`. Addresses and strides are multiples of
 *  16; a stride is at least the tensor's kvc_page_slice_bytes. With
 *  "interleaved" V's page follows K's inside of the same stride: then `value`
 *  is null and value_stride is 0. */
typedef struct kvc_page_memory {
  void *key;
  int64_t key_stride;
  void *value;
  int64_t value_stride;
} kvc_page_memory;

/** Values of one input of a scheme (kvc_spec_get_input): f32 [kv_heads,
 *  columns]. */
typedef struct kvc_scheme_values {
  const char *name;
  const float *values;
  int64_t count; /**< kv_heads * columns. */
} kvc_scheme_values;

enum {
  /** Fill fresh memory with 0xFF: what no one has written reads as NaN. */
  KVC_CACHE_POISON = 1
};

typedef struct kvc_cache_options {
  size_t struct_size;
  const kvc_spec *spec; /**< Copied. */
  /** Paged: number of pages, the null page 0 included. */
  int64_t num_pages;
  /** Instead of num_pages: pages for so many tokens, and the null page.
   *  Contiguous: tokens of all sequences together, each rounded up to 64. */
  int64_t capacity_tokens;
  int64_t max_sequences;    /**< 0: 65536. */
  uint32_t flags;           /**< KVC_CACHE_POISON. */
  const kvc_device *device; /**< Null: the host. Outlives the cache. */
  /** Null: the cache allocates. Else num_pages pages of the caller's, which
   *  outlive the cache and are never filled; paged layouts without segments and
   *  with scale.tokens 1 only. */
  const kvc_page_memory *borrowed;
  /** Each input of the spec's schemes once, in any order; copied. */
  const kvc_scheme_values *inputs;
  int64_t num_inputs;
  /** With segments: pages of raw rows (of the spec's page, or of 16 tokens), a
   *  null page 0 included. 0: for max_sequences sequences, though not for more
   *  tokens than the other pages hold. */
  int64_t raw_pages;
  /** Kind "ring": the most queries of a sequence that attend in one call; 0: 1.
   *  A ring keeps window + max_queries - 1 tokens or a few more. */
  int64_t max_queries;
} kvc_cache_options;

/** KVC_INVALID_DATA with name and index where a number among the inputs is out
 *  of range. */
KVC_API kvc_status kvc_cache_create(const kvc_cache_options *options,
                                    kvc_diag *diag, kvc_cache **cache);
/** Frees every sequence and the memory. */
KVC_API kvc_status kvc_cache_free(kvc_cache *cache);
/** The cache's own copy of its spec. */
KVC_API kvc_status kvc_cache_spec(const kvc_cache *cache, kvc_diag *diag,
                                  const kvc_spec **spec);

/*--- Sequences ------------------------------------------------------------*/

/** A new, empty sequence. KVC_OUT_OF_BLOCKS where max_sequences exist. */
KVC_API kvc_status kvc_cache_create_sequence(kvc_cache *cache, kvc_diag *diag,
                                             kvc_sequence *sequence);
/** Frees a sequence, its blocks and its reservation. In contiguous caches of
 *  devices with memory of their own it waits for their work. */
KVC_API kvc_status kvc_cache_free_sequence(kvc_cache *cache,
                                           kvc_sequence sequence,
                                           kvc_diag *diag);
/** Committed tokens, C. */
KVC_API kvc_status kvc_cache_length(const kvc_cache *cache,
                                    kvc_sequence sequence, kvc_diag *diag,
                                    int64_t *length);
/** Committed and reserved tokens, P. */
KVC_API kvc_status kvc_cache_pending_length(const kvc_cache *cache,
                                            kvc_sequence sequence,
                                            kvc_diag *diag, int64_t *length);

/*--- Append ---------------------------------------------------------------*/

/** Rows to reserve: new_tokens[i] >= 0 for sequences[i]; no sequence twice. */
typedef struct kvc_append_request {
  size_t struct_size;
  int64_t count;
  const kvc_sequence *sequences; /**< [count] */
  const int64_t *new_tokens;     /**< [count] */
} kvc_append_request;

/** Reserves the rows of all sequences or, KVC_OUT_OF_BLOCKS, of none. Refused
 *  for a sequence whose last reservation is still open. */
KVC_API kvc_status kvc_cache_append(kvc_cache *cache,
                                    const kvc_append_request *request,
                                    kvc_diag *diag);
/** What kvc_cache_append would answer; changes nothing. */
KVC_API kvc_status kvc_cache_can_append(const kvc_cache *cache,
                                        const kvc_append_request *request,
                                        kvc_diag *diag);
/** Closes the sequence's reservation: its rows are part of it. `accepted` is
 *  the number of rows that the append asked for. */
KVC_API kvc_status kvc_cache_commit(kvc_cache *cache, kvc_sequence sequence,
                                    int64_t accepted, kvc_diag *diag);
/** Closes the sequence's reservation and restores it as it was before.
 *  KVC_UNSUPPORTED where rows that were written into a ring have replaced some
 *  that the window needs: those of an append beyond max_queries tokens. */
KVC_API kvc_status kvc_cache_rollback(kvc_cache *cache, kvc_sequence sequence,
                                      kvc_diag *diag);

/*--- Looking in -----------------------------------------------------------*/

/** What kernels read. Valid until the next call that takes `kvc_cache *`. On a
 *  device with memory of its own the lists are the host's, and what addresses
 *  in them name is the device's. */
KVC_API kvc_status kvc_cache_get_view(const kvc_cache *cache,
                                      kvc_sequence sequence, kvc_diag *diag,
                                      kvc_cache_view *view);

/** Tokens `segments.sink` .. `*end` of a tensor are codes, all others raw rows.
 *  At least the sink, even where the sequence ends before it; without segments
 *  the written length. A value that is the key has the key's. */
KVC_API kvc_status kvc_cache_coded_end(const kvc_cache *cache,
                                       kvc_sequence sequence, kvc_tensor tensor,
                                       kvc_diag *diag, int64_t *end);

/** Paged, without segments (else KVC_UNSUPPORTED): row i of `table` [count,
 *  columns] becomes the pages of sequences[i], then null pages 0; lengths[i]
 *  becomes its P. KVC_INVALID_ARGUMENT where `columns` are too few. */
KVC_API kvc_status kvc_cache_block_table(const kvc_cache *cache,
                                         const kvc_sequence *sequences,
                                         int64_t count, int64_t columns,
                                         kvc_diag *diag, int32_t *table,
                                         int32_t *lengths);

/** In blocks; null + used + free = total. */
typedef struct kvc_cache_stats {
  size_t struct_size;
  int64_t total;
  int64_t null; /**< 1 where paged. */
  int64_t used; /**< Held by sequences, reservations included. */
  int64_t free;
  int64_t sequences;
  int64_t bytes; /**< Memory that the cache has allocated. */
  /** With segments, pages of raw rows: 1 + used + free = total. */
  int64_t raw_total, raw_used, raw_free;
} kvc_cache_stats;

/** Fills `*stats`, whose struct_size the caller has set. */
KVC_API kvc_status kvc_cache_get_stats(const kvc_cache *cache, kvc_diag *diag,
                                       kvc_cache_stats *stats);

#ifdef __cplusplus
}
#endif

#endif /* KVC_CACHE_H_ */
