//===- Reports.cpp - What is told of kernels ------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Driver/Reports.h"

#include "kvc/Sim/Count/Report.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

using namespace kvc;
using namespace kvc::driver;

void kvc::driver::say(const std::string &text) {
  const std::string line = "kvc-sim: " + text + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void kvc::driver::sayOnce(const std::string &text) {
  static std::mutex mutex;
  static std::set<std::string> &said = *new std::set<std::string>;
  {
    const std::lock_guard lock(mutex);
    if (!said.insert(text).second)
      return;
  }
  say(text);
}

/// In one piece, since other processes may append too.
static void append(const std::string &file, const std::string &text) {
  const int to =
      open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const bool isWritten =
      to >= 0 && write(to, text.data(), text.size()) == ssize_t(text.size());
  if (to >= 0)
    close(to);
  if (!isWritten)
    sayOnce(file + ": expected a file to write to, got none");
}

/// "1 kernel", "2 kernels".
static std::string counted(uint64_t count, const std::string &one,
                           const std::string &several = "") {
  return std::to_string(count) + " " +
         (count == 1        ? one
          : several.empty() ? one + "s"
                            : several);
}

Reports::Reports(const Settings &settings) : settings(settings) {
  if (settings.counts || !settings.countsFile.empty())
    all.add(counter);
  if (settings.checks)
    all.add(checker);
}

void Reports::found(const std::string &text) {
  if (++told[text] > 1)
    return;
  say(text);
  if (!settings.findingsFile.empty())
    append(settings.findingsFile, text + "\n");
}

void Reports::fault(const std::string &title, const std::string &text,
                    const sim::LaunchResult &result) {
  std::string message = title;
  if (result.at.line > 0) {
    std::string_view rest = text;
    for (uint32_t line = 1; line < result.at.line && !rest.empty(); ++line)
      rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
    rest = rest.substr(0, rest.find_first_of("\r\n"));
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    message += ":" + std::to_string(result.at.line) + ":" +
               std::to_string(result.at.column) + ": " + result.fault->message +
               "\n    " + std::string(rest);
  } else {
    message += ": " + result.fault->message;
  }
  if (settings.checks)
    found(message);
  else
    say(message);
}

void Reports::launched(const std::string &kernel, const std::string &title,
                       uint64_t blocks, const sim::LaunchResult &result) {
  if (settings.checks) {
    checked.insert(title);
    ++checkedLaunches;
    checkedBlocks += blocks;
    for (const sim::Finding &finding : checker.findings())
      if (!sim::kStops.has(finding.kind))
        found(title + ": " + finding.str());
    checker.clear();
  }
  if (!result.fault)
    count(kernel);
}

void Reports::count(const std::string &kernel) {
  const sim::Counts &counts = counter.counts();
  if (settings.counts) {
    Totals &to = totals[kernel];
    ++to.launches;
    to.issued += counts.issued;
    to.sectors += counts.globalReads.sectors + counts.globalWrites.sectors +
                  counts.globalAtomics.sectors;
    to.uniqueBytes += counts.uniqueBytesRead + counts.uniqueBytesWritten;
    to.wavefronts += counts.shared.wavefronts;
    to.divergences += counts.divergences;
    to.barriers += counts.barriers;
  }
  if (!settings.countsFile.empty())
    append(settings.countsFile, sim::countsAsJson(counts, std::nullopt));
}

void Reports::finish() {
  if (!totals.empty()) {
    constexpr const char *columns[] = {"launches",          "warp instructions",
                                       "global sectors",    "unique bytes",
                                       "shared wavefronts", "divergences",
                                       "barriers",          "kernel"};
    std::string text;
    for (const char *column : columns)
      text += std::string(text.empty() ? "" : "  ") + column;
    text += "\n";
    for (const auto &[kernel, of] : totals) {
      const uint64_t values[] = {of.launches,    of.issued,     of.sectors,
                                 of.uniqueBytes, of.wavefronts, of.divergences,
                                 of.barriers};
      for (size_t i = 0; i < std::size(values); ++i) {
        char cell[32];
        std::snprintf(cell, sizeof(cell), "%*llu  ",
                      int(std::string_view(columns[i]).size()),
                      static_cast<unsigned long long>(values[i]));
        text += cell;
      }
      text += kernel + "\n";
    }
    std::fwrite(text.data(), 1, text.size(), stderr);
  }
  // Silence would leave open whether anything was looked at.
  if (settings.checks)
    say("checked " + counted(checked.size(), "kernel") + ", " +
        counted(checkedLaunches, "launch", "launches") + ", " +
        counted(checkedBlocks, "block") + ": " +
        counted(told.size(), "finding"));
}
