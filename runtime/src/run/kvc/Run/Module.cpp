//===- Module.cpp - Compiled kernels of one spec --------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Run/Module.h"

#include "kvc/Base/Checked.h"
#include "kvc/Devices/Memory.h"

#include <cstring>
#include <dlfcn.h>

using namespace kvc;

kvc_module::~kvc_module() {
  loaded.clear();
  if (library)
    dlclose(library);
}

kvc_status kvc::requireKernel(const kvc_kernel_info *kernel, const char *name,
                              kvc_diag *diag) {
  return kernel ? KVC_OK
                : fail(diag, KVC_UNSUPPORTED,
                       "module: expected a kernel \"%s\", got none", name);
}

kvc_status kvc::requireDevice(const kvc_module &module,
                              const kvc_device &device, kvc_diag *diag) {
  if (hasOwnMemory(device) == (module.table->code != nullptr))
    return KVC_OK;
  return fail(diag, KVC_INVALID_ARGUMENT,
              "module.target: expected one for device \"%s\", got \"%s\"",
              device.name,
              module.table->target ? module.table->target : "none");
}

kvc_status kvc_module::codeOn(const kvc_device &device, kvc_diag *diag,
                              const DeviceCode *&code) const {
  const std::lock_guard guard(lock);
  for (const std::unique_ptr<DeviceCode> &each : loaded)
    if (&each->device == &device) {
      code = each.get();
      return KVC_OK;
    }
  auto made = std::make_unique<DeviceCode>(device);
  KVC_TRY(device.module_load(device.self, table->code, table->code_bytes, diag,
                             &made->module));
  const std::pair<const kvc_kernel_info *, void **> kernels[] = {
      {decode, &made->decode},
      {prefill, &made->prefill},
      {append, &made->append},
      {merge, &made->merge},
      {unpack, &made->unpack}};
  for (const auto &[info, function] : kernels)
    if (info)
      KVC_TRY(device.module_function(device.self, made->module, info->symbol,
                                     diag, function));
  loaded.push_back(std::move(made));
  code = loaded.back().get();
  return KVC_OK;
}

namespace {

constexpr int32_t kMaxKernels = 1024;
/// Tiles beyond this are no tiles; products of plan constants stay far below
/// 2^63.
constexpr int64_t kMaxTile = int64_t(1) << 20;

/// Plans divide by these numbers.
kvc_status checkTiles(const kvc_kernel_info &info, kvc_diag *diag) {
  if (info.tile_rows < 1 || info.tile_rows > kMaxTile || info.tile_tokens < 1 ||
      info.tile_tokens > kMaxTile)
    return fail(diag, KVC_INVALID_DATA,
                "module.%s: expected tiles of 1 to %lld rows and tokens, got "
                "%lld and %lld",
                info.name, static_cast<long long>(kMaxTile),
                static_cast<long long>(info.tile_rows),
                static_cast<long long>(info.tile_tokens));
  if (info.split_tokens < 1 || info.split_tokens > kMaxInt32 ||
      info.split_tokens % info.tile_tokens != 0)
    return fail(diag, KVC_INVALID_DATA,
                "module.%s.split_tokens: expected a multiple of %lld, at most "
                "%lld, got %lld",
                info.name, static_cast<long long>(info.tile_tokens),
                static_cast<long long>(kMaxInt32),
                static_cast<long long>(info.split_tokens));
  return KVC_OK;
}

/// Threads and dynamic shared memory of a block that no device goes beyond.
constexpr int64_t kMaxThreads = 1024, kMaxShared = int64_t(1) << 20;

/// What a launch needs of a kernel in the module's code.
kvc_status checkGrid(const kvc_kernel_info &info, kvc_diag *diag) {
  if (!info.symbol)
    return fail(diag, KVC_INVALID_DATA,
                "module.%s.symbol: expected an entry of the code, got null",
                info.name);
  if (info.threads < 1 || info.threads > kMaxThreads || info.shared_bytes < 0 ||
      info.shared_bytes > kMaxShared)
    return fail(diag, KVC_INVALID_DATA,
                "module.%s: expected 1 to %lld threads and 0 to %lld bytes of "
                "shared memory, got %lld and %lld",
                info.name, static_cast<long long>(kMaxThreads),
                static_cast<long long>(kMaxShared),
                static_cast<long long>(info.threads),
                static_cast<long long>(info.shared_bytes));
  return KVC_OK;
}

kvc_status takeKernel(kvc_module &module, const kvc_kernel_info &info,
                      bool hasCode, kvc_diag *diag) {
  if (!info.name || (!hasCode && !info.function))
    return fail(diag, KVC_INVALID_DATA,
                "module: expected a kernel's %s, got null",
                info.name ? "function" : "name");
  if (hasCode)
    KVC_TRY(checkGrid(info, diag));
  struct Slot {
    const char *name;
    const kvc_kernel_info **kernel;
    bool hasTiles;
  };
  const Slot slots[] = {{"decode", &module.decode, true},
                        {"prefill", &module.prefill, true},
                        {"append", &module.append, false},
                        {"merge", &module.merge, false},
                        {"unpack", &module.unpack, false}};
  for (const Slot &slot : slots) {
    if (std::strcmp(info.name, slot.name) != 0)
      continue;
    if (*slot.kernel)
      return fail(diag, KVC_INVALID_DATA,
                  "module: expected one kernel \"%s\", got two", slot.name);
    if (slot.hasTiles)
      KVC_TRY(checkTiles(info, diag));
    if (info.workspace_bytes < 0 ||
        (info.workspace_bytes > 0 && slot.kernel != &module.append))
      return fail(diag, KVC_INVALID_DATA,
                  "module.%s.workspace_bytes: expected %s, got %lld", info.name,
                  slot.kernel == &module.append ? "0 or more" : "0",
                  static_cast<long long>(info.workspace_bytes));
    *slot.kernel = &info;
  }
  // Kernels of other names are for users of the table other than this library.
  return KVC_OK;
}

kvc_status readTable(kvc_module &module, const kvc_module_table *table,
                     kvc_diag *diag) {
  if (!table)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "module: expected a kernel table, got null");
  if (table->abi_version != KVC_KERNEL_ABI_VERSION)
    return fail(diag, KVC_UNSUPPORTED,
                "module.abi_version: expected %d, got %d",
                KVC_KERNEL_ABI_VERSION, table->abi_version);
  if (table->num_kernels < 0 || table->num_kernels > kMaxKernels ||
      (table->num_kernels > 0 && !table->kernels))
    return fail(diag, KVC_INVALID_DATA,
                "module.num_kernels: expected the length of the list of "
                "kernels, 0 to %d, got %d",
                kMaxKernels, table->num_kernels);
  if (!table->spec_json || !table->layout_hash)
    return fail(diag, KVC_INVALID_DATA, "module.%s: expected a text, got null",
                table->spec_json ? "layout_hash" : "spec_json");
  KVC_TRY(parseSpecHandle(table->spec_json, "module.spec_json: ", diag,
                          module.spec));
  // A hash of another kvc means pages whose bytes mean something else.
  if (module.spec->hash != table->layout_hash)
    return fail(diag, KVC_UNSUPPORTED,
                "module.layout_hash: expected %s for its spec, got %s",
                module.spec->hash.c_str(), table->layout_hash);
  if (table->code && table->code_bytes < 1)
    return fail(diag, KVC_INVALID_DATA,
                "module.code_bytes: expected at least 1, got %lld",
                static_cast<long long>(table->code_bytes));
  for (int32_t i = 0; i < table->num_kernels; ++i)
    KVC_TRY(
        takeKernel(module, table->kernels[i], table->code != nullptr, diag));
  module.table = table;
  return KVC_OK;
}

kvc_status checkModule(const kvc_module *module, const void *out,
                       kvc_diag *diag) {
  KVC_TRY(requirePointer(module, "module", diag));
  return requirePointer(out, "result", diag);
}

const char *lastLinkError() {
  const char *error = dlerror();
  return error ? error : "unknown reason";
}

} // namespace

extern "C" kvc_status kvc_module_create(const kvc_module_table *table,
                                        kvc_diag *diag, kvc_module **module) {
  return guarded(diag, [&]() -> kvc_status {
    KVC_TRY(requirePointer(module, "module", diag));
    auto made = std::make_unique<kvc_module>();
    KVC_TRY(readTable(*made, table, diag));
    *module = made.release();
    return KVC_OK;
  });
}

extern "C" kvc_status kvc_module_open(const char *path, const char *symbol,
                                      kvc_diag *diag, kvc_module **module) {
  return guarded(diag, [&]() -> kvc_status {
    if (!path || !*path || !module)
      return fail(diag, KVC_INVALID_ARGUMENT, "%s: expected %s, got nothing",
                  module ? "path" : "module", module ? "a file" : "a pointer");
    if (!symbol)
      symbol = "kvc_module";
    // A bare name means a file here, never one of the system's library folders.
    std::string file = std::strchr(path, '/') ? path : std::string("./") + path;
    auto made = std::make_unique<kvc_module>();
    made->library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!made->library)
      return fail(diag, KVC_FAILED, "%s: expected a shared object, got: %s",
                  path, lastLinkError());
    void *table = dlsym(made->library, symbol);
    if (!table)
      return fail(diag, KVC_INVALID_DATA,
                  "%s: expected a kernel table \"%s\", got: %s", path, symbol,
                  lastLinkError());
    KVC_TRY(
        readTable(*made, static_cast<const kvc_module_table *>(table), diag));
    *module = made.release();
    return KVC_OK;
  });
}

extern "C" kvc_status kvc_module_free(kvc_module *module) {
  delete module;
  return KVC_OK;
}

extern "C" kvc_status kvc_module_spec(const kvc_module *module, kvc_diag *diag,
                                      const kvc_spec **spec) {
  KVC_TRY(checkModule(module, spec, diag));
  *spec = module->spec.get();
  return KVC_OK;
}

extern "C" kvc_status kvc_module_get_table(const kvc_module *module,
                                           kvc_diag *diag,
                                           const kvc_module_table **table) {
  KVC_TRY(checkModule(module, table, diag));
  *table = module->table;
  return KVC_OK;
}
