//===- Program.cpp - Running the kvc program ------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include <spawn.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

using namespace kvc::test;

extern char **environ;

Finished kvc::test::runKvc(const std::vector<std::string> &arguments) {
  return runProgram(KVC_PROGRAM, arguments);
}

Finished kvc::test::runShell(const std::string &line) {
  return runProgram("/bin/sh",
                    {"-c", "kvc() { \"" KVC_PROGRAM "\" \"$@\"; }; " + line});
}

bool kvc::test::canRunOnDevices() { return *KVC_SIM_RUN != 0; }

Finished kvc::test::runKvcOnDevice(const std::string &device,
                                   const std::vector<std::string> &arguments) {
  std::vector<std::string> all = {"--check", "--device", device, KVC_PROGRAM};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return runProgram(KVC_SIM_RUN, all);
}

Finished kvc::test::runProgram(const std::string &program,
                               const std::vector<std::string> &arguments) {
  std::vector<char *> argv = {const_cast<char *>(program.c_str())};
  for (const std::string &argument : arguments)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);

  int ends[2];
  if (pipe(ends))
    throw std::runtime_error("pipe failed");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  pid_t child = 0;
  int failed = posix_spawn(&child, program.c_str(), &actions, nullptr,
                           argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);

  Finished result{-1, ""};
  char buffer[4096];
  for (ssize_t n; !failed && (n = read(ends[0], buffer, sizeof(buffer))) > 0;)
    result.output.append(buffer, size_t(n));
  close(ends[0]);
  if (failed)
    throw std::runtime_error("cannot start " + program);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status))
    result.code = WEXITSTATUS(status);
  return result;
}
