//===- SpecText.cpp - Specs as JSON and as MLIR ---------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Compiler/SpecText.h"

#include "kvc/Compiler/Diagnostics.h"
#include "kvc/Compiler/Status.h"
#include "kvc/Dialect/KVC/KVCOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace kvc {

/// MLIR's parser recurses without a limit. Brackets nest at least as deeply as
/// it does; a spec needs a dozen levels.
static constexpr unsigned kMaxNesting = 64;

/// Whether brackets outside strings and comments nest at most kMaxNesting deep.
static bool nestingIsBounded(llvm::StringRef text) {
  unsigned depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    llvm::StringRef rest = text.drop_front(i);
    if (rest.starts_with("//")) {
      i += rest.find('\n') == llvm::StringRef::npos ? rest.size()
                                                    : rest.find('\n');
    } else if (rest.starts_with("->")) {
      ++i;
    } else if (rest[0] == '"') {
      for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i)
        i += text[i] == '\\';
    } else if (llvm::StringRef("([{<").contains(rest[0])) {
      if (++depth > kMaxNesting)
        return false;
    } else if (llvm::StringRef(")]}>").contains(rest[0])) {
      depth -= depth != 0;
    }
  }
  return true;
}

static llvm::Expected<OwningOpRef<ModuleOp>> readMLIR(llvm::StringRef text,
                                                      MLIRContext &context) {
  if (!nestingIsBounded(text))
    return makeError(KVC_INVALID_DATA,
                     "spec: brackets nested too deeply, expected at most " +
                         llvm::Twine(kMaxNesting) + " levels, got more");
  DiagnosticCatcher diagnostics(context);
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(text, ParserConfig(&context), "spec");
  if (!module) {
    std::string error = diagnostics.firstError(
        "spec: expected a module with one kvc.attention_spec");
    // Some other file: what MLIR's parser says of it explains nothing.
    if (!text.contains("kvc.attention_spec"))
      error += "; expected a spec, JSON that begins with \"{\" or MLIR with a "
               "kvc.attention_spec";
    return makeError(KVC_INVALID_DATA, error);
  }

  Block &body = *module->getBody();
  auto declaration =
      body.empty() ? nullptr : llvm::dyn_cast<AttentionSpecOp>(body.front());
  if (!declaration || !llvm::hasSingleElement(body))
    return makeError(KVC_INVALID_DATA,
                     "spec: expected a module with one kvc.attention_spec and "
                     "nothing else, got " +
                         llvm::Twine(llvm::range_size(body)) + " operations");
  // Without what the text may say of its own: places, names of values, other
  // attributes.
  OwningOpRef<ModuleOp> canonical =
      makeSpecModule(declaration.getSpec().getSpec(), context);
  AttentionSpecOp copy = declarationIn(*canonical);
  IRMapping mapping;
  declaration.getScore().cloneInto(&copy.getScore(), mapping);
  copy.getScore().walk([&](Operation *op) {
    op->setLoc(copy.getLoc());
    op->setDiscardableAttrs(DictionaryAttr::get(&context));
  });
  return canonical;
}

llvm::Expected<OwningOpRef<ModuleOp>> readSpec(llvm::StringRef text,
                                               MLIRContext &context) {
  llvm::StringRef start = text.ltrim(" \t\r\n");
  // What is blank, or no text at all, is no MLIR either: JSON's parser says so.
  bool isJSON =
      start.empty() || start.front() == '{' || !llvm::isASCII(start.front());
  if (!isJSON)
    return readMLIR(text, context);
  spec::Expected<spec::Spec> spec =
      spec::parseSpec(std::string_view(text.data(), text.size()));
  if (!spec)
    return makeError(KVC_INVALID_DATA, spec.error().str());
  return makeSpecModule(*spec, context);
}

OwningOpRef<ModuleOp> makeSpecModule(const spec::Spec &spec,
                                     MLIRContext &context) {
  OpBuilder builder(&context);
  Location location = NameLoc::get(builder.getStringAttr(spec.name));
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder, location);
  builder.setInsertionPointToStart(module->getBody());
  AttentionSpecOp::create(builder, location, builder.getStringAttr(spec.name),
                          SpecAttr::get(&context, spec));
  return module;
}

AttentionSpecOp declarationIn(ModuleOp module) {
  return llvm::cast<AttentionSpecOp>(module.getBody()->front());
}

std::string scoreText(AttentionSpecOp declaration) {
  if (declaration.getScore().empty())
    return "";
  std::string text;
  llvm::raw_string_ostream stream(text);
  declaration->print(stream);
  // Operations of a canonical region have no strings that could say this too.
  return text.substr(text.rfind(" score(") + 1);
}

std::string artifactName(llvm::StringRef specName, llvm::StringRef score) {
  if (score.empty())
    return specName.str();
  std::string hash =
      llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(score)), true);
  return (specName + "_" + llvm::StringRef(hash).take_front(8)).str();
}

std::string fileStem(llvm::StringRef name) {
  std::string stem = name.str();
  for (char &c : stem)
    if (!llvm::isAlnum(c) && c != '.' && c != '_' && c != '-')
      c = '_';
  if (stem.empty() || stem[0] == '.' || stem[0] == '-')
    stem.insert(stem.begin(), '_');
  return stem;
}

} // namespace kvc
