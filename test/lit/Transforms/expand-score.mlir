// RUN: kvc-opt %s --kvc-expand | FileCheck %s
// RUN: kvc-opt %s --kvc-expand --kvc-place-factors --kvc-apply-placement --convert-kvc-to-kvk | FileCheck %s --check-prefix=LOOPS

// Operations of a score region work on the dims that they depend on, and stand
// where these are known: heads and positions of queries outside of the loop over
// keys, positions of keys on one row, the rest on all.

#documents = #kvc.spec<name = "documents", attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
// CHECK-LABEL: func.func @documents(
// CHECK: %[[MASKED:.*]] = arith.constant dense<0xFF800000> : tensor<4x64xf32, #kvc.dims<r, t>>
// CHECK: %[[IOTA:.*]] = kvc.iota : tensor<64xi32, #kvc.dims<t>>
// CHECK: scf.for
// CHECK: %[[NUMBER:.*]] = arith.addi %{{.*}} : tensor<4xi64, #kvc.dims<r>>
// CHECK: %[[POSITION:.*]] = arith.addi %{{.*}} : tensor<4xi64, #kvc.dims<r>>
// CHECK-NEXT: %[[QUERY:.*]] = arith.trunci %[[POSITION]] : tensor<4xi64, #kvc.dims<r>> to tensor<4xi32, #kvc.dims<r>>
// CHECK: arith.muli %{{.*}}, %{{.*}} : i64
// CHECK: arith.remui %[[NUMBER]]
// CHECK: %[[HEAD:.*]] = arith.trunci %{{.*}} : tensor<4xi64, #kvc.dims<r>> to tensor<4xi32, #kvc.dims<r>>
// CHECK: %[[OF_QUERY:.*]] = arith.floordivsi %[[QUERY]], %{{.*}} : tensor<4xi32, #kvc.dims<r>>
// CHECK: %[[BIAS:.*]] = arith.sitofp %[[HEAD]] : tensor<4xi32, #kvc.dims<r>> to tensor<4xf32, #kvc.dims<r>>
// CHECK: scf.for %[[T:.*]] =
// CHECK: %[[DOT:.*]] = kvc.contract
// The region's score is scale * q.k: log2(e) comes behind it.
// CHECK-NEXT: %[[SCORE:.*]] = arith.mulf %[[DOT]], %[[SCALE:.*]] fastmath<contract>
// CHECK: %[[TOKEN:.*]] = arith.trunci %{{.*}} : i64 to i32
// CHECK-NEXT: %[[TOKENS:.*]] = kvc.broadcast %[[TOKEN]] : i32 to tensor<64xi32, #kvc.dims<t>>
// CHECK-NEXT: %[[KEY:.*]] = arith.addi %[[IOTA]], %[[TOKENS]] : tensor<64xi32, #kvc.dims<t>>
// CHECK: %[[OF_KEY:.*]] = arith.floordivsi %[[KEY]], %{{.*}} : tensor<64xi32, #kvc.dims<t>>
// CHECK-NEXT: %[[L:.*]] = kvc.broadcast %[[OF_QUERY]] : tensor<4xi32, #kvc.dims<r>> to tensor<4x64xi32, #kvc.dims<r, t>>
// CHECK-NEXT: %[[R:.*]] = kvc.broadcast %[[OF_KEY]] : tensor<64xi32, #kvc.dims<t>> to tensor<4x64xi32, #kvc.dims<r, t>>
// CHECK-NEXT: %[[SAME:.*]] = arith.cmpi eq, %[[L]], %[[R]] : tensor<4x64xi32, #kvc.dims<r, t>>
// CHECK-NEXT: %[[B:.*]] = kvc.broadcast %[[BIAS]] : tensor<4xf32, #kvc.dims<r>> to tensor<4x64xf32, #kvc.dims<r, t>>
// CHECK-NEXT: %[[BIASED:.*]] = arith.addf %[[SCORE]], %[[B]] : tensor<4x64xf32, #kvc.dims<r, t>>
// CHECK-NEXT: %[[RESULT:.*]] = arith.select %[[SAME]], %[[BIASED]], %[[MASKED]]
// CHECK-NEXT: %[[BASE2:.*]] = arith.mulf %[[RESULT]], %{{.*}} fastmath<contract>
// The spec's mask is the last.
// CHECK: %[[VISIBLE:.*]] = arith.cmpi slt
// CHECK: arith.select %[[VISIBLE]], %[[BASE2]], %{{.*}}
// CHECK: kvc.reduce maxnumf
// CHECK-NOT: kvc.yield

// What rows alone say is in memory before the loop over keys; a row of keys is
// one vector, outside of the loop over rows; the dims of both meet there.
// LOOPS-LABEL: func.func @documents(
// LOOPS: scf.for
// LOOPS: arith.floordivsi %{{.*}} : i32
// LOOPS: arith.sitofp %{{.*}} : i32 to f32
// LOOPS: scf.for
// LOOPS: arith.floordivsi %{{.*}} : vector<64xi32>
// LOOPS: scf.for
// LOOPS: arith.cmpi eq, %{{.*}} : vector<64xi32>
// LOOPS-NOT: floordivsi
func.func @documents(%cache: !kvc.cache<#documents>, %q: memref<?x?x64xf16, strided<[?, ?, 1]>>, %pout: memref<?x64xf32>,
    %plse: memref<?xf32>, %kv_head: index, %num_queries: index, %length: index, %row_begin: index, %row_end: index,
    %key_begin: index, %key_end: index) {
  kvc.attend %q, %cache[%kv_head] rows(%row_begin to %row_end of %num_queries)
    keys(%key_begin to %key_end of %length) into %pout, %plse
    score(%score: f32, %query: i32, %key: i32, %head: i32, %group: i32) {
      %size = arith.constant 500 : i32
      %of_query = arith.floordivsi %query, %size : i32
      %of_key = arith.floordivsi %key, %size : i32
      %same = arith.cmpi eq, %of_query, %of_key : i32
      %bias = arith.sitofp %head : i32 to f32
      %biased = arith.addf %score, %bias fastmath<nnan> : f32
      %masked = arith.constant 0xFF800000 : f32
      %result = arith.select %same, %biased, %masked : f32
      kvc.yield %result : f32
    } {tile_rows = 4, tile_tokens = 64}
    : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#documents>, memref<?x64xf32>, memref<?xf32>
  return
}

// Scale, softcap, region; positions of queries only where something reads them.
#capped = #kvc.spec<name = "capped",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, mask = "none", q_heads = 8, softcap = 2.0}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
// CHECK-LABEL: func.func @capped(
// CHECK-NOT: tensor<4xi64
// CHECK: %[[GROUP:.*]] = arith.trunci %{{.*}} : i64 to i32
// CHECK-NEXT: %[[SHIFT:.*]] = arith.sitofp %[[GROUP]] : i32 to f32
// CHECK-NOT: tensor<4xi64
// CHECK: %[[CAPPED:.*]] = math.tanh
// CHECK-NEXT: %[[WHOLE:.*]] = arith.mulf %[[CAPPED]], %[[CAP:.*]] fastmath<contract>
// CHECK-NEXT: %[[S:.*]] = kvc.broadcast %[[SHIFT]] : f32 to tensor<4x64xf32, #kvc.dims<r, t>>
// CHECK-NEXT: arith.subf %[[WHOLE]], %[[S]] : tensor<4x64xf32, #kvc.dims<r, t>>
func.func @capped(%cache: !kvc.cache<#capped>, %q: memref<?x?x64xf16, strided<[?, ?, 1]>>, %pout: memref<?x64xf32>,
    %plse: memref<?xf32>, %kv_head: index, %i: index) {
  kvc.attend %q, %cache[%kv_head] rows(%i to %i of %i) keys(%i to %i of %i) into %pout, %plse
    score(%score: f32, %query: i32, %key: i32, %head: i32, %group: i32) {
      %shift = arith.sitofp %group : i32 to f32
      %result = arith.subf %score, %shift : f32
      kvc.yield %result : f32
    } {tile_rows = 4, tile_tokens = 64}
    : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#capped>, memref<?x64xf32>, memref<?xf32>
  return
}
