//===- Link.cpp - Functions put together to a program ---------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Decode/Flow.h"
#include "kvc/Sim/Decode/Rows.h"

#include <algorithm>

using namespace kvc::sim;

namespace {

/// Whether an instruction ends its block.
bool endsBlock(const Inst &inst) {
  return inst.family == Family::Bra || inst.family == Family::Brx ||
         inst.family == Family::Ret || inst.family == Family::Exit ||
         inst.family == Family::Trap;
}

bool isGuarded(const Inst &inst) { return inst.guard != Inst().guard; }

/// Cuts a function into blocks, numbered from 0, with successors.
std::vector<Block> blocksOf(const DecodedFunction &function) {
  const auto count = static_cast<uint32_t>(function.code.size());
  std::vector<bool> begins(count + 1, false);
  begins[0] = begins[count] = true;
  for (uint32_t i = 0; i < count; ++i) {
    const Inst &inst = function.code[i];
    if (!endsBlock(inst))
      continue;
    begins[i + 1] = true;
    if (inst.family == Family::Bra)
      begins[inst.target] = true;
    else if (inst.family == Family::Brx)
      for (uint32_t target : function.switches[inst.target].targets)
        begins[target] = true;
  }
  std::vector<Block> blocks;
  std::vector<uint32_t> blockAt(count, 0);
  for (uint32_t i = 0; i < count; ++i) {
    if (begins[i]) {
      Block block;
      block.first = i;
      blocks.push_back(std::move(block));
    }
    blockAt[i] = static_cast<uint32_t>(blocks.size() - 1);
    blocks.back().end = i + 1;
  }
  for (uint32_t i = 0; i < blocks.size(); ++i) {
    Block &block = blocks[i];
    const Inst &last = function.code[block.end - 1];
    std::vector<uint32_t> &to = block.successors;
    if ((!endsBlock(last) || isGuarded(last)) && block.end < count)
      to.push_back(i + 1);
    if (last.family == Family::Bra)
      to.push_back(blockAt[last.target]);
    else if (last.family == Family::Brx)
      for (uint32_t target : function.switches[last.target].targets)
        to.push_back(blockAt[target]);
    std::sort(to.begin(), to.end());
    to.erase(std::unique(to.begin(), to.end()), to.end());
  }
  return blocks;
}

class Linker {
public:
  Linker(ProgramBuilder &builder, std::vector<DecodedFunction> &functions)
      : builder(builder), program(builder.program), functions(functions),
        module(builder.symbols.module()), parts(functions.size()) {}

  bool link() {
    if (!orderCalls())
      return false;
    for (uint32_t i = 0; i < functions.size(); ++i)
      if (!analyse(i))
        return false;
    if (!placeFrames())
      return false;
    std::vector<uint64_t> frames;
    for (const Part &part : parts)
      frames.push_back(part.frame);
    builder.settle(frames);
    for (uint32_t i = 0; i < functions.size(); ++i)
      append(i);
    return true;
  }

private:
  /// Where a function's registers, predicates and frame begin.
  struct Part {
    std::vector<Block> blocks;
    RowAssignment assignment;
    uint32_t rows = 0, predicates = 0;
    uint64_t frame = 0;
  };

  bool fail(const Name &name, std::string_view expected, std::string_view got) {
    return builder.diagnosis.fail(name.at, name.text, expected, got);
  }
  const Function &syntaxOf(uint32_t index) const {
    return module.functions[functions[index].indexInModule];
  }

  /// Callers before those that they call.
  bool orderCalls() {
    enum class State : uint8_t { New, Open, Done };
    std::vector<State> states(functions.size(), State::New);
    for (uint32_t root = 0; root < functions.size(); ++root) {
      std::vector<std::pair<uint32_t, size_t>> frames;
      if (states[root] == State::New)
        frames.emplace_back(root, 0);
      while (!frames.empty()) {
        auto &[index, next] = frames.back();
        states[index] = State::Open;
        const std::vector<uint32_t> &callees = functions[index].callees;
        if (next == callees.size()) {
          states[index] = State::Done;
          sequence.push_back(index);
          frames.pop_back();
          continue;
        }
        const uint32_t callee = callees[next++];
        if (states[callee] == State::Open)
          return fail(syntaxOf(callee).name,
                      "a function that never calls itself",
                      "one that does, by itself or by others");
        if (states[callee] == State::New)
          frames.emplace_back(callee, 0);
      }
    }
    std::reverse(sequence.begin(), sequence.end());
    return true;
  }

  bool analyse(uint32_t index) {
    DecodedFunction &function = functions[index];
    Part &part = parts[index];
    part.blocks = blocksOf(function);
    FlowGraph graph;
    for (const Block &block : part.blocks)
      graph.push_back(block.successors);
    std::optional<FlowOrder> order = orderOf(graph);
    if (!order)
      return fail(syntaxOf(index).name,
                  "at most " + std::to_string(kMaxLoopDepth) +
                      " loops inside of each other",
                  "more");
    const std::vector<uint32_t> meets = postDominatorsOf(graph, *order);
    // What nothing reaches comes last.
    const auto count = static_cast<uint32_t>(part.blocks.size());
    for (Block &block : part.blocks)
      block.rank = count;
    for (uint32_t rank = 0; rank < order->nodes.size(); ++rank) {
      const uint32_t node = order->nodes[rank];
      part.blocks[node].rank = rank;
      part.blocks[node].loopDepth = order->depths[node];
      part.blocks[node].meets = meets[node];
    }
    part.assignment = assignRows(function, part.blocks, order->nodes);
    return true;
  }

  /// Frames lie above those of all callers.
  bool placeFrames() {
    const uint32_t firstRow = (program.registerRows + 3) / 4 * 4;
    const uint32_t firstPredicate = program.predicates;
    for (Part &part : parts) {
      part.rows = firstRow;
      part.predicates = firstPredicate;
    }
    uint64_t rows = firstRow, predicates = firstPredicate, local = 0;
    for (uint32_t index : sequence) {
      const Part &part = parts[index];
      const uint64_t rowEnd =
          uint64_t(part.rows) + (part.assignment.rows + 3) / 4 * 4;
      const uint64_t predicateEnd =
          uint64_t(part.predicates) + functions[index].predicates.size();
      const uint64_t frameEnd =
          part.frame + (functions[index].frameBytes + 15) / 16 * 16;
      if (rowEnd > Slot::kMaxIndex || predicateEnd > Slot::kMaxIndex ||
          program.constantRows > Slot::kMaxIndex ||
          program.immediates.size() > Slot::kMaxIndex)
        return fail(syntaxOf(index).name,
                    "at most 2^24 rows of registers or constants", "more");
      if (frameEnd > kMaxLocalBytes)
        return fail(syntaxOf(index).name,
                    "at most " + std::to_string(kMaxLocalBytes) +
                        " bytes of local memory with its callers",
                    std::to_string(frameEnd));
      rows = std::max(rows, rowEnd);
      predicates = std::max(predicates, predicateEnd);
      local = std::max(local, frameEnd);
      for (uint32_t callee : functions[index].callees) {
        Part &below = parts[callee];
        below.rows = std::max(below.rows, static_cast<uint32_t>(rowEnd));
        below.predicates =
            std::max(below.predicates, static_cast<uint32_t>(predicateEnd));
        below.frame = std::max(below.frame, frameEnd);
      }
    }
    program.registerRows = static_cast<uint32_t>(rows);
    program.predicates = static_cast<uint32_t>(predicates);
    program.localBytes = local;
    return true;
  }

  /// A slot of a function as one of the program.
  Slot placed(uint32_t index, Slot slot) const {
    const DecodedFunction &function = functions[index];
    const Part &part = parts[index];
    if (slot.file() == Slot::File::Register) {
      const uint32_t id = slot.index();
      const uint32_t special = function.registers[id].special;
      if (special != kNowhere)
        return slot.at(program.specials[special].slot.index());
      const uint32_t row = part.assignment.firstRow[id];
      return slot.at(row == kNowhere ? 0 : part.rows + row);
    }
    if (slot.file() == Slot::File::Predicate && slot.index() > kTrue) {
      const uint32_t id = slot.index() - 2;
      const uint32_t special = function.predicates[id].special;
      if (special != kNowhere)
        return slot.at(program.specials[special].slot.index());
      return slot.at(part.predicates + id);
    }
    return slot;
  }

  std::string_view nameOfSlot(uint32_t index, Slot slot) const {
    const DecodedFunction &function = functions[index];
    if (slot.file() == Slot::File::Register)
      return function.registers[slot.index()].name;
    if (slot.file() == Slot::File::Predicate && slot.index() > kTrue)
      return function.predicates[slot.index() - 2].name;
    return "";
  }

  ParamPlace placed(uint32_t index, ParamPlace place) const {
    place.slot = placed(index, place.slot);
    if (place.slot.isNothing())
      place.offset += parts[index].frame;
    return place;
  }

  void append(uint32_t index) {
    DecodedFunction &function = functions[index];
    Part &part = parts[index];
    const auto firstInst = static_cast<uint32_t>(program.code.size());
    const auto firstBlock = static_cast<uint32_t>(program.blocks.size());
    const auto firstCall = static_cast<uint32_t>(program.calls.size());
    const auto firstSwitch = static_cast<uint32_t>(program.switches.size());
    const auto firstSlot = static_cast<uint32_t>(program.slots.size());

    for (Slot slot : function.slots) {
      program.slots.push_back(placed(index, slot));
      program.slotNames.push_back(nameOfSlot(index, slot));
    }
    for (Inst inst : function.code) {
      inst.guard = placed(index, inst.guard);
      inst.firstSlot += firstSlot;
      if (inst.target != kNowhere)
        inst.target += inst.family == Family::Bra   ? firstInst
                       : inst.family == Family::Brx ? firstSwitch
                                                    : firstCall;
      program.code.push_back(inst);
    }
    program.places.insert(program.places.end(), function.places.begin(),
                          function.places.end());
    for (Switch &list : function.switches) {
      for (uint32_t &target : list.targets)
        target += firstInst;
      program.switches.push_back(std::move(list));
    }
    for (CallSite &site : function.calls) {
      site.pointer = placed(index, site.pointer);
      for (auto *places : {&site.arguments, &site.results})
        for (ParamPlace &place : *places)
          place = placed(index, place);
      program.calls.push_back(std::move(site));
    }
    for (Block &block : part.blocks) {
      const auto number = static_cast<uint32_t>(program.blocks.size());
      program.blockOf.insert(program.blockOf.end(), block.end - block.first,
                             number);
      block.first += firstInst;
      block.end += firstInst;
      block.function = index;
      if (block.meets != kNowhere)
        block.meets += firstBlock;
      for (uint32_t &to : block.successors)
        to += firstBlock;
      program.blocks.push_back(std::move(block));
    }
    for (MemoryObject &object : function.locals) {
      object.offset += part.frame;
      program.objects.push_back(object);
    }

    ProgramFunction entry;
    entry.name = syntaxOf(index).name.text;
    entry.indexInModule = function.indexInModule;
    entry.first = firstInst;
    entry.end = static_cast<uint32_t>(program.code.size());
    entry.firstBlock = firstBlock;
    entry.endBlock = static_cast<uint32_t>(program.blocks.size());
    if (function.returnAddress != kNowhere)
      entry.returnAddress =
          placed(index, {Slot::File::Register, 32, function.returnAddress});
    for (const ParamPlace &place : function.params)
      entry.params.push_back(placed(index, place));
    for (const ParamPlace &place : function.results)
      entry.results.push_back(placed(index, place));
    program.functions.push_back(std::move(entry));
  }

  ProgramBuilder &builder;
  Program &program;
  std::vector<DecodedFunction> &functions;
  const Module &module;
  std::vector<Part> parts;
  std::vector<uint32_t> sequence; ///< Callers first.
};

} // namespace

bool kvc::sim::linkProgram(ProgramBuilder &builder,
                           std::vector<DecodedFunction> &functions) {
  return Linker(builder, functions).link();
}

Expected<Program> kvc::sim::decodeKernel(const Symbols &symbols,
                                         std::string_view name) {
  ProgramBuilder builder(symbols);
  const Module &module = symbols.module();
  const std::optional<uint32_t> kernel = symbols.functionNamed(name);
  if (!kernel || !module.functions[*kernel].isEntry ||
      !module.functions[*kernel].hasBody) {
    builder.diagnosis.fail({1, 1}, "kernel",
                           "the name of an .entry with a body", quote(name));
    return *builder.diagnosis.error;
  }
  builder.program.text = module.text;
  builder.program.name = module.functions[*kernel].name.text;
  builder.function(*kernel);
  // Each function adds those that it may call.
  std::vector<DecodedFunction> functions;
  while (functions.size() < builder.functions.size()) {
    DecodedFunction &function = functions.emplace_back();
    const auto owner = static_cast<uint32_t>(functions.size() - 1);
    function.indexInModule = builder.functions[owner];
    if (!decodeFunction(builder, owner, function))
      return *builder.diagnosis.error;
  }
  if (!linkProgram(builder, functions))
    return *builder.diagnosis.error;
  return std::move(builder.program);
}
