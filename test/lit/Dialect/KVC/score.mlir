// The score region of a declaration and of kvc.attend.
// RUN: kvc-opt %s | kvc-opt | FileCheck %s
// RUN: kvc-opt %s --mlir-print-op-generic | kvc-opt | FileCheck %s
// RUN: kvc-opt %s --canonicalize --cse | FileCheck %s --check-prefix=STAYS

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>

// Every operation that a region may hold.
// CHECK: kvc.attention_spec @all #s score(%[[SCORE:.*]]: f32, %[[QUERY:.*]]: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32) {
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[SCORE]], %[[SCORE]] : f32
// CHECK: kvc.yield %{{.*}} : f32
// CHECK-NEXT: }
kvc.attention_spec @all #s
    score(%score: f32, %query: i32, %key: i32, %head: i32, %kv_head: i32) {
  %f0 = arith.addf %score, %score : f32
  %f1 = arith.subf %f0, %score fastmath<contract> : f32
  %f2 = arith.mulf %f1, %f0 : f32
  %f3 = arith.divf %f2, %f0 : f32
  %f4 = arith.negf %f3 : f32
  %f5 = arith.maximumf %f4, %f0 : f32
  %f6 = arith.minimumf %f5, %f0 : f32
  %f7 = arith.maxnumf %f6, %f0 : f32
  %f8 = arith.minnumf %f7, %f0 : f32
  %m0 = math.absf %f8 : f32
  %m1 = math.ceil %m0 : f32
  %m2 = math.copysign %m1, %f0 : f32
  %m3 = math.cos %m2 : f32
  %m4 = math.exp %m3 : f32
  %m5 = math.exp2 %m4 : f32
  %m6 = math.floor %m5 : f32
  %m7 = math.log %m6 : f32
  %m8 = math.log2 %m7 : f32
  %m9 = math.roundeven %m8 : f32
  %m10 = math.sin %m9 : f32
  %m11 = math.sqrt %m10 : f32
  %m12 = math.tanh %m11 : f32
  %seven = arith.constant 7 : i32
  %i0 = arith.addi %query, %key : i32
  %i1 = arith.subi %i0, %head : i32
  %i2 = arith.muli %i1, %kv_head overflow<nsw> : i32
  %i3 = arith.minsi %i2, %seven : i32
  %i4 = arith.maxsi %i3, %query : i32
  %i5 = arith.divsi %i4, %seven : i32
  %i6 = arith.remsi %i5, %seven : i32
  %i7 = arith.floordivsi %i6, %seven : i32
  %i8 = arith.ceildivsi %i7, %seven : i32
  %i9 = arith.shli %i8, %seven : i32
  %i10 = arith.shrsi %i9, %seven : i32
  %i11 = arith.shrui %i10, %seven : i32
  %i12 = arith.andi %i11, %key : i32
  %i13 = arith.ori %i12, %key : i32
  %i14 = arith.xori %i13, %head : i32
  %b0 = arith.cmpf ogt, %m12, %score : f32
  %b1 = arith.cmpi slt, %i14, %key : i32
  %b2 = arith.xori %b0, %b1 : i1
  %e0 = arith.extui %b2 : i1 to i32
  %e1 = arith.sitofp %e0 : i32 to f32
  %e2 = arith.uitofp %b1 : i1 to f32
  %e3 = arith.addf %e1, %e2 : f32
  %masked = arith.constant 0xFF800000 : f32
  %result = arith.select %b2, %e3, %masked : f32
  kvc.yield %result : f32
}

// Nothing moves out of a region, or into it.
// STAYS-LABEL: func.func @attend
// STAYS-NEXT: kvc.attend
// STAYS-SAME: score(%[[SCORE:.*]]: f32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32) {
// STAYS: arith.constant 10 : i32
// STAYS: kvc.yield
// CHECK-LABEL: func.func @attend
func.func @attend(%cache: !kvc.cache<#s>, %q: memref<?x?x128xf16>, %pout: memref<?x128xf32>, %plse: memref<?xf32>, %i: index) {
  // CHECK: kvc.attend %{{.*}}, %{{.*}}[%{{.*}}] rows({{.*}}) keys({{.*}}) into %{{.*}}, %{{.*}} score(%{{.*}}: f32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32) {
  // CHECK: } {tile_rows = 4 : i64, tile_tokens = 64 : i64} : memref<?x?x128xf16>
  kvc.attend %q, %cache[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %pout, %plse
    score(%score: f32, %query: i32, %key: i32, %head: i32, %kv_head: i32) {
      %ten = arith.constant 10 : i32
      %far = arith.cmpi sgt, %key, %ten : i32
      %zero = arith.constant 0.0 : f32
      %result = arith.select %far, %zero, %score : f32
      kvc.yield %result : f32
    } {tile_rows = 4, tile_tokens = 64}
    : memref<?x?x128xf16>, !kvc.cache<#s>, memref<?x128xf32>, memref<?xf32>
  return
}
