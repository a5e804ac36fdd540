//===- support_test.cpp - The end-to-end checks see what they must --------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A matrix that passes says little unless each of its checks can fail.
//
//===----------------------------------------------------------------------===//

#include "Expect.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace kvc;
using namespace kvc::test;

namespace {

TEST(Guard, EveryRunEndsAtAnInaccessiblePage) {
  for (int64_t bytes : {1, 48, 4096, 5000}) {
    GuardedRuns runs(3, bytes);
    for (int64_t i = 0; i < 3; ++i) {
      EXPECT_EQ(runs.run(i)[0], 0xFF);
      EXPECT_EQ(runs.run(i)[bytes - 1], 0xFF);
      volatile uint8_t *end = runs.run(i) + bytes;
      EXPECT_DEATH(*end = 0, "") << bytes << " run " << i;
      EXPECT_DEATH((void)*end, "") << bytes << " run " << i;
    }
  }
}

TEST(Guard, NothingIsAllGuard) {
  GuardedBuffer buffer(0);
  volatile uint8_t *begin = buffer.data();
  EXPECT_DEATH((void)*begin, "");
}

/// Where AddressSanitizer does not see it.
[[gnu::no_sanitize_address]] void zeroUnseen(volatile uint8_t *begin,
                                             int64_t bytes) {
  for (int64_t i = 0; i < bytes; ++i)
    begin[i] = 0;
}

TEST(Guard, DeviceSeesWritesBehindAnAllocation) {
  GuardedDevice device;
  for (int64_t over : {0, 1, 63}) {
    void *memory = nullptr;
    ASSERT_EQ(device.get()->allocate(device.get()->self, 65, nullptr, &memory),
              KVC_OK);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
    std::fill_n(static_cast<uint8_t *>(memory), 65, 0);
    zeroUnseen(static_cast<uint8_t *>(memory) + 65, over);
    ASSERT_EQ(device.get()->release(device.get()->self, memory, 65), KVC_OK);
    EXPECT_EQ(device.overruns(), over == 0 ? 0 : over == 1 ? 1 : 2);
  }
}

#if KVC_TEST_ASAN
TEST(Guard, AddressSanitizerSeesBothEnds) {
  for (int64_t bytes : {1, 48, 4096, 5000}) {
    GuardedRuns runs(2, bytes);
    volatile uint8_t *begin = runs.run(1);
    EXPECT_DEATH((void)begin[-8], "use-after-poison") << bytes;
    EXPECT_DEATH((void)begin[bytes], "use-after-poison") << bytes;
  }
  GuardedDevice device;
  void *memory = nullptr;
  ASSERT_EQ(device.get()->allocate(device.get()->self, 65, nullptr, &memory),
            KVC_OK);
  volatile uint8_t *begin = static_cast<uint8_t *>(memory);
  EXPECT_DEATH((void)begin[65], "use-after-poison");
  ASSERT_EQ(device.get()->release(device.get()->self, memory, 65), KVC_OK);
}
#endif

TEST(Rows, HoldTheirValuesInEveryOrder) {
  const std::vector<float> values = {1, -2, 3, 4, 5, 6.5f};
  for (RowOrder order :
       {RowOrder::Dense, RowOrder::Padded, RowOrder::HeadMajor})
    for (spec::DType type :
         {spec::DType::F32, spec::DType::F16, spec::DType::BF16}) {
      Rows rows(2, 3, 2, type, order);
      rows.setToken(1, values);
      std::vector<double> got = rows.values();
      ASSERT_EQ(got.size(), 12u);
      EXPECT_TRUE(std::isnan(got[0]));
      EXPECT_TRUE(std::equal(values.begin(), values.end(), got.begin() + 6));
      EXPECT_TRUE(rows.gapsAreUntouched());
    }
}

TEST(Rows, SeeWritesBetweenRows) {
  Rows rows(2, 2, 4, spec::DType::F32, RowOrder::Padded);
  static_cast<float *>(rows.out().data)[4] = 0;
  EXPECT_FALSE(rows.gapsAreUntouched());
}

/// A batch through kernels, and the answers to it and to another one.
class Checks : public testing::TestWithParam<const char *> {
protected:
  Checks() {
    std::string scheme = R"({"codec": "int4", "zero": "min",
        "scale": {"tokens": 1, "channels": 8, "dtype": "f16"}})";
    text = R"({"kvc": 1, "name": "checks", "io": {"query": "f16"},
        "attention": {"q_heads": 2, "kv_heads": 2, "head_dim": 16}, "key": )" +
           scheme + ", \"value\": " + scheme + ", \"layout\": " + GetParam() +
           "}";
    spec = *spec::parseSpec(text);
    const Lengths lengths[] = {{1, 70}, {2, 5}};
    inputs = randomInputs(spec, lengths, InputMode::Normal, 1);
    expected = answer(spec, inputs);
    other = answer(spec, randomInputs(spec, lengths, InputMode::Normal, 2));
  }

  std::string text;
  spec::Spec spec;
  Inputs inputs;
  Answer expected, other;
};

bool anyStartsWith(const std::vector<std::string> &lines,
                   const std::string &start) {
  return std::any_of(lines.begin(), lines.end(), [&](const std::string &line) {
    return line.starts_with(start);
  });
}

TEST_P(Checks, SeeWhatIsNotAsExpected) {
  CompilerHandle compiler = createCompiler();
  const std::string target = "host";
  Engine engine(compiler.get(), text, "checks", testOptionsFor(target));
  Session session(engine, spec, inputs, RowOrder::Dense, 0);
  EXPECT_EQ(wrongStored(spec, session, engine, expected),
            std::vector<std::string>());
  std::vector<std::string> wrong = wrongStored(spec, session, engine, other);
  for (const char *tensor :
       {"k_codes", "k_scale", "k_zero", "k:", "v_codes", "v_scale", "v_zero",
        "v:", "sequence 0", "sequence 1"})
    EXPECT_TRUE(anyStartsWith(wrong, tensor)) << tensor;

  Attended attended = session.attend(engine, nullptr);
  EXPECT_EQ(wrongAttended(spec, inputs, attended, expected),
            std::vector<std::string>());
  EXPECT_EQ(wrongAttended(spec, inputs, attended, other).size(), 2u);
  attended.out.back() = std::numeric_limits<double>::quiet_NaN();
  attended.gapsAreUntouched = false;
  EXPECT_EQ(wrongAttended(spec, inputs, attended, expected).size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, Checks,
    testing::Values(
        R"({"order": "nhd"})", R"({"order": "hnd"})",
        R"({"kind": "paged", "page": 16, "order": "nhd"})",
        R"({"kind": "paged", "page": 4, "order": "hnd"})",
        R"({"kind": "paged", "page": 4})",
        R"({"kind": "paged", "page": 16, "order": "hnd", "interleaved": true})"),
    [](const auto &info) { return "layout" + std::to_string(info.index); });

} // namespace
