//===- Table.h - Aligned columns for people ---------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_TABLE_H
#define KVC_TOOLS_TABLE_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kvc {

enum class Align : uint8_t { Left, Right };

/// A table as text: a line of titles, then rows, columns two blanks apart. A
/// title may hold a line feed; shorter ones end on the last title line.
class Table {
public:
  struct Column {
    std::string title;
    Align align = Align::Right;
  };

  explicit Table(std::vector<Column> columns) : columns(std::move(columns)) {}
  /// One cell per column.
  void add(std::vector<std::string> cells) { rows.push_back(std::move(cells)); }
  bool empty() const { return rows.empty(); }
  /// Ends with a line feed; no line ends in a blank. Texts are wrapped at
  /// blanks where lines would be longer than `width`, those of the widest
  /// columns on the left first; 0: none is.
  std::string str(size_t width = 0) const;

private:
  void narrow(std::vector<size_t> &widths, size_t width) const;

  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
};

/// Characters of a line of the terminal that stdout is; 100 where it is none.
size_t widthOfOutput();

/// `value` with `digits` behind the point.
std::string fixed(double value, int digits);
/// About three significant digits, never in powers of ten from 0.001 to 10^6.
std::string significant(double value);
/// "1.50x".
std::string times(double value);

} // namespace kvc

#endif // KVC_TOOLS_TABLE_H
