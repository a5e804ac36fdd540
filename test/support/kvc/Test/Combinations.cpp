//===- Combinations.cpp - Every three options together --------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Test/Combinations.h"

using namespace kvc::test;

// The first level of each combines with most others.
static const std::vector<Property> kProperties = {
    {"codec",
     {"int4", "int8", "int7", "int6", "int5", "int3", "int2", "f16", "bf16",
      "f32", "fp8_e4m3", "fp8_e5m2", "fp4_e2m1", "lut", "lut of inputs"}},
    {"zero", {"none", "min", "code", "mid"}},
    {"block",
     {"1 x all f16", "1 x 32 f16", "1 x all f32", "1 x 16 e8m0", "1 x 16 e4m3",
      "32 x 1 f16", "16 x 8 bf16", "all x 1 f16", "all x all f32"}},
    {"extra",
     {"none", "clip", "signed", "rms", "exact", "away", "power of two",
      "floor"}},
    {"transform",
     {"none", "rotate 8", "rotate 64", "smooth", "rope", "outliers",
      "rotate 16, outliers", "parts"}},
    {"segments", {"0 0", "4 0", "0 32", "2 64"}},
    {"layout",
     {"contiguous auto", "paged 16 auto", "paged 64 nhd", "paged 8 hnd",
      "paged 32 interleaved", "contiguous ggml", "paged 64 token", "ring"}},
    {"variant",
     {"causal", "none", "window 20", "window 20 sinks 3", "everything",
      "value is key", "value is slice"}},
    {"head_dim", {"64", "128", "72", "80", "96", "576"}},
    {"group", {"1", "3", "8", "71"}},
    {"query", {"f16", "bf16", "f32"}},
    {"batch", {"decode", "prefill"}}};

Combination::Combination(const Row &row) : row(row) {
  channels = std::stoi(of("head_dim"));
  width = is("transform", "parts") ? channels / 2 : channels;
}

const std::string &Combination::of(std::string_view property) const {
  size_t p = 0;
  while (kProperties[p].name != property)
    ++p;
  return kProperties[p].levels[row[p]];
}

std::string Combination::levels() const {
  std::string text;
  for (size_t p = 0; p < row.size(); ++p)
    text += (p ? ", " : "") + kProperties[p].name + "=" +
            kProperties[p].levels[row[p]];
  return text;
}

//===----------------------------------------------------------------------===//
// What the levels mean
//===----------------------------------------------------------------------===//

bool Combination::isRaw() const {
  return is("codec", "f16") || is("codec", "bf16") || is("codec", "f32");
}

/// Integers that ggml has, of blocks that it may have.
bool Combination::isGgml() const {
  return (is("codec", "int8") && is("zero", "none")) ||
         ((is("codec", "int4") || is("codec", "int5")) &&
          (is("zero", "none") || is("zero", "min")));
}

bool Combination::hasOutliers() const {
  return of("transform").find("outliers") != std::string::npos;
}

int Combination::recentTokens() const {
  return std::stoi(of("segments").substr(of("segments").find(' ')));
}

int Combination::blockTokens() const {
  return isRaw() || isStatic() ? 1 : std::stoi(of("block"));
}

int Combination::blockChannels() const {
  const std::string rest = of("block").substr(of("block").find('x') + 2);
  return rest.starts_with("all") ? 0 : std::stoi(rest);
}

size_t Combination::rotation() const {
  return of("transform").starts_with("rotate")
             ? std::stoul(of("transform").substr(7))
             : 0;
}

//===----------------------------------------------------------------------===//
// As a spec
//===----------------------------------------------------------------------===//

std::string Combination::text(const std::string &name) const {
  std::string result = R"({"kvc": 1, "name": ")" + name +
                       "\",\n \"attention\": " + attentionText() +
                       ",\n \"io\": {\"query\": \"" + of("query") +
                       "\"},\n \"key\": " + schemeText(true);
  if (hasValue())
    result += ",\n \"value\": " + schemeText(false);
  const std::string &segments = of("segments");
  return result + ",\n \"segments\": {\"sink\": " +
         segments.substr(0, segments.find(' ')) +
         ", \"recent\": " + std::to_string(recentTokens()) +
         "},\n \"layout\": " + layoutText() + "}\n";
}

std::string Combination::attentionText() const {
  const int group = std::stoi(of("group")), kvHeads = group > 8 ? 1 : 2;
  std::string text = "{\"kv_heads\": " + std::to_string(kvHeads) +
                     ", \"q_heads\": " + std::to_string(kvHeads * group) +
                     ", \"head_dim\": " + of("head_dim");
  if (is("variant", "none"))
    text += R"(, "mask": "none")";
  if (of("variant").starts_with("window"))
    text += R"(, "window": 20)";
  if (is("variant", "window 20 sinks 3"))
    text += R"(, "window_sinks": 3)";
  if (is("variant", "everything"))
    text += R"(, "softcap": 30, "alibi": true, "sink_logits": true)";
  if (is("variant", "value is key"))
    text += R"(, "value_is_key": "all")";
  if (is("variant", "value is slice"))
    text += R"(, "value_is_key": [8, 40])";
  return text + "}";
}

std::string Combination::schemeText(bool isKey) const {
  std::string text = "\"codec\": \"";
  if (isLut())
    text += is("codec", "lut") ? R"(lut", "table": [-1, -0.3, 0.2, 0.9])"
                               : R"(lut", "table": {"bits": 3})";
  else
    text += of("codec") + "\"";
  if (!isRaw()) {
    const std::string &block = of("block");
    text += ", \"scale\": {\"tokens\": ";
    text +=
        isStatic() ? R"("all", "static": true)" : std::to_string(blockTokens());
    text += ", \"channels\": " +
            (blockChannels() ? std::to_string(blockChannels()) : "\"all\"") +
            ", \"dtype\": \"" + block.substr(block.rfind(' ') + 1) + "\"";
    if (is("extra", "power of two"))
      text += R"(, "round": "up")";
    if (is("extra", "floor"))
      text += R"(, "floor": 0.001)";
    text += "}";
  }
  if (!is("zero", "none"))
    text += ", \"zero\": \"" + of("zero") + "\"";
  if (is("extra", "clip"))
    text += R"(, "clip": 0.9)";
  if (is("extra", "signed") || is("extra", "rms"))
    text += ", \"estimate\": \"" + of("extra") + "\"";
  if (is("extra", "exact"))
    text += R"(, "codes_from": "exact")";
  if (is("extra", "away"))
    text += R"(, "round": "away")";
  if (const size_t n = rotation())
    text += ", \"rotate\": " + std::to_string(n);
  if (is("transform", "smooth"))
    text += R"(, "smooth": true)";
  if (hasOutliers())
    text += R"(, "outliers": 2)";
  if (is("transform", "rope") && isKey)
    text += R"(, "rope": {"style": "half", "dims": 32})";
  if (!is("transform", "parts"))
    return "{" + text + "}";
  const std::string middle = std::to_string(width);
  return R"({"parts": [{"channels": [0, )" + middle +
         R"(], "codec": "bf16"}, {"channels": [)" + middle + ", " +
         std::to_string(channels) + "], " + text + "}]}";
}

std::string Combination::layoutText() const {
  const std::string &layout = of("layout");
  std::string text =
      "{\"kind\": \"" + layout.substr(0, layout.find(' ')) + "\"";
  if (layout.starts_with("paged"))
    text += ", \"page\": " + std::to_string(std::stoi(layout.substr(6)));
  for (const char *order : {"auto", "nhd", "hnd", "ggml", "token"})
    if (layout.ends_with(order))
      text += std::string(", \"order\": \"") + order + "\"";
  if (layout.ends_with("interleaved"))
    text += ", \"interleaved\": true";
  return text + "}";
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

void Combination::findBrokenOfScheme(std::set<std::string> &rules) const {
  auto require = [&](bool holds, const char *rule) {
    if (!holds)
      rules.insert(rule);
  };
  const bool isDynamic = !isRaw() && !isStatic();
  const bool plainScale = isDynamic && !of("block").ends_with("e8m0") &&
                          !of("block").ends_with("e4m3");
  if (is("zero", "min") || is("zero", "code"))
    require(isInt() && plainScale, "K19");
  if (is("zero", "mid"))
    require(isLut() && plainScale, "K20");
  if (const size_t n = rotation())
    require(width % n == 0, "K28");
  if (isRaw()) {
    require(is("extra", "none") || is("extra", "power of two") ||
                is("extra", "floor"),
            "K27");
    require(!hasOutliers(), "K27");
    return;
  }
  require(!isStatic() || is("zero", "none"), "K12");
  const int block = blockChannels();
  require(block == 0 || width % block == 0, "K10");
  if (is("extra", "power of two"))
    require(is("zero", "none") || of("block").ends_with("e8m0"), "K14");
  if (is("extra", "floor"))
    require(isDynamic && !of("block").ends_with("e8m0"), "K16");
  if (is("extra", "clip"))
    require(isDynamic, "K22");
  if (is("extra", "signed"))
    require(isInt() && is("zero", "none") && plainScale, "K23");
  if (is("extra", "rms"))
    require(isLut() && is("zero", "none") && isDynamic, "K24");
  if (is("extra", "exact"))
    require((is("zero", "none") || is("zero", "min")) && plainScale, "K25");
  if (is("extra", "away"))
    require(isInt(), "K26");
}

std::set<std::string> Combination::broken() const {
  std::set<std::string> rules;
  findBrokenOfScheme(rules);
  auto require = [&](bool holds, const char *rule) {
    if (!holds)
      rules.insert(rule);
  };
  const int tokens = blockTokens(), recent = recentTokens();
  require(tokens == 1 || recent >= tokens, "G2");
  const std::string &layout = of("layout");
  if (layout.starts_with("paged"))
    require(std::stoi(layout.substr(6)) % tokens == 0, "L4");
  if (layout == "ring") {
    require(of("variant").starts_with("window"), "L5");
    require(!is("variant", "window 20 sinks 3") || is("segments", "4 0"), "L7");
  }
  if (layout == "paged 32 interleaved")
    require(hasValue(), "L10");
  if (layout == "contiguous ggml")
    require(!is("transform", "parts") &&
                (isRaw() ||
                 (isGgml() && is("block", "1 x 32 f16") && !hasOutliers())),
            "L12");
  if (layout == "paged 64 token")
    require(isRaw() || (tokens == 1 && !isStatic()), "L13");
  return rules;
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

std::span<const Property> kvc::test::combinationProperties() {
  return kProperties;
}

static std::vector<Combination> combinations(const Faults &faults) {
  std::vector<Combination> result;
  for (const Row &row : rowsOfTriples(kProperties, faults, /*seed=*/1))
    result.emplace_back(row);
  return result;
}

std::vector<Combination> kvc::test::anyCombinations() {
  return combinations([](const Row &) { return size_t(0); });
}

static size_t numBroken(const Row &row) {
  return Combination(row).broken().size();
}

std::vector<Combination> kvc::test::validCombinations() {
  return combinations(numBroken);
}
