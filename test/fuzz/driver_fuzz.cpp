//===- driver_fuzz.cpp - Any sequence of driver calls ---------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Bytes choose calls and their arguments: handles that were made, destroyed or
// never were, addresses inside and outside of memory, sizes of all kinds. No
// call may crash or hang, whatever came before it. Some inputs are a module.
//
//===----------------------------------------------------------------------===//

#include "kvc/Driver/Api.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr char kModule[] = R"(.version 8.0
.target sm_80
.address_size 64
.visible .const .align 4 .u32 factor = 3;
.visible .global .align 4 .u32 total;
.extern .shared .align 4 .b8 memory[];
.visible .entry step(.param .u64 x, .param .u32 value) {
  .reg .b32 %r<6>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [x];
  ld.param.u32 %r1, [value];
  ld.global.u32 %r2, [%rd1];
  ld.const.u32 %r3, [factor];
  mad.lo.u32 %r4, %r2, %r3, %r1;
  st.global.u32 [%rd1], %r4;
  st.global.u32 [total], %r4;
  ret;
}
)";

/// What a run has made so far; old handles stay.
struct State {
  std::vector<CUcontext> contexts;
  std::vector<CUmodule> modules;
  std::vector<CUfunction> functions;
  std::vector<CUstream> streams;
  std::vector<CUevent> events;
  std::vector<CUgraph> graphs;
  std::vector<CUgraphNode> nodes;
  std::vector<CUgraphExec> execs;
  std::vector<CUdeviceptr> addresses;
};

class Input {
public:
  Input(const uint8_t *data, size_t size) : data(data), left(size) {}

  bool isEmpty() const { return left == 0; }
  uint8_t byte() {
    if (left == 0)
      return 0;
    --left;
    return *data++;
  }
  /// One of those, rarely something else.
  template <typename T>
  T among(const std::vector<T> &all) {
    const uint8_t choice = byte();
    if (all.empty() || choice >= 0xF8)
      return reinterpret_cast<T>(uintptr_t(choice & 3));
    return all[choice % all.size()];
  }
  CUdeviceptr address(const State &state) {
    const uint8_t choice = byte();
    if (state.addresses.empty() || choice >= 0xF8)
      return CUdeviceptr(choice & 3) << 40;
    return state.addresses[choice % state.addresses.size()] + (choice >> 5);
  }
  size_t size() {
    const uint8_t choice = byte();
    return choice < 0xF0 ? choice : SIZE_MAX >> (choice & 15) * 4;
  }

private:
  const uint8_t *data;
  size_t left;
};

template <typename T>
void keep(std::vector<T> &all, CUresult result, T made) {
  if (result == CUDA_SUCCESS)
    all.push_back(made);
}

void doNothing(void *) {}

void launch(State &state, Input &in) {
  const CUfunction function = in.among(state.functions);
  CUdeviceptr x = in.address(state);
  uint32_t value = in.byte();
  void *params[] = {&x, &value};
  uint8_t buffer[16];
  std::memcpy(buffer, &x, 8);
  std::memcpy(buffer + 8, &value, 4);
  size_t bytes = in.byte() % 17;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer,
                   CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  const uint8_t way = in.byte();
  cuLaunchKernel(function, way & 3, 1, 1, way >> 2 & 7, 1, 1, way & 1 ? 64 : 0,
                 in.among(state.streams), way & 0x20 ? params : nullptr,
                 way & 0x40 ? extra : nullptr);
}

void copy(State &state, Input &in) {
  static uint8_t host[256];
  const size_t bytes = in.size();
  const CUdeviceptr x = in.address(state), y = in.address(state);
  const CUstream stream = in.among(state.streams);
  const uint8_t way = in.byte();
  // The host's memory is the program's own business.
  const bool fits = bytes <= sizeof(host);
  switch (way % 6) {
  case 0:
    if (fits)
      cuMemcpyHtoDAsync_v2(x, host, bytes, stream);
    break;
  case 1:
    if (fits)
      cuMemcpyDtoHAsync_v2(host, x, bytes, stream);
    break;
  case 2:
    cuMemcpyDtoDAsync_v2(x, y, bytes, stream);
    break;
  case 3:
    if (fits)
      cuMemcpyDtoH_v2(host, x, bytes);
    break;
  case 4:
    cuMemsetD32Async(x, way, bytes, stream);
    break;
  default: {
    CUDA_MEMCPY3D box{};
    box.srcMemoryType = box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    box.srcDevice = x;
    box.dstDevice = y;
    box.WidthInBytes = in.byte() % 16;
    box.Height = in.byte() % 8;
    box.Depth = in.byte() % 4;
    box.srcPitch = in.size();
    box.srcHeight = in.size();
    box.srcZ = in.byte();
    box.dstPitch = in.size();
    box.dstY = in.byte();
    cuMemcpy3DAsync_v2(&box, stream);
  }
  }
}

void makeGraph(State &state, Input &in) {
  CUgraphNode node = nullptr;
  const CUgraphNode after[] = {in.among(state.nodes), in.among(state.nodes)};
  const CUgraph graph = in.among(state.graphs);
  CUresult result = CUDA_ERROR_UNKNOWN;
  switch (in.byte() % 4) {
  case 0:
    result = cuGraphAddEmptyNode(&node, graph, after, in.byte() % 3);
    break;
  case 1: {
    const CUDA_HOST_NODE_PARAMS params{doNothing, nullptr};
    result = cuGraphAddHostNode(&node, graph, after, in.byte() % 3, &params);
    break;
  }
  case 2:
    result = cuGraphAddChildGraphNode(&node, graph, after, in.byte() % 3,
                                      in.among(state.graphs));
    break;
  default:
    cuGraphAddDependencies(graph, after, after + 1, 1);
  }
  keep(state.nodes, result, node);
}

void make(State &state, Input &in) {
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUgraph graph = nullptr;
  CUdeviceptr address = 0;
  switch (in.byte() % 8) {
  case 0:
    if (state.contexts.size() < 8)
      keep(state.contexts, cuCtxCreate_v2(&context, 0, 0), context);
    break;
  case 1: {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    if (state.modules.size() < 8)
      keep(state.modules, cuModuleLoadData(&module, kModule), module);
    keep(state.functions, cuModuleGetFunction(&function, module, "step"),
         function);
    keep(state.addresses,
         cuModuleGetGlobal_v2(&address, nullptr, module, "factor"), address);
    break;
  }
  case 2:
    keep(state.streams, cuStreamCreate(&stream, in.byte() % 2), stream);
    break;
  case 3:
    keep(state.events, cuEventCreate(&event, in.byte() % 4), event);
    break;
  case 4:
    keep(state.graphs, cuGraphCreate(&graph, 0), graph);
    break;
  case 5:
    keep(state.addresses, cuMemAlloc_v2(&address, in.size() % 4096), address);
    break;
  case 6:
    keep(state.addresses,
         cuMemAllocManaged(&address, in.byte(), CU_MEM_ATTACH_GLOBAL), address);
    break;
  default:
    keep(state.addresses,
         cuMemAllocAsync(&address, in.byte(), in.among(state.streams)),
         address);
  }
}

void destroy(State &state, Input &in) {
  switch (in.byte() % 8) {
  case 0:
    cuCtxDestroy_v2(in.among(state.contexts));
    break;
  case 1:
    cuModuleUnload(in.among(state.modules));
    break;
  case 2:
    cuStreamDestroy_v2(in.among(state.streams));
    break;
  case 3:
    cuEventDestroy_v2(in.among(state.events));
    break;
  case 4:
    cuGraphDestroy(in.among(state.graphs));
    break;
  case 5:
    cuGraphExecDestroy(in.among(state.execs));
    break;
  case 6:
    cuMemFree_v2(in.address(state));
    break;
  default:
    cuMemFreeAsync(in.address(state), in.among(state.streams));
  }
}

void order(State &state, Input &in) {
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  CUgraphExecUpdateResultInfo info{};
  float time = 0;
  switch (in.byte() % 12) {
  case 0:
    cuEventRecord(in.among(state.events), in.among(state.streams));
    break;
  case 1:
    cuStreamWaitEvent(in.among(state.streams), in.among(state.events), 0);
    break;
  case 2:
    cuStreamSynchronize(in.among(state.streams));
    break;
  case 3:
    cuEventSynchronize(in.among(state.events));
    break;
  case 4:
    cuStreamQuery(in.among(state.streams));
    break;
  case 5:
    cuStreamBeginCapture_v2(in.among(state.streams),
                            static_cast<CUstreamCaptureMode>(in.byte() % 3));
    break;
  case 6:
    keep(state.graphs, cuStreamEndCapture(in.among(state.streams), &graph),
         graph);
    break;
  case 7:
    keep(state.execs,
         cuGraphInstantiateWithFlags(&exec, in.among(state.graphs), 0), exec);
    break;
  case 8:
    cuGraphLaunch(in.among(state.execs), in.among(state.streams));
    break;
  case 9:
    cuGraphExecUpdate_v2(in.among(state.execs), in.among(state.graphs), &info);
    break;
  case 10:
    cuLaunchHostFunc(in.among(state.streams), doNothing, nullptr);
    break;
  default:
    cuEventElapsedTime(&time, in.among(state.events), in.among(state.events));
  }
}

void ask(State &state, Input &in) {
  unsigned long long value[2] = {0, 0};
  const CUdeviceptr address = in.address(state);
  switch (in.byte() % 5) {
  case 0:
    cuPointerGetAttribute(
        value, static_cast<CUpointer_attribute>(in.byte() % 22), address);
    break;
  case 1:
    cuMemGetAddressRange_v2(value, nullptr, address);
    break;
  case 2:
    cuCtxSetCurrent(in.among(state.contexts));
    break;
  case 3:
    cuCtxSynchronize();
    break;
  default:
    cuFuncGetAttribute(reinterpret_cast<int *>(value),
                       static_cast<CUfunction_attribute>(in.byte() % 16),
                       in.among(state.functions));
  }
}

/// The rest of the input as a module, with a log of a few bytes.
void loadText(const uint8_t *data, size_t size) {
  const std::string text(reinterpret_cast<const char *>(data), size);
  char log[40];
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
  CUmodule module = nullptr;
  if (cuModuleLoadDataEx(&module, text.c_str(), 2, options, values) ==
      CUDA_SUCCESS)
    cuModuleUnload(module);
}

} // namespace

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  // Kernels do not run for ever; what is wrong is told to nobody.
  setenv("KVC_SIM_LIMIT", "10000", 1);
  setenv("KVC_SIM_MEMORY", "64M", 1);
  setenv("KVC_SIM_CHECK", "1", 1);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (cuInit(0) != CUDA_SUCCESS)
    std::abort();
  State state;
  CUcontext context = nullptr;
  keep(state.contexts, cuCtxCreate_v2(&context, 0, 0), context);
  Input in(data, size);
  if (in.byte() == 0xFF) {
    loadText(data + 1, size - 1);
  } else {
    for (int calls = 0; calls < 200 && !in.isEmpty(); ++calls)
      switch (in.byte() % 8) {
      case 0:
      case 1:
        make(state, in);
        break;
      case 2:
        launch(state, in);
        break;
      case 3:
        copy(state, in);
        break;
      case 4:
        destroy(state, in);
        break;
      case 5:
        makeGraph(state, in);
        break;
      case 6:
        ask(state, in);
        break;
      default:
        order(state, in);
      }
  }
  for (CUcontext each : state.contexts)
    cuCtxDestroy_v2(each);
  while (cuCtxPopCurrent_v2(&context) == CUDA_SUCCESS) {
  }
  for (CUgraph each : state.graphs)
    cuGraphDestroy(each);
  for (CUgraphExec each : state.execs)
    cuGraphExecDestroy(each);
  for (CUevent each : state.events)
    cuEventDestroy_v2(each);
  return 0;
}
