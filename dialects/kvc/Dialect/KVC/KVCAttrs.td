//===- KVCAttrs.td - Attributes of the kvc dialect ---------*- tablegen -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVC_KVCATTRS_TD
#define KVC_DIALECT_KVC_KVCATTRS_TD

include "kvc/Dialect/KVC/KVCDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/TensorEncoding.td"

class KVC_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<KVC_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

def KVC_DimsAttr : KVC_Attr<"Dims", "dims", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding, ["verifyEncoding"]>]> {
  let summary = "Names of the dims of a tile.";
  let description = [{
    The encoding of a tensor type that makes it a tile: one name per dim,
    outermost first. Ops find dims by name, so the order is only the order in
    which a tile is laid out: the last one is the vector dim.

    - C1: there is at least one name, and no name twice.
    - C2: as an encoding, there are as many names as dims.
    - C3: the extents of a tile are static and positive.

    Example:

    ```mlir
    tensor<4x64xf32, #kvc.dims<r, t>>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr", "names of the dims">:$names);
  let assemblyFormat = "`<` custom<DimNames>($names) `>`";
  let builders = [AttrBuilder<(ins "::llvm::ArrayRef<::llvm::StringRef>":$names)>];
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// The spec
//===----------------------------------------------------------------------===//

class KVC_SectionAttr<string name, string attrMnemonic, string what> : KVC_Attr<name, attrMnemonic> {
  let summary = "The section `" # attrMnemonic # "` of a spec: " # what # ".";
  let description = [{
    A dictionary with the keys of the same section of a spec file: integers are
    i64, floats f64, the rest strings, bools, arrays and dictionaries.

    - C1: every value, at any depth, is one of these.

    What the keys mean, and which may stand together, is verified by `#kvc.spec`,
    which sees all sections.
  }];
  let parameters = (ins "::mlir::DictionaryAttr":$value);
  let assemblyFormat = "`<` custom<Section>($value) `>`";
  let genVerifyDecl = 1;
}

def KVC_AttentionAttr : KVC_SectionAttr<"Attention", "attention", "heads, channels, mask and score">;
def KVC_IOAttr : KVC_SectionAttr<"IO", "io", "element types of queries and outputs">;
def KVC_SchemeAttr : KVC_SectionAttr<"Scheme", "scheme", "how K or V is coded">;
def KVC_SegmentsAttr : KVC_SectionAttr<"Segments", "segments", "the tokens that are kept raw">;
def KVC_LayoutAttr : KVC_SectionAttr<"Layout", "layout", "how the cache lies in memory">;

def KVC_SpecAttr : KVC_Attr<"Spec", "spec"> {
  let summary = "One attention over one cache.";
  let description = [{
    The content of a spec file. `value` is absent where the values are a slice of
    the keys (`value_is_key`); `segments` and `layout` may be left out for their
    defaults.

    - C1: the sections make a valid spec. They are printed as JSON and read by
      the one parser of specs (`kvc/Spec/Spec.h`); the diagnostic is its error:
      path, message and number of the rule.

    The printer gives the attribute an alias: the spec's name where that is an
    identifier, `#spec` otherwise.

    Example:

    ```mlir
    #int8 = #kvc.spec<name = "int8",
      attention = #kvc.attention<{head_dim = 128, kv_heads = 8, q_heads = 32}>,
      io = #kvc.io<{query = "f16"}>,
      key = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}}>,
      value = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}}>>
    ```
  }];
  let parameters = (ins
    "::mlir::StringAttr":$name,
    "::kvc::AttentionAttr":$attention,
    "::kvc::IOAttr":$io,
    "::kvc::SchemeAttr":$key,
    OptionalParameter<"::kvc::SchemeAttr">:$value,
    OptionalParameter<"::kvc::SegmentsAttr">:$segments,
    OptionalParameter<"::kvc::LayoutAttr">:$layout);
  let assemblyFormat = [{
    `<` struct($name, qualified($attention), qualified($io), qualified($key), qualified($value),
               qualified($segments), qualified($layout)) `>`
  }];
  let builders = [AttrBuilder<(ins "const ::kvc::spec::Spec &":$spec)>];
  let genStorageClass = 0;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The parsed spec. Parsed once per attribute, when it is uniqued; reading it
    /// needs no lock.
    const ::kvc::spec::Spec &getSpec() const;
  }];
}

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

def KVC_TensorAttr : KVC_Attr<"Tensor", "tensor"> {
  let summary = "A tensor of a cache: `key` or `value`.";
  let parameters = (ins "::kvc::spec::Tensor":$value);
  let assemblyFormat = "`<` custom<Tensor>($value) `>`";
  let returnType = "::kvc::spec::Tensor";
  let convertFromStorage = "$_self.getValue()";
  let constBuilderCall = "::kvc::TensorAttr::get($_builder.getContext(), $0)";
}

def KVC_Place : I32EnumAttr<"Place", "place of a factor", [
    I32EnumAttrCase<"Register", 0, "register">,
    I32EnumAttrCase<"Score", 1, "score">,
    I32EnumAttrCase<"Partial", 2, "partial">,
    I32EnumAttrCase<"Query", 3, "query">,
    I32EnumAttrCase<"P", 4, "p">,
    I32EnumAttrCase<"Output", 5, "output">]> {
  let cppNamespace = "::kvc";
  let genSpecializedAttr = 0;
}

def KVC_PlaceAttr : EnumAttr<KVC_Dialect, KVC_Place, "place"> {
  let summary = "Where a factor of a dequantisation is applied.";
  let description = [{
    | place | the factor multiplies, or the zero or the outliers' product is added to |
    |---|---|
    | `register` | the dequantised tile, element by element |
    | `score` | the score tile, once per (row, token) |
    | `partial` | the partial dot of one channel block |
    | `query` | the query, before the loop over tokens |
    | `p` | the probabilities, once per (row, token) |
    | `output` | the output, after the loop over tokens |
  }];
  let assemblyFormat = "`<` $value `>`";
}

def KVC_ReductionKind : I32EnumAttr<"ReductionKind", "kind of a reduction", [
    I32EnumAttrCase<"Add", 0, "add">,
    I32EnumAttrCase<"MaximumF", 1, "maximumf">,
    I32EnumAttrCase<"MaxNumF", 2, "maxnumf">,
    I32EnumAttrCase<"MinimumF", 3, "minimumf">,
    I32EnumAttrCase<"PairwiseAdd", 4, "pairwise_add">]> {
  let cppNamespace = "::kvc";
  let genSpecializedAttr = 0;
}

def KVC_ReductionKindAttr : EnumAttr<KVC_Dialect, KVC_ReductionKind, "reduction">;

// Enums of the spec that are strings in the IR, as they are in spec files.

def KVC_ZeroKindAttr : Attr<
    CPred<"::llvm::isa<::mlir::StringAttr>($_self) && ::kvc::symbolizeZeroKind(::llvm::cast<::mlir::StringAttr>($_self).getValue())">,
    "\"none\", \"min\" or \"code\""> {
  let storageType = "::mlir::StringAttr";
  let returnType = "::kvc::spec::Zero";
  let valueType = NoneType;
  let convertFromStorage = "*::kvc::symbolizeZeroKind($_self.getValue())";
  let constBuilderCall = "$_builder.getStringAttr(::kvc::stringifyZeroKind($0))";
}

def KVC_RoundTypeAttr : Attr<
    CPred<"::llvm::isa<::mlir::StringAttr>($_self) && ::kvc::symbolizeRoundType(::llvm::cast<::mlir::StringAttr>($_self).getValue())">,
    "\"f16\", \"bf16\", \"f32\" or \"e4m3\""> {
  let storageType = "::mlir::StringAttr";
  let returnType = "::kvc::spec::DType";
  let valueType = NoneType;
  let convertFromStorage = "*::kvc::symbolizeRoundType($_self.getValue())";
  let constBuilderCall = "$_builder.getStringAttr(::kvc::stringifyRoundType($0))";
}

def KVC_FloatFormatAttr : Attr<
    CPred<"::llvm::isa<::mlir::StringAttr>($_self) && ::kvc::symbolizeFloatFormat(::llvm::cast<::mlir::StringAttr>($_self).getValue())">,
    "\"fp8_e4m3\", \"fp8_e5m2\" or \"fp4_e2m1\""> {
  let storageType = "::mlir::StringAttr";
  let returnType = "::kvc::spec::CodecKind";
  let valueType = NoneType;
  let convertFromStorage = "*::kvc::symbolizeFloatFormat($_self.getValue())";
  let constBuilderCall = "$_builder.getStringAttr(::kvc::stringifyFloatFormat($0))";
}

def KVC_RowFieldAttr : Attr<
    CPred<"::llvm::isa<::mlir::StringAttr>($_self) && ::kvc::symbolizeRowField(::llvm::cast<::mlir::StringAttr>($_self).getValue())">,
    "\"scale\", \"table\", \"thresholds\", \"codes\", \"largest\" or \"smooth\""> {
  let storageType = "::mlir::StringAttr";
  let returnType = "::kvc::spec::RowField";
  let valueType = NoneType;
  let convertFromStorage = "*::kvc::symbolizeRowField($_self.getValue())";
  let constBuilderCall = "$_builder.getStringAttr(::kvc::stringifyRowField($0))";
}

#endif // KVC_DIALECT_KVC_KVCATTRS_TD
