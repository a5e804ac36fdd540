//===- Diagnostics.h - What is wrong with a module, and where ---*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Everything that reads PTX stops at the first error: one place and one
// message of the form "what: expected X, got Y". Nothing here throws.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_SYNTAX_DIAGNOSTICS_H
#define KVC_SIM_SYNTAX_DIAGNOSTICS_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace kvc::sim {

/// A place in a module's text. Both count from 1; a column is a byte.
struct Position {
  uint32_t line = 0, column = 0;
  bool operator==(const Position &) const = default;
};

struct Error {
  Position at;
  std::string message; ///< One line of printable characters.

  /// "LINE:COLUMN: message", so that "FILE:" before it makes a usual place.
  std::string str() const;
};

/// A value or the error that stands in its way.
template <typename T>
class [[nodiscard]] Expected {
public:
  Expected(T value) : content(std::move(value)) {}
  Expected(Error error) : content(std::move(error)) {}

  explicit operator bool() const { return std::holds_alternative<T>(content); }
  T &operator*() { return std::get<T>(content); }
  const T &operator*() const { return std::get<T>(content); }
  T *operator->() { return &std::get<T>(content); }
  const T *operator->() const { return &std::get<T>(content); }
  const Error &error() const { return std::get<Error>(content); }

private:
  std::variant<T, Error> content;
};

/// Keeps the first error of a run over a module.
class Diagnosis {
public:
  /// "what: expected X, got Y" at `at`; always false.
  bool fail(Position at, std::string_view what, std::string_view expected,
            std::string_view got);
  bool failed() const { return error.has_value(); }

  std::optional<Error> error;
};

/// `text` in double quotes, shortened, everything unprintable escaped.
std::string quote(std::string_view text);

} // namespace kvc::sim

#endif // KVC_SIM_SYNTAX_DIAGNOSTICS_H
