//===- Passes.td - Passes that leave a dialect -------------*- tablegen -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CONVERSION_PASSES_TD
#define KVC_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertKVCToKVK : Pass<"convert-kvc-to-kvk", "::mlir::func::FuncOp"> {
  let summary = "Turn tiles into loops over vectors and dots over the cache";
  let description = [{
    Level 2 to level 3. Neighbouring tile operations with the same loops become one
    loop nest over 1-D vectors; tiles that outlive an iteration live in scratch
    (`memref.alloca` in the entry block); contractions of codes become `kvk.dot`
    over `kvk.load`. Neither storage orders nor layouts are chosen here: that is
    `kvk-derive-storage` and `kvk-assign-layouts`.

    Numerics: with `integer-dots`, queries and probabilities that meet integer codes
    are rounded to 16-bit integers per row (error about 7e-5); otherwise sums are
    reassociated only.
  }];
  let options = [
    Option<"integerDots", "integer-dots", "bool", /*default=*/"true",
           "16-bit integer weights for integer codes of 8 bits and fewer, unless the queries are f32">,
    Option<"remarks", "remarks", "bool", /*default=*/"false",
           "Emit a remark for each product of codes: its types, and why.">,
  ];
  let dependentDialects = ["::kvc::kvk::KVKDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def ConvertKVKToVector : Pass<"convert-kvk-to-vector", "::mlir::ModuleOp"> {
  let summary = "Lower kvk to loops over 1-D vectors";
  let description = [{
    Lowers every `kvk` op to `scf`, `memref`, `vector`, `arith` and `llvm`; the
    bytes of a cache are reached by `llvm.load` and `llvm.store` alone. Function
    arguments of type `!kvc.cache` become `!llvm.ptr`, a pointer to a
    `kvc_cache_view` (kvc/kernel_abi.h), marked `kvc.cache_view`.

    A `kvk.dot` is lowered together with the `kvk.widen` and `kvk.load` that feed
    it. Its loop nest follows from the digits of their `#kvk.layout` (which dim
    lies on the lanes, how many neighbours of it) and `#kvk.storage` (what lies
    below them in a word). Both must be there.
  }];
  let options = [
    Option<"dot", "dot", "std::string", "\"portable\"",
           "Products of i16: vnni, avx512, avx2 (intrinsics of these), or portable (none)">,
    Option<"vectorBits", "vector-bits", "unsigned", "0",
           "Width of a machine vector: 128, 256 or 512; 0: what `dot` has">,
    Option<"prefetchBytes", "prefetch-bytes", "int64_t", "0",
           "Prefetch codes this many bytes ahead of each load; 0: off">,
    Option<"prefetchPages", "prefetch-pages", "int64_t", "0",
           "Prefetch codes this many pages ahead of each load, in memory order; 0: off">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect",
  ];
}

def ConvertKVCToGPU : Pass<"convert-kvc-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Lower tiles to the registers of a warp";
  let description = [{
    Level 3 of GPU kernels to level 4. A tile becomes the vector of what a lane holds
    of it, by its `kvk.layouts`: elementwise operations work on these, reductions
    and conversions exchange values between lanes, a `kvk.mma` becomes one
    `nvvm.mma.sync` per fragment, loads of codes are as wide as neighbours in memory
    and in a lane are. Operations that move elements anywhere (slices of channels, RoPE,
    outliers) go through shared memory: one buffer of a kernel, a symbol beside it.
    A kernel's body runs only if its loops over rows or tokens do,
    so that arguments of zeros are harmless.

    Numerics: exp2 and log2 are the approximations of the machine (2^-22).
  }];
  let options = [
    Option<"hasFloat8", "has-float8", "bool", "false", "The target converts 8-bit floats in hardware">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect",
  ];
}

def ExpandMath : Pass<"kvc-expand-math"> {
  let summary = "Replace float functions that the target would call a library for";
  let description = [{
    Opens `math.exp2`, `exp`, `log2`, `log`, `tanh`, `sin`, `cos` on f32,
    conversions between f32 and bf16, `kvc.round_to`, and the integer divisions
    `arith.floordivsi` and `ceildivsi`; without SSE4.1 also `math.roundeven`, `floor`,
    `ceil`, and without F16C conversions between f32 and f16. What is left needs
    no library on any x86-64.
  }];
  let options = [
    Option<"hasF16C", "has-f16c", "bool", "false", "The target converts f16 in hardware">,
    Option<"hasSSE41", "has-sse41", "bool", "false", "The target rounds floats in hardware">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ConvertKernelABI : Pass<"convert-kernel-abi", "::mlir::ModuleOp"> {
  let summary = "Give kernels the signature of kvc/kernel_abi.h";
  let description = [{
    Each `func.func` with a `kvc.kernel` name becomes
    `llvm.func @kvc_<name>(%args: !llvm.ptr)`. Parameters are read from 8-byte
    slots in their order: a cache view (an `!llvm.ptr` marked `kvc.cache_view`)
    lies in place, a memref is a pointer and its dynamic strides, an index is
    one slot.

    With `mxcsr` the entry saves MXCSR, sets its default, calls the body, an
    internal function that is not inlined (so that no float operation moves across
    the switch), and restores it.
  }];
  let options = [
    Option<"mxcsr", "mxcsr", "bool", "true", "Set and restore MXCSR (x86 only)">,
    Option<"blocks", "blocks", "bool", "false",
           "An entry for a grid of blocks: its parameter is an array of arguments in device memory, a block's number "
           "that of its item (NVIDIA GPUs only)">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
  ];
}

#endif // KVC_CONVERSION_PASSES_TD
