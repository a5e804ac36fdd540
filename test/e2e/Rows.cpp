//===- Rows.cpp - An input or output of a run, as a caller has it ---------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Rows.h"

#include "kvc/Test/Floats.h"

#include <algorithm>
#include <cstring>

using namespace kvc;
using namespace kvc::test;

/// Elements between rows and between tokens of RowOrder::Padded: odd, so that
/// no row after the first is aligned.
static constexpr int64_t kHeadGap = 5, kTokenGap = 3;

static int64_t headStrideOf(RowOrder order, int64_t tokens, int64_t channels) {
  switch (order) {
  case RowOrder::Dense:
    return channels;
  case RowOrder::Padded:
    return channels + kHeadGap;
  case RowOrder::HeadMajor:
    return std::max<int64_t>(tokens, 1) * channels;
  }
  return 0;
}

static int64_t tokenStrideOf(RowOrder order, int64_t heads, int64_t channels) {
  switch (order) {
  case RowOrder::Dense:
    return heads * channels;
  case RowOrder::Padded:
    return heads * (channels + kHeadGap) + kTokenGap;
  case RowOrder::HeadMajor:
    return channels;
  }
  return 0;
}

static const FloatFormat &formatOf(spec::DType type) {
  return type == spec::DType::F32   ? kF32
         : type == spec::DType::F16 ? kF16
                                    : kBF16;
}

Rows::Rows(int64_t tokens, int64_t heads, int64_t channels, spec::DType type,
           RowOrder order)
    : tokens(tokens), heads(heads), channels(channels), type(type),
      width(spec::bitsOf(type) / 8),
      tokenStride(tokenStrideOf(order, heads, channels)),
      headStride(headStrideOf(order, tokens, channels)),
      givenToken(order == RowOrder::Dense ? 0 : tokenStride),
      givenHead(order == RowOrder::Dense ? 0 : headStride),
      buffer(tokens == 0 ? 0 : at(tokens - 1, heads - 1) + channels * width) {}

void Rows::setToken(int64_t token, std::span<const float> values) {
  const FloatFormat &format = formatOf(type);
  for (int64_t head = 0; head < heads; ++head) {
    uint8_t *to = buffer.data() + at(token, head);
    for (int64_t c = 0; c < channels; ++c) {
      float value = values[size_t(head * channels + c)];
      uint32_t bits = width == 4 ? bitsOfFloat(value) : encode(format, value);
      std::memcpy(to + c * width, &bits, size_t(width)); // Little endian.
    }
  }
}

std::vector<double> Rows::values() const {
  const FloatFormat &format = formatOf(type);
  std::vector<double> result;
  for (int64_t token = 0; token < tokens; ++token)
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t c = 0; c < channels; ++c) {
        uint32_t bits = 0;
        std::memcpy(&bits, buffer.data() + at(token, head) + c * width,
                    size_t(width));
        // Formats narrower than f32 decode finite patterns only.
        uint32_t exponent = (1u << format.exponentBits) - 1;
        bool isFinite = (bits >> format.mantissaBits & exponent) != exponent;
        if (width == 4)
          result.push_back(double(floatOfBits(bits)));
        else
          result.push_back(isFinite ? double(decode(format, bits))
                                    : double(floatOfBits(0x7fc00000)));
      }
  return result;
}

bool Rows::gapsAreUntouched() const {
  std::vector<bool> isElement(buffer.bytes().size());
  for (int64_t token = 0; token < tokens; ++token)
    for (int64_t head = 0; head < heads; ++head)
      std::fill_n(isElement.begin() + at(token, head), channels * width, true);
  for (size_t i = 0; i < isElement.size(); ++i)
    if (!isElement[i] && buffer.bytes()[i] != 0xFF)
      return false;
  return true;
}
