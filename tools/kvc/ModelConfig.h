//===- ModelConfig.h - The attention of a published model -------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// What a Hugging Face config.json says of a model's KV cache: which layers
// there are, with which heads and windows. Absent fields have the value that
// the model's own configuration class gives them.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_MODELCONFIG_H
#define KVC_TOOLS_MODELCONFIG_H

#include "kvc/spec.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kvc {

/// Layers that share a cache's layout.
struct ModelLayers {
  int64_t layers = 0;
  int64_t window = 0; ///< 0: none.
};

struct ModelConfig {
  std::string type;
  int64_t qHeads = 0, kvHeads = 0, headDim = 0;
  /// The first channels of the key are the value (latents); 0: there are
  /// values.
  int64_t latent = 0;
  int64_t maxTokens = 0; ///< 0: not said.
  kvc_dtype query = KVC_F16;
  std::vector<ModelLayers> groups; ///< Those without a window first.

  int64_t layers() const;
};

/// Throws a Failure that begins with `place`: no JSON, a model type that is
/// not known, a field that is missing or wrong.
ModelConfig parseModelConfig(const std::string &text, const std::string &place);

} // namespace kvc

#endif // KVC_TOOLS_MODELCONFIG_H
