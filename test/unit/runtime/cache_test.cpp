//===- cache_test.cpp - Sequences, blocks and their memory ----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "CacheFixture.h"

#include <cstring>
#include <random>
#include <set>

using namespace kvc::test;

namespace {

Cache pagedCache(const SpecPtr &spec, int64_t pages, int64_t sequences = 0) {
  kvc_cache_options options = cacheOptions(spec.get());
  options.num_pages = pages;
  options.max_sequences = sequences;
  return Cache(options);
}

} // namespace

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

TEST(Cache, HandlesOfFreedSequencesAreStale) {
  SpecPtr spec = parse(pagedText(4).json());
  Cache cache = pagedCache(spec, 8);
  kvc_sequence first = cache.create();
  EXPECT_EQ(cache.free(first), KVC_OK);
  EXPECT_EQ(cache.free(first), KVC_STALE);
  kvc_sequence second = cache.create(), third = cache.create();
  EXPECT_NE(second, third) << "a slot freed twice is not handed out twice";
  EXPECT_NE(second, first);
  int64_t length = -1;
  kvc_cache_view view = {};
  kvc_cache *handle = cache.get();
  kvc_diag *diag = cache.message.get();
  EXPECT_EQ(kvc_cache_length(handle, first, diag, &length), KVC_STALE);
  EXPECT_TRUE(cache.says("generation 1")) << cache.message.text;
  EXPECT_EQ(kvc_cache_pending_length(handle, first, diag, &length), KVC_STALE);
  EXPECT_EQ(length, -1);
  EXPECT_EQ(kvc_cache_get_view(handle, first, diag, &view), KVC_STALE);
  EXPECT_EQ(kvc_cache_commit(handle, first, 0, diag), KVC_STALE);
  EXPECT_EQ(kvc_cache_rollback(handle, first, diag), KVC_STALE);
  EXPECT_EQ(cache.append({second, first}, {1, 1}), KVC_STALE);
  EXPECT_EQ(cache.pending(second), 0);
  for (kvc_sequence never : {kvc_sequence(0), kvc_sequence(1) << 32 | 77})
    EXPECT_EQ(cache.free(never), KVC_STALE);
}

TEST(Cache, AtMostMaxSequences) {
  SpecPtr spec = parse(pagedText(4).json());
  Cache cache = pagedCache(spec, 8, 2);
  kvc_sequence first = cache.create();
  cache.create();
  kvc_sequence third = 5;
  EXPECT_EQ(kvc_cache_create_sequence(cache.get(), cache.message.get(), &third),
            KVC_OUT_OF_BLOCKS);
  EXPECT_EQ(third, 5u);
  EXPECT_EQ(cache.free(first), KVC_OK);
  cache.create();
}

//===----------------------------------------------------------------------===//
// Append
//===----------------------------------------------------------------------===//

TEST(Cache, AppendReservesForAllOrForNone) {
  SpecPtr spec = parse(pagedText(4).json());
  Cache cache = pagedCache(spec, 1 + 6);
  kvc_sequence a = cache.create(), b = cache.create();
  cache.grow(a, 9); // 3 pages, the last with one token.
  EXPECT_EQ(cache.stats().used, 3);
  // 3 blocks are free; a needs 1 more, b needs 3.
  EXPECT_EQ(cache.append({a, b}, {4, 12}), KVC_OUT_OF_BLOCKS);
  EXPECT_TRUE(cache.says("expected 4 free blocks, got 3"))
      << cache.message.text;
  EXPECT_EQ(cache.pending(a), 9);
  EXPECT_EQ(cache.pending(b), 0);
  EXPECT_EQ(cache.stats().used, 3);
  // The same with one block less is all right, and a's last page is filled up.
  EXPECT_EQ(cache.append({a, b}, {3, 12}), KVC_OK);
  EXPECT_EQ(cache.stats().free, 0);
  EXPECT_EQ(cache.length(a), 9);
  EXPECT_EQ(cache.pending(a), 12);
  EXPECT_EQ(kvc_cache_rollback(cache.get(), b, nullptr), KVC_OK);
  EXPECT_EQ(cache.stats().free, 3);
  cache.commit(a, 3);
  EXPECT_EQ(cache.length(a), 12);
}

TEST(Cache, ReservationsOpenAndCloseOnce) {
  SpecPtr spec = parse(pagedText(4).json());
  Cache cache = pagedCache(spec, 8);
  kvc_sequence a = cache.create();
  EXPECT_EQ(kvc_cache_commit(cache.get(), a, 0, nullptr), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_cache_rollback(cache.get(), a, nullptr), KVC_INVALID_ARGUMENT);
  ASSERT_EQ(cache.append({a}, {5}), KVC_OK);
  EXPECT_EQ(cache.append({a}, {1}), KVC_INVALID_ARGUMENT);
  EXPECT_TRUE(cache.says("5 reserved tokens")) << cache.message.text;
  for (int64_t accepted : {-1, 0, 4, 6})
    EXPECT_EQ(kvc_cache_commit(cache.get(), a, accepted, nullptr),
              KVC_INVALID_ARGUMENT);
  EXPECT_EQ(cache.pending(a), 5);
  cache.commit(a, 5);
  ASSERT_EQ(cache.append({a}, {0}), KVC_OK);
  cache.commit(a, 0);
  EXPECT_EQ(cache.length(a), 5);
}

TEST(Cache, BadRequests) {
  SpecPtr spec = parse(pagedText(4).json());
  Cache cache = pagedCache(spec, 8);
  kvc_sequence a = cache.create();
  EXPECT_EQ(cache.append({a, a}, {1, 1}), KVC_INVALID_ARGUMENT);
  EXPECT_TRUE(cache.says("each sequence once")) << cache.message.text;
  EXPECT_EQ(cache.append({a}, {-1}), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(cache.append({a}, {int64_t(1) << 31}), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(cache.append({a}, {std::numeric_limits<int64_t>::max()}),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(cache.append({a}, {(int64_t(1) << 31) - 1}), KVC_OUT_OF_BLOCKS);
  EXPECT_EQ(cache.append({}, {}), KVC_OK);
  kvc_append_request request = {sizeof(request), 1, &a, nullptr};
  EXPECT_EQ(kvc_cache_append(cache.get(), &request, nullptr),
            KVC_INVALID_ARGUMENT);
  request.count = -1;
  EXPECT_EQ(kvc_cache_append(cache.get(), &request, nullptr),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_cache_append(cache.get(), nullptr, nullptr),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_cache_append(nullptr, &request, nullptr), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(cache.pending(a), 0);
}

TEST(Cache, PagesBelongToOneSequenceAndPageZeroToNone) {
  SpecPtr spec = parse(pagedText(2).json());
  Cache cache = pagedCache(spec, 1 + 12);
  std::mt19937 random(7);
  std::vector<kvc_sequence> live;
  for (int step = 0; step < 2000; ++step) {
    switch (random() % 4) {
    case 0:
      if (live.size() < 5)
        live.push_back(cache.create());
      break;
    case 1:
      if (!live.empty() && random() % 3 == 0) {
        size_t index = random() % live.size();
        ASSERT_EQ(cache.free(live[index]), KVC_OK);
        live.erase(live.begin() + int64_t(index));
      }
      break;
    default:
      if (!live.empty()) {
        kvc_sequence sequence = live[random() % live.size()];
        int64_t tokens = random() % 5;
        if (cache.append({sequence}, {tokens}) != KVC_OK)
          break;
        if (random() % 3 == 0)
          ASSERT_EQ(kvc_cache_rollback(cache.get(), sequence, nullptr), KVC_OK);
        else
          cache.commit(sequence, tokens);
      }
    }
    std::set<int32_t> owned;
    int64_t used = 0;
    for (kvc_sequence sequence : live) {
      int64_t pages = (cache.pending(sequence) + 1) / 2;
      std::vector<int32_t> table = cache.table(sequence, 12);
      for (int64_t i = 0; i < 12; ++i) {
        int32_t page = table[size_t(i)];
        if (i >= pages) {
          ASSERT_EQ(page, 0);
          continue;
        }
        ASSERT_GE(page, 1);
        ASSERT_LE(page, 12);
        ASSERT_TRUE(owned.insert(page).second) << "page of two sequences";
      }
      used += pages;
    }
    ASSERT_EQ(cache.stats().used, used);
    ASSERT_EQ(cache.stats().sequences, int64_t(live.size()));
  }
  for (kvc_sequence sequence : live)
    cache.free(sequence);
  EXPECT_EQ(cache.stats().free, 12);
}

TEST(Cache, BlockTableNeedsEnoughColumns) {
  SpecPtr spec = parse(pagedText(4).json());
  Cache cache = pagedCache(spec, 8);
  kvc_sequence sequences[] = {cache.create(), cache.create()};
  cache.grow(sequences[1], 9);
  int32_t table[6] = {-7, -7, -7, -7, -7, -7}, lengths[2] = {-7, -7};
  kvc_diag *diag = cache.message.get();
  EXPECT_EQ(
      kvc_cache_block_table(cache.get(), sequences, 2, 2, diag, table, lengths),
      KVC_INVALID_ARGUMENT);
  EXPECT_TRUE(cache.says("at least 3")) << cache.message.text;
  EXPECT_EQ(table[0], -7);
  EXPECT_EQ(lengths[0], -7);
  ASSERT_EQ(
      kvc_cache_block_table(cache.get(), sequences, 2, 3, diag, table, lengths),
      KVC_OK);
  EXPECT_EQ(std::vector<int32_t>(table, table + 6),
            (std::vector<int32_t>{0, 0, 0, 1, 2, 3}));
  EXPECT_EQ(lengths[0], 0);
  EXPECT_EQ(lengths[1], 9);
  EXPECT_EQ(
      kvc_cache_block_table(cache.get(), nullptr, 0, 0, diag, nullptr, nullptr),
      KVC_OK);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST(Cache, OptionsAreChecked) {
  SpecPtr paged = parse(pagedText(4).json());
  SpecPtr contiguous = parse(SpecText().json());
  kvc_cache *cache = nullptr;
  Message message;
  auto refuses = [&](const kvc_cache_options &options, const char *text,
                     kvc_status status = KVC_INVALID_ARGUMENT) {
    EXPECT_EQ(kvc_cache_create(&options, message.get(), &cache), status)
        << text;
    EXPECT_NE(std::string(message.text).find(text), std::string::npos)
        << message.text;
    EXPECT_EQ(cache, nullptr);
  };
  kvc_cache_options options = cacheOptions(paged.get());
  refuses(options, "exactly one of num_pages and capacity_tokens");
  options.num_pages = options.capacity_tokens = 8;
  refuses(options, "exactly one of num_pages and capacity_tokens");
  options.capacity_tokens = 0;
  options.num_pages = int64_t(1) << 31;
  refuses(options, "num_pages: expected at most");
  options.num_pages = 8;
  options.flags = 6;
  refuses(options, "flags");
  options.flags = 0;
  options.max_sequences = -1;
  refuses(options, "max_sequences");
  options.max_sequences = 0;
  options.spec = nullptr;
  refuses(options, "options.spec");
  options.spec = contiguous.get();
  refuses(options, "capacity_tokens with a contiguous layout");
  options.num_pages = 0;
  options.capacity_tokens = -64;
  refuses(options, "exactly one");
  kvc_device device = {};
  device.struct_size = sizeof(device);
  options.capacity_tokens = 64;
  options.device = &device;
  refuses(options, "device: expected every function");
  EXPECT_EQ(kvc_cache_create(nullptr, message.get(), &cache),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_cache_free(nullptr), KVC_OK);
}

TEST(Cache, InputsOfSchemesAreCheckedAndCopied) {
  SpecPtr spec = parse(R"({
    "kvc": 1, "attention": {"q_heads": 2, "kv_heads": 2, "head_dim": 16},
    "io": {"query": "f16"},
    "key": {"codec": "int8", "scale": {"tokens": "all", "channels": "all",
            "dtype": "f16", "static": true}},
    "value": {"codec": "f16", "smooth": true}})");
  std::vector<float> scales = {0.1f, 2}, factors(32, 0.5f);
  std::vector<kvc_scheme_values> inputs = {{"value_smooth", factors.data(), 32},
                                           {"key_scale", scales.data(), 2}};
  kvc_cache_options options = cacheOptions(spec.get());
  options.capacity_tokens = 64;
  Message message;
  auto refuses = [&](const char *text,
                     kvc_status status = KVC_INVALID_ARGUMENT) {
    options.inputs = inputs.data();
    options.num_inputs = int64_t(inputs.size());
    kvc_cache *cache = nullptr;
    EXPECT_EQ(kvc_cache_create(&options, message.get(), &cache), status);
    EXPECT_EQ(std::string(message.text), text);
    EXPECT_EQ(cache, nullptr);
  };
  const std::vector<kvc_scheme_values> good = inputs;
  inputs.pop_back();
  refuses("options.inputs: expected \"key_scale\" among them, got 1 others");
  inputs.push_back(inputs.front());
  refuses("options.inputs[1].name: expected each input once, got "
          "\"value_smooth\" twice");
  inputs[1].name = "value_scale";
  refuses("options.inputs[1].name: expected one of the spec's (key_scale, "
          "value_smooth), got \"value_scale\"");
  inputs = good;
  inputs[1].count = 3;
  refuses("options.inputs: expected \"key_scale\" with kv_heads * columns (2) "
          "values, got 3");
  inputs = good;
  scales[1] = 1e-10f;
  refuses("key_scale[1]: expected a number above 0 after rounding to f16, got "
          "1.00000001e-10",
          KVC_INVALID_DATA);
  scales[1] = 2;
  options.inputs = nullptr;
  kvc_cache *none = nullptr;
  EXPECT_EQ(kvc_cache_create(&options, message.get(), &none),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(message.text),
            "options.inputs: expected an array of num_inputs values, got 2 of "
            "them and null");

  options.inputs = inputs.data();
  Cache cache(options);
  std::fill(scales.begin(), scales.end(), 7.0f);
  std::fill(factors.begin(), factors.end(), 7.0f);
  kvc_cache_view view = cache.view(cache.create());
  // Rounded to the scale's type, in the spec's order.
  EXPECT_EQ(view.inputs[0][0], 0x1.998p-4f);
  EXPECT_EQ(view.inputs[0][1], 2.0f);
  EXPECT_EQ(view.inputs[1][31], 0.5f);
}

TEST(Cache, CapacityTokensOfPages) {
  SpecPtr spec = parse(pagedText(4).json());
  kvc_cache_options options = cacheOptions(spec.get());
  options.capacity_tokens = 9;
  Cache cache(options);
  EXPECT_EQ(cache.stats().total, 1 + 3);
  int64_t page = 0;
  kvc_page_bytes(spec.get(), 4, nullptr, &page);
  EXPECT_EQ(cache.stats().bytes, 4 * page);
  const kvc_spec *own = nullptr;
  ASSERT_EQ(kvc_cache_spec(cache.get(), nullptr, &own), KVC_OK);
  const char *a = nullptr, *b = nullptr;
  kvc_spec_json(spec.get(), &a);
  kvc_spec_json(own, &b);
  EXPECT_STREQ(a, b);
}

TEST(Cache, PoisonFillsFreshMemory) {
  for (const std::string &json : {pagedText(4).json(), SpecText().json()}) {
    SpecPtr spec = parse(json);
    kvc_cache_options options = cacheOptions(spec.get());
    options.capacity_tokens = 128;
    options.flags = KVC_CACHE_POISON;
    Cache cache(options);
    kvc_sequence sequence = cache.create();
    ASSERT_EQ(cache.append({sequence}, {3}), KVC_OK);
    kvc_cache_view view = cache.view(sequence);
    for (const kvc_region &region : {view.regions[0], view.regions[1]})
      for (int64_t i = 0; i < 4 * 2 * 16 * 4; ++i)
        ASSERT_EQ(region.base[i], 0xFF);
  }
}

TEST(Cache, ContiguousCapacityIsExactInBlocksOf64) {
  SpecPtr spec = parse(SpecText().json());
  kvc_cache_options options = cacheOptions(spec.get());
  options.capacity_tokens = 300; // 5 blocks.
  Cache cache(options);
  kvc_sequence a = cache.create(), b = cache.create();
  cache.grow(a, 1);
  EXPECT_EQ(cache.stats().used, 1);
  EXPECT_EQ(cache.append({a, b}, {255, 65}), KVC_OUT_OF_BLOCKS);
  EXPECT_EQ(cache.append({a, b}, {191, 128}), KVC_OK);
  EXPECT_EQ(cache.stats().free, 0);
  EXPECT_EQ(kvc_cache_rollback(cache.get(), a, nullptr), KVC_OK);
  EXPECT_EQ(cache.stats().used, 3);
  cache.free(a);
  cache.commit(b, 128);
  EXPECT_EQ(cache.stats().used, 2);
  cache.free(b);
  EXPECT_EQ(cache.stats().free, 5);
  EXPECT_EQ(cache.stats().bytes, 0);
  int32_t length = 0;
  EXPECT_EQ(kvc_cache_block_table(cache.get(), nullptr, 0, 0,
                                  cache.message.get(), nullptr, &length),
            KVC_UNSUPPORTED);
}

namespace {

/// A device that refuses its n-th allocation.
struct Refusing {
  const kvc_device *host = nullptr;
  int64_t left = 0, live = 0;
  kvc_device device;

  Refusing() {
    kvc_host_device(&host);
    device = *host;
    device.self = this;
    device.allocate = [](void *self, int64_t bytes, kvc_diag *diag,
                         void **memory) {
      auto &refusing = *static_cast<Refusing *>(self);
      if (refusing.left-- == 0)
        return KVC_FAILED;
      ++refusing.live;
      return refusing.host->allocate(refusing.host->self, bytes, diag, memory);
    };
    device.release = [](void *self, void *memory, int64_t bytes) {
      auto &refusing = *static_cast<Refusing *>(self);
      --refusing.live;
      return refusing.host->release(refusing.host->self, memory, bytes);
    };
  }
};

} // namespace

TEST(Cache, RefusedMemoryChangesNothing) {
  SpecPtr spec = parse(SpecText().json());
  Refusing refusing;
  kvc_cache_options options = cacheOptions(spec.get());
  options.capacity_tokens = 1000;
  options.device = &refusing.device;
  {
    Cache cache(options);
    kvc_sequence a = cache.create(), b = cache.create();
    refusing.left = 100;
    cache.grow(a, 70);
    kvc_cache_view before = cache.view(a);
    refusing.left = 1; // a's new run is allocated, b's is not.
    kvc_sequence sequences[] = {a, b};
    int64_t tokens[] = {100, 100};
    kvc_append_request request = {sizeof(request), 2, sequences, tokens};
    EXPECT_EQ(kvc_cache_append(cache.get(), &request, nullptr), KVC_FAILED);
    EXPECT_EQ(cache.pending(a), 70);
    EXPECT_EQ(cache.pending(b), 0);
    EXPECT_EQ(cache.stats().used, 2);
    kvc_cache_view after = cache.view(a);
    EXPECT_EQ(std::memcmp(&before, &after, sizeof(before)), 0);
    EXPECT_EQ(refusing.live, 1);
  }
  EXPECT_EQ(refusing.live, 0);
  SpecPtr paged = parse(pagedText(4).json());
  options.spec = paged.get();
  refusing.left = 0;
  kvc_cache *cache = nullptr;
  EXPECT_EQ(kvc_cache_create(&options, nullptr, &cache), KVC_FAILED);
  EXPECT_EQ(refusing.live, 0);
}

TEST(Cache, APoolOfMoreThan2To31ElementsCostsAddressesOnly) {
  SpecText text = pagedText(16);
  text.headDim = text.valueDim = 128;
  text.kvHeads = text.qHeads = 8;
  SpecPtr spec = parse(text.json());
  Cache cache = pagedCache(spec, 1 + 70000);
  kvc_sequence sequence = cache.create();
  cache.grow(sequence, 70000 * 16);
  kvc_cache_view view = cache.view(sequence);
  for (int64_t block : {65535, 65536, 69999}) {
    int64_t page = view.page_table[block];
    EXPECT_EQ(page, block + 1);
    uint8_t *at = view.regions[1].base + page * view.regions[1].page_stride;
    std::memset(at, int(block & 0xFF), 16 * 8 * 128 * 4);
  }
  for (int64_t block : {65535, 65536, 69999}) {
    uint8_t *at = view.regions[1].base +
                  int64_t(view.page_table[block]) * view.regions[1].page_stride;
    EXPECT_EQ(*at, uint8_t(block & 0xFF));
  }
}

//===----------------------------------------------------------------------===//
// Borrowed pages
//===----------------------------------------------------------------------===//

TEST(Cache, BorrowedPagesAreCheckedAndUsed) {
  SpecPtr spec = parse(pagedText(4).json());
  int64_t keyBytes = 0, valueBytes = 0;
  kvc_page_slice_bytes(spec.get(), KVC_KEY, 4, nullptr, &keyBytes);
  kvc_page_slice_bytes(spec.get(), KVC_VALUE, 4, nullptr, &valueBytes);
  int64_t keyStride = keyBytes + 48, valueStride = valueBytes;
  alignas(64) static uint8_t memory[1 << 16];
  std::memset(memory, 0x5A, sizeof(memory));
  kvc_page_memory lent = {memory, keyStride, memory + 32768, valueStride};
  kvc_cache_options options = cacheOptions(spec.get());
  options.num_pages = 8;
  options.flags = KVC_CACHE_POISON;
  options.borrowed = &lent;
  {
    Cache cache(options);
    EXPECT_EQ(cache.stats().bytes, 0);
    kvc_sequence sequence = cache.create();
    cache.grow(sequence, 5);
    kvc_cache_view view = cache.view(sequence);
    EXPECT_EQ(view.regions[0].base, memory);
    EXPECT_EQ(view.regions[0].page_stride, keyStride);
    EXPECT_EQ(view.regions[1].base, memory + 32768);
    EXPECT_EQ(view.regions[1].page_stride, valueStride);
  }
  EXPECT_EQ(memory[0], 0x5A) << "another's memory is never filled";

  Message message;
  kvc_cache *cache = nullptr;
  auto refuses = [&](const char *text,
                     kvc_status status = KVC_INVALID_ARGUMENT) {
    EXPECT_EQ(kvc_cache_create(&options, message.get(), &cache), status)
        << text;
    EXPECT_NE(std::string(message.text).find(text), std::string::npos)
        << message.text;
  };
  lent.key = memory + 8;
  refuses("borrowed.key: expected an address that is a multiple of 16");
  lent.key = memory;
  lent.key_stride = keyBytes - 16;
  refuses("borrowed.key_stride: expected");
  lent.key_stride = keyBytes + 8;
  refuses("borrowed.key_stride: expected");
  lent.key_stride = int64_t(1) << 62;
  refuses("borrowed.key_stride: expected");
  lent.key_stride = keyStride;
  lent.value = nullptr;
  refuses("borrowed.value: expected");
  lent.value = memory + 32768;
  SpecPtr contiguous = parse(SpecText().json());
  options.spec = contiguous.get();
  options.num_pages = 0;
  options.capacity_tokens = 64;
  refuses("expected layout.kind \"paged\"", KVC_UNSUPPORTED);
}

TEST(Cache, InterleavedPagesShareOneMemory) {
  SpecText text = pagedText(4, R"(, "interleaved": true)");
  text.valueDim = text.headDim;
  SpecPtr spec = parse(text.json());
  int64_t page = 0, key = 0;
  kvc_page_bytes(spec.get(), 4, nullptr, &page);
  kvc_page_slice_bytes(spec.get(), KVC_KEY, 4, nullptr, &key);
  EXPECT_EQ(page, 2 * key);
  Cache own = pagedCache(spec, 8);
  kvc_sequence sequence = own.create();
  kvc_cache_view view = own.view(sequence);
  EXPECT_EQ(view.regions[1].base - view.regions[0].base, key);
  EXPECT_EQ(view.regions[0].page_stride, page);
  EXPECT_EQ(view.regions[1].page_stride, page);

  alignas(64) static uint8_t memory[1 << 15];
  kvc_page_memory lent = {memory, page + 16, nullptr, 0};
  kvc_cache_options options = cacheOptions(spec.get());
  options.num_pages = 8;
  options.borrowed = &lent;
  {
    Cache cache(options);
    view = cache.view(cache.create());
    EXPECT_EQ(view.regions[0].base, memory);
    EXPECT_EQ(view.regions[1].base, memory + key);
    EXPECT_EQ(view.regions[1].page_stride, page + 16);
  }
  Message message;
  kvc_cache *refused = nullptr;
  lent.key_stride = page - 16;
  EXPECT_EQ(kvc_cache_create(&options, message.get(), &refused),
            KVC_INVALID_ARGUMENT);
  lent.key_stride = page;
  lent.value = memory;
  EXPECT_EQ(kvc_cache_create(&options, message.get(), &refused),
            KVC_INVALID_ARGUMENT);
}
