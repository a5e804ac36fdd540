//===- Dump.h - What --dump-cache must hold ---------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// SPEC.md section 4, "--dump-cache": the canonical tensors of a cache as a file
// has them, built from the reference and compared with a file.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_DUMP_H
#define KVC_TEST_DUMP_H

#include "kvc/Test/Inputs.h"

#include <string>
#include <vector>

namespace kvc::test {

/// One tensor of a dump, with its own bytes.
struct DumpTensor {
  std::string name;
  safetensors::DType dtype;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;

  safetensors::Tensor view() const { return {name, dtype, shape, bytes}; }
};

/// The tokens that a dump shows. A ring shows the raw rows and the last window
/// + Lq - 1 tokens, begun at the start of a scale block of the tensor.
std::vector<bool> shownRows(const spec::Spec &spec, spec::Tensor tensor,
                            const Inputs &inputs, const TensorData &data);

/// All of them, `k` and `v` included; rows that a ring has lost are 0.
std::vector<DumpTensor> dumpTensors(const spec::Spec &spec,
                                    const Inputs &inputs, const Answer &answer);

/// Compares a file with the dump of the reference: all tensors but `out` and
/// `lse` must be there and no other; bit for bit, except `k` and `v`: these
/// within one ulp of f32, rotated or smoothed ones within 2^-19 of the row's
/// largest value. One line per tensor that differs; empty if none does.
std::vector<std::string> compareDump(const spec::Spec &spec,
                                     const Inputs &inputs, const Answer &answer,
                                     const safetensors::File &file);

} // namespace kvc::test

#endif // KVC_TEST_DUMP_H
