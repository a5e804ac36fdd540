//===- CommandLine.cpp - What the subcommands' options share --------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/CommandLine.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <sstream>

using namespace kvc;

void kvc::failUse(const std::string &message) { throw Failure(message, 2); }

std::string kvc::inQuotes(std::string_view text) {
  constexpr size_t limit = 160;
  std::string result = "\"" + onOneLine(text.substr(0, limit));
  return result + (text.size() > limit ? "..\"" : "\"");
}

std::string kvc::join(const std::vector<std::string> &items) {
  std::string text;
  for (const std::string &item : items)
    text += (text.empty() ? "" : ", ") + item;
  return text;
}

int64_t kvc::parseInteger(const std::string &option, std::string_view text,
                          int64_t low, int64_t high) {
  int64_t value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low ||
      value > high)
    failUse(option + ": expected an integer from " + std::to_string(low) +
            " to " + std::to_string(high) + ", got " + inQuotes(text));
  return value;
}

double kvc::parseNumber(const std::string &option, std::string_view text,
                        double low, double high) {
  double value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value > low &&
      value <= high)
    return value;
  std::ostringstream range;
  range << "above " << low << " and up to " << high;
  failUse(option + ": expected a number " + range.str() + ", got " +
          inQuotes(text));
}

std::vector<std::string> kvc::parseList(const std::string &option,
                                        std::string_view text) {
  std::vector<std::string> items;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    std::string item(text.substr(begin, end - begin));
    if (item.empty())
      failUse(option + ": expected a list with commas and no empty item, got " +
              inQuotes(text));
    if (std::find(items.begin(), items.end(), item) != items.end())
      failUse(option + ": expected each item once, got " + inQuotes(item) +
              " twice");
    items.push_back(std::move(item));
    begin = end + 1;
  }
  return items;
}

std::vector<int64_t> kvc::parseIntegers(const std::string &option,
                                        std::string_view text, int64_t low,
                                        int64_t high) {
  std::vector<int64_t> values;
  for (const std::string &item : parseList(option, text))
    values.push_back(parseInteger(option, item, low, high));
  return values;
}

std::string kvc::parseName(const std::string &option, const std::string &text,
                           const std::vector<std::string> &names) {
  if (std::find(names.begin(), names.end(), text) == names.end())
    failUse(option + ": expected one of " + join(names) + "; got " +
            inQuotes(text));
  return text;
}

std::string kvc::parseDevice(const std::string &text) {
  std::string_view number = text;
  if (number.starts_with("cuda:")) {
    number.remove_prefix(5);
    if (!number.empty() && number.size() <= 4 &&
        number.find_first_not_of("0123456789") == std::string_view::npos)
      return text;
  }
  if (text == "host" || text == "sim" || text == "cuda")
    return text;
  failUse("--device: expected host, sim, cuda or cuda:N; got " +
          inQuotes(text));
}

CLI::App &kvc::addCommand(CLI::App &app, const std::string &name,
                          const std::string &about, std::function<void()> run,
                          const std::string &footer) {
  CLI::App *command = app.add_subcommand(name, about);
  command->footer(footer);
  command->callback(std::move(run));
  return *command;
}

CLI::App &kvc::addCommandGroup(CLI::App &app, const std::string &name,
                               const std::string &about) {
  CLI::App *group = app.add_subcommand(name, about);
  group->require_subcommand(0, 1);
  group->callback([group, name] {
    if (!group->get_subcommands().empty())
      return;
    std::vector<std::string> names;
    for (const CLI::App *command : group->get_subcommands({}))
      names.push_back(command->get_name());
    failUse("command line: " + name + ": expected a command, one of " +
            join(names) + "; got none");
  });
  return *group;
}

void kvc::addDevice(CLI::App &command, std::string &device,
                    const std::string &help) {
  addParsed(
      command, "--device",
      [&device](const std::string &text) { device = parseDevice(text); },
      "NAME", help);
}

namespace {

/// What a path is called after the option; a positional argument's name says
/// it.
std::string typeOf(const std::string &option, const char *type) {
  return option.starts_with("-") ? type : "";
}

/// An empty text is a script's variable that was never set.
std::function<std::string(const std::string &)>
isGiven(const std::string &option, const char *what) {
  return [option, what](const std::string &text) -> std::string {
    if (text.empty())
      failUse(option + ": expected " + what + ", got \"\"");
    return {};
  };
}

bool isRequired(Need need) { return need == Need::Required; }

} // namespace

void kvc::addFile(CLI::App &command, const std::string &option,
                  std::string &path, const std::string &help, Need need) {
  command.add_option(option, path, help)
      ->type_name(typeOf(option, "FILE"))
      ->check(isGiven(option, "a path"))
      ->required(isRequired(need));
}

void kvc::addFiles(CLI::App &command, const std::string &option,
                   std::vector<std::string> &paths, const std::string &help,
                   Need need) {
  command.add_option(option, paths, help)
      ->type_name(typeOf(option, "FILE"))
      ->check(isGiven(option, "a path"))
      ->required(isRequired(need));
}

void kvc::addFolder(CLI::App &command, const std::string &option,
                    std::string &path, const std::string &help, Need need) {
  command.add_option(option, path, help)
      ->type_name(typeOf(option, "FOLDER"))
      ->check(isGiven(option, "a path"))
      ->required(isRequired(need));
}

void kvc::addFlag(CLI::App &command, const std::string &option, bool &flag,
                  const std::string &help) {
  command.add_flag(option, flag, help)
      ->disable_flag_override() // "--poison=false" would be one
      ->multi_option_policy(CLI::MultiOptionPolicy::Throw);
}

void kvc::addText(CLI::App &command, const std::string &option,
                  std::string &text, const std::string &type,
                  const std::string &help) {
  command.add_option(option, text, help)
      ->type_name(type)
      ->check(isGiven(option, "a value"));
}

void kvc::addTexts(CLI::App &command, const std::string &option,
                   std::vector<std::string> &texts, const std::string &type,
                   const std::string &help) {
  command.add_option(option, texts, help)
      ->type_name(type)
      ->check(isGiven(option, "a value"));
}

void kvc::addParsed(CLI::App &command, const std::string &option,
                    const std::function<void(const std::string &)> &take,
                    const std::string &type, const std::string &help,
                    Need need) {
  command.add_option_function<std::string>(option, take, help)
      ->type_name(type)
      ->required(isRequired(need));
}

void kvc::addParsedOr(CLI::App &command, const std::string &option,
                      const std::string &otherwise,
                      const std::function<void(const std::string &)> &take,
                      const std::string &type, const std::string &help) {
  command.add_option_function<std::string>(option, take, help)
      ->type_name(type)
      ->expected(0, 1)
      ->default_str(otherwise);
}

void kvc::addInteger(CLI::App &command, const std::string &option,
                     int64_t &value, int64_t low, int64_t high,
                     const std::string &help) {
  addParsed(
      command, option,
      [option, &value, low, high](const std::string &text) {
        value = parseInteger(option, text, low, high);
      },
      "N", help);
}

void kvc::addNumber(CLI::App &command, const std::string &option, double &value,
                    double low, double high, const std::string &help) {
  addParsed(
      command, option,
      [option, &value, low, high](const std::string &text) {
        value = parseNumber(option, text, low, high);
      },
      "X", help);
}

void kvc::addIntegers(CLI::App &command, const std::string &option,
                      std::vector<int64_t> &values, int64_t low, int64_t high,
                      const std::string &help) {
  addParsed(
      command, option,
      [option, &values, low, high](const std::string &text) {
        values = parseIntegers(option, text, low, high);
      },
      "N,..", help);
}

void kvc::addName(CLI::App &command, const std::string &option,
                  std::string &value, const std::vector<std::string> &names,
                  const std::string &help, Need need) {
  addParsed(
      command, option,
      [option, &value, names](const std::string &text) {
        value = parseName(option, text, names);
      },
      "NAME", help + ": " + join(names) + ".", need);
}

void kvc::print(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() ||
      std::fflush(stdout) != 0)
    throw Failure(std::string("stdout: cannot write: ") + std::strerror(errno));
}
