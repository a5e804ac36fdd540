//===- PendingFile.cpp - An output file that appears whole ----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Base/PendingFile.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace kvc;

static std::string systemError(const char *what) {
  return std::string(what) + ": " + std::strerror(errno);
}

static const char *kindOf(mode_t mode) {
  if (S_ISDIR(mode))
    return "a directory";
  if (S_ISCHR(mode) || S_ISBLK(mode))
    return "a device";
  if (S_ISFIFO(mode))
    return "a pipe";
  return "a special file";
}

namespace {

/// A temporary file's path where a signal handler can read it. One that is too
/// long, or finds no free place, is not there: then a signal leaves it behind.
struct Slot {
  enum State { Free, Writing, Used };
  std::atomic<int> state = Free;
  char path[1024];
};
Slot slots[64];

} // namespace

static int remember(const std::string &path) {
  if (path.size() >= sizeof(Slot::path))
    return -1;
  for (Slot &slot : slots) {
    int expected = Slot::Free;
    if (!slot.state.compare_exchange_strong(expected, Slot::Writing))
      continue;
    std::memcpy(slot.path, path.c_str(), path.size() + 1);
    slot.state = Slot::Used;
    return static_cast<int>(&slot - slots);
  }
  return -1;
}

static void forget(int &slot) {
  if (slot >= 0)
    slots[slot].state = Slot::Free;
  slot = -1;
}

void PendingFile::removeTemporaries() noexcept {
  for (Slot &slot : slots)
    if (slot.state == Slot::Used)
      ::unlink(slot.path);
}

/// The folder part of a path, for files beside it.
static std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos)
    return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string PendingFile::followLinks(const std::string &path) {
  std::string at = path;
  for (int count = 0; count < 40; ++count) { // as many as the system follows
    char link[PATH_MAX];
    ssize_t size = ::readlink(at.c_str(), link, sizeof(link));
    if (size <= 0 || size == sizeof(link))
      return at;
    std::string next(link, size_t(size));
    at = next[0] == '/' ? next : folderOf(at) + "/" + next;
  }
  return path; // which cannot be opened
}

PendingFile::PendingFile(PendingFile &&other) noexcept
    : path(std::move(other.path)), target(std::move(other.target)),
      temporary(std::move(other.temporary)), slot(other.slot),
      descriptor(other.descriptor) {
  other.temporary.clear();
  other.slot = -1;
  other.descriptor = -1;
}

PendingFile::~PendingFile() { discard(); }

void PendingFile::discard() {
  if (descriptor >= 0)
    ::close(descriptor);
  if (!temporary.empty())
    ::unlink(temporary.c_str());
  forget(slot);
  descriptor = -1;
  temporary.clear();
}

std::optional<std::string> PendingFile::open() {
  discard();
  if (path.empty())
    return "cannot write, expected a file name, got an empty one";
  if (path.back() == '/')
    return "cannot write, expected a file name, got a directory";

  // A link is followed, so that its file changes and the link stays.
  std::optional<mode_t> mode;
  target = followLinks(path);
  struct stat info;
  if (::stat(target.c_str(), &info) == 0) {
    if (!S_ISREG(info.st_mode))
      return std::string("cannot write, expected a regular file, got ") +
             kindOf(info.st_mode);
    if (::access(target.c_str(), W_OK) != 0)
      return systemError("cannot write");
    mode = info.st_mode & 0777;
  } else if (errno != ENOENT) {
    return systemError("cannot write");
  }

  // The name is free of the destination's own, which may be as long as a name
  // can be. 0666 lets the process's mask decide, as for any new file.
  static std::atomic<unsigned> counter = 0;
  std::string folder = folderOf(target);
  for (int attempt = 0; attempt < 100 && descriptor < 0; ++attempt) {
    temporary = folder + "/.kvc-" + std::to_string(::getpid()) + "-" +
                std::to_string(counter++) + ".tmp";
    // Before it exists: a signal may come as soon as it does.
    slot = remember(temporary);
    descriptor = ::open(temporary.c_str(),
                        O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0)
      break;
    forget(slot);
    if (errno != EEXIST)
      break;
  }
  if (descriptor < 0) {
    temporary.clear();
    return systemError("cannot write a file beside it");
  }
  if (mode)
    ::fchmod(descriptor, *mode);
  return std::nullopt;
}

std::optional<std::string>
PendingFile::append(std::span<const std::byte> bytes) {
  if (descriptor < 0)
    return "cannot write, the file is not open";
  while (!bytes.empty()) {
    // One call writes at most 2 GiB on Linux; smaller steps also keep signals
    // prompt.
    size_t step = std::min<size_t>(bytes.size(), size_t(1) << 28);
    ssize_t done = ::write(descriptor, bytes.data(), step);
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      return systemError("cannot write");
    bytes = bytes.subspan(size_t(done));
  }
  return std::nullopt;
}

std::optional<std::string>
PendingFile::writeAt(size_t offset, std::span<const std::byte> bytes) {
  if (descriptor < 0)
    return "cannot write, the file is not open";
  while (!bytes.empty()) {
    ssize_t done =
        ::pwrite(descriptor, bytes.data(), bytes.size(), off_t(offset));
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      return systemError("cannot write");
    offset += size_t(done);
    bytes = bytes.subspan(size_t(done));
  }
  return std::nullopt;
}

std::optional<std::string> PendingFile::append(std::string_view text) {
  return append(std::as_bytes(std::span(text.data(), text.size())));
}

std::optional<std::string> PendingFile::flush() {
  if (descriptor < 0)
    return "cannot write, the file is not open";
  // Some file systems cannot sync (EINVAL); all others must.
  std::optional<std::string> error;
  if (::fsync(descriptor) != 0 && errno != EINVAL && errno != ENOTSUP)
    error = systemError("cannot write");
  if (::close(descriptor) != 0 && !error)
    error = systemError("cannot write");
  descriptor = -1;
  if (error)
    discard();
  return error;
}

std::optional<std::string> PendingFile::commit() {
  if (descriptor >= 0)
    if (std::optional<std::string> error = flush())
      return error;
  if (temporary.empty())
    return "cannot write, the file is not open";
  if (::rename(temporary.c_str(), target.c_str()) != 0) {
    std::string error = systemError("cannot write");
    discard();
    return error;
  }
  forget(slot);
  temporary.clear();

  // The name is durable once its folder is; a failure here loses nothing now.
  int folder = ::open(folderOf(target).c_str(), O_RDONLY | O_CLOEXEC);
  if (folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
  return std::nullopt;
}
