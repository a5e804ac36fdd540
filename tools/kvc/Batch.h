//===- Batch.h - What commands compute over ---------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Arrays of kvc's float types, the inputs of a ragged batch, threads: what
// needs the runtime and no compiler. Failures are thrown (Failure.h).
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_BATCH_H
#define KVC_TOOLS_BATCH_H

#include "kvc/Failure.h"
#include "kvc/SchemeValues.h"
#include "kvc/runtime.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kvc {

template <typename T, kvc_status (*free)(T *)>
struct HandleDeleter {
  void operator()(T *object) const { free(object); }
};
template <typename T, kvc_status (*free)(T *)>
using Handle = std::unique_ptr<T, HandleDeleter<T, free>>;

using PoolHandle = Handle<kvc_thread_pool, kvc_thread_pool_free>;

/// Threads for a command: a pool, or for one thread just the calling one.
class Threads {
public:
  /// 0: one per core that this process may use.
  explicit Threads(int64_t count);
  const kvc_parallel_for *loop() const { return pool ? &parallel : nullptr; }
  int64_t count() const { return size; }

private:
  PoolHandle pool;
  kvc_parallel_for parallel{};
  int32_t size = 1;
};

/// `count` elements of one of kvc's float types.
struct Values {
  kvc_dtype dtype = KVC_F32;
  std::vector<std::byte> bytes;

  int64_t count() const;
  /// Outputs may hold NaN and infinity, which pass.
  std::vector<float> toF32() const;
};
int64_t bytesOf(kvc_dtype dtype);
/// Nearest even, finite overflow saturates; NaN and infinity are refused with
/// `name` and index.
Values convert(const std::string &name, const void *data, kvc_dtype from,
               int64_t count, kvc_dtype to);

/// Keys that the last `queries` of a sequence of `length` tokens can see.
int64_t visibleTokens(const kvc_spec_info &spec, int64_t length,
                      int64_t queries);

/// What queries attend over: keys and values of a ragged batch, in io.query.
struct BatchInputs {
  std::vector<int32_t> queryStarts, keyStarts; ///< [batch + 1]
  Values q, k, v;
  std::vector<float> alibiSlopes, sinkLogits; ///< Empty: not in the spec.
  std::vector<SchemeValues> schemeValues;
  std::string place; ///< What messages call all this; may be empty.

  int64_t batch() const { return static_cast<int64_t>(keyStarts.size()) - 1; }
  int64_t queries() const { return queryStarts.back(); }
  int64_t keys() const { return keyStarts.back(); }
};

} // namespace kvc

#endif // KVC_TOOLS_BATCH_H
