//===- ExpandMath.cpp - No library calls in kernels -----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Picks the operations that the target has no instruction for and replaces them
// by FloatMath.h.
//
//===----------------------------------------------------------------------===//

#include "kvc/Conversion/ExpandMath/FloatMath.h"
#include "kvc/Conversion/Passes.h"
#include "kvc/Dialect/KVC/KVCTileOps.h"
#include "kvc/Dialect/KVC/KVCTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

namespace kvc {
#define GEN_PASS_DEF_EXPANDMATH
#include "kvc/Conversion/Passes.h.inc"
} // namespace kvc

using namespace mlir;

namespace {

struct Expander {
  bool hasF16C, hasSSE41;

  static bool isF32(Value x) {
    return getElementTypeOrSelf(x.getType()).isF32();
  }

  /// The replacement of a one-operand function, or null to leave it.
  Value function(ImplicitLocOpBuilder &b, Operation *op) const {
    using Function = Value (*)(ImplicitLocOpBuilder &, Value);
    bool rounds = !hasSSE41;
    auto choice =
        llvm::TypeSwitch<Operation *, Function>(op)
            .Case([](math::Exp2Op) -> Function { return kvc::floatmath::exp2; })
            .Case([](math::ExpOp) -> Function { return kvc::floatmath::exp; })
            .Case([](math::Log2Op) -> Function { return kvc::floatmath::log2; })
            .Case([](math::LogOp) -> Function { return kvc::floatmath::log; })
            .Case([](math::TanhOp) -> Function { return kvc::floatmath::tanh; })
            .Case([](math::SinOp) -> Function { return kvc::floatmath::sin; })
            .Case([](math::CosOp) -> Function { return kvc::floatmath::cos; })
            .Case([&](math::RoundEvenOp) -> Function {
              return rounds ? kvc::floatmath::roundEven : nullptr;
            })
            .Case([&](math::FloorOp) -> Function {
              return rounds ? kvc::floatmath::floor : nullptr;
            })
            .Case([&](math::CeilOp) -> Function {
              return rounds ? kvc::floatmath::ceil : nullptr;
            })
            .Default([](Operation *) -> Function { return nullptr; });
    return choice && isF32(op->getOperand(0)) ? choice(b, op->getOperand(0))
                                              : Value();
  }

  /// f16 or bf16 to f32, or null where the target does it.
  Value extend(ImplicitLocOpBuilder &b, Value x) const {
    Type element = getElementTypeOrSelf(x.getType());
    if (element.isBF16())
      return kvc::floatmath::bf16ToF32(b, x);
    return element.isF16() && !hasF16C ? kvc::floatmath::f16ToF32(b, x)
                                       : Value();
  }

  /// f32 to f16 or bf16, or null where the target does it.
  Value truncate(ImplicitLocOpBuilder &b, Value x, Type element) const {
    if (element.isBF16())
      return kvc::floatmath::f32ToBF16(b, x);
    return element.isF16() && !hasF16C ? kvc::floatmath::f32ToF16(b, x)
                                       : Value();
  }

  /// A quotient that is rounded down, or up: one that is rounded to zero, and
  /// one step where that went the other way.
  static Value divide(ImplicitLocOpBuilder &b, Operation *op, bool down) {
    Value x = op->getOperand(0), y = op->getOperand(1);
    auto constant = [&](int64_t value) -> Value {
      Type type = x.getType();
      TypedAttr attribute = IntegerAttr::get(getElementTypeOrSelf(type), value);
      if (auto shaped = dyn_cast<ShapedType>(type))
        attribute = SplatElementsAttr::get(shaped, attribute);
      return arith::ConstantOp::create(b, attribute);
    };
    using enum arith::CmpIPredicate;
    Value zero = constant(0), quotient = arith::DivSIOp::create(b, x, y);
    Value rest =
        arith::SubIOp::create(b, x, arith::MulIOp::create(b, quotient, y));
    Value isOff = arith::CmpIOp::create(
        b, down ? slt : sge, arith::XOrIOp::create(b, rest, y), zero);
    Value steps = arith::AndIOp::create(
        b, arith::CmpIOp::create(b, ne, rest, zero), isOff);
    Value next = arith::AddIOp::create(b, quotient, constant(down ? -1 : 1));
    return arith::SelectOp::create(b, steps, next, quotient);
  }

  Value expand(ImplicitLocOpBuilder &b, Operation *op) const {
    if (isa<arith::FloorDivSIOp, arith::CeilDivSIOp>(op))
      return divide(b, op, isa<arith::FloorDivSIOp>(op));
    if (auto ext = dyn_cast<arith::ExtFOp>(op))
      return isF32(ext.getResult()) ? extend(b, ext.getIn()) : Value();
    if (auto trunc = dyn_cast<arith::TruncFOp>(op)) {
      bool even = trunc.getRoundingmode().value_or(
                      arith::RoundingMode::to_nearest_even) ==
                  arith::RoundingMode::to_nearest_even;
      return isF32(trunc.getIn()) && even
                 ? truncate(b, trunc.getIn(),
                            getElementTypeOrSelf(trunc.getType()))
                 : Value();
    }
    return function(b, op);
  }
};

class ExpandMath : public kvc::impl::ExpandMathBase<ExpandMath> {
public:
  using Base::Base;

  void runOnOperation() override {
    Expander expander{hasF16C, hasSSE41};
    getOperation()->walk([&](kvc::RoundToOp op) {
      ImplicitLocOpBuilder b(op.getLoc(), op);
      op.replaceAllUsesWith(kvc::floatmath::roundTo(
          b, op.getSource(), kvc::elementTypeOf(&getContext(), op.getDtype())));
      op.erase();
    });
    // What replaces a function holds none that would be replaced again, so one
    // walk over what is there now is enough.
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (op->getNumOperands() <= 2 && op->getNumResults() == 1)
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      ImplicitLocOpBuilder b(op->getLoc(), op);
      if (Value replacement = expander.expand(b, op)) {
        op->getResult(0).replaceAllUsesWith(replacement);
        op->erase();
      }
    }
  }
};

} // namespace
