//===- Devices.h - Devices with memory of their own -------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_RUNTIME_DEVICES_H
#define KVC_TEST_UNIT_RUNTIME_DEVICES_H

#include "kvc/cuda.h"
#include "kvc/sim.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kvc::test {

/// "sim", "checked" (sim, which looks for races and undefined values) or
/// "cuda", over the simulator's driver.
class OwnDevice {
public:
  explicit OwnDevice(const std::string &kind) : isCuda(kind == "cuda") {
    char text[512] = "";
    kvc_diag diag = KVC_DIAG_INIT(text);
    if (isCuda) {
      kvc_cuda_options options = {};
      options.struct_size = sizeof(options);
      options.library = KVC_SIM_DRIVER;
      EXPECT_EQ(kvc_cuda_device_create(&options, &diag, &made), KVC_OK) << text;
      return;
    }
    kvc_sim_options options = {};
    options.struct_size = sizeof(options);
    options.flags = kind == "checked" ? KVC_SIM_CHECK : 0;
    options.user = &findings;
    options.report = [](void *user, const char *finding) {
      static_cast<std::vector<std::string> *>(user)->emplace_back(finding);
    };
    EXPECT_EQ(kvc_sim_device_create(&options, &diag, &made), KVC_OK) << text;
  }
  OwnDevice(const OwnDevice &) = delete;
  OwnDevice &operator=(const OwnDevice &) = delete;
  ~OwnDevice() {
    for (const Block &block : blocks)
      made->release(made->self, block.address, block.bytes);
    if (isCuda)
      kvc_cuda_device_free(made);
    else
      kvc_sim_device_free(made);
  }

  const kvc_device *get() const { return made; }
  const kvc_device *operator->() const { return made; }
  void *self() const { return made->self; }

  /// Memory that lives as long as this.
  void *allocate(int64_t bytes) {
    void *address = nullptr;
    EXPECT_EQ(made->allocate(made->self, bytes, nullptr, &address), KVC_OK);
    blocks.push_back({address, bytes});
    return address;
  }
  /// A copy of `values`.
  template <typename T>
  void *put(const std::vector<T> &values) {
    const auto bytes = int64_t(values.size() * sizeof(T));
    void *address = allocate(bytes);
    write(address, values);
    return address;
  }
  template <typename T>
  void write(void *address, const std::vector<T> &values) {
    const auto bytes = int64_t(values.size() * sizeof(T));
    EXPECT_EQ(made->copy_async(made->self, nullptr, KVC_COPY_TO_DEVICE, address,
                               values.data(), bytes, nullptr),
              KVC_OK);
    synchronize();
  }
  template <typename T>
  std::vector<T> read(const void *address, size_t count) {
    std::vector<T> values(count);
    synchronize();
    EXPECT_EQ(made->copy_async(made->self, nullptr, KVC_COPY_FROM_DEVICE,
                               values.data(), address,
                               int64_t(count * sizeof(T)), nullptr),
              KVC_OK);
    synchronize();
    return values;
  }
  void synchronize() {
    EXPECT_EQ(made->synchronize(made->self, nullptr), KVC_OK);
  }

  std::vector<std::string> findings; ///< Of "checked".

private:
  struct Block {
    void *address;
    int64_t bytes;
  };
  bool isCuda;
  kvc_device *made = nullptr;
  std::vector<Block> blocks;
};

} // namespace kvc::test

#endif // KVC_TEST_UNIT_RUNTIME_DEVICES_H
