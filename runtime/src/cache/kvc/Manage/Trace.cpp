//===- Trace.cpp - Calls as bytes -----------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Manage/Trace.h"

#include <array>
#include <cstring>

using namespace kvc;
using namespace kvc::manage;

std::string_view kvc::manage::nameOf(Call call) {
  static constexpr std::array<std::string_view, 21> kNames = {
      "",         "create", "create_sequence", "free_sequence", "fork",
      "truncate", "append", "commit",          "rollback",      "take_copies",
      "publish",  "adopt",  "reset",           "pin",           "unpin",
      "set_time", "evict",  "begin_step",      "end_step",      "retire",
      "restore"};
  const auto index = size_t(call);
  return index < kNames.size() ? kNames[index] : "";
}

static void put(std::vector<uint8_t> &bytes, int64_t number) {
  for (int shift = 0; shift < 64; shift += 8)
    bytes.push_back(uint8_t(uint64_t(number) >> shift));
}

Record::Record(Tracer &given, Call call)
    : tracer(given.write ? &given : nullptr) {
  if (!tracer)
    return;
  tracer->record.clear();
  put(tracer->record, 0);
  put(tracer->record, int64_t(call));
}

Record &Record::add(int64_t number) {
  if (tracer)
    put(tracer->record, number);
  return *this;
}

Record &Record::add(std::string_view text) {
  if (!tracer)
    return *this;
  add(int64_t(text.size()));
  tracer->record.insert(tracer->record.end(), text.begin(), text.end());
  tracer->record.resize((tracer->record.size() + 7) / 8 * 8);
  return *this;
}

Record &Record::add(const kvc_prefix &prefix) {
  add(prefix.length);
  for (uint64_t entry : prefix.entries)
    add(entry);
  return *this;
}

Record &Record::addTokens(const int32_t *tokens, int64_t count) {
  add(count);
  for (int64_t i = 0; tracer && i < count; ++i)
    add(int64_t(tokens[i]));
  return *this;
}

Record &Record::addRows(const kvc_append_rows *rows, int64_t count,
                        int64_t most) {
  const int64_t readable = rows && count > 0 && count <= most ? count : 0;
  add(count).add(readable);
  for (int64_t i = 0; tracer && i < readable; ++i)
    add(rows[i].sequence).add(rows[i].new_tokens).add(rows[i].lookahead);
  return *this;
}

Record &Record::expect(size_t answers) {
  if (tracer)
    tracer->record.reserve(tracer->record.size() +
                           (answers + 1) * sizeof(int64_t));
  return *this;
}

kvc_status Record::finish(kvc_status status) {
  if (!tracer)
    return status;
  std::vector<uint8_t> &bytes = tracer->record;
  for (size_t i = 0; i < sizeof(int64_t); ++i)
    bytes[i] = uint8_t(uint64_t(bytes.size()) >> (8 * i));
  tracer->write(tracer->user, bytes.data(), bytes.size());
  return status;
}
