//===- CheckSupport.h - Kernels that the checker watches --------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_SIM_CHECK_CHECKSUPPORT_H
#define KVC_TEST_UNIT_SIM_CHECK_CHECKSUPPORT_H

#include "../machine/MachineSupport.h"

#include "kvc/Sim/Check/Checker.h"

namespace kvc::test {

/// Runs a kernel of a body once under the checker, with a buffer `a` of 4 KiB
/// that the host has written and a buffer `b` that nobody has.
class CheckTest : public testing::Test {
protected:
  using Kind = sim::Finding::Kind;

  const std::vector<sim::Finding> &check(const std::string &body,
                                         sim::Extent3 grid = {1},
                                         sim::Extent3 block = {64},
                                         uint64_t seed = 0) {
    const std::string text =
        header("8.6", "sm_100") +
        ".shared .align 16 .b8 s[4096];\n.global .b32 flag;\n.global .b32 "
        "data[64];\n" +
        kernel(".reg .pred %p<8>; .reg .b32 %r<32>; .reg .f32 %f<16>; .reg "
               ".b64 %rd<16>; .reg .b16 %h<8>;\n"
               "ld.param.u64 %rd0, [a];\nld.param.u64 %rd1, [b];\n"
               "mov.u32 %r0, %tid.x;\nmov.u32 %r1, s;\nshl.b32 %r2, %r0, 2;\n"
               "add.u32 %r3, %r1, %r2;\nmul.wide.u32 %rd2, %r0, 4;\n"
               "add.s64 %rd3, %rd0, %rd2;\nadd.s64 %rd4, %rd1, %rd2;\n"
               "mov.u32 %r4, %ctaid.x;\n" +
                   body,
               ".param .u64 a, .param .u64 b");
    Device device(text, &checker);
    device.options.seed = seed;
    const uint64_t a = device.buffer(std::vector<uint32_t>(1024, 1), "a");
    const uint64_t b = device.memory.allocate(4096, "b");
    checker.clear();
    result = device.run("k", grid, block, a, b);
    return checker.findings();
  }

  void expectNone(const std::string &body, sim::Extent3 grid = {1},
                  sim::Extent3 block = {64}) {
    for (uint64_t seed : {0u, 1u, 2u})
      for (const sim::Finding &finding : check(body, grid, block, seed))
        ADD_FAILURE() << nameOf(finding.kind) << ": " << finding.message;
  }

  /// One finding of that kind whose message has these words.
  void expectOne(Kind kind, const std::vector<std::string> &words,
                 const std::string &body, sim::Extent3 grid = {1},
                 sim::Extent3 block = {64}) {
    for (uint64_t seed : {0u, 1u, 2u}) {
      const std::vector<sim::Finding> &found = check(body, grid, block, seed);
      ASSERT_EQ(found.size(), 1u)
          << (found.empty() ? "" : found[1].message) << body;
      EXPECT_EQ(nameOf(found[0].kind), nameOf(kind));
      for (const std::string &word : words)
        EXPECT_NE(found[0].message.find(word), std::string::npos)
            << word << " in " << found[0].message;
    }
  }

  /// Whatever comes first, a finding of that kind and no other.
  void expectAlways(Kind kind, const std::string &body, sim::Extent3 grid = {1},
                    sim::Extent3 block = {64}) {
    for (uint64_t seed = 0; seed < 6; ++seed) {
      const std::vector<sim::Finding> &found = check(body, grid, block, seed);
      EXPECT_FALSE(found.empty()) << "seed " << seed << "\n" << body;
      for (const sim::Finding &finding : found)
        EXPECT_EQ(nameOf(finding.kind), nameOf(kind)) << finding.message;
    }
  }

  sim::Checker checker;
  sim::LaunchResult result;
};

inline const std::string kWrite = "st.shared.b32 [%r3], %r0;\n";
/// What the thread one warp further has written.
inline const std::string kReadOther =
    "xor.b32 %r5, %r2, 128;\nadd.u32 %r5, %r5, "
    "%r1;\nld.shared.b32 %r6, [%r5];\n";
inline const std::string kReadNext = "xor.b32 %r5, %r2, 4;\nadd.u32 %r5, %r5, "
                                     "%r1;\nld.shared.b32 %r6, [%r5];\n";

} // namespace kvc::test

#endif // KVC_TEST_UNIT_SIM_CHECK_CHECKSUPPORT_H
