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

typedef struct kvc_sim_options {
  size_t struct_size;
  const char *model; /**< "A100", "H100", ..; null: "H100". */
  uint32_t flags;    /**< KVC_SIM_CHECK. */
  int32_t threads;   /**< Of the host, for blocks beside each other; 0: 1. */
  uint64_t seed;     /**< 0: blocks and warps in order; else another order. */
  /** Told each different finding of a launch; may be null. */
  void (*report)(void *user, const char *finding);
  void *user;
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
