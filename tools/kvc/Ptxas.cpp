//===- Ptxas.cpp - NVIDIA's assembler, where it is installed --------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Ptxas.h"

#include "kvc/Failure.h"
#include "kvc/SpecFile.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern char **environ;

using namespace kvc;
namespace fs = std::filesystem;

namespace {

/// A folder of its own for one run.
class WorkFolder {
public:
  WorkFolder() {
    std::string name =
        (fs::temp_directory_path() / "kvc-ptxas-XXXXXX").string();
    if (!::mkdtemp(name.data()))
      throw Failure("ptxas: " + name +
                    ": cannot make a folder: " + std::strerror(errno));
    path = name;
  }
  WorkFolder(const WorkFolder &) = delete;
  WorkFolder &operator=(const WorkFolder &) = delete;
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  std::string operator/(const char *name) const {
    return (path / name).string();
  }

private:
  fs::path path;
};

/// Runs a program with what it prints in a file; its exit status.
int runInto(const std::string &log, const std::vector<std::string> &command) {
  std::vector<char *> arguments;
  for (const std::string &argument : command)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawn(&child, arguments.front(), &actions, nullptr,
                                arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error)
    throw Failure(command.front() + ": cannot run: " + std::strerror(error));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      throw Failure(command.front() +
                    ": cannot wait for it: " + std::strerror(errno));
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

} // namespace

static bool isProgram(const fs::path &path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && !::access(path.c_str(), X_OK);
}

std::string kvc::findPtxas() {
  const char *listed = std::getenv("PATH"), *given = std::getenv("KVC_PTXAS");
  if (given && isProgram(given))
    return given;
  if (given)
    throw Failure("--emit: cubin needs ptxas, NVIDIA's assembler; expected it "
                  "where KVC_PTXAS says, " +
                  onOneLine(given) + ", got none");
  const std::string all =
      std::string(listed ? listed : "") + ":/usr/local/cuda/bin";
  for (size_t begin = 0; begin <= all.size();) {
    const size_t end = std::min(all.find(':', begin), all.size());
    const fs::path path = fs::path(all.substr(begin, end - begin)) / "ptxas";
    if (end > begin && isProgram(path))
      return path.string();
    begin = end + 1;
  }
  throw Failure("--emit: cubin needs ptxas, NVIDIA's assembler; expected it in "
                "PATH or in /usr/local/cuda/bin, got none");
}

Assembled kvc::assemble(const std::string &ptxas, std::string_view ptx,
                        const std::string &target, const std::string &place) {
  const WorkFolder folder;
  const std::string source = folder / "kernels.ptx",
                    cubin = folder / "kernels.cubin", log = folder / "log";
  std::ofstream file(source, std::ios::binary);
  if (!file.write(ptx.data(), static_cast<std::streamsize>(ptx.size())) ||
      !file.flush())
    throw Failure(source + ": cannot write: " + std::strerror(errno));
  constexpr size_t kMost = size_t(1) << 30;
  const int status =
      runInto(log, {ptxas, "-v", "-arch=" + target, source, "-o", cubin});
  Assembled result;
  result.log = readFile(log, kMost);
  if (status != 0)
    throw Failure(place + ": expected " + ptxas + " to take its PTX, got " +
                  (result.log.empty() ? "exit status " + std::to_string(status)
                                      : onOneLine(result.log.substr(
                                            0, result.log.find('\n')))));
  result.cubin = readFile(cubin, kMost);
  return result;
}
