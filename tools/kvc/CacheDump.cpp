//===- CacheDump.cpp - The tensors of --dump-cache ------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/CacheDump.h"

#include "kvc/CommandLine.h"
#include "kvc/DeviceBytes.h"
#include "kvc/Inputs.h"
#include "kvc/Layout/PageLayout.h"

#include <algorithm>

using namespace kvc;
using safetensors::DType;

template <typename T>
static std::span<const std::byte> asBytes(const std::vector<T> &values) {
  return std::as_bytes(std::span(values));
}

void CacheDump::addRows(std::string name, DType dtype, int64_t columns,
                        std::span<const std::byte> bytes) {
  list.push_back(namedTensor(std::move(name), dtype,
                             {inputs.keys(), engine.info().kv_heads, columns},
                             bytes));
}

void CacheDump::addPart(const std::string &name, const kvc_part_info &part,
                        const PartDump &from) {
  addRows(name + "_codes", part.signed_codes ? DType::I8 : DType::U8,
          part.end - part.begin, asBytes(from.codes));
  addRows(name + "_scale", DType::F32, part.blocks, asBytes(from.scales));
  if (part.has_zero)
    addRows(name + "_zero", DType::F32, part.blocks, asBytes(from.zeros));
  if (part.outliers == 0)
    return;
  std::vector<uint16_t> &indices = outlierIndices.emplace_back(
      from.outlierIndices.begin(), from.outlierIndices.end());
  addRows(name + "_outlier_index", DType::U16, part.outliers, asBytes(indices));
  const Values &values = outlierValues.emplace_back(
      convert(name + "_outlier_value", from.outlierValues.data(), KVC_F32,
              static_cast<int64_t>(from.outlierValues.size()), KVC_F16));
  addRows(name + "_outlier_value", DType::F16, part.outliers, values.bytes);
}

void CacheDump::add(const std::string &prefix, kvc_tensor which,
                    const kvc_parallel_for *threads) {
  const Dump &kept =
      dumps.emplace_back(engine.dump(cache, sequences, inputs, which, threads));
  const kvc_tensor_info info = engine.tensor(which);
  addRows(prefix, DType::F32, info.channels, asBytes(kept.values));
  bool hasCodes = false;
  for (size_t i = 0; i < kept.parts.size(); ++i) {
    const kvc_part_info part = engine.part(which, static_cast<int64_t>(i));
    if (part.raw)
      continue;
    hasCodes = true;
    addPart(prefix + (info.lists_parts ? std::to_string(i) : ""), part,
            kept.parts[i]);
  }
  if (hasCodes)
    list.push_back(namedTensor(prefix + "_raw", DType::U8, {inputs.keys()},
                               asBytes(kept.raw)));
  if (!kept.parts.empty() && engine.info().layout == KVC_CONTIGUOUS)
    addRecords(prefix + "_pages", which);
}

/// The bytes of orders that keep a token's and head's together, as they lie in
/// the cache.
void CacheDump::addRecords(const std::string &name, kvc_tensor which) {
  const char *json = nullptr;
  Diag().check(kvc_spec_json(engine.spec(), &json));
  const auto spec = spec::parseSpec(json);
  if (!spec)
    throw Failure(spec.error().str());
  if (spec->layout.order != spec::Order::Ggml &&
      spec->layout.order != spec::Order::Token)
    return;
  const layout::TargetFamily family = engine.device()
                                          ? layout::TargetFamily::Nvptx
                                          : layout::TargetFamily::Host;
  auto regionsOf = [&](spec::Tensor tensor) {
    return layout::pageLayout(*spec, tensor, family).regions.size();
  };
  const size_t keyRegions = regionsOf(spec::Tensor::Key),
               first = which == KVC_KEY ? 0 : keyRegions,
               last = which == KVC_KEY
                          ? keyRegions
                          : keyRegions + regionsOf(spec::Tensor::Value);
  std::vector<std::byte> &bytes = records.emplace_back();
  const int64_t heads = engine.info().kv_heads;
  const int64_t record =
      layout::tensorStrides(
          *spec, which == KVC_KEY ? spec::Tensor::Key : spec::Tensor::Value,
          family, 64)
          .record;
  int64_t rows = 0;
  for (size_t i = 0; i < sequences.size(); ++i) {
    kvc_cache_view view{};
    Diag diag;
    diag.check(kvc_cache_get_view(cache, sequences[i], diag, &view));
    // Raw rows are no records.
    const int64_t tokens =
        (which == KVC_KEY ? view.key_coded_end : view.value_coded_end) -
        engine.info().sink;
    if (tokens == 0)
      continue;
    // A record begins with whichever region is first in it.
    const kvc_region &begin =
        *std::min_element(view.regions + first, view.regions + last,
                          [](const kvc_region &a, const kvc_region &b) {
                            return a.base < b.base;
                          });
    rows += tokens;
    const size_t before = bytes.size();
    bytes.resize(before + size_t(tokens * heads * record));
    fetchBytes(engine.device(), begin.base, std::span(bytes).subspan(before));
  }
  list.push_back(namedTensor(name, DType::U8, {rows, heads * record}, bytes));
}
