//===- SpecJSON.h - Sections of a spec as JSON text -------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The attributes of a spec are JSON in another spelling. Both ways keep
// integers integers and floats floats, and every f64 its bits.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVC_SPECJSON_H
#define KVC_DIALECT_KVC_SPECJSON_H

#include "kvc/Dialect/KVC/KVCAttrs.h"

#include <string>
#include <tuple>

namespace kvc::detail {

/// Whether a dictionary holds nothing but what JSON can say.
llvm::LogicalResult
verifyJSON(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
           mlir::DictionaryAttr value);

/// The shortest text that reads back to the same f64, in JSON and in MLIR, and
/// never as an integer.
std::string floatText(double value);

/// name, attention, io, key, value, segments, layout; an absent one is null.
using Sections = std::tuple<mlir::StringAttr, AttentionAttr, IOAttr, SchemeAttr,
                            SchemeAttr, SegmentsAttr, LayoutAttr>;

/// The spec file that the sections are, read.
spec::Expected<spec::Spec> parseSections(const Sections &sections);

/// A JSON object as attributes. The text is what printSpec wrote.
mlir::DictionaryAttr parseJSON(mlir::MLIRContext *context,
                               llvm::StringRef json);

} // namespace kvc::detail

#endif // KVC_DIALECT_KVC_SPECJSON_H
