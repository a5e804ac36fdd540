// RUN: kvc-opt %s --convert-kvc-to-gpu --canonicalize --split-input-file | FileCheck %s

#rows = #kvk.layout<reg = [r0], lane = [r1, r2, *, *, *]>
#tokens = #kvk.layout<reg = [t3], lane = [*, *, t0, t1, t2]>
#scores = #kvk.layout<reg = [r0, t3], lane = [r1, r2, t0, t1, t2]>
!rows = tensor<8xf32, #kvc.dims<r>>
!scores = tensor<8x16xf32, #kvc.dims<r, t>>

// A sum that a loop carries stays that of each lane's keys: no lane asks
// another before the loop has ended. A maximum is needed in every step.

// CHECK-LABEL: func.func @sum
func.func @sum(%out: memref<?xf32>, %i: index, %n: index, %begin: f32) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant {kvk.layouts = [#rows]} dense<0.0> : !rows
  %half = arith.constant {kvk.layouts = [#rows]} dense<0.5> : !rows
  %p = arith.constant {kvk.layouts = [#scores]} dense<1.0> : !scores
  %first = kvc.broadcast %begin {kvk.layouts = [#rows]} : f32 to !rows
  // What a sum is at first is shared by the 8 lanes.
  // CHECK: %[[SHARE:.*]] = arith.mulf %{{.*}}, %{{.*}} : vector<2xf32>
  // CHECK: %[[SUMS:.*]]:3 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %[[SHARE]], %{{.*}} = %{{.*}})
  %sums:3 = scf.for %k = %i to %n step %c1 iter_args(%l = %zero, %z = %first, %m = %zero) -> (!rows, !rows, !rows) {
    %x = kvc.reduce add %p {kvk.layouts = [#rows]} : !scores to !rows
    %y = kvc.reduce add %p {kvk.layouts = [#rows]} : !scores to !rows
    %kept = arith.mulf %l, %half {kvk.layouts = [#rows]} : !rows
    %before = arith.mulf %z, %half {kvk.layouts = [#rows]} : !rows
    %next = arith.addf %kept, %x {kvk.layouts = [#rows]} : !rows
    %after = arith.addf %y, %before {kvk.layouts = [#rows]} : !rows
    // CHECK-NOT: nvvm.shfl
    // CHECK-COUNT-2: arith.addf
    // CHECK-COUNT-6: nvvm.shfl.sync bfly
    // CHECK-NOT: nvvm.shfl
    // CHECK: scf.yield
    %top = kvc.reduce maxnumf %p {kvk.layouts = [#rows]} : !scores to !rows
    %most = arith.maxnumf %m, %top {kvk.layouts = [#rows]} : !rows
    scf.yield %next, %after, %most : !rows, !rows, !rows
  } {kvk.layouts = [#rows, #rows, #rows]}
  // CHECK-COUNT-12: nvvm.shfl.sync bfly
  // CHECK-NOT: nvvm.shfl
  kvc.store_partial %sums#0, %out[%i to %n] : !rows, memref<?xf32>
  kvc.store_partial %sums#1, %out[%i to %n] : !rows, memref<?xf32>
  kvc.store_partial %sums#2, %out[%i to %n] : !rows, memref<?xf32>
  return
}

// What is read inside of the loop is the sum of all lanes.

// CHECK-LABEL: func.func @read_inside
func.func @read_inside(%out: memref<?xf32>, %i: index, %n: index) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant {kvk.layouts = [#rows]} dense<0.0> : !rows
  %half = arith.constant {kvk.layouts = [#rows]} dense<0.5> : !rows
  %p = arith.constant {kvk.layouts = [#scores]} dense<1.0> : !scores
  // CHECK: scf.for
  %sum = scf.for %k = %i to %n step %c1 iter_args(%l = %zero) -> (!rows) {
    // CHECK-COUNT-6: nvvm.shfl.sync bfly
    %x = kvc.reduce add %p {kvk.layouts = [#rows]} : !scores to !rows
    %kept = arith.mulf %l, %half {kvk.layouts = [#rows]} : !rows
    %next = arith.addf %kept, %x {kvk.layouts = [#rows]} : !rows
    kvc.store_partial %next, %out[%i to %n] : !rows, memref<?xf32>
    scf.yield %next : !rows
  } {kvk.layouts = [#rows]}
  // CHECK: return
  return
}

// A mask acts where some row sees less than the tile, a decay where some row's
// is not 1; all lanes go the same way.

// CHECK-LABEL: func.func @rarely
func.func @rarely(%out: memref<?x16xf32>, %i: index, %n: index, %limit: i32, %decay: f32) {
  %c1 = arith.constant 1 : index
  %x = arith.constant {kvk.layouts = [#scores]} dense<1.0> : !scores
  %inf = arith.constant {kvk.layouts = [#scores]} dense<0xFF800000> : !scores
  %iota = kvc.iota {kvk.layouts = [#tokens]} : tensor<16xi32, #kvc.dims<t>>
  %t = kvc.broadcast %iota {kvk.layouts = [#scores]} : tensor<16xi32, #kvc.dims<t>> to tensor<8x16xi32, #kvc.dims<r, t>>
  %rows = kvc.broadcast %limit {kvk.layouts = [#rows]} : i32 to tensor<8xi32, #kvc.dims<r>>
  %limits = kvc.broadcast %rows {kvk.layouts = [#scores]} : tensor<8xi32, #kvc.dims<r>> to tensor<8x16xi32, #kvc.dims<r, t>>
  %sees = arith.cmpi slt, %t, %limits {kvk.layouts = [#scores]} : tensor<8x16xi32, #kvc.dims<r, t>>
  // CHECK: %[[SHORT:.*]] = arith.cmpi slt, %{{.*}}, %c16_i32
  // CHECK: %[[ANY:.*]] = nvvm.vote.sync any %{{.*}}, %{{.*}} -> i1
  // CHECK: %[[MASKED:.*]] = scf.if %[[ANY]]
  // CHECK: arith.select
  // CHECK: } else {
  // CHECK-NEXT: scf.yield
  %s = arith.select %sees, %x, %inf {kvk.layouts = [#scores]} : tensor<8x16xi1, #kvc.dims<r, t>>, !scores
  %factor = kvc.broadcast %decay {kvk.layouts = [#rows]} : f32 to !rows
  // CHECK: scf.for {{.*}} iter_args(%[[O:.*]] = %[[MASKED]])
  %o = scf.for %k = %i to %n step %c1 iter_args(%o = %s) -> (!scores) {
    %factors = kvc.broadcast %factor {kvk.layouts = [#scores]} : !rows to !scores
    // CHECK: arith.cmpf une
    // CHECK: %[[CHANGES:.*]] = nvvm.vote.sync any
    // CHECK: %[[KEPT:.*]] = scf.if %[[CHANGES]]
    // CHECK: arith.mulf %[[O]]
    // CHECK: } else {
    // CHECK-NEXT: scf.yield %[[O]]
    %kept = arith.mulf %o, %factors {kvk.layouts = [#scores]} : !scores
    // CHECK: arith.addf %[[KEPT]]
    %next = arith.addf %kept, %x {kvk.layouts = [#scores]} : !scores
    scf.yield %next : !scores
  } {kvk.layouts = [#scores]}
  kvc.store_partial %o, %out[%i to %n] : !scores, memref<?x16xf32>
  return
}
