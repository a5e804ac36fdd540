//===- KVKAttrs.td - Attributes of the kvk dialect ---------*- tablegen -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVK_KVKATTRS_TD
#define KVC_DIALECT_KVK_KVKATTRS_TD

include "kvc/Dialect/KVK/KVKDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class KVK_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<KVK_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

class KVK_Steps<string what> : OptionalArrayRefParameter<"::kvc::layout::Step", what>;
class KVK_Digits<string what> : OptionalArrayRefParameter<"::kvc::layout::Digit", what>;

def KVK_LayoutAttr : KVK_Attr<"Layout", "layout"> {
  let summary = "Where the elements of a tile are in registers.";
  let description = [{
    Digit lists, lowest position first: `pack` the element inside a 32-bit word,
    `reg` the number of the register or of the iteration, `lane` the lane of a
    warp or of a host's vector, `warp` the warp of a block. Empty lists are left
    out. A host's vector has as many lanes as elements lie together in memory; the
    lowering cuts it into machine registers, so that a layout fits every target.

    - L1: the digits of each dim are those of an extent: none twice, none missing
      between the lowest and the highest.
    - L4: `*`, a replicated position, stands in `lane` and `warp` only.
    - C1: dims are t, c, d, b, e, h, q or r; those of fragments m, n or k.
    - C2: the product of all counts is below 2^63.

    L2 and L3 are constraints of `!kvk.tile`, L7 is one of `kvk.dot`. The other
    rules of layouts have no subject in attributes: no address is swizzled (L5,
    only in shared memory); where tensors have layouts, `kvk-assign-lanes` keeps
    L6 (operands have the result's layout or a slice of it), without which
    `convert-kvc-to-gpu` refuses them, and the type of
    `kvk.convert_layout` L8 (shape and element type stay). What L9 says of `kvk.widen`, that the lowest
    bits of the storage fit the packs of the result, depends on how a target
    loads: `kvk-assign-layouts` and `convert-kvk-to-vector` refuse what it cannot.

    Example:

    ```mlir
    #kvk.layout<pack = [c0], reg = [c1, c2], lane = [t0, t1, t2, t3]>
    ```
  }];
  let parameters = (ins
    KVK_Digits<"element inside a word">:$pack,
    KVK_Digits<"register">:$reg,
    KVK_Digits<"lane">:$lane,
    KVK_Digits<"warp">:$warp);
  let assemblyFormat = [{
    `<` struct(custom<Digits>($pack), custom<Digits>($reg), custom<Digits>($lane), custom<Digits>($warp)) `>`
  }];
  let builders = [AttrBuilder<(ins "const ::kvc::layout::RegisterLayout &":$layout)>];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::kvc::layout::RegisterLayout getLayout() const;
  }];
}

def KVK_StorageAttr : KVK_Attr<"Storage", "storage"> {
  let summary = "The order of elements in memory.";
  let description = [{
    The digits of the address, lowest first, counted in elements of `width` bits.
    Digits in `steps` add bytes of their own: blocks and tokens of records, rows
    that end inside of a byte.

    - L1: the digits of each dim, those of steps too, are those of an extent: none
      twice, none missing between the lowest and the highest. The lowest need not be 0: scales of
      blocks of 32 tokens start at t5.
    - L4: `*` does not occur.
    - C1: `width` is 1 to 64, the bytes of steps are positive.
    - C2: dims are t, c, d, b or h.
    - C3: the address of the last element, in bits, is below 2^63.

    Example:

    ```mlir
    #kvk.storage<width = 4, addr = [c1, c2, c0, t0, t1, t2, t3, c3, c4, c5, c6, t4, t5]>
    #kvk.storage<width = 8, addr = [c0, c1, c2, c3, c4], steps = [c[32:4] * 34, t[1:64] * 136]>
    ```
  }];
  let parameters = (ins "unsigned":$width, KVK_Digits<"address">:$addr, KVK_Steps<"bytes of digits">:$steps);
  let assemblyFormat = "`<` struct($width, custom<Digits>($addr), custom<Steps>($steps)) `>`";
  let builders = [AttrBuilder<(ins "const ::kvc::layout::Storage &":$storage)>];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::kvc::layout::Storage getStorage() const;
  }];
}

def KVK_MetaKind : I32EnumAttr<"MetaKind", "scales, zeros or outliers", [
    I32EnumAttrCase<"Scale", 0, "scale">,
    I32EnumAttrCase<"Zero", 1, "zero">,
    I32EnumAttrCase<"OutlierIndex", 2, "outlier_index">,
    I32EnumAttrCase<"OutlierValue", 3, "outlier_value">]> {
  let cppNamespace = "::kvc::kvk";
  let genSpecializedAttr = 0;
}

def KVK_MetaKindAttr : EnumAttr<KVK_Dialect, KVK_MetaKind, "meta"> {
  let assemblyFormat = "`<` $value `>`";
}

#endif // KVC_DIALECT_KVK_KVKATTRS_TD
