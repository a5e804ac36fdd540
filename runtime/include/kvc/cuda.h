/*===- cuda.h - NVIDIA devices -----------------------------------*- C -*-===*\
|*
|* Part of kvc.
|*
|* The driver is found when a device is made; neither this library nor its users
|* need a CUDA toolkit. Kernels get 64-bit addresses of the device and nothing
|* of this process.
|*
\*===----------------------------------------------------------------------===*/

#ifndef KVC_CUDA_H_
#define KVC_CUDA_H_

#include "kvc/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kvc_cuda_options {
  size_t struct_size;
  int32_t ordinal;     /**< Of the device, from 0. */
  const char *library; /**< The driver; null: "libcuda.so.1". */
} kvc_cuda_options;

/** A device behind the table of device.h, over its primary context. A call
 *  leaves the caller's current context as it was. Null options: the first
 *  device. KVC_UNSUPPORTED where there is no driver or no such device. */
KVC_API kvc_status kvc_cuda_device_create(const kvc_cuda_options *options,
                                          kvc_diag *diag, kvc_device **device);
/** Whatever refers to the device is freed before. The driver stays loaded. */
KVC_API kvc_status kvc_cuda_device_free(kvc_device *device);

#ifdef __cplusplus
}
#endif

#endif /* KVC_CUDA_H_ */
