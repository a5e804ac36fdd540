//===- InspectTensors.cpp - What a safetensors file holds -----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/InspectTensors.h"

#include "kvc/CommandLine.h"
#include "kvc/Json.h"
#include "kvc/Run/Floats.h"
#include "kvc/Table.h"

#include <bit>
#include <cmath>
#include <cstring>

using namespace kvc;
using safetensors::DType;

namespace {

/// Least and largest finite number, and how many are not finite.
struct Range {
  double low = INFINITY, high = -INFINITY;
  int64_t notFinite = 0;

  void add(double value) {
    if (!std::isfinite(value)) {
      ++notFinite;
      return;
    }
    low = std::fmin(low, value);
    high = std::fmax(high, value);
  }
  bool empty() const { return low > high; }
};

/// Elements as numbers; files need not align them.
template <typename T, typename Convert>
Range rangeOf(const safetensors::Tensor &tensor, Convert convert) {
  Range range;
  for (size_t i = 0; i + sizeof(T) <= tensor.data.size(); i += sizeof(T)) {
    T element;
    std::memcpy(&element, tensor.data.data() + i, sizeof(T));
    range.add(convert(element));
  }
  return range;
}

template <typename T>
Range rangeOf(const safetensors::Tensor &tensor) {
  return rangeOf<T>(tensor, [](T value) { return static_cast<double>(value); });
}

Range rangeOf(const safetensors::Tensor &tensor) {
  switch (tensor.dtype) {
  case DType::F64:
    return rangeOf<double>(tensor);
  case DType::F32:
    return rangeOf<float>(tensor);
  case DType::F16:
    return rangeOf<uint16_t>(tensor, [](uint16_t bits) {
      return static_cast<double>(std::bit_cast<float>(widenF16(bits)));
    });
  case DType::BF16:
    return rangeOf<uint16_t>(tensor, [](uint16_t bits) {
      return static_cast<double>(std::bit_cast<float>(uint32_t(bits) << 16));
    });
  case DType::U8:
  case DType::BOOL:
    return rangeOf<uint8_t>(tensor);
  case DType::I8:
    return rangeOf<int8_t>(tensor);
  case DType::U16:
    return rangeOf<uint16_t>(tensor);
  case DType::I16:
    return rangeOf<int16_t>(tensor);
  case DType::U32:
    return rangeOf<uint32_t>(tensor);
  case DType::I32:
    return rangeOf<int32_t>(tensor);
  case DType::U64:
    return rangeOf<uint64_t>(tensor);
  case DType::I64:
    return rangeOf<int64_t>(tensor);
  }
  return {};
}

std::string numberText(DType type, double value) {
  return isFloat(type) ? significant(value) : fixed(value, 0);
}

std::string asText(const safetensors::File &file) {
  Table table({{"tensor", Align::Left},
               {"type", Align::Left},
               {"shape", Align::Left},
               {"bytes"},
               {"min"},
               {"max"},
               {"not finite"}});
  size_t bytes = 0;
  for (const safetensors::Tensor &tensor : file.tensors()) {
    const Range range = rangeOf(tensor);
    table.add({onOneLine(tensor.name),
               std::string(safetensors::nameOf(tensor.dtype)),
               safetensors::shapeText(tensor.shape),
               std::to_string(tensor.data.size()),
               range.empty() ? "-" : numberText(tensor.dtype, range.low),
               range.empty() ? "-" : numberText(tensor.dtype, range.high),
               isFloat(tensor.dtype) ? std::to_string(range.notFinite) : "-"});
    bytes += tensor.data.size();
  }
  std::string text = table.str() + std::to_string(file.tensors().size()) +
                     " tensors, " + std::to_string(bytes) + " bytes\n";
  if (file.metadata().empty())
    return text;
  Table metadata({{"metadata", Align::Left}, {"", Align::Left}});
  for (const auto &[key, value] : file.metadata())
    metadata.add({onOneLine(key), onOneLine(value)});
  return text + "\n" + metadata.str();
}

std::string asJson(const safetensors::File &file) {
  Json result;
  result["kind"] = "safetensors";
  result["tensors"] = Json::array();
  for (const safetensors::Tensor &tensor : file.tensors()) {
    const Range range = rangeOf(tensor);
    Json entry;
    entry["name"] = tensor.name;
    entry["dtype"] = safetensors::nameOf(tensor.dtype);
    entry["shape"] = tensor.shape;
    entry["bytes"] = tensor.data.size();
    entry["min"] = range.empty() ? Json() : Json(range.low);
    entry["max"] = range.empty() ? Json() : Json(range.high);
    entry["not_finite"] = range.notFinite;
    result["tensors"].push_back(std::move(entry));
  }
  result["metadata"] = file.metadata();
  return documentOf(result);
}

} // namespace

std::string kvc::inspectTensors(const safetensors::File &file, bool json) {
  return json ? asJson(file) : asText(file);
}
