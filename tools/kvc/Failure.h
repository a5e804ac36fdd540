//===- Failure.h - How a command ends early ---------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_FAILURE_H
#define KVC_TOOLS_FAILURE_H

#include "kvc/status.h"

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kvc {

/// One message for the user, "PLACE: what, expected, got". main() prints it and
/// exits with `code`: 1, or 2 where the command line itself is wrong.
class Failure : public std::runtime_error {
public:
  explicit Failure(const std::string &message, int code = 1)
      : runtime_error(message), code(code) {}
  int code;
};

/// `text` with its control characters as \xNN: paths and names come from
/// outside, and a message is one line.
inline std::string onOneLine(std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string line;
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f)
      line += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
    else
      line += c;
  }
  return line;
}

/// A message without the name of what it is about, which stands beside it.
inline std::string withoutPlace(std::string message, const std::string &place) {
  while (message.starts_with(place + ": "))
    message.erase(0, place.size() + 2);
  return message;
}

/// A kvc_diag with its buffer: `call(.., diag, ..)`, then `diag.check(status)`.
class Diag {
public:
  operator kvc_diag *() { return &diag; }
  /// Throws the message, behind `place` if that is not empty, unless KVC_OK.
  void check(kvc_status status, const std::string &place = {}) const {
    if (status == KVC_OK)
      return;
    throw Failure((place.empty() ? "" : place + ": ") +
                  (diag.length ? buffer.data() : kvc_status_name(status)));
  }

private:
  std::array<char, 2048> buffer{};
  kvc_diag diag{sizeof(kvc_diag), buffer.data(), buffer.size(), 0};
};

} // namespace kvc

#endif // KVC_TOOLS_FAILURE_H
