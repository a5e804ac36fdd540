//===- streams_test.cpp - Streams, events, graphs -------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Calls.h"

#include <atomic>
#include <thread>

using namespace kvc::test;

namespace {

class Streams : public DriverTest {
protected:
  void SetUp() override {
    DriverTest::SetUp();
    function = kernel(load(kStep), "step");
    x = allocate(4);
    EXPECT_EQ(cuMemsetD32_v2(x, 0, 1), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  }
  CUresult add(uint32_t value, CUstream s) {
    return step(function, x, value, s);
  }
  uint32_t value() { return read(x, 1)[0]; }

  CUfunction function = nullptr;
  CUdeviceptr x = 0;
};

TEST_F(Streams, KeepTheirOrder) {
  const CUstream s = stream();
  for (uint32_t i = 1; i <= 4; ++i)
    EXPECT_EQ(add(i, s), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(s), CUDA_SUCCESS);
  EXPECT_EQ(value(), 58u); // ((1 * 3 + 2) * 3 + 3) * 3 + 4
}

TEST_F(Streams, TheLegacyStreamWaitsForBlockingOnes) {
  const CUstream blocking = stream(CU_STREAM_DEFAULT);
  EXPECT_EQ(add(1, blocking), CUDA_SUCCESS);
  EXPECT_EQ(add(2, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(add(3, blocking), CUDA_SUCCESS);
  EXPECT_EQ(value(), 18u);
}

TEST_F(Streams, OnlyWhatIsAskedForRuns) {
  const CUstream one = stream(), two = stream();
  const CUdeviceptr y = allocate(4);
  EXPECT_EQ(cuMemsetD32Async(y, 9, 1, one), CUDA_SUCCESS);
  EXPECT_EQ(add(1, two), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(one), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuStreamSynchronize(one), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(one), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(value(), 1u);
}

TEST_F(Streams, WaitForEvents) {
  const CUstream one = stream(), two = stream();
  const CUevent e = event();
  EXPECT_EQ(cuEventQuery(e), CUDA_SUCCESS);
  EXPECT_EQ(add(1, one), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(e, one), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitEvent(two, e, 0), CUDA_SUCCESS);
  EXPECT_EQ(add(2, two), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(two), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(e), CUDA_SUCCESS);
  EXPECT_EQ(value(), 5u);
  // A stream that waits has something to do, even if nothing follows.
  EXPECT_EQ(add(3, one), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(e, one), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitEvent(two, e, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(two), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(e), CUDA_SUCCESS);
  EXPECT_EQ(cuEventDestroy_v2(e), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(e, one), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Streams, EventsTellTime) {
  CUevent begin = nullptr, end = nullptr;
  float time = -1;
  EXPECT_EQ(cuEventCreate(&begin, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuEventCreate(&end, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuEventElapsedTime(&time, begin, end), CUDA_ERROR_INVALID_HANDLE);
  const CUstream s = stream();
  EXPECT_EQ(cuEventRecord(begin, s), CUDA_SUCCESS);
  EXPECT_EQ(add(1, s), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(end, s), CUDA_SUCCESS);
  EXPECT_EQ(cuEventElapsedTime(&time, begin, end), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuEventSynchronize(end), CUDA_SUCCESS);
  EXPECT_EQ(cuEventElapsedTime(&time, begin, end), CUDA_SUCCESS);
  EXPECT_GT(time, 0);
  EXPECT_EQ(cuEventElapsedTime(&time, begin, event()),
            CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Streams, HostFunctionsRunByThemselves) {
  const CUstream s = stream();
  std::atomic<int> calls = 0;
  EXPECT_EQ(add(1, s), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchHostFunc(
                s,
                [](void *data) {
                  // Calls are not for host functions.
                  if (cuCtxSynchronize() == CUDA_ERROR_NOT_PERMITTED)
                    ++*static_cast<std::atomic<int> *>(data);
                },
                &calls),
            CUDA_SUCCESS);
  while (calls == 0)
    std::this_thread::yield();
  EXPECT_EQ(value(), 1u);
  EXPECT_EQ(cuStreamAddCallback(
                s,
                [](CUstream, CUresult status, void *data) {
                  *static_cast<std::atomic<int> *>(data) =
                      status == CUDA_SUCCESS ? 7 : 8;
                },
                &calls, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(s), CUDA_SUCCESS);
  EXPECT_EQ(calls, 7);
}

TEST_F(Streams, ManyOperationsAreNotHeldBack) {
  const CUstream s = stream();
  for (int i = 0; i < 3000; ++i)
    ASSERT_EQ(cuMemsetD32Async(x, unsigned(i), 1, s), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(s), CUDA_SUCCESS);
  EXPECT_EQ(value(), 2999u);
}

TEST_F(Streams, AFaultSticks) {
  const CUstream s = stream();
  std::atomic<int> calls = 0;
  EXPECT_EQ(step(function, x + 2, 1, s), CUDA_SUCCESS);
  EXPECT_EQ(add(1, s), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamAddCallback(
                s,
                [](CUstream, CUresult status, void *data) {
                  *static_cast<std::atomic<int> *>(data) = int(status);
                },
                &calls, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(s), CUDA_ERROR_MISALIGNED_ADDRESS);
  EXPECT_EQ(calls, CUDA_ERROR_MISALIGNED_ADDRESS);
  EXPECT_EQ(cuMemFree_v2(x), CUDA_ERROR_MISALIGNED_ADDRESS);
  EXPECT_EQ(cuStreamQuery(nullptr), CUDA_ERROR_MISALIGNED_ADDRESS);
  // Other contexts live.
  CUcontext other = nullptr;
  EXPECT_EQ(cuCtxCreate_v2(&other, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy_v2(other), CUDA_SUCCESS);
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

TEST_F(Streams, CapturesRecordOnly) {
  const CUstream s = stream();
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  EXPECT_EQ(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED),
            CUDA_SUCCESS);
  EXPECT_EQ(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED),
            CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_EQ(add(1, s), CUDA_SUCCESS);
  EXPECT_EQ(add(2, s), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamEndCapture(s, &graph), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamEndCapture(s, &graph), CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_EQ(value(), 0u);
  ASSERT_EQ(graph, nullptr); // The second call had none to give.
  EXPECT_EQ(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED),
            CUDA_SUCCESS);
  EXPECT_EQ(add(1, s), CUDA_SUCCESS);
  EXPECT_EQ(add(2, s), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamEndCapture(s, &graph), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(exec, s), CUDA_SUCCESS);
  EXPECT_EQ(add(0, s), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(s), CUDA_SUCCESS);
  EXPECT_EQ(value(), 15u);
  // The same shape with other numbers.
  CUgraph other = nullptr;
  EXPECT_EQ(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED),
            CUDA_SUCCESS);
  EXPECT_EQ(add(7, s), CUDA_SUCCESS);
  EXPECT_EQ(add(8, s), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamEndCapture(s, &other), CUDA_SUCCESS);
  CUgraphExecUpdateResultInfo info{};
  EXPECT_EQ(cuGraphExecUpdate_v2(exec, other, &info), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD32Async(x, 0, 1, s), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(exec, s), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(s), CUDA_SUCCESS);
  EXPECT_EQ(value(), 29u);
  CUgraph empty = nullptr;
  EXPECT_EQ(cuGraphCreate(&empty, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecUpdate_v2(exec, empty, &info),
            CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
}

TEST_F(Streams, WaitingBreaksACapture) {
  const CUstream s = stream(), plain = stream();
  CUgraph graph = nullptr;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  EXPECT_EQ(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL),
            CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(s), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(add(1, s), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(cuStreamIsCapturing(s, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
  EXPECT_EQ(cuStreamEndCapture(s, &graph),
            CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL),
            CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(cuStreamEndCapture(plain, &graph), CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_EQ(cuStreamEndCapture(s, &graph),
            CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(cuStreamBeginCapture_v2(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL),
            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(add(1, s), CUDA_SUCCESS);
}

TEST_F(Streams, GraphsByHand) {
  CUgraph graph = nullptr, child = nullptr;
  CUgraphNode first = nullptr, last = nullptr, both = nullptr, empty = nullptr;
  EXPECT_EQ(cuGraphCreate(&child, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  uint32_t two = 2;
  void *params[] = {&x, &two};
  CUDA_KERNEL_NODE_PARAMS kernelParams{};
  kernelParams.func = function;
  kernelParams.gridDimX = kernelParams.gridDimY = kernelParams.gridDimZ = 1;
  kernelParams.blockDimX = kernelParams.blockDimY = kernelParams.blockDimZ = 1;
  kernelParams.kernelParams = params;
  EXPECT_EQ(cuGraphAddKernelNode_v2(&both, child, nullptr, 0, &kernelParams),
            CUDA_SUCCESS);
  const CUDA_MEMSET_NODE_PARAMS fill{x, 0, 5, 4, 1, 1};
  EXPECT_EQ(cuGraphAddMemsetNode(&first, graph, nullptr, 0, &fill, context),
            CUDA_SUCCESS);
  EXPECT_EQ(cuGraphAddEmptyNode(&empty, graph, nullptr, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphAddChildGraphNode(&both, graph, &first, 1, child),
            CUDA_SUCCESS);
  int calls = 0;
  const CUDA_HOST_NODE_PARAMS host{
      [](void *data) { ++*static_cast<int *>(data); }, &calls};
  EXPECT_EQ(cuGraphAddHostNode(&last, graph, &both, 1, &host), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphAddHostNode(&last, child, &both, 1, &host),
            CUDA_ERROR_INVALID_VALUE);
  size_t count = 0;
  EXPECT_EQ(cuGraphGetRootNodes(graph, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 2u);
  CUgraphNodeType type{};
  EXPECT_EQ(cuGraphNodeGetType(both, &type), CUDA_SUCCESS);
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_GRAPH);

  CUgraph clone = nullptr;
  EXPECT_EQ(cuGraphClone(&clone, graph), CUDA_SUCCESS);
  CUgraphExec exec = nullptr;
  CUDA_GRAPH_INSTANTIATE_PARAMS options{};
  EXPECT_EQ(cuGraphInstantiateWithParams(&exec, clone, &options), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(value(), 17u);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(calls, 1);
  // In a circle.
  EXPECT_EQ(cuGraphAddDependencies(graph, &last, &first, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0),
            CUDA_ERROR_INVALID_VALUE);
}

} // namespace
