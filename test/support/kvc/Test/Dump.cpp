//===- Dump.cpp - What --dump-cache must hold -----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Test/Dump.h"

#include "kvc/Test/Block.h"
#include "kvc/Test/Floats.h"
#include "kvc/Test/PackedBytes.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>

using namespace kvc;
using namespace kvc::test;
using FileType = safetensors::DType;

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

std::vector<bool> kvc::test::shownRows(const spec::Spec &spec,
                                       spec::Tensor tensor,
                                       const Inputs &inputs,
                                       const TensorData &data) {
  std::vector<bool> shown(size_t(data.tokens), true);
  if (spec.layout.kind != spec::LayoutKind::Ring)
    return shown;
  // A value that is the key is shown where the key is.
  const spec::Scheme *own = spec::schemeOf(spec, tensor);
  const spec::Scheme &scheme = own ? *own : spec.key;
  int64_t n = scheme.blockTokens();
  for (size_t i = 0; i + 1 < inputs.cuKv.size(); ++i) {
    int64_t length = inputs.cuKv[i + 1] - inputs.cuKv[i];
    int64_t queries = inputs.cuQ[i + 1] - inputs.cuQ[i];
    int64_t first = length - (*spec.attention.window + queries - 1);
    if (first > spec.segments.sink)
      first -= (first - spec.segments.sink) % n;
    for (int64_t t = 0; t < length; ++t) {
      size_t row = size_t(inputs.cuKv[i] + t);
      shown[row] = data.isRaw[row] || t >= first;
    }
  }
  return shown;
}

namespace {

/// Appends the tensors of K or of V.
class Dumper {
public:
  Dumper(std::vector<DumpTensor> &to, std::string prefix,
         const TensorData &data, std::vector<bool> shown)
      : to(to), prefix(std::move(prefix)), data(data), shown(std::move(shown)) {
  }

  /// Every element belongs to one token; those of tokens not shown become 0.
  template <typename T>
  void add(const std::string &name, FileType type, std::vector<int64_t> shape,
           const std::vector<T> &values) {
    std::vector<T> visible = values;
    size_t perToken = data.tokens ? values.size() / size_t(data.tokens) : 0;
    for (size_t i = 0; i < visible.size(); ++i)
      if (!shown[i / perToken])
        visible[i] = T(0);
    addAsIs(name, type, std::move(shape), visible);
  }

  template <typename T>
  void addAsIs(const std::string &name, FileType type,
               std::vector<int64_t> shape, const std::vector<T> &values) {
    auto bytes = std::as_bytes(std::span(values));
    to.push_back({name, type, std::move(shape), {bytes.begin(), bytes.end()}});
  }

  void addRows() {
    add(prefix, FileType::F32, {data.tokens, data.heads, data.channels},
        data.x);
  }

  void addScheme(const spec::Scheme &scheme) {
    if (scheme.isRaw())
      return;
    add(prefix + "_raw", FileType::U8, {data.tokens}, data.isRaw);
    for (size_t i = 0; i < scheme.parts.size(); ++i) {
      std::string name =
          prefix + (scheme.explicitParts ? std::to_string(i) : "");
      addPart(name, scheme.parts[i], data.parts[i]);
    }
  }

private:
  void addPart(const std::string &name, const spec::PartScheme &scheme,
               const PartData &part) {
    if (scheme.codec.isRaw())
      return;
    auto shape = [&](int64_t last) {
      return std::vector<int64_t>{data.tokens, data.heads, last};
    };
    add(name + "_codes", hasSignedCodes(scheme) ? FileType::I8 : FileType::U8,
        shape(part.channels), part.codes);
    add(name + "_scale", FileType::F32, shape(part.blocks), part.scale);
    if (scheme.zero != spec::Zero::None)
      add(name + "_zero", FileType::F32, shape(part.blocks), part.zero);
    if (scheme.outliers) {
      add(name + "_outlier_index", FileType::U16, shape(part.outliers),
          part.outlierIndex);
      add(name + "_outlier_value", FileType::F16, shape(part.outliers),
          part.outlierValue);
    }
  }

  std::vector<DumpTensor> &to;
  std::string prefix;
  const TensorData &data;
  std::vector<bool> shown;
};

} // namespace

std::vector<DumpTensor> kvc::test::dumpTensors(const spec::Spec &spec,
                                               const Inputs &inputs,
                                               const Answer &answer) {
  std::vector<DumpTensor> result;
  bool hasRecords = spec.layout.kind == spec::LayoutKind::Contiguous &&
                    (spec.layout.order == spec::Order::Ggml ||
                     spec.layout.order == spec::Order::Token);
  for (spec::Tensor tensor : {spec::Tensor::Key, spec::Tensor::Value}) {
    bool isKey = tensor == spec::Tensor::Key;
    const TensorData &data = isKey ? answer.k : answer.v;
    Dumper dumper(result, isKey ? "k" : "v", data,
                  shownRows(spec, tensor, inputs, data));
    dumper.addRows();
    const spec::Scheme *scheme = spec::schemeOf(spec, tensor);
    if (!scheme)
      continue;
    dumper.addScheme(*scheme);
    if (hasRecords) {
      int64_t stored = 0;
      std::vector<uint8_t> records =
          packedRecords(spec, tensor, data, inputs.cuKv, stored);
      int64_t width = stored ? int64_t(records.size()) / stored : 0;
      dumper.addAsIs(isKey ? "k_pages" : "v_pages", FileType::U8,
                     {stored, width}, records);
    }
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

/// Distance in units of the last place of f32; both zeros are one value.
static int64_t ulpsBetween(float a, float b) {
  auto ordered = [](float x) {
    int64_t bits = bitsOfFloat(std::fabs(x));
    return std::signbit(x) ? -bits : bits;
  };
  return std::llabs(ordered(a) - ordered(b));
}

static std::string at(size_t i, const std::string &expected,
                      const std::string &got) {
  return "element " + std::to_string(i) + ": expected " + expected + ", got " +
         got;
}

/// "" or the first difference of two k or v.
static std::string compareRows(const std::vector<float> &expected,
                               const std::vector<float> &got, int64_t channels,
                               bool transformed) {
  for (size_t row = 0; row < expected.size(); row += size_t(channels)) {
    float largest = 0;
    for (size_t i = row; i < row + size_t(channels); ++i)
      largest = std::max(largest, std::fabs(expected[i]));
    for (size_t i = row; i < row + size_t(channels); ++i) {
      bool near = ulpsBetween(expected[i], got[i]) <= 1 ||
                  (transformed && std::fabs(double(expected[i]) - got[i]) <=
                                      0x1p-19 * largest);
      if (!near)
        return at(i, std::to_string(expected[i]), std::to_string(got[i]));
    }
  }
  return "";
}

static std::string hex(const std::byte *bytes, int64_t count) {
  static const char digits[] = "0123456789abcdef";
  std::string result = "0x";
  for (int64_t i = count; i-- > 0;) {
    result += digits[unsigned(bytes[i]) >> 4];
    result += digits[unsigned(bytes[i]) & 15];
  }
  return result;
}

static std::string compareBytes(const safetensors::Tensor &expected,
                                const safetensors::Tensor &got) {
  int64_t width = safetensors::bytesOf(expected.dtype);
  for (int64_t i = 0; i < safetensors::elementsOf(expected); ++i) {
    const std::byte *a = expected.data.data() + i * width;
    const std::byte *b = got.data.data() + i * width;
    if (!std::equal(a, a + width, b))
      return at(size_t(i), hex(a, width), hex(b, width));
  }
  return "";
}

/// Rotated or smoothed rows are compared less strictly.
static bool isTransformed(const spec::Scheme &scheme) {
  return std::any_of(scheme.parts.begin(), scheme.parts.end(),
                     [](const spec::PartScheme &part) {
                       return part.rotate != 0 || part.smooth;
                     });
}

static std::string compare(const spec::Spec &spec,
                           const safetensors::Tensor &expected,
                           const safetensors::Tensor *got) {
  if (!got)
    return "missing";
  if (got->dtype != expected.dtype)
    return "expected " + std::string(safetensors::nameOf(expected.dtype)) +
           ", got " + std::string(safetensors::nameOf(got->dtype));
  if (got->shape != expected.shape)
    return "another shape";
  if (expected.name != "k" && expected.name != "v")
    return compareBytes(expected, *got);
  const spec::Scheme &scheme =
      expected.name == "v" && spec.value ? *spec.value : spec.key;
  return compareRows(floatsOf(expected), floatsOf(*got), expected.shape.back(),
                     isTransformed(scheme));
}

std::vector<std::string> kvc::test::compareDump(const spec::Spec &spec,
                                                const Inputs &inputs,
                                                const Answer &answer,
                                                const safetensors::File &file) {
  std::vector<std::string> differences;
  std::vector<DumpTensor> expected = dumpTensors(spec, inputs, answer);
  for (const DumpTensor &tensor : expected) {
    std::string difference =
        compare(spec, tensor.view(), file.find(tensor.name));
    if (!difference.empty())
      differences.push_back(tensor.name + ": " + difference);
  }
  for (const safetensors::Tensor &tensor : file.tensors())
    if (tensor.name != "out" && tensor.name != "lse" &&
        std::none_of(
            expected.begin(), expected.end(),
            [&](const DumpTensor &t) { return t.name == tensor.name; }))
      differences.push_back(tensor.name + ": not expected");
  return differences;
}
