//===- Program.h - Running the kvc program ----------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_E2E_PROGRAM_H
#define KVC_TEST_E2E_PROGRAM_H

#include <string>
#include <vector>

namespace kvc::test {

struct Finished {
  int code;           ///< Exit code; -1 if a signal ended it.
  std::string output; ///< What it wrote to stdout and stderr.
};

/// Runs a program and waits for its end.
Finished runProgram(const std::string &program,
                    const std::vector<std::string> &arguments);
/// Runs `kvc ARGUMENTS..`.
Finished runKvc(const std::vector<std::string> &arguments);
/// Runs a line of the shell in which `kvc` is that program.
Finished runShell(const std::string &line);
/// Whether the next function has what it needs.
bool canRunOnDevices();
/// The same on a simulated device, under the simulator's checker: what that
/// finds fails the program.
Finished runKvcOnDevice(const std::string &device,
                        const std::vector<std::string> &arguments);

} // namespace kvc::test

#endif // KVC_TEST_E2E_PROGRAM_H
