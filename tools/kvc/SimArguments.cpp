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
#include <tuple>

#include <unistd.h>

using namespace kvc;
using safetensors::DType;

namespace {

constexpr std::pair<std::string_view, DType> kTypes[] = {
    {"u8", DType::U8},     {"i8", DType::I8},   {"u16", DType::U16},
    {"i16", DType::I16},   {"u32", DType::U32}, {"i32", DType::I32},
    {"u64", DType::U64},   {"i64", DType::I64}, {"f16", DType::F16},
    {"bf16", DType::BF16}, {"f32", DType::F32}, {"f64", DType::F64}};

std::optional<DType> typeNamed(std::string_view name) {
  for (auto [spelling, dtype] : kTypes)
    if (spelling == name)
      return dtype;
  return std::nullopt;
}

/// FILE and NAME of "FILE:NAME"; names may have colons, and so may folders.
std::optional<std::pair<std::string, std::string>>
tensorOf(std::string_view text) {
  constexpr std::string_view ending = ".safetensors:";
  const size_t known = text.find(ending);
  const size_t colon =
      known == text.npos ? text.rfind(':') : known + ending.size() - 1;
  if (colon == text.npos || colon == 0 || colon + 1 == text.size())
    return std::nullopt;
  return std::pair(std::string(text.substr(0, colon)),
                   std::string(text.substr(colon + 1)));
}

/// What an argument begins with.
enum class Kind : uint8_t {
  Number, ///< Nothing: of the parameter's type.
  Scalar,
  Bytes,
  Out,
  Zeros,
  Random,
  Tensor,
  InOut
};

struct Parts {
  Kind kind = Kind::Number;
  std::string_view rest; ///< Behind the kind.
  DType type = DType::F32;
};

Parts partsOf(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == text.npos)
    return {Kind::Number, text};
  const std::string_view first = text.substr(0, colon);
  const std::string_view rest = text.substr(colon + 1);
  constexpr std::pair<std::string_view, Kind> kinds[] = {
      {"bytes", Kind::Bytes},
      {"out", Kind::Out},
      {"zeros", Kind::Zeros},
      {"random", Kind::Random},
      {"inout", Kind::InOut}};
  for (auto [name, kind] : kinds)
    if (first == name)
      return {kind, rest};
  if (const auto type = typeNamed(first))
    return {Kind::Scalar, rest, *type};
  return {Kind::Tensor, text};
}

bool isSigned(DType type) {
  return type == DType::I8 || type == DType::I16 || type == DType::I32 ||
         type == DType::I64;
}

bool parses(std::string_view text, float &number) {
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}
bool parses(std::string_view text, double &number) {
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

uint64_t narrowed(sim::Type to, sim::Type from, int bits, uint64_t code) {
  return sim::evaluate({.to = to,
                        .from = from,
                        .word = sim::RoundingWord::Number,
                        .fromRegister = bits},
                       code, 0);
}

/// One argument on its way into a parameter.
class Argument {
public:
  Argument(std::string_view text, const sim::KernelParam &param)
      : text(text), param(param), parts(partsOf(text)) {}

  [[noreturn]] void fail(const std::string &expected) const {
    failUse("--arg of " + inQuotes(param.name) + ": expected " + expected +
            ", got " + inQuotes(text));
  }

  std::vector<uint8_t> bytes() const {
    const std::string_view digits = parts.rest;
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

  /// A number of the type that it names, or of the parameter's.
  std::vector<uint8_t> value() const {
    if (param.isArray)
      fail("bytes: and " + std::to_string(2 * param.bytes) +
           " hexadecimal digits for a struct");
    const bool isTyped = parts.kind == Kind::Scalar;
    if (isTyped && uint64_t(safetensors::bytesOf(parts.type)) != param.bytes)
      fail("a type of " + std::to_string(param.bytes) + " bytes");
    const sim::Type type = isTyped ? sim::Type::None : param.type;
    uint64_t bits = 0;
    if (isTyped ? isFloat(parts.type)
                : sim::kindOf(type) == sim::TypeKind::Float)
      bits = floatBits(isTyped ? parts.type : floatOf(type));
    else
      bits = isTyped ? integerBits(!isSigned(parts.type), isSigned(parts.type))
                     : integerBits(true, true);
    std::vector<uint8_t> result(param.bytes);
    std::memcpy(result.data(), &bits, std::min(result.size(), sizeof(bits)));
    return result;
  }

  /// N of random:N:TYPE[ELEMENTS], if there is one.
  std::optional<uint64_t> seed() const {
    const size_t colon = parts.rest.find(':');
    if (parts.kind != Kind::Random || colon == parts.rest.npos)
      return std::nullopt;
    uint64_t number = 0;
    const char *first = parts.rest.data(), *last = first + colon;
    const auto [end, error] = std::from_chars(first, last, number);
    if (error != std::errc() || end != last)
      fail("random:SEED:TYPE[ELEMENTS] with a seed of 64 bits");
    return number;
  }

  /// TYPE[ELEMENTS] of memory.
  std::pair<DType, int64_t> memory() const {
    constexpr int64_t most = int64_t(1) << 40;
    const std::string_view rest =
        seed() ? parts.rest.substr(parts.rest.find(':') + 1) : parts.rest;
    const size_t open = rest.find('[');
    const std::optional<DType> type = typeNamed(rest.substr(0, open));
    if (!type)
      fail("a type of memory, u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 or "
           "f64, and [ELEMENTS]");
    int64_t elements = 0;
    const char *last = rest.data() + rest.size();
    const char *first = rest.data() + std::min(open, rest.size() - 1) + 1;
    const auto [end, error] = std::from_chars(first, last, elements);
    if (open == rest.npos || error != std::errc() || elements < 0 ||
        elements > most || last - end != 1 || *end != ']')
      fail("elements like f32[1024], at most 2^40");
    return {*type, elements};
  }

  const std::string_view text;
  const sim::KernelParam &param;
  const Parts parts;

private:
  static DType floatOf(sim::Type type) {
    return type == sim::Type::F64    ? DType::F64
           : type == sim::Type::F16  ? DType::F16
           : type == sim::Type::BF16 ? DType::BF16
                                     : DType::F32;
  }

  /// As wide as the parameter.
  uint64_t integerBits(bool takesUnsigned, bool takesSigned) const {
    const bool isNegative = takesSigned && parts.rest.starts_with("-");
    std::string_view digits = parts.rest.substr(isNegative ? 1 : 0);
    const bool isHex = digits.starts_with("0x");
    digits.remove_prefix(isHex ? 2 : 0);
    uint64_t magnitude = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), magnitude,
                        isHex ? 16 : 10);
    const unsigned bits = unsigned(param.bytes) * 8;
    const uint64_t half = uint64_t(1) << (bits - 1);
    const uint64_t most = isNegative      ? half
                          : takesUnsigned ? half - 1 + half
                                          : half - 1;
    if (error != std::errc() || end != digits.data() + digits.size() ||
        magnitude > most)
      fail("an integer of " + std::to_string(bits) + " bits, or memory");
    return isNegative ? 0 - magnitude : magnitude;
  }

  uint64_t floatBits(DType type) const {
    if (type == DType::F32) {
      float number = 0;
      if (!parses(parts.rest, number))
        fail("a number");
      uint32_t bits = 0;
      std::memcpy(&bits, &number, sizeof(bits));
      return bits;
    }
    double number = 0;
    if (!parses(parts.rest, number))
      fail("a number");
    uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof(bits));
    if (type == DType::F64)
      return bits;
    return narrowed(type == DType::F16 ? sim::Type::F16 : sim::Type::BF16,
                    sim::Type::F64, 64, bits);
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
      return narrowed(sim::Type::F16, sim::Type::F32, 32, code);
    case DType::BF16:
      return narrowed(sim::Type::BF16, sim::Type::F32, 32, code);
    default:
      return random;
    }
  }

  DType type;
  std::mt19937_64 generator;
};

/// Memory is given beyond what there is, and the process ends when it is used.
void checkMemory(const Argument &argument, uint64_t bytes) {
  const uint64_t has =
      uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE));
  if (bytes > has)
    throw Failure("memory: expected enough for --arg of " +
                  inQuotes(argument.param.name) + ", " + std::to_string(bytes) +
                  " bytes, got " + std::to_string(has));
}

/// The bytes of a file's tensor, whose type and number of elements become the
/// buffer's.
std::vector<uint8_t> readTensor(const Argument &argument, SimBuffer &buffer) {
  const auto named = tensorOf(argument.parts.rest);
  if (!named)
    argument.fail("FILE:NAME of a tensor");
  const auto &[file, name] = *named;
  auto read = safetensors::read(file);
  if (!read)
    throw Failure(read.error().str());
  const safetensors::Tensor *tensor = read->find(name);
  if (!tensor)
    throw Failure(file + ": expected a tensor " + inQuotes(name) +
                  ", got none of that name");
  buffer.dtype = tensor->dtype;
  buffer.elements = safetensors::elementsOf(*tensor);
  const auto *data = reinterpret_cast<const uint8_t *>(tensor->data.data());
  return {data, data + tensor->data.size()};
}

/// Makes the memory that argument `number` asks for; nothing if it is a value.
std::optional<SimBuffer> makeBuffer(const Argument &argument,
                                    sim::Memory &memory, uint64_t number) {
  const Kind kind = argument.parts.kind;
  if (kind == Kind::Number || kind == Kind::Scalar || kind == Kind::Bytes)
    return std::nullopt;
  if (argument.param.bytes != 8 || argument.param.isArray)
    argument.fail("a value of " + std::to_string(argument.param.bytes) +
                  " bytes, which is no pointer");
  SimBuffer buffer;
  buffer.param = argument.param.name;
  buffer.argument = number;
  buffer.isReturned = kind != Kind::Tensor;
  std::vector<uint8_t> bytes;
  if (kind == Kind::Tensor || kind == Kind::InOut) {
    bytes = readTensor(argument, buffer);
  } else {
    std::tie(buffer.dtype, buffer.elements) = argument.memory();
    const auto size =
        size_t(buffer.elements * safetensors::bytesOf(buffer.dtype));
    checkMemory(argument, size);
    bytes.resize(size);
    if (kind == Kind::Random)
      RandomValues(buffer.dtype, argument.seed().value_or(number)).fill(bytes);
  }
  buffer.address = memory.allocate(bytes.size(), buffer.param);
  if (buffer.address == 0)
    throw Failure("--arg of " + inQuotes(argument.param.name) +
                  ": expected memory for " + std::to_string(bytes.size()) +
                  " bytes, got none");
  // The device has yet to write what is only for its results.
  if (kind != Kind::Out)
    memory.write(buffer.address, bytes.data(), bytes.size());
  return buffer;
}

} // namespace

std::string kvc::paramText(const sim::KernelParam &param) {
  return std::string(sim::nameOf(param.type)) +
         (param.isArray ? "[" + std::to_string(param.bytes) + " bytes]" : "") +
         " " + std::string(param.name);
}

SimArguments kvc::simArguments(const std::vector<std::string> &texts,
                               const std::vector<sim::KernelParam> &params,
                               sim::Memory &memory) {
  if (texts.size() != params.size()) {
    std::vector<std::string> names;
    for (const sim::KernelParam &param : params)
      names.push_back(paramText(param));
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
      bytes = argument.parts.kind == Kind::Bytes ? argument.bytes()
                                                 : argument.value();
    }
    result.params.resize(params[i].offset);
    result.params.insert(result.params.end(), bytes.begin(), bytes.end());
  }
  return result;
}

std::vector<std::string> kvc::filesOf(const std::vector<std::string> &texts) {
  std::vector<std::string> files;
  for (const std::string &text : texts) {
    const Parts parts = partsOf(text);
    if (parts.kind != Kind::Tensor && parts.kind != Kind::InOut)
      continue;
    if (auto named = tensorOf(parts.rest))
      files.push_back(std::move(named->first));
  }
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
