//===- Parser.cpp - From text to a module as written ----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Syntax/ParserState.h"

#include <charconv>

using namespace kvc::sim;

using Kind = Token::Kind;

std::string_view kvc::sim::nameOf(Space space) {
  static constexpr std::string_view names[] = {
      "generic", "reg", "const", "global", "local", "param", "shared"};
  return names[static_cast<size_t>(space)];
}

std::string Target::str() const {
  return "PTX " + std::to_string(version / 10) + "." +
         std::to_string(version % 10) + " and " + std::string(name.text);
}

Expected<Module> kvc::sim::parseModule(std::string text) {
  Module module;
  if (text.size() > kMaxTextBytes)
    return Error{{1, 1},
                 "text: expected at most " + std::to_string(kMaxTextBytes) +
                     " bytes, got " + std::to_string(text.size())};
  module.text = std::make_shared<const std::string>(std::move(text));
  Parser parser(*module.text, module);
  if (!parser.run())
    return *parser.diagnosis.error;
  return module;
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

bool Parser::advance() {
  token = lexer.next(diagnosis);
  return token.kind != Kind::Invalid;
}

/// The token behind this one; an error in it shows when it is reached.
Token Parser::peek() const {
  Lexer ahead = lexer;
  Diagnosis ignored;
  return ahead.next(ignored);
}

bool Parser::take(std::string_view punctuation, std::string_view what) {
  if (!token.is(punctuation))
    return fail(what, quote(punctuation));
  return advance();
}

bool Parser::readName(std::string_view what, Name &name) {
  if (token.kind != Kind::Word)
    return fail(what, "a name");
  if (token.text.find_first_of(".:") != std::string_view::npos)
    return fail(what, "a name without dots and colons");
  name = {token.text, token.at};
  return advance();
}

static std::string rangeOf(uint64_t low, uint64_t high) {
  return "an integer from " + std::to_string(low) + " to " +
         std::to_string(high);
}

bool Parser::readInteger(std::string_view what, uint64_t low, uint64_t high,
                         uint64_t &value) {
  const Position at = token.at;
  if (token.kind != Kind::Number && !token.is("("))
    return fail(what, rangeOf(low, high));
  Constant constant;
  return readPrimary(constant) &&
         checkInteger(at, what, low, high, constant, value);
}

bool Parser::readExtent(std::string_view what, uint64_t &value) {
  const Position at = token.at;
  Constant constant;
  return readConstant(constant) &&
         checkInteger(at, what, 1, kMaxVariableBytes, constant, value);
}

bool Parser::checkInteger(Position at, std::string_view what, uint64_t low,
                          uint64_t high, const Constant &constant,
                          uint64_t &value) {
  value = constant.bits;
  if (!constant.isInteger())
    return diagnosis.fail(at, what, rangeOf(low, high), "a fraction");
  if (constant.isNegative())
    return diagnosis.fail(at, what, rangeOf(low, high),
                          std::to_string(static_cast<int64_t>(value)));
  if (value < low || value > high)
    return diagnosis.fail(at, what, rangeOf(low, high), std::to_string(value));
  return true;
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

bool Parser::run() {
  if (!advance() || !readHeader())
    return false;
  while (token.kind != Kind::End)
    if (!readModuleItem())
      return false;
  return true;
}

bool Parser::readHeader() {
  if (!readVersion() || !readTarget())
    return false;
  if (!token.isDirective(".address_size"))
    return true;
  if (!advance())
    return false;
  if (token.text != "64")
    return fail(".address_size", "64");
  return advance();
}

bool Parser::readVersion() {
  if (!token.isDirective(".version"))
    return fail("module", ".version in front");
  if (!advance())
    return false;
  const std::string_view text = token.text;
  unsigned major = 0, minor = 0;
  const char *end = text.data() + text.size();
  auto first = std::from_chars(text.data(), end, major);
  if (token.kind != Kind::Number || first.ec != std::errc() ||
      first.ptr == end || *first.ptr != '.')
    return fail(".version", "a version like 8.0");
  auto second = std::from_chars(first.ptr + 1, end, minor);
  if (second.ec != std::errc() || second.ptr != end || major < 1 ||
      major > 99 || minor > 9)
    return fail(".version", "a version from 1.0 to 99.9");
  module.target.version = major * 10 + minor;
  return advance();
}

bool Parser::readTarget() {
  if (!token.isDirective(".target"))
    return fail("module", ".target behind .version");
  Target &target = module.target;
  do {
    Name word;
    if (!advance() || !readName(".target", word))
      return false;
    const std::string_view text = word.text;
    if (text.starts_with("sm_") && target.sm == 0) {
      const char *end = text.data() + text.size();
      auto [rest, error] = std::from_chars(text.data() + 3, end, target.sm);
      target.specific = rest + 1 == end && (*rest == 'a' || *rest == 'f');
      if (error != std::errc() || (rest != end && !target.specific) ||
          target.sm < 20 || target.sm > 999)
        return diagnosis.fail(word.at, ".target",
                              "an architecture like sm_80 or sm_90a",
                              quote(text));
      target.name = word;
    } else if (text == "debug" || text == "texmode_unified" ||
               text == "texmode_independent") {
      target.options.push_back(word);
    } else {
      return diagnosis.fail(word.at, ".target",
                            "one architecture like sm_80, debug, "
                            "texmode_unified or texmode_independent",
                            quote(text));
    }
  } while (token.is(","));
  if (target.sm == 0)
    return fail(".target", "an architecture like sm_80");
  return true;
}

bool Parser::readModuleItem() {
  if (token.kind != Kind::Directive)
    return fail("module", "a directive");
  const std::string_view text = token.text;
  if (text == ".file")
    return readFile();
  if (text == ".section")
    return readSection();
  if (text == ".alias")
    return readAlias();
  if (text == ".pragma")
    return readPragma();

  Linkage linkage = Linkage::None;
  static constexpr std::pair<std::string_view, Linkage> linkages[] = {
      {".extern", Linkage::Extern},
      {".visible", Linkage::Visible},
      {".weak", Linkage::Weak},
      {".common", Linkage::Common}};
  for (auto [name, value] : linkages)
    if (text == name) {
      linkage = value;
      if (!advance())
        return false;
      break;
    }

  if (token.isDirective(".entry") || token.isDirective(".func"))
    return readFunction(linkage);
  static constexpr std::pair<std::string_view, Space> spaces[] = {
      {".global", Space::Global},
      {".const", Space::Const},
      {".shared", Space::Shared}};
  for (auto [name, space] : spaces)
    if (token.isDirective(name)) {
      const size_t first = module.variables.size();
      if (!advance() || !readVariables(space, linkage, module.variables))
        return false;
      for (size_t i = first; i < module.variables.size(); ++i)
        if (!declare(module.variables[i].name, linkage != Linkage::Extern))
          return false;
      return true;
    }
  return fail("module", "a function, a variable in .global, .const or .shared, "
                        ".file, .section, .alias or .pragma");
}

/// Names of a module are one set. A declaration may stand beside a definition.
bool Parser::declare(const Name &name, bool isDefinition) {
  auto [entry, isNew] = names.try_emplace(name.text, isDefinition);
  if (isNew)
    return true;
  if (entry->second && isDefinition)
    return diagnosis.fail(name.at, "module", "each name once",
                          quote(name.text) + " again");
  entry->second |= isDefinition;
  return true;
}

bool Parser::readFile() {
  uint64_t number = 0, ignored = 0;
  if (!advance() || !readInteger(".file", 0, UINT32_MAX, number))
    return false;
  if (token.kind != Kind::String)
    return fail(".file", "a path in quotes");
  std::string_view path = token.text;
  if (!advance())
    return false;
  // LLVM writes folder and file.
  if (token.kind == Kind::String) {
    path = token.text;
    if (!advance())
      return false;
  }
  for (int i = 0; i < 2 && token.is(","); ++i)
    if (!advance() || !readInteger(".file", 0, UINT64_MAX, ignored))
      return false;
  module.files.push_back({static_cast<uint32_t>(number), path});
  return true;
}

/// Debug information says nothing about what a module computes.
bool Parser::readSection() {
  if (!advance())
    return false;
  if (token.kind != Kind::Directive && token.kind != Kind::Word)
    return fail(".section", "a name");
  if (!advance() || !take("{", ".section"))
    return false;
  while (!token.is("}")) {
    if (token.kind == Kind::End || token.is("{"))
      return fail(".section", "data and \"}\"");
    if (!advance())
      return false;
  }
  return advance();
}

bool Parser::readAlias() {
  Alias alias;
  if (!advance() || !readName(".alias", alias.name) || !take(",", ".alias") ||
      !readName(".alias", alias.of) || !take(";", ".alias"))
    return false;
  module.aliases.push_back(alias);
  return true;
}

/// Pragmas are hints to an optimiser.
bool Parser::readPragma() {
  do {
    if (!advance())
      return false;
    if (token.kind != Kind::String)
      return fail(".pragma", "a string");
    if (!advance())
      return false;
  } while (token.is(","));
  return take(";", ".pragma");
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

bool Parser::readFunction(Linkage linkage) {
  Function function;
  function.linkage = linkage;
  function.isEntry = token.isDirective(".entry");
  const std::string_view what = token.text;
  if (!advance())
    return false;
  if (!function.isEntry && token.is("(") &&
      !readParams(what, false, function.results))
    return false;
  if (!readName(what, function.name))
    return false;
  if (token.is("(") && !readParams(what, function.isEntry, function.params))
    return false;
  if (!readHints(function))
    return false;
  if (token.is("{")) {
    function.hasBody = true;
    if (!readBody(function))
      return false;
  } else if (!take(";", what)) {
    return false;
  }
  if (!declare(function.name, function.hasBody))
    return false;
  module.functions.push_back(std::move(function));
  return true;
}

bool Parser::readThreads(std::string_view what, unsigned (&threads)[3]) {
  for (unsigned &extent : threads)
    extent = 1;
  for (unsigned i = 0; i < 3; ++i) {
    uint64_t value = 0;
    if (!advance() || !readInteger(what, 1, INT32_MAX, value))
      return false;
    threads[i] = static_cast<unsigned>(value);
    if (!token.is(","))
      break;
  }
  return true;
}

bool Parser::readHints(Function &function) {
  FunctionHints &hints = function.hints;
  auto number = [&](unsigned &field) {
    const std::string_view what = token.text;
    uint64_t value = 0;
    if (!advance() || !readInteger(what, 1, INT32_MAX, value))
      return false;
    field = static_cast<unsigned>(value);
    return true;
  };
  auto flag = [&](bool &field) {
    field = true;
    return advance();
  };
  while (token.kind == Kind::Directive) {
    const std::string_view text = token.text;
    const Position at = token.at;
    unsigned ignored = 0;
    bool ok = false;
    if (text == ".noreturn" && !function.isEntry)
      ok = flag(hints.noReturn);
    else if (text == ".attribute" && !function.isEntry)
      ok = readAttribute();
    else if (text == ".abi_preserve" || text == ".abi_preserve_control")
      ok = number(ignored);
    else if (text == ".pragma")
      ok = readPragma();
    else if (!function.isEntry)
      return fail(".func", "a body or \";\"");
    else if (text == ".maxntid")
      ok = readThreads(text, hints.maxThreads);
    else if (text == ".reqntid")
      ok = readThreads(text, hints.requiredThreads);
    else if (text == ".reqnctapercluster") {
      hints.requiredClusterAt = at;
      ok = readThreads(text, hints.requiredCluster);
    } else if (text == ".minnctapersm" || text == ".maxnctapersm")
      ok = number(hints.minBlocks);
    else if (text == ".maxnreg")
      ok = number(hints.maxRegisters);
    else if (text == ".maxclusterrank")
      ok = number(hints.maxClusterRank);
    else if (text == ".explicitcluster")
      ok = flag(hints.explicitCluster);
    else if (text == ".blocksareclusters")
      ok = flag(hints.blocksAreClusters);
    else
      return fail(".entry", "a directive of a kernel, a body or \";\"");
    if (!ok)
      return false;
  }
  return true;
}
