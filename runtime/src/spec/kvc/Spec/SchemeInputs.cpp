//===- SchemeInputs.cpp - What schemes take beside k and v ----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Spec/SchemeInputs.h"

#include <algorithm>

using namespace kvc::spec;

std::vector<SchemeInput> kvc::spec::schemeInputs(const Spec &spec) {
  std::vector<SchemeInput> inputs;
  const int64_t heads = spec.attention.kvHeads;
  for (Tensor tensor : {Tensor::Key, Tensor::Value}) {
    const Scheme *scheme = schemeOf(spec, tensor);
    if (!scheme)
      continue;
    const std::string name = tensor == Tensor::Key ? "key" : "value";
    for (size_t i = 0; i < scheme->parts.size(); ++i) {
      const PartScheme &part = scheme->parts[i];
      const std::string prefix =
          scheme->explicitParts ? name + std::to_string(i) : name;
      if (part.scale && part.scale->isStatic)
        inputs.push_back({prefix + "_scale", tensor, InputKind::Scale, i, heads,
                          part.blocks()});
      if (part.codec.kind == CodecKind::Lut && part.codec.table.empty())
        inputs.push_back({prefix + "_table", tensor, InputKind::Table, i, heads,
                          int64_t(1) << part.codec.bits});
    }
    if (std::ranges::any_of(scheme->parts, &PartScheme::smooth))
      inputs.push_back({name + "_smooth", tensor, InputKind::Smooth, 0, heads,
                        channelsOf(spec, tensor)});
  }
  return inputs;
}
