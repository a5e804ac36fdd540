//===- Row.cpp - What this machine can run --------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Numerics/Row.h"

using namespace kvc::sim;

const char *kvc::sim::nameOf(SimdLevel level) {
  switch (level) {
  case SimdLevel::Avx512:
    return "avx512";
  case SimdLevel::Avx2:
    return "avx2";
  case SimdLevel::Baseline:
    break;
  }
  return "baseline";
}

bool kvc::sim::isSupported(SimdLevel level) {
#if defined(__x86_64__)
  switch (level) {
  case SimdLevel::Avx512:
    return __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && isSupported(SimdLevel::Avx2);
  case SimdLevel::Avx2:
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c") &&
           __builtin_cpu_supports("fma");
  case SimdLevel::Baseline:
    break;
  }
#endif
  return level == SimdLevel::Baseline;
}

SimdLevel kvc::sim::bestSimdLevel() {
  static const SimdLevel best =
      isSupported(SimdLevel::Avx512) ? SimdLevel::Avx512
      : isSupported(SimdLevel::Avx2) ? SimdLevel::Avx2
                                     : SimdLevel::Baseline;
  return best;
}
