/*===- program.c - A program of the CUDA driver API -----------------------===*\
|*
|* Part of kvc.
|*
|*===----------------------------------------------------------------------===*|
|*
|* What programs do with the driver, in C and without a CUDA toolkit:
|*
|*   program linked|dlsym|procaddress SCENARIO
|*
|* takes every call from the library that it is linked with, from dlopen, or
|* from cuGetProcAddress. Says "ok" and exits with 0 where all is as it should.
|*
\*===----------------------------------------------------------------------===*/

#include "kvc/Driver/Api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A pointer to every call. */
static struct {
#define KVC_CALL(SYMBOL, BASE, VERSION, NEEDS, THREADS, IMPL, ...)             \
  CUresult (*SYMBOL)(KVC_PARAMS(__VA_ARGS__));
#include "kvc/Driver/Calls.def"
#undef KVC_CALL
} cu;

#define CHECK(CONDITION)                                                       \
  do {                                                                         \
    if (!(CONDITION)) {                                                        \
      fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__, #CONDITION); \
      exit(3);                                                                 \
    }                                                                          \
  } while (0)
#define OK(CALL)                                                               \
  do {                                                                         \
    const CUresult result_ = (CALL);                                           \
    if (result_ != CUDA_SUCCESS) {                                             \
      fprintf(stderr, "%s:%d: %s: got %d\n", __FILE__, __LINE__, #CALL,        \
              (int)result_);                                                   \
      exit(3);                                                                 \
    }                                                                          \
  } while (0)

static const char *const kernels =
    ".version 8.0\n"
    ".target sm_80\n"
    ".address_size 64\n"
    ".visible .const .align 4 .f32 factor = 0f40000000;\n"
    ".visible .global .align 4 .u32 launches;\n"
    "// c[i] = a[i] + b[i] for i < n\n"
    ".visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c,\n"
    "                    .param .u32 n) {\n"
    "  .reg .pred %p;\n"
    "  .reg .b32 %r<6>;\n"
    "  .reg .b64 %rd<8>;\n"
    "  .reg .f32 %f<4>;\n"
    "  ld.param.u64 %rd1, [a];\n"
    "  ld.param.u64 %rd2, [b];\n"
    "  ld.param.u64 %rd3, [c];\n"
    "  ld.param.u32 %r1, [n];\n"
    "  mov.u32 %r2, %ctaid.x;\n"
    "  mov.u32 %r3, %ntid.x;\n"
    "  mov.u32 %r4, %tid.x;\n"
    "  mad.lo.s32 %r5, %r2, %r3, %r4;\n"
    "  setp.ge.u32 %p, %r5, %r1;\n"
    "  @%p ret;\n"
    "  mul.wide.u32 %rd4, %r5, 4;\n"
    "  add.s64 %rd5, %rd1, %rd4;\n"
    "  add.s64 %rd6, %rd2, %rd4;\n"
    "  add.s64 %rd7, %rd3, %rd4;\n"
    "  ld.global.f32 %f1, [%rd5];\n"
    "  ld.global.f32 %f2, [%rd6];\n"
    "  add.f32 %f3, %f1, %f2;\n"
    "  st.global.f32 [%rd7], %f3;\n"
    "  ret;\n"
    "}\n"
    "// x[i] *= factor; thread 0 counts the launch\n"
    ".visible .entry scale(.param .u64 x) {\n"
    "  .reg .pred %p;\n"
    "  .reg .b32 %r<4>;\n"
    "  .reg .b64 %rd<4>;\n"
    "  .reg .f32 %f<4>;\n"
    "  ld.param.u64 %rd1, [x];\n"
    "  mov.u32 %r1, %tid.x;\n"
    "  mul.wide.u32 %rd2, %r1, 4;\n"
    "  add.s64 %rd3, %rd1, %rd2;\n"
    "  ld.global.f32 %f1, [%rd3];\n"
    "  ld.const.f32 %f2, [factor];\n"
    "  mul.f32 %f3, %f1, %f2;\n"
    "  st.global.f32 [%rd3], %f3;\n"
    "  setp.ne.u32 %p, %r1, 0;\n"
    "  @%p ret;\n"
    "  ld.global.u32 %r2, [launches];\n"
    "  add.u32 %r3, %r2, 1;\n"
    "  st.global.u32 [launches], %r3;\n"
    "  ret;\n"
    "}\n"
    "// every thread writes its number to x[0]\n"
    ".visible .entry race(.param .u64 x) {\n"
    "  .reg .b32 %r<2>;\n"
    "  .reg .b64 %rd<2>;\n"
    "  ld.param.u64 %rd1, [x];\n"
    "  mov.u32 %r1, %tid.x;\n"
    "  st.global.u32 [%rd1], %r1;\n"
    "  ret;\n"
    "}\n";

enum { kCount = 100, kBytes = kCount * sizeof(float) };

static CUcontext begin(void) {
  CUdevice device = -1;
  CUcontext context = NULL;
  int count = 0;
  OK(cu.cuInit(0));
  OK(cu.cuDeviceGetCount(&count));
  CHECK(count == 1);
  OK(cu.cuDeviceGet(&device, 0));
  OK(cu.cuCtxCreate_v2(&context, 0, device));
  return context;
}

static CUfunction kernelNamed(CUmodule module, const char *name) {
  CUfunction function = NULL;
  OK(cu.cuModuleGetFunction(&function, module, name));
  return function;
}

static CUmodule load(void) {
  CUmodule module = NULL;
  OK(cu.cuModuleLoadData(&module, kernels));
  return module;
}

static CUdeviceptr allocate(size_t bytes) {
  CUdeviceptr made = 0;
  OK(cu.cuMemAlloc_v2(&made, bytes));
  return made;
}

static CUresult launchScale(CUfunction scale, CUdeviceptr x, CUstream stream) {
  void *params[] = {&x};
  return cu.cuLaunchKernel(scale, 1, 1, 1, kCount, 1, 1, 0, stream, params,
                           NULL);
}

/* Parameters one by one, in one buffer, and with a configuration. */
static void add(void) {
  const CUcontext context = begin();
  const CUmodule module = load();
  const CUfunction function = kernelNamed(module, "add");
  float a[kCount], b[kCount], c[kCount];
  for (int i = 0; i < kCount; ++i) {
    a[i] = (float)i;
    b[i] = (float)(1000 * i);
  }
  struct {
    CUdeviceptr a, b, c;
    unsigned n;
  } args = {allocate(kBytes), allocate(kBytes), allocate(kBytes), kCount};
  OK(cu.cuMemcpyHtoD_v2(args.a, a, kBytes));
  OK(cu.cuMemcpyHtoD_v2(args.b, b, kBytes));
  void *params[] = {&args.a, &args.b, &args.c, &args.n};
  size_t size = sizeof(args);
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &args,
                   CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  const CUlaunchConfig config = {4, 1, 1, 32, 1, 1, 0, NULL, NULL, 0};
  for (int way = 0; way < 3; ++way) {
    OK(cu.cuMemsetD8_v2(args.c, 0, kBytes));
    if (way == 0)
      OK(cu.cuLaunchKernel(function, 4, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    else if (way == 1)
      OK(cu.cuLaunchKernel(function, 4, 1, 1, 32, 1, 1, 0, NULL, NULL, extra));
    else
      OK(cu.cuLaunchKernelEx(&config, function, params, NULL));
    OK(cu.cuMemcpyDtoH_v2(c, args.c, kBytes));
    for (int i = 0; i < kCount; ++i)
      CHECK(c[i] == (float)(1001 * i));
  }
  OK(cu.cuMemFree_v2(args.a));
  CHECK(cu.cuMemFree_v2(args.a) == CUDA_ERROR_INVALID_VALUE);
  OK(cu.cuModuleUnload(module));
  CHECK(cu.cuModuleUnload(module) == CUDA_ERROR_INVALID_HANDLE);
  OK(cu.cuCtxDestroy_v2(context));
  CHECK(cu.cuCtxSynchronize() == CUDA_ERROR_INVALID_CONTEXT);
}

static void countCall(void *data) { ++*(int *)data; }

/* Two streams that meet in an event, variables of a module, a host function. */
static void pipeline(void) {
  begin();
  const CUmodule module = load();
  const CUfunction scale = kernelNamed(module, "scale");
  CUstream first = NULL, second = NULL;
  CUevent start = NULL, half = NULL, end = NULL;
  OK(cu.cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
  OK(cu.cuStreamCreateWithPriority(&second, CU_STREAM_NON_BLOCKING, -1));
  OK(cu.cuEventCreate(&start, CU_EVENT_DEFAULT));
  OK(cu.cuEventCreate(&half, CU_EVENT_DISABLE_TIMING));
  OK(cu.cuEventCreate(&end, CU_EVENT_DEFAULT));

  float *pinned = NULL;
  OK(cu.cuMemHostAlloc((void **)&pinned, kBytes, CU_MEMHOSTALLOC_DEVICEMAP));
  for (int i = 0; i < kCount; ++i)
    pinned[i] = (float)i;
  CUdeviceptr x = 0, factor = 0, launches = 0;
  size_t factorBytes = 0;
  OK(cu.cuMemAllocAsync(&x, kBytes, first));
  OK(cu.cuModuleGetGlobal_v2(&factor, &factorBytes, module, "factor"));
  OK(cu.cuModuleGetGlobal_v2(&launches, NULL, module, "launches"));
  CHECK(factorBytes == sizeof(float));
  const float three = 3;
  OK(cu.cuMemcpyHtoD_v2(factor, &three, sizeof(three)));

  int calls = 0;
  OK(cu.cuEventRecord(start, first));
  OK(cu.cuMemcpyHtoDAsync_v2(x, pinned, kBytes, first));
  OK(launchScale(scale, x, first));
  OK(cu.cuEventRecord(half, first));
  OK(cu.cuStreamWaitEvent(second, half, 0));
  OK(launchScale(scale, x, second));
  OK(cu.cuMemcpyDtoHAsync_v2(pinned, x, kBytes, second));
  OK(cu.cuLaunchHostFunc(second, countCall, &calls));
  OK(cu.cuEventRecord(end, second));
  OK(cu.cuEventSynchronize(end));
  CHECK(calls == 1);
  for (int i = 0; i < kCount; ++i)
    CHECK(pinned[i] == (float)(9 * i));
  float milliseconds = -1;
  OK(cu.cuEventElapsedTime(&milliseconds, start, end));
  CHECK(milliseconds >= 0);
  unsigned count = 0;
  OK(cu.cuMemcpyDtoH_v2(&count, launches, sizeof(count)));
  CHECK(count == 2);
  OK(cu.cuMemFreeAsync(x, second));
  OK(cu.cuStreamSynchronize(second));
  OK(cu.cuStreamDestroy_v2(first));
  OK(cu.cuStreamDestroy_v2(second));
  OK(cu.cuEventDestroy_v2(start));
}

/* A capture that forks and joins, launched twice. */
static void graph(void) {
  begin();
  const CUmodule module = load();
  const CUfunction scale = kernelNamed(module, "scale");
  const CUdeviceptr x = allocate(kBytes), y = allocate(kBytes);
  CUstream stream = NULL, other = NULL;
  CUevent fork = NULL, join = NULL;
  OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  OK(cu.cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  OK(cu.cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
  OK(cu.cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
  OK(cu.cuMemsetD32_v2(x, 0x3F800000, kCount));
  OK(cu.cuMemsetD32_v2(y, 0x40A00000, kCount));
  OK(cu.cuCtxSynchronize());

  CUgraph made = NULL;
  CUgraphExec exec = NULL;
  OK(cu.cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  OK(cu.cuEventRecord(fork, stream));
  OK(cu.cuStreamWaitEvent(other, fork, 0));
  OK(launchScale(scale, x, stream));
  OK(launchScale(scale, y, other));
  OK(cu.cuEventRecord(join, other));
  OK(cu.cuStreamWaitEvent(stream, join, 0));
  OK(launchScale(scale, x, stream));
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  OK(cu.cuStreamIsCapturing(other, &status));
  CHECK(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
  OK(cu.cuStreamEndCapture(stream, &made));
  size_t nodes = 0;
  OK(cu.cuGraphGetNodes(made, NULL, &nodes));
  CHECK(nodes == 3);
  OK(cu.cuGraphInstantiateWithFlags(&exec, made, 0));
  OK(cu.cuGraphDestroy(made));
  float value = 0;
  OK(cu.cuMemcpyDtoH_v2(&value, x, sizeof(value)));
  CHECK(value == 1);
  OK(cu.cuGraphLaunch(exec, stream));
  OK(cu.cuGraphLaunch(exec, stream));
  OK(cu.cuStreamSynchronize(stream));
  OK(cu.cuMemcpyDtoH_v2(&value, x, sizeof(value)));
  CHECK(value == 16);
  OK(cu.cuMemcpyDtoH_v2(&value, y, sizeof(value)));
  CHECK(value == 20);
  OK(cu.cuGraphExecDestroy(exec));

  /* A stream that was not joined. */
  OK(cu.cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  OK(cu.cuEventRecord(fork, stream));
  OK(cu.cuStreamWaitEvent(other, fork, 0));
  OK(launchScale(scale, y, other));
  CHECK(cu.cuStreamEndCapture(stream, &made) ==
        CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
}

/* PTX that does not compile, with the log that says why. */
static void log_(void) {
  begin();
  static const char *const bad = ".version 8.0\n.target sm_80\n"
                                 ".address_size 64\n"
                                 ".visible .entry k() {\n"
                                 "  nonsense.u32 %r1, 1;\n  ret;\n}\n";
  char errors[256] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {errors, (void *)sizeof(errors)};
  CUmodule module = NULL;
  CHECK(cu.cuModuleLoadDataEx(&module, bad, 2, options, values) ==
        CUDA_ERROR_INVALID_PTX);
  CHECK(strstr(errors, "5:3") != NULL);
  CHECK((size_t)values[1] == strlen(errors));
  CHECK(cu.cuModuleLoadData(&module, "\177ELF") ==
        CUDA_ERROR_NO_BINARY_FOR_GPU);
  CHECK(cu.cuModuleLoad(&module, "/nonexistent.ptx") ==
        CUDA_ERROR_FILE_NOT_FOUND);
  const char *name = NULL, *text = NULL;
  OK(cu.cuGetErrorName(CUDA_ERROR_INVALID_PTX, &name));
  CHECK(strcmp(name, "CUDA_ERROR_INVALID_PTX") == 0);
  OK(cu.cuGetErrorString(CUDA_ERROR_INVALID_PTX, &text));
  CHECK(text != NULL && *text != 0);
  CHECK(cu.cuGetErrorName((CUresult)12345, &name) == CUDA_ERROR_INVALID_VALUE);
}

/* An access beyond the end: the context does not work any more. */
static void fault(void) {
  const CUcontext context = begin();
  const CUmodule module = load();
  const CUfunction scale = kernelNamed(module, "scale");
  const CUdeviceptr x = allocate(kBytes / 2);
  OK(cu.cuMemsetD8_v2(x, 0, kBytes / 2));
  OK(launchScale(scale, x, NULL));
  CHECK(cu.cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
  CUdeviceptr more = 0;
  CHECK(cu.cuMemAlloc_v2(&more, 4) == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(launchScale(scale, x, NULL) == CUDA_ERROR_ILLEGAL_ADDRESS);
  OK(cu.cuCtxDestroy_v2(context));
  begin();
  allocate(4);
}

/* Wrong on purpose: threads that race, memory that was never set. */
static void race(void) {
  begin();
  const CUmodule module = load();
  CUdeviceptr x = allocate(4);
  void *params[] = {&x};
  OK(cu.cuLaunchKernel(kernelNamed(module, "race"), 1, 1, 1, 64, 1, 1, 0, NULL,
                       params, NULL));
  OK(cu.cuCtxSynchronize());
}

/* Wrong on purpose: a result is read that nobody waited for. */
static void forget(void) {
  begin();
  const CUmodule module = load();
  const CUfunction scale = kernelNamed(module, "scale");
  float *x = NULL;
  CUstream stream = NULL;
  OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  OK(cu.cuMemHostAlloc((void **)&x, kBytes, CU_MEMHOSTALLOC_DEVICEMAP));
  CUdeviceptr device = 0;
  OK(cu.cuMemHostGetDevicePointer_v2(&device, x, 0));
  x[0] = 1;
  OK(launchScale(scale, device, stream));
  CHECK(x[0] == 1);
  OK(cu.cuStreamSynchronize(stream));
  CHECK(x[0] == 2);
  OK(launchScale(scale, device, stream));
}

/* Calls that there are not. */
static void missing(void) {
  begin();
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  CHECK(library != NULL);
  CUresult (*create)(void) = NULL;
  *(void **)&create = dlsym(library, "cuArrayCreate_v2");
  CHECK(create != NULL);
  CHECK(create() == CUDA_ERROR_NOT_SUPPORTED);
  CHECK(create() == CUDA_ERROR_NOT_SUPPORTED);
  const void *table = NULL;
  const CUuuid id = {{1}};
  CHECK(cu.cuGetExportTable(&table, &id) == CUDA_ERROR_NOT_SUPPORTED);
}

typedef struct {
  const char *name;
  void (*run)(void);
} Scenario;

static const Scenario scenarios[] = {{"add", add},       {"pipeline", pipeline},
                                     {"graph", graph},   {"log", log_},
                                     {"fault", fault},   {"race", race},
                                     {"forget", forget}, {"missing", missing}};

/* Fills `cu` from dlopen, in one of two ways. */
static void take(int byName) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    exit(3);
  }
  CUresult (*get)(const char *, void **, int, cuuint64_t,
                  CUdriverProcAddressQueryResult *) = NULL;
  *(void **)&get = dlsym(library, "cuGetProcAddress_v2");
  CHECK(get != NULL);
#define KVC_CALL(SYMBOL, BASE, VERSION, NEEDS, THREADS, IMPL, ...)             \
  *(void **)&cu.SYMBOL = dlsym(library, #SYMBOL);                              \
  CHECK(cu.SYMBOL != NULL);                                                    \
  if (byName) {                                                                \
    void *found = NULL;                                                        \
    CUdriverProcAddressQueryResult status =                                    \
        CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;                                  \
    OK(get(#BASE, &found, VERSION, CU_GET_PROC_ADDRESS_DEFAULT, &status));     \
    CHECK(status == CU_GET_PROC_ADDRESS_SUCCESS);                              \
    CHECK(found == *(void **)&cu.SYMBOL);                                      \
  }
#include "kvc/Driver/Calls.def"
#undef KVC_CALL
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: program linked|dlsym|procaddress SCENARIO\n");
    return 2;
  }
  if (strcmp(argv[1], "linked") != 0) {
    take(strcmp(argv[1], "procaddress") == 0);
  } else {
#ifdef KVC_LINKED
#define KVC_CALL(SYMBOL, BASE, VERSION, NEEDS, THREADS, IMPL, ...)             \
  cu.SYMBOL = SYMBOL;
#include "kvc/Driver/Calls.def"
#undef KVC_CALL
#else
    fprintf(stderr, "linked: not this one\n");
    return 2;
#endif
  }
  for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); ++i)
    if (strcmp(argv[2], scenarios[i].name) == 0) {
      scenarios[i].run();
      printf("ok\n");
      return 0;
    }
  fprintf(stderr, "%s: no such scenario\n", argv[2]);
  return 2;
}
