//===- Expect.cpp - What a run must have stored and computed --------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Expect.h"

#include "kvc/Test/Floats.h"

#include <cstring>

using namespace kvc;
using namespace kvc::test;

using Lines = std::vector<std::string>;

static std::string show(uint8_t code) { return std::to_string(code); }
static std::string show(float value) {
  char text[48];
  std::snprintf(text, sizeof(text), "%.9g (0x%08x)", double(value),
                bitsOfFloat(value));
  return text;
}

/// Compares [tokens][heads][columns] to the bit.
template <typename T>
static void compareBits(const std::string &name, int64_t heads, int64_t columns,
                        const std::vector<T> &expected,
                        const std::vector<T> &actual, Lines &wrong) {
  if (expected.size() != actual.size()) {
    wrong.push_back(name + ": expected " + std::to_string(expected.size()) +
                    " elements, got " + std::to_string(actual.size()));
    return;
  }
  size_t count = 0, first = 0;
  for (size_t i = expected.size(); i-- > 0;)
    if (std::memcmp(&expected[i], &actual[i], sizeof(T)) != 0) {
      ++count;
      first = i;
    }
  if (count == 0)
    return;
  const auto row = int64_t(first) / columns;
  wrong.push_back(name + ": " + std::to_string(count) + " of " +
                  std::to_string(expected.size()) + " differ, first at row " +
                  std::to_string(row / heads) + ", head " +
                  std::to_string(row % heads) + ", column " +
                  std::to_string(int64_t(first) % columns) + ": expected " +
                  show(expected[first]) + ", got " + show(actual[first]));
}

/// "auto" is "nhd" where pages are small; otherwise its bytes are not
/// documented.
static std::optional<spec::Order> documentedOrder(const spec::Layout &layout) {
  if (layout.kind == spec::LayoutKind::Ring)
    return std::nullopt; // Where a ring keeps a token is not.
  if (layout.order != spec::Order::Auto)
    return layout.order;
  if (layout.kind == spec::LayoutKind::Paged && layout.page < 16)
    return spec::Order::Nhd;
  return std::nullopt;
}

/// A part's channels of x'.
static std::vector<float> channelsOf(const TensorData &data,
                                     const spec::PartScheme &part) {
  std::vector<float> x;
  for (size_t row = 0; row < data.x.size(); row += size_t(data.channels))
    x.insert(x.end(), data.x.begin() + ptrdiff_t(row) + part.begin,
             data.x.begin() + ptrdiff_t(row) + part.end);
  return x;
}

/// Rows that are not kept read as 0.
template <typename T>
static void clearLost(const std::vector<bool> &kept, std::vector<T> &values) {
  for (size_t i = 0; i < values.size(); ++i)
    if (!kept[i / (values.size() / kept.size())])
      values[i] = T(0);
}

Lines kvc::test::wrongStored(const spec::Spec &spec, const Session &session,
                             const Engine &engine, const Answer &expected) {
  Lines wrong;
  for (spec::Tensor tensor : {spec::Tensor::Key, spec::Tensor::Value}) {
    const spec::Scheme *scheme = spec::schemeOf(spec, tensor);
    if (!scheme)
      continue;
    const bool isKey = tensor == spec::Tensor::Key;
    TensorData data = isKey ? expected.k : expected.v;
    const std::vector<bool> kept = session.keptRows(tensor, data);
    clearLost(kept, data.x);
    for (size_t i = 0; i < scheme->parts.size(); ++i) {
      PartData &part = data.parts[i];
      clearLost(kept, part.codes);
      clearLost(kept, part.scale);
      clearLost(kept, part.zero);
      clearLost(kept, part.outlierIndex);
      clearLost(kept, part.outlierValue);
      const std::string prefix =
          (isKey ? "k" : "v") +
          (scheme->parts.size() > 1 ? std::to_string(i) : std::string());
      Unpacked actual = session.unpack(engine, tensor, i, data);
      if (!scheme->parts[i].codec.isRaw())
        compareBits(prefix + "_codes", data.heads, part.channels, part.codes,
                    actual.codes, wrong);
      compareBits(prefix + "_scale", data.heads, part.blocks, part.scale,
                  actual.scales, wrong);
      compareBits(prefix + "_zero", data.heads, part.blocks, part.zero,
                  actual.zeros, wrong);
      std::vector<float> values;
      for (uint16_t bits : part.outlierValue)
        values.push_back(decode(kF16, bits));
      compareBits(prefix + "_outlier_index", data.heads, part.outliers,
                  std::vector<float>(part.outlierIndex.begin(),
                                     part.outlierIndex.end()),
                  actual.outlierIndices, wrong);
      compareBits(prefix + "_outlier_value", data.heads, part.outliers, values,
                  actual.outlierValues, wrong);
      compareBits(prefix, data.heads, part.channels,
                  channelsOf(data, scheme->parts[i]), actual.values, wrong);
    }
  }
  if (std::optional<spec::Order> order = documentedOrder(spec.layout)) {
    Lines bytes = session.wrongBytes(expected, *order);
    wrong.insert(wrong.end(), bytes.begin(), bytes.end());
  }
  return wrong;
}

Lines kvc::test::wrongAttended(const spec::Spec &spec, const Inputs &inputs,
                               const Attended &attended,
                               const Answer &expected) {
  Lines wrong;
  auto add = [&](const BoundCheck &check) {
    if (!check.ok())
      wrong.push_back(std::to_string(check.worst) + " of the bound, " +
                      check.where);
  };
  add(checkOut(spec, expected.reference, inputs.cuQ, attended.out));
  add(checkLse(spec, expected.reference, inputs.cuQ, attended.lse));
  if (!attended.gapsAreUntouched)
    wrong.push_back("out, lse: bytes between rows were written to");
  return wrong;
}
