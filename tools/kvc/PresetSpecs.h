//===- PresetSpecs.h - Specs made from presets ------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_PRESETSPECS_H
#define KVC_TOOLS_PRESETSPECS_H

#include "kvc/SpecFile.h"

#include <vector>

namespace kvc {

/// What a spec needs beside a preset.
struct AttentionShape {
  int64_t qHeads = 1, kvHeads = 1, headDim = 0, valueDim = 0;
  kvc_dtype query = KVC_F16;
};

/// All presets, in the order of their names.
std::vector<kvc_preset_info> allPresets();

/// The text of a spec that is a preset over an attention. A preset that names
/// its own head_dim, or whose V is its K, keeps that.
std::string specOfPreset(const kvc_preset_info &preset,
                         const AttentionShape &shape);

/// The text of a spec without schemes over an attention whose V is its K where
/// it has no channels.
std::string rawSpecOf(const AttentionShape &shape);

/// Whether a text is a preset's file instead of a spec.
bool isPresetFile(const std::string &text);
/// The same as specOfPreset for the preset of a file, which the file's name
/// gives its name.
std::string specOfPresetFile(const std::string &path, const std::string &text,
                             const AttentionShape &shape);

/// A preset that is left out, and why.
struct Refusal {
  std::string name, reason;
};

/// The failure where none is left: the reason that most of them have.
[[noreturn]] void failAll(const std::vector<Refusal> &refused);

/// Bits of a value of K and V with all metadata that lies in the cache.
double bitsPerValue(const kvc_spec *spec);

} // namespace kvc

#endif // KVC_TOOLS_PRESETSPECS_H
