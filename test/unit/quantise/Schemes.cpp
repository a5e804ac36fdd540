//===- Schemes.cpp - Random schemes ---------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Schemes.h"

using namespace kvc::test;

namespace {

/// One of a list of texts.
template <size_t n>
std::string any(Random &random, const char *const (&texts)[n]) {
  return texts[random.below(n)];
}

/// The same, but the empty text six times out of seven.
template <size_t n>
std::string seldom(Random &random, const char *const (&texts)[n]) {
  return random.below(7) == 0 ? any(random, texts) : "";
}

constexpr const char *kCodecs[] = {
    R"("int8")",
    R"("int7")",
    R"("int5")",
    R"("int4")",
    R"("int3")",
    R"("int2")",
    R"("fp8_e4m3")",
    R"("fp8_e5m2")",
    R"("fp4_e2m1")",
    R"("lut", "table": {"bits": 2})",
    R"("lut", "table": {"bits": 4})",
    R"("lut", "table": [-1, 0.75, 0.125, -0.375])",
    R"("lut", "table": [-2.5, -1, -0.5, 0, 0, 0.25, 1, 1.5])",
};

/// The options of a scheme or of a part.
std::string options(Random &random) {
  if (random.below(16) == 0)
    return R"("codec": )" + any(random, {R"("f32")", R"("f16")", R"("bf16")"}) +
           seldom(random, {R"(, "rotate": 16)", R"(, "smooth": true)"});
  const std::string scale =
      random.below(5) == 0
          ? R"("static": true, "tokens": "all")"
          : R"("tokens": )" + any(random, {"1", "1", "1", "4", "8"});
  return R"("codec": )" + any(random, kCodecs) + R"(, "scale": {)" + scale +
         R"(, "channels": )" + any(random, {R"("all")", "1", "4", "16"}) +
         R"(, "dtype": )" +
         any(random, {R"("f16")", R"("f16")", R"("bf16")", R"("f32")",
                      R"("e8m0")", R"("e4m3")"}) +
         seldom(random, {R"(, "round": "up")"}) +
         seldom(random, {R"(, "floor": 0.01)", R"(, "floor": 1e-4)"}) +
         seldom(random, {R"(, "global": 0.37)", R"(, "global": 3)"}) + "}" +
         any(random, {"", "", R"(, "zero": "min")", R"(, "zero": "code")",
                      R"(, "zero": "mid")"}) +
         seldom(random, {R"(, "clip": 0.9)", R"(, "clip": 0.33)"}) +
         seldom(random,
                {R"(, "estimate": "signed")", R"(, "estimate": "rms")"}) +
         seldom(random, {R"(, "codes_from": "exact")"}) +
         seldom(random, {R"(, "round": "away")", R"(, "round": "up")"}) +
         seldom(random, {R"(, "rotate": 8)", R"(, "rotate": 16)"}) +
         seldom(random, {R"(, "smooth": true)"}) +
         seldom(random, {R"(, "outliers": 1)", R"(, "outliers": 3)"});
}

std::string scheme(Random &random, int64_t channels) {
  if (random.below(4) != 0)
    return "{" + options(random) + "}";
  const std::string middle = random.below(2) ? "16" : "32";
  return R"({"parts": [{"channels": [0, )" + middle + "], " + options(random) +
         R"(}, {"channels": [)" + middle + ", " + std::to_string(channels) +
         "], " + options(random) + "}]}";
}

} // namespace

std::string kvc::test::randomSpec(Random &random) {
  return R"({"kvc": 1, "attention": {"q_heads": 2, "kv_heads": 2,
             "head_dim": 64, "value_dim": 48}, "io": {"query": )" +
         any(random, {R"("f16")", R"("bf16")", R"("f32")"}) + R"(}, "key": )" +
         scheme(random, 64) + R"(, "value": )" + scheme(random, 48) +
         R"(, "segments": {"recent": 8}})";
}
