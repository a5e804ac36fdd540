//===- SimArguments.h - What kvc sim gives a kernel -------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// One argument for each parameter of a kernel, in order:
//
//   7, -1, 0x10, 1.5        a value of the parameter's type
//   bytes:00ff..            the bytes of a parameter, of structs
//   zeros:f32:4x128         a pointer to memory of that type and shape
//   random:f16:4x128        the same with values from [-1, 1), or any integers,
//   random:f16:4x128:SEED   drawn from a seed
//   tensor:FILE:NAME        the same with a tensor of a safetensors file
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_SIMARGUMENTS_H
#define KVC_TOOLS_SIMARGUMENTS_H

#include "kvc/Safetensors.h"

#include "kvc/Sim/Machine/Machine.h"

namespace kvc {

/// Memory that a parameter points to.
struct SimBuffer {
  std::string name; ///< Of the parameter.
  uint64_t address = 0;
  safetensors::DType dtype = safetensors::DType::F32;
  std::vector<int64_t> shape;
};

struct SimArguments {
  std::vector<uint8_t> params;
  std::vector<SimBuffer> buffers;
};

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
