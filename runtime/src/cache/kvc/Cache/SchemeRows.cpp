//===- SchemeRows.cpp - Inputs of a cache's schemes -----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Cache/SchemeRows.h"

#include "kvc/Base/DefaultFloats.h"
#include "kvc/Base/Diag.h"
#include "kvc/Quantise/InputRows.h"

#include <string>

using namespace kvc;

namespace {

/// "key_scale, key_table", or "none".
std::string namesOf(const std::vector<spec::SchemeInput> &inputs) {
  std::string names;
  for (const spec::SchemeInput &input : inputs)
    names += (names.empty() ? "" : ", ") + input.name;
  return names.empty() ? "none" : names;
}

} // namespace

kvc_status SchemeRows::read(const kvc_spec &spec,
                            const kvc_scheme_values *given, int64_t count,
                            kvc_diag *diag) {
  if (count < 0 || (count > 0 && !given))
    return fail(diag, KVC_INVALID_ARGUMENT,
                "options.inputs: expected an array of num_inputs values, got "
                "%lld of them%s",
                static_cast<long long>(count), given ? "" : " and null");
  std::vector<const kvc_scheme_values *> found(spec.inputs.size(), nullptr);
  for (int64_t i = 0; i < count; ++i) {
    const std::string name = given[i].name ? given[i].name : "";
    size_t number = 0;
    while (number < found.size() && spec.inputs[number].name != name)
      ++number;
    if (number == found.size())
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "options.inputs[%lld].name: expected one of the spec's (%s), "
                  "got \"%s\"",
                  static_cast<long long>(i), namesOf(spec.inputs).c_str(),
                  name.c_str());
    if (found[number])
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "options.inputs[%lld].name: expected each input once, got "
                  "\"%s\" twice",
                  static_cast<long long>(i), name.c_str());
    found[number] = &given[i];
  }
  const DefaultFloats guard;
  for (size_t i = 0; i < found.size(); ++i) {
    const spec::SchemeInput &input = spec.inputs[i];
    if (!found[i])
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "options.inputs: expected \"%s\" among them, got %lld others",
                  input.name.c_str(), static_cast<long long>(count));
    const int64_t wanted = input.heads * input.columns;
    if (!found[i]->values || found[i]->count != wanted)
      return fail(
          diag, KVC_INVALID_ARGUMENT,
          "options.inputs: expected \"%s\" with kv_heads * columns "
          "(%lld) values, got %lld",
          input.name.c_str(), static_cast<long long>(wanted),
          static_cast<long long>(found[i]->values ? found[i]->count : 0));
    spec::Expected<std::vector<float>> made = quantise::kernelRows(
        spec.spec, input, {found[i]->values, size_t(wanted)});
    if (!made)
      return fail(diag, KVC_INVALID_DATA, "%s: %s", made.error().path.c_str(),
                  made.error().message.c_str());
    rows.push_back(std::move(*made));
    starts.push_back(rows.back().data());
  }
  return KVC_OK;
}
