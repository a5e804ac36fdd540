//===- Device.cpp - The simulated device ----------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Driver/Device.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace kvc;
using namespace kvc::driver;

using Guard = std::lock_guard<std::mutex>;

/// Of memory of the host that the device shares.
static constexpr uint64_t kPageBytes = 4096;

Device::Device(const Settings &settings)
    : settings(settings), reports(settings) {
  memory.setObserver(reports.observer());
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void Device::insert(Range range) {
  const Guard guard(rangesLock);
  range.number = ++numbers;
  ranges[range.address] = range;
  end = memory.end();
}

static const char *nameOf(MemoryKind kind) {
  return kind == MemoryKind::Managed  ? "managed memory "
         : kind == MemoryKind::Pinned ? "pinned memory "
                                      : "allocation ";
}

CUresult Device::allocate(const Context *context, MemoryKind kind,
                          uint64_t bytes, unsigned flags, uint64_t &address) {
  if (bytes == 0)
    return CUDA_ERROR_INVALID_VALUE;
  const bool isCounted = kind != MemoryKind::Pinned;
  std::string name;
  {
    const Guard guard(rangesLock);
    if (isCounted &&
        (bytes > settings.memoryBytes || used > settings.memoryBytes - bytes))
      return CUDA_ERROR_OUT_OF_MEMORY;
    if (isCounted)
      used += bytes;
    mostUsed = std::max(mostUsed, used);
    name = nameOf(kind) + std::to_string(numbers + 1);
  }
  const Guard guard(memoryLock);
  if (kind == MemoryKind::Device) {
    address = memory.allocate(bytes, name);
  } else {
    address = 0;
    void *data =
        bytes > sim::kMaxAllocationBytes
            ? nullptr
            : std::aligned_alloc(kPageBytes, (bytes + kPageBytes - 1) /
                                                 kPageBytes * kPageBytes);
    if (data && memory.lend(data, bytes, name)) {
      std::memset(data, 0, bytes);
      address = reinterpret_cast<uintptr_t>(data);
    } else {
      std::free(data);
    }
  }
  if (address != 0) {
    insert({address, bytes, kind, flags, context});
    return CUDA_SUCCESS;
  }
  const Guard ofRanges(rangesLock);
  used -= isCounted ? bytes : 0;
  return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult Device::lend(const Context *context, void *data, uint64_t bytes,
                      unsigned flags) {
  const auto address = reinterpret_cast<uintptr_t>(data);
  if (!data || bytes == 0 || address > UINT64_MAX - bytes ||
      isDeviceAddress(address))
    return CUDA_ERROR_INVALID_VALUE;
  const Guard guard(memoryLock);
  if (!memory.lend(data, bytes, "registered memory"))
    return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  insert({address, bytes, MemoryKind::Registered, flags, context});
  return CUDA_SUCCESS;
}

CUresult Device::free(uint64_t address, MemoryKind kind) {
  const Guard guard(memoryLock);
  {
    const Guard ofRanges(rangesLock);
    const auto found = ranges.find(address);
    if (found == ranges.end() || found->second.kind != kind)
      return CUDA_ERROR_INVALID_VALUE;
    if (kind == MemoryKind::Device || kind == MemoryKind::Managed)
      used -= found->second.bytes;
    ranges.erase(found);
  }
  memory.free(address);
  if (kind == MemoryKind::Managed || kind == MemoryKind::Pinned)
    std::free(reinterpret_cast<void *>(address));
  return CUDA_SUCCESS;
}

void Device::freeAll(const Context *context) {
  std::vector<Range> all;
  {
    const Guard guard(rangesLock);
    for (const auto &[address, range] : ranges)
      if (range.context == context)
        all.push_back(range);
  }
  for (const Range &range : all)
    free(range.address, range.kind);
}

std::optional<Range> Device::find(uint64_t address, uint64_t bytes) const {
  const Guard guard(rangesLock);
  auto found = ranges.upper_bound(address);
  if (found == ranges.begin())
    return std::nullopt;
  const Range &range = std::prev(found)->second;
  const uint64_t offset = address - range.address;
  if (offset > range.bytes || bytes > range.bytes - offset ||
      (offset == range.bytes && bytes == 0))
    return std::nullopt;
  return range;
}

bool Device::isDeviceAddress(uint64_t address) const {
  // Between the two the host may have memory, under sanitizers for one.
  const Guard guard(rangesLock);
  return (address >= sim::kSharedWindow &&
          address < sim::kFunctionWindow + sim::kWindowBytes) ||
         (address >= sim::kGlobalBase && address < end);
}

uint64_t Device::usedBytes() const {
  const Guard guard(rangesLock);
  return used;
}

uint64_t Device::mostUsedBytes() const {
  const Guard guard(rangesLock);
  return mostUsed;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

uint8_t *Device::at(const Side &side, uint64_t offset, uint64_t bytes) const {
  if (side.host)
    return static_cast<uint8_t *>(side.host) + offset;
  const uint64_t address = side.address + offset;
  const sim::Allocation *found = memory.find(address, bytes);
  return found ? found->data() + (address - found->address) : nullptr;
}

CUresult Device::run(const Copy &copy) {
  const Guard guard(memoryLock);
  for (uint64_t row = 0; row < copy.height * copy.depth; ++row) {
    const uint64_t y = row % copy.height, z = row / copy.height;
    const uint64_t source = z * copy.from.slice + y * copy.from.pitch;
    const uint64_t target = z * copy.to.slice + y * copy.to.pitch;
    const uint8_t *from = at(copy.from, source, copy.width);
    uint8_t *to = at(copy.to, target, copy.width);
    if (!from || !to) {
      const uint64_t address =
          from ? copy.to.address + target : copy.from.address + source;
      say("copy: expected memory that is allocated, got " +
          memory.describe(address, copy.width));
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    std::memmove(to, from, copy.width);
    if (!copy.to.host && memory.find(copy.to.address + target, copy.width) &&
        reports.observer())
      reports.observer()->onHostWrite(copy.to.address + target, copy.width);
  }
  return CUDA_SUCCESS;
}

CUresult Device::run(const Fill &fill) {
  const Guard guard(memoryLock);
  std::vector<uint8_t> row(fill.width * fill.elementBytes);
  for (size_t i = 0; i < row.size(); ++i)
    row[i] = uint8_t(fill.value >> (i % fill.elementBytes * 8));
  for (uint64_t y = 0; y < fill.height; ++y)
    if (!memory.write(fill.address + y * fill.pitch, row.data(), row.size())) {
      say("memset: expected memory that is allocated, got " +
          memory.describe(fill.address + y * fill.pitch, row.size()));
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
  return CUDA_SUCCESS;
}

static CUresult resultOf(sim::Fault::Kind kind) {
  using Kind = sim::Fault::Kind;
  switch (kind) {
  case Kind::OutOfBounds:
  case Kind::UseAfterFree:
  case Kind::ReadOnly:
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  case Kind::Misaligned:
    return CUDA_ERROR_MISALIGNED_ADDRESS;
  case Kind::Assertion:
    return CUDA_ERROR_ASSERT;
  case Kind::BadCall:
    return CUDA_ERROR_INVALID_PC;
  case Kind::Deadlock:
  case Kind::Limit:
    return CUDA_ERROR_LAUNCH_TIMEOUT;
  case Kind::DivergentSync:
  case Kind::DivergentBarrier:
  case Kind::Trap:
  case Kind::Unsupported:
    break;
  }
  return CUDA_ERROR_LAUNCH_FAILED;
}

CUresult Device::run(const Launch &launch) {
  const Guard guard(memoryLock);
  const Function &function = *launch.function;
  const std::string title =
      "kernel \"" + function.name + "\" of " + function.module->name;
  if (!function.module->loaded) {
    say(title +
        ": expected a module that is loaded, got one that was unloaded");
    return CUDA_ERROR_INVALID_HANDLE;
  }
  sim::LaunchOptions options;
  options.grid = launch.grid;
  options.block = launch.block;
  options.dynamicShared = launch.dynamicShared;
  options.params = launch.params;
  options.mma = settings.mma;
  if (!options.mma.core && !options.mma.isChain)
    options.mma.core = sim::tensorCoreFor(int(settings.device->sm));
  options.approx.seed = settings.seed;
  options.seed = settings.seed;
  options.threads = unsigned(settings.threads);
  options.maxSteps = settings.maxSteps;
  options.observer = reports.observer();
  sim::LoadedModule &module = *function.module->loaded;
  const sim::LaunchResult result =
      sim::launch(module, function.name, memory, options);
  std::fwrite(result.printed.data(), 1, result.printed.size(), stdout);
  reports.launched(function.name, title, launch.grid.count(), result);
  if (!result.fault)
    return CUDA_SUCCESS;
  reports.fault(title, *module.module().text, result);
  return resultOf(result.fault->kind);
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

std::optional<std::string> Device::load(Module &module, std::string text,
                                        std::string &notes) {
  const Guard guard(memoryLock);
  auto loaded = sim::LoadedModule::load(std::move(text), memory);
  if (!loaded)
    return loaded.error().str();
  const sim::Target &target = (*loaded)->module().target;
  module.loaded = std::move(*loaded);

  // Variables are memory that a program may name.
  const auto &variables = module.loaded->symbols().variables;
  for (const sim::ModuleVariable &each : variables) {
    const uint64_t address = module.loaded->addressOf(each.variable->name.text);
    if (address != 0)
      insert({address, each.variable->bytes, MemoryKind::Module, 0,
              module.context});
  }
  const std::span<uint8_t> bank = module.loaded->constantBank();
  if (!bank.empty() &&
      memory.lend(bank.data(), bank.size(), "constants of " + module.name))
    insert({reinterpret_cast<uintptr_t>(bank.data()), bank.size(),
            MemoryKind::Module, 0, module.context});

  if (target.sm > settings.device->sm ||
      (target.specific && target.sm != settings.device->sm))
    return std::string("target: expected one that sm_") +
           std::to_string(settings.device->sm) + " (" +
           std::string(settings.device->name) + ") runs, got " + target.str();

  size_t runnable = 0;
  for (std::string_view name : module.loaded->kernels()) {
    auto function = std::make_unique<Function>();
    function->module = &module;
    function->name = name;
    function->params = sim::paramsOf(module.loaded->module(), name);
    if (auto missing = sim::whatIsMissing(*module.loaded, name))
      function->missing = missing->str();
    else
      ++runnable;
    if (auto program = module.loaded->program(name)) {
      function->paramBytes = (*program)->paramBytes;
      function->sharedBytes = (*program)->sharedBytes;
      function->dynamicOffset = (*program)->dynamicSharedOffset;
      function->localBytes = (*program)->localBytes;
    }
    for (const sim::Function &each : module.loaded->module().functions)
      if (each.isEntry && each.name.text == name)
        function->hints = each.hints;
    if (!function->missing.empty())
      notes += (notes.empty() ? "" : "\n") + function->missing;
    module.functions.emplace(name, std::move(function));
  }
  if (runnable == 0 && !module.functions.empty())
    return notes;
  return std::nullopt;
}

void Device::unload(Module &module) {
  if (!module.loaded)
    return;
  std::vector<uint64_t> addresses;
  {
    const Guard guard(memoryLock);
    for (const auto &each : module.loaded->symbols().variables)
      addresses.push_back(module.loaded->addressOf(each.variable->name.text));
    addresses.push_back(
        reinterpret_cast<uintptr_t>(module.loaded->constantBank().data()));
  }
  for (uint64_t address : addresses)
    free(address, MemoryKind::Module);
  const Guard guard(memoryLock);
  module.loaded.reset();
}

uint64_t Device::variable(Module &module, std::string_view name,
                          uint64_t &bytes) {
  const Guard guard(memoryLock);
  if (!module.loaded)
    return 0;
  const sim::Symbols &symbols = module.loaded->symbols();
  const std::optional<uint32_t> index = symbols.variableNamed(name);
  if (!index)
    return 0;
  const sim::ModuleVariable &found = symbols.variables[*index];
  bytes = found.variable->bytes;
  if (found.variable->space == sim::Space::Const)
    return reinterpret_cast<uintptr_t>(module.loaded->constantBank().data()) +
           found.constOffset;
  return module.loaded->addressOf(name);
}
