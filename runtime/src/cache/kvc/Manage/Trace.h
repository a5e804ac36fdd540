//===- Trace.h - Calls as bytes ---------------------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A record is its size and its call, what was given, the status and what was
// answered, all as little-endian 64-bit numbers. The first one says what the
// manager was made of. What a call answers is compared by comparing records, so
// only what was given is ever read again.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_MANAGE_TRACE_H
#define KVC_MANAGE_TRACE_H

#include "kvc/Manage/Groups.h"

#include <string_view>
#include <vector>

namespace kvc::manage {

enum class Call : int64_t {
  Create = 1,
  CreateSequence,
  FreeSequence,
  Fork,
  Truncate,
  Append,
  Commit,
  Rollback,
  TakeCopies,
  Publish,
  Adopt,
  Reset,
  Pin,
  Unpin,
  SetTime,
  Evict,
  BeginStep,
  EndStep,
  Retire,
  Restore
};
std::string_view nameOf(Call call);

/// Where records go.
struct Tracer {
  void (*write)(void *user, const void *data, size_t size) = nullptr;
  void *user = nullptr;
  std::vector<uint8_t> record; ///< The one in progress.
};

/// One call on its way: made before it changes anything, finished after it.
class Record {
public:
  Record(Tracer &tracer, Call call);

  Record &add(int64_t number);
  Record &add(uint64_t number) { return add(int64_t(number)); }
  Record &add(kvc_status status) { return add(int64_t(status)); }
  Record &add(std::string_view text);
  Record &add(const kvc_prefix &prefix);
  Record &addTokens(const int32_t *tokens, int64_t count);
  /// More rows than `most` are not there to be read: the call refuses them.
  Record &addRows(const kvc_append_rows *rows, int64_t count, int64_t most);
  /// Everything given is added; answers take at most so many numbers.
  Record &expect(size_t answers);
  /// Writes the record and returns the status.
  kvc_status finish(kvc_status status);

private:
  Tracer *tracer; ///< Null: nobody wants it.
};

} // namespace kvc::manage

#endif // KVC_MANAGE_TRACE_H
