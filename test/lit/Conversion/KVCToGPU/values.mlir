// RUN: kvc-opt %s --convert-kvc-to-gpu --split-input-file --verify-diagnostics | FileCheck %s

// Elements of a lane in the order of its digits; reductions first inside, then
// across lanes; iota from the lane's number.

// CHECK-LABEL: func.func @reduce
func.func @reduce(%out: memref<?xf32>, %i: index, %n: index) {
  // CHECK: nvvm.read.ptx.sreg.tid.x
  // CHECK: %[[X:.*]] = arith.constant dense<1.000000e+00> : vector<4xf32>
  %x = arith.constant {kvk.layouts = [#kvk.layout<reg = [r0, t3], lane = [r1, r2, t0, t1, t2]>]} dense<1.0> : tensor<8x16xf32, #kvc.dims<r, t>>
  // CHECK-COUNT-2: arith.maxnumf
  // CHECK: nvvm.shfl.sync bfly
  // CHECK: arith.maxnumf
  // CHECK-COUNT-5: nvvm.shfl.sync bfly
  // CHECK: vector.from_elements %{{.*}}, %{{.*}} : vector<2xf32>
  %m = kvc.reduce maxnumf %x {kvk.layouts = [#kvk.layout<reg = [r0], lane = [r1, r2, *, *, *]>]} : tensor<8x16xf32, #kvc.dims<r, t>> to tensor<8xf32, #kvc.dims<r>>
  // Only the first of the lanes that have the same row stores it.
  // CHECK: %[[COPIES:.*]] = arith.constant 28 : i32
  // CHECK: arith.andi %{{.*}}, %[[COPIES]] : i32
  // CHECK: scf.if
  // CHECK: llvm.store
  kvc.store_partial %m, %out[%i to %n] : tensor<8xf32, #kvc.dims<r>>, memref<?xf32>
  return
}

// -----

// A layout turns by movmatrix and renaming, others go by shuffles.

// CHECK-LABEL: func.func @convert
func.func @convert(%out: memref<?xf32>, %i: index, %n: index) {
  %p = arith.constant {kvk.layouts = [#kvk.layout<pack = [r0], reg = [t3], lane = [r1, r2, t0, t1, t2]>]} dense<1.0> : tensor<8x16xf16, #kvc.dims<r, t>>
  // CHECK-COUNT-2: llvm.inline_asm "movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;"
  // CHECK-NOT: movmatrix
  %w = kvk.convert_layout %p {kvk.layouts = [#kvk.layout<pack = [t0], reg = [t3], lane = [t1, t2, r0, r1, r2]>]} : tensor<8x16xf16, #kvc.dims<r, t>>
  %x = arith.constant {kvk.layouts = [#kvk.layout<lane = [*, *, r0, r1, r2]>]} dense<1.0> : tensor<8xf32, #kvc.dims<r>>
  // CHECK-COUNT-2: nvvm.shfl.sync idx
  %y = kvk.convert_layout %x {kvk.layouts = [#kvk.layout<reg = [r0], lane = [r1, r2, *, *, *]>]} : tensor<8xf32, #kvc.dims<r>>
  kvc.store_partial %y, %out[%i to %n] : tensor<8xf32, #kvc.dims<r>>, memref<?xf32>
  return
}

// -----

func.func @unsupported(%x: index) {
  %q = arith.constant {kvk.layouts = [#kvk.layout<reg = [r0, r1, r2, c0], lane = [*, *, *, *, *]>]} dense<1.0> : tensor<8x2xf32, #kvc.dims<r, c>>
  %i = arith.constant {kvk.layouts = [#kvk.layout<lane = [t0, t1, t2, t3, *]>]} dense<1.0> : tensor<16x1xf32, #kvc.dims<t, o>>
  // expected-error@+1 {{'kvc.gather_dot' op is not lowered for GPUs yet}}
  %y = kvc.gather_dot %q, %i, %i {kvk.layouts = [#kvk.layout<reg = [r0, r1, r2], lane = [t0, t1, t2, t3, *]>]} : tensor<8x2xf32, #kvc.dims<r, c>>, tensor<16x1xf32, #kvc.dims<t, o>> to tensor<8x16xf32, #kvc.dims<r, t>>
  return
}
