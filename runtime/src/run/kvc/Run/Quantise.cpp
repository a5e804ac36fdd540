//===- Quantise.cpp - The C API of quantisers -----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/quantise.h"
#include "kvc/Base/DefaultFloats.h"
#include "kvc/Base/Diag.h"
#include "kvc/Base/Struct.h"
#include "kvc/Cache/SchemeRows.h"
#include "kvc/Quantise/Floats.h"
#include "kvc/Quantise/TensorQuantiser.h"
#include "kvc/Run/Rows.h"

#include <string_view>

using namespace kvc;

struct kvc_quantiser {
  quantise::TensorQuantiser tensor;
  spec::DType query;
};

namespace {

/// The arrays of the spec's inputs, which have been checked, in its order.
std::vector<const float *> arraysOf(const kvc_spec &spec,
                                    const kvc_quantiser_options &options) {
  std::vector<const float *> arrays;
  for (const spec::SchemeInput &input : spec.inputs)
    for (int64_t i = 0; i < options.num_inputs; ++i)
      if (std::string_view(options.inputs[i].name) == input.name)
        arrays.push_back(options.inputs[i].values);
  return arrays;
}

/// Out of the way of whatever the compiler knows about the caller's code: the
/// environment has just been changed.
[[gnu::noinline]] void roundTrip(const kvc_quantiser &quantiser,
                                 const Rows &source, int64_t tokens,
                                 const Rows &target) {
  const int64_t channels = source.channels;
  for (int64_t t = 0; t < tokens; ++t)
    for (int64_t head = 0; head < source.heads; ++head) {
      const float *from = reinterpret_cast<const float *>(source.token(t)) +
                          head * source.headStride;
      float *to =
          reinterpret_cast<float *>(target.token(t)) + head * target.headStride;
      for (int64_t c = 0; c < channels; ++c)
        to[c] = quantise::roundTo(quantiser.query, from[c]);
    }
  const int64_t n = quantiser.tensor.blockTokens();
  for (int64_t t = 0; t < tokens; t += n)
    for (int64_t head = 0; head < target.heads; ++head)
      quantiser.tensor.roundTrip(head,
                                 {reinterpret_cast<float *>(target.token(t)) +
                                      head * target.headStride,
                                  target.tokenStride});
}

} // namespace

extern "C" kvc_status kvc_quantiser_create(const kvc_quantiser_options *given,
                                           kvc_diag *diag,
                                           kvc_quantiser **quantiser) {
  return guarded(diag, [&]() -> kvc_status {
    kvc_quantiser_options options;
    KVC_TRY(readStruct(given, "options", diag, options));
    if (!options.spec || !quantiser)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "%s: expected a pointer, got null",
                  options.spec ? "quantiser" : "options.spec");
    if (options.tensor != KVC_KEY && options.tensor != KVC_VALUE)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "options.tensor: expected KVC_KEY or KVC_VALUE, got %d",
                  static_cast<int>(options.tensor));
    const spec::Tensor tensor =
        options.tensor == KVC_KEY ? spec::Tensor::Key : spec::Tensor::Value;
    if (!spec::schemeOf(options.spec->spec, tensor))
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "options.tensor: expected KVC_KEY with value_is_key, got "
                  "KVC_VALUE");
    SchemeRows checked;
    KVC_TRY(
        checked.read(*options.spec, options.inputs, options.num_inputs, diag));
    const DefaultFloats guard;
    *quantiser = new kvc_quantiser{
        quantise::TensorQuantiser(options.spec->spec, tensor,
                                  arraysOf(*options.spec, options)),
        options.spec->spec.io.query};
    return KVC_OK;
  });
}

extern "C" kvc_status kvc_quantiser_free(kvc_quantiser *quantiser) {
  delete quantiser;
  return KVC_OK;
}

extern "C" kvc_status kvc_quantise_dequantise(const kvc_quantiser *quantiser,
                                              const kvc_f32_rows *source,
                                              int64_t tokens, kvc_diag *diag,
                                              const kvc_f32_rows *target) {
  return guarded(diag, [&]() -> kvc_status {
    if (!quantiser || !source || !target)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "%s: expected a pointer, got null",
                  !quantiser ? "quantiser"
                  : !source  ? "source"
                             : "target");
    const int64_t n = quantiser->tensor.blockTokens();
    if (tokens < 0 || tokens % n != 0)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "tokens: expected a multiple of %lld, got %lld",
                  static_cast<long long>(n), static_cast<long long>(tokens));
    Rows from, to;
    from.name = "source";
    to.name = "target";
    from.heads = to.heads = quantiser->tensor.heads();
    from.channels = to.channels = quantiser->tensor.channels();
    KVC_TRY(resolveRows(source->data, source->token_stride, source->head_stride,
                        tokens, diag, from));
    KVC_TRY(resolveRows(target->data, target->token_stride, target->head_stride,
                        tokens, diag, to));
    KVC_TRY(checkRows(from, 0, tokens, diag));
    const DefaultFloats guard;
    roundTrip(*quantiser, from, tokens, to);
    return KVC_OK;
  });
}
