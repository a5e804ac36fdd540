/*===- opened_module.c - Kernel tables in a shared object ---------*- C -*-===*\
|*
|* Part of kvc.
|*
|* The hash of the first table is filled in by the test, which has a library to
|* compute it with.
|*
\*===----------------------------------------------------------------------===*/

#include "kvc/kernel_abi.h"

static void nothing(const void *args) { (void)args; }

static const kvc_kernel_info kernels[] = {
    {"merge", nothing, 0, 0, 0, "", 0, 0, 0, 0, 0}};

#define SPEC                                                                   \
  "{\"kvc\": 1, \"name\": \"opened\", \"attention\": {\"q_heads\": 1, "        \
  "\"kv_heads\": 1, \"head_dim\": 16}, \"io\": {\"query\": \"f32\"}, "         \
  "\"key\": {\"codec\": \"f32\"}, \"value\": {\"codec\": \"f32\"}}"

#define EXPORT __attribute__((visibility("default")))

EXPORT kvc_module_table kvc_module = {
    KVC_KERNEL_ABI_VERSION, 1, SPEC, 0, "test", kernels, "", 0, 0};

EXPORT kvc_module_table other_version = {
    KVC_KERNEL_ABI_VERSION + 1, 1, SPEC, "", "test", kernels, "", 0, 0};
