//===- abi_test.cpp - Our declarations beside NVIDIA's --------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Compiled where a CUDA toolkit is: values, layouts and parameters are the same
// as in its cuda.h, so that programs made with it run.
//
//===----------------------------------------------------------------------===//

#include <cuda.h>
#include <cudaProfiler.h>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

// Macros there, values here.
#undef CU_MEMHOSTALLOC_PORTABLE
#undef CU_MEMHOSTALLOC_DEVICEMAP
#undef CU_MEMHOSTALLOC_WRITECOMBINED
#undef CU_MEMHOSTREGISTER_DEVICEMAP
#undef CU_LAUNCH_PARAM_END
#undef CU_LAUNCH_PARAM_BUFFER_POINTER
#undef CU_LAUNCH_PARAM_BUFFER_SIZE

namespace ours {
#include "kvc/Driver/Signatures.h"
#include "kvc/Driver/Types.h"

#define KVC_CALL(SYMBOL, BASE, VERSION, NEEDS, THREADS, IMPL, ...)             \
  using SYMBOL##_type = CUresult(KVC_PARAMS(__VA_ARGS__));
#include "kvc/Driver/Calls.def"
#undef KVC_CALL
} // namespace ours

#define KVC_ERROR(NAME, VALUE, TEXT) static_assert(::NAME == VALUE);
#include "kvc/Driver/Errors.def"
#undef KVC_ERROR

/// Of one type on both sides: pointers, handles, numbers of one size.
template <typename A, typename B>
constexpr bool isSameKind =
    sizeof(A) == sizeof(B) && alignof(A) == alignof(B) &&
    std::is_pointer_v<A> == std::is_pointer_v<B> &&
    std::is_class_v<A> == std::is_class_v<B>;

template <typename A, typename B>
constexpr bool isSameCall = false;
template <typename A, typename B, typename... P, typename... Q>
constexpr bool isSameCall<A(P...), B(Q...)> = isSameKind<A, B> && [] {
  if constexpr (sizeof...(P) == sizeof...(Q))
    return (isSameKind<P, Q> && ...);
  else
    return false;
}();

#define SAME(TYPE)                                                             \
  static_assert(sizeof(::TYPE) == sizeof(ours::TYPE));                         \
  static_assert(alignof(::TYPE) == alignof(ours::TYPE))
#define FIELD(TYPE, NAME)                                                      \
  static_assert(offsetof(::TYPE, NAME) == offsetof(ours::TYPE, NAME))

SAME(CUDA_MEMCPY2D);
FIELD(CUDA_MEMCPY2D, srcDevice);
FIELD(CUDA_MEMCPY2D, dstMemoryType);
FIELD(CUDA_MEMCPY2D, Height);
SAME(CUDA_MEMCPY3D);
FIELD(CUDA_MEMCPY3D, srcHeight);
FIELD(CUDA_MEMCPY3D, dstDevice);
FIELD(CUDA_MEMCPY3D, Depth);
SAME(CUlaunchConfig);
FIELD(CUlaunchConfig, hStream);
FIELD(CUlaunchConfig, numAttrs);
SAME(CUlaunchAttribute);
FIELD(CUlaunchAttribute, value);
SAME(CUctxCreateParams);
FIELD(CUctxCreateParams, cigParams);
SAME(CUgraphEdgeData);
SAME(CUDA_HOST_NODE_PARAMS);
SAME(CUDA_MEMSET_NODE_PARAMS);
FIELD(CUDA_MEMSET_NODE_PARAMS, width);
SAME(CUgraphExecUpdateResultInfo);
SAME(CUDA_GRAPH_INSTANTIATE_PARAMS);
FIELD(CUDA_GRAPH_INSTANTIATE_PARAMS, result_out);
SAME(CUmemLocation);
static_assert(sizeof(::CUDA_KERNEL_NODE_PARAMS_v2) ==
              sizeof(ours::CUDA_KERNEL_NODE_PARAMS));
static_assert(offsetof(::CUDA_KERNEL_NODE_PARAMS_v2, ctx) ==
              offsetof(ours::CUDA_KERNEL_NODE_PARAMS, ctx));

#define VALUE(NAME) static_assert(int(::NAME) == int(ours::NAME))
VALUE(CU_JIT_ERROR_LOG_BUFFER);
VALUE(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
VALUE(CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
VALUE(CU_JIT_INPUT_PTX);
VALUE(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
VALUE(CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
VALUE(CU_POINTER_ATTRIBUTE_MAPPED);
VALUE(CU_MEMPOOL_ATTR_USED_MEM_HIGH);
VALUE(CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
VALUE(CU_GRAPH_NODE_TYPE_EMPTY);
VALUE(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
VALUE(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
VALUE(CU_LIMIT_MALLOC_HEAP_SIZE);
VALUE(CU_MEMORYTYPE_UNIFIED);
VALUE(CU_STREAM_CAPTURE_STATUS_INVALIDATED);

namespace {

TEST(Abi, CallsTakeWhatTheToolkitSays) {
  // Old interfaces have no declaration in a toolkit of today.
#define KVC_CALL(SYMBOL, BASE, VERSION, NEEDS, THREADS, IMPL, ...)             \
  EXPECT_TRUE((isSameCall<decltype(::SYMBOL), ours::SYMBOL##_type>)) << #SYMBOL;
#include "kvc/Driver/Calls.def"
#undef KVC_CALL
}

} // namespace
