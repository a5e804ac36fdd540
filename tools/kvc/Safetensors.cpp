//===- Safetensors.cpp - Named tensors in a file --------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Safetensors.h"

#include "kvc/SafetensorsHeader.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <new>
#include <numeric>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

using namespace kvc;
using namespace kvc::safetensors;
using namespace kvc::safetensors::detail;

static_assert(std::endian::native == std::endian::little,
              "tensors are handed out as they lie in the file");

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

namespace {
struct TypeInfo {
  std::string_view name;
  int64_t bytes;
};
} // namespace

static constexpr std::array<TypeInfo, 13> kTypes = {{{"F64", 8},
                                                     {"F32", 4},
                                                     {"F16", 2},
                                                     {"BF16", 2},
                                                     {"U8", 1},
                                                     {"I8", 1},
                                                     {"U16", 2},
                                                     {"I16", 2},
                                                     {"U32", 4},
                                                     {"I32", 4},
                                                     {"U64", 8},
                                                     {"I64", 8},
                                                     {"BOOL", 1}}};

std::string_view safetensors::nameOf(DType type) {
  return kTypes[size_t(type)].name;
}

std::optional<DType> safetensors::dtypeOf(std::string_view name) {
  for (size_t i = 0; i < kTypes.size(); ++i)
    if (kTypes[i].name == name)
      return DType(i);
  return std::nullopt;
}

bool safetensors::isFloat(DType type) {
  return type == DType::F64 || type == DType::F32 || type == DType::F16 ||
         type == DType::BF16;
}
int64_t safetensors::bytesOf(DType type) { return kTypes[size_t(type)].bytes; }

std::string safetensors::shapeText(std::span<const int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

int64_t safetensors::elementsOf(const Tensor &tensor) {
  return std::accumulate(tensor.shape.begin(), tensor.shape.end(), int64_t(1),
                         std::multiplies<>());
}

std::string Error::str() const {
  std::string result = file + ": ";
  if (!tensor.empty())
    result += "tensor " + printable(tensor) + ": ";
  if (offset)
    result += "byte " + std::to_string(*offset) + ": ";
  return result + message;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

std::optional<uint64_t>
detail::bytesOfShape(DType type, const std::vector<int64_t> &shape) {
  int64_t bytes = bytesOf(type);
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      return std::nullopt;
    empty |= extent == 0;
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(extent, 1), &bytes))
      return std::nullopt;
  }
  return empty ? 0 : uint64_t(bytes);
}

/// Compares the header's claims with each other and with the bytes that the
/// file has for tensors; sorts the entries by their bytes.
static std::optional<Error> checkEntries(std::vector<Entry> &entries,
                                         uint64_t dataBase, uint64_t dataBytes,
                                         const std::string &file) {
  auto wrong = [&](const Entry &entry, std::string message) {
    return Error{file, entry.name, entry.offset, std::move(message)};
  };
  for (const Entry &entry : entries) {
    if (entry.begin > entry.end)
      return wrong(entry, "data_offsets, expected begin <= end, got " +
                              std::to_string(entry.begin) + " and " +
                              std::to_string(entry.end));
    std::optional<uint64_t> bytes = bytesOfShape(entry.dtype, entry.shape);
    if (!bytes)
      return wrong(entry, "shape, expected less than 2^63 bytes, got " +
                              shapeText(entry.shape) + " of " +
                              std::string(nameOf(entry.dtype)));
    if (entry.end - entry.begin != *bytes)
      return wrong(entry, "data_offsets, expected " + std::to_string(*bytes) +
                              " bytes for shape " + shapeText(entry.shape) +
                              " of " + std::string(nameOf(entry.dtype)) +
                              ", got " +
                              std::to_string(entry.end - entry.begin));
    if (entry.end > dataBytes)
      return wrong(entry, "data_offsets, expected an end within the " +
                              std::to_string(dataBytes) +
                              " bytes that the file has for tensors, got " +
                              std::to_string(entry.end));
  }

  // An empty tensor sorts before the one whose bytes begin where it stands.
  std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  uint64_t covered = 0;
  for (const Entry &entry : entries) {
    if (entry.begin != covered)
      return Error{
          file, entry.name, dataBase + std::min(covered, entry.begin),
          std::string("data_offsets, expected a tensor to begin at ") +
              std::to_string(covered) + ", got " +
              (entry.begin < covered ? "an overlap from " : "a hole up to ") +
              std::to_string(entry.begin)};
    covered = entry.end;
  }
  if (covered != dataBytes)
    return Error{file, "", dataBase + covered,
                 "the end, expected no bytes after the last tensor, got " +
                     std::to_string(dataBytes - covered)};
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Cache-line alignment: an aligned load of any width may read a first tensor.
static constexpr std::align_val_t kAlignment{64};

void File::Free::operator()(std::byte *bytes) const {
  ::operator delete(bytes, kAlignment);
}

const Tensor *File::find(std::string_view name) const {
  auto found = index.find(name);
  return found == index.end() ? nullptr : &list[found->second];
}

/// The system may promise more memory than there is, and then ends whoever
/// takes it at its word.
static uint64_t memoryBytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES),
             pageBytes = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && pageBytes > 0 ? uint64_t(pages) * uint64_t(pageBytes)
                                    : UINT64_MAX;
}

namespace kvc::safetensors {

/// Reads a file through `source`, which copies bytes out of it and says what
/// went wrong.
class Reader {
public:
  using Source = std::function<std::optional<std::string>(
      uint64_t offset, std::span<std::byte> into)>;

  Reader(const std::string &file, uint64_t size, Source source)
      : file(file), size(size), source(std::move(source)) {}

  Expected<File> read() {
    Expected<Header> header = readHeader();
    if (!header)
      return header.error();
    uint64_t dataBytes = size - dataBase;
    if (auto error = checkEntries(header->entries, dataBase, dataBytes, file))
      return *error;

    File result;
    if (dataBytes <= memoryBytes())
      result.memory.reset(static_cast<std::byte *>(::operator new(
          std::max<uint64_t>(dataBytes, 1), kAlignment, std::nothrow)));
    if (!result.memory)
      return io("cannot read, expected memory for " +
                std::to_string(dataBytes) + " bytes, got none");
    std::span<std::byte> data(result.memory.get(), dataBytes);
    if (auto error = source(dataBase, data))
      return io(*error);

    result.meta = std::move(header->metadata);
    for (Entry &entry : header->entries) {
      result.index.emplace(entry.name, result.list.size());
      result.list.push_back(
          {std::move(entry.name), entry.dtype, std::move(entry.shape),
           data.subspan(entry.begin, entry.end - entry.begin)});
    }
    return result;
  }

private:
  Expected<Header> readHeader() {
    if (size < 8)
      return Error{file, "", 0,
                   "the file, expected at least 8 bytes, got " +
                       std::to_string(size)};
    uint64_t length = 0;
    if (auto error = source(0, std::as_writable_bytes(std::span(&length, 1))))
      return io(*error);
    if (length > kMaxHeaderBytes)
      return Error{file, "", 0,
                   "the header's length, expected at most " +
                       std::to_string(kMaxHeaderBytes) + ", got " +
                       std::to_string(length)};
    if (length > size - 8)
      return Error{file, "", 0,
                   "the header's length, expected at most the " +
                       std::to_string(size - 8) + " bytes that follow, got " +
                       std::to_string(length)};
    dataBase = 8 + length;
    std::string text(length, '\0');
    if (auto error = source(8, std::as_writable_bytes(std::span(text))))
      return io(*error);
    return parseHeader(text, 8, file);
  }

  Error io(std::string message) const {
    return Error{file, "", std::nullopt, std::move(message)};
  }

  const std::string &file;
  uint64_t size;
  Source source;
  uint64_t dataBase = 0;
};

} // namespace kvc::safetensors

/// The library's callers see no exception, not even for want of memory.
static Expected<File> readGuarded(const std::string &file, uint64_t size,
                                  Reader::Source source) {
  try {
    return Reader(file, size, std::move(source)).read();
  } catch (const std::bad_alloc &) {
    return Error{file, "", std::nullopt,
                 "cannot read, expected memory for the header, got none"};
  }
}

static std::optional<std::string> readAt(int descriptor, uint64_t offset,
                                         std::span<std::byte> into) {
  while (!into.empty()) {
    size_t step = std::min<size_t>(into.size(), size_t(1) << 28);
    ssize_t got = ::pread(descriptor, into.data(), step, off_t(offset));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return std::string("cannot read: ") + std::strerror(errno);
    if (got == 0)
      return "cannot read, expected " + std::to_string(into.size()) +
             " more bytes, got the end: the file has shrunk";
    into = into.subspan(size_t(got));
    offset += uint64_t(got);
  }
  return std::nullopt;
}

Expected<File> safetensors::read(const std::string &path) {
  // O_NONBLOCK: opening a pipe without a writer must not hang. Regular files
  // ignore it.
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  auto fail = [&](std::string message) {
    if (descriptor >= 0)
      ::close(descriptor);
    return Error{path, "", std::nullopt, std::move(message)};
  };
  if (descriptor < 0)
    return fail(std::string("cannot open: ") + std::strerror(errno));
  struct stat info;
  if (::fstat(descriptor, &info) != 0)
    return fail(std::string("cannot read: ") + std::strerror(errno));
  if (!S_ISREG(info.st_mode))
    return fail(std::string("cannot read, expected a regular file, got ") +
                (S_ISDIR(info.st_mode) ? "a directory" : "a special file"));
  Expected<File> result =
      readGuarded(path, uint64_t(info.st_size),
                  [&](uint64_t offset, std::span<std::byte> into) {
                    return readAt(descriptor, offset, into);
                  });
  ::close(descriptor);
  return result;
}

Expected<File> safetensors::read(std::span<const std::byte> bytes,
                                 const std::string &name) {
  return readGuarded(name, bytes.size(),
                     [&](uint64_t offset, std::span<std::byte> into) {
                       std::copy_n(bytes.begin() + ptrdiff_t(offset),
                                   into.size(), into.begin());
                       return std::optional<std::string>();
                     });
}
