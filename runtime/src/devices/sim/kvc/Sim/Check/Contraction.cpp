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

/// mul, add and sub of floats without a rounding, neg and mov, which pass
/// products on; nothing for all else.
std::optional<FloatOp> floatOp(std::string_view opcode) {
  FloatOp op;
  const size_t dot = opcode.find('.');
  op.name = opcode.substr(0, dot);
  if (op.name != "mul" && op.name != "add" && op.name != "sub" &&
      op.name != "neg" && op.name != "mov")
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
    else if (word == "f32" || word == "f64" || word == "f16" ||
             word == "f16x2" || word == "bf16" || word == "bf16x2" ||
             word == "f32x2" || (op.name == "mov" && word.starts_with('b')))
      op.type = word;
    else
      return std::nullopt;
    begin = end;
  }
  if (op.type.empty())
    return std::nullopt;
  return op;
}

/// A register `to` that is the negation of a value.
std::string negation(std::string_view type, const std::string &to,
                     const std::string &value) {
  if (type == "f32" || type == "f64")
    return ".reg ." + std::string(type) + " " + to + "; neg." +
           std::string(type) + " " + to + ", " + value + "; ";
  const std::string bits = type == "f32x2"        ? "b64"
                           : type.ends_with("x2") ? "b32"
                                                  : "b16";
  return ".reg ." + bits + " " + to + "; xor." + bits + " " + to + ", " +
         value + ", " +
         (bits == "b64"   ? "0x8000000080000000"
          : bits == "b32" ? "0x80008000"
                          : "0x8000") +
         "; ";
}

struct Product {
  std::string_view first, second, guard;
  bool isGuardNegated = false;
  bool isNegated = false;
  FloatOp op;
};

class Contractor {
public:
  Contractor(const Module &module, bool takesSecond)
      : module(module), takesSecond(takesSecond) {
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
    outer.clear();
    for (const Statement &statement : function.statements)
      switch (statement.kind) {
      case Statement::Kind::Open:
        outer.push_back({products, {}});
        break;
      case Statement::Kind::Close:
        leaveScope();
        break;
      case Statement::Kind::Declare:
        hide(function.variables[statement.index]);
        break;
      case Statement::Kind::Instruction:
        visit(function, function.instructions[statement.index]);
        break;
      case Statement::Kind::Label:
        // Who comes from elsewhere brings other products.
        products.clear();
        for (Scope &scope : outer)
          scope.products.clear();
        break;
      case Statement::Kind::Targets:
        break;
      }
  }

  /// Products from before a scope are there again, but for what it has written.
  void leaveScope() {
    if (outer.empty())
      return;
    Scope scope = std::move(outer.back());
    outer.pop_back();
    products = std::move(scope.products);
    for (std::string_view name : scope.written)
      forget(name);
  }

  /// A name that means something else from here to the end of its scope.
  void hide(const Variable &variable) {
    auto isMeant = [&](std::string_view name) {
      return variable.isRange ? name.starts_with(variable.name.text)
                              : name == variable.name.text;
    };
    std::erase_if(products, [&](const auto &entry) {
      return isMeant(entry.first) || isMeant(entry.second.first) ||
             isMeant(entry.second.second) || isMeant(entry.second.guard);
    });
  }

  void visit(const Function &function, const Instruction &instruction) {
    const auto *operands = function.operands.data() + instruction.firstOperand;
    const std::optional<FloatOp> op = floatOp(instruction.opcode);
    const size_t count = !op                                      ? 0
                         : op->name == "neg" || op->name == "mov" ? 2
                                                                  : 3;
    const bool isPlain =
        op && instruction.operandCount == count &&
        std::all_of(operands, operands + count, [](const Operand &operand) {
          return operand.kind == Operand::Kind::Word ||
                 operand.kind == Operand::Kind::Number;
        });
    std::optional<Product> product;
    if (isPlain && op->name == "mul")
      product = Product{textOf(operands[1]),    textOf(operands[2]),
                        instruction.guard.text, instruction.isGuardNegated,
                        /*isNegated=*/false,    *op};
    else if (isPlain && count == 2)
      product = passedOn(instruction, *op, operands[1]);
    else if (isPlain)
      contractSum(instruction, *op, operands);
    // What is written is no factor and no product any more.
    if (instruction.operandCount > 0)
      forget(function, operands[0]);
    // A saturated product is not the one that an fma has.
    if (product && !product->op.sat && product->first != operands[0].text &&
        product->second != operands[0].text)
      products[operands[0].text] = *product;
    // Behind a branch that is not taken everything is as before.
    if (instruction.opcode.starts_with("call"))
      products.clear();
  }

  /// The product that mov or neg of it is.
  std::optional<Product> passedOn(const Instruction &instruction,
                                  const FloatOp &op,
                                  const Operand &source) const {
    const auto found = products.find(source.text);
    if (found == products.end() || !isBeside(found->second, instruction))
      return std::nullopt;
    Product product = found->second;
    if (op.name == "neg") {
      if (op.type != product.op.type || op.ftz != product.op.ftz)
        return std::nullopt;
      product.isNegated = !product.isNegated;
    }
    return product;
  }

  /// Whether an instruction runs where the one of a product did.
  static bool isBeside(const Product &product, const Instruction &instruction) {
    return product.guard == instruction.guard.text &&
           product.isGuardNegated == instruction.isGuardNegated;
  }

  /// The registers that an instruction writes, or may: the first operand, and
  /// all of a vector, pair or list there.
  void forget(const Function &function, const Operand &operand) {
    for (uint32_t i = 0; i < operand.childCount; ++i)
      forget(function, function.operands[operand.firstChild + i]);
    if (operand.kind == Operand::Kind::Word)
      forget(operand.text);
  }

  void forget(std::string_view name) {
    if (!outer.empty())
      outer.back().written.push_back(name);
    std::erase_if(products, [&](const auto &entry) {
      return entry.first == name || entry.second.first == name ||
             entry.second.second == name || entry.second.guard == name;
    });
  }

  void contractSum(const Instruction &instruction, const FloatOp &op,
                   const Operand *operands) {
    for (unsigned which : {takesSecond ? 2u : 1u, takesSecond ? 1u : 2u}) {
      const auto found = products.find(operands[which].text);
      if (found == products.end())
        continue;
      const Product &product = found->second;
      if (product.op.type != op.type || product.op.ftz != op.ftz ||
          !isBeside(product, instruction))
        continue;
      const std::string to(textOf(operands[0]));
      const std::string opcode =
          std::string("fma.rn") + (op.ftz ? ".ftz" : "") +
          (op.sat ? ".sat" : "") + "." + std::string(op.type) + " ";
      std::string first(product.first), addend(textOf(operands[3 - which]));
      std::string before;
      const bool isSub = op.name == "sub";
      if (product.isNegated != (isSub && which == 2)) {
        before += negation(op.type, "%kvc_factor", first);
        first = "%kvc_factor";
      }
      if (isSub && which == 1) {
        before += negation(op.type, "%kvc_addend", addend);
        addend = "%kvc_addend";
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
  const bool takesSecond;     ///< Of two products that a sum has.
  std::vector<size_t> starts; ///< Of lines.
  using Products = std::map<std::string_view, Product>;
  struct Scope {
    Products products; ///< At its beginning.
    std::vector<std::string_view> written;
  };
  Products products;        ///< By their registers.
  std::vector<Scope> outer; ///< Around the place that is looked at.
  std::vector<Edit> edits;
};

} // namespace

Contraction kvc::sim::contractionOf(const Module &module, bool takesSecond) {
  return Contractor(module, takesSecond).run();
}
