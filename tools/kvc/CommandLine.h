//===- CommandLine.h - What the subcommands' options share ------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Values of options are parsed here, strictly: a bad one throws a Failure with
// exit code 2 whose message names the option, what was expected and what was
// got.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_COMMANDLINE_H
#define KVC_TOOLS_COMMANDLINE_H

#include "kvc/Failure.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace kvc {

/// Ends the command because its command line is wrong.
[[noreturn]] void failUse(const std::string &message);

/// Text from outside: quoted, on one line, of bounded length.
std::string inQuotes(std::string_view text);
/// "a, b, c".
std::string join(const std::vector<std::string> &items);

/// A decimal integer from `low` to `high`.
int64_t parseInteger(const std::string &option, std::string_view text,
                     int64_t low, int64_t high);
/// A decimal number above `low` and up to `high`.
double parseNumber(const std::string &option, std::string_view text, double low,
                   double high);
/// The items of a list with commas; none is empty and none comes twice.
std::vector<std::string> parseList(const std::string &option,
                                   std::string_view text);
std::vector<int64_t> parseIntegers(const std::string &option,
                                   std::string_view text, int64_t low,
                                   int64_t high);
/// One of `names`.
std::string parseName(const std::string &option, const std::string &text,
                      const std::vector<std::string> &names);

/// host, sim, cuda or cuda:N, whether this build has it or not.
std::string parseDevice(const std::string &text);

//===----------------------------------------------------------------------===//
// Declaring commands and their options; CLI11 itself is in CommandLine.cpp
// only, because it takes seconds to compile.
//===----------------------------------------------------------------------===//

/// Adds a subcommand; `run` is called when the command line names it.
CLI::App &addCommand(CLI::App &app, const std::string &name,
                     const std::string &about, std::function<void()> run,
                     const std::string &footer = "");

/// Adds a subcommand that is nothing without one of its own, which addCommand
/// adds to it.
CLI::App &addCommandGroup(CLI::App &app, const std::string &name,
                          const std::string &about);

enum class Need { Optional, Required };

/// Declares `--device`.
void addDevice(CLI::App &command, std::string &device, const std::string &help);

/// Declare options, or positional arguments, that are paths, never empty ones.
void addFile(CLI::App &command, const std::string &option, std::string &path,
             const std::string &help, Need need = Need::Optional);
void addFiles(CLI::App &command, const std::string &option,
              std::vector<std::string> &paths, const std::string &help,
              Need need = Need::Optional);
void addFolder(CLI::App &command, const std::string &option, std::string &path,
               const std::string &help, Need need = Need::Optional);

/// Declares an option without a value.
void addFlag(CLI::App &command, const std::string &option, bool &flag,
             const std::string &help);

/// Declare options with any text but none; those of addTexts take several, and
/// may be given again.
void addText(CLI::App &command, const std::string &option, std::string &text,
             const std::string &type, const std::string &help);
void addTexts(CLI::App &command, const std::string &option,
              std::vector<std::string> &texts, const std::string &type,
              const std::string &help);

/// Declares an option whose text `take` parses.
void addParsed(CLI::App &command, const std::string &option,
               const std::function<void(const std::string &)> &take,
               const std::string &type, const std::string &help,
               Need need = Need::Optional);

/// The same of one that may stand without a text, and then means `otherwise`.
void addParsedOr(CLI::App &command, const std::string &option,
                 const std::string &otherwise,
                 const std::function<void(const std::string &)> &take,
                 const std::string &type, const std::string &help);

/// Declare options whose values are parsed as above.
void addInteger(CLI::App &command, const std::string &option, int64_t &value,
                int64_t low, int64_t high, const std::string &help);
void addNumber(CLI::App &command, const std::string &option, double &value,
               double low, double high, const std::string &help);
void addIntegers(CLI::App &command, const std::string &option,
                 std::vector<int64_t> &values, int64_t low, int64_t high,
                 const std::string &help);
void addName(CLI::App &command, const std::string &option, std::string &value,
             const std::vector<std::string> &names, const std::string &help,
             Need need = Need::Optional);

/// The largest token count, thread count and batch of the command line.
inline constexpr int64_t kMaxTokens = (int64_t(1) << 31) - 1;
inline constexpr int64_t kMaxThreads = 1024;

/// Writes to stdout and makes sure that it arrived.
void print(std::string_view text);

} // namespace kvc

#endif // KVC_TOOLS_COMMANDLINE_H
