//===- progress_test.cpp - What a long command says -----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Progress.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fcntl.h>
#include <functional>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

using namespace kvc;
using namespace std::chrono_literals;

namespace {

using Step = std::function<void(int reader)>;

/// What `function` writes to stderr where that is `file`, read from `reader`.
/// Closes both.
std::string written(int file, int reader, const Step &function) {
  const int saved = dup(STDERR_FILENO);
  EXPECT_EQ(dup2(file, STDERR_FILENO), STDERR_FILENO);
  close(file);
  function(reader);
  EXPECT_EQ(dup2(saved, STDERR_FILENO), STDERR_FILENO);
  close(saved);
  std::string text;
  char buffer[256];
  for (ssize_t size; (size = read(reader, buffer, sizeof(buffer))) > 0;)
    text.append(buffer, static_cast<size_t>(size));
  close(reader);
  return text;
}

std::string onTerminal(const Step &function) {
  const int reader = posix_openpt(O_RDWR | O_NOCTTY);
  EXPECT_GE(reader, 0);
  EXPECT_EQ(grantpt(reader), 0);
  EXPECT_EQ(unlockpt(reader), 0);
  const int terminal = open(ptsname(reader), O_RDWR | O_NOCTTY);
  EXPECT_GE(terminal, 0);
  return written(terminal, reader, function);
}

/// Whether something can be read within `limit`.
bool says(int reader, std::chrono::milliseconds limit) {
  pollfd entry{reader, POLLIN, 0};
  return poll(&entry, 1, static_cast<int>(limit.count())) == 1;
}

TEST(Progress, NamesTheStepUnderWayThenEachThatBegins) {
  EXPECT_EQ(onTerminal([](int reader) {
              Progress progress("eval", 20ms);
              progress.begin(0, 3, "slow\n");
              EXPECT_TRUE(says(reader, 60s));
              progress.begin(1, 3, "next");
              progress.begin("last");
            }),
            "kvc: eval: 1 of 3: slow\\x0a\r\nkvc: eval: 2 of 3: next\r\n"
            "kvc: eval: last\r\n");
}

TEST(Progress, SaysNothingAtFirst) {
  EXPECT_EQ(onTerminal([](int) {
              Progress progress("eval", 1h);
              progress.begin("quick");
            }),
            "");
}

TEST(Progress, SaysNothingWhereNobodyLooks) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(written(ends[1], ends[0],
                    [](int reader) {
                      Progress progress("eval", 0ms);
                      progress.begin("slow");
                      EXPECT_FALSE(says(reader, 200ms));
                      progress.begin("last");
                    }),
            "");
}

} // namespace
