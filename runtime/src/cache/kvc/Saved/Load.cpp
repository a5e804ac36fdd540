//===- Load.cpp - Sequences from files ------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Manage/Calls.h"
#include "kvc/Saved/Identity.h"

#include <cstring>

using namespace kvc;
using namespace kvc::manage;
using namespace kvc::saved;

kvc_status Identity::read(const kvc_saved_identity *given,
                          const std::vector<Group> &groups, kvc_diag *diag) {
  kvc_saved_identity known;
  KVC_TRY(readStruct(given, "identity", diag, known));
  if (known.model && std::strlen(known.model) > KVC_MAX_MODEL_BYTES)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "identity.model: expected at most %d bytes, got more",
                KVC_MAX_MODEL_BYTES);
  model = known.model ? known.model : "";
  for (size_t g = 0; g < groups.size(); ++g) {
    const uint8_t *bytes = known.input_hashes ? known.input_hashes[g] : nullptr;
    const bool isNeeded = !groups[g].spec->inputs.empty();
    if (isNeeded != (bytes != nullptr))
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "identity.input_hashes[%zu]: expected %s, got %s", g,
                  isNeeded ? "a hash for each layer"
                           : "null: the group's schemes take no inputs",
                  bytes ? "some" : "null");
    hashes.emplace_back(size_t(groups[g].layers * kHashBytes));
    if (bytes)
      std::memcpy(hashes.back().data(), bytes, hashes.back().size());
  }
  return KVC_OK;
}

namespace {

kvc_status checkSame(const kvc_saved &file, const kvc_manager &manager,
                     const Identity &identity, kvc_diag *diag) {
  if (file.groups.size() != manager.groups.size())
    return fail(diag, KVC_UNSUPPORTED,
                "saved: expected %zu layer groups as the manager's, got %zu",
                manager.groups.size(), file.groups.size());
  for (size_t g = 0; g < file.groups.size(); ++g) {
    const GroupRecord &record = file.groups[g];
    const Group &group = manager.groups[g];
    if (record.group->spec->hash != group.spec->hash ||
        record.layers != group.layers)
      return fail(diag, KVC_UNSUPPORTED,
                  "saved: groups[%zu]: expected %lld layers of layout %.12s, "
                  "got %lld of layout %.12s",
                  g, static_cast<long long>(group.layers),
                  group.spec->hash.c_str(),
                  static_cast<long long>(record.layers),
                  record.group->spec->hash.c_str());
    for (int64_t layer = 0; layer < group.layers; ++layer)
      if (std::memcmp(&record.inputHashes[size_t(layer * kHashBytes)],
                      &identity.hashes[g][size_t(layer * kHashBytes)],
                      kHashBytes) != 0)
        return fail(diag, KVC_UNSUPPORTED,
                    "saved: groups[%zu]: expected rows that were coded with "
                    "the same inputs in layer %lld, got others",
                    g, static_cast<long long>(layer));
  }
  if (file.model != identity.model)
    return fail(diag, KVC_UNSUPPORTED,
                "saved: model: expected \"%.200s\", got \"%.200s\"",
                identity.model.c_str(), file.model.c_str());
  return KVC_OK;
}

kvc_status writeBlocks(const kvc_saved &file, const Sequence &sequence,
                       const kvc_slice_memory &memory, kvc_diag *diag) {
  for (size_t g = 0; g < file.groups.size(); ++g) {
    const GroupRecord &record = file.groups[g];
    const Held &held = sequence.groups[g];
    const uint8_t *at = record.bytes;
    for (SavedBlock block : record.blocks) {
      kvc_slice slice = {};
      slice.struct_size = sizeof(slice);
      slice.group = int32_t(g);
      slice.raw = block.isRaw;
      slice.block = (block.isRaw ? held.raw : held.body)[size_t(block.number)];
      for (int64_t layer = 0; layer < record.layers; ++layer)
        for (kvc_tensor tensor : {KVC_KEY, KVC_VALUE}) {
          slice.layer = layer;
          slice.tensor = tensor;
          slice.bytes = record.slicesOf(block).bytes[size_t(tensor)];
          // Behind this manager's window there is no block.
          if (slice.bytes && slice.block)
            if (const kvc_status status = memory.write(memory.user, &slice, at);
                status != KVC_OK)
              return fail(diag, status,
                          "memory: cannot write block %d of group %zu, layer "
                          "%lld",
                          slice.block, g, static_cast<long long>(layer));
          at += slice.bytes;
        }
    }
  }
  return KVC_OK;
}

} // namespace

extern "C" kvc_status kvc_manager_load(kvc_manager *manager,
                                       const kvc_saved *saved,
                                       const kvc_saved_identity *identity,
                                       const kvc_slice_memory *memory,
                                       kvc_diag *diag, kvc_sequence *sequence) {
  return mutate(manager, diag, [&](kvc_manager &m) -> kvc_status {
    KVC_TRY(requirePointer(saved, "saved", diag));
    KVC_TRY(requirePointer(sequence, "sequence", diag));
    kvc_slice_memory given;
    KVC_TRY(readStruct(memory, "memory", diag, given));
    if (!given.write)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "memory.write: expected a function, got null");
    Identity read;
    KVC_TRY(read.read(identity, m.groups, diag));
    KVC_TRY(checkSame(*saved, m, read, diag));
    std::vector<Restored> states;
    for (const GroupRecord &record : saved->groups)
      states.push_back({record.state.ends, record.state.freed});
    kvc_sequence made = 0;
    KVC_TRY(restoreTraced(m, saved->length, states, diag, made));
    const kvc_status status =
        writeBlocks(*saved, m.slots[size_t(made & 0xFFFFFFFFu)], given, diag);
    if (status != KVC_OK) {
      freeTraced(m, made, nullptr);
      return status;
    }
    *sequence = made;
    return KVC_OK;
  });
}
