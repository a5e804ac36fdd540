//===- KernelForm.cpp - What functions of tiles look like -----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Conversion/KernelForm.h"

#include "kvc/Dialect/KVC/KVCTiles.h"

using namespace mlir;

LogicalResult kvc::requireKernelForm(func::FuncOp func) {
  const size_t blocks = func.getBody().getBlocks().size();
  if (blocks != 1)
    return func.emitOpError("expected one block, got ") << blocks;
  for (auto [types, what] : {std::pair(func.getArgumentTypes(), "arguments"),
                             std::pair(func.getResultTypes(), "results")})
    for (Type type : types)
      if (isTile(type))
        return func.emitOpError("expected ")
               << what << " that are no tiles, got " << type;
  return success();
}
