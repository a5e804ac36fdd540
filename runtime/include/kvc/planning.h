/*===- planning.h - How much memory holds how many tokens ---------*- C -*-===*\
|*
|* Part of kvc.
|*
|* Arithmetic about a kvc_manager that need not exist yet. Of the options these
|* calls read `groups` (but for their blocks and raw_blocks, which may be 0),
|* `num_groups`, `flags` and `max_queries`.
|*
|* Sequences are counted as they grow: by appends of at most max_queries rows
|* (0: 1) none of which are drafts, each followed by its commit, with no block
|* shared. What an append needs beside what it gives back at its commit counts:
|* raw rows that it codes, keys that the window frees. So a pool of that size
|* never answers KVC_OUT_OF_BLOCKS.
|*
\*===----------------------------------------------------------------------===*/

#ifndef KVC_PLANNING_H_
#define KVC_PLANNING_H_

#include "kvc/manager.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A sequence in one layer group. */
typedef struct kvc_group_memory {
  size_t struct_size;
  int64_t block_bytes;        /**< Of a body block, all layers. */
  int64_t raw_block_bytes;    /**< Of a raw block; 0 without segments. */
  int64_t blocks, raw_blocks; /**< The most at once until its length. */
  int64_t bytes;              /**< Of these together. */
  /** Of its rows that hold a token then, without padding. */
  double row_bytes;
  double token_bytes; /**< Of a coded token, all layers, without padding. */
} kvc_group_memory;

/** What growing to `tokens` tokens takes in group `group`. */
KVC_API kvc_status kvc_memory_for(const kvc_manager_options *options,
                                  int64_t group, int64_t tokens, kvc_diag *diag,
                                  kvc_group_memory *memory);
/** The same of all groups together, in bytes. Never less for more tokens.
 *  KVC_UNSUPPORTED where 2^63 bytes are too few. */
KVC_API kvc_status kvc_bytes_for(const kvc_manager_options *options,
                                 int64_t tokens, kvc_diag *diag,
                                 int64_t *bytes);
/** The largest number of tokens whose kvc_bytes_for is at most `bytes`; 2^31 -
 *  1, the most that a sequence may have, where there is no larger one. */
KVC_API kvc_status kvc_tokens_for(const kvc_manager_options *options,
                                  int64_t bytes, kvc_diag *diag,
                                  int64_t *tokens);

/** What memory is wanted for. One of the three may be 0. */
typedef struct kvc_memory_request {
  size_t struct_size;
  int64_t bytes;     /**< Of all pools; 0: as few as needed. */
  int64_t tokens;    /**< Of each sequence; 0: as many as fit. */
  int64_t sequences; /**< At once; 0: as many as fit. */
} kvc_memory_request;

typedef struct kvc_memory_plan {
  size_t struct_size;
  int64_t bytes; /**< Of all pools, null blocks too. */
  int64_t tokens, sequences;
  int64_t sequence_bytes; /**< kvc_bytes_for(tokens). */
  /** What of sequence_bytes holds no token: the mean over the lengths of one
   *  page up to `tokens`. */
  double waste_bytes;
} kvc_memory_plan;

/** Sizes the pools. blocks[g] and raw_blocks[g] [num_groups] are what the
 *  kvc_layer_group of that number is to say; each list may be null.
 *  KVC_OUT_OF_BLOCKS, with what would do, where the bytes do not hold one
 *  sequence of so many tokens, or one token each of so many sequences. */
KVC_API kvc_status kvc_plan_memory(const kvc_manager_options *options,
                                   const kvc_memory_request *request,
                                   kvc_diag *diag, kvc_memory_plan *plan,
                                   int64_t *blocks, int64_t *raw_blocks);

#ifdef __cplusplus
}
#endif

#endif /* KVC_PLANNING_H_ */
