//===- Operations.cpp - Calls of a manager as a list ----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Operations.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>

using namespace kvc::test;

static constexpr const char *kNames[kKinds] = {
    "Create",   "Free",   "Append",   "Together", "Abandon", "Commit",
    "Rollback", "Fork",   "Truncate", "Publish",  "Adopt",   "Reuse",
    "Pin",      "Unpin",  "Time",     "Evict",    "Reset",   "Begin",
    "End",      "Retire", "Fail",     "Look"};

namespace {

/// SplitMix64: the same numbers with every standard library.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  int upTo(int most) { return int(next() % uint64_t(most + 1)); }
  int pick(std::initializer_list<int> values) {
    return *(values.begin() + upTo(int(values.size()) - 1));
  }

private:
  uint64_t state;
};

} // namespace

std::string GroupShape::json() const {
  auto scheme = [](int n) {
    return R"({"codec": "int8", "scale": {"tokens": )" + std::to_string(n) +
           R"(, "channels": )" + (n > 1 ? "1" : R"("all")") +
           R"(, "dtype": "f16"}})";
  };
  std::string attention = R"("q_heads": 1, "kv_heads": 1, "head_dim": 16)";
  if (window)
    attention += R"(, "window": )" + std::to_string(window);
  if (windowSinks)
    attention += R"(, "window_sinks": )" + std::to_string(windowSinks);
  return R"({"kvc": 1, "name": "group", "attention": {)" + attention +
         R"(}, "io": {"query": "f16"}, "key": )" + scheme(keyTokens) +
         R"(, "value": )" + scheme(valueTokens) + R"(, "segments": {"sink": )" +
         std::to_string(sink) + R"(, "recent": )" + std::to_string(recent) +
         R"(}, "layout": {"kind": "paged", "page": )" + std::to_string(page) +
         R"(, "order": "nhd"}})";
}

Setting kvc::test::randomSetting(uint64_t seed) {
  Random random(seed);
  Setting setting;
  setting.groups.clear();
  for (int g = random.upTo(2); g >= 0; --g) {
    GroupShape group;
    group.page = random.pick({1, 2, 4, 4, 8, 16});
    group.sink = random.pick({0, 0, 3, 5});
    group.recent = random.pick({0, 0, 3, 5, 17});
    for (int *tokens : {&group.keyTokens, &group.valueTokens}) {
      *tokens = random.pick({1, 1, 2, 4});
      while (*tokens > group.page || (*tokens > 1 && *tokens > group.recent))
        *tokens /= 2;
    }
    if (random.upTo(2) == 0) {
      group.window = random.pick({1, 4, 9});
      group.windowSinks = random.pick({0, 0, 2, 6});
    }
    group.layers = random.pick({1, 1, 2});
    // From what one sequence needs to what three do.
    group.blocks = 4 + random.upTo(40 / group.page + 4);
    group.rawBlocks = 4 + random.upTo(60 / group.page + 6);
    setting.groups.push_back(group);
  }
  setting.sequences = 2 + random.upTo(4);
  setting.tokens = random.pick({0, 0, 64});
  setting.queries = random.pick({1, 1, 3, 8});
  setting.freesWindow = random.upTo(1) == 0;
  setting.collides = random.upTo(7) == 0;
  setting.isTraced = !setting.collides && random.upTo(7) == 0;
  constexpr const char *kPolicies[] = {"lru", "lru", "lfu", "cost", "priority"};
  setting.policy = kPolicies[random.upTo(4)];
  return setting;
}

Operations kvc::test::randomOperations(uint64_t seed, int count) {
  Random random(seed);
  // What is common comes often.
  constexpr int kWeights[kKinds] = {4, 4, 12, 3, 1, 14, 3, 4, 3, 6, 5,
                                    2, 2, 1,  1, 2, 1,  4, 4, 4, 1, 3};
  int all = 0;
  for (int weight : kWeights)
    all += weight;
  Operations result;
  result.reserve(size_t(count));
  for (int i = 0; i < count; ++i) {
    int at = random.upTo(all - 1), kind = 0;
    while (at >= kWeights[kind])
      at -= kWeights[kind++];
    const uint64_t bits = random.next();
    result.push_back(
        {Do(kind), uint8_t(bits), uint8_t(bits >> 8), uint8_t(bits >> 16)});
  }
  return result;
}

Operations kvc::test::operationsOf(const uint8_t *data, size_t size) {
  Operations result;
  for (size_t i = 0; i + 4 <= size; i += 4)
    result.push_back(
        {Do(data[i] % kKinds), data[i + 1], data[i + 2], data[i + 3]});
  return result;
}

std::string kvc::test::asTest(const Setting &setting,
                              const Operations &operations) {
  const Setting usual;
  const GroupShape plain;
  std::string text = "TEST(ManagerFound, Name) {\n  Setting setting;\n";
  auto set = [&](const std::string &name, int value, int standard) {
    if (value != standard)
      text += "  " + name + " = " + std::to_string(value) + ";\n";
  };
  if (setting.groups.size() != 1)
    text += "  setting.groups.resize(" + std::to_string(setting.groups.size()) +
            ");\n";
  for (size_t g = 0; g < setting.groups.size(); ++g) {
    const GroupShape &group = setting.groups[g];
    const std::string at = "setting.groups[" + std::to_string(g) + "].";
    set(at + "page", group.page, plain.page);
    set(at + "sink", group.sink, plain.sink);
    set(at + "recent", group.recent, plain.recent);
    set(at + "keyTokens", group.keyTokens, plain.keyTokens);
    set(at + "valueTokens", group.valueTokens, plain.valueTokens);
    set(at + "window", group.window, plain.window);
    set(at + "windowSinks", group.windowSinks, plain.windowSinks);
    set(at + "blocks", group.blocks, plain.blocks);
    set(at + "rawBlocks", group.rawBlocks, plain.rawBlocks);
    set(at + "layers", group.layers, plain.layers);
  }
  set("setting.sequences", setting.sequences, usual.sequences);
  set("setting.tokens", setting.tokens, usual.tokens);
  set("setting.queries", setting.queries, usual.queries);
  set("setting.freesWindow", setting.freesWindow, usual.freesWindow);
  set("setting.collides", setting.collides, usual.collides);
  set("setting.isTraced", setting.isTraced, usual.isTraced);
  if (std::string(setting.policy) != usual.policy)
    text += std::string("  setting.policy = \"") + setting.policy + "\";\n";
  text += "  expectSound(setting, {";
  for (size_t i = 0; i < operations.size(); ++i) {
    const Operation &one = operations[i];
    text += (i ? ",\n                        {Do::" : "{Do::") +
            std::string(kNames[size_t(one.what)]);
    const int last = one.c ? 3 : one.b ? 2 : one.a ? 1 : 0;
    const int values[] = {one.a, one.b, one.c};
    for (int v = 0; v < last; ++v)
      text += ", " + std::to_string(values[v]);
    text += '}';
  }
  return text + "});\n}\n";
}

void kvc::test::shrink(
    Setting &setting, Operations &operations,
    const std::function<bool(const Setting &, const Operations &)> &fails) {
  // Parts of the list, from halves down to single operations.
  auto leaveOut = [&] {
    bool isSmaller = false;
    for (size_t size = std::max<size_t>(operations.size() / 2, 1); size > 0;
         size /= 2)
      for (size_t at = 0; at < operations.size();) {
        Operations rest = operations;
        rest.erase(rest.begin() + ptrdiff_t(at),
                   rest.begin() + ptrdiff_t(std::min(at + size, rest.size())));
        if (fails(setting, rest)) {
          operations = std::move(rest);
          isSmaller = true;
        } else {
          at += size;
        }
      }
    return isSmaller;
  };
  auto lower = [&] {
    bool isSmaller = false;
    for (size_t i = 0; i < operations.size(); ++i)
      for (uint8_t Operation::*operand :
           {&Operation::a, &Operation::b, &Operation::c})
        for (int value : {0, 1, 2, 3, 4, operations[i].*operand / 2,
                          operations[i].*operand - 1}) {
          if (value < 0 || value >= operations[i].*operand)
            continue;
          Operations less = operations;
          less[i].*operand = uint8_t(value);
          if (fails(setting, less)) {
            operations = std::move(less);
            isSmaller = true;
            break;
          }
        }
    return isSmaller;
  };
  auto simplify = [&] {
    bool isSimpler = false;
    auto attempt = [&](auto &&change) {
      Setting simple = setting;
      change(simple);
      if (!fails(simple, operations))
        return;
      setting = std::move(simple);
      isSimpler = true;
    };
    for (size_t g = setting.groups.size(); g-- > 0;)
      if (setting.groups.size() > 1)
        attempt([&](Setting &simple) {
          simple.groups.erase(simple.groups.begin() + ptrdiff_t(g));
        });
    const GroupShape plain;
    for (size_t g = 0; g < setting.groups.size(); ++g)
      for (int GroupShape::*field :
           {&GroupShape::window, &GroupShape::windowSinks,
            &GroupShape::keyTokens, &GroupShape::valueTokens,
            &GroupShape::recent, &GroupShape::sink, &GroupShape::layers,
            &GroupShape::page, &GroupShape::blocks, &GroupShape::rawBlocks})
        if (setting.groups[g].*field != plain.*field)
          attempt(
              [&](Setting &simple) { simple.groups[g].*field = plain.*field; });
    const Setting usual;
    for (int Setting::*field :
         {&Setting::sequences, &Setting::tokens, &Setting::queries})
      if (setting.*field != usual.*field)
        attempt([&](Setting &simple) { simple.*field = usual.*field; });
    for (bool Setting::*field :
         {&Setting::freesWindow, &Setting::collides, &Setting::isTraced})
      if (setting.*field)
        attempt([&](Setting &simple) { simple.*field = false; });
    if (std::string(setting.policy) != usual.policy)
      attempt([&](Setting &simple) { simple.policy = usual.policy; });
    return isSimpler;
  };
  while (leaveOut() || simplify() || lower()) {
  }
}
