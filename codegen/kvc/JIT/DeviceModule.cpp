//===- DeviceModule.cpp - Kernels for a device, as a table ----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/JIT/DeviceModule.h"

namespace kvc {

DeviceModule::DeviceModule(KernelTable table, std::string code)
    : source(std::move(table)), code(std::move(code)) {
  for (const KernelEntry &entry : source.kernels)
    kernels.push_back({entry.name.c_str(), nullptr, entry.tileRows,
                       entry.tileTokens, entry.splitTokens,
                       entry.operands.c_str(), entry.symbol.c_str(),
                       entry.threads, /*shared_bytes=*/0, /*registers=*/0,
                       entry.workspaceBytes});
  made = {KVC_KERNEL_ABI_VERSION,        int32_t(kernels.size()),
          source.specJson.c_str(),       source.layoutHash.c_str(),
          source.target.c_str(),         kernels.data(),
          source.score.c_str(),          this->code.c_str(),
          int64_t(this->code.size()) + 1};
}

} // namespace kvc
