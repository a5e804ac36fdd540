//===- main.cpp - kvc-sim-run ---------------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Runs a program with the simulator's libcuda.so.1 before all others. Options
// are the library's variables of the environment.
//
//===----------------------------------------------------------------------===//

#include "kvc/Driver/Settings.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

using namespace kvc::driver;
namespace fs = std::filesystem;

static constexpr int kUse = 2, kNotFound = 127, kBySignal = 128;

static int fail(int status, const std::string &message) {
  std::fprintf(stderr, "kvc-sim-run: %s\n", message.c_str());
  return status;
}

static void printHelp() {
  std::printf("Usage: kvc-sim-run [OPTIONS] PROGRAM [ARGS..]\n\n"
              "Run a program of the CUDA driver API on a simulated device. Its "
              "exit status is the\nprogram's, or 1 if --check found "
              "something.\n\nOptions:\n");
  for (const Setting &each : allSettings()) {
    const std::string option =
        std::string(each.option) +
        (each.value ? std::string(" ") + each.value : "");
    std::printf("  %-20s  %s\n  %-20s  (%s)\n", option.c_str(), each.help, "",
                each.variable);
  }
}

/// Options into the environment, up to the program. Its place; 0 if there is
/// none, with `status` set.
static int readOptions(int argc, char **argv, int &status) {
  status = kUse;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--help" || argument == "-h") {
      printHelp();
      status = 0;
      return 0;
    }
    if (!argument.starts_with("-"))
      return i;
    if (argument == "--" && i + 1 < argc)
      return i + 1;
    if (argument == "--")
      break;
    const Setting *found = nullptr;
    for (const Setting &each : allSettings())
      if (argument == each.option)
        found = &each;
    if (!found) {
      fail(kUse, "expected an option of --help, got " + std::string(argument));
      return 0;
    }
    if (found->value && i + 1 == argc) {
      fail(kUse, std::string(argument) + ": expected " + found->value +
                     ", got nothing");
      return 0;
    }
    const char *value = found->value ? argv[++i] : "1";
    Settings settings;
    auto error = readSettings(settings, [&](const char *name) {
      return std::string_view(name) == found->variable ? value : nullptr;
    });
    if (error) {
      fail(kUse, std::string(argument) + ": " + *error);
      return 0;
    }
    setenv(found->variable, value, 1);
  }
  fail(kUse, "expected a program, got none");
  return 0;
}

/// Where the library is: beside this program, as it is built or installed.
static std::optional<fs::path> libraryFolder() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  for (const char *folder : {KVC_SIM_LIBRARY_FOLDERS}) {
    const fs::path path = self.parent_path() / folder;
    if (fs::exists(path / "libcuda.so.1", error))
      return fs::weakly_canonical(path, error);
  }
  return std::nullopt;
}

/// A file that findings are told to, removed at the end.
class FindingsFile {
public:
  FindingsFile() {
    if (const char *given = std::getenv("KVC_SIM_FINDINGS")) {
      path = given;
      std::error_code error;
      const auto size = fs::file_size(path, error);
      before = error ? 0 : size;
      return;
    }
    std::error_code error;
    std::string name =
        (fs::temp_directory_path(error) / "kvc-sim-XXXXXX").string();
    const int file = mkstemp(name.data());
    if (file < 0)
      return;
    close(file);
    path = name;
    isTemporary = true;
    setenv("KVC_SIM_FINDINGS", name.c_str(), 1);
  }
  ~FindingsFile() {
    std::error_code error;
    if (isTemporary)
      fs::remove(path, error);
  }
  FindingsFile(const FindingsFile &) = delete;
  FindingsFile &operator=(const FindingsFile &) = delete;

  bool hasNew() const {
    std::error_code error;
    const auto size = fs::file_size(path, error);
    return !error && size > before;
  }

private:
  fs::path path;
  uintmax_t before = 0;
  bool isTemporary = false;
};

static int run(char **argv) {
  const pid_t child = fork();
  if (child < 0)
    return fail(1, std::string("fork: ") + std::strerror(errno));
  if (child == 0) {
    execvp(argv[0], argv);
    std::fprintf(stderr, "kvc-sim-run: %s: %s\n", argv[0],
                 std::strerror(errno));
    _exit(kNotFound);
  }
  // The terminal tells both; the program decides.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGQUIT, SIG_IGN);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : kBySignal + WTERMSIG(status);
}

int main(int argc, char **argv) {
  int status = 0;
  const int program = readOptions(argc, argv, status);
  if (program == 0)
    return status;
  Settings settings;
  if (auto error = readSettings(
          settings, [](const char *name) { return std::getenv(name); }))
    return fail(kUse, *error);
  const std::optional<fs::path> folder = libraryFolder();
  if (!folder)
    return fail(1, "expected libcuda.so.1 beside this program, got none");
  const char *others = std::getenv("LD_LIBRARY_PATH");
  setenv(
      "LD_LIBRARY_PATH",
      (folder->string() + (others && *others ? std::string(":") + others : ""))
          .c_str(),
      1);
  if (!settings.checks)
    return run(argv + program);
  const FindingsFile findings;
  status = run(argv + program);
  if (findings.hasNew())
    return fail(1, "expected a program without findings, got some (above)");
  return status;
}
