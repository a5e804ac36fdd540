//===- PresetsAPI.cpp - The C API of presets ------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Base/Diag.h"
#include "kvc/Base/Struct.h"
#include "kvc/Spec/Presets.h"
#include "kvc/spec.h"

using namespace kvc;

extern "C" kvc_status kvc_preset_count(int64_t *count) {
  if (!count)
    return KVC_INVALID_ARGUMENT;
  *count = static_cast<int64_t>(spec::presets().size());
  return KVC_OK;
}

extern "C" kvc_status kvc_preset_get(int64_t index, kvc_diag *diag,
                                     kvc_preset_info *info) {
  return guarded(diag, [&]() -> kvc_status {
    const auto presets = spec::presets();
    const auto count = static_cast<int64_t>(presets.size());
    if (index < 0 || index >= count)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "index: expected a number below %lld, got %lld",
                  static_cast<long long>(count), static_cast<long long>(index));
    const spec::Preset &preset = presets[static_cast<size_t>(index)];
    kvc_preset_info result = {};
    result.name = preset.name;
    result.title = preset.title;
    result.source = preset.source;
    result.good_for = preset.goodFor;
    result.whole_spec = preset.top;
    result.json = preset.json;
    return writeStruct(result, "info", diag, info);
  });
}
