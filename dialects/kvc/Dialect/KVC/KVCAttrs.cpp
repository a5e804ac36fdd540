//===- KVCAttrs.cpp - Attributes of the kvc dialect -----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Dialect/KVC/KVCAttrs.h"
#include "SpecJSON.h"
#include "SpecStorage.h"
#include "kvc/Dialect/KVC/KVCDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kvc {

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

StringRef stringifyTensor(spec::Tensor tensor) {
  return tensor == spec::Tensor::Key ? "key" : "value";
}

std::optional<spec::Tensor> symbolizeTensor(StringRef text) {
  return llvm::StringSwitch<std::optional<spec::Tensor>>(text)
      .Case("key", spec::Tensor::Key)
      .Case("value", spec::Tensor::Value)
      .Default(std::nullopt);
}

StringRef stringifyZeroKind(spec::Zero zero) {
  switch (zero) {
  case spec::Zero::None:
    return "none";
  case spec::Zero::Code:
    return "code";
  // A lut's zero is added as the one of "min" is.
  case spec::Zero::Min:
  case spec::Zero::Mid:
    return "min";
  }
  llvm_unreachable("every zero has a kind");
}

std::optional<spec::Zero> symbolizeZeroKind(StringRef text) {
  return llvm::StringSwitch<std::optional<spec::Zero>>(text)
      .Case("none", spec::Zero::None)
      .Case("min", spec::Zero::Min)
      .Case("code", spec::Zero::Code)
      .Default(std::nullopt);
}

StringRef stringifyRoundType(spec::DType type) { return spec::nameOf(type); }

std::optional<spec::DType> symbolizeRoundType(StringRef text) {
  return llvm::StringSwitch<std::optional<spec::DType>>(text)
      .Case("f16", spec::DType::F16)
      .Case("bf16", spec::DType::BF16)
      .Case("f32", spec::DType::F32)
      .Case("e4m3", spec::DType::E4M3)
      .Default(std::nullopt);
}

StringRef stringifyFloatFormat(spec::CodecKind kind) {
  switch (kind) {
  case spec::CodecKind::FP8E4M3:
    return "fp8_e4m3";
  case spec::CodecKind::FP8E5M2:
    return "fp8_e5m2";
  case spec::CodecKind::FP4E2M1:
    return "fp4_e2m1";
  default:
    llvm_unreachable("no float codec");
  }
}

std::optional<spec::CodecKind> symbolizeFloatFormat(StringRef text) {
  return llvm::StringSwitch<std::optional<spec::CodecKind>>(text)
      .Case("fp8_e4m3", spec::CodecKind::FP8E4M3)
      .Case("fp8_e5m2", spec::CodecKind::FP8E5M2)
      .Case("fp4_e2m1", spec::CodecKind::FP4E2M1)
      .Default(std::nullopt);
}

static constexpr std::pair<StringLiteral, spec::RowField> kRowFields[] = {
    {"scale", spec::RowField::Scale},
    {"table", spec::RowField::Table},
    {"thresholds", spec::RowField::Thresholds},
    {"codes", spec::RowField::Codes},
    {"largest", spec::RowField::Largest},
    {"smooth", spec::RowField::Smooth}};

StringRef stringifyRowField(spec::RowField field) {
  for (const auto &[name, known] : kRowFields)
    if (known == field)
      return name;
  llvm_unreachable("unknown field");
}

std::optional<spec::RowField> symbolizeRowField(StringRef text) {
  for (const auto &[name, known] : kRowFields)
    if (name == text)
      return known;
  return std::nullopt;
}

static ParseResult parseTensor(AsmParser &parser, spec::Tensor &tensor) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef text;
  if (parser.parseKeyword(&text))
    return failure();
  std::optional<spec::Tensor> value = symbolizeTensor(text);
  if (!value)
    return parser.emitError(loc) << "expected key or value, got " << text;
  tensor = *value;
  return success();
}

static void printTensor(AsmPrinter &printer, spec::Tensor tensor) {
  printer << stringifyTensor(tensor);
}

//===----------------------------------------------------------------------===//
// Dims
//===----------------------------------------------------------------------===//

static ParseResult parseDimNames(AsmParser &parser,
                                 SmallVector<StringAttr> &names) {
  return parser.parseCommaSeparatedList([&] {
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    names.push_back(StringAttr::get(parser.getContext(), name));
    return success();
  });
}

static void printDimNames(AsmPrinter &printer, ArrayRef<StringAttr> names) {
  llvm::interleaveComma(names, printer, [&](StringAttr name) {
    printer.printKeywordOrString(name.getValue());
  });
}

DimsAttr DimsAttr::get(MLIRContext *context, ArrayRef<StringRef> names) {
  SmallVector<StringAttr> attrs;
  for (StringRef name : names)
    attrs.push_back(StringAttr::get(context, name));
  return get(context, attrs);
}

LogicalResult DimsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<StringAttr> names) {
  if (names.empty()) // C1
    return emitError() << "expected at least one dim";
  for (auto [i, name] : llvm::enumerate(names)) // C1
    if (llvm::is_contained(names.take_front(i), name))
      return emitError() << "dim " << name.getValue() << " is named twice";
  return success();
}

LogicalResult
DimsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                         function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.size() != getNames().size()) // C2
    return emitError() << "expected as many dims as #kvc.dims names ("
                       << getNames().size() << "), got " << shape.size();
  for (auto [name, extent] : llvm::zip_equal(getNames(), shape)) // C3
    if (extent <= 0)
      return emitError() << "expected a static positive extent of dim "
                         << name.getValue();
  return success();
}

//===----------------------------------------------------------------------===//
// Sections and the spec
//===----------------------------------------------------------------------===//

static ParseResult parseSection(AsmParser &parser, DictionaryAttr &value) {
  return parser.parseAttribute(value);
}

/// As the generic printer, less the types of numbers, which are the default
/// ones. Of some f64s it would print the bits in hexadecimal, and those without
/// their type read as an integer.
static void printValue(AsmPrinter &printer, Attribute value) {
  if (auto dictionary = dyn_cast<DictionaryAttr>(value)) {
    printer << '{';
    llvm::interleaveComma(dictionary, printer, [&](NamedAttribute entry) {
      printer.printKeywordOrString(entry.getName());
      printer << " = ";
      printValue(printer, entry.getValue());
    });
    printer << '}';
  } else if (auto array = dyn_cast<ArrayAttr>(value)) {
    printer << '[';
    llvm::interleaveComma(array, printer, [&](Attribute element) {
      printValue(printer, element);
    });
    printer << ']';
  } else if (auto number = dyn_cast<FloatAttr>(value)) {
    printer << detail::floatText(number.getValueAsDouble());
  } else {
    printer.printAttributeWithoutType(value);
  }
}

static void printSection(AsmPrinter &printer, DictionaryAttr value) {
  printValue(printer, value);
}

// C1 of the sections.
LogicalResult
AttentionAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                      DictionaryAttr value) {
  return detail::verifyJSON(emitError, value);
}
LogicalResult IOAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                             DictionaryAttr value) {
  return detail::verifyJSON(emitError, value);
}
LogicalResult SchemeAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 DictionaryAttr value) {
  return detail::verifyJSON(emitError, value);
}
LogicalResult SegmentsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   DictionaryAttr value) {
  return detail::verifyJSON(emitError, value);
}
LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 DictionaryAttr value) {
  return detail::verifyJSON(emitError, value);
}

LogicalResult SpecAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               StringAttr name, AttentionAttr attention,
                               IOAttr io, SchemeAttr key, SchemeAttr value,
                               SegmentsAttr segments, LayoutAttr layout) {
  spec::Expected<spec::Spec> parsed = detail::parseSections(
      {name, attention, io, key, value, segments, layout});
  if (!parsed) // C1
    return emitError() << "invalid spec: " << parsed.error().str();
  return success();
}

SpecAttr SpecAttr::get(MLIRContext *context, const spec::Spec &spec) {
  DictionaryAttr document =
      detail::parseJSON(context, spec::printSpecCompact(spec));
  auto section = [&]<typename Attr>(StringRef key) {
    auto value = document.getAs<DictionaryAttr>(key);
    return value ? Attr::get(context, value) : Attr();
  };
  auto name = document.getAs<StringAttr>("name");
  return get(context, name ? name : StringAttr::get(context, ""),
             section.operator()<AttentionAttr>("attention"),
             section.operator()<IOAttr>("io"),
             section.operator()<SchemeAttr>("key"),
             section.operator()<SchemeAttr>("value"),
             section.operator()<SegmentsAttr>("segments"),
             section.operator()<LayoutAttr>("layout"));
}

StringAttr SpecAttr::getName() const {
  return std::get<0>(getImpl()->sections);
}
AttentionAttr SpecAttr::getAttention() const {
  return std::get<1>(getImpl()->sections);
}
IOAttr SpecAttr::getIo() const { return std::get<2>(getImpl()->sections); }
SchemeAttr SpecAttr::getKey() const { return std::get<3>(getImpl()->sections); }
SchemeAttr SpecAttr::getValue() const {
  return std::get<4>(getImpl()->sections);
}
SegmentsAttr SpecAttr::getSegments() const {
  return std::get<5>(getImpl()->sections);
}
LayoutAttr SpecAttr::getLayout() const {
  return std::get<6>(getImpl()->sections);
}
const spec::Spec &SpecAttr::getSpec() const { return getImpl()->spec; }

} // namespace kvc

#include "kvc/Dialect/KVC/KVCEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "kvc/Dialect/KVC/KVCAttrs.cpp.inc"

namespace kvc {
void KVCDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "kvc/Dialect/KVC/KVCAttrs.cpp.inc"
      >();
}
} // namespace kvc
