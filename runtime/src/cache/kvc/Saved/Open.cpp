//===- Open.cpp - Saved sequences read and verified -----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Base/Checked.h"
#include "kvc/Base/Crc32c.h"
#include "kvc/Base/Struct.h"
#include "kvc/Saved/File.h"
#include "kvc/Saved/RowMask.h"

#include <cerrno>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace kvc;
using namespace kvc::saved;
using manage::kMaxTokens;

//===----------------------------------------------------------------------===//
// Mapping
//===----------------------------------------------------------------------===//

Mapping::~Mapping() {
  if (memory)
    ::munmap(memory, bytes);
}

kvc_status Mapping::open(const char *path, kvc_diag *diag) {
  auto failed = [&] {
    return fail(diag, KVC_FAILED, "%s: cannot read: %s", path,
                std::strerror(errno));
  };
  const int file = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return failed();
  struct stat info;
  kvc_status status = KVC_OK;
  if (::fstat(file, &info) != 0) {
    status = failed();
  } else if (!S_ISREG(info.st_mode)) {
    status =
        fail(diag, KVC_FAILED,
             "%s: cannot read, expected a regular file, got another", path);
  } else if (info.st_size > 0) {
    void *mapped =
        ::mmap(nullptr, size_t(info.st_size), PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped == MAP_FAILED) {
      status = failed();
    } else {
      memory = mapped;
      bytes = size_t(info.st_size);
    }
  }
  ::close(file);
  return status;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

uint64_t numberAt(const uint8_t *bytes, size_t size) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i)
    value |= uint64_t(bytes[i]) << (8 * i);
  return value;
}

/// The head, item by item. What is beyond its end, or no zero where zeros are
/// due, is remembered and gives nothing.
class HeadReader {
public:
  HeadReader(const uint8_t *begin, size_t size)
      : at(begin), left(size), isWhole(true) {}

  /// `count` things of `size` bytes, with the padding behind them.
  const uint8_t *take(int64_t count, int64_t size) {
    if (count < 0 || uint64_t(count) > left / uint64_t(size)) {
      isWhole = false;
      left = 0;
      return nullptr;
    }
    const uint8_t *begin = at;
    const auto bytes = size_t(count * size);
    skip(bytes);
    skipZeros(std::min(left, (8 - bytes % 8) % 8));
    return begin;
  }
  int64_t number() {
    const uint8_t *bytes = take(1, 8);
    return bytes ? int64_t(numberAt(bytes, 8)) : 0;
  }
  std::string_view text(int64_t most) {
    const int64_t size = number();
    const uint8_t *bytes = take(size <= most ? size : -1, 1);
    return {reinterpret_cast<const char *>(bytes), bytes ? size_t(size) : 0};
  }
  /// Whether all that was asked for was there.
  bool isGood() const { return isWhole; }
  /// The same, with nothing but the last zeros left.
  bool isAtEnd() {
    if (left >= 64)
      isWhole = false;
    skipZeros(left);
    return isWhole;
  }

private:
  void skip(size_t bytes) {
    at += bytes;
    left -= bytes;
  }
  void skipZeros(size_t bytes) {
    for (size_t i = 0; i < bytes; ++i)
      if (at[i])
        isWhole = false;
    skip(bytes);
  }
  const uint8_t *at;
  size_t left;
  bool isWhole;
};

class FileReader {
public:
  FileReader(const uint8_t *data, size_t size, kvc_diag *diag, kvc_saved &file)
      : data(data), size(size), diag(diag), file(file) {}

  kvc_status run() {
    KVC_TRY(header());
    KVC_TRY(head());
    return blocks();
  }

private:
  kvc_status header();
  kvc_status head();
  kvc_status group(HeadReader &reader, size_t number);
  kvc_status checkState(const GroupRecord &record, size_t number) const;
  kvc_status blocks();
  kvc_status no(const char *what) const {
    return fail(diag, KVC_INVALID_DATA, "saved: %s", what);
  }

  const uint8_t *data;
  size_t size;
  kvc_diag *diag;
  kvc_saved &file;
  size_t headBytes = 0, numGroups = 0;
};

kvc_status FileReader::header() {
  if (size < size_t(kHeaderBytes) ||
      std::memcmp(data, kMagic.data(), kMagic.size()) != 0)
    return no("expected a saved sequence, which begins with \"kvc saved "
              "cache\" and has 64 bytes or more, got something else");
  const uint32_t sum = crc32c(0, data, kHeaderBytes - 4);
  if (sum != numberAt(data + 60, 4))
    return fail(diag, KVC_INVALID_DATA,
                "saved: header: expected the sum %08x, got %08x: the file has "
                "changed",
                unsigned(numberAt(data + 60, 4)), sum);
  const uint64_t version = numberAt(data + 16, 4);
  if (version == 0)
    return no("version: expected 1 or more, got 0");
  if (version != kVersion)
    return fail(diag, KVC_UNSUPPORTED,
                "saved: version: expected %u, got %llu, which a later kvc "
                "wrote",
                kVersion, static_cast<unsigned long long>(version));
  numGroups = numberAt(data + 20, 4);
  const uint64_t bytes = numberAt(data + 24, 8), head = numberAt(data + 32, 8);
  const uint64_t length = numberAt(data + 40, 8);
  if (bytes != size)
    return fail(diag, KVC_INVALID_DATA,
                "saved: expected a file of %llu bytes, got %zu",
                static_cast<unsigned long long>(bytes), size);
  if (numGroups < 1 || numGroups > KVC_MAX_LAYER_GROUPS ||
      length > uint64_t(kMaxTokens) || numberAt(data + 48, 8) != 0 ||
      head % 64 != 0 || head > size - size_t(kHeaderBytes))
    return no("header: expected 1 to 16 groups, fewer than 2^31 tokens and a "
              "head within the file, got others");
  if (crc32c(0, data + kHeaderBytes, head) != numberAt(data + 56, 4))
    return no("head: expected the sum that the header names, got another: the "
              "file has changed");
  headBytes = head;
  file.bytes = int64_t(size);
  file.length = int64_t(length);
  return KVC_OK;
}

kvc_status FileReader::checkState(const GroupRecord &record,
                                  size_t number) const {
  const Group &group = *record.group;
  const State &state = record.state;
  if (!group.isPossible(state.ends, state.freed, file.length) ||
      (state.freed > 0 &&
       (group.window == 0 || !group.isVisible(state.freed, file.length))))
    return fail(diag, KVC_INVALID_DATA,
                "saved: groups[%zu]: expected coded ends, and blocks that a "
                "window has gone past, of a sequence of %lld tokens, got %lld "
                "and %lld, %lld",
                number, static_cast<long long>(file.length),
                static_cast<long long>(state.ends.key),
                static_cast<long long>(state.ends.value),
                static_cast<long long>(state.freed));
  return KVC_OK;
}

kvc_status FileReader::group(HeadReader &reader, size_t number) {
  GroupRecord &record = file.groups.emplace_back();
  const std::string_view text = reader.text(int64_t(headBytes));
  const uint8_t *hash = reader.take(1, kHashBytes);
  const int64_t order = reader.number();
  record.layers = reader.number();
  const uint8_t *inputs = reader.take(record.layers, kHashBytes);
  if (!reader.isGood())
    return no("head: expected a spec and its layers, got the end");
  record.inputHashes.assign(inputs, inputs + record.layers * kHashBytes);
  std::unique_ptr<kvc_spec> spec;
  KVC_TRY(parseSpecHandle(text, "saved: spec: ", diag, spec));
  std::string hex;
  for (int64_t i = 0; i < kHashBytes; ++i)
    for (unsigned digit : {hash[i] >> 4, hash[i] & 15})
      hex += "0123456789abcdef"[digit];
  if (spec->json != text || spec->hash != hex || order != 0 ||
      record.layers < 1 || spec->spec.layout.kind != spec::LayoutKind::Paged)
    return fail(diag, KVC_INVALID_DATA,
                "saved: groups[%zu]: expected a paged spec in its canonical "
                "form with its layout hash, order 0 and a layer or more, got "
                "others",
                number);
  record.state.ends.key = reader.number();
  record.state.ends.value = reader.number();
  record.state.freed = reader.number();
  const int64_t body = reader.number(), raw = reader.number();
  kvc_manager_options options = {};
  options.flags = record.state.freed > 0 ? KVC_MANAGER_FREE_WINDOW : 0;
  const kvc_layer_group given = {sizeof(given), spec.get(), record.layers, 1,
                                 0};
  record.group = std::make_unique<Group>(given, options);
  KVC_TRY(checkState(record, number));
  const Group &group = *record.group;
  // Before anything of that length is made.
  const uint8_t *sums = reader.take(
      body >= 0 && raw >= 0 ? (Checked(body) + raw).saturated() : -1, 4);
  if (!sums)
    return no("head: expected a sum for each block, got the end");
  if (group.bodyBlocks(record.state.ends) > body + record.state.freed)
    return no("head: expected a sum for each block, got fewer");
  record.blocks = blocksOf(group, record.state, file.length);
  int64_t bodies = 0;
  for (SavedBlock block : record.blocks)
    bodies += !block.isRaw;
  if (bodies != body || int64_t(record.blocks.size()) - bodies != raw)
    return fail(diag, KVC_INVALID_DATA,
                "saved: groups[%zu]: expected %lld body and %lld raw blocks, "
                "got %lld and %lld",
                number, static_cast<long long>(bodies),
                static_cast<long long>(int64_t(record.blocks.size()) - bodies),
                static_cast<long long>(body), static_cast<long long>(raw));
  for (size_t i = 0; i < record.blocks.size(); ++i)
    record.sums.push_back(uint32_t(numberAt(sums + 4 * i, 4)));
  record.slices = Slices(group.spec->spec);
  if (group.hasRaw)
    record.rawSlices = Slices(spec::rawRows(group.spec->spec));
  return KVC_OK;
}

kvc_status FileReader::head() {
  HeadReader reader(data + kHeaderBytes, headBytes);
  file.model = reader.text(KVC_MAX_MODEL_BYTES);
  const uint8_t *tokens = reader.take(file.length, 4);
  if (!reader.isGood() || file.model.find('\0') != std::string::npos)
    return no("head: expected a model's name and the tokens, got others");
  file.tokens.resize(size_t(file.length));
  for (size_t i = 0; i < file.tokens.size(); ++i)
    file.tokens[i] = int32_t(uint32_t(numberAt(tokens + 4 * i, 4)));
  for (size_t g = 0; g < numGroups; ++g)
    KVC_TRY(group(reader, g));
  return reader.isAtEnd()
             ? KVC_OK
             : no("head: expected zeros behind the last group and between "
                  "items, got others");
}

kvc_status FileReader::blocks() {
  const uint8_t *at = data + kHeaderBytes + headBytes;
  Checked bytes = kHeaderBytes + int64_t(headBytes);
  for (const GroupRecord &record : file.groups)
    for (SavedBlock block : record.blocks)
      bytes = bytes + Checked(record.slicesOf(block).total()) * record.layers;
  if (!bytes.isValid() || bytes.get() != int64_t(size))
    return fail(diag, KVC_INVALID_DATA,
                "saved: expected blocks that end with the file of %zu bytes, "
                "got %lld",
                size, static_cast<long long>(bytes.saturated()));
  for (size_t g = 0; g < file.groups.size(); ++g) {
    GroupRecord &record = file.groups[g];
    const Group &group = *record.group;
    const spec::Spec rawSpec =
        group.hasRaw ? spec::rawRows(group.spec->spec) : spec::Spec();
    RowMask mask(group.spec->spec);
    std::optional<RowMask> rawMask;
    if (group.hasRaw)
      rawMask.emplace(rawSpec);
    record.bytes = at;
    for (size_t i = 0; i < record.blocks.size(); ++i) {
      const SavedBlock block = record.blocks[i];
      const auto count = size_t(record.bytesOf(block));
      auto no = [&](const char *expected) {
        return fail(diag, KVC_INVALID_DATA,
                    "saved: groups[%zu]: %s block %lld: expected %s, got "
                    "another: the file has changed",
                    g, block.isRaw ? "raw" : "body",
                    static_cast<long long>(block.number), expected);
      };
      if (crc32c(0, at, count) != record.sums[i])
        return no("the sum that the head names");
      if (!(block.isRaw ? *rawMask : mask)
               .isClearBeside(rowsOf(group, record.state, file.length, block),
                              record.layers, at))
        return no("zeros where no token lies");
      at += count;
    }
  }
  return KVC_OK;
}

} // namespace

//===----------------------------------------------------------------------===//
// The calls
//===----------------------------------------------------------------------===//

extern "C" kvc_status kvc_saved_open(const char *path, kvc_diag *diag,
                                     kvc_saved **saved) {
  return guarded(diag, [&]() -> kvc_status {
    KVC_TRY(requirePointer(path, "path", diag));
    KVC_TRY(requirePointer(saved, "saved", diag));
    auto made = std::make_unique<kvc_saved>();
    KVC_TRY(made->mapping.open(path, diag));
    KVC_TRY(FileReader(static_cast<const uint8_t *>(made->mapping.data()),
                       made->mapping.size(), diag, *made)
                .run());
    *saved = made.release();
    return KVC_OK;
  });
}

extern "C" kvc_status kvc_saved_read(const void *data, size_t size,
                                     kvc_diag *diag, kvc_saved **saved) {
  return guarded(diag, [&]() -> kvc_status {
    if (size)
      KVC_TRY(requirePointer(data, "data", diag));
    KVC_TRY(requirePointer(saved, "saved", diag));
    auto made = std::make_unique<kvc_saved>();
    KVC_TRY(FileReader(static_cast<const uint8_t *>(data), size, diag, *made)
                .run());
    *saved = made.release();
    return KVC_OK;
  });
}

extern "C" kvc_status kvc_saved_free(kvc_saved *saved) {
  delete saved;
  return KVC_OK;
}

extern "C" kvc_status kvc_saved_get_info(const kvc_saved *saved, kvc_diag *diag,
                                         kvc_saved_info *info) {
  return guarded(diag, [&]() -> kvc_status {
    KVC_TRY(requirePointer(saved, "saved", diag));
    const kvc_saved_info result = {0,
                                   kVersion,
                                   saved->bytes,
                                   int64_t(saved->groups.size()),
                                   saved->model.c_str(),
                                   saved->tokens.data(),
                                   saved->length};
    return writeStruct(result, "info", diag, info);
  });
}

extern "C" kvc_status kvc_saved_get_group(const kvc_saved *saved, int64_t group,
                                          kvc_diag *diag,
                                          kvc_saved_group *info) {
  return guarded(diag, [&]() -> kvc_status {
    KVC_TRY(requirePointer(saved, "saved", diag));
    if (group < 0 || group >= int64_t(saved->groups.size()))
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "group: expected 0 to %zu, got %lld",
                  saved->groups.size() - 1, static_cast<long long>(group));
    const GroupRecord &record = saved->groups[size_t(group)];
    int64_t raw = 0;
    for (SavedBlock block : record.blocks)
      raw += block.isRaw;
    const kvc_saved_group result = {0,
                                    record.group->spec.get(),
                                    record.layers,
                                    record.state.ends.key,
                                    record.state.ends.value,
                                    int64_t(record.blocks.size()) - raw,
                                    raw,
                                    record.bytesOf({false, 0}),
                                    record.bytesOf({true, 0}),
                                    record.state.freed,
                                    record.inputHashes.data()};
    return writeStruct(result, "info", diag, info);
  });
}
