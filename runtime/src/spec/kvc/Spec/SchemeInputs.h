//===- SchemeInputs.h - What schemes take beside k and v --------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SPEC_SCHEMEINPUTS_H
#define KVC_SPEC_SCHEMEINPUTS_H

#include "kvc/Spec/Spec.h"

namespace kvc::spec {

/// What an input of a scheme holds.
enum class InputKind : uint8_t { Scale, Table, Smooth };

/// A static scale per block, a lookup table or the smoothing factors of one
/// tensor: f32 [heads, columns].
struct SchemeInput {
  std::string name; ///< "key_scale", "value1_table", "key_smooth", ..
  Tensor tensor = Tensor::Key;
  InputKind kind = InputKind::Scale;
  size_t part = 0; ///< Number of the part; 0 for smoothing factors, which are
                   ///< those of all parts.
  int64_t heads = 0, columns = 0;

  bool operator==(const SchemeInput &) const = default;
};

/// The inputs of the key's scheme, then those of the value's; of each, part by
/// part the scale and the table, then the smoothing factors.
std::vector<SchemeInput> schemeInputs(const Spec &spec);

} // namespace kvc::spec

#endif // KVC_SPEC_SCHEMEINPUTS_H
