// RUN: kvc-opt %s --kvc-apply-placement | FileCheck %s

// Outliers apart: codes as if there were none, and a product with what outliers
// are more than the codes under them stand for, which are 0.

!q = tensor<4x128xf32, #kvc.dims<r, c>>
!qb = tensor<4x4x32xf32, #kvc.dims<r, b, e>>
!p = tensor<4x64xf32, #kvc.dims<r, t>>
!u = tensor<64x128xi8, #kvc.dims<t, c>>
!ub = tensor<64x4x32xi8, #kvc.dims<t, b, e>>
!vu = tensor<64x128xi8, #kvc.dims<t, d>>
!x = tensor<64x128xf32, #kvc.dims<t, c>>
!xb = tensor<64x4x32xf32, #kvc.dims<t, b, e>>
!vx = tensor<64x128xf32, #kvc.dims<t, d>>
!t = tensor<64xf32, #kvc.dims<t>>
!tb = tensor<64x4xf32, #kvc.dims<t, b>>
!i = tensor<64x2xf32, #kvc.dims<t, o>>
!r = tensor<4xf32, #kvc.dims<r>>
!o = tensor<4x128xf32, #kvc.dims<r, d>>

// CHECK-LABEL: func.func @symmetric(
// CHECK-SAME: %[[Q:.*]]: tensor<4x128{{.*}}, %[[U:.*]]: tensor<64x128{{.*}}, %[[S:.*]]: tensor<64x{{.*}}, %[[I:.*]]: tensor<64x2{{.*}}, %[[V:.*]]: tensor<64x2x
// CHECK: %[[SPARSE:.*]] = kvc.gather_dot %[[Q]], %[[I]], %[[V]]
// CHECK: %[[X:.*]] = arith.sitofp %[[U]]
// CHECK: %[[DOT:.*]] = kvc.contract %[[Q]], %[[X]]
// CHECK: %[[SCALED:.*]] = arith.mulf %[[DOT]],
// CHECK: %[[Y:.*]] = arith.addf %[[SCALED]], %[[SPARSE]]
// CHECK: return %[[Y]]
func.func @symmetric(%q: !q, %u: !u, %s: !t, %i: !i, %v: !i) -> !p {
  %x = kvc.dequantize %u, %s {scale_place = #kvc.place<score>} : !u, !t to !x
  %k = kvc.patch %x, %i, %v {place = #kvc.place<score>} : !x, !i
  %y = kvc.contract %q, %k : !q, !x to !p
  return %y : !p
}

// The minimum of the block that each outlier is in. Rows in blocks are joined.
// CHECK-LABEL: func.func @minimum(
// CHECK-SAME: %[[Q:.*]]: tensor<4x4x32{{.*}}, %[[U:.*]]: tensor<64x4x32{{.*}}, %[[S:.*]]: tensor<64x4x{{.*}}, %[[Z:.*]]: tensor<64x4x{{.*}}, %[[I:.*]]: tensor<64x2{{.*}}, %[[V:.*]]: tensor<64x2x
// CHECK: %[[BASE:.*]] = kvc.pick %[[Z]] at %[[I]] {width = 32 : i64}
// CHECK: %[[MORE:.*]] = arith.subf %[[V]], %[[BASE]]
// CHECK: %[[ROWS:.*]] = kvc.join %[[Q]]
// CHECK: kvc.gather_dot %[[ROWS]], %[[I]], %[[MORE]]
func.func @minimum(%q: !qb, %u: !ub, %s: !tb, %z: !tb, %i: !i, %v: !i) -> !p {
  %x = kvc.dequantize %u, %s, %z {centre = 8 : i64, scale_place = #kvc.place<partial>, zero_kind = "min", zero_place = #kvc.place<score>} : !ub, !tb, !tb to !xb
  %k = kvc.patch %x, %i, %v {place = #kvc.place<score>} : !xb, !i
  %y = kvc.contract %q, %k : !qb, !xb to !p
  return %y : !p
}

// - scale * zero.
// CHECK-LABEL: func.func @code(
// CHECK-SAME: %[[Q:.*]]: tensor<4x128{{.*}}, %[[U:.*]]: tensor<64x128{{.*}}, %[[S:.*]]: tensor<64x{{.*}}, %[[Z:.*]]: tensor<64x{{.*}}, %[[I:.*]]: tensor<64x2{{.*}}, %[[V:.*]]: tensor<64x2x
// CHECK: %[[ZB:.*]] = kvc.broadcast %[[Z]]
// CHECK: %[[SB:.*]] = kvc.broadcast %[[S]]
// CHECK: %[[NEGATIVE:.*]] = arith.mulf %[[ZB]], %{{.*}}
// CHECK: %[[BASE:.*]] = arith.mulf %[[SB]], %[[NEGATIVE]]
// CHECK: arith.subf %[[V]], %[[BASE]]
func.func @code(%q: !q, %u: !u, %s: !t, %z: !t, %i: !i, %v: !i) -> !p {
  %x = kvc.dequantize %u, %s, %z {centre = 8 : i64, scale_place = #kvc.place<score>, zero_kind = "code", zero_place = #kvc.place<score>} : !u, !t, !t to !x
  %k = kvc.patch %x, %i, %v {place = #kvc.place<score>} : !x, !i
  %y = kvc.contract %q, %k : !q, !x to !p
  return %y : !p
}

// The first entry.
// CHECK-LABEL: func.func @table(
// CHECK: %[[FIRST:.*]] = arith.constant dense<-1.000000e+00> : tensor<64x2xf32, #kvc.dims<t, o>>
// CHECK: %[[BASE:.*]] = arith.mulf %[[FIRST]], %{{.*}}
// CHECK: %[[MORE:.*]] = arith.subf %{{.*}}, %[[BASE]]
// CHECK: kvc.gather_dot %{{.*}}, %{{.*}}, %[[MORE]]
func.func @table(%q: !q, %u: !u, %s: !t, %i: !i, %v: !i) -> !p {
  %f = kvc.lookup %u in [-1.0, 0.0, 0.5, 1.0] : !u to !x
  %x = kvc.dequantize %f, %s {scale_place = #kvc.place<score>} : !x, !t to !x
  %k = kvc.patch %x, %i, %v {place = #kvc.place<score>} : !x, !i
  %y = kvc.contract %q, %k : !q, !x to !p
  return %y : !p
}

// A sum of its own, with the same decay.
// CHECK-LABEL: func.func @values(
// CHECK: %[[SUMS:.*]]:2 = scf.for {{.*}} iter_args(%[[BEFORE:.*]] = %{{.*}}, %[[SPARSE:.*]] = %{{.*}})
// CHECK:   %[[NEW:.*]] = kvc.scatter_dot
// CHECK:   kvc.contract
// CHECK:   %[[OLD:.*]] = arith.mulf %[[SPARSE]], %{{.*}}
// CHECK:   %[[NEXT:.*]] = arith.addf %[[OLD]], %[[NEW]]
// CHECK:   scf.yield %{{.*}}, %[[NEXT]]
// CHECK: %[[SUM:.*]] = arith.addf %[[SUMS]]#0, %[[SUMS]]#1
// CHECK: return %[[SUM]]
func.func @values(%p: !p, %u: !vu, %s: !t, %i: !i, %v: !i, %decay: !r, %tiles: index) -> !o {
  %zero = arith.constant dense<0.0> : !o
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sum = scf.for %n = %c0 to %tiles step %c1 iter_args(%before = %zero) -> !o {
    %x = kvc.dequantize %u, %s {scale_place = #kvc.place<p>} : !vu, !t to !vx
    %k = kvc.patch %x, %i, %v {place = #kvc.place<output>} : !vx, !i
    %d = kvc.broadcast %decay : !r to !o
    %old = arith.mulf %before, %d : !o
    %new = kvc.contract %p, %k : !p, !vx to !o
    %next = arith.addf %old, %new : !o
    scf.yield %next : !o
  }
  return %sum : !o
}

// CHECK-LABEL: func.func @registers(
// CHECK: %[[X:.*]] = arith.mulf
// CHECK: %[[K:.*]] = kvc.patch %[[X]],
// CHECK: kvc.contract %{{.*}}, %[[K]]
func.func @registers(%p: !p, %u: !vu, %s: !t, %i: !i, %v: !i) -> !o {
  %x = kvc.dequantize %u, %s {scale_place = #kvc.place<register>} : !vu, !t to !vx
  %k = kvc.patch %x, %i, %v {place = #kvc.place<register>} : !vx, !i
  %y = kvc.contract %p, %k : !p, !vx to !o
  return %y : !o
}
