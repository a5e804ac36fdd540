//===- Table.cpp - Aligned columns for people -----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

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

std::string Table::str() const {
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
  all.insert(all.end(), rows.begin(), rows.end());

  std::vector<size_t> widths(columns.size(), 0);
  for (const std::vector<std::string> &row : all)
    for (size_t i = 0; i < columns.size(); ++i)
      widths[i] = std::max(widths[i], widthOf(row[i]));

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
