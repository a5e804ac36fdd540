//===- ScoreRegion.cpp - A function of one score --------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Dialect/KVC/ScoreRegion.h"

#include "kvc/Dialect/KVC/KVCOps.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace kvc {

//===----------------------------------------------------------------------===//
// Form
//===----------------------------------------------------------------------===//

ParseResult parseScoreRegion(OpAsmParser &parser, Region &region) {
  SmallVector<OpAsmParser::Argument> arguments;
  return failure(parser.parseArgumentList(arguments,
                                          OpAsmParser::Delimiter::Paren,
                                          /*allowType=*/true) ||
                 parser.parseRegion(region, arguments));
}

void printScoreRegion(OpAsmPrinter &printer, Operation *, Region &region) {
  printer << '(';
  llvm::interleaveComma(
      region.getArguments(), printer,
      [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ") ";
  printer.printRegion(region, /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

namespace {

/// Types of scalars, as bits.
enum Types : uint8_t {
  None = 0,
  F32 = 1,
  I32 = 2,
  I1 = 4,
  Any = F32 | I32 | I1
};

struct Signature {
  Types operands, results;
  /// Least and largest constant that the second operand may be; 0 and 0: any.
  int64_t least = 0, most = 0;
};

constexpr Signature kFloats = {F32, F32}, kInts = {I32, I32},
                    kBits = {Types(I32 | I1), Types(I32 | I1)},
                    kDivisions = {I32, I32, 1, INT32_MAX},
                    kShifts = {I32, I32, 0, 31};

/// What an operation takes and gives; null: none of a score region.
const Signature *signatureOf(StringRef name) {
  static const llvm::StringMap<Signature> signatures = {
      {"arith.constant", {None, Any}},
      {"arith.select", {Any, Any}},
      {"arith.addf", kFloats},
      {"arith.subf", kFloats},
      {"arith.mulf", kFloats},
      {"arith.divf", kFloats},
      {"arith.negf", kFloats},
      {"arith.maximumf", kFloats},
      {"arith.minimumf", kFloats},
      {"arith.maxnumf", kFloats},
      {"arith.minnumf", kFloats},
      {"math.absf", kFloats},
      {"math.ceil", kFloats},
      {"math.copysign", kFloats},
      {"math.cos", kFloats},
      {"math.exp", kFloats},
      {"math.exp2", kFloats},
      {"math.floor", kFloats},
      {"math.log", kFloats},
      {"math.log2", kFloats},
      {"math.roundeven", kFloats},
      {"math.sin", kFloats},
      {"math.sqrt", kFloats},
      {"math.tanh", kFloats},
      {"arith.addi", kInts},
      {"arith.subi", kInts},
      {"arith.muli", kInts},
      {"arith.minsi", kInts},
      {"arith.maxsi", kInts},
      {"arith.divsi", kDivisions},
      {"arith.remsi", kDivisions},
      {"arith.floordivsi", kDivisions},
      {"arith.ceildivsi", kDivisions},
      {"arith.shli", kShifts},
      {"arith.shrsi", kShifts},
      {"arith.shrui", kShifts},
      {"arith.andi", kBits},
      {"arith.ori", kBits},
      {"arith.xori", kBits},
      {"arith.cmpf", {F32, I1}},
      {"arith.cmpi", {I32, I1}},
      {"arith.sitofp", {I32, F32}},
      {"arith.uitofp", {Types(I32 | I1), F32}},
      {"arith.extui", {I1, I32}},
  };
  auto it = signatures.find(name);
  return it == signatures.end() ? nullptr : &it->second;
}

bool isOneOf(Type type, Types types) {
  return ((types & F32) && type.isF32()) ||
         ((types & I32) && type.isSignlessInteger(32)) ||
         ((types & I1) && type.isSignlessInteger(1));
}

std::string nameOf(Types types) {
  SmallVector<StringRef, 3> names;
  if (types & F32)
    names.push_back("f32");
  if (types & I32)
    names.push_back("i32");
  if (types & I1)
    names.push_back("i1");
  return llvm::join(names, " or ");
}

LogicalResult verifyTypes(Operation &op, TypeRange types, Types allowed) {
  for (Type type : types)
    if (!isOneOf(type, allowed))
      return op.emitOpError("in a score region: expected ")
             << nameOf(allowed) << ", got " << type;
  return success();
}

LogicalResult verifyOp(Operation &op) {
  const Signature *signature = signatureOf(op.getName().getStringRef());
  if (!signature) // C8
    return op.emitOpError(
        "in a score region: expected an operation of arith or math that "
        "kvc.attend lists");
  if (failed(verifyTypes(op, op.getOperandTypes(), signature->operands)) ||
      failed(verifyTypes(op, op.getResultTypes(), signature->results))) // C8
    return failure();
  if (signature->most == 0)
    return success();
  APInt value;
  if (!matchPattern(op.getOperand(1), m_ConstantInt(&value)) ||
      value.getSExtValue() < signature->least ||
      value.getSExtValue() > signature->most) // C9
    return op.emitOpError("in a score region: second operand: expected a "
                          "constant from ")
           << signature->least << " to " << signature->most;
  return success();
}

} // namespace

LogicalResult verifyScoreRegion(Operation *op, Region &region) {
  if (region.empty())
    return success();
  Block &block = region.front();
  bool isRight = block.getNumArguments() == 5 && // C7
                 block.getArgument(0).getType().isF32();
  for (BlockArgument argument : block.getArguments().drop_front(isRight))
    isRight = isRight && argument.getType().isSignlessInteger(32);
  if (!isRight)
    return op->emitOpError("score region: expected arguments (score: f32, "
                           "query: i32, key: i32, head: i32, kv_head: i32), "
                           "got types (")
           << block.getArgumentTypes() << ")";
  if (!isa<YieldOp>(block.back())) // C7
    return op->emitOpError("score region: expected kvc.yield at its end, got ")
           << block.back().getName();
  for (Operation &each : block.without_terminator())
    if (failed(verifyOp(each)))
      return failure();
  return success();
}

LogicalResult AttentionSpecOp::verifyRegions() {
  return verifyScoreRegion(*this, getScore()); // C1
}

LogicalResult AttendOp::verifyRegions() {
  return verifyScoreRegion(*this, getScore()); // C7, C8, C9
}

} // namespace kvc
