//===- device_test.cpp - Devices with memory of their own -----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Devices.h"
#include "FakeModule.h"

#include "kvc/Devices/Memory.h"

using namespace kvc;
using namespace kvc::test;
using ::testing::TestWithParam;
using ::testing::Values;

namespace {

/// data[i] += by[0], n elements; by one thread per element.
constexpr char kAdd[] = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 data, .param .u64 by, .param .u32 n) {
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [data];
  ld.param.u64 %rd2, [by];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p, %r5, %r1;
  @%p bra done;
  mul.wide.u32 %rd3, %r5, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.u32 %r6, [%rd4];
  ld.global.u32 %r7, [%rd2];
  add.u32 %r6, %r6, %r7;
  st.global.u32 [%rd4], %r6;
done:
  ret;
}
)";

struct AddParams {
  void *data;
  const void *by;
  uint32_t count;
};

class OwnDevices : public TestWithParam<const char *> {
protected:
  OwnDevice device{GetParam()};
  Message message;

  void *loadAdd() {
    EXPECT_EQ(device->module_load(device.self(), kAdd, sizeof(kAdd),
                                  message.get(), &module),
              KVC_OK)
        << message.text;
    void *function = nullptr;
    EXPECT_EQ(device->module_function(device.self(), module, "add",
                                      message.get(), &function),
              KVC_OK)
        << message.text;
    return function;
  }
  kvc_status launch(void *stream, void *function, const AddParams &params) {
    const kvc_grid grid = {function, (params.count + 31) / 32,      32, 0,
                           &params,  offsetof(AddParams, count) + 4};
    return device->launch_grid(device.self(), stream, &grid, message.get());
  }
  void TearDown() override {
    // A context does not outlive a fault.
    if (module)
      EXPECT_EQ(device->module_unload(device.self(), module) == KVC_OK,
                !hasFault || GetParam() != std::string("cuda"));
    EXPECT_EQ(device.findings, std::vector<std::string>());
  }

  void *module = nullptr;
  bool hasFault = false;
};

TEST_P(OwnDevices, SayWhatTheyAre) {
  kvc_device_info info = {};
  info.struct_size = sizeof(info);
  ASSERT_EQ(device->get_info(device.self(), message.get(), &info), KVC_OK);
  EXPECT_NE(std::string(info.name).find("H100"), std::string::npos);
  EXPECT_EQ(info.capability, 90);
  EXPECT_EQ(info.multiprocessors, 132);
  EXPECT_GT(info.memory_bytes, 0);
  const kvc_device *resolved = nullptr;
  EXPECT_EQ(resolveDevice(device.get(), message.get(), resolved), KVC_OK);
  EXPECT_TRUE(hasOwnMemory(*resolved));
  kvc_device lacking = *device.get();
  lacking.graph_launch = nullptr;
  EXPECT_EQ(resolveDevice(&lacking, message.get(), resolved),
            KVC_INVALID_ARGUMENT);
}

TEST_P(OwnDevices, CopyAndFill) {
  std::vector<int32_t> numbers(1000);
  for (int32_t i = 0; i < 1000; ++i)
    numbers[size_t(i)] = i;
  void *first = device.put(numbers), *second = device.allocate(4000);
  EXPECT_EQ(device->copy(device.self(), second, first, 4000, message.get()),
            KVC_OK);
  EXPECT_EQ(device.read<int32_t>(second, 1000), numbers);
  EXPECT_EQ(device->fill(device.self(), first, 0x1FF, 40, message.get()),
            KVC_OK);
  std::fill_n(numbers.begin(), 10, -1);
  EXPECT_EQ(device.read<int32_t>(first, 1000), numbers);
}

TEST_P(OwnDevices, RunInTheOrderOfStreamsAndEvents) {
  void *function = loadAdd();
  void *data = device.put(std::vector<int32_t>(100, 1));
  void *by = device.put(std::vector<int32_t>{5});
  void *streams[2], *event, *pinned;
  for (void *&stream : streams)
    ASSERT_EQ(device->stream_create(device.self(), nullptr, &stream), KVC_OK);
  ASSERT_EQ(device->event_create(device.self(), nullptr, &event), KVC_OK);
  ASSERT_EQ(device->allocate_host(device.self(), 400, nullptr, &pinned),
            KVC_OK);
  int32_t isDone = 0;
  EXPECT_EQ(device->event_query(device.self(), event, nullptr, &isDone),
            KVC_OK);
  EXPECT_EQ(isDone, 1);
  // 1 + 5, then filled with 2, then + 5, by turns on two streams.
  ASSERT_EQ(launch(streams[0], function, {data, by, 100}), KVC_OK);
  ASSERT_EQ(device->event_record(device.self(), event, streams[0], nullptr),
            KVC_OK);
  ASSERT_EQ(device->event_wait(device.self(), event, streams[1], nullptr),
            KVC_OK);
  ASSERT_EQ(
      device->fill_async(device.self(), streams[1], data, 2, 200, nullptr),
      KVC_OK);
  ASSERT_EQ(launch(streams[1], function, {data, by, 100}), KVC_OK);
  ASSERT_EQ(device->copy_async(device.self(), streams[1], KVC_COPY_FROM_DEVICE,
                               pinned, data, 400, nullptr),
            KVC_OK);
  ASSERT_EQ(device->event_record(device.self(), event, streams[1], nullptr),
            KVC_OK);
  ASSERT_EQ(device->event_synchronize(device.self(), event, nullptr), KVC_OK);
  EXPECT_EQ(device->event_query(device.self(), event, nullptr, &isDone),
            KVC_OK);
  EXPECT_EQ(isDone, 1);
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(static_cast<int32_t *>(pinned)[i], i < 50 ? 0x02020207 : 11) << i;
  for (void *stream : streams) {
    EXPECT_EQ(device->stream_synchronize(device.self(), stream, nullptr),
              KVC_OK);
    EXPECT_EQ(device->stream_destroy(device.self(), stream), KVC_OK);
  }
  EXPECT_EQ(device->event_destroy(device.self(), event), KVC_OK);
  EXPECT_EQ(device->release_host(device.self(), pinned), KVC_OK);
}

TEST_P(OwnDevices, TellTheTimeBetweenEvents) {
  void *events[3], *stream;
  for (void *&event : events)
    ASSERT_EQ(device->timed_event_create(device.self(), message.get(), &event),
              KVC_OK)
        << message.text;
  ASSERT_EQ(device->stream_create(device.self(), nullptr, &stream), KVC_OK);
  double elapsed = -1;
  EXPECT_NE(device->event_elapsed(device.self(), events[0], events[1],
                                  message.get(), &elapsed),
            KVC_OK);
  void *data = device.allocate(1 << 20);
  for (void *event : events) {
    ASSERT_EQ(device->fill_async(device.self(), stream, data, 1, 1 << 20,
                                 message.get()),
              KVC_OK);
    ASSERT_EQ(device->event_record(device.self(), event, stream, message.get()),
              KVC_OK);
  }
  ASSERT_EQ(device->event_synchronize(device.self(), events[2], message.get()),
            KVC_OK);
  double parts[2], whole = 0;
  for (int i : {0, 1})
    ASSERT_EQ(device->event_elapsed(device.self(), events[i], events[i + 1],
                                    message.get(), &parts[i]),
              KVC_OK)
        << message.text;
  ASSERT_EQ(device->event_elapsed(device.self(), events[0], events[2],
                                  message.get(), &whole),
            KVC_OK);
  EXPECT_GT(parts[0], 0);
  EXPECT_GT(parts[1], 0);
  EXPECT_NEAR(whole, parts[0] + parts[1], 1e-3 * (1 + whole));
  for (void *event : events)
    EXPECT_EQ(device->event_destroy(device.self(), event), KVC_OK);
  EXPECT_EQ(device->stream_destroy(device.self(), stream), KVC_OK);
}

TEST_P(OwnDevices, ReplayWithWhatMemoryHoldsThen) {
  void *function = loadAdd();
  void *data = device.put(std::vector<int32_t>(10, 0));
  void *by = device.put(std::vector<int32_t>{1});
  void *stream, *graph;
  ASSERT_EQ(device->stream_create(device.self(), nullptr, &stream), KVC_OK);
  ASSERT_EQ(device->capture_begin(device.self(), stream, message.get()),
            KVC_OK);
  ASSERT_EQ(launch(stream, function, {data, by, 10}), KVC_OK);
  ASSERT_EQ(launch(stream, function, {data, by, 5}), KVC_OK);
  ASSERT_EQ(device->capture_end(device.self(), stream, message.get(), &graph),
            KVC_OK);
  EXPECT_EQ(device.read<int32_t>(data, 10), std::vector<int32_t>(10, 0));
  for (int32_t step : {1, 100}) {
    device.write(by, std::vector<int32_t>{step});
    ASSERT_EQ(device->graph_launch(device.self(), graph, stream, message.get()),
              KVC_OK);
    ASSERT_EQ(device->stream_synchronize(device.self(), stream, message.get()),
              KVC_OK);
  }
  EXPECT_EQ(
      device.read<int32_t>(data, 10),
      (std::vector<int32_t>{202, 202, 202, 202, 202, 101, 101, 101, 101, 101}));
  EXPECT_EQ(device->graph_destroy(device.self(), graph), KVC_OK);
  EXPECT_EQ(device->stream_destroy(device.self(), stream), KVC_OK);
}

TEST_P(OwnDevices, RefuseModulesThatTheyCannotRun) {
  void *loaded = nullptr, *function = nullptr;
  const std::string wrong = ".version 7.0\n.target sm_80\n.entry f() { what; }";
  EXPECT_NE(
      device->module_load(device.self(), "no PTX", 7, message.get(), &loaded),
      KVC_OK);
  EXPECT_NE(std::string(message.text).find("expected"), std::string::npos)
      << message.text;
  kvc_status status =
      device->module_load(device.self(), wrong.c_str(),
                          int64_t(wrong.size() + 1), message.get(), &loaded);
  // The simulator tells of an instruction when a function is asked for.
  if (status == KVC_OK) {
    EXPECT_NE(device->module_function(device.self(), loaded, "f", message.get(),
                                      &function),
              KVC_OK);
    EXPECT_EQ(device->module_unload(device.self(), loaded), KVC_OK);
  }
  loadAdd();
  EXPECT_EQ(device->module_function(device.self(), module, "sub", message.get(),
                                    &function),
            KVC_INVALID_DATA);
}

TEST_P(OwnDevices, TellHowManyBlocksFit) {
  void *function = loadAdd();
  int32_t few = 0, many = 0;
  EXPECT_EQ(device->occupancy(device.self(), function, 32, 64 << 10,
                              message.get(), &few),
            KVC_OK);
  EXPECT_EQ(
      device->occupancy(device.self(), function, 32, 0, message.get(), &many),
      KVC_OK);
  EXPECT_EQ(few, 3);
  EXPECT_EQ(many, 32);
}

TEST_P(OwnDevices, TellOfFaults) {
  void *function = loadAdd();
  void *data = device.put(std::vector<int32_t>(10, 0));
  void *stream;
  ASSERT_EQ(device->stream_create(device.self(), nullptr, &stream), KVC_OK);
  kvc_status status = launch(stream, function, {data, data, 11});
  if (status == KVC_OK)
    status = device->stream_synchronize(device.self(), stream, message.get());
  EXPECT_EQ(status, KVC_FAILED);
  EXPECT_NE(std::string(message.text), "");
  hasFault = true;
  device->stream_destroy(device.self(), stream);
}

INSTANTIATE_TEST_SUITE_P(Device, OwnDevices, Values("sim", "checked", "cuda"));

TEST(SimDevice, ChecksBounds) {
  OwnDevice device("sim");
  Message message;
  void *data = device.allocate(64);
  EXPECT_EQ(device->fill(device.self(), data, 0, 65, message.get()),
            KVC_INVALID_ARGUMENT);
  EXPECT_NE(std::string(message.text).find("beyond the end"), std::string::npos)
      << message.text;
  char host[65] = {};
  for (kvc_copy_kind kind : {KVC_COPY_TO_DEVICE, KVC_COPY_FROM_DEVICE}) {
    const bool isTo = kind == KVC_COPY_TO_DEVICE;
    EXPECT_EQ(device->copy_async(device.self(), nullptr, kind,
                                 isTo ? data : host, isTo ? host : data, 65,
                                 message.get()),
              KVC_INVALID_ARGUMENT);
  }
}

TEST(SimDevice, ReportsWhatTheCheckerFinds) {
  OwnDevice device("checked");
  Message message;
  void *module = nullptr, *function = nullptr;
  ASSERT_EQ(device->module_load(device.self(), kAdd, sizeof(kAdd),
                                message.get(), &module),
            KVC_OK);
  ASSERT_EQ(device->module_function(device.self(), module, "add", message.get(),
                                    &function),
            KVC_OK);
  // data[0] is read by all and written by one.
  void *data = device.put(std::vector<int32_t>(64, 1));
  const AddParams params = {data, data, 64};
  const kvc_grid grid = {function, 2, 32, 0, &params, 20};
  EXPECT_EQ(device->launch_grid(device.self(), nullptr, &grid, message.get()),
            KVC_OK);
  ASSERT_FALSE(device.findings.empty());
  for (const std::string &finding : device.findings)
    EXPECT_EQ(finding.rfind("add: race: ", 0), 0u) << finding;
  EXPECT_EQ(device->module_unload(device.self(), module), KVC_OK);
}

TEST(SimDevice, TellsWhatLaunchesCount) {
  for (const uint32_t flags : {uint32_t(0), uint32_t(KVC_SIM_CHECK)}) {
    std::vector<std::pair<std::string, kvc_sim_counts>> launches;
    kvc_sim_options options = {};
    options.struct_size = sizeof(options);
    options.flags = flags;
    options.user = &launches;
    options.count = [](void *user, const kvc_sim_counts *counts) {
      static_cast<decltype(launches) *>(user)->emplace_back(counts->kernel,
                                                            *counts);
    };
    Message message;
    kvc_device *device = nullptr;
    ASSERT_EQ(kvc_sim_device_create(&options, message.get(), &device), KVC_OK);
    void *self = device->self, *module = nullptr, *function = nullptr,
         *data = nullptr, *by = nullptr;
    ASSERT_EQ(device->module_load(self, kAdd, sizeof(kAdd), nullptr, &module),
              KVC_OK);
    ASSERT_EQ(device->module_function(self, module, "add", nullptr, &function),
              KVC_OK);
    ASSERT_EQ(device->allocate(self, 256, nullptr, &data), KVC_OK);
    ASSERT_EQ(device->allocate(self, 32, nullptr, &by), KVC_OK);
    ASSERT_EQ(device->fill(self, data, 0, 256, nullptr), KVC_OK);
    ASSERT_EQ(device->fill(self, by, 0, 32, nullptr), KVC_OK);
    const AddParams params = {data, by, 64};
    const kvc_grid grid = {function, 2, 32, 0, &params, 20};
    EXPECT_EQ(device->launch_grid(self, nullptr, &grid, nullptr), KVC_OK);
    ASSERT_EQ(launches.size(), 1u);
    const auto &[kernel, counts] = launches.front();
    EXPECT_EQ(kernel, "add");
    EXPECT_EQ(counts.blocks, 2);
    EXPECT_EQ(counts.warp_instructions, 32); // 16 of each warp
    EXPECT_GE(counts.moves, 6);
    EXPECT_LT(counts.moves, 32);
    EXPECT_EQ(counts.mma, 0);
    EXPECT_EQ(counts.bytes_read, 2 * (128 + 32)); // a sector for `by`
    EXPECT_EQ(counts.bytes_written, 256);
    EXPECT_EQ(counts.unique_bytes, 256 + 32);
    EXPECT_EQ(counts.local_bytes + counts.shared_wavefronts +
                  counts.bank_conflicts,
              0);
    EXPECT_EQ(device->release(self, data, 256), KVC_OK);
    EXPECT_EQ(device->release(self, by, 32), KVC_OK);
    EXPECT_EQ(device->module_unload(self, module), KVC_OK);
    EXPECT_EQ(kvc_sim_device_free(device), KVC_OK);
  }
}

TEST(SimDevice, RefusesOptionsItDoesNotKnow) {
  Message message;
  kvc_device *device = nullptr;
  kvc_sim_options options = {};
  options.struct_size = sizeof(options);
  options.model = "Abacus";
  EXPECT_EQ(kvc_sim_device_create(&options, message.get(), &device),
            KVC_UNSUPPORTED);
  options.model = nullptr;
  options.flags = 2;
  EXPECT_EQ(kvc_sim_device_create(&options, message.get(), &device),
            KVC_INVALID_ARGUMENT);
  options.flags = 0;
  options.threads = -1;
  EXPECT_EQ(kvc_sim_device_create(&options, message.get(), &device),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_sim_device_free(nullptr), KVC_OK);
}

TEST(CudaDevice, NeedsADriverAndADevice) {
  Message message;
  kvc_device *device = nullptr;
  kvc_cuda_options options = {};
  options.struct_size = sizeof(options);
  options.library = "/no/such/libcuda.so.1";
  EXPECT_EQ(kvc_cuda_device_create(&options, message.get(), &device),
            KVC_UNSUPPORTED);
  EXPECT_EQ(std::string(message.text).rfind("cuda: expected a driver", 0), 0u)
      << message.text;
  options.library = KVC_SIM_DRIVER;
  options.ordinal = 1;
  EXPECT_EQ(kvc_cuda_device_create(&options, message.get(), &device),
            KVC_UNSUPPORTED);
  EXPECT_STREQ(message.text,
               "options.ordinal: expected one of 1 devices, got 1");
  EXPECT_EQ(kvc_cuda_device_free(nullptr), KVC_OK);
}

} // namespace
