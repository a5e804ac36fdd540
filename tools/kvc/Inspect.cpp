//===- Inspect.cpp - kvc inspect ------------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/CommandLine.h"
#include "kvc/Commands.h"
#include "kvc/InspectSaved.h"
#include "kvc/InspectSpec.h"
#include "kvc/InspectTensors.h"
#include "kvc/SpecFile.h"

#ifdef KVC_TOOLS_WITH_COMPILER
#include "kvc/Engine.h"
#endif

#include <filesystem>
#include <fstream>
#include <system_error>

using namespace kvc;

namespace {

struct InspectOptions {
  std::string file;
  bool json = false;
};

/// A safetensors file begins with the length of its header, which its size
/// bounds; eight characters of a text are a far larger number.
bool looksLikeTensors(const std::string &path) {
  if (path.ends_with(".safetensors"))
    return true;
  std::error_code error;
  const auto size = std::filesystem::is_regular_file(path, error)
                        ? std::filesystem::file_size(path, error)
                        : 0;
  uint64_t header = 0;
  std::ifstream file;
  if (!error && size >= sizeof(header))
    file.open(path, std::ios::binary);
  return file.read(reinterpret_cast<char *>(&header), sizeof(header)) &&
         header <= size - sizeof(header);
}

/// The spec as JSON, whatever form it has, and the text of its score region.
std::pair<std::string, std::string> splitText(const std::string &path,
                                              std::string text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && text[first] == '{')
    return {std::move(text), ""};
#ifdef KVC_TOOLS_WITH_COMPILER
  SplitSpec parts = splitSpec(text, path);
  return {std::move(parts.json), std::move(parts.score)};
#else
  throw Failure(path +
                ": cannot read, expected JSON or safetensors (MLIR needs "
                "a kvc with its compiler), got neither");
#endif
}

void inspect(const InspectOptions &options) {
  if (looksLikeSaved(options.file))
    return print(inspectSaved(openSaved(options.file).get(), options.json));
  if (looksLikeTensors(options.file)) {
    auto file = safetensors::read(options.file);
    if (!file)
      throw Failure(file.error().str());
    return print(inspectTensors(*file, options.json));
  }
  const auto [json, score] = splitText(options.file, readFile(options.file));
  const SpecHandle spec = parseSpec(json, options.file);
  print(inspectSpec(spec.get(), score, options.json));
}

} // namespace

void kvc::addInspectCommand(CLI::App &app) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App &command = addCommand(
      app, "inspect",
      "Show what a spec, a safetensors file or a saved sequence says.",
      [options] { inspect(*options); });
  addFile(command, "FILE", options->file,
          "A spec, a safetensors file or a saved sequence.", Need::Required);
  addFlag(command, "--json", options->json, "Print JSON.");
}
