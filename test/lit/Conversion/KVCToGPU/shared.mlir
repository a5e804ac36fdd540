// RUN: kvc-opt %s --convert-kvc-to-gpu --split-input-file --verify-diagnostics | FileCheck %s

// Elements that move anywhere go through the kernel's buffer: all lanes wait
// before they write (others may read what was there) and before they read.

#rows = #kvk.layout<reg = [t0], lane = [c0, c1, c2, c3, c4]>
#half = #kvk.layout<reg = [t0], lane = [c0, c1, c2, c3, *]>

// Two rows of 32 channels and 4 elements between rows.
// CHECK: llvm.mlir.global internal @slice_shared() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<288 x i8>
// CHECK-LABEL: func.func @slice
func.func @slice(%out: memref<?x16xf32>, %i: index, %n: index) {
  // CHECK: llvm.mlir.addressof @slice_shared : !llvm.ptr<3>
  %x = arith.constant {kvk.layouts = [#rows]} dense<1.0> : tensor<2x32xf32, #kvc.dims<t, c>>
  // CHECK: nvvm.bar.warp.sync
  // CHECK-COUNT-2: llvm.store {{.*}} : f32, !llvm.ptr<3>
  // CHECK: nvvm.bar.warp.sync
  // CHECK-COUNT-2: llvm.load {{.*}} : !llvm.ptr<3> -> f32
  %y = kvc.slice %x {first = 16 : i64, kvk.layouts = [#half]} : tensor<2x32xf32, #kvc.dims<t, c>> to tensor<2x16xf32, #kvc.dims<t, c>>
  kvc.store_rows %y, %out[%i] valid %n : tensor<2x16xf32, #kvc.dims<t, c>>, memref<?x16xf32>
  return
}

// Values are put over the dense ones; only indices of a channel name one.

// CHECK-LABEL: func.func @patch
func.func @patch(%out: memref<?x32xf32>, %i: index, %n: index) {
  %x = arith.constant {kvk.layouts = [#rows]} dense<1.0> : tensor<2x32xf32, #kvc.dims<t, c>>
  %o = arith.constant {kvk.layouts = [#kvk.layout<reg = [t0], lane = [*, *, *, *, *]>]} dense<3.0> : tensor<2x1xf32, #kvc.dims<t, o>>
  // CHECK: nvvm.bar.warp.sync
  // CHECK-COUNT-2: llvm.store {{.*}} : f32, !llvm.ptr<3>
  // CHECK: nvvm.bar.warp.sync
  // CHECK: arith.cmpi ult
  // CHECK: scf.if
  // CHECK: llvm.store {{.*}} : f32, !llvm.ptr<3>
  // CHECK: nvvm.bar.warp.sync
  // CHECK-COUNT-2: llvm.load {{.*}} : !llvm.ptr<3> -> f32
  %y = kvc.patch %x, %o, %o {kvk.layouts = [#rows]} : tensor<2x32xf32, #kvc.dims<t, c>>, tensor<2x1xf32, #kvc.dims<t, o>>
  kvc.store_rows %y, %out[%i] valid %n : tensor<2x32xf32, #kvc.dims<t, c>>, memref<?x32xf32>
  return
}

// Whatever the numbers are, what is read is the source's.

// CHECK-LABEL: func.func @pick
func.func @pick(%out: memref<?x1xf32>, %i: index, %n: index) {
  %x = arith.constant {kvk.layouts = [#rows]} dense<1.0> : tensor<2x32xf32, #kvc.dims<t, c>>
  %o = arith.constant {kvk.layouts = [#kvk.layout<reg = [t0], lane = [*, *, *, *, *]>]} dense<65535.0> : tensor<2x1xf32, #kvc.dims<t, o>>
  // CHECK: nvvm.bar.warp.sync
  // CHECK-COUNT-2: llvm.store {{.*}} : f32, !llvm.ptr<3>
  // CHECK: nvvm.bar.warp.sync
  // CHECK: %[[LAST:.*]] = arith.constant 31 : index
  // CHECK: arith.minsi %{{.*}}, %[[LAST]]
  // CHECK: llvm.load {{.*}} : !llvm.ptr<3> -> f32
  %y = kvc.pick %x at %o {kvk.layouts = [#kvk.layout<reg = [t0], lane = [*, *, *, *, *]>]} : tensor<2x32xf32, #kvc.dims<t, c>>, tensor<2x1xf32, #kvc.dims<t, o>>
  kvc.store_rows %y, %out[%i] valid %n : tensor<2x1xf32, #kvc.dims<t, o>>, memref<?x1xf32>
  return
}

// A rotation needs no memory: strides in a lane, then across lanes.

// CHECK-LABEL: func.func @rotate
// CHECK-NOT: llvm.ptr<3>
func.func @rotate(%out: memref<?x32xf32>, %i: index, %n: index) {
  %x = arith.constant {kvk.layouts = [#kvk.layout<reg = [c0], lane = [c1, c2, c3, c4, *]>]} dense<1.0> : tensor<1x32xf32, #kvc.dims<t, c>>
  // CHECK: arith.addf
  // CHECK: arith.subf
  // CHECK-COUNT-2: nvvm.shfl.sync bfly
  // CHECK-NOT: nvvm.shfl
  // CHECK: arith.constant 5.000000e-01 : f32
  %y = kvc.rotate %x {block = 4 : i64, kvk.layouts = [#kvk.layout<reg = [c0], lane = [c1, c2, c3, c4, *]>]} : tensor<1x32xf32, #kvc.dims<t, c>>
  kvc.store_rows %y, %out[%i] valid %n : tensor<1x32xf32, #kvc.dims<t, c>>, memref<?x32xf32>
  return
}

// Frequencies are constants beside the kernel.

// CHECK: llvm.mlir.global internal constant @rope_frequencies(dense<[1.000000e+00, 5.000000e-01]> : tensor<2xf32>) {addr_space = 4 : i32, alignment = 4 : i64}
// CHECK-LABEL: func.func @rope
func.func @rope(%out: memref<?x32xf32>, %i: index, %n: index) {
  %x = arith.constant {kvk.layouts = [#rows]} dense<1.0> : tensor<2x32xf32, #kvc.dims<t, c>>
  // CHECK-DAG: llvm.load {{.*}} : !llvm.ptr<4> -> f32
  // CHECK-DAG: llvm.load {{.*}} : !llvm.ptr<3> -> f32
  %y = kvc.rope %x at %i {dims = 4 : i64, offset = 0 : i64, theta = 4.0 : f64, kvk.layouts = [#rows]} : tensor<2x32xf32, #kvc.dims<t, c>>
  kvc.store_rows %y, %out[%i] valid %n : tensor<2x32xf32, #kvc.dims<t, c>>, memref<?x32xf32>
  return
}

// -----

// expected-error@+1 {{expected tiles of at most 49152 bytes of shared memory, got 66048}}
func.func @large(%x: index) {
  %q = arith.constant {kvk.layouts = [#kvk.layout<reg = [t0, t1, t2, t3, t4, c0, c1, c2, c3], lane = [c4, c5, c6, c7, c8]>]} dense<1.0> : tensor<32x512xf32, #kvc.dims<t, c>>
  %y = kvc.slice %q {first = 0 : i64, kvk.layouts = [#kvk.layout<reg = [t0, t1, t2, t3, t4], lane = [*, *, *, *, *]>]} : tensor<32x512xf32, #kvc.dims<t, c>> to tensor<32x1xf32, #kvc.dims<t, c>>
  return
}

// -----

// Frequencies are a table for each rope that differs.

// CHECK-DAG: llvm.mlir.global internal constant @two_ropes_frequencies({{.*}}tensor<2xf32>
// CHECK-DAG: llvm.mlir.global internal constant @two_ropes_frequencies_1({{.*}}tensor<8xf32>
// CHECK: func.func @two_ropes
// CHECK-DAG: llvm.mlir.addressof @two_ropes_frequencies :
// CHECK-DAG: llvm.mlir.addressof @two_ropes_frequencies_1 :
#rows = #kvk.layout<reg = [t0], lane = [c0, c1, c2, c3, c4]>
func.func @two_ropes(%out: memref<?x32xf32>, %i: index, %n: index) {
  %x = arith.constant {kvk.layouts = [#rows]} dense<1.0> : tensor<2x32xf32, #kvc.dims<t, c>>
  %y = kvc.rope %x at %i {dims = 4 : i64, offset = 0 : i64, theta = 4.0 : f64, kvk.layouts = [#rows]} : tensor<2x32xf32, #kvc.dims<t, c>>
  %z = kvc.rope %y at %i {dims = 16 : i64, offset = 0 : i64, theta = 100.0 : f64, kvk.layouts = [#rows]} : tensor<2x32xf32, #kvc.dims<t, c>>
  %w = kvc.rope %z at %n {dims = 4 : i64, offset = 0 : i64, theta = 4.0 : f64, kvk.layouts = [#rows]} : tensor<2x32xf32, #kvc.dims<t, c>>
  kvc.store_rows %w, %out[%i] valid %n : tensor<2x32xf32, #kvc.dims<t, c>>, memref<?x32xf32>
  return
}
