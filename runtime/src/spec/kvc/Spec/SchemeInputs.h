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

/// Where an input of a part stands in them; the spec has it.
size_t inputNumber(const Spec &spec, Tensor tensor, InputKind kind,
                   size_t part);

/// What kernels read of a kv head's row of an input.
enum class RowField : uint8_t {
  Scale,
  Table,
  Thresholds,
  Codes,
  Largest,
  Smooth
};

/// Whether a part takes an input with the field.
bool hasField(const PartScheme &part, RowField field);

/// Floats [begin, begin + count) of a row of the input of `kind`, which is
/// `stride` floats long (kvc/kernel_abi.h).
struct RowRange {
  InputKind kind;
  int64_t begin, count, stride;
};

/// Where a part's field lies; of smoothing factors the part's own.
RowRange rowRange(const Spec &spec, Tensor tensor, size_t part, RowField field);

} // namespace kvc::spec

#endif // KVC_SPEC_SCHEMEINPUTS_H
