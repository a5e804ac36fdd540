//===- Inputs.cpp - A batch in a safetensors file -------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Inputs.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstring>

namespace kvc {

namespace {

/// An element's bits, and those of the type's infinity and of its sign.
uint32_t bitsOf(const std::byte *element, kvc_dtype dtype) {
  uint32_t bits = 0;
  std::memcpy(&bits, element, size_t(bytesOf(dtype)));
  return bits;
}
uint32_t infinityOf(kvc_dtype dtype) {
  return dtype == KVC_F32 ? 0x7F800000u : dtype == KVC_F16 ? 0x7C00u : 0x7F80u;
}
uint32_t signOf(kvc_dtype dtype) {
  return dtype == KVC_F32 ? 0x80000000u : 0x8000u;
}

/// convert, but NaN stays NaN and infinity infinity.
Values convertAny(std::span<const std::byte> data, kvc_dtype from,
                  kvc_dtype to) {
  const auto step = size_t(bytesOf(from));
  std::vector<std::byte> finite(data.begin(), data.end());
  std::vector<std::pair<size_t, uint32_t>> others; ///< Index, bits in `to`.
  for (size_t at = 0; at < data.size(); at += step) {
    const uint32_t bits = bitsOf(data.data() + at, from);
    const uint32_t magnitude = bits & (signOf(from) - 1);
    if (magnitude < infinityOf(from))
      continue;
    // A quiet NaN has the fraction's highest bit.
    const uint32_t quiet = (infinityOf(to) >> 1) & ~infinityOf(to);
    others.emplace_back(at / step,
                        infinityOf(to) |
                            (magnitude > infinityOf(from) ? 1 | quiet : 0) |
                            (bits & signOf(from) ? signOf(to) : 0));
    std::memset(finite.data() + at, 0, step);
  }
  Values values = convert("", finite.data(), from,
                          static_cast<int64_t>(data.size() / step), to);
  for (const auto &[index, bits] : others)
    std::memcpy(values.bytes.data() + index * size_t(bytesOf(to)), &bits,
                size_t(bytesOf(to)));
  return values;
}

class Reader {
public:
  Reader(const std::string &path, const safetensors::File &file)
      : path(path), file(file) {}

  [[noreturn]] void fail(const std::string &tensor,
                         const std::string &message) const {
    throw Failure(path + ": tensor \"" + tensor + "\": " + message);
  }

  bool has(const std::string &name) const { return file.find(name) != nullptr; }

  const safetensors::Tensor &find(const std::string &name) const {
    if (const safetensors::Tensor *tensor = file.find(name))
      return *tensor;
    fail(name, "is missing, expected it for this spec");
  }

  /// A list of batch + 1 offsets, non-decreasing from 0.
  std::vector<int32_t> starts(const std::string &name) const {
    const safetensors::Tensor &tensor = find(name);
    if (tensor.dtype != safetensors::DType::I32 || tensor.shape.size() != 1 ||
        tensor.shape[0] < 1)
      fail(name, "is " + describe(tensor) + ", expected i32 [batch + 1]");
    std::vector<int32_t> values(tensor.shape[0]);
    std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
    if (values[0] != 0)
      fail(name, "begins with " + std::to_string(values[0]) + ", expected 0");
    for (size_t i = 1; i < values.size(); ++i)
      if (values[i] < values[i - 1])
        fail(name, "falls from " + std::to_string(values[i - 1]) + " to " +
                       std::to_string(values[i]) + " at index " +
                       std::to_string(i) + ", expected non-decreasing offsets");
    return values;
  }

  Values rows(const std::string &name, int64_t tokens, int64_t heads,
              int64_t channels, kvc_dtype to,
              NonFinite nonFinite = NonFinite::Refused) const {
    const safetensors::Tensor &tensor = find(name);
    const int64_t expected[] = {tokens, heads, channels};
    if (!isFloat(tensor) || !std::ranges::equal(tensor.shape, expected))
      fail(name, "is " + describe(tensor) + ", expected f32, f16 or bf16 " +
                     safetensors::shapeText(expected));
    const kvc_dtype from = typeOf(tensor);
    // Foreign files need not align their tensors.
    const std::vector<std::byte> aligned(tensor.data.begin(),
                                         tensor.data.end());
    if (nonFinite == NonFinite::Kept)
      return convertAny(aligned, from, to);
    try {
      return convert(name, aligned.data(), from, tokens * heads * channels, to);
    } catch (const Failure &failure) {
      throw Failure(path + ": " + failure.what());
    }
  }

  /// Heads and channels of a tensor [tokens, heads, channels].
  std::array<int64_t, 2> headsOf(const std::string &name) const {
    const safetensors::Tensor &tensor = find(name);
    if (tensor.shape.size() != 3 || !isFloat(tensor))
      fail(name, "is " + describe(tensor) +
                     ", expected f32, f16 or bf16 [tokens, heads, channels]");
    return {tensor.shape[1], tensor.shape[2]};
  }

  kvc_dtype typeOf(const std::string &name) const { return typeOf(find(name)); }

  /// f32 of this shape.
  std::vector<float> floats(const std::string &name,
                            const std::vector<int64_t> &shape) const {
    const safetensors::Tensor &tensor = find(name);
    if (tensor.dtype != safetensors::DType::F32 || tensor.shape != shape)
      fail(name, "is " + describe(tensor) + ", expected f32 " +
                     safetensors::shapeText(shape));
    std::vector<float> values(tensor.data.size() / sizeof(float));
    if (!values.empty())
      std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
    return values;
  }

  /// f32 [count]; finite, but -inf where `minusInfinity`.
  std::vector<float> perHead(const std::string &name, int64_t count,
                             bool minusInfinity) const {
    std::vector<float> values = floats(name, {count});
    for (int64_t i = 0; i < count; ++i)
      if (!std::isfinite(values[i]) && !(minusInfinity && values[i] < 0))
        fail(name, "has " + std::to_string(values[i]) + " at index " +
                       std::to_string(i) + ", expected a finite number" +
                       (minusInfinity ? " or -inf" : ""));
    return values;
  }

private:
  static bool isFloat(const safetensors::Tensor &tensor) {
    return tensor.dtype == safetensors::DType::F32 ||
           tensor.dtype == safetensors::DType::F16 ||
           tensor.dtype == safetensors::DType::BF16;
  }
  /// Of a tensor of floats.
  static kvc_dtype typeOf(const safetensors::Tensor &tensor) {
    return tensor.dtype == safetensors::DType::F32   ? KVC_F32
           : tensor.dtype == safetensors::DType::F16 ? KVC_F16
                                                     : KVC_BF16;
  }
  static std::string describe(const safetensors::Tensor &tensor) {
    std::string type(safetensors::nameOf(tensor.dtype));
    std::ranges::transform(type, type.begin(),
                           [](unsigned char c) { return std::tolower(c); });
    return type + " " + safetensors::shapeText(tensor.shape);
  }

  const std::string &path;
  const safetensors::File &file;
};

} // namespace

static void readSchemeValues(const Reader &reader, const kvc_spec *spec,
                             BatchInputs &inputs) {
  for (const kvc_input_info &input : schemeInputsOf(spec)) {
    if (!reader.has(input.name))
      reader.fail(input.name, "is missing, expected it for this spec: kvc "
                              "calibrate makes it, --static takes its file");
    inputs.schemeValues.push_back(
        {input.name,
         reader.floats(input.name, {input.kv_heads, input.columns})});
  }
}

BatchInputs readInputs(const std::string &path, const kvc_spec *specHandle,
                       const std::string &schemeFile, NonFinite nonFinite) {
  const kvc_spec_info spec = specInfoOf(specHandle);
  safetensors::Expected<safetensors::File> file = safetensors::read(path);
  if (!file)
    throw Failure(file.error().str());
  const Reader reader(path, *file);
  BatchInputs inputs;
  inputs.place = path;
  inputs.queryStarts = reader.starts("cu_seqlens_q");
  inputs.keyStarts = reader.starts("cu_seqlens_kv");
  if (inputs.queryStarts.size() != inputs.keyStarts.size())
    reader.fail("cu_seqlens_kv", "has " +
                                     std::to_string(inputs.keyStarts.size()) +
                                     " offsets, expected " +
                                     std::to_string(inputs.queryStarts.size()) +
                                     " as cu_seqlens_q has");
  const int64_t queries = inputs.queries(), keys = inputs.keys();
  inputs.q = reader.rows("q", queries, spec.q_heads, spec.head_dim, spec.query);
  inputs.k = reader.rows("k", keys, spec.kv_heads, spec.head_dim, spec.query,
                         nonFinite);
  if (!spec.value_is_key)
    inputs.v = reader.rows("v", keys, spec.kv_heads, spec.value_dim, spec.query,
                           nonFinite);
  if (spec.alibi)
    inputs.alibiSlopes = reader.perHead("alibi_slopes", spec.q_heads, false);
  if (spec.sink_logits)
    inputs.sinkLogits = reader.perHead("sink_logits", spec.q_heads, true);
  if (schemeFile.empty()) {
    readSchemeValues(reader, specHandle, inputs);
    return inputs;
  }
  safetensors::Expected<safetensors::File> other =
      safetensors::read(schemeFile);
  if (!other)
    throw Failure(other.error().str());
  readSchemeValues(Reader(schemeFile, *other), specHandle, inputs);
  inputs.place = schemeFile;
  return inputs;
}

AttentionShape shapeOfInputs(const std::string &path) {
  safetensors::Expected<safetensors::File> file = safetensors::read(path);
  if (!file)
    throw Failure(file.error().str());
  const Reader reader(path, *file);
  AttentionShape shape;
  const auto [heads, channels] = reader.headsOf("q");
  shape.qHeads = heads;
  shape.headDim = channels;
  shape.kvHeads = reader.headsOf("k")[0];
  shape.valueDim = file->find("v") ? reader.headsOf("v")[1] : 0;
  shape.query = reader.typeOf("q");
  return shape;
}

safetensors::Tensor namedTensor(std::string name, safetensors::DType dtype,
                                std::vector<int64_t> shape,
                                std::span<const std::byte> bytes) {
  return {std::move(name), dtype, std::move(shape), bytes};
}

safetensors::DType fileTypeOf(kvc_dtype dtype) {
  switch (dtype) {
  case KVC_F32:
    return safetensors::DType::F32;
  case KVC_F16:
    return safetensors::DType::F16;
  default:
    return safetensors::DType::BF16;
  }
}

} // namespace kvc
