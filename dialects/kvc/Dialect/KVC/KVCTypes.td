//===- KVCTypes.td - Types of the kvc dialect --------------*- tablegen -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVC_KVCTYPES_TD
#define KVC_DIALECT_KVC_KVCTYPES_TD

include "kvc/Dialect/KVC/KVCAttrs.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/CommonTypeConstraints.td"

def KVC_CacheType : TypeDef<KVC_Dialect, "Cache"> {
  let mnemonic = "cache";
  let summary = "Handle of the cache of one sequence.";
  let description = [{
    The K and V of one sequence as its spec lays them out. At run time it is a
    `kvc_cache_view` of `kvc/kernel_abi.h`: bases, strides and a page table.

    Example:

    ```mlir
    func.func private @f(!kvc.cache<#spec>)
    ```
  }];
  let parameters = (ins "::kvc::SpecAttr":$specAttr);
  let assemblyFormat = "`<` qualified($specAttr) `>`";
  let builders = [TypeBuilderWithInferredContext<(ins "::kvc::SpecAttr":$specAttr), [{
    return $_get(specAttr.getContext(), specAttr);
  }]>];
  let extraClassDeclaration = [{
    const ::kvc::spec::Spec &getSpec() const { return getSpecAttr().getSpec(); }
  }];
}

//===----------------------------------------------------------------------===//
// Tiles and their memory
//===----------------------------------------------------------------------===//

/// A tile whose element type satisfies one of `elements`.
class KVC_TileOf<list<Type> elements, string what>
    : Type<And<[
        CPred<"::kvc::isTile($_self)">,
        SubstLeaves<"$_self", "::llvm::cast<::mlir::RankedTensorType>($_self).getElementType()", AnyTypeOf<elements>.predicate>
      ]>, what, "::mlir::RankedTensorType">;

def KVC_Tile : Type<CPred<"::kvc::isTile($_self)">, "tile (tensor encoded with #kvc.dims)", "::mlir::RankedTensorType">;
def KVC_F32Tile : KVC_TileOf<[F32], "tile of f32">;
def KVC_IntTile : KVC_TileOf<[I32, I64], "tile of i32 or i64">;
def KVC_CodeTile : KVC_TileOf<[I8, F16, BF16, F32], "tile of codes (i8) or raw values (f16, bf16, f32)">;

/// A memref whose rank and element type the op's verifier checks.
def KVC_MemRef : Type<CPred<"::llvm::isa<::mlir::MemRefType>($_self)">, "memref", "::mlir::MemRefType">;

#endif // KVC_DIALECT_KVC_KVCTYPES_TD
