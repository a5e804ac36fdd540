//===- Diagnostics.cpp - What MLIR has to say -----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Compiler/Diagnostics.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace kvc {

/// "LINE:COLUMN" of text that was read, the name that a pass gave, or nothing.
static std::string placeOf(Location location) {
  return llvm::TypeSwitch<Location, std::string>(location)
      .Case([](FileLineColLoc loc) {
        return std::to_string(loc.getLine()) + ":" +
               std::to_string(loc.getColumn());
      })
      .Case([](NameLoc loc) { return loc.getName().str(); })
      .Case([](CallSiteLoc loc) { return placeOf(loc.getCallee()); })
      .Case([](FusedLoc loc) {
        return loc.getLocations().empty() ? std::string()
                                          : placeOf(loc.getLocations()[0]);
      })
      .Default([](Location) { return std::string(); });
}

static std::string textOf(Diagnostic &diagnostic) {
  std::string text;
  // Remarks name their kernel, which is more than a line of the spec says.
  if (diagnostic.getSeverity() != DiagnosticSeverity::Remark)
    text = placeOf(diagnostic.getLocation());
  if (!text.empty())
    text += ": ";
  // The rest of these sentences is an option of MLIR's own tools.
  text += llvm::StringRef(diagnostic.str())
              .split(". If this is intended, please ")
              .first;
  for (Diagnostic &note : diagnostic.getNotes())
    text += "; " + note.str();
  return text;
}

DiagnosticCatcher::DiagnosticCatcher(MLIRContext &context,
                                     RemarkFunction remark)
    : remark(std::move(remark)),
      handler(&context, [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Remark &&
            this->remark)
          this->remark(textOf(diagnostic));
        else if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
                 error.empty())
          error = textOf(diagnostic);
        return success();
      }) {}

} // namespace kvc
