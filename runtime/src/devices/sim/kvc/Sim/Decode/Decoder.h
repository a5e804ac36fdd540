//===- Decoder.h - From a module to programs --------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_DECODE_DECODER_H
#define KVC_SIM_DECODE_DECODER_H

#include "kvc/Sim/Decode/Program.h"
#include "kvc/Sim/Decode/Symbols.h"

namespace kvc::sim {

/// Bytes of a thread's local memory, and of a kernel's parameters.
inline constexpr uint64_t kMaxLocalBytes = 512 * 1024;
inline constexpr uint64_t kMaxParamBytes = 32764;

/// Decodes the kernel of that name with every function that it may call. Fails
/// at the first instruction, modifier, operand or name that does not fit.
Expected<Program> decodeKernel(const Symbols &symbols, std::string_view name);

} // namespace kvc::sim

#endif // KVC_SIM_DECODE_DECODER_H
