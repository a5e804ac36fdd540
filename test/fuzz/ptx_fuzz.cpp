//===- ptx_fuzz.cpp - Any bytes as a module of PTX ------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Whatever the bytes, the parser and the decoder return programs or an error
// of one printable line; what a program refers to is there.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Decode/Decoder.h"
#include "kvc/Sim/Syntax/Parser.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace kvc::sim;

static void require(bool condition, const char *what) {
  if (condition)
    return;
  std::fprintf(stderr, "ptx_fuzz: %s\n", what);
  std::abort();
}

static void requireError(const Error &error) {
  const std::string text = error.str();
  require(std::all_of(text.begin(), text.end(),
                      [](char c) { return c >= 0x20 && c < 0x7f; }),
          "an error that is no printable line");
  require(error.at.line > 0 && error.at.column > 0, "an error without a place");
  require(!error.message.empty(), "an error without a message");
}

static void requireSlot(const Program &program, const Slot &slot) {
  switch (slot.file()) {
  case Slot::File::Nothing:
    return;
  case Slot::File::Register:
    require(slot.index() + slot.rows() <= program.registerRows,
            "a register beyond the rows");
    return;
  case Slot::File::Constant:
    require(slot.index() + slot.rows() <= program.constantRows,
            "a constant beyond the rows");
    return;
  case Slot::File::Predicate:
    require(slot.index() < program.predicates, "a predicate beyond the words");
    require(!slot.isWritten() || slot.index() > kTrue,
            "a constant predicate that is written");
    return;
  case Slot::File::Immediate:
    require(slot.index() < program.immediates.size(),
            "an immediate that is not there");
    return;
  }
  require(false, "a slot of no file");
}

/// Of instructions that go elsewhere.
static void requireTarget(const Program &program, const Inst &inst) {
  switch (inst.family) {
  case Family::Bra:
    require(inst.target < program.code.size(), "a branch to nowhere");
    return;
  case Family::Brx:
    require(inst.target < program.switches.size(), "brx without its targets");
    for (uint32_t target : program.switches[inst.target].targets)
      require(target < program.code.size(), "brx to nowhere");
    return;
  case Family::Call: {
    require(inst.target < program.calls.size(), "a call without its site");
    const CallSite &site = program.calls[inst.target];
    require(site.function == kNowhere ||
                site.function < program.functions.size(),
            "a call of no function");
    requireSlot(program, site.pointer);
    for (const ParamPlace &place : site.arguments)
      requireSlot(program, place.slot);
    for (const ParamPlace &place : site.results)
      requireSlot(program, place.slot);
    return;
  }
  default:
    require(inst.target == kNowhere, "a target of no branch");
  }
}

static void requireProgram(const Program &program) {
  const size_t count = program.code.size();
  require(count > 0 && program.places.size() == count &&
              program.blockOf.size() == count,
          "lists of other lengths");
  require(program.slotNames.size() == program.slots.size(),
          "slots without names");
  for (const Inst &inst : program.code) {
    require(uint64_t(inst.firstSlot) + inst.slotCount <= program.slots.size(),
            "slots beyond the pool");
    require(inst.modifiers < program.modifiers.size(), "no modifiers");
    requireSlot(program, inst.guard);
    for (const Slot &slot : program.slotsOf(inst))
      requireSlot(program, slot);
    requireTarget(program, inst);
  }
  for (const Block &block : program.blocks) {
    require(block.first < block.end && block.end <= count, "an empty block");
    require(block.meets == kNowhere || block.meets < program.blocks.size(),
            "a join that is no block");
    for (uint32_t next : block.successors)
      require(next < program.blocks.size(), "an edge to no block");
  }
  require(program.localBytes <= kMaxLocalBytes &&
              program.paramBytes <= kMaxParamBytes,
          "memory beyond its limits");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Expected<Module> module =
      parseModule(std::string(reinterpret_cast<const char *>(data), size));
  if (!module) {
    requireError(module.error());
    return 0;
  }
  Expected<Symbols> symbols = Symbols::of(*module);
  if (!symbols) {
    requireError(symbols.error());
    return 0;
  }
  for (const Function &function : module->functions) {
    if (!function.isEntry || !function.hasBody)
      continue;
    Expected<Program> program = decodeKernel(*symbols, function.name.text);
    if (program)
      requireProgram(*program);
    else
      requireError(program.error());
  }
  return 0;
}
