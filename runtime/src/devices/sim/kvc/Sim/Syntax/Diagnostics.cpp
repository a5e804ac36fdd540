//===- Diagnostics.cpp - What is wrong with a module, and where -----------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Syntax/Diagnostics.h"

using namespace kvc::sim;

/// Characters of a module's text that a message repeats.
static constexpr size_t kShown = 64;

std::string Error::str() const {
  return std::to_string(at.line) + ":" + std::to_string(at.column) + ": " +
         message;
}

bool Diagnosis::fail(Position at, std::string_view what,
                     std::string_view expected, std::string_view got) {
  if (error)
    return false;
  std::string message(what);
  message += ": expected ";
  message += expected;
  message += ", got ";
  message += got;
  error = Error{at, std::move(message)};
  return false;
}

std::string kvc::sim::quote(std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out = "\"";
  for (char c : text.substr(0, kShown)) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (byte < 0x20 || byte >= 0x7F)
      out += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
    else
      out += c;
  }
  return out + (text.size() > kShown ? "..\"" : "\"");
}
