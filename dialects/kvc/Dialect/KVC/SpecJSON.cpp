//===- SpecJSON.cpp - Sections of a spec as JSON text ---------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "SpecJSON.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"

#include <charconv>

using namespace mlir;

namespace kvc::detail {

//===----------------------------------------------------------------------===//
// Attributes to text
//===----------------------------------------------------------------------===//

static LogicalResult verifyValue(function_ref<InFlightDiagnostic()> emitError,
                                 Attribute value, const Twine &path) {
  if (isa<StringAttr, BoolAttr>(value))
    return success();
  if (auto integer = dyn_cast<IntegerAttr>(value);
      integer && integer.getType().isSignlessInteger(64))
    return success();
  if (auto number = dyn_cast<FloatAttr>(value);
      number && number.getType().isF64() && number.getValue().isFinite())
    return success();
  if (auto array = dyn_cast<ArrayAttr>(value)) {
    for (auto [i, element] : llvm::enumerate(array))
      if (failed(verifyValue(emitError, element, path + "[" + Twine(i) + "]")))
        return failure();
    return success();
  }
  if (auto dictionary = dyn_cast<DictionaryAttr>(value)) {
    for (NamedAttribute entry : dictionary)
      if (failed(verifyValue(emitError, entry.getValue(),
                             path + "." + entry.getName().getValue())))
        return failure();
    return success();
  }
  return emitError() << path
                     << ": expected an i64, a finite f64, a string, a bool, an "
                        "array or a dictionary, got "
                     << value;
}

LogicalResult verifyJSON(function_ref<InFlightDiagnostic()> emitError,
                         DictionaryAttr value) {
  return verifyValue(emitError, value, "$");
}

std::string floatText(double value) {
  char text[32];
  auto [end, error] = std::to_chars(std::begin(text), std::end(text), value);
  std::string digits(text, end);
  if (digits.find('.') == std::string::npos)
    digits.insert(std::min(digits.find('e'), digits.size()), ".0");
  return digits;
}

/// Written by hand because llvm::json sorts out numbers by value: 4.0 would
/// come out as the integer 4 and pass where an integer is wanted.
static void writeValue(raw_ostream &os, Attribute value) {
  if (auto string = dyn_cast<StringAttr>(value)) {
    os << llvm::json::Value(llvm::json::fixUTF8(string.getValue()));
  } else if (auto boolean = dyn_cast<BoolAttr>(value)) {
    os << (boolean.getValue() ? "true" : "false");
  } else if (auto integer = dyn_cast<IntegerAttr>(value)) {
    os << integer.getInt();
  } else if (auto number = dyn_cast<FloatAttr>(value)) {
    os << floatText(number.getValueAsDouble());
  } else if (auto array = dyn_cast<ArrayAttr>(value)) {
    os << '[';
    llvm::interleave(
        array, os, [&](Attribute element) { writeValue(os, element); }, ",");
    os << ']';
  } else {
    os << '{';
    llvm::interleave(
        cast<DictionaryAttr>(value), os,
        [&](NamedAttribute entry) {
          writeValue(os, entry.getName());
          os << ':';
          writeValue(os, entry.getValue());
        },
        ",");
    os << '}';
  }
}

spec::Expected<spec::Spec> parseSections(const Sections &sections) {
  const auto &[name, attention, io, key, value, segments, layout] = sections;
  std::string json;
  llvm::raw_string_ostream os(json);
  os << "{\"kvc\":1,\"name\":";
  writeValue(os, name);
  auto write = [&](StringRef keyword, auto section) {
    if (!section)
      return;
    os << ",\"" << keyword << "\":";
    writeValue(os, section.getValue());
  };
  write("attention", attention);
  write("io", io);
  write("key", key);
  write("value", value);
  write("segments", segments);
  write("layout", layout);
  os << '}';
  return spec::parseSpec(json);
}

//===----------------------------------------------------------------------===//
// Text to attributes
//===----------------------------------------------------------------------===//

static Attribute toAttr(Builder &builder, const llvm::json::Value &value) {
  switch (value.kind()) {
  case llvm::json::Value::String:
    return builder.getStringAttr(*value.getAsString());
  case llvm::json::Value::Boolean:
    return builder.getBoolAttr(*value.getAsBoolean());
  case llvm::json::Value::Array:
    return builder.getArrayAttr(llvm::map_to_vector(
        *value.getAsArray(),
        [&](const llvm::json::Value &x) { return toAttr(builder, x); }));
  case llvm::json::Value::Object: {
    SmallVector<NamedAttribute> entries;
    for (const auto &[key, x] : *value.getAsObject())
      entries.push_back(
          builder.getNamedAttr(StringRef(key), toAttr(builder, x)));
    return builder.getDictionaryAttr(entries);
  }
  case llvm::json::Value::Number:
  case llvm::json::Value::Null:
    break;
  }
  // Asking for an unsigned is the way to tell 4 from 4.0, and no integer of a
  // spec is negative.
  if (std::optional<uint64_t> integer = value.getAsUINT64())
    return builder.getI64IntegerAttr(*integer);
  return builder.getF64FloatAttr(value.getAsNumber().value_or(0));
}

DictionaryAttr parseJSON(MLIRContext *context, StringRef json) {
  llvm::Expected<llvm::json::Value> document = llvm::json::parse(json);
  if (!document)
    llvm::report_fatal_error(document.takeError());
  Builder builder(context);
  return cast<DictionaryAttr>(toAttr(builder, *document));
}

} // namespace kvc::detail
