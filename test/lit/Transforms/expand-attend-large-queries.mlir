// RUN: kvc-opt %s --kvc-expand | FileCheck %s

// Times codes, queries near f32's end are beyond it where scores are not. Rows
// with one above 2^64 are divided by that, and their scores multiplied by it;
// with scale * log2(e), where f32 holds that product.
#one = #kvc.spec<name = "one",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 8, scale = 0.125}>,
  io = #kvc.io<{query = "bf16"}>,
  key = #kvc.scheme<{codec = "f16"}>,
  value = #kvc.scheme<{codec = "f16"}>>
// CHECK-LABEL: func.func @one(
// CHECK-DAG: %[[LIMIT:.*]] = arith.constant dense<1.84467441E+19> : tensor<4xf32, #kvc.dims<r>>
// CHECK-DAG: %[[DOWN:.*]] = arith.constant dense<5.42101086E-20> : tensor<4xf32, #kvc.dims<r>>
// CHECK-DAG: %[[UNIT:.*]] = arith.constant dense<1.000000e+00> : tensor<4xf32, #kvc.dims<r>>
// CHECK-DAG: %[[UP:.*]] = arith.constant dense<3.326628{{.*}}E+18> : tensor<4xf32, #kvc.dims<r>>
// CHECK-DAG: %[[SCALE:.*]] = arith.constant dense<0.180336{{.*}}> : tensor<4xf32, #kvc.dims<r>>
// CHECK: %[[Q:.*]] = kvc.load_query
// CHECK-NEXT: %[[A:.*]] = math.absf %[[Q]]
// CHECK-NEXT: %[[AMAX:.*]] = kvc.reduce maxnumf %[[A]] {{.*}} to tensor<4xf32, #kvc.dims<r>>
// CHECK-NEXT: %[[LARGE:.*]] = arith.cmpf ogt, %[[AMAX]], %[[LIMIT]]
// CHECK-NEXT: %[[D:.*]] = arith.select %[[LARGE]], %[[DOWN]], %[[UNIT]]
// CHECK-NEXT: %[[DB:.*]] = kvc.broadcast %[[D]]
// CHECK-NEXT: %[[DIVIDED:.*]] = arith.mulf %[[Q]], %[[DB]]
// CHECK-NEXT: %[[F:.*]] = arith.select %[[LARGE]], %[[UP]], %[[SCALE]]
// CHECK: scf.for
// CHECK: %[[S:.*]] = kvc.contract %[[DIVIDED]]
// CHECK-NEXT: %[[FB:.*]] = kvc.broadcast %[[F]]
// CHECK-NEXT: arith.mulf %[[S]], %[[FB]]
// CHECK-NOT: arith.mulf
// CHECK: arith.select
func.func @one(%cache: !kvc.cache<#one>, %q: memref<?x?x64xbf16, strided<[?, ?, 1]>>, %out: memref<?x64xf32>, %lse: memref<?xf32>,
    %head: index, %queries: index, %length: index, %row: index, %row_end: index, %key: index, %key_end: index) {
  kvc.attend %q, %cache[%head] rows(%row to %row_end of %queries) keys(%key to %key_end of %length) into %out, %lse
      {tile_rows = 4, tile_tokens = 64}
      : memref<?x?x64xbf16, strided<[?, ?, 1]>>, !kvc.cache<#one>, memref<?x64xf32>, memref<?xf32>
  return
}

// A scale of 1e30 leaves no room for 2^64 in one factor.
#two = #kvc.spec<name = "two",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 8, scale = 1.0e30}>,
  io = #kvc.io<{query = "f32"}>,
  key = #kvc.scheme<{codec = "f16"}>,
  value = #kvc.scheme<{codec = "f16"}>>
// CHECK-LABEL: func.func @two(
// CHECK-DAG: %[[UNIT:.*]] = arith.constant dense<1.000000e+00> : tensor<4xf32, #kvc.dims<r>>
// CHECK-DAG: %[[SCALE:.*]] = arith.constant dense<1.442695{{.*}}E+30> : tensor<4x64xf32, #kvc.dims<r, t>>
// CHECK: %[[F:.*]] = arith.select %{{.*}}, %{{.*}}, %[[UNIT]]
// CHECK: scf.for
// CHECK: %[[S:.*]] = kvc.contract
// CHECK-NEXT: %[[FB:.*]] = kvc.broadcast
// CHECK-NEXT: %[[GIVEN:.*]] = arith.mulf %[[S]], %[[FB]]
// CHECK-NEXT: arith.mulf %[[GIVEN]], %[[SCALE]]
func.func @two(%cache: !kvc.cache<#two>, %q: memref<?x?x64xf32, strided<[?, ?, 1]>>, %out: memref<?x64xf32>, %lse: memref<?xf32>,
    %head: index, %queries: index, %length: index, %row: index, %row_end: index, %key: index, %key_end: index) {
  kvc.attend %q, %cache[%head] rows(%row to %row_end of %queries) keys(%key to %key_end of %length) into %out, %lse
      {tile_rows = 4, tile_tokens = 64}
      : memref<?x?x64xf32, strided<[?, ?, 1]>>, !kvc.cache<#two>, memref<?x64xf32>, memref<?xf32>
  return
}
