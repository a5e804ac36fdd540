//===- CacheDump.h - The tensors of --dump-cache ----------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_CACHEDUMP_H
#define KVC_TOOLS_CACHEDUMP_H

#include "kvc/Engine.h"
#include "kvc/Safetensors.h"

#include <deque>

namespace kvc {

/// A cache in canonical form, as named tensors and what they point into.
class CacheDump {
public:
  CacheDump(const Engine &engine, const BatchInputs &inputs,
            const kvc_cache *cache, std::span<const kvc_sequence> sequences)
      : engine(engine), inputs(inputs), cache(cache), sequences(sequences) {}

  /// All tensors of K ("k") or of V ("v").
  void add(const std::string &prefix, kvc_tensor which,
           const kvc_parallel_for *threads);
  std::span<const safetensors::Tensor> tensors() const { return list; }

private:
  void addRows(std::string name, safetensors::DType dtype, int64_t columns,
               std::span<const std::byte> bytes);
  void addPart(const std::string &name, const kvc_part_info &part,
               const PartDump &from);
  void addRecords(const std::string &name, kvc_tensor which);

  const Engine &engine;
  const BatchInputs &inputs;
  const kvc_cache *cache;
  std::span<const kvc_sequence> sequences;
  std::deque<Dump> dumps;
  std::deque<std::vector<std::byte>> records;
  std::deque<std::vector<uint16_t>> outlierIndices;
  std::deque<Values> outlierValues;
  std::vector<safetensors::Tensor> list;
};

} // namespace kvc

#endif // KVC_TOOLS_CACHEDUMP_H
