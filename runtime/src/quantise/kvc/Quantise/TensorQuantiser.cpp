//===- TensorQuantiser.cpp - K or V as a cache hands it back --------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Quantise/TensorQuantiser.h"

using namespace kvc;
using namespace kvc::quantise;

TensorQuantiser::TensorQuantiser(const spec::Spec &spec, spec::Tensor tensor,
                                 std::span<const float *const> inputs)
    : numHeads(spec.attention.kvHeads),
      numChannels(spec::channelsOf(spec, tensor)),
      tokens(spec::schemeOf(spec, tensor)->blockTokens()) {
  const std::vector<spec::SchemeInput> wanted = spec::schemeInputs(spec);
  const spec::Scheme &scheme = *spec::schemeOf(spec, tensor);
  for (size_t part = 0; part < scheme.parts.size(); ++part) {
    PartInputs given;
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i].tensor != tensor)
        continue;
      if (wanted[i].kind == spec::InputKind::Smooth)
        given.smooth = inputs[i];
      else if (wanted[i].part == part)
        (wanted[i].kind == spec::InputKind::Scale ? given.scale : given.table) =
            inputs[i];
    }
    quantisers.emplace_back(scheme.parts[part], numHeads, numChannels, given);
  }
}

void TensorQuantiser::roundTrip(int64_t head, Rows rows) const {
  for (const PartQuantiser &part : quantisers)
    for (int64_t t = 0; t < tokens; t += part.blockTokens())
      part.roundTrip(head, {rows[t] + part.scheme().begin, rows.stride});
}
