//===- Workspace.cpp - Scratch that no stack holds ------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Workspace.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace {

/// What a kernel may take of the stack of whoever calls it: threads have 8 MiB
/// by default, some have less.
constexpr int64_t kMostStackBytes = int64_t(1) << 20;
/// As scratch on the stack is aligned.
constexpr int64_t kAlignment = 64;

/// Bytes of a buffer, up to the next one; 0 for what has no fixed size.
int64_t paddedBytes(MemRefType type) {
  if (!type.hasStaticShape() || !type.getLayout().isIdentity() ||
      !type.getElementType().isIntOrFloat())
    return 0;
  return llvm::alignTo(type.getNumElements() *
                           llvm::divideCeil(type.getElementTypeBitWidth(), 8),
                       kAlignment);
}

} // namespace

void kvc::moveScratchToWorkspace(func::FuncOp kernel) {
  Block &entry = kernel.front();
  auto type = entry.getNumArguments() == 0
                  ? MemRefType()
                  : dyn_cast<MemRefType>(entry.getArguments().back().getType());
  if (!type || type.getRank() != 1 || !type.getElementType().isInteger(8))
    return;

  SmallVector<memref::AllocaOp> buffers;
  int64_t onStack = 0;
  kernel.walk([&](memref::AllocaOp op) {
    buffers.push_back(op);
    onStack += paddedBytes(op.getType());
  });
  int64_t used = 0;
  while (onStack > kMostStackBytes) {
    auto *largest = llvm::max_element(buffers, [](auto a, auto b) {
      return paddedBytes(a.getType()) < paddedBytes(b.getType());
    });
    memref::AllocaOp op = *largest;
    buffers.erase(largest);
    OpBuilder builder(op);
    Value offset = arith::ConstantIndexOp::create(builder, op.getLoc(), used);
    Value view = memref::ViewOp::create(builder, op.getLoc(), op.getType(),
                                        entry.getArguments().back(), offset,
                                        ValueRange());
    onStack -= paddedBytes(op.getType());
    used += paddedBytes(op.getType());
    op.replaceAllUsesWith(view);
    op.erase();
  }
  if (used > 0)
    kernel->setAttr(kWorkspaceBytesAttrName,
                    Builder(kernel.getContext()).getI64IntegerAttr(used));
}
