// RUN: kvc-opt %s --kvc-expand --kvc-place-factors --kvc-apply-placement | FileCheck %s

#static = #kvc.spec<name = "static", attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int8", scale = {channels = 16, dtype = "f32", static = true, tokens = "all"}}>,
  value = #kvc.scheme<{codec = "int8", scale = {channels = 32, dtype = "f32", static = true, tokens = "all"}}>>

// K's scale goes to the query, once per row tile. V's is the same for all tokens, so
// it multiplies the output once, behind the loop over them.
// CHECK-LABEL: func.func @attend(
// CHECK: %[[KS:.*]] = kvc.load_scheme {{.*}} to tensor<64xf32, #kvc.dims<c>>
// CHECK: %[[VS:.*]] = kvc.load_scheme {{.*}} to tensor<64xf32, #kvc.dims<d>>
// CHECK: %[[O:.*]]:3 = scf.for
// CHECK: %[[ALLK:.*]] = kvc.broadcast %[[KS]]
// CHECK: %[[Q:.*]] = arith.mulf %{{.*}}, %[[ALLK]]
// CHECK: kvc.contract %[[Q]], %{{.*}} to tensor<4x64xf32, #kvc.dims<r, t>>
// CHECK-NOT: kvc.broadcast %[[VS]]
// CHECK: %[[SUM:.*]] = kvc.contract {{.*}} to tensor<4x64xf32, #kvc.dims<r, d>>
// CHECK: arith.addf %{{.*}}, %[[SUM]]
// CHECK: scf.yield
// CHECK: %[[ALLV:.*]] = kvc.broadcast %[[VS]]
// CHECK-NEXT: arith.mulf %[[O]]#2, %[[ALLV]]
func.func @attend(%cache: !kvc.cache<#static>, %q: memref<?x?x64xf16, strided<[?, ?, 1]>>, %out: memref<?x64xf32>, %lse: memref<?xf32>,
    %head: index, %queries: index, %length: index, %row: index, %row_end: index, %key: index, %key_end: index) {
  kvc.attend %q, %cache[%head] rows(%row to %row_end of %queries) keys(%key to %key_end of %length) into %out, %lse
      {tile_rows = 4, tile_tokens = 64}
      : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#static>, memref<?x64xf32>, memref<?xf32>
  return
}
