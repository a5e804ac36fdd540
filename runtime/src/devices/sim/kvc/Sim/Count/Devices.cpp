//===- Devices.cpp - What counts mean on known devices --------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Count/Devices.h"

#include <algorithm>
#include <charconv>

using namespace kvc::sim;

static constexpr unsigned kKilo = 1024;

std::span<const DeviceModel> kvc::sim::allDevices() {
  static constexpr DeviceModel devices[] = {
      {"A100", 80, 108, 1.41, 2039, 64, 32, 164 * kKilo, 163 * kKilo},
      {"L40S", 89, 142, 2.52, 864, 48, 24, 100 * kKilo, 99 * kKilo},
      {"H100", 90, 132, 1.98, 3350, 64, 32, 228 * kKilo, 227 * kKilo},
      {"H200", 90, 132, 1.98, 4800, 64, 32, 228 * kKilo, 227 * kKilo},
      {"RTX 4090", 89, 128, 2.52, 1008, 48, 24, 100 * kKilo, 99 * kKilo},
  };
  return devices;
}

const DeviceModel *kvc::sim::deviceNamed(std::string_view name) {
  for (const DeviceModel &device : allDevices())
    if (device.name == name)
      return &device;
  return nullptr;
}

/// The number before `unit`, if `line` has one.
static std::optional<uint64_t> numberBefore(std::string_view line,
                                            std::string_view unit) {
  const size_t end = line.find(unit);
  if (end == std::string_view::npos || end == 0)
    return std::nullopt;
  size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9')
    --begin;
  uint64_t value = 0;
  const auto [stop, error] =
      std::from_chars(line.data() + begin, line.data() + end, value);
  if (error != std::errc() || stop != line.data() + end)
    return std::nullopt;
  return value;
}

std::optional<PtxasReport> kvc::sim::readPtxas(std::string_view output,
                                               std::string_view kernel) {
  // "Compiling entry function 'k' for 'sm_80'" stands before a kernel's lines.
  const std::string start =
      "Compiling entry function '" + std::string(kernel) + "'";
  const size_t at = output.find(start);
  if (at == std::string_view::npos)
    return std::nullopt;
  std::string_view rest = output.substr(at + start.size());
  rest = rest.substr(0, rest.find("Compiling entry function"));
  PtxasReport report;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (auto bytes = numberBefore(line, " bytes spill stores"))
      report.spillStoreBytes = *bytes;
    if (auto bytes = numberBefore(line, " bytes spill loads"))
      report.spillLoadBytes = *bytes;
    if (line.find("Used ") != std::string_view::npos)
      if (auto registers = numberBefore(line, " registers"))
        report.registers = static_cast<unsigned>(*registers);
  }
  if (report.registers == 0)
    return std::nullopt;
  return report;
}

Occupancy kvc::sim::occupancyOf(const DeviceModel &device,
                                const LaunchInfo &launch, unsigned registers) {
  const uint64_t warps =
      std::max<uint64_t>(alignedTo(launch.block.count(), kLanes) / kLanes, 1);
  // Warps get registers one of four schedulers at a time.
  const uint64_t ofWarp =
      alignedTo(uint64_t(std::max(registers, 1u)) * kLanes, kRegistersStep);
  const uint64_t warpsByRegisters = kRegisters / ofWarp / 4 * 4;
  // The device keeps 1 KiB of each block for itself.
  const uint64_t shared = alignedTo(launch.sharedBytes, 128) + kKilo;
  const std::pair<uint64_t, std::string_view> limits[] = {
      {device.blocks, "blocks"},
      {device.warps / warps, "warps"},
      {warpsByRegisters / warps, "registers"},
      {launch.sharedBytes > device.sharedBytesOfBlock
           ? 0
           : device.sharedBytes / shared,
       "shared memory"},
  };
  const auto least = *std::min_element(
      std::begin(limits), std::end(limits),
      [](const auto &a, const auto &b) { return a.first < b.first; });
  Occupancy result;
  result.blocks = static_cast<unsigned>(least.first);
  result.warps = static_cast<unsigned>(least.first * warps);
  result.limitedBy = least.second;
  return result;
}

std::optional<double> kvc::sim::issueShareOf(const DeviceModel &device,
                                             const Counts &counts) {
  if (counts.uniqueSectors == 0)
    return std::nullopt;
  constexpr double schedulers = 4, giga = 1e9;
  const double issue =
      double(counts.issuedLessMoves()) /
      (schedulers * device.multiprocessors * device.gigahertz * giga);
  const double move = double(counts.uniqueSectors * kSectorBytes) /
                      (device.gigabytesPerSecond * giga);
  return issue / move;
}
