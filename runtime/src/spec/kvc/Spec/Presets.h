//===- Presets.h - Named schemes --------------------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Presets are data: one JSON file each in runtime/src/spec/presets, embedded at
// build time. Before a document is read, every preset that it names is replaced
// by what its file says, under what stands beside it.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SPEC_PRESETS_H
#define KVC_SPEC_PRESETS_H

#include "kvc/Spec/Reader.h"

#include <span>

namespace kvc::spec {

struct Preset {
  const char *name;    ///< Of its file.
  const char *title;   ///< A few words.
  const char *source;  ///< Who says that it is so.
  const char *goodFor; ///< What one would take it for.
  bool top;            ///< Says more than one scheme: stands at the top only.
  const char *json;    ///< The whole file.
};

/// All of them, in the order of their names.
std::span<const Preset> presets();
/// Null if there is none of that name.
const Preset *findPreset(std::string_view name);

/// A preset outside of this library: its name and its file's text (README.md in
/// runtime/src/spec/presets says what that holds).
struct PresetFile {
  std::string name, json;
};

/// parseSpec for a spec that may name `file`'s preset, too.
Expected<Spec> parseSpec(std::string_view json, const PresetFile &file);

/// The preset of a file that is not embedded. Points into `file`.
Expected<Preset> readPresetFile(const PresetFile &file);

/// One expansion of a document's presets.
struct PresetContext {
  const Preset *own = nullptr; ///< May be named beside the embedded ones.
  /// Which presets were put where: paths and names, for messages.
  std::vector<std::pair<std::string, std::string>> expanded;
};

/// Replaces the presets that a spec names, at its top and in its schemes.
bool expandPresets(JsonValue &document, PresetContext &context,
                   Diagnosis &diagnosis);
/// The same for a scheme of `channels` channels, 0 if unknown, at `path`.
bool expandSchemePresets(JsonValue &scheme, const std::string &path,
                         int64_t channels, PresetContext &context,
                         Diagnosis &diagnosis);
/// Says in a later error below an expanded preset that there was one.
void addPresetNote(const PresetContext &context, Error &error);

} // namespace kvc::spec

#endif // KVC_SPEC_PRESETS_H
