//===- saved_test.cpp - Sequences as files --------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "SavedBytes.h"

#include "kvc/Base/Crc32c.h"
#include "kvc/Layout/PageLayout.h"
#include "kvc/Manage/Manager.h"
#include "kvc/Saved/RowMask.h"
#include "kvc/Spec/Presets.h"

#include <bit>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include <sys/wait.h>
#include <unistd.h>

using namespace kvc::test;

namespace {

kvc_status save(ManagedRows &rows, kvc_sequence sequence, SliceMemory &memory,
                const std::string &path, const char *model = "tiny-1") {
  const kvc_saved_identity who = identity(model);
  return kvc_manager_save(rows.get(), sequence, rows.tokensOf(sequence).data(),
                          &who, memory.get(), path.c_str(), rows.message.get());
}

kvc_status load(ManagedRows &rows, const kvc_saved *saved, SliceMemory &memory,
                kvc_sequence &sequence, const char *model = "tiny-1") {
  const kvc_saved_identity who = identity(model);
  const auto before = rows.digest();
  const kvc_status status = kvc_manager_load(
      rows.get(), saved, &who, memory.get(), rows.message.get(), &sequence);
  if (status != KVC_OK)
    EXPECT_EQ(before, rows.digest()) << "I5: " << rows.message.text;
  EXPECT_EQ(kvc_manager_check(rows.get(), rows.message.get()), KVC_OK)
      << rows.message.text;
  return status;
}

/// Saves and opens; the bytes are in `bytes`.
SavedPtr saveAndRead(ManagedRows &rows, kvc_sequence sequence,
                     SliceMemory &memory, Bytes &bytes) {
  const std::string path = temporary("saved.kvc");
  EXPECT_EQ(save(rows, sequence, memory, path), KVC_OK) << rows.message.text;
  bytes = readBytes(path);
  SavedPtr saved;
  EXPECT_EQ(readSaved(bytes, saved, rows.message), KVC_OK) << rows.message.text;
  return saved;
}

/// What smallFile holds.
constexpr int64_t kSmallTokens = 10;
ManagedOptions small() {
  ManagedOptions options = plain(16, 2);
  options.groups[0].sink = 3;
  options.groups[0].recent = 2;
  options.groups[0].keyTokens = 2;
  return options;
}

/// A small file with raw rows and blocks that the end and the sink cut.
Bytes smallFile() {
  ManagedRows rows(small());
  SliceMemory memory;
  const kvc_sequence one = rows.create();
  EXPECT_EQ(rows.grow(one, text(kSmallTokens, 1000)), KVC_OK);
  memory.fill(rows, one, 1);
  Bytes bytes;
  saveAndRead(rows, one, memory, bytes);
  return bytes;
}

} // namespace

//===----------------------------------------------------------------------===//
// Sums and masks
//===----------------------------------------------------------------------===//

TEST(Saved, SumsAreThoseOfTheStandard) {
  EXPECT_EQ(kvc::crc32c(0, "123456789", 9), 0xE3069283u);
  EXPECT_EQ(kvc::crc32cPortable(0, "123456789", 9), 0xE3069283u);
  // RFC 3720, B.4: 32 bytes of zeros, of ones.
  Bytes bytes(32, 0);
  EXPECT_EQ(kvc::crc32cPortable(0, bytes.data(), 32), 0x8A9136AAu);
  bytes.assign(32, 0xFF);
  EXPECT_EQ(kvc::crc32c(0, bytes.data(), 32), 0x62A8AB43u);
  std::mt19937 random(1);
  bytes.resize(1000);
  for (uint8_t &byte : bytes)
    byte = uint8_t(random());
  for (size_t size = 0; size < bytes.size(); size += 7) {
    const uint32_t sum = kvc::crc32c(0, bytes.data(), size);
    EXPECT_EQ(sum, kvc::crc32cPortable(0, bytes.data(), size));
    const size_t half = size / 2;
    EXPECT_EQ(sum, kvc::crc32c(kvc::crc32cPortable(0, bytes.data(), half),
                               &bytes[half], size - half));
  }
}

TEST(Saved, MasksHoldEveryElementOnce) {
  // Of every preset and order: all rows together are as many bits as the
  // elements have, those of one row are its share, and no rows share a bit.
  int64_t specs = 0;
  for (const kvc::spec::Preset &preset : kvc::spec::presets())
    for (const char *order : {"nhd", "hnd", "auto"}) {
      const std::string json =
          R"({"kvc": 1, "name": "p", "preset": ")" + std::string(preset.name) +
          R"(", "attention": {"q_heads": 4, "kv_heads": 2, "head_dim": 128}, )"
          R"("io": {"query": "f16"}, "layout": {"kind": "paged", "page": 32, )"
          R"("order": ")" +
          order + R"("}})";
      kvc_spec *parsed = nullptr;
      if (kvc_spec_parse(json.data(), json.size(), nullptr, &parsed) != KVC_OK)
        continue; // of other attention or another order
      const SpecPtr owner(parsed);
      ++specs;
      const kvc::spec::Spec &spec = parsed->spec;
      int64_t bits = 0;
      for (kvc::spec::Tensor tensor :
           {kvc::spec::Tensor::Key, kvc::spec::Tensor::Value})
        for (const kvc::layout::Region &region :
             kvc::layout::pageLayout(spec, tensor,
                                     kvc::layout::TargetFamily::Host)
                 .regions) {
          const bool isMeta = region.kind == kvc::layout::RegionKind::Scales ||
                              region.kind == kvc::layout::RegionKind::Zeros;
          const char inner =
              isMeta ? 'b'
              : region.kind == kvc::layout::RegionKind::Codes ||
                      region.kind == kvc::layout::RegionKind::HighCodes
                  ? 'c'
                  : 'o';
          bits += kvc::layout::extentOf(region.storage, 't') *
                  kvc::layout::extentOf(region.storage, inner) * 2 *
                  int64_t(region.storage.width);
        }
      auto count = [](const Bytes &mask) {
        int64_t ones = 0;
        for (uint8_t byte : mask)
          ones += std::popcount(byte);
        return ones;
      };
      kvc::saved::RowMask mask(spec);
      EXPECT_EQ(count(mask.of({{0, 32}, {0, 32}})), bits)
          << preset.name << " " << order;
      EXPECT_EQ(count(mask.of({{}, {}})), 0);
      // Scale blocks of up to 32 tokens belong to each of their rows.
      const Bytes key = mask.of({{0, 32}, {}}), value = mask.of({{}, {0, 32}});
      EXPECT_EQ(count(key) + count(value), bits) << preset.name << " " << order;
      if (spec.key.blockTokens() == 1 && spec.value &&
          spec.value->blockTokens() == 1)
        EXPECT_EQ(count(mask.of({{0, 5}, {0, 5}})) +
                      count(mask.of({{5, 32}, {5, 32}})),
                  bits)
            << preset.name << " " << order;
    }
  EXPECT_GT(specs, 40);
}

//===----------------------------------------------------------------------===//
// Save and load
//===----------------------------------------------------------------------===//

TEST(Saved, S28I10LoadedAndSavedAgainIsTheSame) {
  std::vector<ManagedOptions> all = layouts();
  all[4].groups[0].layers = 3;
  for (ManagedOptions options : all)
    for (int64_t length : {0, 1, 3, 4, 5, 8, 13, 40, 41}) {
      options.isTraced = true;
      ManagedRows rows(options);
      SliceMemory memory;
      const kvc_sequence one = rows.create();
      ASSERT_EQ(rows.grow(one, text(length)), KVC_OK);
      memory.fill(rows, one, uint32_t(length));
      Bytes bytes, again;
      const SavedPtr saved = saveAndRead(rows, one, memory, bytes);
      ASSERT_TRUE(saved);
      // Into a manager whose blocks others have used.
      ManagedRows other(options);
      SliceMemory there(0xAA);
      const kvc_sequence before = other.create();
      ASSERT_EQ(other.grow(before, text(37, 500)), KVC_OK);
      kvc_sequence loaded = 0;
      ASSERT_EQ(load(other, saved.get(), there, loaded), KVC_OK)
          << other.message.text;
      kvc_saved_info info = {};
      info.struct_size = sizeof(info);
      ASSERT_EQ(kvc_saved_get_info(saved.get(), nullptr, &info), KVC_OK);
      ASSERT_EQ(info.num_tokens, length);
      const Tokens tokens(info.tokens, info.tokens + info.num_tokens);
      EXPECT_EQ(tokens, rows.tokensOf(one));
      const kvc_saved_identity who = identity();
      const std::string path = temporary("again.kvc");
      ASSERT_EQ(kvc_manager_save(other.get(), loaded, tokens.data(), &who,
                                 there.get(), path.c_str(),
                                 other.message.get()),
                KVC_OK)
          << other.message.text;
      again = readBytes(path);
      EXPECT_EQ(bytes, again) << "I10, " << length << " tokens";
      // A loaded sequence is like any other: published, its blocks are the
      // beginning of two more; it grows.
      kvc_prefix prefix = {};
      ASSERT_EQ(kvc_manager_publish(other.get(), loaded, tokens.data(), length,
                                    nullptr, other.message.get(), &prefix),
                KVC_OK);
      for (int i = 0; i < 2 && prefix.length; ++i)
        EXPECT_EQ(other.adopt(other.create(), prefix, tokens), KVC_OK);
      const kvc_append_rows more = {loaded, 9, 0};
      ASSERT_EQ(kvc_manager_append(other.get(), &more, 1, nullptr), KVC_OK);
      kvc_block_copy copies[64];
      int64_t count = 0;
      ASSERT_EQ(
          kvc_manager_take_copies(other.get(), 64, nullptr, copies, &count),
          KVC_OK);
      ASSERT_EQ(kvc_manager_commit(other.get(), loaded, 9, nullptr), KVC_OK);
      EXPECT_EQ(other.free(loaded), KVC_OK);
      int64_t records = 0;
      EXPECT_EQ(kvc_manager_replay(other.trace.data(), other.trace.size(),
                                   other.message.get(), &records),
                KVC_OK)
          << other.message.text;
    }
}

TEST(Saved, WindowsAndTruncatedSequences) {
  ManagedOptions options = plain(64);
  options.flags = KVC_MANAGER_FREE_WINDOW;
  options.groups[0].window = 8;
  options.groups[0].windowSinks = 4;
  options.groups.push_back(options.groups[0]);
  options.groups[1].sink = 4;
  options.groups[1].recent = 3;
  options.groups[1].windowSinks = 0;
  ManagedRows rows(options);
  SliceMemory memory;
  const kvc_sequence one = rows.create();
  ASSERT_EQ(rows.grow(one, text(39)), KVC_OK);
  ASSERT_EQ(rows.truncate(one, 38), KVC_OK);
  memory.fill(rows, one, 3);
  Bytes bytes, again;
  const SavedPtr saved = saveAndRead(rows, one, memory, bytes);
  kvc_saved_group group = {};
  group.struct_size = sizeof(group);
  ASSERT_EQ(kvc_saved_get_group(saved.get(), 0, nullptr, &group), KVC_OK);
  EXPECT_GT(group.freed_blocks, 5);
  EXPECT_EQ(group.blocks, 10 - group.freed_blocks + 1) << "the visible sinks'";
  ManagedRows other(options);
  kvc_sequence loaded = 0;
  SliceMemory there;
  ASSERT_EQ(load(other, saved.get(), there, loaded), KVC_OK)
      << other.message.text;
  const std::string path = temporary("again.kvc");
  const kvc_saved_identity who = identity();
  const Tokens tokens = text(38);
  ASSERT_EQ(kvc_manager_save(other.get(), loaded, tokens.data(), &who,
                             there.get(), path.c_str(), nullptr),
            KVC_OK);
  EXPECT_EQ(readBytes(path), bytes);
  // What its queries see is not all there.
  options.maxQueries = 30;
  ManagedRows wide(options);
  EXPECT_EQ(load(wide, saved.get(), there, loaded), KVC_UNSUPPORTED);
  EXPECT_TRUE(wide.says("30 queries")) << wide.message.text;
  options.flags = 0;
  ManagedRows whole(options);
  EXPECT_EQ(load(whole, saved.get(), there, loaded), KVC_UNSUPPORTED);
}

TEST(Saved, S31NoByteOfAFormerOwner) {
  for (const ManagedOptions &options : layouts()) {
    ManagedRows rows(options);
    // All memory is 0xFF of former owners; the sequence's own rows are zero.
    SliceMemory memory(0xFF);
    const kvc_sequence one = rows.create();
    ASSERT_EQ(rows.grow(one, text(21)), KVC_OK);
    const kvc_manager *manager = rows.get();
    for (size_t g = 0; g < manager->groups.size(); ++g) {
      const kvc::manage::Group &group = manager->groups[g];
      const kvc::manage::Held &held = manager->slots[0].groups[g];
      const kvc::saved::State state = {held.ends, 0};
      for (kvc::saved::SavedBlock block :
           kvc::saved::blocksOf(group, state, 21)) {
        const kvc::spec::Spec spec = block.isRaw
                                         ? kvc::spec::rawRows(group.spec->spec)
                                         : group.spec->spec;
        const kvc::saved::Slices shape(spec);
        kvc::saved::RowMask mask(spec);
        const Bytes &own = mask.of(rowsOf(group, state, 21, block));
        size_t byte = 0;
        for (kvc_tensor tensor : {KVC_KEY, KVC_VALUE}) {
          const kvc_slice slice = {
              sizeof(slice),
              int32_t(g),
              block.isRaw,
              (block.isRaw ? held.raw : held.body)[size_t(block.number)],
              tensor,
              0,
              shape.bytes[size_t(tensor)]};
          for (uint8_t &place : memory.at(slice))
            place &= uint8_t(~own[byte++]);
        }
      }
    }
    Bytes bytes;
    saveAndRead(rows, one, memory, bytes);
    uint64_t head = 0;
    std::memcpy(&head, &bytes[32], sizeof(head));
    for (size_t i = 64 + head; i < bytes.size(); ++i)
      ASSERT_EQ(bytes[i], 0) << "byte " << i;
  }
}

TEST(Saved, SavesWaitForStepsAndCopies) {
  ManagedRows rows(plain(16));
  SliceMemory memory;
  const std::string path = temporary("saved.kvc");
  const kvc_sequence one = rows.create();
  const int64_t step = rows.beginStep();
  ASSERT_EQ(rows.grow(one, text(6)), KVC_OK);
  EXPECT_EQ(save(rows, one, memory, path), KVC_WAIT) << "open";
  ASSERT_EQ(rows.endStep(step), KVC_OK);
  EXPECT_EQ(save(rows, one, memory, path), KVC_WAIT) << "submitted";
  ASSERT_EQ(rows.retire(step), KVC_OK);
  EXPECT_EQ(save(rows, one, memory, path), KVC_OK) << rows.message.text;
  // Rows that are reserved but not committed are not saved.
  const Bytes committed = readBytes(path);
  ASSERT_EQ(rows.append(one, text(7, 50)), KVC_OK);
  EXPECT_EQ(save(rows, one, memory, path), KVC_OK) << rows.message.text;
  EXPECT_EQ(readBytes(path), committed);
  ASSERT_EQ(rows.rollback(one), KVC_OK);
  kvc_sequence child = 0;
  ASSERT_EQ(rows.fork(one, 6, child), KVC_OK);
  const kvc_append_rows more = {child, 1, 0};
  ASSERT_EQ(kvc_manager_append(rows.get(), &more, 1, nullptr), KVC_OK);
  ASSERT_EQ(kvc_manager_commit(rows.get(), child, 1, nullptr), KVC_OK);
  const kvc_saved_identity who = identity();
  const Tokens tokens = text(7);
  EXPECT_EQ(kvc_manager_save(rows.get(), child, tokens.data(), &who,
                             memory.get(), path.c_str(), rows.message.get()),
            KVC_WAIT);
  EXPECT_TRUE(rows.says("still to be copied")) << rows.message.text;
  kvc_block_copy copy;
  int64_t count = 0;
  ASSERT_EQ(kvc_manager_take_copies(rows.get(), 1, nullptr, &copy, &count),
            KVC_OK);
  EXPECT_EQ(kvc_manager_save(rows.get(), child, tokens.data(), &who,
                             memory.get(), path.c_str(), nullptr),
            KVC_OK);
}

TEST(Saved, LoadsTakeBlocksOrChangeNothing) {
  const ManagedOptions options = plain(8);
  ManagedRows rows(options);
  SliceMemory memory;
  const kvc_sequence one = rows.create();
  ASSERT_EQ(rows.grow(one, text(18)), KVC_OK);
  Bytes bytes;
  const SavedPtr saved = saveAndRead(rows, one, memory, bytes);
  kvc_sequence loaded = 0;
  EXPECT_EQ(load(rows, saved.get(), memory, loaded), KVC_OUT_OF_BLOCKS);
  EXPECT_TRUE(rows.says("load: expected 5 free blocks")) << rows.message.text;
  // Entries make room.
  rows.publish(one);
  ASSERT_EQ(rows.free(one), KVC_OK);
  EXPECT_EQ(rows.pool().cached, 4);
  EXPECT_EQ(load(rows, saved.get(), memory, loaded), KVC_OK);
  EXPECT_EQ(rows.pool().cached, 3);
  ASSERT_EQ(rows.free(loaded), KVC_OK);
  // A transfer that fails: the sequence is gone, its blocks are free.
  for (int64_t call = 0; call < 10; ++call) {
    memory.calls = 0;
    memory.failAt = call;
    const int64_t free = rows.pool().free;
    const kvc_saved_identity who = identity();
    EXPECT_EQ(kvc_manager_load(rows.get(), saved.get(), &who, memory.get(),
                               rows.message.get(), &loaded),
              KVC_FAILED);
    EXPECT_TRUE(rows.says("cannot write block")) << rows.message.text;
    EXPECT_EQ(rows.pool().free, free);
    EXPECT_EQ(rows.pool().used, 0);
    rows.settle();
  }
}

//===----------------------------------------------------------------------===//
// Bad files
//===----------------------------------------------------------------------===//

TEST(Saved, S29EveryPrefixAndEveryBitFlipIsRefused) {
  const Bytes good = smallFile();
  Message message;
  SavedPtr saved;
  ASSERT_EQ(readSaved(good, saved, message), KVC_OK);
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_EQ(readSaved({good.begin(), good.begin() + ptrdiff_t(size)}, saved,
                        message),
              KVC_INVALID_DATA)
        << size;
    EXPECT_NE(message.text[0], 0);
  }
  Bytes longer = good;
  longer.push_back(0);
  EXPECT_EQ(readSaved(longer, saved, message), KVC_INVALID_DATA);
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    Bytes wrong = good;
    wrong[bit / 8] ^= uint8_t(1u << bit % 8);
    ASSERT_EQ(readSaved(wrong, saved, message), KVC_INVALID_DATA)
        << "bit " << bit;
    ASSERT_NE(message.text[0], 0);
  }
}

TEST(Saved, S29ChangedFieldsAreRefusedOrMeant) {
  // Bits of header and head whose sums were put right: the file is refused, or
  // it is a file, which loads and saves to the same bytes.
  const Bytes good = smallFile();
  uint64_t head = 0;
  std::memcpy(&head, &good[32], sizeof(head));
  // Any token id is one: a bit of each byte of theirs will do.
  constexpr size_t kTokensBegin = 64 + 8 + 8;
  int64_t meant = 0;
  Message message;
  for (size_t bit = 0; bit < 8 * (64 + head); ++bit) {
    if (bit % 8 && bit / 8 >= kTokensBegin &&
        bit / 8 < kTokensBegin + 4 * kSmallTokens)
      continue;
    Bytes wrong = good;
    wrong[bit / 8] ^= uint8_t(1u << bit % 8);
    fixSums(wrong);
    if (wrong == good)
      continue; // a sum
    SavedPtr saved;
    const kvc_status status = readSaved(wrong, saved, message);
    if (status != KVC_OK) {
      ASSERT_TRUE(status == KVC_INVALID_DATA || status == KVC_UNSUPPORTED)
          << "bit " << bit;
      ASSERT_NE(message.text[0], 0);
      continue;
    }
    ++meant;
    kvc_saved_info info = {};
    info.struct_size = sizeof(info);
    ASSERT_EQ(kvc_saved_get_info(saved.get(), nullptr, &info), KVC_OK);
    kvc_saved_group group = {};
    group.struct_size = sizeof(group);
    ASSERT_EQ(kvc_saved_get_group(saved.get(), 0, nullptr, &group), KVC_OK);
    const kvc_layer_group given = {sizeof(given), group.spec, group.layers, 50,
                                   50};
    kvc_manager_options options = {};
    options.struct_size = sizeof(options);
    options.groups = &given;
    options.num_groups = 1;
    kvc_manager *manager = nullptr;
    ASSERT_EQ(kvc_manager_create(&options, nullptr, &manager), KVC_OK);
    SliceMemory memory;
    const kvc_saved_identity who = identity(info.model);
    kvc_sequence sequence = 0;
    const kvc_status loaded = kvc_manager_load(
        manager, saved.get(), &who, memory.get(), message.get(), &sequence);
    // Hashes of inputs that no spec takes differ from those of none.
    ASSERT_TRUE(loaded == KVC_OK || loaded == KVC_UNSUPPORTED) << message.text;
    if (loaded == KVC_OK) {
      const std::string path = temporary("again.kvc");
      ASSERT_EQ(kvc_manager_save(manager, sequence, info.tokens, &who,
                                 memory.get(), path.c_str(), message.get()),
                KVC_OK)
          << message.text;
      ASSERT_EQ(readBytes(path), wrong) << "bit " << bit;
    }
    kvc_manager_free(manager);
  }
  EXPECT_GE(meant, 4 * kSmallTokens);
}

TEST(Saved, KeptFilesOfTheFuzzerAreRefusedOrRead) {
  int64_t files = 0;
  for (const auto &entry : std::filesystem::directory_iterator(
           std::string(KVC_TEST_DATA) + "/fuzz/saved"))
    for (bool isFixed : {false, true}) {
      ++files;
      Bytes bytes = readBytes(entry.path().string());
      if (isFixed && bytes.size() >= 64)
        fixSums(bytes);
      Message message;
      SavedPtr saved;
      const kvc_status status = readSaved(bytes, saved, message);
      EXPECT_TRUE(status == KVC_OK || message.text[0]) << entry.path();
    }
  EXPECT_GT(files, 20);
}

TEST(Saved, S29OtherFilesAreRefused) {
  ManagedOptions options = small();
  const Bytes good = smallFile();
  Message message;
  SavedPtr saved;
  ASSERT_EQ(readSaved(good, saved, message), KVC_OK);
  SliceMemory memory;
  kvc_sequence sequence = 0;
  struct Case {
    const char *what, *says;
    void (*change)(ManagedOptions &);
  };
  for (const Case &wrong :
       {Case{"page", "of layout",
             [](ManagedOptions &o) { o.groups[0].page = 8; }},
        Case{"codec's blocks", "of layout",
             [](ManagedOptions &o) { o.groups[0].keyTokens = 1; }},
        Case{"layers", "3 layers of layout",
             [](ManagedOptions &o) { o.groups[0].layers = 3; }},
        Case{"groups", "2 layer groups",
             [](ManagedOptions &o) { o.groups.push_back(GroupText()); }}}) {
    ManagedOptions changed = options;
    wrong.change(changed);
    ManagedRows rows(changed);
    EXPECT_EQ(load(rows, saved.get(), memory, sequence), KVC_UNSUPPORTED)
        << wrong.what;
    EXPECT_TRUE(rows.says(wrong.says)) << rows.message.text;
  }
  ManagedRows rows(options);
  EXPECT_EQ(load(rows, saved.get(), memory, sequence, "tiny-2"),
            KVC_UNSUPPORTED);
  EXPECT_TRUE(rows.says("expected \"tiny-2\", got \"tiny-1\""))
      << rows.message.text;
  options.maxTokens = kSmallTokens - 1;
  ManagedRows shorter(options);
  EXPECT_EQ(load(shorter, saved.get(), memory, sequence), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(load(rows, saved.get(), memory, sequence), KVC_OK)
      << rows.message.text;
}

TEST(Saved, S29InputsOfSchemesAreToldApart) {
  const std::string json =
      R"({"kvc": 1, "name": "s", "attention": {"q_heads": 1, "kv_heads": 1, )"
      R"("head_dim": 16}, "io": {"query": "f16"}, "key": {"codec": "int8", )"
      R"("scale": {"static": true, "tokens": "all", "channels": "all", )"
      R"("dtype": "f32"}}, )"
      R"("value": {"codec": "f16"}, "layout": {"kind": "paged", "page": 4, )"
      R"("order": "nhd"}})";
  const SpecPtr spec = parse(json);
  float scale = 0.5f, other = 0.25f;
  uint8_t hashes[2][32], others[2][32];
  auto hash = [&](float *number, uint8_t *to) {
    const kvc_scheme_values values = {"key_scale", number, 1};
    ASSERT_EQ(kvc_hash_inputs(spec.get(), &values, 1, nullptr, to), KVC_OK);
  };
  hash(&scale, hashes[0]);
  hash(&other, hashes[1]);
  hash(&scale, others[0]);
  hash(&scale, others[1]);
  EXPECT_NE(std::memcmp(hashes[0], hashes[1], 32), 0);
  EXPECT_EQ(kvc_hash_inputs(spec.get(), nullptr, 0, nullptr, others[0]),
            KVC_INVALID_ARGUMENT);
  const kvc_layer_group group = {sizeof(group), spec.get(), 2, 8, 0};
  kvc_manager_options options = {};
  options.struct_size = sizeof(options);
  options.groups = &group;
  options.num_groups = 1;
  kvc_manager *manager = nullptr;
  ASSERT_EQ(kvc_manager_create(&options, nullptr, &manager), KVC_OK);
  kvc_sequence sequence = 0, loaded = 0;
  ASSERT_EQ(kvc_manager_create_sequence(manager, nullptr, &sequence), KVC_OK);
  const kvc_append_rows rows = {sequence, 6, 0};
  ASSERT_EQ(kvc_manager_append(manager, &rows, 1, nullptr), KVC_OK);
  ASSERT_EQ(kvc_manager_commit(manager, sequence, 6, nullptr), KVC_OK);
  SliceMemory memory;
  Message message;
  const std::string path = temporary("saved.kvc");
  const Tokens tokens = text(6);
  const uint8_t *given = hashes[0];
  kvc_saved_identity who = {sizeof(who), "m", nullptr};
  auto save = [&] {
    return kvc_manager_save(manager, sequence, tokens.data(), &who,
                            memory.get(), path.c_str(), message.get());
  };
  EXPECT_EQ(save(), KVC_INVALID_ARGUMENT) << "it takes inputs";
  who.input_hashes = &given;
  ASSERT_EQ(save(), KVC_OK) << message.text;
  kvc_saved *saved = nullptr;
  ASSERT_EQ(kvc_saved_open(path.c_str(), message.get(), &saved), KVC_OK)
      << message.text;
  EXPECT_EQ(
      kvc_manager_load(manager, saved, &who, memory.get(), nullptr, &loaded),
      KVC_OK);
  given = others[0];
  EXPECT_EQ(kvc_manager_load(manager, saved, &who, memory.get(), message.get(),
                             &loaded),
            KVC_UNSUPPORTED);
  EXPECT_NE(std::string(message.text).find("inputs in layer 1"),
            std::string::npos)
      << message.text;
  kvc_saved_free(saved);
  kvc_manager_free(manager);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

TEST(Saved, AFailedSaveLeavesTheOldFile) {
  ManagedRows rows(layouts()[4]);
  SliceMemory memory;
  const kvc_sequence one = rows.create();
  ASSERT_EQ(rows.grow(one, text(12)), KVC_OK);
  const std::string path = temporary("saved.kvc");
  ASSERT_EQ(save(rows, one, memory, path), KVC_OK) << rows.message.text;
  const Bytes old = readBytes(path);
  ASSERT_EQ(rows.grow(one, text(12, 100)), KVC_OK);
  memory.calls = 0;
  ASSERT_EQ(save(rows, one, memory, path), KVC_OK);
  const Bytes whole = readBytes(path);
  const int64_t calls = memory.calls;
  auto filesBeside = [&] {
    int64_t count = 0;
    for ([[maybe_unused]] const auto &entry :
         std::filesystem::directory_iterator(
             std::filesystem::path(path).parent_path()))
      ++count;
    return count;
  };
  for (int64_t call = 0; call < calls; ++call) {
    writeBytes(path, old);
    memory.calls = 0;
    memory.failAt = call;
    EXPECT_EQ(save(rows, one, memory, path), KVC_FAILED);
    EXPECT_TRUE(rows.says("cannot read block")) << rows.message.text;
    EXPECT_EQ(readBytes(path), old);
    EXPECT_EQ(filesBeside(), 1);
  }
  // A process that ends in the middle: what is left beside it is no matter.
  for (int64_t call = 0; call <= calls; call += 3) {
    static int64_t last;
    last = call;
    memory.failAt = -1;
    const pid_t child = ::fork();
    if (child == 0) {
      memory.calls = 0;
      memory.onCall = [](int64_t number) {
        if (number == last)
          ::_exit(3);
      };
      save(rows, one, memory, path);
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), call < calls ? 3 : 0);
    EXPECT_EQ(readBytes(path), call < calls ? old : whole) << call;
  }
  EXPECT_EQ(save(rows, one, memory, temporary("no") + "/such/saved.kvc"),
            KVC_FAILED);
  kvc_saved *saved = nullptr;
  EXPECT_EQ(
      kvc_saved_open(temporary("none").c_str(), rows.message.get(), &saved),
      KVC_FAILED);
  EXPECT_TRUE(rows.says("No such file")) << rows.message.text;
  EXPECT_EQ(kvc_saved_open(std::filesystem::path(path).parent_path().c_str(),
                           rows.message.get(), &saved),
            KVC_FAILED);
}

TEST(Saved, EveryVersionIsRead) {
  // The file of a version is never written again: it is what that version of
  // the library saved. `smallFile` makes what it holds.
  for (const char *name : {"version1.kvc"}) {
    const std::string path = std::string(KVC_TEST_DATA) + "/saved/" + name;
    kvc_saved *saved = nullptr;
    Message message;
    ASSERT_EQ(kvc_saved_open(path.c_str(), message.get(), &saved), KVC_OK)
        << message.text;
    const SavedPtr owner(saved);
    kvc_saved_info info = {};
    info.struct_size = sizeof(info);
    ASSERT_EQ(kvc_saved_get_info(saved, nullptr, &info), KVC_OK);
    EXPECT_EQ(std::string(info.model), "tiny-1");
    EXPECT_EQ(Tokens(info.tokens, info.tokens + info.num_tokens),
              text(kSmallTokens, 1000));
    ManagedRows rows(small());
    SliceMemory memory;
    kvc_sequence loaded = 0;
    ASSERT_EQ(load(rows, saved, memory, loaded), KVC_OK) << rows.message.text;
    const std::string again = temporary("again.kvc");
    const kvc_saved_identity who = identity();
    ASSERT_EQ(kvc_manager_save(rows.get(), loaded, info.tokens, &who,
                               memory.get(), again.c_str(), nullptr),
              KVC_OK);
    EXPECT_EQ(readBytes(again), smallFile());
  }
}
