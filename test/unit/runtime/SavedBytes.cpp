//===- SavedBytes.cpp - Memory of blocks, and files of them ---------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "SavedBytes.h"

#include "kvc/Base/Crc32c.h"
#include "kvc/Manage/Manager.h"
#include "kvc/Saved/Layout.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include <unistd.h>

using namespace kvc::test;

Bytes &SliceMemory::at(const kvc_slice &slice) {
  const auto [place, isNew] = slices.try_emplace(
      {slice.group, slice.raw, slice.block, slice.layer, slice.tensor});
  if (isNew)
    place->second.assign(size_t(slice.bytes), uint8_t(former));
  EXPECT_EQ(int64_t(place->second.size()), slice.bytes);
  return place->second;
}

void SliceMemory::fill(ManagedRows &rows, kvc_sequence sequence,
                       uint32_t seed) {
  std::mt19937 random(seed);
  const kvc_manager *manager = rows.get();
  for (size_t g = 0; g < manager->groups.size(); ++g) {
    const kvc_sequence_state now = rows.state(sequence, int64_t(g));
    const kvc::manage::Group &group = manager->groups[g];
    auto fillTable = [&](const int32_t *table, int64_t count, bool isRaw) {
      const kvc::saved::Slices shape(
          isRaw ? kvc::spec::rawRows(group.spec->spec) : group.spec->spec);
      for (int64_t i = 0; i < count; ++i)
        for (int64_t layer = 0; table[i] && layer < group.layers; ++layer)
          for (kvc_tensor tensor : {KVC_KEY, KVC_VALUE}) {
            const kvc_slice slice = {sizeof(slice),
                                     int32_t(g),
                                     isRaw,
                                     table[i],
                                     tensor,
                                     layer,
                                     shape.bytes[size_t(tensor)]};
            if (slice.bytes)
              for (uint8_t &byte : at(slice))
                byte = uint8_t(random());
          }
    };
    fillTable(now.blocks, now.num_blocks, false);
    if (group.hasRaw)
      fillTable(now.raw_blocks, now.num_raw_blocks, true);
  }
}

kvc_saved_identity kvc::test::identity(const char *model) {
  return {sizeof(kvc_saved_identity), model, nullptr};
}

Bytes kvc::test::readBytes(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

void kvc::test::writeBytes(const std::string &path, const Bytes &bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char *>(bytes.data()),
             std::streamsize(bytes.size()));
}

namespace {

/// Folders that go when the program ends.
struct Folders {
  std::set<std::filesystem::path> made;

  ~Folders() {
    std::error_code ignored;
    for (const std::filesystem::path &folder : made)
      std::filesystem::remove_all(folder, ignored);
  }
} folders;

} // namespace

std::string kvc::test::temporary(const std::string &name) {
  const testing::TestInfo &test =
      *testing::UnitTest::GetInstance()->current_test_info();
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) /
      (std::string("kvc-") + test.name() + "-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  folders.made.insert(folder);
  return (folder / name).string();
}

kvc_status kvc::test::readSaved(const Bytes &bytes, SavedPtr &saved,
                                Message &message) {
  kvc_saved *file = nullptr;
  message.text[0] = 0;
  const kvc_status status =
      kvc_saved_read(bytes.data(), bytes.size(), message.get(), &file);
  saved.reset(file);
  return status;
}

void kvc::test::fixSums(Bytes &file) {
  uint64_t head = 0;
  std::memcpy(&head, &file[32], sizeof(head));
  head = std::min(head, file.size() - 64);
  const uint32_t headSum = kvc::crc32c(0, &file[64], head);
  std::memcpy(&file[56], &headSum, sizeof(headSum));
  const uint32_t sum = kvc::crc32c(0, file.data(), 60);
  std::memcpy(&file[60], &sum, sizeof(sum));
}
