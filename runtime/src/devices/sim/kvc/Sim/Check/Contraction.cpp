//===- Contraction.cpp - Products and sums that may become one ------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Check/Contraction.h"

#include <algorithm>
#include <map>
#include <optional>

using namespace kvc::sim;

namespace {

/// An opcode without what decides about pairs.
struct FloatOp {
  std::string_view name, type;
  bool ftz = false, sat = false;
};

/// mul, add and sub of floats without a rounding; nothing for all else.
std::optional<FloatOp> floatOp(std::string_view opcode) {
  FloatOp op;
  const size_t dot = opcode.find('.');
  op.name = opcode.substr(0, dot);
  if (op.name != "mul" && op.name != "add" && op.name != "sub")
    return std::nullopt;
  for (size_t begin = dot; begin != std::string_view::npos;) {
    const size_t end = opcode.find('.', begin + 1);
    const std::string_view word = opcode.substr(
        begin + 1, end == std::string_view::npos ? std::string_view::npos
                                                 : end - begin - 1);
    if (word == "ftz")
      op.ftz = true;
    else if (word == "sat")
      op.sat = true;
    else if (word == "f32" || word == "f64")
      op.type = word;
    else
      return std::nullopt;
    begin = end;
  }
  if (op.type.empty())
    return std::nullopt;
  return op;
}

struct Product {
  std::string_view first, second, guard;
  bool isGuardNegated = false;
  FloatOp op;
};

class Contractor {
public:
  explicit Contractor(const Module &module) : module(module) {
    starts.push_back(0);
    for (size_t i = 0; i < module.text->size(); ++i)
      if ((*module.text)[i] == '\n')
        starts.push_back(i + 1);
  }

  Contraction run() {
    for (const Function &function : module.functions)
      contract(function);
    Contraction result;
    size_t done = 0;
    for (const Edit &edit : edits) {
      result.text += module.text->substr(done, edit.begin - done);
      result.text += edit.replacement;
      result.sums.push_back(edit.at);
      done = edit.end;
    }
    result.text += module.text->substr(done);
    return result;
  }

private:
  struct Edit {
    size_t begin, end;
    std::string replacement;
    Position at;
  };

  /// The text of an operand: up to a comma or semicolon.
  std::string_view textOf(const Operand &operand) const {
    const std::string_view all = *module.text;
    const size_t begin = starts[operand.at.line - 1] + operand.at.column - 1;
    const size_t end =
        std::min(all.find_first_of(",; \t\r\n", begin), all.size());
    return all.substr(begin, end - begin);
  }

  void contract(const Function &function) {
    products.clear();
    for (const Statement &statement : function.statements) {
      if (statement.kind == Statement::Kind::Declare)
        continue;
      if (statement.kind != Statement::Kind::Instruction) {
        products.clear();
        continue;
      }
      visit(function, function.instructions[statement.index]);
    }
  }

  void visit(const Function &function, const Instruction &instruction) {
    const auto *operands = function.operands.data() + instruction.firstOperand;
    const std::optional<FloatOp> op = floatOp(instruction.opcode);
    const bool isPlain =
        op && instruction.operandCount == 3 &&
        std::all_of(operands, operands + 3, [](const Operand &operand) {
          return operand.kind == Operand::Kind::Word ||
                 operand.kind == Operand::Kind::Number;
        });
    if (isPlain && op->name != "mul")
      contractSum(instruction, *op, operands);
    // What is written is no factor and no product any more.
    if (instruction.operandCount > 0)
      forget(function, operands[0]);
    if (isPlain && op->name == "mul") {
      const Product product{textOf(operands[1]), textOf(operands[2]),
                            instruction.guard.text, instruction.isGuardNegated,
                            *op};
      const std::string_view to = operands[0].text;
      // A saturated product is not the one that an fma has.
      if (!op->sat && product.first != to && product.second != to)
        products[to] = product;
    }
    const std::string_view name = instruction.opcode.substr(0, 3);
    if (name == "bra" || name == "brx" || name == "cal" || name == "ret")
      products.clear();
  }

  /// The registers that an instruction writes, or may: the first operand, and
  /// all of a vector, pair or list there.
  void forget(const Function &function, const Operand &operand) {
    for (uint32_t i = 0; i < operand.childCount; ++i)
      forget(function, function.operands[operand.firstChild + i]);
    if (operand.kind != Operand::Kind::Word)
      return;
    products.erase(operand.text);
    std::erase_if(products, [&](const auto &entry) {
      return entry.second.first == operand.text ||
             entry.second.second == operand.text;
    });
  }

  void contractSum(const Instruction &instruction, const FloatOp &op,
                   const Operand *operands) {
    for (unsigned which : {1u, 2u}) {
      const auto found = products.find(operands[which].text);
      if (found == products.end())
        continue;
      const Product &product = found->second;
      if (product.op.type != op.type || product.op.ftz != op.ftz ||
          product.guard != instruction.guard.text ||
          product.isGuardNegated != instruction.isGuardNegated)
        continue;
      const std::string_view other = textOf(operands[3 - which]);
      const std::string to(textOf(operands[0]));
      const std::string opcode =
          std::string("fma.rn") + (op.ftz ? ".ftz" : "") +
          (op.sat ? ".sat" : "") + "." + std::string(op.type) + " ";
      std::string first(product.first), addend(other), before;
      if (op.name == "sub") {
        std::string &negated = which == 1 ? addend : first;
        before = ".reg ." + std::string(op.type) + " %kvc_negated; neg." +
                 std::string(op.type) + " %kvc_negated, " + negated + "; ";
        negated = "%kvc_negated";
      }
      const std::string guard =
          instruction.guard.text.empty()
              ? ""
              : std::string(instruction.isGuardNegated ? "@!" : "@") +
                    std::string(instruction.guard.text) + " ";
      const std::string sum = guard + opcode + to + ", " + first + ", " +
                              std::string(product.second) + ", " + addend + ";";
      const size_t opcodeAt =
          static_cast<size_t>(instruction.opcode.data() - module.text->data());
      const size_t begin =
          guard.empty() ? opcodeAt : module.text->rfind('@', opcodeAt);
      const size_t end = module.text->find(';', opcodeAt) + 1;
      edits.push_back({begin, end,
                       before.empty() ? sum : "{ " + before + sum + " }",
                       instruction.at});
      return;
    }
  }

  const Module &module;
  std::vector<size_t> starts;                   ///< Of lines.
  std::map<std::string_view, Product> products; ///< By their registers.
  std::vector<Edit> edits;
};

} // namespace

Contraction kvc::sim::contractionOf(const Module &module) {
  return Contractor(module).run();
}
