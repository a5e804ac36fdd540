/*===- saved.h - Sequences as files -------------------------------*- C -*-===*\
|*
|* Part of kvc.
|*
|* A saved sequence is one file: what its rows are (specs, model, inputs of
|* schemes), its tokens, its extents and the bytes of its blocks, all of it
|* under CRC-32C sums; runtime/src/cache/FILE_FORMAT.md is the byte table. A
|* file says nothing of where blocks lay, so the same sequence gives the same
|* bytes wherever it is saved from. Rows and padding that hold no token are
|* zero.
|*
|* A manager has no memory: bytes of blocks go through a kvc_slice_memory of
|* the caller's. Block bytes are in the order of the host's kernels.
|*
\*===----------------------------------------------------------------------===*/

#ifndef KVC_SAVED_H_
#define KVC_SAVED_H_

#include "kvc/cache.h"
#include "kvc/manager.h"

#ifdef __cplusplus
extern "C" {
#endif

/*--- What the caller says -------------------------------------------------*/

/** A page slice: the bytes of one block, layer and tensor. */
typedef struct kvc_slice {
  size_t struct_size;
  int32_t group;
  int32_t raw;       /**< 1: a raw block, else a body block. */
  int32_t block;     /**< Its number in the pool, never 0. */
  kvc_tensor tensor; /**< KVC_KEY for interleaved pages: both lie in it. */
  int64_t layer;     /**< Of the group. */
  int64_t bytes;     /**< kvc_page_slice_bytes; of interleaved pages, both. */
} kvc_slice;

/** Where the bytes of blocks lie. Functions run inside of a call, one at a
 *  time, and may not call the manager; a status other than KVC_OK ends it. */
typedef struct kvc_slice_memory {
  size_t struct_size;
  void *user;
  /** Copies slice->bytes bytes of a slice to `bytes`; kvc_manager_save. */
  kvc_status (*read)(void *user, const kvc_slice *slice, void *bytes);
  /** Copies `bytes` to a slice; kvc_manager_load. */
  kvc_status (*write)(void *user, const kvc_slice *slice, const void *bytes);
} kvc_slice_memory;

/** What rows depend on beside specs and tokens: a file of another identity is
 *  refused. */
typedef struct kvc_saved_identity {
  size_t struct_size;
  /** The model with its revision, its rotary embedding and whatever else its
   *  keys and values depend on; at most KVC_MAX_MODEL_BYTES. Null: "". */
  const char *model;
  /** By group: [layers][32], kvc_hash_inputs of the inputs of each layer. Null
   *  where no group's schemes take inputs; of a group that takes none too. */
  const uint8_t *const *input_hashes;
} kvc_saved_identity;
#define KVC_MAX_MODEL_BYTES 4096

/** SHA-256 over the inputs that a spec's schemes take (kvc_spec_get_input),
 *  each of which stands in `values` [count] once, in any order. */
KVC_API kvc_status kvc_hash_inputs(const kvc_spec *spec,
                                   const kvc_scheme_values *values,
                                   int64_t count, kvc_diag *diag,
                                   uint8_t hash[32]);

/*--- Save -----------------------------------------------------------------*/

/** Writes the C tokens of a sequence, whose ids are `tokens` [C], to `path`: to
 *  a file beside it, which is made durable and then renamed, so that whatever
 *  happens `path` is what it was or the whole new file. KVC_WAIT until the
 *  steps that wrote the sequence have retired and its copies are taken.
 *  KVC_STALE for a sequence that does not exist, KVC_FAILED for one whose steps
 *  have failed and, with the system's reason, where the file cannot be written;
 *  where `memory` fails its status. With KVC_MANAGER_LOCK calls that take
 *  `kvc_manager *` wait until the file is written, and all that come after. */
KVC_API kvc_status kvc_manager_save(const kvc_manager *manager,
                                    kvc_sequence sequence,
                                    const int32_t *tokens,
                                    const kvc_saved_identity *identity,
                                    const kvc_slice_memory *memory,
                                    const char *path, kvc_diag *diag);

/*--- Open -----------------------------------------------------------------*/

/** A file that has been read and verified, every byte of it. Never changes. */
typedef struct kvc_saved kvc_saved;

/** Maps the file at `path` into memory and verifies it. KVC_INVALID_DATA where
 *  it is none, is cut short or has changed; KVC_UNSUPPORTED where a later
 *  version wrote it. As long as `*saved` lives no one may write into the file;
 *  a new one may take its place. */
KVC_API kvc_status kvc_saved_open(const char *path, kvc_diag *diag,
                                  kvc_saved **saved);
/** The same of bytes in memory, which outlive `*saved`. */
KVC_API kvc_status kvc_saved_read(const void *data, size_t size, kvc_diag *diag,
                                  kvc_saved **saved);
KVC_API kvc_status kvc_saved_free(kvc_saved *saved);

typedef struct kvc_saved_info {
  size_t struct_size;
  int64_t version;       /**< Of the format. */
  int64_t bytes;         /**< Of the file. */
  int64_t groups;        /**< Layer groups. */
  const char *model;     /**< Owned by the file, as all pointers here. */
  const int32_t *tokens; /**< [num_tokens] */
  int64_t num_tokens;    /**< C. */
} kvc_saved_info;

KVC_API kvc_status kvc_saved_get_info(const kvc_saved *saved, kvc_diag *diag,
                                      kvc_saved_info *info);

/** The sequence in one layer group. */
typedef struct kvc_saved_group {
  size_t struct_size;
  const kvc_spec *spec;
  int64_t layers;
  int64_t key_coded_end,
      value_coded_end;                  /**< E of K and V, at least the sink. */
  int64_t blocks, raw_blocks;           /**< In the file. */
  int64_t block_bytes, raw_block_bytes; /**< Of one, all layers. */
  int64_t freed_blocks;        /**< Body blocks that a window has gone past. */
  const uint8_t *input_hashes; /**< [layers][32]; zeros: no inputs. */
} kvc_saved_group;

KVC_API kvc_status kvc_saved_get_group(const kvc_saved *saved, int64_t group,
                                       kvc_diag *diag, kvc_saved_group *info);

/*--- Load -----------------------------------------------------------------*/

/** A new sequence with the tokens and bytes of a file, in blocks of its own:
 *  published, any number of sequences begin with them. Free blocks are taken
 *  first, then cached ones evicted; KVC_OUT_OF_BLOCKS, KVC_WAIT as
 *  kvc_manager_append. KVC_UNSUPPORTED, with what differs, for a file of other
 *  layer groups or another identity, or without keys that the manager's queries
 *  see; KVC_INVALID_ARGUMENT for one of more than max_tokens tokens. Where
 *  `memory` fails its status: the sequence is gone again, the entries that it
 *  evicted too. Rows behind the manager's window are not loaded. With
 *  KVC_MANAGER_LOCK all other calls wait until the blocks are written. */
KVC_API kvc_status kvc_manager_load(kvc_manager *manager,
                                    const kvc_saved *saved,
                                    const kvc_saved_identity *identity,
                                    const kvc_slice_memory *memory,
                                    kvc_diag *diag, kvc_sequence *sequence);

#ifdef __cplusplus
}
#endif

#endif /* KVC_SAVED_H_ */
