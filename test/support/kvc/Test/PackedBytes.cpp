//===- PackedBytes.cpp - The bytes that a cache must hold -----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Test/PackedBytes.h"

#include "kvc/Test/Block.h"
#include "kvc/Test/Floats.h"

#include <algorithm>
#include <cstdio>

using namespace kvc;
using namespace kvc::test;
using spec::DType;
using spec::PartScheme;

using Bytes = std::vector<uint8_t>;

//===----------------------------------------------------------------------===//
// Pieces: what stands at one place, whatever the order
//===----------------------------------------------------------------------===//

/// Little endian.
static void put(Bytes &to, uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    to.push_back(uint8_t(value >> (8 * i)));
}

static void putFloat(Bytes &to, DType type, float value) {
  switch (type) {
  case DType::F32:
    return put(to, bitsOfFloat(value), 4);
  case DType::F16:
    return put(to, encode(kF16, value), 2);
  case DType::BF16:
    return put(to, encode(kBF16, value), 2);
  case DType::E4M3:
    return put(to, encode(kE4M3, value), 1);
  case DType::E8M0:
    return put(to, encodeE8M0(floorLog2(value)), 1);
  }
}

/// The code as stored: symmetric ints below 8 bits are shifted to unsigned.
static uint8_t storedCode(const PartScheme &part, uint8_t code) {
  if (hasSignedCodes(part) && part.codec.bits < 8)
    return uint8_t(int8_t(code) + (1 << (part.codec.bits - 1)));
  return code;
}

namespace {

/// The pieces of one part.
class Part {
public:
  Part(const PartScheme &scheme, const PartData &data, int64_t heads)
      : scheme(scheme), data(data), heads(heads) {}

  const PartScheme &scheme;
  const PartData &data;

  uint8_t code(int64_t row, int64_t head, int64_t c) const {
    return storedCode(
        scheme, data.codes[at(row, head) * size_t(data.channels) + size_t(c)]);
  }

  /// The codes of one token and head: least significant bit first, channel
  /// after channel, padded to a byte; or raw values.
  void putCodes(Bytes &to, int64_t row, int64_t head) const {
    if (scheme.codec.isRaw()) {
      for (int64_t c = 0; c < data.channels; ++c)
        putFloat(
            to, scheme.codec.raw,
            data.values[at(row, head) * size_t(data.channels) + size_t(c)]);
      return;
    }
    unsigned width = scheme.codec.bits, filled = 0;
    for (int64_t c = 0; c < data.channels; ++c)
      for (unsigned bit = 0; bit < width; ++bit, ++filled) {
        if (filled % 8 == 0)
          to.push_back(0);
        to.back() |= uint8_t((code(row, head, c) >> bit & 1) << filled % 8);
      }
  }

  /// Static scales are inputs and lie nowhere.
  bool hasScales() const { return scheme.scale && !scheme.scale->isStatic; }
  bool hasZeros() const { return !data.zero.empty(); }

  void putScale(Bytes &to, int64_t row, int64_t head, int64_t block) const {
    putFloat(to, scheme.scale->dtype,
             data.scale[at(row, head) * size_t(data.blocks) + size_t(block)]);
  }
  void putZero(Bytes &to, int64_t row, int64_t head, int64_t block) const {
    putFloat(to, scheme.scale->dtype,
             data.zero[at(row, head) * size_t(data.blocks) + size_t(block)]);
  }
  void putScales(Bytes &to, int64_t row, int64_t head) const {
    for (int64_t block = 0; block < data.blocks; ++block)
      putScale(to, row, head, block);
  }
  void putZeros(Bytes &to, int64_t row, int64_t head) const {
    for (int64_t block = 0; block < data.blocks; ++block)
      putZero(to, row, head, block);
  }
  void putOutlierIndices(Bytes &to, int64_t row, int64_t head) const {
    for (int64_t i = 0; i < data.outliers; ++i)
      put(to, data.outlierIndex[outlierAt(row, head, i)], 2);
  }
  void putOutlierValues(Bytes &to, int64_t row, int64_t head) const {
    for (int64_t i = 0; i < data.outliers; ++i)
      put(to, data.outlierValue[outlierAt(row, head, i)], 2);
  }

private:
  size_t at(int64_t row, int64_t head) const {
    return size_t(row * heads + head);
  }
  size_t outlierAt(int64_t row, int64_t head, int64_t i) const {
    return at(row, head) * size_t(data.outliers) + size_t(i);
  }

  int64_t heads;
};

} // namespace

static std::vector<Part> partsOf(const spec::Spec &spec, spec::Tensor tensor,
                                 const TensorData &data) {
  const spec::Scheme &scheme = *spec::schemeOf(spec, tensor);
  std::vector<Part> parts;
  for (size_t i = 0; i < scheme.parts.size(); ++i)
    parts.emplace_back(scheme.parts[i], data.parts[i], data.heads);
  return parts;
}

BodyRows kvc::test::bodyRows(const spec::Spec &spec, spec::Tensor tensor,
                             std::span<const int64_t> cu, size_t sequence) {
  Body body = bodyOf(*spec::schemeOf(spec, tensor), spec.segments,
                     cu[sequence + 1] - cu[sequence]);
  return {cu[sequence] + body.begin, cu[sequence] + body.end};
}

//===----------------------------------------------------------------------===//
// Records: orders ggml and token
//===----------------------------------------------------------------------===//

static constexpr int64_t kGgmlBlock = 32;

/// channels/32 blocks of scale, min, fifth bits, codes.
static void putGgmlRecord(Bytes &to, const Part &part, int64_t row,
                          int64_t head) {
  if (part.scheme.codec.isRaw())
    return part.putCodes(to, row, head);
  for (int64_t block = 0; block < part.data.blocks; ++block) {
    auto code = [&](int64_t j) {
      return part.code(row, head, block * kGgmlBlock + j);
    };
    part.putScale(to, row, head, block);
    if (part.hasZeros())
      part.putZero(to, row, head, block);
    if (part.scheme.codec.bits == 8) {
      for (int64_t j = 0; j < kGgmlBlock; ++j)
        to.push_back(code(j));
      continue;
    }
    if (part.scheme.codec.bits == 5) {
      uint32_t fifth = 0;
      for (int64_t j = 0; j < kGgmlBlock; ++j)
        fifth |= uint32_t(code(j) >> 4 & 1) << j;
      put(to, fifth, 4);
    }
    for (int64_t j = 0; j < kGgmlBlock / 2; ++j)
      to.push_back(
          uint8_t((code(j) & 15) | (code(j + kGgmlBlock / 2) & 15) << 4));
  }
}

/// Codes, scales, zeros, outlier indices, outlier values.
static void putTokenRecord(Bytes &to, const Part &part, int64_t row,
                           int64_t head) {
  part.putCodes(to, row, head);
  if (part.hasScales())
    part.putScales(to, row, head);
  if (part.hasZeros())
    part.putZeros(to, row, head);
  part.putOutlierIndices(to, row, head);
  part.putOutlierValues(to, row, head);
}

Bytes kvc::test::packedRecord(const spec::Spec &spec, spec::Tensor tensor,
                              const TensorData &data, int64_t row,
                              int64_t head) {
  Bytes record;
  for (const Part &part : partsOf(spec, tensor, data))
    if (spec.layout.order == spec::Order::Ggml)
      putGgmlRecord(record, part, row, head);
    else
      putTokenRecord(record, part, row, head);
  return record;
}

Bytes kvc::test::packedRecords(const spec::Spec &spec, spec::Tensor tensor,
                               const TensorData &data,
                               std::span<const int64_t> cu, int64_t &stored) {
  Bytes result;
  stored = 0;
  for (size_t i = 0; i + 1 < cu.size(); ++i) {
    BodyRows body = bodyRows(spec, tensor, cu, i);
    for (int64_t row = body.begin; row < body.end; ++row, ++stored)
      for (int64_t head = 0; head < data.heads; ++head) {
        Bytes record = packedRecord(spec, tensor, data, row, head);
        result.insert(result.end(), record.begin(), record.end());
      }
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Pages: orders nhd and hnd
//===----------------------------------------------------------------------===//

static void putKnown(PackedBytes &page, const Bytes &bytes) {
  page.bytes.insert(page.bytes.end(), bytes.begin(), bytes.end());
  page.known.resize(page.bytes.size(), 0xff);
}

static void putUnknown(PackedBytes &page, size_t bytes) {
  page.bytes.resize(page.bytes.size() + bytes, 0);
  page.known.resize(page.bytes.size(), 0);
}

/// Each region starts at a multiple of 16 bytes.
static void alignRegion(PackedBytes &page) {
  putUnknown(page, (16 - page.bytes.size() % 16) % 16);
}

namespace {

/// The tokens that one page has room for and those it holds.
struct PageRows {
  int64_t capacity;     ///< Tokens.
  int64_t begin, count; ///< Rows of the tensor.
};

/// Lays out [step of tokens][head][piece], or the head first.
class RegionWriter {
public:
  RegionWriter(PackedBytes &page, const PageRows &rows, int64_t heads,
               bool headFirst)
      : page(page), rows(rows), heads(heads), headFirst(headFirst) {}

  /// `pieceBytes` bytes for every `tokens` tokens, which `put` appends from the
  /// first of the rows that share it.
  template <typename Put>
  void write(int64_t tokens, size_t pieceBytes, Put put) {
    int64_t steps = (rows.capacity + tokens - 1) / tokens;
    auto piece = [&](int64_t step, int64_t head) {
      if (step * tokens >= rows.count)
        return putUnknown(page, pieceBytes);
      Bytes bytes;
      put(bytes, rows.begin + step * tokens, head);
      putKnown(page, bytes);
    };
    int64_t outer = headFirst ? heads : steps;
    int64_t inner = headFirst ? steps : heads;
    for (int64_t i = 0; i < outer; ++i)
      for (int64_t j = 0; j < inner; ++j)
        headFirst ? piece(j, i) : piece(i, j);
    alignRegion(page);
  }

private:
  PackedBytes &page;
  const PageRows &rows;
  int64_t heads;
  bool headFirst;
};

} // namespace

static size_t bytesOf(DType type) { return spec::bitsOf(type) / 8; }

/// Codes, scales, zeros, outlier indices, outlier values of one part.
static void putRows(PackedBytes &page, const Part &part, const PageRows &rows,
                    int64_t heads, bool headFirst) {
  RegionWriter writer(page, rows, heads, headFirst);
  const PartScheme &scheme = part.scheme;
  unsigned width =
      scheme.codec.isRaw() ? spec::bitsOf(scheme.codec.raw) : scheme.codec.bits;
  writer.write(1, (size_t(part.data.channels) * width + 7) / 8,
               [&](Bytes &to, int64_t row, int64_t head) {
                 part.putCodes(to, row, head);
               });
  if (part.hasScales()) {
    size_t bytes = size_t(part.data.blocks) * bytesOf(scheme.scale->dtype);
    writer.write(scheme.scale->tokens, bytes,
                 [&](Bytes &to, int64_t row, int64_t head) {
                   part.putScales(to, row, head);
                 });
    if (part.hasZeros())
      writer.write(scheme.scale->tokens, bytes,
                   [&](Bytes &to, int64_t row, int64_t head) {
                     part.putZeros(to, row, head);
                   });
  }
  if (part.data.outliers) {
    size_t bytes = size_t(part.data.outliers) * 2;
    writer.write(1, bytes, [&](Bytes &to, int64_t row, int64_t head) {
      part.putOutlierIndices(to, row, head);
    });
    writer.write(1, bytes, [&](Bytes &to, int64_t row, int64_t head) {
      part.putOutlierValues(to, row, head);
    });
  }
}

static PackedBytes packedSlice(const spec::Spec &spec, spec::Tensor tensor,
                               const TensorData &data, const PageRows &rows) {
  PackedBytes page;
  spec::Order order = spec.layout.order;
  if (order == spec::Order::Ggml || order == spec::Order::Token) {
    size_t record = 0;
    if (rows.count > 0)
      record = packedRecord(spec, tensor, data, rows.begin, 0).size();
    for (int64_t t = 0; t < rows.count; ++t)
      for (int64_t head = 0; head < data.heads; ++head)
        putKnown(page, packedRecord(spec, tensor, data, rows.begin + t, head));
    putUnknown(page,
               size_t((rows.capacity - rows.count) * data.heads) * record);
    return page;
  }
  for (const Part &part : partsOf(spec, tensor, data))
    putRows(page, part, rows, data.heads, order == spec::Order::Hnd);
  return page;
}

static PageRows rowsOfPage(BodyRows body, int64_t capacity, int64_t page) {
  int64_t begin = std::min(body.begin + page * capacity, body.end);
  return {capacity, begin, std::min(capacity, body.end - begin)};
}

PackedBytes kvc::test::packedPage(const spec::Spec &spec, spec::Tensor tensor,
                                  const TensorData &data, BodyRows body,
                                  int64_t page) {
  return packedSlice(spec, tensor, data,
                     rowsOfPage(body, spec.layout.page, page));
}

PackedBytes kvc::test::packedInterleavedPage(const spec::Spec &spec,
                                             const TensorData &k,
                                             BodyRows kBody,
                                             const TensorData &v,
                                             BodyRows vBody, int64_t page) {
  PackedBytes result = packedPage(spec, spec::Tensor::Key, k, kBody, page);
  PackedBytes value = packedPage(spec, spec::Tensor::Value, v, vBody, page);
  result.bytes.insert(result.bytes.end(), value.bytes.begin(),
                      value.bytes.end());
  result.known.insert(result.known.end(), value.known.begin(),
                      value.known.end());
  return result;
}

PackedBytes kvc::test::packedContiguous(const spec::Spec &spec,
                                        spec::Tensor tensor,
                                        const TensorData &data, BodyRows body) {
  int64_t capacity = (body.end - body.begin + 63) / 64 * 64;
  return packedSlice(spec, tensor, data, rowsOfPage(body, capacity, 0));
}

std::string
PackedBytes::firstDifference(std::span<const uint8_t> actual) const {
  if (actual.size() != bytes.size())
    return "expected " + std::to_string(bytes.size()) + " bytes, got " +
           std::to_string(actual.size());
  for (size_t i = 0; i < bytes.size(); ++i)
    if ((actual[i] ^ bytes[i]) & known[i]) {
      char text[64];
      std::snprintf(text, sizeof(text), "byte %zu: expected %02x, got %02x", i,
                    bytes[i], actual[i] & known[i]);
      return text;
    }
  return "";
}
