//===- saved_fuzz.cpp - Any bytes as a saved sequence ---------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Whatever the bytes, with their own sums or with right ones, they are refused
// with a message or are a file whose every part can be read and loaded.
//
//===----------------------------------------------------------------------===//

#include "kvc/Base/Crc32c.h"
#include "kvc/saved.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static void require(bool condition, const char *what) {
  if (condition)
    return;
  std::fprintf(stderr, "saved_fuzz: %s\n", what);
  std::abort();
}

/// Loads a file into a manager of its own groups, looking at all its bytes.
static void load(const kvc_saved *saved, const kvc_saved_info &info) {
  std::vector<kvc_layer_group> groups;
  std::vector<const uint8_t *> hashes;
  for (int64_t g = 0; g < info.groups; ++g) {
    kvc_saved_group group = {};
    group.struct_size = sizeof(group);
    require(kvc_saved_get_group(saved, g, nullptr, &group) == KVC_OK,
            "a group that is not there");
    require(group.spec && group.layers > 0 && group.blocks >= 0 &&
                group.raw_blocks >= 0,
            "a group that says nothing");
    groups.push_back({sizeof(kvc_layer_group), group.spec, group.layers,
                      group.blocks + 1, group.raw_blocks + 1});
    int64_t inputs = 0;
    kvc_spec_input_count(group.spec, &inputs);
    hashes.push_back(inputs ? group.input_hashes : nullptr);
  }
  kvc_manager_options options = {};
  options.struct_size = sizeof(options);
  options.groups = groups.data();
  options.num_groups = info.groups;
  options.max_sequences = 1;
  options.flags = KVC_MANAGER_FREE_WINDOW;
  kvc_manager *manager = nullptr;
  if (kvc_manager_create(&options, nullptr, &manager) != KVC_OK)
    return; // more blocks than a manager has
  uint64_t sum = 0;
  const kvc_slice_memory memory = {
      sizeof(memory), &sum, nullptr,
      [](void *user, const kvc_slice *slice, const void *bytes) {
        const auto *from = static_cast<const uint8_t *>(bytes);
        for (int64_t i = 0; i < slice->bytes; ++i)
          *static_cast<uint64_t *>(user) += from[i];
        return KVC_OK;
      }};
  const kvc_saved_identity who = {sizeof(who), info.model, hashes.data()};
  kvc_sequence sequence = 0;
  const kvc_status status =
      kvc_manager_load(manager, saved, &who, &memory, nullptr, &sequence);
  require(status == KVC_OK || status == KVC_UNSUPPORTED,
          "a file that its own groups do not hold");
  require(kvc_manager_check(manager, nullptr) == KVC_OK,
          "a manager that contradicts itself");
  kvc_manager_free(manager);
}

static void read(const uint8_t *data, size_t size) {
  char text[512] = "";
  kvc_diag diag = KVC_DIAG_INIT(text);
  kvc_saved *saved = nullptr;
  const kvc_status status = kvc_saved_read(data, size, &diag, &saved);
  if (status != KVC_OK) {
    require(status == KVC_INVALID_DATA || status == KVC_UNSUPPORTED,
            "a status that blames the machine");
    require(std::strstr(text, "expected") && std::strstr(text, "got"),
            "a message without expected and got");
    return;
  }
  kvc_saved_info info = {};
  info.struct_size = sizeof(info);
  require(kvc_saved_get_info(saved, nullptr, &info) == KVC_OK &&
              info.bytes == int64_t(size),
          "a file of another size");
  load(saved, info);
  kvc_saved_free(saved);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  read(data, size);
  if (size < 64)
    return 0;
  std::vector<uint8_t> right(data, data + size);
  uint64_t head = 0;
  std::memcpy(&head, &right[32], sizeof(head));
  if (head > size - 64)
    head = size - 64;
  const uint32_t headSum = kvc::crc32c(0, &right[64], head);
  std::memcpy(&right[56], &headSum, sizeof(headSum));
  const uint32_t sum = kvc::crc32c(0, right.data(), 60);
  std::memcpy(&right[60], &sum, sizeof(sum));
  read(right.data(), right.size());
  return 0;
}
