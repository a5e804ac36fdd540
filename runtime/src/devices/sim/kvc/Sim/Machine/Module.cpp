//===- Module.cpp - A module whose variables lie in memory ----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Machine/State.h"
#include "kvc/Sim/Syntax/Parser.h"

#include <algorithm>
#include <bit>

using namespace kvc::sim;

LoadedModule::~LoadedModule() = default;

Expected<std::unique_ptr<LoadedModule>> LoadedModule::load(std::string text,
                                                           Memory &memory) {
  Expected<Module> parsed = parseModule(std::move(text));
  if (!parsed)
    return parsed.error();
  std::unique_ptr<LoadedModule> module(new LoadedModule());
  module->syntax = std::make_unique<Module>(std::move(*parsed));
  Expected<Symbols> symbols = Symbols::of(*module->syntax);
  if (!symbols)
    return symbols.error();
  module->names = std::make_unique<Symbols>(std::move(*symbols));
  Diagnosis diagnosis;
  if (!module->place(memory, diagnosis))
    return *diagnosis.error;
  return module;
}

bool LoadedModule::place(Memory &memory, Diagnosis &diagnosis) {
  constants.assign(names->constBytes, 0);
  for (const ModuleVariable &entry : names->variables) {
    const Variable &variable = *entry.variable;
    uint64_t address = 0;
    if (variable.space == Space::Global &&
        variable.linkage != Linkage::Extern && variable.bytes > 0) {
      address =
          memory.allocate(variable.bytes, std::string(variable.name.text));
      if (address == 0)
        return diagnosis.fail(
            variable.name.at, "variable",
            std::to_string(variable.bytes) + " bytes of memory", "none");
      // What has no initial value begins as zeros.
      memory.fill(address, 0, variable.bytes);
    }
    addresses.push_back(address);
  }
  for (size_t i = 0; i < addresses.size(); ++i) {
    const Variable &variable = *names->variables[i].variable;
    std::vector<uint8_t> bytes(variable.initial.empty() ? 0 : variable.bytes);
    if (bytes.empty())
      continue;
    if (!initialise(variable, bytes.data(), diagnosis))
      return false;
    if (variable.space == Space::Const)
      std::copy(bytes.begin(), bytes.end(),
                constants.begin() +
                    std::ptrdiff_t(names->variables[i].constOffset));
    else if (variable.space == Space::Global)
      memory.write(addresses[i], bytes.data(), bytes.size());
  }
  return true;
}

bool LoadedModule::initialise(const Variable &variable, uint8_t *bytes,
                              Diagnosis &diagnosis) const {
  const unsigned bits = bitsOf(variable.type);
  const uint64_t size = bits / 8;
  for (const InitialValue &value : variable.initial) {
    uint64_t pattern = 0;
    if (value.symbol.text.empty()) {
      const std::optional<uint64_t> constant =
          patternOf(value.value, variable.type);
      if (!constant)
        return diagnosis.fail(variable.name.at, "initial value",
                              "one of the variable's type", "another");
      pattern = *constant;
    } else {
      if (const auto index = names->variableNamed(value.symbol.text)) {
        const ModuleVariable &to = names->variables[*index];
        pattern = addresses[*index];
        if (to.variable->space == Space::Const)
          pattern = to.constOffset + (value.isGeneric ? kConstWindow : 0);
      } else if (const auto function =
                     names->functionNamed(value.symbol.text)) {
        pattern = kFunctionWindow + *function * kFunctionBytes;
      }
      pattern += value.value.bits;
      if (value.mask != 0)
        pattern = (pattern & value.mask) >> std::countr_zero(value.mask);
    }
    if (value.element < variable.bytes / size)
      std::memcpy(bytes + value.element * size, &pattern,
                  std::min<size_t>(size, sizeof(pattern)));
  }
  return true;
}

std::vector<std::string_view> LoadedModule::kernels() const {
  std::vector<std::string_view> result;
  for (const Function &function : syntax->functions)
    if (function.isEntry && function.hasBody)
      result.push_back(function.name.text);
  return result;
}

Expected<ExecutableKernel *> LoadedModule::executable(std::string_view kernel) {
  auto found = decoded.find(kernel);
  if (found == decoded.end()) {
    Expected<Program> program = decodeKernel(*names, kernel);
    if (!program)
      return program.error();
    auto made = std::make_unique<ExecutableKernel>();
    made->module = syntax.get();
    made->program = std::move(*program);
    found = decoded.emplace(std::string(kernel), std::move(made)).first;
  }
  return found->second.get();
}

Expected<const Program *> LoadedModule::program(std::string_view kernel) {
  Expected<ExecutableKernel *> found = executable(kernel);
  if (!found)
    return found.error();
  return &(*found)->program;
}

uint64_t LoadedModule::addressOf(std::string_view variable) const {
  const std::optional<uint32_t> index = names->variableNamed(variable);
  return index ? addresses[*index] : 0;
}

std::vector<KernelParam> kvc::sim::paramsOf(const Module &module,
                                            std::string_view kernel) {
  std::vector<KernelParam> result;
  for (const Function &function : module.functions) {
    if (!function.isEntry || !function.hasBody || function.name.text != kernel)
      continue;
    uint64_t end = 0;
    for (const Variable &param : function.params) {
      const uint64_t offset =
          (end + param.align - 1) / param.align * param.align;
      result.push_back({param.name.text, param.type, offset, param.bytes,
                        !param.extents.empty() || param.vector > 1});
      end = offset + param.bytes;
    }
  }
  return result;
}
