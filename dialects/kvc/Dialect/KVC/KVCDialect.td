//===- KVCDialect.td - The kvc dialect ---------------------*- tablegen -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVC_KVCDIALECT_TD
#define KVC_DIALECT_KVC_KVCDIALECT_TD

include "mlir/IR/DialectBase.td"

def KVC_Dialect : Dialect {
  let name = "kvc";
  let cppNamespace = "::kvc";
  let summary = "Attention over quantised KV caches.";
  let description = [{
    Two levels share the dialect.

    *Level 0* says what a kernel computes: `kvc.attend`, `kvc.append`,
    `kvc.merge` and `kvc.unpack` over a `!kvc.cache` whose type carries the whole
    spec as an attribute.

    *Level 1* says how, one tile at a time. A tile is a ranked tensor whose
    encoding `#kvc.dims` names its dims (`tensor<4x64xf32, #kvc.dims<r, t>>`);
    upstream `arith` and `math` work on tiles of equal type, the ops here
    broadcast, contract and reduce by name and move tiles from and to memory.

    | dim | runs over |
    |---|---|
    | `r` | query rows of a kv head (row = query * group + head in the group) |
    | `t` | tokens of a key tile |
    | `c` | channels of K, or of the tensor at hand |
    | `d` | channels of V and of the output |
    | `b` | blocks of channels that share a scale |
    | `e` | channels inside such a block |

    A function whose discardable attribute `kvc.kernel` is one of `"decode"`,
    `"prefill"`, `"append"`, `"merge"`, `"unpack"` is the kernel of that kind; its
    parameters are the fields of `kvc/kernel_abi.h`, in order. Passes note on
    functions what the kernel's entry in the module table says:

    | attribute | value | written by |
    |---|---|---|
    | `kvc.tile_rows`, `kvc.tile_tokens` | positive i64 | kvc-schedule |
    | `kvc.split_tokens` | positive i64 | kvc-split-kv |
    | `kvc.operands` | string, the types that meet codes | convert-kvc-to-kvk, kvk-form-mma |

    `kvc.cache_view` marks a lowered function's parameter that was a `!kvc.cache`.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Names of the discardable attributes of functions.
    static constexpr ::llvm::StringLiteral getKernelAttrName() { return "kvc.kernel"; }
    static constexpr ::llvm::StringLiteral getTileRowsAttrName() { return "kvc.tile_rows"; }
    static constexpr ::llvm::StringLiteral getTileTokensAttrName() { return "kvc.tile_tokens"; }
    static constexpr ::llvm::StringLiteral getSplitTokensAttrName() { return "kvc.split_tokens"; }
    static constexpr ::llvm::StringLiteral getOperandsAttrName() { return "kvc.operands"; }
    /// Of parameters.
    static constexpr ::llvm::StringLiteral getCacheViewAttrName() { return "kvc.cache_view"; }
    /// What `kvc.kernel` may say.
    static ::llvm::ArrayRef<::llvm::StringRef> getKernelKinds();

    void registerAttributes();
    void registerTypes();
    void registerOps();
    void registerTileOps();
  }];
}

#endif // KVC_DIALECT_KVC_KVCDIALECT_TD
