//===- Program.h - Programs that run over the simulator ---------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_DRIVER_PROGRAM_H
#define KVC_TEST_DRIVER_PROGRAM_H

#include <sys/wait.h>

#include <cstdio>
#include <string>

namespace kvc::test {

struct Finished {
  int status = -1;
  std::string output; ///< stdout and stderr.
};

/// Runs a line of the shell to its end.
inline Finished finish(const std::string &line) {
  Finished result;
  std::FILE *pipe = ::popen((line + " 2>&1").c_str(), "r");
  if (!pipe)
    return result;
  char buffer[4096];
  for (size_t size; (size = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;)
    result.output.append(buffer, size);
  const int status = ::pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

} // namespace kvc::test

#endif // KVC_TEST_DRIVER_PROGRAM_H
