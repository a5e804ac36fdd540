//===- Replay.cpp - Traces run again --------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Manage/Manager.h"

#include <cstring>

using namespace kvc;
using namespace kvc::manage;

namespace {

/// What was given to a call, read from its record. Reading beyond the end gives
/// zeros and is remembered.
class Reader {
public:
  Reader(const uint8_t *data, size_t size) : data(data), left(size) {}

  int64_t number() {
    if (left < sizeof(int64_t)) {
      left = 0;
      isCut = true;
      return 0;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < sizeof(value); ++i)
      value |= uint64_t(data[i]) << (8 * i);
    skip(sizeof(value));
    return int64_t(value);
  }
  /// A count of things of so many bytes that all must be there.
  int64_t count(size_t bytes) {
    const int64_t value = number();
    if (value >= 0 && uint64_t(value) <= left / bytes)
      return value;
    isCut = true;
    return 0;
  }
  std::string text() {
    const auto size = size_t(count(1));
    std::string result(reinterpret_cast<const char *>(data), size);
    skip(std::min(left, (size + 7) / 8 * 8));
    return result;
  }
  kvc_prefix prefix() {
    kvc_prefix result = {};
    result.length = number();
    for (uint64_t &entry : result.entries)
      entry = uint64_t(number());
    return result;
  }
  std::vector<int32_t> tokens() {
    std::vector<int32_t> result(static_cast<size_t>(count(sizeof(int64_t))));
    for (int32_t &token : result)
      token = int32_t(number());
    return result;
  }
  bool isWhole() const { return !isCut; }

private:
  void skip(size_t bytes) {
    data += bytes;
    left -= bytes;
  }
  const uint8_t *data;
  size_t left;
  bool isCut = false;
};

struct Replay {
  kvc_manager *manager = nullptr;
  std::vector<uint8_t> record; ///< Of the call that ran last.

  Replay() = default;
  Replay(const Replay &) = delete;
  Replay &operator=(const Replay &) = delete;
  ~Replay() { kvc_manager_free(manager); }

  kvc_status create(Reader &reader, kvc_diag *diag);
  /// Runs a call; its answer is in `record`.
  void run(Call call, Reader &reader);
};

kvc_status Replay::create(Reader &reader, kvc_diag *diag) {
  kvc_manager_options options = {};
  options.struct_size = sizeof(options);
  options.num_groups = reader.number();
  std::vector<kvc_layer_group> groups;
  std::vector<std::unique_ptr<kvc_spec>> specs;
  for (int64_t g = 0; g < options.num_groups && reader.isWhole(); ++g) {
    kvc_layer_group group = {};
    group.struct_size = sizeof(group);
    specs.emplace_back();
    KVC_TRY(parseSpecHandle(reader.text(), "trace: ", diag, specs.back()));
    group.spec = specs.back().get();
    group.layers = reader.number();
    group.blocks = reader.number();
    group.raw_blocks = reader.number();
    groups.push_back(group);
  }
  options.groups = groups.data();
  options.max_sequences = reader.number();
  options.max_tokens = reader.number();
  options.flags = uint32_t(reader.number());
  options.max_queries = reader.number();
  const std::string policy = reader.text();
  if (!reader.isWhole())
    return fail(diag, KVC_INVALID_DATA,
                "trace: expected what a manager is made of, got its beginning");
  kvc_policy found = {};
  found.struct_size = sizeof(found);
  KVC_TRY(kvc_policy_get(policy.c_str(), diag, &found));
  options.policy = &found;
  options.trace_user = this;
  options.trace = [](void *user, const void *data, size_t size) {
    const auto *bytes = static_cast<const uint8_t *>(data);
    static_cast<Replay *>(user)->record.assign(bytes, bytes + size);
  };
  return kvc_manager_create(&options, diag, &manager);
}

void Replay::run(Call call, Reader &reader) {
  int64_t number = 0;
  kvc_sequence sequence = 0;
  record.clear();
  switch (call) {
  case Call::CreateSequence:
    kvc_manager_create_sequence(manager, nullptr, &sequence);
    return;
  case Call::FreeSequence:
    kvc_manager_free_sequence(manager, uint64_t(reader.number()), nullptr);
    return;
  case Call::Fork: {
    const auto parent = uint64_t(reader.number());
    kvc_manager_fork(manager, parent, reader.number(), nullptr, &sequence,
                     nullptr);
    return;
  }
  case Call::Truncate: {
    const auto cut = uint64_t(reader.number());
    kvc_manager_truncate(manager, cut, reader.number(), nullptr, nullptr);
    return;
  }
  case Call::Append: {
    const int64_t count = reader.number();
    std::vector<kvc_append_rows> rows(
        static_cast<size_t>(reader.count(3 * sizeof(int64_t))));
    for (kvc_append_rows &row : rows) {
      row.sequence = uint64_t(reader.number());
      row.new_tokens = reader.number();
      row.lookahead = reader.number();
    }
    // What was refused for its count alone is refused again.
    kvc_manager_append(manager, rows.empty() ? nullptr : rows.data(),
                       rows.empty() ? count : int64_t(rows.size()), nullptr);
    return;
  }
  case Call::Commit: {
    const auto open = uint64_t(reader.number());
    kvc_manager_commit(manager, open, reader.number(), nullptr);
    return;
  }
  case Call::Rollback:
    kvc_manager_rollback(manager, uint64_t(reader.number()), nullptr);
    return;
  case Call::TakeCopies: {
    std::vector<kvc_block_copy> copies(
        static_cast<size_t>(reader.count(2 * sizeof(int64_t))));
    kvc_manager_take_copies(manager, int64_t(copies.size()), nullptr,
                            copies.data(), &number);
    return;
  }
  case Call::Publish: {
    const auto from = uint64_t(reader.number());
    const std::vector<int32_t> tokens = reader.tokens();
    Record publish(manager->tracer, call);
    const std::string space = reader.text();
    publish.add(from).addTokens(tokens.data(), int64_t(tokens.size()));
    publish.add(space).expect(1 + KVC_MAX_LAYER_GROUPS);
    kvc_prefix prefix = {};
    const kvc_status status = manager->publish(
        from, tokens.data(), int64_t(tokens.size()), space, nullptr, prefix);
    publish.add(status);
    (status == KVC_OK ? publish.add(prefix) : publish).finish(status);
    return;
  }
  case Call::Adopt: {
    const auto to = uint64_t(reader.number());
    const kvc_prefix prefix = reader.prefix();
    kvc_manager_adopt(manager, to, &prefix, nullptr);
    return;
  }
  case Call::Reset:
    kvc_manager_reset(manager, nullptr);
    return;
  case Call::Pin: {
    const kvc_prefix prefix = reader.prefix();
    const auto priority = int32_t(reader.number());
    kvc_manager_pin(manager, &prefix, priority, reader.number(), nullptr);
    return;
  }
  case Call::Unpin: {
    const kvc_prefix prefix = reader.prefix();
    kvc_manager_unpin(manager, &prefix, nullptr);
    return;
  }
  case Call::SetTime:
    kvc_manager_set_time(manager, reader.number(), nullptr);
    return;
  case Call::Evict: {
    const int64_t pool = reader.number();
    kvc_manager_evict(manager, pool, reader.number(), nullptr, &number);
    return;
  }
  case Call::BeginStep:
    kvc_manager_begin_step(manager, nullptr, &number);
    return;
  case Call::EndStep:
    kvc_manager_end_step(manager, reader.number(), nullptr);
    return;
  case Call::Retire: {
    const int64_t step = reader.number();
    kvc_manager_retire(manager, step, int32_t(reader.number()), nullptr);
    return;
  }
  case Call::Restore: {
    const int64_t length = reader.number();
    std::vector<Restored> states(
        static_cast<size_t>(reader.count(3 * sizeof(int64_t))));
    for (Restored &state : states) {
      state.ends.key = reader.number();
      state.ends.value = reader.number();
      state.freed = reader.number();
    }
    restoreTraced(*manager, length, states, nullptr, sequence);
    return;
  }
  case Call::Create:
    return;
  }
}

} // namespace

extern "C" kvc_status kvc_manager_replay(const void *trace, size_t size,
                                         kvc_diag *diag, int64_t *records) {
  return guarded(diag, [&]() -> kvc_status {
    KVC_TRY(requirePointer(records, "records", diag));
    if (size)
      KVC_TRY(requirePointer(trace, "trace", diag));
    const auto *bytes = static_cast<const uint8_t *>(trace);
    Replay replay;
    int64_t number = 0;
    for (; size; ++number) {
      Reader head(bytes, size);
      const auto length = uint64_t(head.number());
      const auto call = Call(head.number());
      const bool isFirst = number == 0;
      if (!head.isWhole() || length > size || length < 2 * sizeof(int64_t) ||
          nameOf(call).empty() || isFirst != (call == Call::Create))
        return fail(diag, KVC_INVALID_DATA,
                    "trace: record %lld, expected a whole record of a call "
                    "within %zu bytes, got %llu bytes of call %lld",
                    static_cast<long long>(number), size,
                    static_cast<unsigned long long>(length),
                    static_cast<long long>(call));
      Reader reader(bytes + 2 * sizeof(int64_t), length - 2 * sizeof(int64_t));
      if (isFirst) {
        const kvc_status status = replay.create(reader, diag);
        // Whatever is wrong with what it was made of is wrong in the trace.
        if (status != KVC_OK)
          return status == KVC_FAILED ? status : KVC_INVALID_DATA;
      } else {
        replay.run(call, reader);
      }
      if (replay.record.size() != length ||
          std::memcmp(replay.record.data(), bytes, length) != 0)
        return fail(diag, KVC_INVALID_DATA,
                    "trace: record %lld, %s, expected the answer that was "
                    "recorded, got another",
                    static_cast<long long>(number),
                    std::string(nameOf(call)).c_str());
      bytes += length;
      size -= length;
    }
    *records = number;
    return KVC_OK;
  });
}
