//===- Devices.h - What counts mean on known devices ------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_COUNT_DEVICES_H
#define KVC_SIM_COUNT_DEVICES_H

#include "kvc/Sim/Count/Counter.h"

#include <span>

namespace kvc::sim {

/// From the makers' data sheets and the tables of the CUDA programming guide.
struct DeviceModel {
  std::string_view name;
  unsigned sm = 0; ///< 80 is sm_80.
  unsigned multiprocessors = 0;
  double gigahertz = 0;            ///< Boost.
  double gigabytesPerSecond = 0;   ///< Of its memory.
  unsigned warps = 0, blocks = 0;  ///< Of one multiprocessor.
  unsigned sharedBytes = 0;        ///< Of one multiprocessor.
  unsigned sharedBytesOfBlock = 0; ///< At most.
};
std::span<const DeviceModel> allDevices();
const DeviceModel *deviceNamed(std::string_view name);

/// Registers of one multiprocessor, and in which steps warps get them.
inline constexpr unsigned kRegisters = 65536;
inline constexpr unsigned kRegistersStep = 256;

/// What `ptxas -v` says of one kernel.
struct PtxasReport {
  unsigned registers = 0; ///< Of a thread.
  uint64_t spillStoreBytes = 0, spillLoadBytes = 0;
};
/// Reads the output of `ptxas -v`; nothing if it does not tell the registers of
/// that kernel.
std::optional<PtxasReport> readPtxas(std::string_view output,
                                     std::string_view kernel);

struct Occupancy {
  unsigned blocks = 0; ///< That one multiprocessor holds at once.
  unsigned warps = 0;
  std::string_view limitedBy; ///< registers, shared memory, warps, blocks
};
/// Zero blocks if not even one fits.
Occupancy occupancyOf(const DeviceModel &device, const LaunchInfo &launch,
                      unsigned registers);

/// A bound on how much of the time that memory needs goes into issuing: warp
/// instructions less moves by the rate at which the device issues them, over
/// unique sectors by its bandwidth. More than 1: issue takes longer. Nothing if
/// no memory is touched.
std::optional<double> issueShareOf(const DeviceModel &device,
                                   const Counts &counts);

} // namespace kvc::sim

#endif // KVC_SIM_COUNT_DEVICES_H
