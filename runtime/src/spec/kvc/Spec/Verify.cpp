//===- Verify.cpp - Rules of attention, segments and layout ---------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Spec/Parse.h"

using namespace kvc::spec;

bool kvc::spec::verifyAttention(const Attention &attention,
                                const std::string &path, Diagnosis &diagnosis) {
  if (attention.qHeads % attention.kvHeads != 0)
    return diagnosis.fail(path + ".q_heads", "A2",
                          "q_heads, expected a multiple of kv_heads " +
                              std::to_string(attention.kvHeads) + ", got " +
                              std::to_string(attention.qHeads));
  if (attention.group() > 128)
    return diagnosis.fail(
        path + ".q_heads", "A3",
        "q_heads / kv_heads, expected a group of 1 to 128, got " +
            std::to_string(attention.group()));
  if (attention.headDim % 8 != 0)
    return diagnosis.fail(
        path + ".head_dim", "A4",
        "head_dim, expected a multiple of 8 from 16 to 576, got " +
            std::to_string(attention.headDim));

  if (attention.valueIsKey) {
    int64_t size = (*attention.valueIsKey)[1] - (*attention.valueIsKey)[0];
    if (size < kMinChannels || size % 8 != 0)
      return diagnosis.fail(
          path + ".value_is_key", "A13",
          "size of the slice, expected a multiple of 8 from 16 to 576, got " +
              std::to_string(size));
    if (attention.valueDim != size)
      return diagnosis.fail(
          path + ".value_dim", "A14",
          "value_dim, expected the size of the slice value_is_key, " +
              std::to_string(size) + ", got " +
              std::to_string(attention.valueDim));
  }
  if (attention.valueDim % 8 != 0)
    return diagnosis.fail(
        path + ".value_dim", "A5",
        "value_dim, expected a multiple of 8 from 16 to 576, got " +
            std::to_string(attention.valueDim));

  if (attention.window && !attention.causal)
    return diagnosis.fail(
        path + ".window", "A9",
        "window, expected mask \"causal\" with it, got mask \"none\"");
  if (attention.windowSinks > 0 && !attention.window)
    return diagnosis.fail(path + ".window_sinks", "A11",
                          "window_sinks " +
                              std::to_string(attention.windowSinks) +
                              ", expected a window with it, got none");
  return true;
}

bool kvc::spec::verifyLayout(const Layout &layout, const std::string &path,
                             Diagnosis &diagnosis) {
  if (layout.kind == LayoutKind::Paged &&
      (layout.page & (layout.page - 1)) != 0)
    return diagnosis.fail(path + ".page", "L3",
                          "page, expected a power of two from 1 to 256, got " +
                              std::to_string(layout.page));
  if (!layout.interleaved)
    return true;
  if (layout.kind != LayoutKind::Paged)
    return diagnosis.fail(path + ".interleaved", "L8",
                          "interleaved, expected kind \"paged\" with it, got " +
                              quote(nameIn(kLayoutKindNames, layout.kind)));
  if (layout.order == Order::Ggml || layout.order == Order::Token)
    return diagnosis.fail(path + ".interleaved", "L9",
                          "interleaved, expected order \"nhd\", \"hnd\" or "
                          "\"auto\" with it, got " +
                              quote(nameIn(kOrderNames, layout.order)));
  return true;
}

/// Bytes that `tokens` tokens of one kv head take, without padding; `tokens` is
/// a multiple of every part's scale block.
static int64_t bytesOf(const Scheme &scheme, int64_t tokens) {
  int64_t bytes = 0;
  for (const PartScheme &part : scheme.parts) {
    bytes += tokens * ((part.channels() * part.codec.bits + 7) / 8);
    bytes += tokens * part.outliers * 4;
    if (!part.scale || part.scale->isStatic)
      continue;
    int64_t numbers = part.zero == Zero::None ? 1 : 2;
    bytes += tokens / part.scale->tokens * part.blocks() * numbers *
             (bitsOf(part.scale->dtype) / 8);
  }
  return bytes;
}

/// Null if a tensor fits ggml's blocks of 32, else what does not.
static const char *ggmlObstacle(const Scheme &scheme) {
  if (scheme.explicitParts)
    return "parts";
  const PartScheme &part = scheme.parts.front();
  if (part.codec.isRaw())
    return nullptr;
  bool eight =
      part.codec.isInt() && part.codec.bits == 8 && part.zero == Zero::None;
  bool narrow = part.codec.isInt() &&
                (part.codec.bits == 4 || part.codec.bits == 5) &&
                (part.zero == Zero::None || part.zero == Zero::Min);
  if (!eight && !narrow)
    return "another codec or zero";
  if (part.scale->tokens != 1 || part.blockChannels() != 32)
    return "another scale block";
  if (part.scale->dtype != DType::F16)
    return "another scale dtype";
  if (part.outliers != 0)
    return "outliers";
  return nullptr;
}

static bool verifyTensor(const Spec &spec, const Scheme &scheme,
                         const std::string &path, Diagnosis &diagnosis) {
  int64_t n = scheme.blockTokens();
  const Layout &layout = spec.layout;
  if (n > 1 && spec.segments.recent < n)
    return diagnosis.fail("$.segments.recent", "G2",
                          "recent, expected at least the " + std::to_string(n) +
                              " tokens of a scale block of " + path + ", got " +
                              std::to_string(spec.segments.recent));
  if (n > 1 && layout.kind == LayoutKind::Paged && layout.page % n != 0)
    return diagnosis.fail("$.layout.page", "L4",
                          "page, expected a multiple of the " +
                              std::to_string(n) +
                              " tokens of a scale block of " + path + ", got " +
                              std::to_string(layout.page));
  if (layout.order == Order::Ggml)
    if (const char *obstacle = ggmlObstacle(scheme))
      return diagnosis.fail("$.layout.order", "L12",
                            "order \"ggml\", expected a raw codec, int8 with "
                            "zero \"none\", or int4 or int5 with zero "
                            "\"none\" or \"min\", 1 token x 32 channels in "
                            "f16, no outliers, no parts, got " +
                                std::string(obstacle) + " in " + path);
  if (layout.order == Order::Token)
    for (const PartScheme &part : scheme.parts)
      if (part.scale && (part.scale->isStatic || part.scale->tokens != 1))
        return diagnosis.fail(
            "$.layout.order", "L13",
            "order \"token\", expected scale.tokens 1 or a raw codec, got " +
                (part.scale->isStatic
                     ? std::string("a static scale")
                     : std::to_string(part.scale->tokens) + " tokens") +
                " in " + path);
  return true;
}

bool kvc::spec::verifySections(const Spec &spec, Diagnosis &diagnosis) {
  const Layout &layout = spec.layout;
  if (layout.kind == LayoutKind::Ring) {
    if (!spec.attention.window)
      return diagnosis.fail(
          "$.layout.kind", "L5",
          "kind \"ring\", expected attention.window with it, got none");
    if (spec.attention.windowSinks > spec.segments.sink)
      return diagnosis.fail(
          "$.attention.window_sinks", "L7",
          "window_sinks with kind \"ring\", expected at most segments.sink " +
              std::to_string(spec.segments.sink) + ", got " +
              std::to_string(spec.attention.windowSinks));
  }
  if (!verifyTensor(spec, spec.key, "$.key", diagnosis) ||
      (spec.value && !verifyTensor(spec, *spec.value, "$.value", diagnosis)))
    return false;

  if (!layout.interleaved)
    return true;
  if (!spec.value)
    return diagnosis.fail("$.layout.interleaved", "L10",
                          "interleaved, expected a V of its own with it, got "
                          "attention.value_is_key");
  int64_t key = bytesOf(spec.key, layout.page),
          value = bytesOf(*spec.value, layout.page);
  if (key != value)
    return diagnosis.fail(
        "$.layout.interleaved", "L11",
        "interleaved, expected equal bytes per token of K and V, got " +
            std::to_string(key) + " and " + std::to_string(value) +
            " bytes for the " + std::to_string(layout.page) +
            " tokens of a page and kv head");
  return true;
}
