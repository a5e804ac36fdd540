//===- PendingFile.h - An output file that appears whole --------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Whoever writes several files opens them all, fills them, and commits them
// last; when something fails in between, no file has appeared or changed. The
// bytes go to a file beside the destination, which is removed unless it was
// committed.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_BASE_PENDINGFILE_H
#define KVC_BASE_PENDINGFILE_H

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kvc {

class PendingFile {
public:
  explicit PendingFile(std::string path) : path(std::move(path)) {}
  PendingFile(PendingFile &&other) noexcept;
  PendingFile &operator=(PendingFile &&) = delete;
  ~PendingFile();

  /// Each returns what went wrong ("what, expected X, got Y"), or nothing.
  /// open() refuses destinations that are no regular file and leaves no trace
  /// of its own when it fails.
  std::optional<std::string> open();
  std::optional<std::string> append(std::span<const std::byte> bytes);
  std::optional<std::string> append(std::string_view text);
  /// Replaces bytes that have been appended.
  std::optional<std::string> writeAt(size_t offset,
                                     std::span<const std::byte> bytes);
  /// Makes the bytes durable; nothing can be appended any more. When several
  /// files belong together, all are flushed before the first is committed.
  std::optional<std::string> flush();
  /// Flushes, unless that is done, and renames the file into place.
  std::optional<std::string> commit();

  /// The file that `path` leads to, which need not exist.
  static std::string followLinks(const std::string &path);

  /// Removes the temporary files of this process that still exist. For signal
  /// handlers: takes no lock and allocates nothing.
  static void removeTemporaries() noexcept;

private:
  void discard();

  std::string path;      ///< As the user gave it.
  std::string target;    ///< Symbolic links followed.
  std::string temporary; ///< Empty: nothing to remove.
  int slot = -1;         ///< Where signal handlers find `temporary`.
  int descriptor = -1;
};

} // namespace kvc

#endif // KVC_BASE_PENDINGFILE_H
