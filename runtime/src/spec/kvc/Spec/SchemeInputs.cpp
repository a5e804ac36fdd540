//===- SchemeInputs.cpp - What schemes take beside k and v ----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Spec/SchemeInputs.h"

#include <algorithm>
#include <cassert>

using namespace kvc::spec;

std::vector<SchemeInput> kvc::spec::schemeInputs(const Spec &spec) {
  std::vector<SchemeInput> inputs;
  const int64_t heads = spec.attention.kvHeads;
  for (Tensor tensor : {Tensor::Key, Tensor::Value}) {
    const Scheme *scheme = schemeOf(spec, tensor);
    if (!scheme)
      continue;
    const std::string name = tensor == Tensor::Key ? "key" : "value";
    for (size_t i = 0; i < scheme->parts.size(); ++i) {
      const PartScheme &part = scheme->parts[i];
      const std::string prefix =
          scheme->explicitParts ? name + std::to_string(i) : name;
      if (part.hasStaticScale())
        inputs.push_back({prefix + "_scale", tensor, InputKind::Scale, i, heads,
                          part.blocks()});
      if (part.codec.takesTable())
        inputs.push_back({prefix + "_table", tensor, InputKind::Table, i, heads,
                          int64_t(1) << part.codec.bits});
    }
    if (std::ranges::any_of(scheme->parts, &PartScheme::smooth))
      inputs.push_back({name + "_smooth", tensor, InputKind::Smooth, 0, heads,
                        channelsOf(spec, tensor)});
  }
  return inputs;
}

size_t kvc::spec::inputNumber(const Spec &spec, Tensor tensor, InputKind kind,
                              size_t part) {
  const std::vector<SchemeInput> inputs = schemeInputs(spec);
  auto found = std::ranges::find_if(inputs, [&](const SchemeInput &input) {
    return input.tensor == tensor && input.kind == kind &&
           (kind == InputKind::Smooth || input.part == part);
  });
  assert(found != inputs.end() && "the spec has no such input");
  return size_t(found - inputs.begin());
}

bool kvc::spec::hasField(const PartScheme &part, RowField field) {
  switch (field) {
  case RowField::Scale:
    return part.hasStaticScale();
  case RowField::Table:
  case RowField::Thresholds:
  case RowField::Codes:
  case RowField::Largest:
    return part.codec.takesTable();
  case RowField::Smooth:
    return part.smooth;
  }
  return false;
}

RowRange kvc::spec::rowRange(const Spec &spec, Tensor tensor, size_t part,
                             RowField field) {
  const PartScheme &scheme = schemeOf(spec, tensor)->parts[part];
  const int64_t entries = int64_t(1) << scheme.codec.bits;
  const int64_t tableRow = 3 * entries + 1;
  switch (field) {
  case RowField::Scale:
    return {InputKind::Scale, 0, scheme.blocks(), scheme.blocks()};
  case RowField::Table:
    return {InputKind::Table, 0, entries, tableRow};
  case RowField::Thresholds:
    return {InputKind::Table, entries, entries, tableRow};
  case RowField::Codes:
    return {InputKind::Table, 2 * entries, entries, tableRow};
  case RowField::Largest:
    return {InputKind::Table, 3 * entries, 1, tableRow};
  case RowField::Smooth:
    return {InputKind::Smooth, scheme.begin, scheme.channels(),
            channelsOf(spec, tensor)};
  }
  return {};
}
