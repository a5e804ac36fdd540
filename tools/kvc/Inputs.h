//===- Inputs.h - A batch in a safetensors file -----------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_INPUTS_H
#define KVC_TOOLS_INPUTS_H

#include "kvc/Batch.h"
#include "kvc/PresetSpecs.h"
#include "kvc/Safetensors.h"

namespace kvc {

/// What becomes of NaN and infinity among k and v: only the host refuses them.
enum class NonFinite { Refused, Kept };

/// Reads q, k, v, cu_seqlens_q, cu_seqlens_kv and the inputs that the spec asks
/// for; checks shapes, types, lengths and that every number is finite; converts
/// q, k and v to io.query. Ranges of schemes' inputs are left to the cache.
/// Where `schemeFile` is not empty, the inputs of schemes come from there.
BatchInputs readInputs(const std::string &path, const kvc_spec *spec,
                       const std::string &schemeFile = {},
                       NonFinite nonFinite = NonFinite::Refused);

/// The attention that a file's q, k and v are of, its queries in the type of q;
/// no channels of values where there is no v.
AttentionShape shapeOfInputs(const std::string &path);

/// Names, shapes and bytes of what `kvc run` writes; views into their owners.
safetensors::Tensor namedTensor(std::string name, safetensors::DType dtype,
                                std::vector<int64_t> shape,
                                std::span<const std::byte> bytes);
safetensors::DType fileTypeOf(kvc_dtype dtype);

} // namespace kvc

#endif // KVC_TOOLS_INPUTS_H
