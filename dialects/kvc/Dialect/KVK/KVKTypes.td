//===- KVKTypes.td - Types of the kvk dialect --------------*- tablegen -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVK_KVKTYPES_TD
#define KVC_DIALECT_KVK_KVKTYPES_TD

include "kvc/Dialect/KVK/KVKAttrs.td"
include "kvc/Dialect/KVC/KVCAttrs.td"

def KVK_TileType : TypeDef<KVK_Dialect, "Tile"> {
  let mnemonic = "tile";
  let summary = "A tile that is never in memory as a whole.";
  let description = [{
    Elements of a cache on their way into a product: what `kvk.load` names and
    `kvk.widen` converts. Which element sits where in the registers is the
    optional layout.

    - C1: the extents are positive and as many as the names of dims.
    - C2: elements are integers of 1 to 16 bits, f16, bf16 or f32.
    - C3: the number of elements is below 2^63.
    - L2: a layout has the extent of each dim of the tile.
    - L3: a layout packs as many elements as fill 32 bits, or one.

    Example:

    ```mlir
    !kvk.tile<64x128xi4, #kvc.dims<t, c>>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t", "extents">:$shape,
    "::mlir::Type":$elementType,
    "::kvc::DimsAttr":$dims,
    OptionalParameter<"::kvc::kvk::LayoutAttr">:$layout);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [
    TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType,
                                        "::kvc::DimsAttr":$dims, CArg<"::kvc::kvk::LayoutAttr", "{}">:$layout), [{
      return $_get(elementType.getContext(), shape, elementType, dims, layout);
    }]>
  ];
  let extraClassDeclaration = [{
    bool hasDim(::llvm::StringRef dim) const;
    /// Extent of a dim; 1 for dims that the tile lacks.
    int64_t getExtent(::llvm::StringRef dim) const;
  }];
}

#endif // KVC_DIALECT_KVK_KVKTYPES_TD
