//===- Table.cpp - Aligned columns for people -----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace kvc;

/// Columns that a text takes: characters, not bytes of UTF-8.
static size_t widthOf(const std::string &text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (c & 0xc0) != 0x80; });
}

static std::vector<std::string> linesOf(const std::string &text) {
  std::vector<std::string> lines(1);
  for (char c : text) {
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  }
  return lines;
}

/// Text in lines of at most `width` characters, cut at blanks; words that are
/// longer stay whole.
static std::string wrap(const std::string &text, size_t width) {
  std::string lines, line;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!line.empty() && widthOf(line) + 1 + widthOf(word) > width) {
      lines += line + "\n";
      line = word;
    } else {
      line += (line.empty() ? "" : " ") + word;
    }
    begin = end + 1;
  }
  return lines + line;
}

std::string Table::str(size_t width) const {
  // Titles become rows of their own, the last line of each next to the cells.
  size_t titleLines = 1;
  for (const Column &column : columns)
    titleLines = std::max(titleLines, linesOf(column.title).size());
  std::vector<std::vector<std::string>> all(
      titleLines, std::vector<std::string>(columns.size()));
  for (size_t i = 0; i < columns.size(); ++i) {
    std::vector<std::string> lines = linesOf(columns[i].title);
    for (size_t j = 0; j < lines.size(); ++j)
      all[titleLines - lines.size() + j][i] = lines[j];
  }

  std::vector<size_t> widths(columns.size(), 0);
  const auto measure = [&](const std::vector<std::vector<std::string>> &some) {
    for (const std::vector<std::string> &row : some)
      for (size_t i = 0; i < columns.size(); ++i)
        widths[i] = std::max(widths[i], widthOf(row[i]));
  };
  measure(all);
  measure(rows);
  if (width > 0)
    narrow(widths, width);
  for (const std::vector<std::string> &row : rows) {
    std::vector<std::vector<std::string>> lines;
    for (size_t i = 0; i < columns.size(); ++i) {
      const auto cell = linesOf(width > 0 && columns[i].align == Align::Left
                                    ? wrap(row[i], widths[i])
                                    : row[i]);
      lines.resize(std::max(lines.size(), cell.size()),
                   std::vector<std::string>(columns.size()));
      for (size_t j = 0; j < cell.size(); ++j)
        lines[j][i] = cell[j];
    }
    all.insert(all.end(), lines.begin(), lines.end());
  }
  // Words may have left room, or be longer.
  std::fill(widths.begin(), widths.end(), 0);
  measure(all);

  std::string text;
  for (const std::vector<std::string> &row : all) {
    std::string line;
    for (size_t i = 0; i < columns.size(); ++i) {
      std::string padding(widths[i] - widthOf(row[i]), ' ');
      line += i ? "  " : "";
      line +=
          columns[i].align == Align::Left ? row[i] + padding : padding + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

/// Takes from the widest column on the left until a line fits, but no column
/// below 16 characters.
void Table::narrow(std::vector<size_t> &widths, size_t width) const {
  constexpr size_t kLeast = 16;
  size_t sum = 2 * (widths.size() - 1);
  for (size_t each : widths)
    sum += each;
  for (; sum > width; --sum) {
    size_t *widest = nullptr;
    for (size_t i = 0; i < widths.size(); ++i)
      if (columns[i].align == Align::Left && widths[i] > kLeast &&
          (!widest || widths[i] > *widest))
        widest = &widths[i];
    if (!widest)
      return;
    --*widest;
  }
}

size_t kvc::widthOfOutput() {
  winsize size{};
  if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
      size.ws_col > 0)
    return size.ws_col;
  return 100;
}

std::string kvc::fixed(double value, int digits) {
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), "%.*f", digits, value);
  return buffer;
}

std::string kvc::significant(double value) {
  double magnitude = std::fabs(value);
  if (magnitude == 0)
    return "0";
  if (!std::isfinite(magnitude) || magnitude < 1e-3 || magnitude >= 1e6) {
    char buffer[64];
    std::snprintf(buffer, sizeof(buffer), "%.2e", value);
    return buffer;
  }
  int digits = 2 - static_cast<int>(std::floor(std::log10(magnitude)));
  return fixed(value, std::clamp(digits, 0, 6));
}

std::string kvc::times(double value) { return fixed(value, 2) + "x"; }
