//===- Inputs.cpp - The tensors that kvc run takes ------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Test/Inputs.h"

#include "kvc/Test/Floats.h"

#include <algorithm>
#include <cstring>

using namespace kvc;
using namespace kvc::test;
using FileType = safetensors::DType;
using safetensors::Error;
using safetensors::File;

static const FloatFormat &queryFormat(spec::DType type) {
  return type == spec::DType::F16    ? kF16
         : type == spec::DType::BF16 ? kBF16
                                     : kF32;
}

/// One element of any type, from bytes that need not be aligned.
template <typename T>
static T elementAt(const safetensors::Tensor &tensor, size_t i) {
  T value;
  std::memcpy(&value, tensor.data.data() + i * sizeof(T), sizeof(T));
  return value;
}

std::vector<float> kvc::test::floatsOf(const safetensors::Tensor &tensor) {
  std::vector<float> result;
  for (size_t i = 0; i < size_t(safetensors::elementsOf(tensor)); ++i)
    switch (tensor.dtype) {
    case FileType::F32:
      result.push_back(elementAt<float>(tensor, i));
      break;
    case FileType::F16:
      result.push_back(decode(kF16, elementAt<uint16_t>(tensor, i)));
      break;
    case FileType::BF16:
      result.push_back(decode(kBF16, elementAt<uint16_t>(tensor, i)));
      break;
    default:
      return {};
    }
  return result;
}

std::vector<int64_t> kvc::test::integersOf(const safetensors::Tensor &tensor) {
  std::vector<int64_t> result;
  for (size_t i = 0; i < size_t(safetensors::elementsOf(tensor)); ++i)
    switch (tensor.dtype) {
    case FileType::U8:
      result.push_back(elementAt<uint8_t>(tensor, i));
      break;
    case FileType::I8:
      result.push_back(elementAt<int8_t>(tensor, i));
      break;
    case FileType::U16:
      result.push_back(elementAt<uint16_t>(tensor, i));
      break;
    case FileType::I32:
      result.push_back(elementAt<int32_t>(tensor, i));
      break;
    default:
      return {};
    }
  return result;
}

const std::vector<float> &kvc::test::valuesOf(const spec::SchemeInput &input,
                                              const Inputs &inputs) {
  const SchemeInputs &of =
      input.tensor == spec::Tensor::Key ? inputs.key : inputs.value;
  switch (input.kind) {
  case spec::InputKind::Scale:
    return of.parts[input.part].scale;
  case spec::InputKind::Table:
    return of.parts[input.part].table;
  case spec::InputKind::Smooth:
    break;
  }
  return of.smooth;
}

//===----------------------------------------------------------------------===//
// Names and shapes: SPEC.md sections 1 and 4
//===----------------------------------------------------------------------===//

namespace {

using Shape = std::vector<int64_t>;

/// One input beside q, k and v.
struct OptionalInput {
  std::string name;
  Shape shape;
  std::vector<float> *values;
};

/// Where the optional inputs of a spec stand in `inputs`.
std::vector<OptionalInput> optionalInputs(const spec::Spec &spec,
                                          Inputs &inputs) {
  std::vector<OptionalInput> result;
  const spec::Attention &attention = spec.attention;
  if (attention.alibi)
    result.push_back({"alibi_slopes", {attention.qHeads}, &inputs.slopes});
  if (attention.sinkLogits)
    result.push_back({"sink_logits", {attention.qHeads}, &inputs.sinks});

  auto add = [&](const std::string &tensor, const spec::Scheme &scheme,
                 int64_t channels, SchemeInputs &into) {
    into.parts.resize(scheme.parts.size());
    bool smooth = false;
    for (size_t i = 0; i < scheme.parts.size(); ++i) {
      const spec::PartScheme &part = scheme.parts[i];
      std::string prefix =
          tensor + (scheme.explicitParts ? std::to_string(i) : "");
      smooth |= part.smooth;
      if (part.scale && part.scale->isStatic) {
        int64_t width = part.scale->channels == spec::kAll
                            ? part.channels()
                            : part.scale->channels;
        result.push_back({prefix + "_scale",
                          {attention.kvHeads, part.channels() / width},
                          &into.parts[i].scale});
      }
      if (part.codec.kind == spec::CodecKind::Lut && part.codec.table.empty())
        result.push_back({prefix + "_table",
                          {attention.kvHeads, int64_t(1) << part.codec.bits},
                          &into.parts[i].table});
    }
    if (smooth)
      result.push_back(
          {tensor + "_smooth", {attention.kvHeads, channels}, &into.smooth});
  };
  add("key", spec.key, attention.headDim, inputs.key);
  if (spec.value)
    add("value", *spec.value, attention.valueDim, inputs.value);
  return result;
}

/// Rows of q, k or v.
struct MainInput {
  const char *name;
  int64_t heads, channels;
  std::vector<float> *values;
};

std::vector<MainInput> mainInputs(const spec::Spec &spec, Inputs &inputs) {
  const spec::Attention &attention = spec.attention;
  std::vector<MainInput> result = {
      {"q", attention.qHeads, attention.headDim, &inputs.q},
      {"k", attention.kvHeads, attention.headDim, &inputs.k}};
  if (spec.value)
    result.push_back({"v", attention.kvHeads, attention.valueDim, &inputs.v});
  return result;
}

} // namespace

safetensors::Expected<Inputs> kvc::test::loadInputs(const spec::Spec &spec,
                                                    const File &file) {
  auto missing = [](const std::string &name) {
    return Error{"inputs", name, std::nullopt,
                 "expected the tensor with the spec's shape"};
  };
  Inputs inputs;
  for (auto [name, into] : {std::pair("cu_seqlens_q", &inputs.cuQ),
                            std::pair("cu_seqlens_kv", &inputs.cuKv)}) {
    const safetensors::Tensor *tensor = file.find(name);
    if (!tensor || tensor->dtype != FileType::I32 ||
        tensor->shape.size() != 1 || tensor->shape[0] < 1)
      return missing(name);
    *into = integersOf(*tensor);
  }
  const FloatFormat &format = queryFormat(spec.io.query);
  for (const MainInput &input : mainInputs(spec, inputs)) {
    int64_t rows = *input.name == 'q' ? inputs.cuQ.back() : inputs.cuKv.back();
    const safetensors::Tensor *tensor = file.find(input.name);
    if (!tensor || tensor->shape != Shape{rows, input.heads, input.channels})
      return missing(input.name);
    *input.values = floatsOf(*tensor);
    for (float &x : *input.values)
      x = roundTo(format, x);
  }
  for (const OptionalInput &input : optionalInputs(spec, inputs)) {
    const safetensors::Tensor *tensor = file.find(input.name);
    if (!tensor || tensor->dtype != FileType::F32 ||
        tensor->shape != input.shape)
      return missing(input.name);
    *input.values = floatsOf(*tensor);
  }
  return inputs;
}

std::optional<Error> kvc::test::saveInputs(const spec::Spec &spec,
                                           const Inputs &given,
                                           const std::string &path) {
  Inputs inputs = given;
  std::vector<std::vector<std::byte>> storage;
  std::vector<safetensors::Tensor> tensors;
  auto add = [&](const std::string &name, FileType type, Shape shape,
                 std::vector<std::byte> bytes) {
    storage.push_back(std::move(bytes));
    tensors.push_back({name, type, std::move(shape), storage.back()});
  };
  auto asBytes = [](const auto &values) {
    auto bytes = std::as_bytes(std::span(values));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };

  FileType type = spec.io.query == spec::DType::F16    ? FileType::F16
                  : spec.io.query == spec::DType::BF16 ? FileType::BF16
                                                       : FileType::F32;
  for (const MainInput &input : mainInputs(spec, inputs)) {
    std::vector<uint16_t> narrow;
    if (type != FileType::F32)
      for (float x : *input.values)
        narrow.push_back(uint16_t(encode(queryFormat(spec.io.query), x)));
    int64_t rows = *input.name == 'q' ? inputs.cuQ.back() : inputs.cuKv.back();
    add(input.name, type, {rows, input.heads, input.channels},
        type == FileType::F32 ? asBytes(*input.values) : asBytes(narrow));
  }
  for (auto [name, cu] : {std::pair("cu_seqlens_q", &inputs.cuQ),
                          std::pair("cu_seqlens_kv", &inputs.cuKv)}) {
    std::vector<int32_t> narrow(cu->begin(), cu->end());
    add(name, FileType::I32, {int64_t(narrow.size())}, asBytes(narrow));
  }
  for (const OptionalInput &input : optionalInputs(spec, inputs))
    add(input.name, FileType::F32, input.shape, asBytes(*input.values));
  return safetensors::write(path, tensors);
}

//===----------------------------------------------------------------------===//
// Random ones
//===----------------------------------------------------------------------===//

std::string_view kvc::test::nameOf(InputMode mode) {
  switch (mode) {
  case InputMode::Normal:
    return "normal";
  case InputMode::AllEqual:
    return "all-equal";
  case InputMode::HugeLogit:
    return "huge-logit";
  case InputMode::LargestCodes:
    return "largest-codes";
  case InputMode::Zeros:
    return "zeros";
  case InputMode::ConstantRows:
    return "constant-rows";
  case InputMode::Subnormals:
    return "subnormals";
  case InputMode::OutlierChannels:
    return "outlier-channels";
  }
  return "";
}

/// splitmix64.
uint64_t Random::next() {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

double Random::normal() {
  double sum = -6;
  for (int i = 0; i < 12; ++i)
    sum += uniform();
  return sum;
}

namespace {

/// Fills one of q, k, v in one mode.
class Filler {
public:
  Filler(const FloatFormat &format, InputMode mode, Random &random)
      : format(format), mode(mode), random(random),
        constant(mode == InputMode::LargestCodes ? 1.0 : random.normal()) {}

  /// Rows of `channels`.
  std::vector<float> fill(int64_t rows, int64_t channels) {
    std::vector<double> sizes(size_t(channels), 1.0);
    if (mode == InputMode::OutlierChannels)
      for (int64_t i = 0; i < 1 + channels / 32; ++i)
        sizes[size_t(random.below(channels))] = 100;
    // A value of zero in each 32 channels: then the others have the largest
    // code of schemes with a zero too.
    if (mode == InputMode::LargestCodes)
      for (int64_t c = 0; c < channels; c += 32)
        sizes[size_t(c)] = 0;
    std::vector<float> result;
    for (int64_t i = 0; i < rows * channels; ++i)
      result.push_back(roundTo(format, value() * sizes[size_t(i % channels)]));
    return result;
  }

private:
  double value() {
    switch (mode) {
    case InputMode::AllEqual:
    case InputMode::LargestCodes:
      return constant;
    case InputMode::Zeros:
      switch (random.below(8)) {
      case 0:
        return random.normal();
      case 1:
      case 2:
        return -0.0;
      default:
        return 0.0;
      }
    case InputMode::Subnormals:
      // 1e-37 where the format has that: the scales of codes are subnormal.
      return random.normal() * std::max(format.smallestPower() * 20, 0x1p-123);
    default:
      return random.normal();
    }
  }

  const FloatFormat &format;
  InputMode mode;
  Random &random;
  double constant;
};

/// Makes one key of every sequence a multiple of its first query.
void addHugeLogits(const spec::Spec &spec, Inputs &inputs, Random &random) {
  const spec::Attention &attention = spec.attention;
  const FloatFormat &format = queryFormat(spec.io.query);
  for (size_t i = 0; i + 1 < inputs.cuQ.size(); ++i) {
    int64_t keys = inputs.cuKv[i + 1] - inputs.cuKv[i];
    if (keys == 0 || inputs.cuQ[i] == inputs.cuQ[i + 1])
      continue;
    int64_t row = inputs.cuKv[i] + random.below(keys);
    for (int64_t h = 0; h < attention.kvHeads; ++h)
      for (int64_t c = 0; c < attention.headDim; ++c) {
        float q = inputs.q[size_t(
            (inputs.cuQ[i] * attention.qHeads + h * attention.group()) *
                attention.headDim +
            c)];
        inputs
            .k[size_t((row * attention.kvHeads + h) * attention.headDim + c)] =
            roundTo(format, 20.0 * q);
      }
  }
}

/// Gives all channels of a row the value of its first.
void makeRowsConstant(std::vector<float> &values, int64_t channels) {
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = values[i - i % size_t(channels)];
}

/// Scales, tables and the rest: positive, of the size that suits unit values.
void fillOptional(const spec::Spec &spec, Inputs &inputs, Random &random) {
  for (const OptionalInput &input : optionalInputs(spec, inputs)) {
    int64_t count = 1;
    for (int64_t extent : input.shape)
      count *= extent;
    bool isScale = input.name.ends_with("_scale");
    bool isSigned =
        input.name.ends_with("_table") || input.name == "sink_logits";
    for (int64_t i = 0; i < count; ++i)
      input.values->push_back(float(isSigned  ? random.normal()
                                    : isScale ? 0.02 + 0.05 * random.uniform()
                                              : 0.25 + random.uniform()));
  }
}

} // namespace

Inputs kvc::test::randomInputs(const spec::Spec &spec,
                               std::span<const Lengths> lengths, InputMode mode,
                               uint64_t seed) {
  Random random(seed);
  Inputs inputs;
  inputs.cuQ = inputs.cuKv = {0};
  for (const Lengths &sequence : lengths) {
    inputs.cuQ.push_back(inputs.cuQ.back() + sequence.queries);
    inputs.cuKv.push_back(inputs.cuKv.back() + sequence.keys);
  }
  const FloatFormat &format = queryFormat(spec.io.query);
  for (const MainInput &input : mainInputs(spec, inputs)) {
    int64_t rows = *input.name == 'q' ? inputs.cuQ.back() : inputs.cuKv.back();
    *input.values =
        Filler(format, mode, random).fill(rows * input.heads, input.channels);
  }
  if (mode == InputMode::HugeLogit)
    addHugeLogits(spec, inputs, random);
  if (mode == InputMode::ConstantRows) {
    makeRowsConstant(inputs.k, spec.attention.headDim);
    makeRowsConstant(inputs.v, spec.attention.valueDim);
  }
  fillOptional(spec, inputs, random);
  return inputs;
}

//===----------------------------------------------------------------------===//
// From inputs to the answer
//===----------------------------------------------------------------------===//

/// Channels [begin, end) of every row.
static std::vector<float> slice(const TensorData &data, int64_t begin,
                                int64_t end) {
  std::vector<float> result;
  for (size_t row = 0; row < size_t(data.tokens * data.heads); ++row)
    for (int64_t c = begin; c < end; ++c)
      result.push_back(data.x[row * size_t(data.channels) + size_t(c)]);
  return result;
}

Answer kvc::test::answer(const spec::Spec &spec, const Inputs &inputs,
                         const ScoreRegion &score) {
  const spec::Attention &attention = spec.attention;
  Answer result;
  result.k = quantise(spec.key, spec.segments, attention.kvHeads,
                      attention.headDim, inputs.k, inputs.cuKv, inputs.key);
  if (attention.valueIsKey) {
    auto [begin, end] = *attention.valueIsKey;
    result.v.tokens = result.k.tokens;
    result.v.heads = result.k.heads;
    result.v.channels = end - begin;
    result.v.isRaw = result.k.isRaw;
    result.v.x = slice(result.k, begin, end);
  } else {
    result.v =
        quantise(*spec.value, spec.segments, attention.kvHeads,
                 attention.valueDim, inputs.v, inputs.cuKv, inputs.value);
  }
  result.reference = attend(attention, spec.key.rope,
                            {inputs.q, result.k.x, result.v.x, inputs.cuQ,
                             inputs.cuKv, inputs.slopes, inputs.sinks, score});
  return result;
}
