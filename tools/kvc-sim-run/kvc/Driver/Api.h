/*===- Api.h - The driver API as the simulator answers it ---------*- C -*-===*\
|*
|* Part of kvc.
|*
|*===----------------------------------------------------------------------===*|
|*
|* The calls of Calls.def, under the names that libcuda.so.1 exports. A program
|* that includes this needs no CUDA toolkit.
|*
\*===----------------------------------------------------------------------===*/

#ifndef KVC_DRIVER_API_H
#define KVC_DRIVER_API_H

#include "kvc/Driver/Signatures.h"
#include "kvc/Driver/Types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KVC_CALL(SYMBOL, BASE, VERSION, NEEDS, THREADS, IMPL, ...)             \
  CUresult SYMBOL(KVC_PARAMS(__VA_ARGS__));
#include "kvc/Driver/Calls.def"
#undef KVC_CALL

#ifdef __cplusplus
}
#endif

#endif /* KVC_DRIVER_API_H */
