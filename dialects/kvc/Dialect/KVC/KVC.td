//===- KVC.td - The whole kvc dialect ----------------------*- tablegen -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// What the documentation is generated from.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVC_KVC_TD
#define KVC_DIALECT_KVC_KVC_TD

include "kvc/Dialect/KVC/KVCOps.td"
include "kvc/Dialect/KVC/KVCTileOps.td"

#endif // KVC_DIALECT_KVC_KVC_TD
