//===- DeviceModule.h - Kernels for a device, as a table --------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_JIT_DEVICEMODULE_H
#define KVC_JIT_DEVICEMODULE_H

#include "kvc/Codegen/KernelTable.h"
#include "kvc/kernel_abi.h"

#include <string>
#include <vector>

namespace kvc {

/// The table of a GPU's kernels with their code, which a device loads.
class DeviceModule {
public:
  DeviceModule(KernelTable table, std::string code);
  DeviceModule(const DeviceModule &) = delete;

  /// Lives as long as this.
  const kvc_module_table &table() const { return made; }

private:
  KernelTable source;
  std::string code;
  std::vector<kvc_kernel_info> kernels;
  kvc_module_table made;
};

} // namespace kvc

#endif // KVC_JIT_DEVICEMODULE_H
