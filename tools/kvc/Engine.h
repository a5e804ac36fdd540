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

#include "kvc/Batch.h"
#include "kvc/SpecFile.h"
#include "kvc/jit.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvc {

using CompilerHandle = Handle<kvc_compiler, kvc_compiler_free>;
using JitHandle = Handle<kvc_jit_module, kvc_jit_module_free>;
using ModuleHandle = Handle<kvc_module, kvc_module_free>;
using CacheHandle = Handle<kvc_cache, kvc_cache_free>;
using PlanHandle = Handle<kvc_plan, kvc_plan_free>;

CompilerHandle createCompiler();
/// Options of kvc_compile_* for a target's name; `target` outlives them.
kvc_compile_options compileOptionsFor(const std::string &target);

/// The canonical form of a spec of either form, called `place` in messages.
std::string translateSpec(std::string_view text, const std::string &place,
                          kvc_spec_format format);

/// A spec of either form: what JSON can say, and the text of its score region,
/// "" without one.
struct SplitSpec {
  std::string json, score;
};
SplitSpec splitSpec(std::string_view text, const std::string &place);
/// The whole again, as MLIR where there is a score region.
std::string joinSpec(const SplitSpec &parts, const std::string &place);

struct Outputs {
  Values out;             ///< [total_q, q_heads, value_dim] of io.output.
  std::vector<float> lse; ///< [total_q, q_heads]
  double microseconds = 0;
};

/// One part of a tensor in canonical form, [total_kv, kv_heads, ..].
struct PartDump {
  std::vector<int8_t> codes;
  std::vector<float> scales, zeros, outlierIndices, outlierValues;
};

/// One tensor of a cache. A value that is the key has no parts.
struct Dump {
  std::vector<float> values; ///< [total_kv, kv_heads, channels]
  std::vector<uint8_t> raw;  ///< [total_kv]: 1 in raw rows.
  std::vector<PartDump> parts;
};

class Engine {
public:
  /// Compiles `spec` (JSON or MLIR), called `place` in messages, for `device`
  /// (null: the host), which outlives it.
  Engine(kvc_compiler *compiler, std::string_view spec,
         const std::string &place, const kvc_compile_options &options,
         const kvc_device *device = nullptr);

  const kvc_spec *spec() const { return specHandle; }
  const kvc_spec_info &info() const { return specInfo; }
  kvc_tensor_info tensor(kvc_tensor tensor) const;
  kvc_part_info part(kvc_tensor tensor, int64_t part) const;
  const kvc_module *module() const { return moduleHandle.get(); }
  std::span<const kvc_phase> phases() const;
  double compileMs() const;

  const kvc_module_table &table() const { return *moduleTable; }
  std::span<const kvc_kernel_info> kernels() const {
    return {moduleTable->kernels,
            static_cast<size_t>(moduleTable->num_kernels)};
  }
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
  /// Bytes of a sequence that its last `queries` queries read.
  double bytesRead(const kvc_cache *cache, kvc_sequence sequence,
                   int64_t length, int64_t queries) const;
  Dump dump(const kvc_cache *cache, std::span<const kvc_sequence> sequences,
            const BatchInputs &inputs, kvc_tensor tensor,
            const kvc_parallel_for *threads) const;

  const kvc_device *device() const { return onDevice; }

private:
  const kvc_device *onDevice = nullptr;
  JitHandle jit;
  ModuleHandle moduleHandle;
  const kvc_spec *specHandle = nullptr;
  const kvc_module_table *moduleTable = nullptr;
  kvc_spec_info specInfo{};
};

} // namespace kvc

#endif // KVC_TOOLS_ENGINE_H
