//===- ManagedRows.cpp - A manager and rows that can be told apart --------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "ManagedRows.h"

#include "kvc/Manage/Manager.h"

using namespace kvc::test;

static constexpr int64_t kPoison = -0x6B6B6B6B;
static constexpr int64_t kCode = int64_t(1) << 62;

std::string GroupText::json() const {
  auto scheme = [](int n) {
    return R"({"codec": "int8", "scale": {"tokens": )" + std::to_string(n) +
           R"(, "channels": )" + (n > 1 ? "1" : R"("all")") +
           R"(, "dtype": "f16"}})";
  };
  std::string attention = R"("q_heads": 1, "kv_heads": 1, "head_dim": 16)";
  if (window)
    attention += R"(, "window": )" + std::to_string(window);
  if (windowSinks)
    attention += R"(, "window_sinks": )" + std::to_string(windowSinks);
  return R"({"kvc": 1, "name": "group", "attention": {)" + attention +
         R"(}, "io": {"query": "f16"}, "key": )" + scheme(keyTokens) +
         R"(, "value": )" + scheme(valueTokens) + R"(, "segments": {"sink": )" +
         std::to_string(sink) + R"(, "recent": )" + std::to_string(recent) +
         R"(}, "layout": {"kind": "paged", "page": )" + std::to_string(page) +
         R"(, "order": "nhd"}})";
}

Tokens kvc::test::text(int64_t count, int32_t first) {
  Tokens result;
  for (int64_t i = 0; i < count; ++i)
    result.push_back(first + int32_t(i));
  return result;
}

Tokens kvc::test::joined(Tokens a, const Tokens &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

ManagedRows::ManagedRows(const ManagedOptions &given) : options(given) {
  std::vector<kvc_layer_group> groups;
  for (const GroupText &group : options.groups) {
    specs.push_back(parse(group.json()));
    groups.push_back({sizeof(kvc_layer_group), specs.back().get(), group.layers,
                      group.blocks, group.rawBlocks});
  }
  kvc_manager_options made = {};
  made.struct_size = sizeof(made);
  made.groups = groups.data();
  made.num_groups = int64_t(groups.size());
  made.max_sequences = options.maxSequences;
  made.max_tokens = options.maxTokens;
  made.max_queries = options.maxQueries;
  made.flags = options.flags;
  made.policy = options.policy.score ? &options.policy : nullptr;
  made.hash = options.hash;
  made.trace_user = &trace;
  if (options.isTraced)
    made.trace = [](void *user, const void *data, size_t size) {
      const auto *bytes = static_cast<const uint8_t *>(data);
      auto &trace = *static_cast<std::vector<uint8_t> *>(user);
      trace.insert(trace.end(), bytes, bytes + size);
    };
  EXPECT_EQ(kvc_manager_create(&made, message.get(), &manager), KVC_OK)
      << message.text;
  for (size_t i = 0; i < groups.size(); ++i) {
    kvc_group_info info = {};
    info.struct_size = sizeof(info);
    EXPECT_EQ(kvc_manager_get_group(manager, int64_t(i), nullptr, &info),
              KVC_OK);
    infos.push_back(info);
  }
  pages.assign(size_t(stats().pools), 0);
  for (const kvc_group_info &info : infos) {
    int64_t &body = pages[size_t(info.pool)];
    body = std::max(body, info.page);
    if (info.raw_pool >= 0)
      pages[size_t(info.raw_pool)] =
          std::max(pages[size_t(info.raw_pool)], info.raw_page);
  }
  for (size_t i = 0; i < pages.size(); ++i)
    pools.emplace_back(size_t(pages[i] * pool(int64_t(i)).total));
  settle();
}

ManagedRows::~ManagedRows() { kvc_manager_free(manager); }

template <typename Call>
kvc_status ManagedRows::call(Call &&body) {
  const auto before = digest();
  const kvc_status status = body();
  if (status != KVC_OK)
    EXPECT_EQ(before, digest()) << "I5: " << message.text;
  settle();
  return status;
}

kvc_sequence ManagedRows::create() {
  kvc_sequence sequence = 0;
  EXPECT_EQ(call([&] {
              return kvc_manager_create_sequence(manager, message.get(),
                                                 &sequence);
            }),
            KVC_OK)
      << message.text;
  tokens[sequence] = {};
  return sequence;
}

kvc_status ManagedRows::free(kvc_sequence sequence) {
  return call([&] {
    const kvc_status status =
        kvc_manager_free_sequence(manager, sequence, message.get());
    if (status == KVC_OK)
      tokens.erase(sequence);
    return status;
  });
}

kvc_status ManagedRows::append(const std::vector<Rows> &rows) {
  std::vector<kvc_append_rows> asked;
  for (const Rows &row : rows)
    asked.push_back(
        {row.sequence, int64_t(row.tokens.size()), int64_t(row.drafts.size())});
  // Later steps run behind earlier ones, so a sequence may write again what it
  // had written, but not what it takes.
  std::set<const Cell *> held;
  for (const Rows &row : rows)
    for (size_t g = 0; g < infos.size(); ++g) {
      kvc_sequence_state now = {};
      now.struct_size = sizeof(now);
      if (kvc_manager_get_sequence(manager, row.sequence, int64_t(g), nullptr,
                                   &now) != KVC_OK)
        continue;
      for (int64_t i = 0; i < now.num_blocks; ++i)
        if (now.blocks[i])
          held.insert(&cell(infos[g].pool, now.blocks[i], 0));
      for (int64_t i = 0; i < now.num_raw_blocks; ++i)
        if (now.raw_blocks[i])
          held.insert(&cell(infos[g].raw_pool, now.raw_blocks[i], 0));
    }
  return call([&] {
    const kvc_status probe = kvc_manager_can_append(
        manager, asked.data(), int64_t(asked.size()), nullptr);
    const kvc_status status = kvc_manager_append(
        manager, asked.data(), int64_t(asked.size()), message.get());
    EXPECT_EQ(probe, status);
    if (status != KVC_OK)
      return status;
    copy();
    for (const Rows &row : rows) {
      pending[row.sequence] =
          joined(tokens[row.sequence], joined(row.tokens, row.drafts));
      write(row.sequence, pending[row.sequence], held);
    }
    return status;
  });
}

kvc_status ManagedRows::append(kvc_sequence sequence, const Tokens &fresh,
                               const Tokens &drafts) {
  return append({{sequence, fresh, drafts}});
}

kvc_status ManagedRows::commit(kvc_sequence sequence, int64_t accepted) {
  return call([&] {
    const kvc_status status =
        kvc_manager_commit(manager, sequence, accepted, message.get());
    if (status == KVC_OK) {
      Tokens &all = pending[sequence];
      all.resize(tokens[sequence].size() + size_t(accepted));
      tokens[sequence] = all;
    }
    return status;
  });
}

kvc_status ManagedRows::rollback(kvc_sequence sequence) {
  return call(
      [&] { return kvc_manager_rollback(manager, sequence, message.get()); });
}

kvc_status ManagedRows::grow(kvc_sequence sequence, const Tokens &fresh) {
  const kvc_status status = append(sequence, fresh);
  return status == KVC_OK ? commit(sequence, int64_t(fresh.size())) : status;
}

kvc_status ManagedRows::fork(kvc_sequence parent, int64_t position,
                             kvc_sequence &child, int64_t *nearest) {
  return call([&] {
    const kvc_status status = kvc_manager_fork(manager, parent, position,
                                               message.get(), &child, nearest);
    if (status == KVC_OK) {
      const Tokens &all = tokens[parent];
      tokens[child] = Tokens(all.begin(), all.begin() + position);
    }
    return status;
  });
}

kvc_status ManagedRows::truncate(kvc_sequence sequence, int64_t length,
                                 int64_t *nearest) {
  return call([&] {
    const kvc_status status =
        kvc_manager_truncate(manager, sequence, length, message.get(), nearest);
    if (status == KVC_OK)
      tokens[sequence].resize(size_t(length));
    return status;
  });
}

kvc_prefix ManagedRows::publish(kvc_sequence sequence,
                                const kvc_namespace *name) {
  kvc_prefix prefix = {};
  const Tokens &all = tokens[sequence];
  EXPECT_EQ(call([&] {
              return kvc_manager_publish(manager, sequence, all.data(),
                                         int64_t(all.size()), name,
                                         message.get(), &prefix);
            }),
            KVC_OK)
      << message.text;
  return prefix;
}

kvc_prefix ManagedRows::match(const Tokens &wanted, int64_t attendLength,
                              const kvc_namespace *name) {
  kvc_prefix prefix = {};
  const auto before = digest();
  EXPECT_EQ(kvc_manager_match(manager, wanted.data(), int64_t(wanted.size()),
                              name, attendLength, message.get(), &prefix),
            KVC_OK)
      << message.text;
  EXPECT_EQ(before, digest()) << "a probe changes nothing";
  return prefix;
}

kvc_status ManagedRows::adopt(kvc_sequence sequence, const kvc_prefix &prefix,
                              const Tokens &all) {
  return call([&] {
    const kvc_status status =
        kvc_manager_adopt(manager, sequence, &prefix, message.get());
    if (status == KVC_OK)
      tokens[sequence] = Tokens(all.begin(), all.begin() + prefix.length);
    return status;
  });
}

kvc_status ManagedRows::pin(const kvc_prefix &prefix, int32_t priority,
                            int64_t ttl) {
  return call([&] {
    return kvc_manager_pin(manager, &prefix, priority, ttl, message.get());
  });
}
kvc_status ManagedRows::unpin(const kvc_prefix &prefix) {
  return call(
      [&] { return kvc_manager_unpin(manager, &prefix, message.get()); });
}
kvc_status ManagedRows::setTime(int64_t now) {
  return call(
      [&] { return kvc_manager_set_time(manager, now, message.get()); });
}
int64_t ManagedRows::evict(int64_t pool, int64_t count) {
  int64_t evicted = 0;
  EXPECT_EQ(call([&] {
              return kvc_manager_evict(manager, pool, count, message.get(),
                                       &evicted);
            }),
            KVC_OK)
      << message.text;
  return evicted;
}
kvc_status ManagedRows::reset() {
  return call([&] { return kvc_manager_reset(manager, message.get()); });
}

int64_t ManagedRows::beginStep() {
  int64_t step = 0;
  EXPECT_EQ(call([&] {
              return kvc_manager_begin_step(manager, message.get(), &step);
            }),
            KVC_OK)
      << message.text;
  return openStep = step;
}
kvc_status ManagedRows::endStep(int64_t step) {
  openStep = 0;
  return call(
      [&] { return kvc_manager_end_step(manager, step, message.get()); });
}
kvc_status ManagedRows::retire(int64_t step, bool failed) {
  // What the step read must have been there until now.
  for (const Read &read : reads)
    if (read.step == step)
      EXPECT_EQ(*read.at, read.row) << "written under step " << step;
  std::erase_if(reads, [&](const Read &read) { return read.step == step; });
  return call([&] {
    const kvc_status status =
        kvc_manager_retire(manager, step, failed, message.get());
    // What the step, or a later one, was to write may be anything.
    if (status == KVC_OK && failed)
      for (std::vector<Cell> &cells : pools)
        for (Cell &cell : cells)
          for (int tensor : {0, 1})
            if (cell.step[tensor] >= step) {
              cell.row[tensor] = kPoison;
              std::erase_if(reads, [&](const Read &read) {
                return read.at == &cell.row[tensor];
              });
            }
    return status;
  });
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

std::vector<int64_t> ManagedRows::rowsOf(const Tokens &all) {
  std::vector<int64_t> rows;
  uint64_t hash = 1469598103934665603u;
  for (int32_t token : all) {
    hash = (hash ^ uint32_t(token)) * 1099511628211u;
    rows.push_back(int64_t(hash & ((uint64_t(1) << 48) - 1)) + 1);
  }
  return rows;
}

ManagedRows::Cell &ManagedRows::cell(int32_t pool, int32_t block, int64_t row) {
  EXPECT_NE(block, 0) << "the null block";
  return pools[size_t(pool)]
              [size_t(int64_t(block) * pages[size_t(pool)] + row)];
}

const ManagedRows::Cell &ManagedRows::cellOf(const kvc_sequence_state &state,
                                             int64_t group, int64_t token,
                                             bool isCode) {
  const kvc_group_info &info = infos[size_t(group)];
  if (isCode) {
    const int64_t index = token - info.sink;
    return cell(info.pool, state.blocks[index / info.page], index % info.page);
  }
  const int64_t sinkRows =
      (info.sink + info.raw_page - 1) / info.raw_page * info.raw_page;
  const int64_t row = token < info.sink ? token : token - info.sink + sinkRows;
  return cell(info.raw_pool, state.raw_blocks[row / info.raw_page],
              row % info.raw_page);
}

void ManagedRows::copy() {
  for (;;) {
    kvc_block_copy one = {};
    int64_t count = 0;
    EXPECT_EQ(kvc_manager_take_copies(manager, 1, message.get(), &one, &count),
              KVC_OK);
    if (count == 0)
      return;
    for (int64_t row = 0; row < pages[size_t(one.pool)]; ++row)
      cell(one.pool, one.to, row) = Cell();
    const int64_t begins[2] = {one.key_begin, one.value_begin};
    const int64_t ends[2] = {one.key_end, one.value_end};
    for (int tensor : {0, 1})
      for (int64_t row = begins[tensor]; row < ends[tensor]; ++row) {
        const Cell &from = cell(one.pool, one.from, row);
        Cell &to = cell(one.pool, one.to, row);
        to.row[tensor] = from.row[tensor];
        // The copy is written by this step, or gone with the source's.
        to.step[tensor] = std::max(from.step[tensor], openStep);
      }
  }
}

void ManagedRows::put(int32_t pool, const Cell &target, int tensor, int64_t row,
                      const std::set<const Cell *> &held) {
  const std::vector<Cell> &cells = pools[size_t(pool)];
  const int64_t at = &target - cells.data();
  Cell &cell = pools[size_t(pool)][size_t(at)];
  int64_t &place = cell.row[tensor];
  place = row;
  cell.step[tensor] = openStep;
  if (held.count(&cells[size_t(at - at % pages[size_t(pool)])]))
    std::erase_if(reads, [&](const Read &read) { return read.at == &place; });
}

void ManagedRows::write(kvc_sequence sequence, const Tokens &all,
                        const std::set<const Cell *> &held) {
  const std::vector<int64_t> rows = rowsOf(all);
  for (size_t g = 0; g < infos.size(); ++g) {
    const kvc_group_info &info = infos[g];
    const kvc_sequence_state now = state(sequence, int64_t(g));
    const int64_t from[2] = {now.key_coded_end, now.value_coded_end};
    const int64_t to[2] = {now.next_key_coded_end, now.next_value_coded_end};
    const bool hasRaw = info.raw_pool >= 0;
    for (int tensor : {0, 1}) {
      // Codes first, from raw rows or from the input.
      for (int64_t token = hasRaw ? from[tensor] : now.committed;
           token < to[tensor]; ++token) {
        const int64_t row = rows[size_t(token)];
        if (token < now.committed)
          EXPECT_EQ(cellOf(now, int64_t(g), token, false).row[tensor], row)
              << "raw row of token " << token << " in group " << g;
        put(info.pool, cellOf(now, int64_t(g), token, true), tensor,
            row | kCode, held);
      }
      if (!hasRaw)
        continue;
      for (int64_t token = now.committed; token < now.pending; ++token)
        if (token < info.sink || token >= to[tensor])
          put(info.raw_pool, cellOf(now, int64_t(g), token, false), tensor,
              rows[size_t(token)], held);
    }
  }
}

int64_t ManagedRows::firstSeen(int64_t group, int64_t token,
                               int64_t length) const {
  const kvc_group_info &info = infos[size_t(group)];
  const int64_t queries = std::max<int64_t>(options.maxQueries, 1);
  return info.window == 0 || token < info.window_sinks
             ? token
             : std::max(token, length - info.window - queries + 1);
}

void ManagedRows::verify(kvc_sequence sequence) {
  const Tokens &all = tokens[sequence];
  const std::vector<int64_t> rows = rowsOf(all);
  for (size_t g = 0; g < infos.size(); ++g) {
    const kvc_sequence_state now = state(sequence, int64_t(g));
    ASSERT_EQ(now.committed, int64_t(all.size()));
    const int64_t ends[2] = {now.key_coded_end, now.value_coded_end};
    for (int64_t token = 0; token < now.committed; ++token) {
      if (firstSeen(int64_t(g), token, now.committed) != token)
        continue;
      for (int tensor : {0, 1}) {
        const bool isCode = token >= infos[g].sink && token < ends[tensor];
        ASSERT_EQ(cellOf(now, int64_t(g), token, isCode).row[tensor],
                  rows[size_t(token)] | (isCode ? kCode : 0))
            << "I7: token " << token << " of " << now.committed << ", group "
            << g << ", tensor " << tensor;
      }
    }
  }
}

std::vector<int64_t> ManagedRows::stored(kvc_sequence sequence, int64_t group) {
  std::vector<int64_t> result;
  const kvc_sequence_state now = state(sequence, group);
  const int64_t ends[2] = {now.key_coded_end, now.value_coded_end};
  for (int64_t token = 0; token < now.committed; ++token)
    for (int tensor : {0, 1})
      result.push_back(
          cellOf(now, group, token,
                 token >= infos[size_t(group)].sink && token < ends[tensor])
              .row[tensor]);
  return result;
}

void ManagedRows::attend(kvc_sequence sequence) {
  ASSERT_NE(openStep, 0);
  for (size_t g = 0; g < infos.size(); ++g) {
    const kvc_sequence_state now = state(sequence, int64_t(g));
    const int64_t ends[2] = {now.next_key_coded_end, now.next_value_coded_end};
    for (int64_t token = 0; token < now.pending; ++token)
      for (int tensor : {0, 1}) {
        if (firstSeen(int64_t(g), token, now.pending) != token)
          continue;
        const bool isCode = token >= infos[g].sink && token < ends[tensor];
        const Cell &found = cellOf(now, int64_t(g), token, isCode);
        reads.push_back({openStep, &found.row[tensor], found.row[tensor]});
      }
  }
}

void ManagedRows::settle() {
  EXPECT_EQ(kvc_manager_check(manager, message.get()), KVC_OK) << message.text;
  const kvc::manage::Blocks &blocks = manager->blocks;
  for (size_t p = 0; p < pools.size(); ++p)
    for (int64_t block = 0; block < blocks.pools()[p].total; ++block) {
      const kvc::manage::BlockState state =
          blocks.state(manager->idOf(int32_t(p), int32_t(block)));
      if (state == kvc::manage::BlockState::Free ||
          state == kvc::manage::BlockState::Null)
        for (int64_t row = 0; row < pages[p]; ++row)
          pools[p][size_t(block * pages[p] + row)] = {{kPoison, kPoison},
                                                      {0, 0}};
    }
}

//===----------------------------------------------------------------------===//
// Looking in
//===----------------------------------------------------------------------===//

kvc_sequence_state ManagedRows::state(kvc_sequence sequence, int64_t group) {
  kvc_sequence_state result = {};
  result.struct_size = sizeof(result);
  EXPECT_EQ(kvc_manager_get_sequence(manager, sequence, group, message.get(),
                                     &result),
            KVC_OK)
      << message.text;
  return result;
}

std::vector<int32_t> ManagedRows::body(kvc_sequence sequence, int64_t group) {
  const kvc_sequence_state now = state(sequence, group);
  return {now.blocks, now.blocks + now.num_blocks};
}

kvc_pool_stats ManagedRows::pool(int64_t number) {
  kvc_pool_stats result = {};
  result.struct_size = sizeof(result);
  EXPECT_EQ(kvc_manager_get_pool(manager, number, message.get(), &result),
            KVC_OK);
  EXPECT_EQ(result.null + result.quarantined + result.used + result.pinned +
                result.cached + result.free,
            result.total)
      << "I1";
  return result;
}

kvc_manager_stats ManagedRows::stats() {
  kvc_manager_stats result = {};
  result.struct_size = sizeof(result);
  EXPECT_EQ(kvc_manager_get_stats(manager, message.get(), &result), KVC_OK);
  return result;
}

std::array<uint8_t, 32> ManagedRows::digest() {
  std::array<uint8_t, 32> result{};
  EXPECT_EQ(kvc_manager_digest(manager, message.get(), result.data()), KVC_OK);
  return result;
}

void ManagedRows::expectAllFree() {
  for (int64_t i = 0; i < stats().pools; ++i)
    EXPECT_EQ(pool(i).free, pool(i).total - 1) << "I8, pool " << i;
}

kvc_policy kvc::test::policy(const char *name) {
  kvc_policy result = {sizeof(result), nullptr, nullptr};
  EXPECT_EQ(kvc_policy_get(name, nullptr, &result), KVC_OK);
  return result;
}

ManagedOptions kvc::test::plain(int64_t blocks, int page) {
  ManagedOptions options;
  options.groups[0].blocks = blocks;
  options.groups[0].page = page;
  return options;
}

std::vector<ManagedOptions> kvc::test::layouts() {
  std::vector<ManagedOptions> result;
  auto add = [&](std::vector<GroupText> groups) {
    ManagedOptions options;
    options.groups = std::move(groups);
    result.push_back(options);
  };
  GroupText a, b, c, d;
  a.blocks = b.blocks = c.blocks = d.blocks = 200;
  b.sink = 3;
  b.recent = 5;
  b.keyTokens = 4;
  c.page = 8;
  c.sink = 5;
  c.recent = 17;
  c.keyTokens = 2;
  c.valueTokens = 8;
  d.page = 1;
  add({a});
  add({b});
  add({c});
  add({d});
  add({a, b});
  add({c, d, a});
  return result;
}
