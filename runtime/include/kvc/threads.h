/*===- threads.h - Who does the work ------------------------------*- C -*-===*\
|*
|* Part of kvc.
|*
|* The library starts no thread of its own accord. A call that has parallel work
|* takes a kvc_parallel_for: the caller's own, that of a pool below, or null for
|* the calling thread alone. Results are the same to the bit in every case.
|*
\*===----------------------------------------------------------------------===*/

#ifndef KVC_THREADS_H_
#define KVC_THREADS_H_

#include "kvc/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A parallel loop. `run` calls body(ctx, i) exactly once for each i in
 *  [0, count), on any threads, in any order, and returns when all calls have
 *  returned; what they wrote is then visible to the caller. `body` never throws
 *  and never waits for another index. */
typedef struct kvc_parallel_for {
  void (*run)(void *user, int64_t count, void (*body)(void *ctx, int64_t index),
              void *ctx);
  void *user;
} kvc_parallel_for;

/** Threads that sleep while there is no work: none of them ever spins. */
typedef struct kvc_thread_pool kvc_thread_pool;

/** A pool of `num_threads` threads, at most 1024, the calling one included (so
 *  num_threads - 1 are started); 0: one per entry of `cores`, or without cores
 *  one per core that this process may use. `cores` (`num_cores` numbers as the
 *  system counts them; null and 0: no binding) binds started thread i, from 1,
 *  to cores[i % num_cores]: cores[0] is left for the caller's thread, which is
 *  never bound. The caller frees `*pool`. */
KVC_API kvc_status kvc_thread_pool_create(int32_t num_threads,
                                          const int32_t *cores,
                                          int64_t num_cores, kvc_diag *diag,
                                          kvc_thread_pool **pool);

/** Ends the pool's threads. No loop may be running. */
KVC_API kvc_status kvc_thread_pool_free(kvc_thread_pool *pool);

/** The pool's loop, valid until the pool is freed. Loops that several threads
 *  start at once run one after the other; a loop inside a loop's body runs on
 *  the thread that starts it. Work is handed out as threads become free. */
KVC_API kvc_status kvc_thread_pool_loop(kvc_thread_pool *pool, kvc_diag *diag,
                                        kvc_parallel_for *loop);

/** Threads of the pool, the calling one included. */
KVC_API kvc_status kvc_thread_pool_size(const kvc_thread_pool *pool,
                                        kvc_diag *diag, int32_t *num_threads);

#ifdef __cplusplus
}
#endif

#endif /* KVC_THREADS_H_ */
