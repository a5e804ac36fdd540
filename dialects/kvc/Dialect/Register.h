//===- Register.h - All dialects of kvc -------------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_REGISTER_H
#define KVC_DIALECT_REGISTER_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace kvc {

/// The dialects kvc and kvk.
void registerKVCDialects(mlir::DialectRegistry &registry);

/// The upstream dialects that kernels of any level are made of.
void registerUpstreamDialects(mlir::DialectRegistry &registry);

} // namespace kvc

#endif // KVC_DIALECT_REGISTER_H
