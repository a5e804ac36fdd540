//===- Save.cpp - Sequences written to files ------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Base/Crc32c.h"
#include "kvc/Base/PendingFile.h"
#include "kvc/Manage/Calls.h"
#include "kvc/Saved/Identity.h"
#include "kvc/Saved/RowMask.h"
#include "kvc/Spec/Sha256.h"

#include <cstring>

using namespace kvc;
using namespace kvc::manage;
using namespace kvc::saved;

namespace {

/// Blocks are written in steps of about so many bytes.
constexpr size_t kStepBytes = size_t(1) << 20;

void put(std::vector<uint8_t> &bytes, uint64_t number, size_t size) {
  for (size_t i = 0; i < size; ++i)
    bytes.push_back(uint8_t(number >> (8 * i)));
}
void putBytes(std::vector<uint8_t> &bytes, const void *data, size_t size) {
  const auto *from = static_cast<const uint8_t *>(data);
  bytes.insert(bytes.end(), from, from + size);
}
void pad(std::vector<uint8_t> &bytes, size_t to) {
  bytes.resize((bytes.size() + to - 1) / to * to);
}

class Saver {
public:
  Saver(const kvc_manager &manager, const Sequence &sequence,
        const Identity &identity, const kvc_slice_memory &memory,
        const char *path, kvc_diag *diag)
      : manager(manager), sequence(sequence), identity(identity),
        memory(memory), path(path), diag(diag), file(path) {
    for (const Held &held : sequence.groups)
      states.push_back({held.ends, held.freed});
  }

  kvc_status run(const int32_t *tokens);

private:
  std::vector<uint8_t> headBefore(const int32_t *tokens);
  std::vector<uint8_t> header(const std::vector<uint8_t> &head) const;
  kvc_status writeGroup(size_t g, uint8_t *sums);
  kvc_status readBlock(size_t g, SavedBlock block, const Slices &slices,
                       uint8_t *bytes);
  kvc_status flush(size_t most);
  kvc_status check(const std::optional<std::string> &error) {
    return error ? fail(diag, KVC_FAILED, "%s: %s", path, error->c_str())
                 : KVC_OK;
  }

  const kvc_manager &manager;
  const Sequence &sequence;
  const Identity &identity;
  const kvc_slice_memory &memory;
  const char *path;
  kvc_diag *diag;
  PendingFile file;
  std::vector<State> states;
  std::vector<std::vector<SavedBlock>> blocks;
  std::vector<size_t> sumsAt; ///< By group: in the head.
  std::vector<uint8_t> step;  ///< Bytes that are not in the file yet.
  int64_t bytes = 0;          ///< Of all blocks.
};

/// The head but for the sums of blocks.
std::vector<uint8_t> Saver::headBefore(const int32_t *tokens) {
  std::vector<uint8_t> head;
  auto putText = [&](std::string_view text) {
    put(head, text.size(), 8);
    putBytes(head, text.data(), text.size());
    pad(head, 8);
  };
  putText(identity.model);
  for (int64_t i = 0; i < sequence.committed; ++i)
    put(head, uint32_t(tokens[i]), 4);
  pad(head, 8);
  for (size_t g = 0; g < manager.groups.size(); ++g) {
    const Group &group = manager.groups[g];
    blocks.push_back(blocksOf(group, states[g], sequence.committed));
    int64_t raw = 0;
    for (SavedBlock block : blocks[g])
      raw += block.isRaw;
    putText(group.spec->json);
    for (size_t i = 0; i < group.spec->hash.size(); i += 2)
      put(head, std::stoul(group.spec->hash.substr(i, 2), nullptr, 16), 1);
    put(head, 0, 8);
    put(head, uint64_t(group.layers), 8);
    putBytes(head, identity.hashes[g].data(), identity.hashes[g].size());
    for (int64_t number :
         {states[g].ends.key, states[g].ends.value, states[g].freed,
          int64_t(blocks[g].size()) - raw, raw})
      put(head, uint64_t(number), 8);
    sumsAt.push_back(head.size());
    head.resize(head.size() + 4 * blocks[g].size());
    pad(head, 8);
  }
  pad(head, 64);
  return head;
}

std::vector<uint8_t> Saver::header(const std::vector<uint8_t> &head) const {
  std::vector<uint8_t> result(kMagic.begin(), kMagic.end());
  put(result, kVersion, 4);
  put(result, manager.groups.size(), 4);
  put(result, uint64_t(kHeaderBytes + int64_t(head.size()) + bytes), 8);
  put(result, head.size(), 8);
  put(result, uint64_t(sequence.committed), 8);
  put(result, 0, 8);
  put(result, crc32c(0, head.data(), head.size()), 4);
  put(result, crc32c(0, result.data(), result.size()), 4);
  return result;
}

kvc_status Saver::readBlock(size_t g, SavedBlock block, const Slices &slices,
                            uint8_t *to) {
  const Group &group = manager.groups[g];
  const Held &held = sequence.groups[g];
  kvc_slice slice = {};
  slice.struct_size = sizeof(slice);
  slice.group = int32_t(g);
  slice.raw = block.isRaw;
  slice.block = (block.isRaw ? held.raw : held.body)[size_t(block.number)];
  for (int64_t layer = 0; layer < group.layers; ++layer)
    for (kvc_tensor tensor : {KVC_KEY, KVC_VALUE}) {
      slice.layer = layer;
      slice.tensor = tensor;
      slice.bytes = slices.bytes[size_t(tensor)];
      if (slice.bytes == 0)
        continue;
      if (const kvc_status status = memory.read(memory.user, &slice, to);
          status != KVC_OK)
        return fail(diag, status,
                    "memory: cannot read block %d of group %zu, layer %lld",
                    slice.block, g, static_cast<long long>(layer));
      to += slice.bytes;
    }
  return KVC_OK;
}

kvc_status Saver::flush(size_t most) {
  if (step.size() <= most)
    return KVC_OK;
  KVC_TRY(check(file.append(std::as_bytes(std::span(step)))));
  step.clear();
  return KVC_OK;
}

kvc_status Saver::writeGroup(size_t g, uint8_t *sums) {
  const Group &group = manager.groups[g];
  const spec::Spec rawSpec =
      group.hasRaw ? spec::rawRows(group.spec->spec) : spec::Spec();
  RowMask mask(group.spec->spec);
  std::optional<RowMask> rawMask;
  if (group.hasRaw)
    rawMask.emplace(rawSpec);
  const Slices slices(group.spec->spec);
  const Slices rawSlices = group.hasRaw ? Slices(rawSpec) : Slices();
  for (SavedBlock block : blocks[g]) {
    const Slices &shape = block.isRaw ? rawSlices : slices;
    const auto size = size_t(shape.total() * group.layers);
    const size_t begin = step.size();
    step.resize(begin + size);
    uint8_t *at = step.data() + begin;
    KVC_TRY(readBlock(g, block, shape, at));
    (block.isRaw ? *rawMask : mask)
        .clearOthers(rowsOf(group, states[g], sequence.committed, block),
                     group.layers, at);
    const uint32_t sum = crc32c(0, at, size);
    for (int shift = 0; shift < 32; shift += 8)
      *sums++ = uint8_t(sum >> shift);
    bytes += int64_t(size);
    KVC_TRY(flush(kStepBytes));
  }
  return KVC_OK;
}

kvc_status Saver::run(const int32_t *tokens) {
  std::vector<uint8_t> head = headBefore(tokens);
  KVC_TRY(check(file.open()));
  // Their sums come before the blocks, so the place is kept until the end.
  step.resize(size_t(kHeaderBytes) + head.size());
  KVC_TRY(flush(0));
  for (size_t g = 0; g < manager.groups.size(); ++g)
    KVC_TRY(writeGroup(g, head.data() + sumsAt[g]));
  KVC_TRY(flush(0));
  const std::vector<uint8_t> first = header(head);
  KVC_TRY(check(file.writeAt(0, std::as_bytes(std::span(first)))));
  KVC_TRY(check(file.writeAt(first.size(), std::as_bytes(std::span(head)))));
  return check(file.commit());
}

} // namespace

extern "C" kvc_status kvc_manager_save(const kvc_manager *manager,
                                       kvc_sequence sequence,
                                       const int32_t *tokens,
                                       const kvc_saved_identity *identity,
                                       const kvc_slice_memory *memory,
                                       const char *path, kvc_diag *diag) {
  return probe(manager, diag, [&](const kvc_manager &m) -> kvc_status {
    KVC_TRY(requirePointer(path, "path", diag));
    kvc_slice_memory given;
    KVC_TRY(readStruct(memory, "memory", diag, given));
    if (!given.read)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "memory.read: expected a function, got null");
    const Sequence *found = nullptr;
    KVC_TRY(m.findSound(sequence, diag, found));
    if (found->committed)
      KVC_TRY(requirePointer(tokens, "tokens", diag));
    KVC_TRY(m.checkWritten(*found, diag));
    Identity read;
    KVC_TRY(read.read(identity, m.groups, diag));
    return Saver(m, *found, read, given, path, diag).run(tokens);
  });
}

extern "C" kvc_status kvc_hash_inputs(const kvc_spec *spec,
                                      const kvc_scheme_values *values,
                                      int64_t count, kvc_diag *diag,
                                      uint8_t hash[32]) {
  return guarded(diag, [&]() -> kvc_status {
    KVC_TRY(requirePointer(spec, "spec", diag));
    KVC_TRY(requirePointer(hash, "hash", diag));
    if (count != int64_t(spec->inputs.size()) || (count > 0 && !values))
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "values: expected the %zu inputs of the spec, got %lld",
                  spec->inputs.size(), static_cast<long long>(count));
    spec::Sha256 sum;
    for (const spec::SchemeInput &input : spec->inputs) {
      const kvc_scheme_values *found = nullptr;
      for (int64_t i = 0; i < count; ++i)
        if (values[i].name && input.name == values[i].name)
          found = &values[i];
      if (!found || !found->values ||
          found->count != input.heads * input.columns)
        return fail(diag, KVC_INVALID_ARGUMENT,
                    "values: expected %lld of \"%s\", got none or others",
                    static_cast<long long>(input.heads * input.columns),
                    input.name.c_str());
      std::vector<uint8_t> text(input.name.begin(), input.name.end());
      text.push_back(0);
      put(text, uint64_t(found->count), 8);
      for (int64_t i = 0; i < found->count; ++i) {
        uint32_t bits;
        std::memcpy(&bits, &found->values[i], sizeof(bits));
        put(text, bits, 4);
      }
      sum.update(text.data(), text.size());
    }
    const auto digest = sum.finish();
    std::memcpy(hash, digest.data(), digest.size());
    return KVC_OK;
  });
}
