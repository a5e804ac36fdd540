//===- Module.h - Compiled kernels of one spec ------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_RUN_MODULE_H
#define KVC_RUN_MODULE_H

#include "kvc/Base/SpecHandle.h"
#include "kvc/device.h"

/// A checked kernel table. Kernels that it lacks are null.
struct kvc_module {
  ~kvc_module();

  const kvc_module_table *table = nullptr;
  void *library = nullptr; ///< Of dlopen; null where the table is the caller's.
  std::unique_ptr<kvc_spec> spec;
  const kvc_kernel_info *decode = nullptr, *prefill = nullptr,
                        *append = nullptr, *merge = nullptr, *unpack = nullptr;
};

namespace kvc {

/// KVC_UNSUPPORTED unless the module has `kernel`, which is called `name`.
kvc_status requireKernel(const kvc_kernel_info *kernel, const char *name,
                         kvc_diag *diag);

} // namespace kvc

#endif // KVC_RUN_MODULE_H
