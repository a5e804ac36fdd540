//===- HostFloat.h - The machine's float unit in a known state --*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Rows of float operations use the machine's float unit where that gives PTX's
// bits: rounding to nearest even, subnormals kept, no traps. A caller may have
// set it otherwise, so whoever runs them holds a HostFloatScope; one per thread
// and launch is enough.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_NUMERICS_HOSTFLOAT_H
#define KVC_SIM_NUMERICS_HOSTFLOAT_H

#include <cstdint>

namespace kvc::sim {

class HostFloatScope {
public:
  HostFloatScope();
  ~HostFloatScope();
  HostFloatScope(const HostFloatScope &) = delete;
  HostFloatScope &operator=(const HostFloatScope &) = delete;

private:
  uint64_t saved;
};

/// Whether the calling thread's float unit is in the state that rows need.
bool isHostFloatReady();

} // namespace kvc::sim

#endif // KVC_SIM_NUMERICS_HOSTFLOAT_H
