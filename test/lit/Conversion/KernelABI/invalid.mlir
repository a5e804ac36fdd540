// RUN: kvc-opt %s --convert-kernel-abi --split-input-file --verify-diagnostics

// expected-error @+1 {{parameter 1: expected a cache view, a memref or an index, got 'f32'}}
func.func @f(%i: index, %x: f32) attributes {kvc.kernel = "decode"} {
  return
}

// -----

// A pointer alone does not say how many slots it takes.
// expected-error @+1 {{parameter 0: expected a cache view, a memref or an index, got '!llvm.ptr'}}
func.func @f(%p: !llvm.ptr) attributes {kvc.kernel = "decode"} {
  return
}

// -----

// expected-error @+1 {{parameter 0: expected a strided memref without offset or memory space}}
func.func @f(%m: memref<4xf32, strided<[1], offset: 2>>) attributes {kvc.kernel = "decode"} {
  return
}

// -----

func.func @f(%m: memref<?xf32>, %o: memref<1xf32>) attributes {kvc.kernel = "decode"} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{reads a dynamic extent of a kernel's parameter, which has none}}
  %0 = memref.dim %m, %c0 : memref<?xf32>
  return
}

// -----

func.func @f(%m: memref<4xf32>) attributes {kvc.kernel = "decode"} {
  %c5 = arith.constant 5 : index
  // expected-error @+1 {{reads a dynamic extent of a kernel's parameter, which has none}}
  %0 = memref.dim %m, %c5 : memref<4xf32>
  return
}

// -----

func.func @f(%m: memref<4xf32>) attributes {kvc.kernel = "decode"} {
  %c = arith.constant -1 : index
  // expected-error @+1 {{reads a dynamic extent of a kernel's parameter, which has none}}
  %0 = memref.dim %m, %c : memref<4xf32>
  return
}

// -----

// expected-error @+1 {{a kernel needs a body and has no results}}
func.func @f(%i: index) -> index attributes {kvc.kernel = "decode"} {
  return %i : index
}

// -----

llvm.func @kvc_decode()
// expected-error @+1 {{symbol 'kvc_decode' of the kernel is taken}}
func.func @f(%i: index) attributes {kvc.kernel = "decode"} {
  return
}
