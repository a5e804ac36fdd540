//===- Progress.h - What a long command is doing ----------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Whoever waits at a terminal sees what for; logs and scripts, which expect one
// message on stderr and only on failure, see nothing.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_PROGRESS_H
#define KVC_TOOLS_PROGRESS_H

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace kvc {

/// When `patience` has passed since it was made, says on stderr which step is
/// under way, and from then on each step as it begins.
class Progress {
public:
  explicit Progress(std::string command, std::chrono::milliseconds patience =
                                             std::chrono::seconds(2));
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  void begin(std::string what);
  /// The same as "DONE + 1 of ALL: WHAT".
  void begin(size_t done, size_t all, const std::string &what);

private:
  void waitFor(std::chrono::milliseconds patience);
  void say() const;

  const std::string command;
  std::mutex mutex; ///< Guards what follows.
  std::condition_variable ended;
  std::string step;
  bool isLate = false, isOver = false;
  std::thread timer; ///< None where nobody looks.
};

} // namespace kvc

#endif // KVC_TOOLS_PROGRESS_H
