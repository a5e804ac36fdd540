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
  std::vector<char *> argv = {const_cast<char *>(KVC_PROGRAM)};
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
  int failed =
      posix_spawn(&child, KVC_PROGRAM, &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);

  Finished result{-1, ""};
  char buffer[4096];
  for (ssize_t n; !failed && (n = read(ends[0], buffer, sizeof(buffer))) > 0;)
    result.output.append(buffer, size_t(n));
  close(ends[0]);
  if (failed)
    throw std::runtime_error("cannot start " KVC_PROGRAM);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status))
    result.code = WEXITSTATUS(status);
  return result;
}
