//===- SimArguments.cpp - What kvc sim gives a kernel ---------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/SimArguments.h"

#include "kvc/CommandLine.h"

#include "kvc/Sim/Numerics/Convert.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <random>

#include <unistd.h>

using namespace kvc;
using safetensors::DType;

namespace {

constexpr std::pair<std::string_view, DType> kTypes[] = {
    {"f64", DType::F64},   {"f32", DType::F32}, {"f16", DType::F16},
    {"bf16", DType::BF16}, {"u8", DType::U8},   {"s8", DType::I8},
    {"u16", DType::U16},   {"s16", DType::I16}, {"u32", DType::U32},
    {"s32", DType::I32},   {"u64", DType::U64}, {"s64", DType::I64}};

/// One argument on its way into a parameter.
class Argument {
public:
  Argument(std::string_view text, const sim::KernelParam &param)
      : text(text), param(param) {}

  [[noreturn]] void fail(const std::string &expected) const {
    failUse("--arg of " + inQuotes(param.name) + ": expected " + expected +
            ", got " + inQuotes(text));
  }

  /// Parts between colons; the last one takes what is left.
  std::vector<std::string> parts(size_t most) const {
    std::vector<std::string> result;
    std::string_view rest = text;
    while (result.size() + 1 < most && rest.find(':') != rest.npos) {
      result.emplace_back(rest.substr(0, rest.find(':')));
      rest.remove_prefix(rest.find(':') + 1);
    }
    result.emplace_back(rest);
    return result;
  }

  std::vector<uint8_t> bytes() const {
    const std::string digits = parts(2)[1];
    std::vector<uint8_t> result;
    for (size_t i = 0; i + 1 < digits.size(); i += 2) {
      unsigned value = 0;
      const char *first = digits.data() + i;
      const auto [end, error] = std::from_chars(first, first + 2, value, 16);
      if (error != std::errc() || end != first + 2)
        break;
      result.push_back(uint8_t(value));
    }
    if (result.size() != param.bytes || digits.size() != 2 * param.bytes)
      fail(std::to_string(param.bytes) + " bytes in hexadecimal digits");
    return result;
  }

  /// A number of the parameter's type.
  std::vector<uint8_t> value() const {
    if (param.isArray)
      fail("bytes: and " + std::to_string(2 * param.bytes) +
           " hexadecimal digits for a struct");
    uint64_t bits = 0;
    if (sim::kindOf(param.type) == sim::TypeKind::Float)
      bits = floatBits();
    else
      bits = integerBits();
    std::vector<uint8_t> result(param.bytes);
    std::memcpy(result.data(), &bits, std::min(result.size(), sizeof(bits)));
    return result;
  }

  DType type(const std::string &name) const {
    for (auto [spelling, dtype] : kTypes)
      if (spelling == name)
        return dtype;
    fail("a type of memory, f64 f32 f16 bf16 u8 s8 u16 s16 u32 s32 u64 or s64");
  }

  std::vector<int64_t> shape(std::string text) const {
    constexpr int64_t most = int64_t(1) << 40;
    std::vector<int64_t> result;
    int64_t elements = 1;
    std::replace(text.begin(), text.end(), 'x', ',');
    for (size_t begin = 0; begin <= text.size();) {
      const size_t end = std::min(text.find(',', begin), text.size());
      int64_t extent = 0;
      const auto [rest, error] =
          std::from_chars(text.data() + begin, text.data() + end, extent);
      if (error != std::errc() || rest != text.data() + end || extent < 1 ||
          extent > most / elements)
        fail("extents like 4x128, of at most 2^40 elements");
      elements *= extent;
      result.push_back(extent);
      begin = end + 1;
    }
    return result;
  }

  const std::string_view text;
  const sim::KernelParam &param;

private:
  uint64_t integerBits() const {
    const bool isNegative = text.starts_with("-");
    std::string_view digits = text.substr(isNegative ? 1 : 0);
    const bool isHex = digits.starts_with("0x");
    digits.remove_prefix(isHex ? 2 : 0);
    uint64_t magnitude = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), magnitude,
                        isHex ? 16 : 10);
    const unsigned bits = unsigned(param.bytes) * 8;
    const uint64_t most = bits >= 64 ? UINT64_MAX : (uint64_t(1) << bits) - 1;
    if (error != std::errc() || end != digits.data() + digits.size() ||
        magnitude > (isNegative ? most / 2 + 1 : most))
      fail("an integer of " + std::to_string(bits) + " bits, or memory");
    return isNegative ? 0 - magnitude : magnitude;
  }

  uint64_t floatBits() const {
    double number = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
      fail("a number");
    uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof(bits));
    if (param.type == sim::Type::F64)
      return bits;
    return sim::evaluate({.to = param.type,
                          .from = sim::Type::F64,
                          .word = sim::RoundingWord::Number,
                          .fromRegister = 64},
                         bits, 0);
  }
};

/// Values of memory, one after the other.
class RandomValues {
public:
  RandomValues(DType type, uint64_t seed) : type(type), generator(seed) {}

  void fill(std::vector<uint8_t> &bytes) {
    const auto size = size_t(safetensors::bytesOf(type));
    for (size_t at = 0; at + size <= bytes.size(); at += size) {
      const uint64_t bits = next();
      std::memcpy(bytes.data() + at, &bits, size);
    }
  }

private:
  uint64_t next() {
    const uint64_t random = generator();
    // Multiples of 2^-23 in [-1, 1), exact in f32.
    const float number = float(random >> 40) * 0x1p-23f - 1.0f;
    uint32_t code = 0;
    std::memcpy(&code, &number, sizeof(code));
    auto narrowed = [&](sim::Type to) {
      return sim::evaluate(
          {.to = to, .from = sim::Type::F32, .word = sim::RoundingWord::Number},
          code, 0);
    };
    switch (type) {
    case DType::F64: {
      const double wide = number;
      uint64_t bits = 0;
      std::memcpy(&bits, &wide, sizeof(bits));
      return bits;
    }
    case DType::F32:
      return code;
    case DType::F16:
      return narrowed(sim::Type::F16);
    case DType::BF16:
      return narrowed(sim::Type::BF16);
    default:
      return random;
    }
  }

  DType type;
  std::mt19937_64 generator;
};

uint64_t seedOf(const Argument &argument, const std::string &text) {
  uint64_t seed = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size())
    argument.fail("a seed, an integer of 64 bits");
  return seed;
}

/// FILE and NAME of "tensor:FILE:NAME".
std::optional<std::pair<std::string, std::string>>
tensorOf(std::string_view text) {
  constexpr std::string_view kind = "tensor:";
  const size_t last = text.rfind(':');
  if (!text.starts_with(kind) || last < kind.size())
    return std::nullopt;
  return std::pair(std::string(text.substr(kind.size(), last - kind.size())),
                   std::string(text.substr(last + 1)));
}

/// Memory is given beyond what there is, and the process ends when it is used.
void checkMemory(const Argument &argument, uint64_t bytes) {
  const uint64_t has =
      uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE));
  if (bytes > has)
    throw Failure("memory: expected enough for --arg of " +
                  inQuotes(argument.param.name) + ", " + std::to_string(bytes) +
                  " bytes, got " + std::to_string(has));
}

/// Makes the memory that an argument asks for; nothing if it is a value.
std::optional<SimBuffer> makeBuffer(const Argument &argument,
                                    sim::Memory &memory, uint64_t number) {
  const bool isZeros = argument.text.starts_with("zeros:");
  const bool isRandom = argument.text.starts_with("random:");
  const bool isTensor = argument.text.starts_with("tensor:");
  if (!isZeros && !isRandom && !isTensor)
    return std::nullopt;
  if (argument.param.bytes != 8 || argument.param.isArray)
    argument.fail("a value of " + std::to_string(argument.param.bytes) +
                  " bytes, which is no pointer");
  SimBuffer buffer;
  buffer.name = argument.param.name;
  std::vector<uint8_t> bytes;
  if (isTensor) {
    const auto named = tensorOf(argument.text);
    if (!named)
      argument.fail("tensor:FILE:NAME");
    const auto &[file, name] = *named;
    auto read = safetensors::read(file);
    if (!read)
      throw Failure(read.error().str());
    const safetensors::Tensor *tensor = read->find(name);
    if (!tensor)
      throw Failure(file + ": expected a tensor " + inQuotes(name) +
                    ", got none of that name");
    buffer.dtype = tensor->dtype;
    buffer.shape = tensor->shape;
    const auto *data = reinterpret_cast<const uint8_t *>(tensor->data.data());
    bytes.assign(data, data + tensor->data.size());
  } else {
    const std::vector<std::string> parts = argument.parts(4);
    if (parts.size() < 3 || (isZeros && parts.size() > 3))
      argument.fail(isZeros ? "zeros:TYPE:SHAPE" : "random:TYPE:SHAPE[:SEED]");
    buffer.dtype = argument.type(parts[1]);
    buffer.shape = argument.shape(parts[2]);
    int64_t elements = 1;
    for (int64_t extent : buffer.shape)
      elements *= extent;
    const auto size = size_t(elements * safetensors::bytesOf(buffer.dtype));
    checkMemory(argument, size);
    bytes.resize(size);
    if (isRandom) {
      const uint64_t seed =
          parts.size() > 3 ? seedOf(argument, parts[3]) : number;
      RandomValues(buffer.dtype, seed).fill(bytes);
    }
  }
  buffer.address = memory.allocate(bytes.size(), buffer.name);
  if (!memory.write(buffer.address, bytes.data(), bytes.size()))
    throw Failure("--arg of " + inQuotes(argument.param.name) +
                  ": expected memory for " + std::to_string(bytes.size()) +
                  " bytes, got none");
  return buffer;
}

} // namespace

SimArguments kvc::simArguments(const std::vector<std::string> &texts,
                               const std::vector<sim::KernelParam> &params,
                               sim::Memory &memory) {
  if (texts.size() != params.size()) {
    std::vector<std::string> names;
    for (const sim::KernelParam &param : params)
      names.emplace_back(std::string(sim::nameOf(param.type)) + " " +
                         std::string(param.name));
    failUse("--arg: expected " + std::to_string(params.size()) +
            " for the kernel's parameters" +
            (names.empty() ? "" : " (" + join(names) + ")") + ", got " +
            std::to_string(texts.size()));
  }
  SimArguments result;
  for (size_t i = 0; i < params.size(); ++i) {
    const Argument argument(texts[i], params[i]);
    std::vector<uint8_t> bytes(params[i].bytes);
    if (std::optional<SimBuffer> buffer = makeBuffer(argument, memory, i)) {
      std::memcpy(bytes.data(), &buffer->address, sizeof(buffer->address));
      result.buffers.push_back(std::move(*buffer));
    } else {
      bytes = argument.text.starts_with("bytes:") ? argument.bytes()
                                                  : argument.value();
    }
    result.params.resize(params[i].offset);
    result.params.insert(result.params.end(), bytes.begin(), bytes.end());
  }
  return result;
}

std::vector<std::string> kvc::filesOf(const std::vector<std::string> &texts) {
  std::vector<std::string> files;
  for (const std::string &text : texts)
    if (auto named = tensorOf(text))
      files.push_back(std::move(named->first));
  return files;
}

sim::Extent3 kvc::parseExtent(const std::string &option,
                              const std::string &text) {
  uint32_t extents[3] = {1, 1, 1};
  size_t count = 0;
  for (size_t begin = 0; begin <= text.size() && count <= 3; ++count) {
    const size_t end = std::min(text.find(',', begin), text.size());
    if (count == 3)
      failUse(option + ": expected one to three extents, got " +
              inQuotes(text));
    extents[count] = uint32_t(
        parseInteger(option, text.substr(begin, end - begin), 1, INT32_MAX));
    begin = end + 1;
  }
  return {extents[0], extents[1], extents[2]};
}
