//===- run_test.cpp - Programs under kvc-sim-run --------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace kvc::test;
using ::testing::TestWithParam;
using ::testing::Values;

namespace {

/// A scenario of program.c; `way` is linked, dlsym or procaddress.
Finished run(const std::string &options, const std::string &scenario,
             const std::string &way = "dlsym") {
  return finish(std::string(KVC_SIM_RUN) + " " + options + " " +
                (way == "linked" ? KVC_LINKED_PROGRAM : KVC_PROGRAM) + " " +
                way + " " + scenario);
}

bool says(const Finished &finished, const std::string &text) {
  return finished.output.find(text) != std::string::npos;
}

size_t countOf(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++count)
    at += part.size();
  return count;
}

class Ways : public TestWithParam<const char *> {};

TEST_P(Ways, RunsWhatIsRightWithoutAWord) {
  for (const char *scenario : {"add", "pipeline", "graph"})
    for (const char *options :
         {"", "--check", "--seed 3", "--hold 0", "--hold forever",
          "--device A100 --threads 2"}) {
      const Finished finished = run(options, scenario, GetParam());
      if (std::string_view(options) == "--check") // One line says what it did.
        EXPECT_TRUE(says(finished, ": 0 findings\n") && says(finished, "ok\n"))
            << finished.output;
      else
        EXPECT_EQ(finished.output, "ok\n") << options << " " << scenario;
      EXPECT_EQ(finished.status, 0) << options << " " << scenario;
    }
}

TEST_P(Ways, SaysWhatIsWrongWithAModule) {
  const Finished finished = run("", "log", GetParam());
  EXPECT_EQ(finished.status, 0) << finished.output;
  EXPECT_TRUE(says(finished, "module 1:5:3: ")) << finished.output;
  EXPECT_TRUE(says(finished, "expected PTX, got a cubin")) << finished.output;
}

INSTANTIATE_TEST_SUITE_P(Driver, Ways,
                         Values("linked", "dlsym", "procaddress"));

TEST(Run, TellsTheLineOfAFault) {
  const Finished finished = run("", "fault");
  EXPECT_EQ(finished.status, 0) << finished.output;
  EXPECT_TRUE(says(finished, "kernel \"scale\" of module 1:43:3: "))
      << finished.output;
  EXPECT_TRUE(says(finished, "\n    ld.global.f32 %f1, [%rd3];\n"))
      << finished.output;
}

TEST(Run, FindingsExitWithOne) {
  for (const char *scenario : {"race", "fault"}) {
    EXPECT_EQ(run("", scenario).status, 0);
    const Finished finished = run("--check", scenario);
    EXPECT_EQ(finished.status, 1) << finished.output;
    EXPECT_TRUE(says(finished, " block: 1 finding\n")) << finished.output;
  }
  EXPECT_TRUE(says(run("--check", "race"), "race: line 60 (st.global.u32)"));
}

TEST(Run, TellsWhatWasCheckedWhereNothingIsFound) {
  const Finished finished = run("--check", "add");
  EXPECT_EQ(finished.status, 0) << finished.output;
  EXPECT_TRUE(says(finished,
                   "kvc-sim: checked 1 kernel, 3 launches, 12 blocks: "
                   "0 findings\n"))
      << finished.output;
  EXPECT_FALSE(says(run("", "add"), "checked"));
}

TEST(Run, WhatNobodyWaitsForDoesNotRun) {
  const Finished finished = run("--hold forever", "forget");
  EXPECT_EQ(finished.status, 0) << finished.output;
  EXPECT_TRUE(says(finished, "1 operation was never waited for"))
      << finished.output;
  // At once: the program that relies on the opposite is wrong.
  EXPECT_EQ(run("--hold 0", "forget").status, 3);
}

TEST(Run, NamesWhatIsMissingOnce) {
  const Finished finished = run("", "missing");
  EXPECT_EQ(finished.status, 0) << finished.output;
  EXPECT_EQ(countOf(finished.output, "cuArrayCreate_v2"), 1u)
      << finished.output;
  EXPECT_TRUE(says(finished, "cuGetExportTable of the runtime API's"))
      << finished.output;
}

TEST(Run, Counts) {
  const std::string file = ::testing::TempDir() + "/kvc-driver-counts.json";
  std::filesystem::remove(file);
  const Finished finished = run("--count --count-file " + file, "add");
  EXPECT_EQ(finished.status, 0) << finished.output;
  EXPECT_TRUE(says(finished, "       3                228             117"))
      << finished.output;
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  EXPECT_EQ(countOf(text.str(), "\"kernel\": \"add\""), 3u) << text.str();
  std::filesystem::remove(file);
}

TEST(Run, Logs) {
  const Finished finished = run("--log", "add");
  EXPECT_TRUE(says(finished, "kvc-sim: cuInit(0) = CUDA_SUCCESS\n"))
      << finished.output;
  EXPECT_TRUE(says(finished, ") = CUDA_ERROR_INVALID_HANDLE"))
      << finished.output;
}

TEST(Run, ExitsAsTheProgram) {
  const std::string tool = KVC_SIM_RUN;
  EXPECT_EQ(finish(tool + " sh -c 'exit 7'").status, 7);
  EXPECT_EQ(finish(tool + " --check sh -c 'exit 7'").status, 7);
  EXPECT_EQ(finish(tool + " sh -c 'kill -9 $$'").status, 128 + 9);
  EXPECT_EQ(finish(tool + " /nonexistent").status, 127);
  EXPECT_EQ(finish(tool + " -- sh -c 'exit 7'").status, 7);
}

TEST(Run, RefusesOptionsThatThereAreNot) {
  const std::string tool = KVC_SIM_RUN;
  const std::pair<const char *, const char *> cases[] = {
      {"", "expected a program, got none"},
      {"--", "expected a program, got none"},
      {"--frob true", "expected an option of --help, got --frob"},
      {"--seed", "--seed: expected N, got nothing"},
      {"--seed x true", "KVC_SIM_SEED: expected a number from 0"},
      {"--threads 0 true", "KVC_SIM_THREADS: expected a number from 1"},
      {"--device B1 true", "--device: KVC_SIM_DEVICE: expected one of A100"},
      {"--memory 1T true", "KVC_SIM_MEMORY: expected bytes"},
      {"--memory 2000G true", "KVC_SIM_MEMORY: expected bytes"},
      {"--mma x true", "KVC_SIM_MMA: expected chain or one of"},
      {"--hold x true", "KVC_SIM_HOLD: expected a number from 0"},
  };
  for (const auto &[arguments, message] : cases) {
    const Finished finished = finish(tool + " " + arguments);
    EXPECT_EQ(finished.status, 2) << arguments;
    EXPECT_TRUE(says(finished, message)) << finished.output;
  }
  const Finished finished =
      finish("KVC_SIM_CHECK=2 " + tool + " " + std::string("true"));
  EXPECT_EQ(finished.status, 2);
  EXPECT_TRUE(says(finished, "KVC_SIM_CHECK: expected 0 or 1, got \"2\""));
}

/// The documentation names every setting.
TEST(Run, TheReadmeNamesEverySetting) {
  std::ifstream stream(KVC_DRIVER_README);
  std::ostringstream readme;
  readme << stream.rdbuf();
  std::istringstream help(finish(std::string(KVC_SIM_RUN) + " --help").output);
  size_t found = 0;
  for (std::string word; help >> word;)
    if (word.starts_with("(KVC_SIM_") && word.ends_with(")")) {
      ++found;
      EXPECT_NE(readme.str().find(word.substr(1, word.size() - 2)),
                std::string::npos)
          << word;
    }
  EXPECT_GE(found, 10u);
}

} // namespace
