//===- SimArguments.h - What kvc sim gives a kernel -------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// One argument for each parameter of a kernel, in order:
//
//   i32:5, f32:1.5          a value of a type as wide as the parameter
//   7, -1, 0x10, 1.5        a value of the parameter's own type
//   bytes:00ff..            the bytes of a parameter, of structs
//   FILE:NAME               a pointer to a copy of a tensor of a safetensors
//   inout:FILE:NAME         file; with inout its memory is written out too
//   out:f32[1024]           a pointer to memory that nobody has written,
//   zeros:f32[1024]         to zeros, or to values from [-1, 1), or any
//   random:f32[1024]        integers; all three are written out
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_SIMARGUMENTS_H
#define KVC_TOOLS_SIMARGUMENTS_H

#include "kvc/Safetensors.h"

#include "kvc/Sim/Machine/Machine.h"

namespace kvc {

/// Memory that a parameter points to.
struct SimBuffer {
  std::string param; ///< Its name.
  uint64_t argument = 0;
  uint64_t address = 0;
  safetensors::DType dtype = safetensors::DType::F32;
  int64_t elements = 0;
  bool isReturned = true;

  /// "arg0"
  std::string name() const { return "arg" + std::to_string(argument); }
};

struct SimArguments {
  std::vector<uint8_t> params;
  std::vector<SimBuffer> buffers;
};

/// "f32 alpha", "b8[16 bytes] p"
std::string paramText(const sim::KernelParam &param);

/// Throws a Failure for an argument that does not fit its parameter.
SimArguments simArguments(const std::vector<std::string> &texts,
                          const std::vector<sim::KernelParam> &params,
                          sim::Memory &memory);

/// The files that arguments name.
std::vector<std::string> filesOf(const std::vector<std::string> &texts);

/// "8", "8,2", "8,2,1"
sim::Extent3 parseExtent(const std::string &option, const std::string &text);

} // namespace kvc

#endif // KVC_TOOLS_SIMARGUMENTS_H
