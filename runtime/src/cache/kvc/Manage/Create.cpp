//===- Create.cpp - What a manager is made of -----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Base/Struct.h"
#include "kvc/Layout/PageLayout.h"
#include "kvc/Manage/Capacity.h"
#include "kvc/Manage/Manager.h"
#include "kvc/Spec/Segments.h"

using namespace kvc;
using namespace kvc::manage;

kvc_status kvc::manage::readGroups(const kvc_manager_options &options,
                                   kvc_diag *diag,
                                   std::vector<kvc_layer_group> &groups) {
  if (options.num_groups < 1 || options.num_groups > KVC_MAX_LAYER_GROUPS ||
      !options.groups)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "options.groups: expected 1 to %d groups, got %lld%s",
                KVC_MAX_LAYER_GROUPS,
                static_cast<long long>(options.num_groups),
                options.groups ? "" : " at null");
  const auto *bytes = reinterpret_cast<const char *>(options.groups);
  const size_t stride = options.groups->struct_size;
  KVC_TRY(checkStructSize(stride, "options.groups", diag));
  if (stride % alignof(kvc_layer_group) != 0)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "options.groups[0].struct_size: expected a multiple of %zu, "
                "got %zu",
                alignof(kvc_layer_group), stride);
  for (int64_t g = 0; g < options.num_groups; ++g) {
    const auto *given =
        reinterpret_cast<const kvc_layer_group *>(bytes + size_t(g) * stride);
    if (given->struct_size != stride)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "options.groups[%lld].struct_size: expected %zu as in the "
                  "first, got %zu",
                  static_cast<long long>(g), stride, given->struct_size);
    KVC_TRY(readStruct(given, "options.groups", diag, groups.emplace_back()));
  }
  return KVC_OK;
}

kvc_status kvc::manage::checkCount(const char *name, int64_t count,
                                   kvc_diag *diag) {
  if (count >= 0 && count <= kMaxTokens)
    return KVC_OK;
  return fail(diag, KVC_INVALID_ARGUMENT, "%s: expected 0 to %lld, got %lld",
              name, static_cast<long long>(kMaxTokens),
              static_cast<long long>(count));
}

kvc_status kvc::manage::checkGrowth(const kvc_manager_options &options,
                                    kvc_diag *diag) {
  const uint32_t known = KVC_MANAGER_LOCK | KVC_MANAGER_FREE_WINDOW;
  if (options.flags & ~known)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "options.flags: expected KVC_MANAGER_LOCK, "
                "KVC_MANAGER_FREE_WINDOW or 0, got 0x%x",
                options.flags);
  return checkCount("options.max_queries", options.max_queries, diag);
}

kvc_status kvc::manage::checkGroup(const kvc_layer_group &group, int64_t number,
                                   kvc_diag *diag) {
  if (!group.spec || group.layers < 1)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "options.groups[%lld]: expected a spec and at least one layer, "
                "got %s and %lld",
                static_cast<long long>(number), group.spec ? "one" : "null",
                static_cast<long long>(group.layers));
  if (group.spec->spec.layout.kind != spec::LayoutKind::Paged)
    return fail(diag, KVC_UNSUPPORTED,
                "options.groups[%lld].spec: expected layout.kind \"paged\", "
                "got another",
                static_cast<long long>(number));
  return KVC_OK;
}

namespace {

constexpr int64_t kDefaultSequences = 65536;

kvc_status checkOptions(const kvc_manager_options &options, kvc_diag *diag) {
  KVC_TRY(checkGrowth(options, diag));
  KVC_TRY(checkCount("options.max_sequences", options.max_sequences, diag));
  KVC_TRY(checkCount("options.max_tokens", options.max_tokens, diag));
  for (int64_t g = 0; g < options.num_groups; ++g) {
    const kvc_layer_group &group = options.groups[g];
    KVC_TRY(checkGroup(group, g, diag));
    if (group.blocks < 1 || group.raw_blocks < 0)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "options.groups[%lld]: expected at least one block, got %lld "
                  "and %lld raw blocks",
                  static_cast<long long>(g),
                  static_cast<long long>(group.blocks),
                  static_cast<long long>(group.raw_blocks));
  }
  return KVC_OK;
}

/// Pools as they come together from the groups' wishes.
struct PoolSizes {
  std::vector<int64_t> bytes, tokens;
  std::vector<Checked> blocks;

  int32_t add(int64_t size, int64_t page, int64_t count) {
    size_t pool = 0;
    while (pool < bytes.size() && bytes[pool] != size)
      ++pool;
    if (pool == bytes.size()) {
      bytes.push_back(size);
      tokens.push_back(0);
      blocks.push_back(1);
    }
    tokens[pool] = std::max(tokens[pool], page);
    blocks[pool] = blocks[pool] + count;
    return int32_t(pool);
  }
};

kvc_status makePools(const kvc_manager_options &options, kvc_diag *diag,
                     kvc_manager &manager) {
  PoolSizes sizes;
  for (size_t g = 0; g < manager.groups.size(); ++g) {
    Group &group = manager.groups[g];
    const kvc_layer_group &given = options.groups[g];
    auto add = [&](const spec::Spec &spec, int64_t page, int64_t count,
                   int32_t &pool) -> kvc_status {
      const Checked bytes =
          Checked(layout::pageBytes(spec, layout::TargetFamily::Host)) *
          group.layers;
      if (!bytes.isValid())
        return fail(diag, KVC_INVALID_ARGUMENT,
                    "options.groups[%zu].layers: expected blocks of fewer than "
                    "2^63 bytes, got %lld layers",
                    g, static_cast<long long>(group.layers));
      pool = sizes.add(bytes.get(), page, count);
      return KVC_OK;
    };
    KVC_TRY(add(group.spec->spec, group.page, given.blocks, group.pool));
    if (group.hasRaw)
      KVC_TRY(add(spec::rawRows(group.spec->spec), group.rawPage,
                  given.raw_blocks
                      ? given.raw_blocks
                      : group.rawBlocksFor(
                            manager.maxSequences,
                            (Checked(given.blocks) * group.page).saturated()),
                  group.rawPool));
  }
  Checked all = 0, ids = 0;
  for (size_t i = 0; i < sizes.bytes.size(); ++i) {
    all = all + sizes.blocks[i];
    ids = ids + sizes.blocks[i] * sizes.tokens[i];
  }
  if (!all.isValid() || !ids.isValid() || all.get() > kMaxTokens)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "options.groups: expected at most %lld blocks together, got "
                "%lld",
                static_cast<long long>(kMaxTokens),
                static_cast<long long>(all.saturated()));
  for (size_t i = 0; i < sizes.bytes.size(); ++i)
    manager.blocks.addPool(sizes.blocks[i].get(), sizes.bytes[i]);
  manager.blocks.allocate();
  manager.prefixes.allocate(sizes.tokens, options.hash, options.hash_user,
                            {options.listener, options.listener_user});
  return KVC_OK;
}

kvc_status beginTrace(const kvc_manager_options &options, kvc_diag *diag,
                      kvc_manager &manager) {
  if (!options.trace)
    return KVC_OK;
  const char *policy = nameOfPolicy(manager.policy);
  if (options.hash || !policy)
    return fail(diag, KVC_UNSUPPORTED,
                "options.trace: expected the library's hash and policies, got "
                "%s of the caller's",
                options.hash ? "a hash" : "a policy");
  manager.tracer.write = options.trace;
  manager.tracer.user = options.trace_user;
  Record record(manager.tracer, Call::Create);
  record.add(int64_t(manager.groups.size()));
  for (size_t g = 0; g < manager.groups.size(); ++g) {
    const kvc_layer_group &group = options.groups[g];
    record.add(manager.groups[g].spec->json);
    record.add(group.layers).add(group.blocks).add(group.raw_blocks);
  }
  record.add(options.max_sequences).add(options.max_tokens);
  record.add(int64_t(options.flags)).add(options.max_queries);
  record.add(std::string_view(policy));
  record.expect(0);
  return record.finish(KVC_OK);
}

} // namespace

extern "C" kvc_status kvc_manager_create(const kvc_manager_options *options,
                                         kvc_diag *diag,
                                         kvc_manager **manager) {
  return guarded(diag, [&]() -> kvc_status {
    kvc_manager_options given;
    KVC_TRY(readStruct(options, "options", diag, given));
    KVC_TRY(requirePointer(manager, "manager", diag));
    std::vector<kvc_layer_group> groups;
    KVC_TRY(readGroups(given, diag, groups));
    given.groups = groups.data();
    KVC_TRY(checkOptions(given, diag));
    auto made = std::make_unique<kvc_manager>();
    made->isLocked = (given.flags & KVC_MANAGER_LOCK) != 0;
    made->maxSequences =
        given.max_sequences ? given.max_sequences : kDefaultSequences;
    made->maxTokens = given.max_tokens;
    if (given.policy)
      KVC_TRY(readStruct(given.policy, "options.policy", diag, made->policy));
    for (int64_t g = 0; g < given.num_groups; ++g)
      made->groups.emplace_back(given.groups[g], given);
    KVC_TRY(makePools(given, diag, *made));
    KVC_TRY(beginTrace(given, diag, *made));
    *manager = made.release();
    return KVC_OK;
  });
}

extern "C" kvc_status kvc_manager_free(kvc_manager *manager) {
  delete manager;
  return KVC_OK;
}
