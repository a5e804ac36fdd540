//===- SpecHandle.h - What a kvc_spec holds ---------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_BASE_SPECHANDLE_H
#define KVC_BASE_SPECHANDLE_H

#include "kvc/Spec/SchemeInputs.h"
#include "kvc/Spec/Spec.h"
#include "kvc/spec.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

/// A parsed spec with the strings that the C API hands out. Immutable.
struct kvc_spec {
  explicit kvc_spec(kvc::spec::Spec parsed);

  kvc::spec::Spec spec;
  std::string json, hash;
  std::array<std::vector<std::string>, 2> codecs; ///< By tensor and part.
  std::vector<kvc::spec::SchemeInput> inputs;
};

namespace kvc {

/// Parses a spec text, e.g. of a module table; `place` begins the message.
kvc_status parseSpecHandle(std::string_view text, const char *place,
                           kvc_diag *diag, std::unique_ptr<kvc_spec> &spec);

kvc_dtype dtypeOf(spec::DType type);
/// Bytes of an element of io or of a raw codec.
int64_t bytesOf(spec::DType type);

} // namespace kvc

#endif // KVC_BASE_SPECHANDLE_H
