//===- Progress.cpp - What a long command is doing ------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Progress.h"

#include "kvc/Failure.h"

#include <cstdio>
#include <unistd.h>

using namespace kvc;

Progress::Progress(std::string command, std::chrono::milliseconds patience)
    : command(std::move(command)) {
  if (isatty(STDERR_FILENO))
    timer = std::thread([=, this] { waitFor(patience); });
}

Progress::~Progress() {
  if (!timer.joinable())
    return;
  {
    std::lock_guard lock(mutex);
    isOver = true;
  }
  ended.notify_one();
  timer.join();
}

void Progress::begin(std::string what) {
  std::lock_guard lock(mutex);
  step = std::move(what);
  if (isLate)
    say();
}

void Progress::begin(size_t done, size_t all, const std::string &what) {
  begin(std::to_string(done + 1) + " of " + std::to_string(all) + ": " + what);
}

void Progress::waitFor(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex);
  if (ended.wait_for(lock, patience, [&] { return isOver; }))
    return;
  isLate = true;
  if (!step.empty())
    say();
}

void Progress::say() const {
  std::fprintf(stderr, "kvc: %s: %s\n", command.c_str(),
               onOneLine(step).c_str());
}
