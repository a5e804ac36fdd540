//===- Hash.cpp - The hash of a cache's bytes -----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Hashed are the fields that decide which bytes the same inputs give, in
// resolved form: "all" channels and their number are one, a tensor and its
// single part are one. Masks, the scale of the scores, output types and rope (K
// is stored before it) do not count. The text below is a contract: a change of
// it makes saved caches foreign.
//
//===----------------------------------------------------------------------===//

#include "kvc/Spec/Names.h"
#include "kvc/Spec/Sha256.h"

#include <bit>

using namespace kvc::spec;

namespace {

/// "name=value;" after "name=value;".
class Fields {
public:
  void add(std::string_view name, std::string_view value) {
    text += name;
    text += '=';
    text += value;
    text += ';';
  }
  void add(std::string_view name, int64_t value) {
    add(name, std::string_view(std::to_string(value)));
  }
  /// Numbers act as f32; their bits are unambiguous.
  void add(std::string_view name, float value) {
    add(name, int64_t(std::bit_cast<uint32_t>(value)));
  }

  std::string text = "kvc-layout-1;";
};

} // namespace

static void addPart(Fields &fields, const PartScheme &part) {
  fields.add("channels", part.channels());
  fields.add("codec", codecName(part.codec));
  if (part.codec.kind == CodecKind::Lut) {
    fields.add("bits", int64_t(part.codec.bits));
    for (float entry : part.codec.table)
      fields.add("entry", entry);
  }
  if (part.scale) {
    const Scale &scale = *part.scale;
    fields.add("scale_tokens", scale.tokens);
    fields.add("scale_channels", part.blockChannels());
    fields.add("scale_dtype", nameOf(scale.dtype));
    fields.add("scale_static", int64_t(scale.isStatic));
    fields.add("scale_round", int64_t(scale.round == ScaleRound::Up));
    fields.add("scale_floor", static_cast<float>(scale.floor.value_or(0)));
    fields.add("scale_global", static_cast<float>(scale.global));
  }
  fields.add("zero", nameIn(kZeroNames, part.zero));
  fields.add("clip", static_cast<float>(part.clip));
  fields.add("estimate", nameIn(kEstimateNames, part.estimate));
  fields.add("codes_from", nameIn(kCodesFromNames, part.codesFrom));
  fields.add("round", nameIn(kRoundNames, part.round));
  fields.add("rotate", part.rotate);
  fields.add("smooth", int64_t(part.smooth));
  fields.add("outliers", part.outliers);
}

std::string kvc::spec::layoutHash(const Spec &spec) {
  Fields fields;
  fields.add("kv_heads", spec.attention.kvHeads);
  fields.add("query", nameOf(spec.io.query));
  for (Tensor tensor : {Tensor::Key, Tensor::Value}) {
    const Scheme *scheme = schemeOf(spec, tensor);
    fields.add(tensor == Tensor::Key ? "key" : "value",
               scheme ? channelsOf(spec, tensor) : 0);
    if (scheme)
      for (const PartScheme &part : scheme->parts)
        addPart(fields, part);
  }
  fields.add("sink", spec.segments.sink);
  fields.add("recent", spec.segments.recent);
  fields.add("kind", nameIn(kLayoutKindNames, spec.layout.kind));
  fields.add("page", spec.layout.page);
  fields.add("order", nameIn(kOrderNames, spec.layout.order));
  fields.add("interleaved", int64_t(spec.layout.interleaved));
  // The window decides how many tokens a ring holds.
  if (spec.layout.kind == LayoutKind::Ring)
    fields.add("window", spec.attention.window.value_or(0));
  return sha256Hex(fields.text);
}
