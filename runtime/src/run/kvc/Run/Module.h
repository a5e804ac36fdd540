//===- Module.h - Compiled kernels of one spec ------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_RUN_MODULE_H
#define KVC_RUN_MODULE_H

#include "kvc/Base/SpecHandle.h"
#include "kvc/device.h"

#include <mutex>

namespace kvc {

/// A module's code on one device. Kernels that it lacks are null.
struct DeviceCode {
  explicit DeviceCode(const kvc_device &device) : device(device) {}
  DeviceCode(const DeviceCode &) = delete;
  DeviceCode &operator=(const DeviceCode &) = delete;
  ~DeviceCode() {
    if (module)
      device.module_unload(device.self, module);
  }

  const kvc_device &device;
  void *module = nullptr;
  void *decode = nullptr, *prefill = nullptr, *append = nullptr,
       *merge = nullptr, *unpack = nullptr;
};

} // namespace kvc

/// What a table of a module's own lies in.
struct kvc_module_storage {
  virtual ~kvc_module_storage() = default;
};

/// A checked kernel table. Kernels that it lacks are null.
struct kvc_module {
  ~kvc_module();

  const kvc_module_table *table = nullptr;
  void *library = nullptr; ///< Of dlopen; null where the table is the caller's.
  std::unique_ptr<kvc_module_storage> storage; ///< Null: the caller's.
  std::unique_ptr<kvc_spec> spec;
  const kvc_kernel_info *decode = nullptr, *prefill = nullptr,
                        *append = nullptr, *merge = nullptr, *unpack = nullptr;

  /// Its code on a device with memory of its own, loaded by the first call.
  kvc_status codeOn(const kvc_device &device, kvc_diag *diag,
                    const kvc::DeviceCode *&code) const;

private:
  mutable std::mutex lock; ///< Of `loaded`.
  mutable std::vector<std::unique_ptr<kvc::DeviceCode>> loaded;
};

namespace kvc {

/// KVC_UNSUPPORTED unless the module has `kernel`, which is called `name`.
kvc_status requireKernel(const kvc_kernel_info *kernel, const char *name,
                         kvc_diag *diag);

/// KVC_INVALID_ARGUMENT unless the module is for such a device.
kvc_status requireDevice(const kvc_module &module, const kvc_device &device,
                         kvc_diag *diag);

} // namespace kvc

#endif // KVC_RUN_MODULE_H
