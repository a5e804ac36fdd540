//===- TensorQuantiser.h - K or V as a cache hands it back ------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_QUANTISE_TENSORQUANTISER_H
#define KVC_QUANTISE_TENSORQUANTISER_H

#include "kvc/Quantise/PartQuantiser.h"
#include "kvc/Spec/SchemeInputs.h"

namespace kvc::quantise {

/// All parts of one tensor. Never changes, so threads may share it.
class TensorQuantiser {
public:
  /// `tensor` has a scheme. `inputs` holds [heads, columns] for each of
  /// schemeInputs(spec), checked; what belongs to the other tensor is not read.
  TensorQuantiser(const spec::Spec &spec, spec::Tensor tensor,
                  std::span<const float *const> inputs);

  int64_t heads() const { return numHeads; }
  int64_t channels() const { return numChannels; }
  /// Tokens that are quantised together.
  int64_t blockTokens() const { return tokens; }
  std::span<const PartQuantiser> parts() const { return quantisers; }

  /// Puts x' in the place of blockTokens() rows of values of io.query.
  void roundTrip(int64_t head, Rows rows) const;

private:
  int64_t numHeads, numChannels, tokens;
  std::vector<PartQuantiser> quantisers;
};

} // namespace kvc::quantise

#endif // KVC_QUANTISE_TENSORQUANTISER_H
