/*===- manager.h - Which sequence holds which blocks --------------*- C -*-===*\
|*
|* Part of kvc.
|*
|* A manager does the bookkeeping of a paged cache: which blocks of which pool a
|* sequence holds, who shares them, what may be reused when. It has no memory,
|* no device and no clock; where it wants bytes moved it says so
|* (kvc_manager_take_copies). Layers that share a spec are a *group*; a group's
|* body blocks hold codes, its raw blocks (with segments) rows as given.
|*
|* Of a sequence: C committed and P >= C pending tokens; per group and tensor an
|* extent E: tokens sink .. E are codes, all other tokens below P are raw rows.
|* E = max(E, sink + floor(max(0, L - sink - recent) / n) * n) at every append,
|* L = C + its rows that are no drafts; without segments E = P. Body block i
|* holds tokens sink + i * page and on; raw page i the raw rows i * page and on,
|* of which token t is row t in the sink, else t - sink + sink rounded up to
|* pages.
|*
|* A block that several tables hold, or that is published, is never written: an
|* append gives its writer a copy. Blocks are numbered by pool; block 0 of each
|* is the null block and belongs to no one.
|*
|* Threads: with KVC_MANAGER_LOCK calls may come from any thread; those that
|* take the manager as const run beside each other and change nothing. Without
|* it the caller serialises calls that take `kvc_manager *` with all others.
|* Listeners run inside of calls and may not call the manager.
|*
|* Structs without struct_size are values that lie in lists or are kept by
|* callers; they never grow.
|*
\*===----------------------------------------------------------------------===*/

#ifndef KVC_MANAGER_H_
#define KVC_MANAGER_H_

#include "kvc/spec.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kvc_manager kvc_manager;

/** A sequence: a slot and its generation. Never 0; a handle of a freed sequence
 *  is refused as KVC_STALE, also when its slot lives on in another one. */
typedef uint64_t kvc_sequence;

/*--- Creation -------------------------------------------------------------*/

/** Groups of a manager are at most so many. */
#define KVC_MAX_LAYER_GROUPS 16

/** Layers that share a spec (of kind "paged"). */
typedef struct kvc_layer_group {
  size_t struct_size; /**< The same in all of a list. */
  const kvc_spec *spec;
  int64_t layers; /**< At least 1. */
  /** Blocks that the group adds to the pool of its block size (bytes of a page
   *  times layers): groups with blocks of one size share a pool. At least 1;
   *  the pool's null block comes on top. */
  int64_t blocks;
  /** With segments: the same for raw rows. 0: for max_sequences sequences,
   *  though not for more tokens than `blocks` holds. */
  int64_t raw_blocks;
} kvc_layer_group;

/** What a retention policy looks at. */
typedef struct kvc_block_use {
  size_t struct_size;
  int64_t last_use;  /**< A count of calls; larger is later. */
  int64_t uses;      /**< Sequences that have taken it over. */
  int32_t priority;  /**< Of its last pin, 0 to 100; 0: never pinned. */
  int64_t token_end; /**< What computing its tokens again needs before it. */
  int64_t bytes;     /**< Of a block. */
} kvc_block_use;

/** Of cached blocks that no entry follows, the one of the lowest score goes
 *  first, of several the least recently used. */
typedef struct kvc_policy {
  size_t struct_size;
  double (*score)(void *user, const kvc_block_use *use);
  void *user;
} kvc_policy;

/** Sets `*policy`, whose struct_size the caller has set, to one of the
 *  library's. By what goes first: "lru" the least recently used,
 *  "lfu" the least often used, "priority" the lowest priority, "cost" what is
 *  the cheapest to compute again per byte. */
KVC_API kvc_status kvc_policy_get(const char *name, kvc_diag *diag,
                                  kvc_policy *policy);

/** What happens to prefixes. */
typedef enum kvc_event_kind KVC_ENUM_BASE {
  KVC_EVENT_STORED = 0,  /**< A block became an entry. */
  KVC_EVENT_REMOVED = 1, /**< An entry is gone. */
  KVC_EVENT_CLEARED = 2  /**< All entries are gone: kvc_manager_reset. */
} kvc_event_kind;

typedef struct kvc_event {
  size_t struct_size;
  kvc_event_kind kind;
  int32_t group, pool;
  int32_t block;               /**< 0 for KVC_EVENT_CLEARED. */
  int32_t parent, parent_pool; /**< The entry before it; block 0: none. */
  const int32_t *tokens; /**< [num_tokens], during the call of the listener. */
  int64_t num_tokens;
  const uint8_t *key; /**< [32], the same. */
} kvc_event;

enum {
  /** Calls may come from several threads at once. */
  KVC_MANAGER_LOCK = 1,
  /** Keys that no query can see any more are freed at commit: body blocks all
   *  of whose tokens are below C - window - max_queries + 1, but for those with
   *  visible sinks. */
  KVC_MANAGER_FREE_WINDOW = 2
};

typedef struct kvc_manager_options {
  size_t struct_size;
  const kvc_layer_group *groups; /**< [num_groups]; specs are copied. */
  int64_t num_groups;            /**< 1 to KVC_MAX_LAYER_GROUPS. */
  int64_t max_sequences;         /**< 0: 65536. */
  /** Tokens of the longest sequence: its tables get their memory when it is
   *  created, so that an append allocates nothing. 0: tables grow. */
  int64_t max_tokens;
  uint32_t flags; /**< KVC_MANAGER_LOCK, KVC_MANAGER_FREE_WINDOW. */
  /** The most queries of one sequence that attend in one call; 0: 1. Read with
   *  KVC_MANAGER_FREE_WINDOW. */
  int64_t max_queries;
  const kvc_policy *policy; /**< Copied; null: "lru". */
  /** Null: SHA-256. Prefixes are compared token by token, whatever it gives. */
  void (*hash)(void *user, const void *data, size_t size, uint8_t digest[32]);
  void *hash_user;
  /** May be null. */
  void (*listener)(void *user, const kvc_event *event);
  void *listener_user;
  /** May be null. Gets a record of the creation and of every call that takes
   *  `kvc_manager *`, refused or not, but those that are refused for their
   *  arguments alone (a null, a count below 0, an index), whatever the manager
   *  holds, or for want of memory; such calls change nothing. One after the
   *  other the records are a trace, which kvc_manager_replay runs again.
   *  KVC_UNSUPPORTED with a hash or a policy of the caller's. */
  void (*trace)(void *user, const void *data, size_t size);
  void *trace_user;
} kvc_manager_options;

/** KVC_UNSUPPORTED where a spec is not paged or kvc does not support it. */
KVC_API kvc_status kvc_manager_create(const kvc_manager_options *options,
                                      kvc_diag *diag, kvc_manager **manager);
/** Frees every sequence and entry. Listeners are not told. */
KVC_API kvc_status kvc_manager_free(kvc_manager *manager);

/** What a group is made of. */
typedef struct kvc_group_info {
  size_t struct_size;
  int32_t pool, raw_pool; /**< raw_pool is -1 without segments. */
  int64_t page, raw_page; /**< Tokens of a block. */
  int64_t sink, recent;
  int64_t key_block_tokens, value_block_tokens; /**< n of K and V. */
  int64_t window; /**< 0: none, or KVC_MANAGER_FREE_WINDOW is not set. */
  int64_t window_sinks;
} kvc_group_info;

KVC_API kvc_status kvc_manager_get_group(const kvc_manager *manager,
                                         int64_t group, kvc_diag *diag,
                                         kvc_group_info *info);

/*--- Sequences ------------------------------------------------------------*/

/** A new, empty sequence. KVC_OUT_OF_BLOCKS where max_sequences exist. */
KVC_API kvc_status kvc_manager_create_sequence(kvc_manager *manager,
                                               kvc_diag *diag,
                                               kvc_sequence *sequence);
/** Frees a sequence with its reservation. Published blocks that no one else
 *  holds become cached, others free, or quarantined until the steps begun
 *  before have retired. */
KVC_API kvc_status kvc_manager_free_sequence(kvc_manager *manager,
                                             kvc_sequence sequence,
                                             kvc_diag *diag);
/** A new sequence of the first `position` <= C tokens of `parent`, which has no
 *  open reservation. Shares blocks, takes none. KVC_INEXACT_POSITION where a
 *  coded block of several tokens would be cut, or keys are missing that its
 *  next queries see: `*nearest` (may be null, written then too) is the largest
 *  position below that is exact. */
KVC_API kvc_status kvc_manager_fork(kvc_manager *manager, kvc_sequence parent,
                                    int64_t position, kvc_diag *diag,
                                    kvc_sequence *child, int64_t *nearest);
/** Cuts a sequence, without open reservation, to `length` <= C tokens; else as
 *  kvc_manager_fork. */
KVC_API kvc_status kvc_manager_truncate(kvc_manager *manager,
                                        kvc_sequence sequence, int64_t length,
                                        kvc_diag *diag, int64_t *nearest);

/** A sequence in one group. Pointers are valid until the next call that takes
 *  `kvc_manager *`. */
typedef struct kvc_sequence_state {
  size_t struct_size;
  int64_t committed, pending; /**< C, P. */
  /** E of the committed tokens: at least the sink. */
  int64_t key_coded_end, value_coded_end;
  /** E with the open reservation; the same where none is open. */
  int64_t next_key_coded_end, next_value_coded_end;
  /** Body blocks; 0 where a window has freed one. */
  const int32_t *blocks;
  int64_t num_blocks;
  /** Raw blocks; 0 where there is none. */
  const int32_t *raw_blocks;
  int64_t num_raw_blocks;
} kvc_sequence_state;

KVC_API kvc_status kvc_manager_get_sequence(const kvc_manager *manager,
                                            kvc_sequence sequence,
                                            int64_t group, kvc_diag *diag,
                                            kvc_sequence_state *state);

/*--- Append ---------------------------------------------------------------*/

/** Rows of one sequence: `new_tokens`, then `lookahead` drafts. */
typedef struct kvc_append_rows {
  kvc_sequence sequence;
  int64_t new_tokens;
  int64_t lookahead;
} kvc_append_rows;

/** Reserves the rows of all sequences, none of which has an open reservation or
 *  stands twice in `rows` [count], in all groups, or changes nothing:
 *  KVC_WAIT where quarantined blocks would do, else KVC_OUT_OF_BLOCKS. Takes
 *  free blocks first, then evicts cached ones. */
KVC_API kvc_status kvc_manager_append(kvc_manager *manager,
                                      const kvc_append_rows *rows,
                                      int64_t count, kvc_diag *diag);
/** What kvc_manager_append would answer. */
KVC_API kvc_status kvc_manager_can_append(const kvc_manager *manager,
                                          const kvc_append_rows *rows,
                                          int64_t count, kvc_diag *diag);
/** Closes the reservation: its first `accepted` rows are part of the sequence,
 *  new_tokens <= accepted <= new_tokens + lookahead. */
KVC_API kvc_status kvc_manager_commit(kvc_manager *manager,
                                      kvc_sequence sequence, int64_t accepted,
                                      kvc_diag *diag);
/** Closes the reservation and restores C, P and E. */
KVC_API kvc_status kvc_manager_rollback(kvc_manager *manager,
                                        kvc_sequence sequence, kvc_diag *diag);

/** Rows that a copy on write has to take along, by their number in the block;
 *  the rest of block `to` is to be zeroed. */
typedef struct kvc_block_copy {
  int32_t group;
  int32_t raw; /**< 1: raw blocks, else body blocks. */
  int32_t pool;
  int32_t from, to;
  int64_t key_begin, key_end, value_begin, value_end;
} kvc_block_copy;

/** Moves the oldest of the copies that appends have asked for, at most
 *  `capacity`, to `copies`. They come before anything else is written or read,
 *  in this order. Until then their sources are held; afterwards until the steps
 *  begun before have retired: without steps the caller copies before its next
 *  call. */
KVC_API kvc_status kvc_manager_take_copies(kvc_manager *manager,
                                           int64_t capacity, kvc_diag *diag,
                                           kvc_block_copy *copies,
                                           int64_t *count);

/*--- Tables ---------------------------------------------------------------*/

/** Row i of `table` [count, columns] becomes the body blocks of sequences[i] in
 *  `group`, then null blocks; lengths[i] becomes its P. KVC_INVALID_ARGUMENT
 *  where `columns` are too few. */
KVC_API kvc_status kvc_manager_block_table(const kvc_manager *manager,
                                           int64_t group,
                                           const kvc_sequence *sequences,
                                           int64_t count, int64_t columns,
                                           kvc_diag *diag, int32_t *table,
                                           int32_t *lengths);
/** The same as compressed rows: indices[indptr[i] .. indptr[i + 1]) are the
 *  body blocks of sequences[i], last_page_len[i] the coded tokens in the last
 *  of them. KVC_INVALID_ARGUMENT where `capacity` is too small for indices. */
KVC_API kvc_status kvc_manager_block_rows(
    const kvc_manager *manager, int64_t group, const kvc_sequence *sequences,
    int64_t count, int64_t capacity, kvc_diag *diag, int64_t *indptr,
    int32_t *indices, int32_t *last_page_len);
/** slots[j]: where reserved row j of the sequences, one after the other, goes:
 *  block * page + token in it. Groups without segments only
 *  (KVC_UNSUPPORTED). KVC_INVALID_ARGUMENT unless `num_slots` is the number of
 *  the reserved rows. */
KVC_API kvc_status kvc_manager_slot_mapping(const kvc_manager *manager,
                                            int64_t group,
                                            const kvc_sequence *sequences,
                                            int64_t count, int64_t num_slots,
                                            kvc_diag *diag, int64_t *slots);

/*--- Prefixes -------------------------------------------------------------*/

/** Prefixes are shared inside of one namespace only. Each is bytes, null and 0
 *  for none. */
typedef struct kvc_namespace {
  size_t struct_size;
  const void *salt; /**< A tenant's secret. */
  size_t salt_size;
  const void *adapter; /**< What changes the model's weights. */
  size_t adapter_size;
  const void *media; /**< What token ids alone do not say. */
  size_t media_size;
} kvc_namespace;

/** A published prefix: a value, which holds nothing. Length 0: none. */
typedef struct kvc_prefix {
  int64_t length; /**< Tokens. */
  /** By group: generation and number of its last block; 0: none. */
  uint64_t entries[KVC_MAX_LAYER_GROUPS];
} kvc_prefix;

/** Makes the whole blocks among the first `count` <= C tokens of a sequence,
 *  whose ids are `tokens`, entries, as far as they lie below min(E_K, E_V), and
 *  the raw blocks of the sink. What is an entry already stays as it is. The
 *  namespace may be null. `*prefix`: the entries, all of them below `length`,
 *  which every group's entries cover. KVC_INVALID_ARGUMENT where a block of the
 *  sequence is an entry of other tokens or another namespace. */
KVC_API kvc_status kvc_manager_publish(kvc_manager *manager,
                                       kvc_sequence sequence,
                                       const int32_t *tokens, int64_t count,
                                       const kvc_namespace *name,
                                       kvc_diag *diag, kvc_prefix *prefix);
/** The longest published prefix A of `tokens` that a sequence may begin with:
 *  in every group covered by entries, sink + a multiple of n_K and n_V, and
 *  A + max(recent, 1) <= attend_length, the length at the first call that
 *  attends after it. Entries of a step that has not ended do not count. A
 *  probe: takes no reference, changes no recency. */
KVC_API kvc_status kvc_manager_match(const kvc_manager *manager,
                                     const int32_t *tokens, int64_t count,
                                     const kvc_namespace *name,
                                     int64_t attend_length, kvc_diag *diag,
                                     kvc_prefix *prefix);
/** Begins an empty sequence with a prefix, whose blocks it shares. KVC_STALE
 *  where one of them is no longer what it was. */
KVC_API kvc_status kvc_manager_adopt(kvc_manager *manager,
                                     kvc_sequence sequence,
                                     const kvc_prefix *prefix, kvc_diag *diag);
/** Removes all entries and pins; sequences keep their blocks. */
KVC_API kvc_status kvc_manager_reset(kvc_manager *manager, kvc_diag *diag);

/*--- Retention ------------------------------------------------------------*/

/** Keeps the blocks of a prefix although no one uses them, until as many
 *  unpins, or until `ttl` (0: no end) after now, the largest of its pins.
 *  `priority` is 0 to 100. KVC_STALE as for adopt. */
KVC_API kvc_status kvc_manager_pin(kvc_manager *manager,
                                   const kvc_prefix *prefix, int32_t priority,
                                   int64_t ttl, kvc_diag *diag);
/** KVC_STALE where the prefix is not pinned. */
KVC_API kvc_status kvc_manager_unpin(kvc_manager *manager,
                                     const kvc_prefix *prefix, kvc_diag *diag);
/** Sets the time, in units of the caller's, never backwards; pins end. */
KVC_API kvc_status kvc_manager_set_time(kvc_manager *manager, int64_t now,
                                        kvc_diag *diag);
/** Makes up to `count` cached blocks of a pool free (or quarantined), as the
 *  policy says. */
KVC_API kvc_status kvc_manager_evict(kvc_manager *manager, int64_t pool,
                                     int64_t count, kvc_diag *diag,
                                     int64_t *evicted);

/*--- Steps ----------------------------------------------------------------*/

/** Begins a step: what is called until its end belongs to it. One at a time;
 *  KVC_WAIT where KVC_MAX_STEPS have not retired. `*epoch` counts from 1. */
#define KVC_MAX_STEPS 64
KVC_API kvc_status kvc_manager_begin_step(kvc_manager *manager, kvc_diag *diag,
                                          int64_t *epoch);
/** The step is submitted: later steps see what it writes. */
KVC_API kvc_status kvc_manager_end_step(kvc_manager *manager, int64_t epoch,
                                        kvc_diag *diag);
/** The device is done with an ended step, in any order of steps. `failed`:
 *  removes the entries that it or a later step wrote, and every sequence that
 *  it or a later step appended to, or that holds such a block, answers
 *  KVC_FAILED to all but free. */
KVC_API kvc_status kvc_manager_retire(kvc_manager *manager, int64_t epoch,
                                      int32_t failed, kvc_diag *diag);

/*--- Looking in -----------------------------------------------------------*/

/** Blocks of a pool by state: null + quarantined + used + pinned + cached +
 *  free = total. */
typedef struct kvc_pool_stats {
  size_t struct_size;
  int64_t block_bytes;
  int64_t total, null, quarantined, used, pinned, cached, free;
  int64_t in_flight; /**< Held for copies that no one has taken. */
  int64_t evictions; /**< Entries that made room, ever. */
} kvc_pool_stats;

KVC_API kvc_status kvc_manager_get_pool(const kvc_manager *manager,
                                        int64_t pool, kvc_diag *diag,
                                        kvc_pool_stats *stats);

typedef struct kvc_manager_stats {
  size_t struct_size;
  int64_t pools, sequences;
  int64_t entries;
  int64_t hits;       /**< Adoptions. */
  int64_t hit_tokens; /**< Their tokens together. */
  int64_t waste;      /**< By sequence, rows of its blocks without a token. */
} kvc_manager_stats;

KVC_API kvc_status kvc_manager_get_stats(const kvc_manager *manager,
                                         kvc_diag *diag,
                                         kvc_manager_stats *stats);

/** Verifies every invariant: KVC_INVALID_DATA with its number and the place.
 *  Takes time in proportion to all blocks and tables. */
KVC_API kvc_status kvc_manager_check(const kvc_manager *manager,
                                     kvc_diag *diag);
/** Runs a trace on a manager of its own. `*records`: how many were run.
 *  KVC_INVALID_DATA, with the number of the record, where the bytes are no
 *  trace or a call answers otherwise than it did. */
KVC_API kvc_status kvc_manager_replay(const void *trace, size_t size,
                                      kvc_diag *diag, int64_t *records);
/** A sum over all that later calls depend on, to compare with another of this
 *  manager: a failed call leaves it. */
KVC_API kvc_status kvc_manager_digest(const kvc_manager *manager,
                                      kvc_diag *diag, uint8_t digest[32]);

#ifdef __cplusplus
}
#endif

#endif /* KVC_MANAGER_H_ */
