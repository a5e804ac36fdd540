//===- KVCOpBase.td - What the ops of both levels share ----*- tablegen -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVC_KVCOPBASE_TD
#define KVC_DIALECT_KVC_KVCOPBASE_TD

include "kvc/Dialect/KVC/KVCTypes.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class KVC_Op<string mnemonic, list<Trait> traits = []> : Op<KVC_Dialect, mnemonic, traits>;

#endif // KVC_DIALECT_KVC_KVCOPBASE_TD
