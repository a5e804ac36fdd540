//===- Translate.cpp - kvc translate --------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/CommandLine.h"
#include "kvc/Commands.h"
#include "kvc/Engine.h"
#include "kvc/Json.h"

using namespace kvc;

namespace {

struct TranslateOptions {
  std::string spec, to;
  bool json = false;
};

void translate(const TranslateOptions &options) {
  const std::string text =
      translateSpec(readFile(options.spec), options.spec,
                    options.to == "json" ? KVC_SPEC_JSON : KVC_SPEC_MLIR);
  if (!options.json)
    return print(text);
  Json result;
  result["format"] = options.to;
  result["text"] = text;
  print(documentOf(result));
}

} // namespace

void kvc::addTranslateCommand(CLI::App &app) {
  auto options = std::make_shared<TranslateOptions>();
  CLI::App &command = addCommand(
      app, "translate", "Print a spec in its canonical form, as JSON or MLIR.",
      [options] { translate(*options); });
  addFile(command, "SPEC", options->spec, "Spec file, JSON or MLIR.",
          Need::Required);
  addName(command, "--to", options->to, {"json", "mlir"}, "Form to print",
          Need::Required);
  addFlag(command, "--json", options->json,
          "Print the text as a string inside JSON.");
}
