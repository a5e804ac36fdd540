//===- HostFloat.cpp - The machine's float unit in a known state ----------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Numerics/HostFloat.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace kvc::sim;

#if defined(__x86_64__)

/// MXCSR: all exceptions masked, nearest even, no flushing. The lowest six bits
/// are flags of past exceptions.
static constexpr uint32_t kReady = 0x1F80, kFlags = 0x3F;

static uint64_t readControl() { return _mm_getcsr(); }
static void writeControl(uint64_t control) { _mm_setcsr(uint32_t(control)); }

#elif defined(__aarch64__)

static constexpr uint64_t kReady = 0, kFlags = 0;

static uint64_t readControl() {
  uint64_t control;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  return control;
}
static void writeControl(uint64_t control) {
  asm volatile("msr fpcr, %0" ::"r"(control) : "memory");
}

#else
#error "HostFloatScope is not written for this machine"
#endif

HostFloatScope::HostFloatScope() : saved(readControl()) {
  writeControl(kReady);
}

HostFloatScope::~HostFloatScope() { writeControl(saved); }

bool kvc::sim::isHostFloatReady() {
  return (readControl() & ~uint64_t(kFlags)) == kReady;
}
