//===- SinCos.h - Sines of every f32 ----------------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_NUMERICS_SINCOS_H
#define KVC_SIM_NUMERICS_SINCOS_H

namespace kvc::sim {

/// The sine of an f32, `quarters` quarter turns further on (0 is sin, 1 is
/// cos), in f64 to about 2^-50 of itself: the same bits on every machine.
/// Inside a HostFloatScope.
double sinAfterQuarters(double x, int quarters);

} // namespace kvc::sim

#endif // KVC_SIM_NUMERICS_SINCOS_H
