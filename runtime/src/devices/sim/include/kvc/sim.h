/*===- sim.h - A simulated NVIDIA device --------------------------*- C -*-===*\
|*
|* Part of kvc.
|*
|* The PTX machine behind the table of device.h, in this process. Calls return
|* when their work is done. It loads PTX text, not cubins.
|*
\*===----------------------------------------------------------------------===*/

#ifndef KVC_SIM_H_
#define KVC_SIM_H_

#include "kvc/device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  /** Look for races, values that were never set, copies that were not waited
   *  for. Slower. */
  KVC_SIM_CHECK = 1
};

/** What one launch asks of a device; runtime/src/devices/sim/README.md says
 * what may be concluded. Bytes of global memory are those of sectors of 32. */
typedef struct kvc_sim_counts {
  size_t struct_size;
  const char *kernel; /**< Valid for the call only, as all of this. */
  int64_t blocks;
  int64_t warp_instructions, moves, mma; /**< Moves and mma are among them. */
  int64_t bytes_read, bytes_written;     /**< Each request's own. */
  int64_t unique_bytes;                  /**< Read or written, once. */
  int64_t local_bytes;                   /**< Of threads' own memory. */
  int64_t shared_wavefronts, bank_conflicts; /**< Conflicts are among them. */
} kvc_sim_counts;

typedef struct kvc_sim_options {
  size_t struct_size;
  const char *model; /**< "A100", "H100", ..; null: "H100". */
  uint32_t flags;    /**< KVC_SIM_CHECK. */
  int32_t threads;   /**< Of the host, for blocks beside each other; 0: 1. */
  uint64_t seed;     /**< 0: blocks and warps in order; else another order. */
  /** Told each different finding of a launch; may be null. */
  void (*report)(void *user, const char *finding);
  void *user;
  /** Told the counts of each launch that came to its end; may be null. Counting
   *  takes one thread. */
  void (*count)(void *user, const kvc_sim_counts *counts);
} kvc_sim_options;

/** Null options: an H100. The caller frees `*device`. */
KVC_API kvc_status kvc_sim_device_create(const kvc_sim_options *options,
                                         kvc_diag *diag, kvc_device **device);
/** Whatever refers to the device is freed before. */
KVC_API kvc_status kvc_sim_device_free(kvc_device *device);

#ifdef __cplusplus
}
#endif

#endif /* KVC_SIM_H_ */
