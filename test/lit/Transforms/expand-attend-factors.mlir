// RUN: kvc-opt %s --kvc-expand | FileCheck %s

// A factor that no normal f32 is takes steps that are: the largest softcap times
// log2(e) is 2^64 times 2^64.6, and the scale over it 2^-64 times what is left.

#large = #kvc.spec<name = "large",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 8, scale = 0.125, softcap = 3.0e38}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "f16"}>,
  value = #kvc.scheme<{codec = "f16"}>>
// CHECK-LABEL: func.func @large(
// CHECK-DAG: %[[DOWN:.*]] = arith.constant dense<5.42101086E-20> : tensor<4x64xf32, #kvc.dims<r, t>>
// CHECK-DAG: %[[REST:.*]] = arith.constant dense<7.686143{{.*}}E-21> : tensor<4x64xf32, #kvc.dims<r, t>>
// CHECK-DAG: %[[UP:.*]] = arith.constant dense<1.84467441E+19> : tensor<4x64xf32, #kvc.dims<r, t>>
// CHECK-DAG: %[[CAP:.*]] = arith.constant dense<2.346259{{.*}}E+19> : tensor<4x64xf32, #kvc.dims<r, t>>
// CHECK: %[[SCORES:.*]] = kvc.contract
// CHECK-NEXT: %[[FIRST:.*]] = arith.mulf %[[SCORES]], %[[DOWN]]
// CHECK-NEXT: %[[SCALED:.*]] = arith.mulf %[[FIRST]], %[[REST]]
// CHECK-NEXT: %[[TANH:.*]] = math.tanh %[[SCALED]]
// CHECK-NEXT: %[[SECOND:.*]] = arith.mulf %[[TANH]], %[[UP]]
// CHECK-NEXT: %[[CAPPED:.*]] = arith.mulf %[[SECOND]], %[[CAP]]
// CHECK: arith.select %{{.*}}, %[[CAPPED]]
func.func @large(%cache: !kvc.cache<#large>, %q: memref<?x?x64xf16, strided<[?, ?, 1]>>, %out: memref<?x64xf32>, %lse: memref<?xf32>,
    %head: index, %queries: index, %length: index, %row: index, %row_end: index, %key: index, %key_end: index) {
  kvc.attend %q, %cache[%head] rows(%row to %row_end of %queries) keys(%key to %key_end of %length) into %out, %lse
      {tile_rows = 4, tile_tokens = 64}
      : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#large>, memref<?x64xf32>, memref<?xf32>
  return
}
