//===- combinations_test.cpp - Every three options together ---------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Any three levels of codec, zero, block, extras, transform, segments, layout,
// variant, head_dim and group meet in some spec. What SPEC.md forbids is
// refused with one of the rules that it breaks, and nothing else is refused.
// The rules are written down here once more, from the specification.
//
//===----------------------------------------------------------------------===//

#include "kvc/Spec/Spec.h"

#include <gtest/gtest.h>
#include <iostream>
#include <map>
#include <random>
#include <set>

using namespace kvc::spec;

namespace {

struct Property {
  const char *name;
  std::vector<std::string> levels; ///< The first one combines with most others.
};

const std::vector<Property> kProperties = {
    {"codec",
     {"int4", "int8", "int6", "int5", "int3", "int2", "f16", "f32", "fp8_e4m3",
      "fp8_e5m2", "fp4_e2m1", "lut", "lut of inputs"}},
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
     {"contiguous auto", "paged 16 auto", "paged 64 nhd",
      "paged 32 interleaved", "contiguous ggml", "paged 64 token", "ring"}},
    {"variant",
     {"causal", "none", "window 300", "window 300 sinks 3", "everything",
      "value is key", "value is slice"}},
    {"head_dim", {"64", "128", "72", "80", "96", "576"}},
    {"group", {"1", "3", "8", "71"}}};

using Row = std::vector<size_t>;

class Combination {
public:
  explicit Combination(const Row &row) {
    for (size_t p = 0; p < row.size(); ++p)
      levels.push_back(&kProperties[p].levels[row[p]]);
    channels = std::stoi(of("head_dim"));
    width = is("transform", "parts") ? channels / 2 : channels;
  }

  /// What it says, as a spec.
  std::string text() const {
    const int group = std::stoi(of("group"));
    std::string result =
        R"({"kvc": 1, "attention": {"kv_heads": 2, "q_heads": )" +
        std::to_string(2 * group) + ", \"head_dim\": " + of("head_dim");
    if (is("variant", "none"))
      result += R"(, "mask": "none")";
    if (of("variant").starts_with("window"))
      result += R"(, "window": 300)";
    if (is("variant", "window 300 sinks 3"))
      result += R"(, "window_sinks": 3)";
    if (is("variant", "everything"))
      result += R"(, "softcap": 30, "alibi": true, "sink_logits": true)";
    if (is("variant", "value is key"))
      result += R"(, "value_is_key": "all")";
    if (is("variant", "value is slice"))
      result += R"(, "value_is_key": [8, 40])";
    result += R"(}, "io": {"query": "f16"}, "key": )" + scheme(true);
    if (hasValue())
      result += ", \"value\": " + scheme(false);
    const size_t space = of("segments").find(' ');
    result += ", \"segments\": {\"sink\": " + of("segments").substr(0, space) +
              ", \"recent\": " + of("segments").substr(space + 1) +
              "}, \"layout\": {";
    const std::string &layout = of("layout");
    if (layout.starts_with("paged"))
      result += R"("kind": "paged", "page": )" + layout.substr(6, 2);
    else
      result += "\"kind\": \"" + layout.substr(0, layout.find(' ')) + "\"";
    for (const char *order : {"auto", "nhd", "ggml", "token"})
      if (layout.ends_with(order))
        result += std::string(", \"order\": \"") + order + "\"";
    if (is("layout", "paged 32 interleaved"))
      result += ", \"interleaved\": true";
    return result + "}}";
  }

  /// The rules that it breaks.
  std::set<std::string> broken() const {
    std::set<std::string> rules;
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
    if (!isRaw()) {
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
    } else {
      require(is("extra", "none") || is("extra", "power of two") ||
                  is("extra", "floor"),
              "K27");
      require(of("transform").find("outliers") == std::string::npos, "K27");
    }
    if (const size_t n = rotation())
      require(width % n == 0, "K28");

    const int tokens = blockTokens(), recent = recentTokens();
    require(tokens == 1 || recent >= tokens, "G2");
    const std::string &layout = of("layout");
    if (layout.starts_with("paged"))
      require(std::stoi(layout.substr(6, 2)) % tokens == 0, "L4");
    if (is("layout", "ring")) {
      require(of("variant").starts_with("window"), "L5");
      require(!is("variant", "window 300 sinks 3") || is("segments", "4 0"),
              "L7");
    }
    if (is("layout", "paged 32 interleaved"))
      require(hasValue(), "L10");
    if (is("layout", "contiguous ggml"))
      require(!is("transform", "parts") &&
                  (isRaw() ||
                   (isGgml() && is("block", "1 x 32 f16") &&
                    of("transform").find("outliers") == std::string::npos)),
              "L12");
    if (is("layout", "paged 64 token"))
      require(isRaw() || (tokens == 1 && isDynamic), "L13");
    return rules;
  }

private:
  const std::string &of(std::string_view property) const {
    size_t p = 0;
    while (kProperties[p].name != property)
      ++p;
    return *levels[p];
  }
  bool is(std::string_view property, std::string_view level) const {
    return of(property) == level;
  }
  bool isRaw() const {
    return of("codec").starts_with("f1") || is("codec", "f32");
  }
  bool isInt() const { return of("codec").starts_with("int"); }
  bool isLut() const { return of("codec").starts_with("lut"); }
  bool isStatic() const { return of("block").starts_with("all"); }
  bool isGgml() const {
    return (is("codec", "int8") && is("zero", "none")) ||
           ((is("codec", "int4") || is("codec", "int5")) &&
            (is("zero", "none") || is("zero", "min")));
  }
  bool hasValue() const { return !of("variant").starts_with("value"); }
  int recentTokens() const {
    return std::stoi(of("segments").substr(of("segments").find(' ') + 1));
  }
  int blockTokens() const {
    return isRaw() || isStatic() ? 1 : std::stoi(of("block"));
  }
  /// 0: all.
  int blockChannels() const {
    const std::string rest = of("block").substr(of("block").find('x') + 2);
    return rest.starts_with("all") ? 0 : std::stoi(rest);
  }
  size_t rotation() const {
    return of("transform").starts_with("rotate")
               ? std::stoul(of("transform").substr(7))
               : 0;
  }

  std::string scheme(bool isKey) const {
    std::string text = "\"codec\": \"";
    if (isLut())
      text += is("codec", "lut") ? R"(lut", "table": [-1, -0.3, 0.2, 0.9])"
                                 : R"(lut", "table": {"bits": 3})";
    else
      text += of("codec") + "\"";
    if (!isRaw()) {
      const std::string &block = of("block");
      const std::string dtype = block.substr(block.rfind(' ') + 1);
      text += ", \"scale\": {\"tokens\": ";
      text += isStatic() ? R"("all", "static": true)"
                         : std::to_string(blockTokens());
      text += ", \"channels\": " +
              (blockChannels() ? std::to_string(blockChannels()) : "\"all\"") +
              ", \"dtype\": \"" + dtype + "\"";
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
    if (of("transform").find("outliers") != std::string::npos)
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

  std::vector<const std::string *> levels;
  int channels, width;
};

/// Rows such that any three levels which meet in some row that `may` be meet in
/// one of these; a function of the arguments alone.
template <typename May>
std::vector<Row> coveringRows(May may) {
  constexpr int kTries = 60;
  std::mt19937 random(1);
  std::vector<size_t> first;
  size_t all = 0;
  for (const Property &property : kProperties) {
    first.push_back(all);
    all += property.levels.size();
  }
  std::vector<bool> isCovered(all * all * all);
  auto place = [&](const Row &row, size_t a, size_t b, size_t c) {
    return ((first[a] + row[a]) * all + first[b] + row[b]) * all + first[c] +
           row[c];
  };
  auto forEachTriple = [&](auto body) {
    for (size_t a = 0; a < kProperties.size(); ++a)
      for (size_t b = a + 1; b < kProperties.size(); ++b)
        for (size_t c = b + 1; c < kProperties.size(); ++c)
          body(a, b, c);
  };
  std::vector<Row> rows;
  forEachTriple([&](size_t a, size_t b, size_t c) {
    for (size_t x = 0; x < kProperties[a].levels.size(); ++x)
      for (size_t y = 0; y < kProperties[b].levels.size(); ++y)
        for (size_t z = 0; z < kProperties[c].levels.size(); ++z) {
          Row best;
          size_t bestFresh = 0;
          for (int i = 0; i < kTries; ++i) {
            Row row(kProperties.size());
            for (size_t p = 0; p < row.size(); ++p)
              if (random() % 2)
                row[p] = random() % kProperties[p].levels.size();
            row[a] = x;
            row[b] = y;
            row[c] = z;
            if (isCovered[place(row, a, b, c)])
              break;
            if (!may(row))
              continue;
            size_t fresh = 0;
            forEachTriple([&](size_t d, size_t e, size_t f) {
              fresh += !isCovered[place(row, d, e, f)];
            });
            if (fresh > bestFresh) {
              bestFresh = fresh;
              best = row;
            }
          }
          if (best.empty())
            continue;
          forEachTriple([&](size_t d, size_t e, size_t f) {
            isCovered[place(best, d, e, f)] = true;
          });
          rows.push_back(best);
        }
  });
  return rows;
}

TEST(Combinations, OfAnyThreeAreRefusedByARuleThatTheyBreak) {
  const std::vector<Row> rows = coveringRows([](const Row &) { return true; });
  size_t refused = 0;
  std::map<std::string, int> counts;
  for (const Row &row : rows) {
    const Combination combination(row);
    const Expected<Spec> spec = parseSpec(combination.text());
    const std::set<std::string> broken = combination.broken();
    if (broken.empty()) {
      EXPECT_TRUE(spec) << spec.error().str() << "\n" << combination.text();
      continue;
    }
    ASSERT_FALSE(spec) << "breaks " << *broken.begin() << "\n"
                       << combination.text();
    EXPECT_TRUE(broken.contains(spec.error().rule))
        << spec.error().str() << ", expected " << *broken.begin() << "\n"
        << combination.text();
    ++counts[spec.error().rule];
    ++refused;
  }
  EXPECT_GE(rows.size(), 1500U);
  // Every rule that these options can break is among the answers.
  for (const char *rule :
       {"K10", "K12", "K14", "K16", "K19", "K20", "K22", "K23", "K24", "K25",
        "K26", "K27", "K28", "G2",  "L4",  "L5",  "L7",  "L10", "L12", "L13"})
    EXPECT_GT(counts[rule], 0) << rule;
  std::cout << rows.size() << " combinations, " << refused << " refused by "
            << counts.size() << " rules\n";
}

TEST(Combinations, OfAnyThreeThatFitAreAccepted) {
  const std::vector<Row> rows = coveringRows(
      [](const Row &row) { return Combination(row).broken().empty(); });
  std::map<std::string, int> notLowered;
  size_t lowered = 0;
  for (const Row &row : rows) {
    const std::string text = Combination(row).text();
    const Expected<Spec> spec = parseSpec(text);
    ASSERT_TRUE(spec) << spec.error().str() << "\n" << text;
    if (const char *reason = unsupportedReason(*spec))
      ++notLowered[reason];
    else
      ++lowered;
  }
  EXPECT_GE(rows.size(), 1000U);
  EXPECT_GT(lowered, 0U);
  std::cout << rows.size() << " valid combinations, " << lowered
            << " of them run\n";
  for (const auto &[reason, count] : notLowered)
    std::cout << count << " " << reason << "\n";
}

} // namespace
