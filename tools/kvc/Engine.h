//===- Engine.h - Compile a spec and run batches through it -----*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The tool's own small engine over the two C APIs, kvc/jit.h and kvc/runtime.h:
// what an embedding program would write, with handles that free themselves.
// Failures are thrown (Failure.h).
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_ENGINE_H
#define KVC_TOOLS_ENGINE_H

#include "kvc/SpecFile.h"
#include "kvc/jit.h"
#include "kvc/runtime.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvc {

template <typename T, kvc_status (*free)(T *)>
struct HandleDeleter {
  void operator()(T *object) const { free(object); }
};
template <typename T, kvc_status (*free)(T *)>
using Handle = std::unique_ptr<T, HandleDeleter<T, free>>;

using CompilerHandle = Handle<kvc_compiler, kvc_compiler_free>;
using JitHandle = Handle<kvc_jit_module, kvc_jit_module_free>;
using ModuleHandle = Handle<kvc_module, kvc_module_free>;
using CacheHandle = Handle<kvc_cache, kvc_cache_free>;
using PlanHandle = Handle<kvc_plan, kvc_plan_free>;
using PoolHandle = Handle<kvc_thread_pool, kvc_thread_pool_free>;

CompilerHandle createCompiler();
/// Options of kvc_compile_* for a target's name; `target` outlives them.
kvc_compile_options compileOptionsFor(const std::string &target);

/// The canonical form of a spec of either form, called `place` in messages.
std::string translateSpec(std::string_view text, const std::string &place,
                          kvc_spec_format format);

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

  int64_t batch() const { return static_cast<int64_t>(keyStarts.size()) - 1; }
  int64_t queries() const { return queryStarts.back(); }
  int64_t keys() const { return keyStarts.back(); }
};

struct Outputs {
  Values out;             ///< [total_q, q_heads, value_dim] of io.output.
  std::vector<float> lse; ///< [total_q, q_heads]
  double microseconds = 0;
};

/// One tensor of a cache in canonical form, [total_kv, kv_heads, ..].
struct Dump {
  std::vector<int8_t> codes;
  std::vector<float> scales, zeros, values;
};

class Engine {
public:
  /// Compiles `spec` (JSON or MLIR), called `place` in messages.
  Engine(kvc_compiler *compiler, std::string_view spec,
         const std::string &place, const kvc_compile_options &options);

  const kvc_spec *spec() const { return specHandle; }
  const kvc_spec_info &info() const { return specInfo; }
  kvc_tensor_info tensor(kvc_tensor tensor) const;
  kvc_part_info part(kvc_tensor tensor, int64_t part) const;
  const kvc_module *module() const { return moduleHandle.get(); }
  std::span<const kvc_phase> phases() const;
  double compileMs() const;

  const kvc_module_table &table() const { return *moduleTable; }
  /// Of K and V together, for one token and kv head.
  double bytesPerToken() const;

  /// A cache that holds these sequences; `poison` fills it with 0xFF first.
  CacheHandle createCache(const BatchInputs &inputs, bool poison) const;
  /// Makes the batch's sequences and appends all keys to them, at most `chunk`
  /// tokens of every sequence per call (0: all at once). Returns microseconds.
  double append(const BatchInputs &inputs, kvc_cache *cache, int64_t chunk,
                const kvc_parallel_for *threads,
                std::vector<kvc_sequence> &sequences) const;
  /// Lets all queries attend to their sequences.
  Outputs attend(const BatchInputs &inputs, kvc_cache *cache,
                 std::span<const kvc_sequence> sequences,
                 const kvc_parallel_for *threads) const;
  Dump dump(const kvc_cache *cache, std::span<const kvc_sequence> sequences,
            const BatchInputs &inputs, kvc_tensor tensor,
            const kvc_parallel_for *threads) const;

private:
  JitHandle jit;
  ModuleHandle moduleHandle;
  const kvc_spec *specHandle = nullptr;
  const kvc_module_table *moduleTable = nullptr;
  kvc_spec_info specInfo{};
};

} // namespace kvc

#endif // KVC_TOOLS_ENGINE_H
