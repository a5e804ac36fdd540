//===- DecodeCalls.cpp - Calls and their arguments ------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Decode/FunctionDecoder.h"

#include <algorithm>

using namespace kvc::sim;

using OperandKind = Operand::Kind;

std::string_view kvc::sim::nameOf(Builtin builtin) {
  static constexpr std::string_view names[] = {"", "vprintf", "__assertfail",
                                               "malloc", "free"};
  return names[static_cast<size_t>(builtin)];
}

static Builtin builtinNamed(std::string_view name) {
  for (Builtin builtin :
       {Builtin::Vprintf, Builtin::AssertFail, Builtin::Malloc, Builtin::Free})
    if (nameOf(builtin) == name)
      return builtin;
  return Builtin::None;
}

/// Whether a declaration has the parameters and results that the machine's own
/// function has, by their bytes.
static bool isDeclaredRight(const Function &function, Builtin builtin) {
  static const std::vector<uint64_t> params[] = {
      {}, {8, 8}, {8, 8, 4, 8, 8}, {8}, {8}};
  static const std::vector<uint64_t> results[] = {{}, {4}, {}, {8}, {}};
  auto agree = [](const std::vector<Variable> &variables,
                  const std::vector<uint64_t> &bytes) {
    return std::equal(variables.begin(), variables.end(), bytes.begin(),
                      bytes.end(), [](const Variable &variable, uint64_t size) {
                        return variable.space == Space::Param &&
                               variable.bytes == size;
                      });
  };
  return agree(function.params, params[static_cast<size_t>(builtin)]) &&
         agree(function.results, results[static_cast<size_t>(builtin)]);
}

/// Whether values of one may be handed over as the other.
static bool isAlike(const Variable &a, const Variable &b) {
  return a.space == b.space &&
         (a.space == Space::Register ? bitsOf(a.type) == bitsOf(b.type)
                                     : a.bytes == b.bytes);
}

static bool isAlike(const std::vector<Variable> &a,
                    const std::vector<Variable> &b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(),
                    [](const Variable &left, const Variable &right) {
                      return isAlike(left, right);
                    });
}

/// call [(results),] target [, (arguments)] [, prototype or targets]
bool FunctionDecoder::decodeCall(Pending &pending) {
  const Instruction &instruction = *pending.syntax;
  const Operand *next = syntax.operands.data() + instruction.firstOperand;
  const Operand *end = next + instruction.operandCount;
  const Operand *results = nullptr, *arguments = nullptr, *list = nullptr;
  if (next != end && next->kind == OperandKind::List)
    results = next++;
  if (next == end || next->kind != OperandKind::Word || next->isNegated)
    return fail(instruction.at, instruction.opcode, "a function",
                next == end ? "none" : describe(*next));
  const Operand &target = *next++;
  if (next != end && next->kind == OperandKind::List)
    arguments = next++;
  RegisterUse use;
  const bool isPointer = findRegister(target.text, use);
  if (isPointer && next != end && next->kind == OperandKind::Word)
    list = next++;
  if (next != end)
    return fail(next->at, instruction.opcode, "no more operands",
                describe(*next));

  CallSite site;
  Signature signature;
  if (isPointer ? !callPointer(pending, target, list, signature, site)
                : !callNamed(pending, target, signature, site))
    return false;
  if (!addPlaces(pending, results, *signature.first, true, site.results) ||
      !addPlaces(pending, arguments, *signature.second, false, site.arguments))
    return false;
  // What it reads and writes, so that registers live as long as they must.
  if (isPointer)
    pending.slots.push_back(site.pointer);
  for (const ParamPlace &place : site.results)
    if (!place.slot.isNothing())
      pending.slots.push_back(place.slot);
  for (const ParamPlace &place : site.arguments)
    if (!place.slot.isNothing())
      pending.slots.push_back(place.slot);
  if (pending.slots.size() > 255)
    return fail(instruction.at, instruction.opcode,
                "at most 255 registers and constants",
                std::to_string(pending.slots.size()));
  pending.inst.target = static_cast<uint32_t>(result.calls.size());
  result.calls.push_back(std::move(site));
  return true;
}

void FunctionDecoder::addCallee(uint32_t function) {
  if (std::find(result.callees.begin(), result.callees.end(), function) ==
      result.callees.end())
    result.callees.push_back(function);
}

bool FunctionDecoder::callFunction(Position at, std::string_view name,
                                   Signature &signature, CallSite &site) {
  const std::optional<uint32_t> index = builder.symbols.functionNamed(name);
  if (!index || scopes.find(name).kind != Symbol::Kind::None) {
    Operand operand;
    operand.text = name;
    return fail(at, "call", "a function", describe(operand));
  }
  const Function &function = builder.symbols.module().functions[*index];
  if (function.isEntry)
    return fail(at, "call", "a function",
                "the kernel " + quote(function.name.text));
  signature = {&function.results, &function.params};
  site.builtin = function.hasBody ? Builtin::None : builtinNamed(name);
  if (site.builtin != Builtin::None)
    return isDeclaredRight(function, site.builtin) ||
           fail(at, "call", "the parameters of CUDA's " + std::string(name),
                "others");
  if (!function.hasBody)
    return fail(at, "call",
                "a function with a body, or vprintf, __assertfail, malloc or "
                "free",
                "a declaration of " + quote(name));
  site.function = builder.function(*index);
  addCallee(site.function);
  return true;
}

bool FunctionDecoder::callNamed(const Pending &pending, const Operand &target,
                                Signature &signature, CallSite &site) {
  if (target.offset != 0 || target.isIndexed)
    return fail(target.at, pending.syntax->opcode, "a function",
                "a name and an offset");
  return callFunction(target.at, target.text, signature, site);
}

/// A call through a register needs a prototype, or a list of functions.
bool FunctionDecoder::callPointer(const Pending &pending, const Operand &target,
                                  const Operand *list, Signature &signature,
                                  CallSite &site) {
  const std::string_view what = pending.syntax->opcode;
  RegisterUse use;
  findRegister(target.text, use);
  if (use.count != 1 || !fits(Type::B64, use.type))
    return fail(target.at, what, "a function's address in 64 bits",
                describe(target));
  site.pointer = slotOf(use, false);
  const Symbol symbol = list ? scopes.find(list->text) : Symbol();
  if (symbol.kind != Symbol::Kind::Targets ||
      syntax.targetLists[symbol.index].kind == TargetList::Kind::Branches)
    return fail(list ? list->at : target.at, what,
                "a .callprototype or .calltargets for an indirect call",
                list ? describe(*list) : "none");
  const TargetList &targets = syntax.targetLists[symbol.index];
  const std::vector<Function> &functions = builder.symbols.module().functions;
  if (targets.kind == TargetList::Kind::Calls) {
    for (const Name &name : targets.targets) {
      CallSite candidate;
      if (!callFunction(name.at, name.text, signature, candidate))
        return false;
      if (candidate.function == kNowhere)
        return fail(name.at, what, "functions with a body", quote(name.text));
      site.candidates.push_back(candidate.function);
      const Function &first =
          functions[builder.functions[site.candidates.front()]];
      const Function &here = functions[builder.functions[candidate.function]];
      if (!isAlike(first.params, here.params) ||
          !isAlike(first.results, here.results))
        return fail(name.at, what, "functions with the same parameters",
                    quote(name.text));
    }
    return true;
  }
  signature = {&targets.results, &targets.params};
  for (uint32_t index : builder.addressTaken()) {
    const Function &function = functions[index];
    if (!isAlike(function.params, targets.params) ||
        !isAlike(function.results, targets.results))
      continue;
    site.candidates.push_back(builder.function(index));
    addCallee(site.candidates.back());
  }
  return true;
}

bool FunctionDecoder::addPlaces(const Pending &pending, const Operand *list,
                                const std::vector<Variable> &formals,
                                bool areResults,
                                std::vector<ParamPlace> &places) {
  const Instruction &instruction = *pending.syntax;
  const uint32_t count = list ? list->childCount : 0;
  if (count != formals.size())
    return fail(list ? list->at : instruction.at, instruction.opcode,
                std::to_string(formals.size()) +
                    (areResults ? " result" : " argument") +
                    (formals.size() == 1 ? "" : "s"),
                std::to_string(count));
  for (uint32_t i = 0; i < count; ++i) {
    ParamPlace place;
    if (!placeOf(pending, childrenOf(*list)[i], formals[i], areResults, place))
      return false;
    places.push_back(place);
  }
  return true;
}

/// Where the caller's side of one parameter is.
bool FunctionDecoder::placeOf(const Pending &pending, const Operand &actual,
                              const Variable &formal, bool isResult,
                              ParamPlace &place) {
  const std::string_view what = pending.syntax->opcode;
  const bool isScalar =
      formal.space == Space::Register || formal.extents.empty();
  place.bytes = formal.bytes;
  VariableUse variable;
  if (actual.kind == OperandKind::Word && formal.space == Space::Param &&
      findVariable(actual.text, variable) &&
      variable.variable->space == Space::Param &&
      variable.space == MemorySpace::Local) {
    const uint64_t bytes = variable.variable->bytes;
    if (bytes != formal.bytes && !formal.isUnsized)
      return fail(actual.at, what,
                  "a parameter of " + std::to_string(formal.bytes) + " bytes",
                  std::to_string(bytes) + " bytes");
    place.offset = variable.frameOffset;
    place.bytes = bytes;
    return true;
  }
  if (isScalar) {
    Pending scratch;
    scratch.syntax = pending.syntax;
    OperandForm form;
    form.type = formal.type;
    form.role = isResult ? Role::Destination : Role::Source;
    if (formal.type == Type::Pred
            ? !addPredicate(scratch, actual, isResult, false, false)
        : isResult ? !addDestination(scratch, form, actual, form.type, false)
                   : !addSource(scratch, form, actual, form.type, false))
      return false;
    place.slot = scratch.slots.front();
    return true;
  }
  return fail(actual.at, what, "a variable in .param", describe(actual));
}
