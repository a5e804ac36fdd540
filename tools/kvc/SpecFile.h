//===- SpecFile.h - Specs on the command line -------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_SPECFILE_H
#define KVC_TOOLS_SPECFILE_H

#include "kvc/Failure.h"
#include "kvc/spec.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kvc {

/// No spec comes near: what is longer is something else, a device perhaps.
inline constexpr size_t kMaxSpecBytes = size_t(16) << 20;

/// The bytes of a regular file of at most so many.
std::string readFile(const std::string &path, size_t most = kMaxSpecBytes);

struct SpecHandleDeleter {
  void operator()(kvc_spec *spec) const { kvc_spec_free(spec); }
};
using SpecHandle = std::unique_ptr<kvc_spec, SpecHandleDeleter>;

/// Parses canonical or other JSON; `place` stands before the message.
SpecHandle parseSpec(const std::string &json, const std::string &place);
kvc_spec_info specInfoOf(const kvc_spec *spec);
kvc_tensor_info tensorInfoOf(const kvc_spec *spec, kvc_tensor tensor);
kvc_part_info partInfoOf(const kvc_spec *spec, kvc_tensor tensor, int64_t part);
/// What the schemes take beside k and v.
std::vector<kvc_input_info> schemeInputsOf(const kvc_spec *spec);

/// The same attention and layout over a cache in f16, or bf16 with queries of
/// that type: what quantisation is
/// compared with. Nothing if `spec` is that already.
std::optional<std::string> twinOf(const kvc_spec *spec);

/// Whether K's page and V's page lie in one.
bool isInterleaved(const kvc_spec *spec);

const char *nameOf(kvc_dtype dtype);

} // namespace kvc

#endif // KVC_TOOLS_SPECFILE_H
