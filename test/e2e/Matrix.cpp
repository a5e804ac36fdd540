//===- Matrix.cpp - The generated cases of the end-to-end test ------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Matrix.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

using namespace kvc::test;

//===----------------------------------------------------------------------===//
// Properties
//===----------------------------------------------------------------------===//

std::vector<Property> kvc::test::matrixProperties(ValueIs value) {
  const bool isApart = value == ValueIs::Apart;
  const std::vector<std::string> codecs = {
      "f32",        "f16",           "bf16",      "int8 none", "int8 min",
      "int8 code",  "int7 code",     "int6 none", "int5 min",  "int4 none",
      "int4 min",   "int4 code",     "int3 min",  "int2 code", "fp8_e4m3",
      "fp8_e5m2",   "fp4_e2m1",      "lut2",      "lut3 mid",  "lut4",
      "lut4 given", "lut2 given mid"};
  // One of each kind, for V: pairs with the key's are the costly ones.
  const std::vector<std::string> kinds = {
      "f32",       "f16",       "bf16",      "int8 none", "int8 min",
      "int5 code", "int4 code", "int3 none", "fp8_e4m3",  "fp4_e2m1",
      "lut3 mid",  "lut4",      "lut3 given"};
  // How scales and codes come about; what a codec has not is left out.
  const std::vector<std::string> extras = {
      "none",         "clip",
      "signed rms",   "exact",
      "away",         "exact signed up",
      "power of two", "floor",
      "static",       "static power of two"};
  const std::vector<std::string> scaleTypes = {"-",   "f16",  "bf16",
                                               "f32", "e8m0", "e4m3"};
  const std::vector<std::string> scaleChannels = {"-",  "all", "8",  "16",
                                                  "32", "64",  "odd"};
  std::vector<std::string> scaleTokens = {"-", "1", "2", "8", "16", "32", "64"};
  if (value != ValueIs::Interleaved) // Whose pages 24 does not divide.
    scaleTokens.push_back("24");
  const std::vector<std::string> dims =
      value == ValueIs::Key
          ? std::vector<std::string>{"16", "40", "72", "128", "576"}
          : std::vector<std::string>{"16", "24",  "40",  "64",  "72",  "80",
                                     "96", "112", "128", "192", "256", "576"};
  // Records are K's or V's alone.
  std::vector<std::string> orders = {"nhd", "hnd", "auto"};
  if (value != ValueIs::Interleaved)
    orders.push_back("token");
  if (isApart)
    orders.push_back("ggml");
  const std::vector<std::string> floats = {"f16", "bf16", "f32"};
  const std::vector<std::string> noYes = {"no", "yes"};
  const std::vector<std::string> rotations = {"none", "8", "largest"};
  const std::vector<std::string> ropes = {"none", "half", "pairs", "half part",
                                          "pairs part"};

  std::vector<Property> result = {
      {"key.codec", isApart ? codecs : kinds},
      {"key.scale.dtype", scaleTypes},
      {"key.scale.channels", scaleChannels},
      {"key.scale.tokens", scaleTokens},
      {"key.extra", extras},
      {"key.rotate", rotations},
      {"key.smooth", noYes},
      {"rope", ropes},
      {"key.parts", {"one", "two", "three"}},
      {"key.outliers", {"0", "1", "4"}},
      {"head_dim", dims},
      {"group", {"1", "2", "3", "4", "5", "7", "8", "12", "16", "71", "128"}},
      {"kv_heads", {"1", "2", "3"}},
      {"segments", {"0 0", "1 0", "5 0", "0 17", "3 40", "0 64", "4 100"}},
      {"mask",
       {"causal", "none", "window 1", "window 7", "window 90",
        "window 9 sinks 3", "window 70 sinks 80", "window 1000 sinks 1"}},
      {"softcap", {"none", "5", "50"}},
      {"alibi", noYes},
      {"sink_logits", noYes},
      {"scale", {"default", "0.3"}},
      {"order", orders},
      {"query", floats},
      {"output", {"same", "f16", "bf16", "f32"}},
      {"append", {"0", "1", "3", "5", "16", "64"}},
      {"batch",
       {"decode", "prefill", "mixed", "several queries", "empty sequences",
        "more queries than keys", "no queries", "no sequences",
        "around page ends", "long"}},
      {"values", {}},
      {"rows", {"dense", "padded", "head-major"}},
  };
  for (InputMode mode : kInputModes)
    for (Property &property : result)
      if (property.name == "values")
        property.levels.push_back(std::string(nameOf(mode)));

  std::vector<std::string> pages = {"1",  "2",  "4",   "8",  "16",
                                    "32", "64", "128", "256"};
  if (value == ValueIs::Key) {
    result.push_back({"page", {"contiguous", "1", "8", "16", "64", "256"}});
    result.push_back({"value_is_key", {"all", "slice"}});
    return result;
  }
  result.push_back({"value.rotate", rotations});
  result.push_back({"value.smooth", noYes});
  if (value == ValueIs::Interleaved) {
    // V's scheme takes as many bytes as K's: the same one, or its counterpart.
    result.push_back({"page", pages});
    result.push_back({"value.codec", {"as key", "counterpart"}});
    return result;
  }
  pages.insert(pages.begin(), {"contiguous", "ring"});
  result.push_back({"page", pages});
  result.push_back({"value_dim", dims});
  result.push_back({"value.codec", kinds});
  result.push_back({"value.scale.dtype", scaleTypes});
  result.push_back({"value.scale.channels", scaleChannels});
  result.push_back({"value.scale.tokens", scaleTokens});
  result.push_back({"value.extra", extras});
  result.push_back({"value.parts", {"one", "two", "three"}});
  result.push_back({"value.outliers", {"0", "1", "4"}});
  return result;
}

static bool isInteger(const std::string &codec) {
  return codec.starts_with("int");
}
static bool isLookup(const std::string &codec) {
  return codec.starts_with("lut");
}
static bool isCoded(const std::string &codec) {
  return isInteger(codec) || isLookup(codec) || codec.starts_with("fp");
}
static bool hasZero(const std::string &codec) {
  return codec.ends_with("code") || codec.ends_with("min") ||
         codec.ends_with("mid");
}

static bool isNumber(const std::string &text) {
  return std::isdigit(static_cast<unsigned char>(text[0])) != 0;
}
static int tokensOf(const std::string &text) {
  return isNumber(text) ? std::stoi(text) : 1;
}
static int recentOf(const std::string &segments) {
  return std::stoi(segments.substr(segments.find(' ')));
}
static int sinksOf(const std::string &mask) {
  size_t at = mask.find("sinks ");
  return at == std::string::npos ? 0 : std::stoi(mask.substr(at + 6));
}

Allowed kvc::test::matrixAllowed(std::span<const Property> properties) {
  auto rule = [](const std::string &p, const std::string &a,
                 const std::string &q, const std::string &b) {
    for (std::string tensor : {"key", "value"}) {
      std::string codec = tensor + ".codec", dtype = tensor + ".scale.dtype",
                  channels = tensor + ".scale.channels",
                  tokens = tensor + ".scale.tokens";
      if (p == codec && (q == dtype || q == channels || q == tokens) &&
          isCoded(a) != (b != "-"))
        return false;
      if (p == tokens && (q == dtype || q == channels) &&
          (a == "-") != (b == "-"))
        return false;
      if (p == tokens && q == "segments" && tokensOf(a) > 1 &&
          tokensOf(a) > recentOf(b))
        return false;
      if (p == tokens && q == "page" && isNumber(b) &&
          std::stoi(b) % tokensOf(a) != 0)
        return false;
      if (q == tensor + ".outliers" && b != "0" &&
          ((p == codec && !isCoded(a)) ||
           ((p == dtype || p == channels || p == tokens) && a == "-")))
        return false;
      if (p == codec && q == dtype && hasZero(a) && b.starts_with("e"))
        return false;
      if (p == dtype && q == channels && (a == "-") != (b == "-"))
        return false;
      // "odd" divides everything.
      if (p == channels && q == (tensor == "key" ? "head_dim" : "value_dim") &&
          isNumber(a) && std::stoi(b) % std::stoi(a) != 0)
        return false;
    }
    if (p == "order" && (a == "ggml" || a == "token") &&
        q.ends_with(".extra") && b.starts_with("static"))
      return false;
    if (p == "order" && a == "ggml")
      for (std::string tensor : {"key", "value"}) {
        bool isCodec = q == tensor + ".codec";
        if (isCodec && isCoded(b) && b != "int8 none" && b != "int5 min" &&
            b != "int4 none" && b != "int4 min")
          return false;
        if ((q == tensor + ".scale.dtype" && b != "-" && b != "f16") ||
            (q == tensor + ".scale.channels" && b != "-" && b != "32") ||
            (q == tensor + ".parts" && b != "one") ||
            (q == tensor + ".outliers" && b != "0"))
          return false;
      }
    if (p == "key.rotate" && q == "rope" && a != "none" && b != "none")
      return false;
    // Records are of one token.
    if (p == "order" && (a == "ggml" || a == "token") &&
        q.ends_with(".scale.tokens") && tokensOf(b) > 1)
      return false;
    // A ring needs a window, whose sinks lie in the sink segment.
    if (p == "page" && q == "mask" && a == "ring" &&
        b.find("window") == std::string::npos)
      return false;
    if (p == "page" && q == "mask" && a == "ring" && sinksOf(b) > 5)
      return false;
    if (p == "group" && q == "kv_heads" && std::stoi(a) > 16 && b == "3")
      return false;
    return true;
  };
  return [properties, rule](Level a, Level b) {
    const Property &p = properties[a.property], &q = properties[b.property];
    const std::string &x = p.levels[a.level], &y = q.levels[b.level];
    return rule(p.name, x, q.name, y) && rule(q.name, y, p.name, x);
  };
}

//===----------------------------------------------------------------------===//
// A row as a spec
//===----------------------------------------------------------------------===//

namespace {

using Choice = std::map<std::string, std::string>;

std::string quoted(const std::string &text) { return '"' + text + '"'; }

/// The largest odd divisor that is no larger than 9: 1 for powers of two.
int64_t oddDivisor(int64_t channels) {
  for (int64_t n : {9, 7, 5, 3})
    if (channels % n == 0)
      return n;
  return 1;
}

/// A table of 2^bits entries in no order, one of them twice.
std::string tableText(int bits) {
  std::string text = "[0.75, -1, 0.125, -0.25";
  for (int i = 4; i < 1 << bits; ++i)
    text += ", " + std::to_string(i % 7 * 0.3125 - 0.9);
  return text + "]";
}

/// Whether the extra makes this codec's scales static.
bool hasStaticScale(const std::string &codec, const std::string &extra) {
  return extra.starts_with("static") && !hasZero(codec);
}

/// The keys of an extra that this codec can have, in and behind the scale.
std::pair<std::string, std::string> extraText(const std::string &codec,
                                              const std::string &dtype,
                                              const std::string &extra) {
  bool isSymmetric = codec.ends_with("none"), isByte = dtype.starts_with("e");
  auto has = [&](const char *word) {
    return extra.find(word) != std::string::npos;
  };
  std::string inScale, behind;
  bool isStatic = hasStaticScale(codec, extra);
  bool isSigned = has("signed") && isSymmetric && !isByte;
  if (has("clip"))
    behind += ", \"clip\": 0.8125";
  if (isSigned)
    behind += ", \"estimate\": \"signed\"";
  if (has("rms") && isLookup(codec) && !hasZero(codec))
    behind += ", \"estimate\": \"rms\"";
  if (has("exact") && !isByte && !codec.ends_with("code") &&
      !codec.ends_with("mid"))
    behind += ", \"codes_from\": \"exact\"";
  if (has("away") && isInteger(codec))
    behind += ", \"round\": \"away\"";
  if (has("up") && isInteger(codec))
    behind += ", \"round\": \"up\"";
  if (has("power of two") && !hasZero(codec))
    inScale += ", \"round\": \"up\"";
  if (has("floor") && dtype != "e8m0")
    inScale += ", \"floor\": 0.01";
  if (dtype == "e4m3" && (has("clip") || isStatic))
    inScale += ", \"global\": 0.01";
  if (isStatic)
    inScale += ", \"static\": true";
  return {inScale, behind};
}

/// What stands behind a scheme's codec.
std::string rotateText(const std::string &rotate, int64_t channels) {
  if (rotate == "none")
    return "";
  // The lowest bit is the largest power of two that divides.
  return ", \"rotate\": " +
         (rotate == "largest" ? std::to_string(channels & -channels) : rotate);
}

/// K's RoPE over all channels, or over the last ones.
std::string ropeText(const std::string &rope, int64_t channels) {
  if (rope == "none")
    return "";
  bool isPart = rope.ends_with("part");
  int64_t dims = isPart ? channels / 4 * 2 : channels;
  return ", \"rope\": {\"style\": " + quoted(rope.substr(0, rope.find(' '))) +
         ", \"dims\": " + std::to_string(dims) +
         ", \"offset\": " + std::to_string(channels - dims) +
         (isPart ? ", \"theta\": 500}" : "}");
}

std::string schemeText(const std::string &codec, const std::string &dtype,
                       const std::string &channels, const std::string &tokens,
                       const std::string &extra, const std::string &transforms,
                       int64_t tensorChannels) {
  if (!isCoded(codec))
    return "{\"codec\": " + quoted(codec) + transforms + "}";
  std::string width = channels == "all" ? quoted("all")
                      : channels == "odd"
                          ? std::to_string(oddDivisor(tensorChannels))
                          : channels;
  auto [inScale, behind] = extraText(codec, dtype, extra);
  std::string name = codec.substr(0, codec.find(' '));
  if (isLookup(codec)) {
    bool isGiven = codec.find(" given") != std::string::npos;
    behind +=
        ", \"table\": " + (isGiven ? "{\"bits\": " + codec.substr(3, 1) + "}"
                                   : tableText(codec[3] - '0'));
    name = "lut";
  }
  if (isInteger(codec) || hasZero(codec))
    behind += ", \"zero\": " + quoted(codec.substr(codec.rfind(' ') + 1));
  return "{\"codec\": " + quoted(name) + ", \"scale\": {\"tokens\": " +
         (hasStaticScale(codec, extra) ? quoted("all") : tokens) +
         ", \"channels\": " + width + ", \"dtype\": " + quoted(dtype) +
         inScale + "}" + behind + transforms + "}";
}

/// Another word with the same bytes per token, if there is one.
std::string counterpart(const std::string &word) {
  static const std::map<std::string, std::string> other = {
      {"f16", "bf16"},           {"bf16", "f16"},
      {"int8 min", "int8 code"}, {"int8 code", "int8 min"},
      {"int4 min", "int4 code"}, {"int4 code", "int4 min"}};
  auto found = other.find(word);
  return found == other.end() ? word : found->second;
}

/// A scheme as one part of several.
std::string partText(int64_t begin, int64_t end, const std::string &scheme) {
  return "{\"channels\": [" + std::to_string(begin) + ", " +
         std::to_string(end) + "], " + scheme.substr(1);
}

/// The scheme that a row gives a tensor, for all channels or beside parts of
/// other schemes, some of which end inside of a byte.
std::string tensorText(const Choice &row, const std::string &tensor,
                       int64_t channels) {
  auto ofRow = [&](int64_t width) {
    std::string block = row.at(tensor + ".scale.channels");
    if (std::isdigit(static_cast<unsigned char>(block[0])) &&
        width % std::stoi(block) != 0)
      block = "all";
    std::string transforms = rotateText(row.at(tensor + ".rotate"), width);
    if (row.at(tensor + ".smooth") == "yes")
      transforms += ", \"smooth\": true";
    if (const std::string &outliers = row.at(tensor + ".outliers");
        outliers != "0")
      transforms += ", \"outliers\": " + outliers;
    return schemeText(row.at(tensor + ".codec"),
                      row.at(tensor + ".scale.dtype"), block,
                      row.at(tensor + ".scale.tokens"),
                      row.at(tensor + ".extra"), transforms, width);
  };
  const std::string rope =
      tensor == "key" ? ropeText(row.at("rope"), channels) : "";
  const std::string &parts = row.at(tensor + ".parts");
  if (parts == "one") {
    std::string scheme = ofRow(channels);
    return scheme.insert(scheme.size() - 1, rope);
  }
  const std::string raw = "{\"codec\": \"bf16\"}";
  if (parts == "two") {
    int64_t middle = std::max<int64_t>(8, channels / 16 * 8);
    return "{\"parts\": [" + partText(0, middle, ofRow(middle)) + ", " +
           partText(middle, channels, raw) + "]" + rope + "}";
  }
  return "{\"parts\": [" +
         partText(0, 3,
                  schemeText("int5 none", "f16", "all", "1", "none", "", 3)) +
         ", " + partText(3, channels - 5, ofRow(channels - 8)) + ", " +
         partText(channels - 5, channels, raw) + "]" + rope + "}";
}

/// [begin, end) of a V that is K's channels.
std::pair<int64_t, int64_t> sharedRange(const Choice &row) {
  int64_t channels = std::stoi(row.at("head_dim"));
  if (row.at("value_is_key") == "all")
    return {0, channels};
  int64_t begin = std::min<int64_t>(5, channels - 16);
  return {begin, begin + (channels - begin) / 8 * 8};
}

std::string attentionText(const Choice &row) {
  int64_t kvHeads = std::stoi(row.at("kv_heads"));
  std::string text =
      "{\"q_heads\": " + std::to_string(kvHeads * std::stoi(row.at("group"))) +
      ", \"kv_heads\": " + row.at("kv_heads") +
      ", \"head_dim\": " + row.at("head_dim") +
      ", \"value_dim\": " + row.at("value_dim");
  if (row.contains("value_is_key")) {
    auto [begin, end] = sharedRange(row);
    text += ", \"value_is_key\": ";
    text +=
        row.at("value_is_key") == "all"
            ? quoted("all")
            : "[" + std::to_string(begin) + ", " + std::to_string(end) + "]";
  }
  if (row.at("scale") != "default")
    text += ", \"scale\": " + row.at("scale");
  const std::string &mask = row.at("mask");
  if (mask == "none" || mask == "causal")
    text += ", \"mask\": " + quoted(mask);
  // "window N sinks N", the second half perhaps absent.
  std::istringstream words(mask);
  std::string word, number;
  if (words >> word >> number)
    text += ", \"window\": " + number;
  if (words >> word >> number)
    text += ", \"window_sinks\": " + number;
  if (row.at("softcap") != "none")
    text += ", \"softcap\": " + row.at("softcap");
  for (const char *name : {"alibi", "sink_logits"})
    if (row.at(name) == "yes")
      text += ", " + quoted(name) + ": true";
  return text + "}";
}

std::string segmentsText(const Choice &row) {
  const std::string &segments = row.at("segments");
  size_t space = segments.find(' ');
  int sink = std::stoi(segments);
  if (row.at("page") == "ring") // The mask's sinks lie in it.
    sink = std::max(sink, sinksOf(row.at("mask")));
  return ",\n \"segments\": {\"sink\": " + std::to_string(sink) +
         ", \"recent\":" + segments.substr(space) + "}";
}

std::string specText(const std::string &name, const Choice &row,
                     ValueIs value) {
  std::string text = "{\"kvc\": 1, \"name\": " + quoted(name) +
                     ",\n \"attention\": " + attentionText(row) +
                     ",\n \"io\": {\"query\": " + quoted(row.at("query"));
  if (row.at("output") != "same")
    text += ", \"output\": " + quoted(row.at("output"));
  text +=
      "},\n \"key\": " + tensorText(row, "key", std::stoi(row.at("head_dim")));
  if (value != ValueIs::Key)
    text += ",\n \"value\": " +
            tensorText(row, "value", std::stoi(row.at("value_dim")));
  text += segmentsText(row) + ",\n \"layout\": {\"kind\": ";
  if (!isNumber(row.at("page")))
    text += quoted(row.at("page"));
  else
    text += quoted("paged") + ", \"page\": " + row.at("page");
  text += ", \"order\": " + quoted(row.at("order"));
  if (value == ValueIs::Interleaved)
    text += ", \"interleaved\": true";
  return text + "}}\n";
}

//===----------------------------------------------------------------------===//
// A row as lengths
//===----------------------------------------------------------------------===//

/// What the f64 reference may multiply for one case, and what it may quantise.
constexpr int64_t kMaxProducts = 24'000'000, kMaxElements = 1'200'000;

class LengthMaker {
public:
  LengthMaker(const Choice &row, Random &random) : random(random) {
    int64_t kvHeads = std::stoi(row.at("kv_heads"));
    int64_t channels =
        std::stoi(row.at("head_dim")) + std::stoi(row.at("value_dim"));
    keyCost = kvHeads * channels;
    pairCost = keyCost * std::stoi(row.at("group"));
    page = isNumber(row.at("page")) ? std::stoi(row.at("page")) : 64;
  }

  std::vector<Lengths> make(const std::string &batch) {
    if (batch == "decode")
      return {{1, keys()}, {1, keys()}, {1, 1}};
    if (batch == "prefill") {
      int64_t n = queriesOf(120, 0);
      return {{n, n}};
    }
    if (batch == "mixed") {
      int64_t all = keys(), n = queriesOf(40, 0);
      return {{1, keys()}, {n, n}, {queriesOf(30, all), all}, {1, keys()}};
    }
    if (batch == "several queries") {
      int64_t all = keys();
      return {{queriesOf(2 + random.below(7), all), all}, {2, keys()}};
    }
    if (batch == "empty sequences")
      return {
          {0, 0}, {1, keys()}, {0, keys()}, {3, 0}, {1, 1 + random.below(9)}};
    if (batch == "more queries than keys")
      return {{9, 4}, {queriesOf(30, 17), 17}, {2, 1}};
    if (batch == "no queries")
      return {{0, keys()}, {0, 0}};
    if (batch == "no sequences")
      return {};
    if (batch == "around page ends")
      return {{1, page},
              {1, page + 1},
              {2, 2 * page},
              {1, std::max<int64_t>(1, page - 1)},
              {1, 64}};
    // Long: several splits, and queries that do not all see them.
    int64_t all = 1500 + random.below(1100);
    return {{queriesOf(3, all), all}, {1, 1 + random.below(40)}};
  }

private:
  int64_t keys() {
    return std::min(20 + random.below(181),
                    std::max<int64_t>(20, kMaxElements / keyCost / 3));
  }

  /// At most `wanted` queries over `keys` keys (0: over themselves).
  int64_t queriesOf(int64_t wanted, int64_t keys) {
    while (wanted > 1 &&
           wanted * (keys ? keys : wanted) * pairCost > kMaxProducts)
      --wanted;
    return wanted;
  }

  Random &random;
  int64_t keyCost, pairCost, page;
};

/// One in [low, high] at even odds with `level` itself, so that all sizes occur
/// and those of the levels often.
int64_t drawn(int64_t level, int64_t low, int64_t high,
              const std::function<bool(int64_t)> &fits, Random &random) {
  std::vector<int64_t> fitting = {level};
  if (random.below(2) == 0)
    for (int64_t size = low; size <= high; ++size)
      if (fits(size))
        fitting.push_back(size);
  return fitting[size_t(random.below(int64_t(fitting.size())))];
}

/// Another head_dim (or value_dim) that is about as large as the row's and that
/// the same powers of two divide, which is what kernels differ by; of large
/// ones those that the blocks of the schemes need. Large ones cost the time:
/// none is larger than its level.
void drawChannels(Choice &row, const std::string &dim, Random &random) {
  const int64_t level = std::stoi(row.at(dim));
  const bool isLarge = level >= 256;
  auto alignment = [](int64_t size) {
    return std::min<int64_t>(size & -size, 64);
  };
  int64_t step = isLarge ? 8 : alignment(level);
  for (const char *channels : {"key.scale.channels", "value.scale.channels"})
    if (auto found = row.find(channels);
        found != row.end() && isNumber(found->second))
      step = std::max<int64_t>(step, std::stoi(found->second));
  row[dim] = std::to_string(drawn(
      level, std::max<int64_t>(16, level / 2), isLarge ? level : level * 3 / 2,
      [&](int64_t size) {
        return size % step == 0 &&
               (isLarge || alignment(size) == alignment(level));
      },
      random));
}

void drawGroup(Choice &row, Random &random) {
  const int64_t level = std::stoi(row.at("group"));
  row["group"] = std::to_string(drawn(
      level, (level + 1) / 2, std::min<int64_t>(level * 3 / 2, 128),
      [](int64_t) { return true; }, random));
}

/// Single queries decode, many prefill; what lies between depends on rows of
/// tiles and may be either.
std::string kernelsFor(const std::vector<Lengths> &lengths, int group) {
  bool decodes = lengths.empty(), prefills = false;
  for (const Lengths &sequence : lengths) {
    decodes |= sequence.queries <= 8;
    prefills |= sequence.queries > 1 || group > 16;
  }
  return std::string("append,merge,unpack") + (decodes ? ",decode" : "") +
         (prefills ? ",prefill" : "");
}

MatrixCase makeCase(size_t number, const std::vector<Property> &properties,
                    const Row &row, ValueIs value, Random &random) {
  Choice choice;
  MatrixCase result;
  for (size_t p = 0; p < row.size(); ++p) {
    const std::string &level = properties[p].levels[row[p]];
    choice[properties[p].name] = level;
    result.levels += (p ? ", " : "") + properties[p].name + "=" + level;
  }
  drawChannels(choice, "head_dim", random);
  if (choice.contains("value_dim"))
    drawChannels(choice, "value_dim", random);
  drawGroup(choice, random);
  result.levels +=
      "; head_dim=" + choice["head_dim"] + " group=" + choice["group"];
  if (value == ValueIs::Key) {
    auto [begin, end] = sharedRange(choice);
    choice["value_dim"] = std::to_string(end - begin);
  }
  if (value == ValueIs::Interleaved) {
    bool other = choice["value.codec"] == "counterpart";
    for (std::string name : {"codec", "scale.dtype"}) {
      const std::string &of = choice["key." + name];
      choice["value." + name] = other ? counterpart(of) : of;
    }
    choice["value.scale.channels"] = choice["key.scale.channels"];
    choice["value.scale.tokens"] = choice["key.scale.tokens"];
    choice["value.extra"] = choice["key.extra"];
    choice["value.parts"] = choice["key.parts"];
    choice["value.outliers"] = choice["key.outliers"];
    choice["value_dim"] = choice["head_dim"];
    result.levels += ", interleaved";
  }
  char name[32];
  std::snprintf(name, sizeof(name), "matrix_%03zu", number);
  result.name = name;
  result.spec = specText(name, choice, value);
  result.lengths = LengthMaker(choice, random).make(choice["batch"]);
  result.kernels = kernelsFor(result.lengths, std::stoi(choice.at("group")));
  for (InputMode mode : kInputModes)
    if (nameOf(mode) == choice["values"])
      result.mode = mode;
  result.inputSeed = random.next();
  result.appendChunk = std::stoi(choice["append"]);
  const int64_t chunks[] = {0, 1, 7, 64};
  do
    result.otherChunk = chunks[random.below(4)];
  while (result.otherChunk == result.appendChunk);
  result.rows = choice["rows"] == "dense"    ? RowOrder::Dense
                : choice["rows"] == "padded" ? RowOrder::Padded
                                             : RowOrder::HeadMajor;
  return result;
}

} // namespace

std::vector<MatrixCase> kvc::test::matrixCases(uint64_t seed) {
  std::vector<MatrixCase> cases;
  Random random(seed);
  for (ValueIs value : kValueIs) {
    std::vector<Property> properties = matrixProperties(value);
    for (const Row &row :
         coveringRows(properties, matrixAllowed(properties), random.next()))
      cases.push_back(makeCase(cases.size(), properties, row, value, random));
  }
  return cases;
}

std::string kvc::test::repeatCommand(const MatrixCase &test,
                                     const spec::Spec &spec,
                                     const Inputs &inputs,
                                     const std::string &folder,
                                     const std::string &target) {
  const std::string base = folder + "/" + test.name;
  std::ofstream(base + ".json") << test.spec;
  if (const auto error = saveInputs(spec, inputs, base + ".safetensors"))
    return error->str();
  std::string line = "kvc run " + base + ".json --inputs " + base +
                     ".safetensors --output " + base + ".out.safetensors";
  if (test.appendChunk != 0)
    line += " --append-chunk " + std::to_string(test.appendChunk);
  return line + " --dump-cache " + base + ".cache.safetensors --poison --cpu " +
         target;
}
