//===- SpecHandle.cpp - The C API of specs --------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Base/SpecHandle.h"

#include "kvc/Base/Diag.h"
#include "kvc/Base/Struct.h"
#include "kvc/Layout/PageLayout.h"
#include "kvc/Spec/Bytes.h"

#include <bit>

using namespace kvc;

kvc_spec::kvc_spec(spec::Spec parsed)
    : spec(std::move(parsed)), json(spec::printSpec(spec)),
      hash(spec::layoutHash(spec)), inputs(spec::schemeInputs(spec)) {
  for (spec::Tensor tensor : {spec::Tensor::Key, spec::Tensor::Value})
    if (const spec::Scheme *scheme = spec::schemeOf(spec, tensor))
      for (const spec::PartScheme &part : scheme->parts)
        codecs[static_cast<size_t>(tensor)].push_back(
            spec::codecName(part.codec));
}

kvc_status kvc::parseSpecHandle(std::string_view text, const char *place,
                                kvc_diag *diag,
                                std::unique_ptr<kvc_spec> &spec) {
  spec::Expected<spec::Spec> parsed = spec::parseSpec(text);
  if (!parsed)
    return fail(diag, KVC_INVALID_DATA, "%s%s", place,
                parsed.error().str().c_str());
  spec = std::make_unique<kvc_spec>(std::move(*parsed));
  return KVC_OK;
}

kvc_dtype kvc::dtypeOf(spec::DType type) {
  switch (type) {
  case spec::DType::F32:
    return KVC_F32;
  case spec::DType::F16:
    return KVC_F16;
  case spec::DType::BF16:
    return KVC_BF16;
  case spec::DType::E8M0:
    return KVC_E8M0;
  case spec::DType::E4M3:
    return KVC_E4M3;
  }
  return KVC_F32;
}

int64_t kvc::bytesOf(spec::DType type) { return spec::bitsOf(type) / 8; }

namespace {

kvc_status checkSpec(const kvc_spec *spec, kvc_diag *diag) {
  return spec ? KVC_OK
              : fail(diag, KVC_INVALID_ARGUMENT,
                     "spec: expected a spec, got null");
}

kvc_status tensorOf(kvc_tensor tensor, kvc_diag *diag, spec::Tensor &result) {
  if (tensor != KVC_KEY && tensor != KVC_VALUE)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "tensor: expected KVC_KEY or KVC_VALUE, got %d",
                static_cast<int>(tensor));
  result = tensor == KVC_KEY ? spec::Tensor::Key : spec::Tensor::Value;
  return KVC_OK;
}

/// The spec with pages of `page` tokens instead of its own.
kvc_status withPage(const spec::Spec &spec, int64_t page, kvc_diag *diag,
                    spec::Spec &paged) {
  if (page < 1 || page > 256 || !std::has_single_bit(uint64_t(page)))
    return fail(diag, KVC_INVALID_ARGUMENT,
                "page: expected a power of two from 1 to 256, got %lld",
                static_cast<long long>(page));
  paged = spec;
  paged.layout.kind = spec::LayoutKind::Paged;
  paged.layout.page = page;
  for (spec::Tensor tensor : {spec::Tensor::Key, spec::Tensor::Value}) {
    const spec::Scheme *scheme = spec::schemeOf(paged, tensor);
    if (scheme && page % scheme->blockTokens() != 0)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "page: expected a multiple of scale.tokens (%lld), got %lld",
                  static_cast<long long>(scheme->blockTokens()),
                  static_cast<long long>(page));
  }
  return KVC_OK;
}

} // namespace

extern "C" kvc_status kvc_spec_parse(const char *text, size_t size,
                                     kvc_diag *diag, kvc_spec **spec) {
  return guarded(diag, [&]() -> kvc_status {
    KVC_TRY(requirePointer(text, "text", diag));
    KVC_TRY(requirePointer(spec, "spec", diag));
    std::unique_ptr<kvc_spec> parsed;
    KVC_TRY(parseSpecHandle({text, size}, "", diag, parsed));
    *spec = parsed.release();
    return KVC_OK;
  });
}

extern "C" kvc_status kvc_spec_free(kvc_spec *spec) {
  delete spec;
  return KVC_OK;
}

extern "C" kvc_status kvc_spec_json(const kvc_spec *spec, const char **json) {
  if (!spec || !json)
    return KVC_INVALID_ARGUMENT;
  *json = spec->json.c_str();
  return KVC_OK;
}

extern "C" kvc_status kvc_layout_hash(const kvc_spec *spec, const char **hash) {
  if (!spec || !hash)
    return KVC_INVALID_ARGUMENT;
  *hash = spec->hash.c_str();
  return KVC_OK;
}

extern "C" kvc_status kvc_page_bytes(const kvc_spec *spec, int64_t page,
                                     kvc_diag *diag, int64_t *bytes) {
  return guarded(diag, [&]() -> kvc_status {
    KVC_TRY(checkSpec(spec, diag));
    KVC_TRY(requirePointer(bytes, "bytes", diag));
    spec::Spec paged;
    KVC_TRY(withPage(spec->spec, page, diag, paged));
    *bytes = layout::pageBytes(paged, layout::TargetFamily::Host);
    return KVC_OK;
  });
}

extern "C" kvc_status kvc_page_slice_bytes(const kvc_spec *spec,
                                           kvc_tensor tensor, int64_t page,
                                           kvc_diag *diag, int64_t *bytes) {
  return guarded(diag, [&]() -> kvc_status {
    KVC_TRY(checkSpec(spec, diag));
    KVC_TRY(requirePointer(bytes, "bytes", diag));
    spec::Tensor which{};
    KVC_TRY(tensorOf(tensor, diag, which));
    spec::Spec paged;
    KVC_TRY(withPage(spec->spec, page, diag, paged));
    *bytes = layout::pageLayout(paged, which, layout::TargetFamily::Host).bytes;
    return KVC_OK;
  });
}

extern "C" kvc_status kvc_supports(const kvc_spec *spec, const char **reason) {
  if (!spec || !reason)
    return KVC_INVALID_ARGUMENT;
  *reason = nullptr; // Every spec that parses compiles and runs.
  return KVC_OK;
}

extern "C" kvc_status kvc_spec_get_info(const kvc_spec *spec, kvc_diag *diag,
                                        kvc_spec_info *info) {
  return guarded(diag, [&]() -> kvc_status {
    KVC_TRY(checkSpec(spec, diag));
    const spec::Attention &attention = spec->spec.attention;
    kvc_spec_info result = {};
    result.name = spec->spec.name.c_str();
    result.q_heads = attention.qHeads;
    result.kv_heads = attention.kvHeads;
    result.head_dim = attention.headDim;
    result.value_dim = attention.valueDim;
    result.scale = attention.scale;
    result.causal = attention.causal;
    result.window = attention.window.value_or(0);
    result.window_sinks = attention.windowSinks;
    result.softcap = attention.softcap.value_or(0);
    result.alibi = attention.alibi;
    result.sink_logits = attention.sinkLogits;
    result.value_is_key = attention.valueIsKey.has_value();
    result.value_begin = attention.valueIsKey ? (*attention.valueIsKey)[0] : 0;
    result.query = dtypeOf(spec->spec.io.query);
    result.output = dtypeOf(spec->spec.io.output);
    result.sink = spec->spec.segments.sink;
    result.recent = spec->spec.segments.recent;
    switch (spec->spec.layout.kind) {
    case spec::LayoutKind::Contiguous:
      result.layout = KVC_CONTIGUOUS;
      break;
    case spec::LayoutKind::Paged:
      result.layout = KVC_PAGED;
      result.page = spec->spec.layout.page;
      break;
    case spec::LayoutKind::Ring:
      result.layout = KVC_RING;
      break;
    }
    if (const std::optional<spec::Rope> &rope = spec->spec.key.rope) {
      result.rope_dims = rope->dims;
      result.rope_offset = rope->offset;
      result.rope_pairs = rope->pairs;
      result.rope_theta = rope->theta;
    }
    return writeStruct(result, "info", diag, info);
  });
}

extern "C" kvc_status kvc_spec_get_tensor(const kvc_spec *spec,
                                          kvc_tensor tensor, kvc_diag *diag,
                                          kvc_tensor_info *info) {
  return guarded(diag, [&]() -> kvc_status {
    KVC_TRY(checkSpec(spec, diag));
    spec::Tensor which{};
    KVC_TRY(tensorOf(tensor, diag, which));
    kvc_tensor_info result = {};
    result.channels = spec::channelsOf(spec->spec, which);
    if (const spec::Scheme *scheme = spec::schemeOf(spec->spec, which)) {
      result.num_parts = static_cast<int64_t>(scheme->parts.size());
      result.block_tokens = scheme->blockTokens();
      result.bytes_per_token = spec::bytesPerToken(*scheme);
      result.lists_parts = scheme->explicitParts;
      for (const spec::PartScheme &part : scheme->parts)
        result.blocks += part.blocks();
    }
    return writeStruct(result, "info", diag, info);
  });
}

extern "C" kvc_status kvc_spec_get_part(const kvc_spec *spec, kvc_tensor tensor,
                                        int64_t part, kvc_diag *diag,
                                        kvc_part_info *info) {
  return guarded(diag, [&]() -> kvc_status {
    KVC_TRY(checkSpec(spec, diag));
    spec::Tensor which{};
    KVC_TRY(tensorOf(tensor, diag, which));
    const spec::Scheme *scheme = spec::schemeOf(spec->spec, which);
    int64_t count = scheme ? static_cast<int64_t>(scheme->parts.size()) : 0;
    if (part < 0 || part >= count)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "part: expected a number below %lld, got %lld",
                  static_cast<long long>(count), static_cast<long long>(part));
    const spec::PartScheme &chosen = scheme->parts[size_t(part)];
    kvc_part_info result = {};
    result.begin = chosen.begin;
    result.end = chosen.end;
    result.codec =
        spec->codecs[static_cast<size_t>(which)][size_t(part)].c_str();
    result.bits = static_cast<int32_t>(chosen.codec.bits);
    result.raw = chosen.codec.isRaw();
    result.raw_dtype = dtypeOf(chosen.codec.raw);
    result.signed_codes =
        chosen.codec.isInt() && chosen.zero == spec::Zero::None;
    result.has_zero = chosen.zero != spec::Zero::None;
    if (chosen.scale) {
      result.static_scale = chosen.scale->isStatic;
      result.scale_dtype = dtypeOf(chosen.scale->dtype);
    }
    result.blocks = chosen.blocks();
    result.outliers = chosen.outliers;
    return writeStruct(result, "info", diag, info);
  });
}

extern "C" kvc_status kvc_spec_input_count(const kvc_spec *spec,
                                           int64_t *count) {
  if (!spec || !count)
    return KVC_INVALID_ARGUMENT;
  *count = static_cast<int64_t>(spec->inputs.size());
  return KVC_OK;
}

extern "C" kvc_status kvc_spec_get_input(const kvc_spec *spec, int64_t index,
                                         kvc_diag *diag, kvc_input_info *info) {
  return guarded(diag, [&]() -> kvc_status {
    KVC_TRY(checkSpec(spec, diag));
    auto count = static_cast<int64_t>(spec->inputs.size());
    if (index < 0 || index >= count)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "index: expected a number below %lld, got %lld",
                  static_cast<long long>(count), static_cast<long long>(index));
    const spec::SchemeInput &input = spec->inputs[size_t(index)];
    kvc_input_info result = {};
    result.name = input.name.c_str();
    switch (input.kind) {
    case spec::InputKind::Scale:
      result.kind = KVC_INPUT_SCALE;
      break;
    case spec::InputKind::Table:
      result.kind = KVC_INPUT_TABLE;
      break;
    case spec::InputKind::Smooth:
      result.kind = KVC_INPUT_SMOOTH;
      break;
    }
    result.tensor = input.tensor == spec::Tensor::Key ? KVC_KEY : KVC_VALUE;
    result.part = static_cast<int64_t>(input.part);
    result.kv_heads = input.heads;
    result.columns = input.columns;
    return writeStruct(result, "info", diag, info);
  });
}
