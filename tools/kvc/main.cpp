//===- main.cpp - The kvc tool --------------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Exit codes: 0 success; 2 the command line itself is wrong; 1 anything else. A
// failure is one message on stderr, "kvc: error: PLACE: what, expected, got".
//
//===----------------------------------------------------------------------===//

#include "kvc/Base/PendingFile.h"
#include "kvc/CommandLine.h"
#include "kvc/Commands.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <sstream>

#include <fcntl.h>
#include <unistd.h>

using namespace kvc;

namespace {

struct Command {
  const char *name;
  void (*add)(CLI::App &app); ///< Null: this build lacks what it needs.
};

#ifdef KVC_TOOLS_WITH_COMPILER
constexpr Command kCommands[] = {{"run", addRunCommand},
                                 {"compile", addCompileCommand},
                                 {"bench", addBenchCommand},
                                 {"eval", addEvalCommand},
                                 {"calibrate", addCalibrateCommand},
                                 {"translate", addTranslateCommand},
                                 {"plan", addPlanCommand},
                                 {"presets", addPresetsCommand},
                                 {"inspect", addInspectCommand},
                                 {"cache", addCacheCommand},
                                 {"sim", addSimCommand}};
#else
constexpr Command kCommands[] = {{"run", nullptr},
                                 {"compile", nullptr},
                                 {"bench", nullptr},
                                 {"eval", nullptr},
                                 {"calibrate", addCalibrateCommand},
                                 {"translate", nullptr},
                                 {"plan", addPlanCommand},
                                 {"presets", addPresetsCommand},
                                 {"inspect", addInspectCommand},
                                 {"cache", addCacheCommand},
                                 {"sim", addSimCommand}};
#endif

int fail(const std::string &message, int code) {
  std::fprintf(stderr, "kvc: error: %s\n", onOneLine(message).c_str());
  return code;
}

/// The parser would only say that a subcommand is missing.
void checkCommand(int argc, char **argv) {
  std::vector<std::string> names;
  for (const Command &command : kCommands)
    if (command.add)
      names.push_back(command.name);
  if (argc < 2)
    failUse("command line: expected a command, one of " + join(names) +
            "; got none");
  const std::string given = argv[1];
  if (given.starts_with("-") || std::ranges::find(names, given) != names.end())
    return;
  for (const Command &command : kCommands)
    if (given == command.name)
      throw Failure(given +
                    ": needs the compiler, expected a kvc that was built "
                    "with it, got one of KVC_BUILD_COMPILER=OFF");
  failUse("command line: expected a command, one of " + join(names) + "; got " +
          inQuotes(given));
}

/// The parser's own errors in the tool's words.
std::string messageOf(const CLI::App &app, const CLI::ParseError &error) {
  // An unknown argument is why a required one seems to be missing.
  std::vector<std::string> extras = app.remaining(true);
  if (!extras.empty())
    return "command line: expected the arguments that --help lists, got " +
           inQuotes(extras.front());
  std::string text = error.what();
  // "poison was given a disallowed flag override".
  if (size_t end = text.find(" was given a"); end != std::string::npos)
    return "--" + text.substr(0, end) + ": expected no value, got one";
  // "NAME: At Most 1 required but received 2".
  if (size_t end = text.find(": At Most 1 required but received ");
      end != std::string::npos)
    return text.substr(0, end) + ": expected it once, got it " +
           text.substr(text.rfind(' ') + 1) + " times";
  // "NAME is required", "NAME: 1 required FILE missing".
  size_t end = std::min(text.find(" is required"), text.find(": 1 required"));
  return end == std::string::npos
             ? text
             : text.substr(0, end) + ": expected a value, got none";
}

/// Ends as the signal would, but leaves no temporary file.
void endBySignal(int signal) {
  PendingFile::removeTemporaries();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

int runTool(int argc, char **argv) {
  CLI::App app{"Attention over quantised KV caches: compile it, run it, "
               "measure it.",
               "kvc"};
  app.require_subcommand(1);
  app.set_version_flag("--version", kvc_version());
  app.footer("Every command has --help and --json. Exit codes: 0 success, 2 "
             "the command line is wrong, 1 any other failure.");
  for (const Command &command : kCommands)
    if (command.add)
      command.add(app);
  try {
    checkCommand(argc, argv);
    app.parse(argc, argv);
  } catch (const CLI::Success &success) {
    std::ostringstream text;
    const int code = app.exit(success, text);
    print(text.str());
    return code;
  } catch (const CLI::ParseError &error) {
    return fail(messageOf(app, error), 2);
  }
  return 0;
}

} // namespace

/// Where a standard stream is closed, the first file that is opened would take
/// its place, and get its text.
void openStandardStreams() {
  int opened = 0;
  while (opened >= 0 && opened <= STDERR_FILENO)
    opened = open("/dev/null", O_RDONLY);
  if (opened >= 0)
    close(opened);
}

int main(int argc, char **argv) {
  openStandardStreams();
  // A reader that has gone away is a failed write, reported like any other; so
  // is a file that may grow no further.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  for (int signal :
       {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGXCPU, SIGUSR1, SIGUSR2})
    if (std::signal(signal, endBySignal) == SIG_IGN)
      std::signal(signal, SIG_IGN); // as nohup wants it
  try {
    return runTool(argc, argv);
  } catch (const Failure &failure) {
    return fail(failure.what(), failure.code);
  } catch (const std::bad_alloc &) {
    return fail("memory: expected enough for this input, got none", 1);
  } catch (const std::exception &error) {
    return fail(error.what(), 1);
  }
}
