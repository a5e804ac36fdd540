//===- KVKDialect.td - The kvk dialect ---------------------*- tablegen -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVK_KVKDIALECT_TD
#define KVC_DIALECT_KVK_KVKDIALECT_TD

include "mlir/IR/DialectBase.td"

def KVK_Dialect : Dialect {
  let name = "kvk";
  let cppNamespace = "::kvc::kvk";
  let summary = "Kernels: what targets differ in, under names that they share.";
  let description = [{
    Level 3. Loops, scratch buffers and arithmetic on rows are upstream `scf`,
    `memref`, `vector` and `arith`; the ops here say what depends on how a cache
    is stored and on which instructions a target has: reading and writing codes
    and their metadata in a storage order, widening codes to operands, and the
    product of a small matrix of weights with a tile.

    Storage orders and register layouts are attributes that hold the digit lists
    of `kvc/Layout/Layout.h`: `t3` is bit 3 of the token's index, `c[16:5]` the
    digit (c / 16) % 5, `*` a replicated position.

    On GPUs tiles stay tensors that `kvc` and `arith` ops compute on, and a
    discardable attribute `kvk.layouts` on the op that makes a tile says in which
    lanes and registers of a warp its elements are: one `#kvk.layout` per result,
    in order.
  }];
  let dependentDialects = ["::kvc::KVCDialect"];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    /// Name of the discardable attribute with a layout per result.
    static constexpr ::llvm::StringLiteral getLayoutsAttrName() { return "kvk.layouts"; }

    void registerAttributes();
    void registerTypes();
    void registerOps();
  }];
}

#endif // KVC_DIALECT_KVK_KVKDIALECT_TD
