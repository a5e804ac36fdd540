//===- ProgramBuilder.cpp - What functions of a program share -------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Decode/ProgramBuilder.h"

#include "kvc/Sim/Syntax/Types.h"

#include <algorithm>

using namespace kvc::sim;

/// Patterns of less than 64 bits are kept in their own rows.
static uint64_t cut(uint64_t bits, unsigned width) {
  return width >= 64 ? bits : bits & ((uint64_t(1) << width) - 1);
}

Slot ProgramBuilder::pooled(const Key &key) {
  const auto [kind, index, bits, width] = key;
  auto [entry, isNew] =
      constants.emplace(key, static_cast<uint32_t>(program.constants.size()));
  if (isNew) {
    ConstantRow row;
    row.kind = kind == Kind::Global     ? ConstantRow::Kind::Global
               : kind == Kind::Function ? ConstantRow::Kind::Function
                                        : ConstantRow::Kind::Bits;
    row.width = width == 64 ? 64 : 32;
    row.row = program.constantRows;
    row.index = index;
    row.bits = bits;
    program.constantRows += row.width / 32;
    program.constants.push_back(row);
  }
  return {Slot::File::Constant, width, program.constants[entry->second].row};
}

Slot ProgramBuilder::constant(uint64_t bits, unsigned width) {
  return pooled({Kind::Bits, 0, cut(bits, width), width});
}

Slot ProgramBuilder::address(uint32_t variable, int64_t addend,
                             unsigned width) {
  const ModuleVariable &entry = symbols.variables[variable];
  if (entry.variable->space == Space::Const)
    return constant(entry.constOffset + uint64_t(addend), width);
  if (entry.variable->space == Space::Shared)
    return sharedAddress(*entry.variable, addend, width);
  return pooled({Kind::Global, variable, uint64_t(addend), width});
}

Slot ProgramBuilder::functionAddress(uint32_t function, unsigned width) {
  return pooled({Kind::Function, function, 0, width});
}

Slot ProgramBuilder::frameAddress(uint32_t owner, uint64_t offset,
                                  unsigned width) {
  return pooled({Kind::Frame, owner, offset, width});
}

Slot ProgramBuilder::sharedAddress(const Variable &variable, int64_t addend,
                                   unsigned width) {
  if (variable.isUnsized) {
    // All of them begin where static shared memory ends.
    auto isNew = sharedOffsets.emplace(&variable, 0).second;
    if (isNew) {
      dynamicAlign = std::max(dynamicAlign, variable.align);
      program.objects.push_back({variable.name.text, MemorySpace::Shared, 0, 0,
                                 variable.align, true});
    }
    return pooled({Kind::Dynamic, 0, uint64_t(addend), width});
  }
  auto [entry, isNew] = sharedOffsets.emplace(&variable, 0);
  if (isNew) {
    entry->second = alignedTo(program.sharedBytes, variable.align);
    program.sharedBytes = entry->second + variable.bytes;
    program.objects.push_back({variable.name.text, MemorySpace::Shared,
                               entry->second, variable.bytes, variable.align});
  }
  return constant(entry->second + uint64_t(addend), width);
}

Slot ProgramBuilder::immediate(int64_t value) {
  auto [entry, isNew] = immediates.emplace(
      value, static_cast<uint32_t>(program.immediates.size()));
  if (isNew)
    program.immediates.push_back(value);
  return {Slot::File::Immediate, 64, entry->second};
}

uint32_t ProgramBuilder::modifiers(std::string_view opcode,
                                   const Modifiers &modifiers) {
  auto [entry, isNew] =
      modifierSets.emplace(std::pair(opcode, modifiers.form),
                           static_cast<uint32_t>(program.modifiers.size()));
  if (isNew)
    program.modifiers.push_back(modifiers);
  return entry->second;
}

uint32_t ProgramBuilder::special(const SpecialInfo &info, unsigned component) {
  auto [entry, isNew] =
      specials.emplace(std::pair(info.id, component),
                       static_cast<uint32_t>(program.specials.size()));
  if (isNew) {
    // Rows of special registers come first, those of 64 bits aligned.
    Slot slot;
    if (info.type == Type::Pred) {
      slot = {Slot::File::Predicate, 32, program.predicates++};
    } else {
      const unsigned rows = bitsOf(info.type) / 32;
      program.registerRows =
          static_cast<uint32_t>(alignedTo(program.registerRows, rows));
      slot = {Slot::File::Register, bitsOf(info.type), program.registerRows};
      program.registerRows += rows;
    }
    program.specials.push_back({info.id, component, slot});
  }
  return entry->second;
}

uint32_t ProgramBuilder::function(uint32_t indexInModule) {
  auto [entry, isNew] = programFunctions.emplace(
      indexInModule, static_cast<uint32_t>(functions.size()));
  if (isNew)
    functions.push_back(indexInModule);
  return entry->second;
}

const std::vector<Match> *ProgramBuilder::match(std::string_view opcode,
                                                Position at) {
  auto found = matches.find(opcode);
  if (found == matches.end()) {
    Expected<std::vector<Match>> result = matchOpcode(opcode, at);
    if (!result) {
      if (!diagnosis.error)
        diagnosis.error = result.error();
      return nullptr;
    }
    found = matches.emplace(opcode, std::move(*result)).first;
  }
  return &found->second;
}

const std::vector<uint32_t> &ProgramBuilder::addressTaken() {
  if (pointees)
    return *pointees;
  std::vector<bool> isTaken(symbols.module().functions.size(), false);
  auto take = [&](std::string_view name) {
    const std::optional<uint32_t> index = symbols.functionNamed(name);
    if (index && symbols.module().functions[*index].hasBody &&
        !symbols.module().functions[*index].isEntry)
      isTaken[*index] = true;
  };
  for (const ModuleVariable &entry : symbols.variables)
    for (const InitialValue &value : entry.variable->initial)
      take(value.symbol.text);
  for (const Function &function : symbols.module().functions)
    for (const Instruction &instruction : function.instructions)
      if (!instruction.opcode.starts_with("call"))
        for (uint32_t i = 0; i < instruction.operandCount; ++i)
          take(function.operands[instruction.firstOperand + i].text);
  pointees.emplace();
  for (uint32_t i = 0; i < isTaken.size(); ++i)
    if (isTaken[i])
      pointees->push_back(i);
  return *pointees;
}

void ProgramBuilder::settle(const std::vector<uint64_t> &frameBases) {
  program.dynamicSharedOffset = alignedTo(program.sharedBytes, dynamicAlign);
  for (MemoryObject &object : program.objects)
    if (object.isDynamic)
      object.offset = program.dynamicSharedOffset;
  for (const auto &[key, index] : constants) {
    const auto [kind, owner, bits, width] = key;
    ConstantRow &row = program.constants[index];
    if (kind == Kind::Frame)
      row.bits = cut(bits + frameBases[owner], width);
    else if (kind == Kind::Dynamic)
      row.bits = cut(bits + program.dynamicSharedOffset, width);
    else
      continue;
    row.index = 0;
  }
}
