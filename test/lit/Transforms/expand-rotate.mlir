// RUN: kvc-opt %s --kvc-expand | FileCheck %s

#rotated = #kvc.spec<name = "rotated",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 8, value_dim = 96}>,
  io = #kvc.io<{query = "f32"}>,
  key = #kvc.scheme<{codec = "int4", scale = {channels = 16, dtype = "f16", tokens = 1}, rotate = 64}>,
  value = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}, rotate = 32}>>
#raw = #kvc.spec<name = "raw",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 2}>,
  io = #kvc.io<{query = "f32"}>,
  key = #kvc.scheme<{codec = "f16", rotate = 8}>,
  value = #kvc.scheme<{codec = "f32", rotate = 16}>>

#shared = #kvc.spec<name = "shared",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 8, value_is_key = "all"}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, rotate = 64}>>

// A row is rotated whole before it is cut into scale blocks, here smaller than
// the rotation.
// CHECK-LABEL: func.func @append_blocks(
// CHECK: %[[X:.*]] = kvc.load_input {{.*}} to tensor<1x64xf32, #kvc.dims<b, e>>
// CHECK-NEXT: %[[H:.*]] = kvc.rotate %[[X]] {block = 64 : i64}
// CHECK-NEXT: %[[ROW:.*]] = kvc.join %[[H]] : {{.*}} to tensor<64xf32, #kvc.dims<c>>
// CHECK-NEXT: %[[BLOCKS:.*]] = kvc.split %[[ROW]] : {{.*}} to tensor<4x16xf32, #kvc.dims<b, e>>
// CHECK-NEXT: math.absf %[[BLOCKS]]
func.func @append_blocks(%x: memref<?x?x64xf32, strided<[?, ?, 1]>>, %cache: !kvc.cache<#rotated>, %head: index, %begin: index, %end: index) {
  kvc.append %x, %cache[%head] tokens(%begin to %end) {tensor = #kvc.tensor<key>} : memref<?x?x64xf32, strided<[?, ?, 1]>>, !kvc.cache<#rotated>
  return
}

// CHECK-LABEL: func.func @append_row(
// CHECK: %[[X:.*]] = kvc.load_input {{.*}} to tensor<1x96xf32, #kvc.dims<b, e>>
// CHECK-NEXT: %[[H:.*]] = kvc.rotate %[[X]] {block = 32 : i64}
// CHECK-NEXT: math.absf %[[H]]
func.func @append_row(%x: memref<?x?x96xf32, strided<[?, ?, 1]>>, %cache: !kvc.cache<#rotated>, %head: index, %begin: index, %end: index) {
  kvc.append %x, %cache[%head] tokens(%begin to %end) {tensor = #kvc.tensor<value>} : memref<?x?x96xf32, strided<[?, ?, 1]>>, !kvc.cache<#rotated>
  return
}

// Raw codecs round what was rotated; to f32 that is saturation, which keeps NaN.
// CHECK-LABEL: func.func @append_raw(
// CHECK: %[[K:.*]] = kvc.rotate %{{.*}} {block = 8 : i64}
// CHECK-NEXT: %[[R:.*]] = kvc.round_to %[[K]] {dtype = "f16"}
// CHECK-NEXT: %[[T:.*]] = arith.truncf %[[R]]
// CHECK-NEXT: kvc.store_codes %[[T]]
// CHECK: %[[V:.*]] = kvc.rotate %{{.*}} {block = 16 : i64}
// CHECK-NEXT: %[[BELOW:.*]] = arith.minimumf %[[V]], %{{.*}}
// CHECK-NEXT: %[[WITHIN:.*]] = arith.maximumf %[[BELOW]], %{{.*}}
// CHECK-NEXT: kvc.store_codes %[[WITHIN]]
func.func @append_raw(%x: memref<?x?x64xf32, strided<[?, ?, 1]>>, %cache: !kvc.cache<#raw>, %head: index, %begin: index, %end: index) {
  kvc.append %x, %cache[%head] tokens(%begin to %end) {tensor = #kvc.tensor<key>} : memref<?x?x64xf32, strided<[?, ?, 1]>>, !kvc.cache<#raw>
  kvc.append %x, %cache[%head] tokens(%begin to %end) {tensor = #kvc.tensor<value>} : memref<?x?x64xf32, strided<[?, ?, 1]>>, !kvc.cache<#raw>
  return
}

// Codes are shown as they are stored, x' is rotated back.
// CHECK-LABEL: func.func @unpack(
// CHECK: kvc.store_rows {{.*}}xi8
// CHECK: %[[C:.*]] = kvc.join
// CHECK-NEXT: %[[X:.*]] = kvc.rotate %[[C]] {block = 64 : i64} : tensor<1x64xf32, #kvc.dims<t, c>>
// CHECK-NEXT: kvc.store_rows %[[X]]
func.func @unpack(%cache: !kvc.cache<#rotated>, %codes: memref<?x64xi8>, %scales: memref<?x4xf32>, %zeros: memref<?x4xf32>, %x: memref<?x64xf32>,
    %head: index, %begin: index, %end: index) {
  kvc.unpack %cache[%head] tokens(%begin to %end) into %codes, %scales, %zeros, %x {tensor = #kvc.tensor<key>}
      : !kvc.cache<#rotated>, memref<?x64xi8>, memref<?x4xf32>, memref<?x4xf32>, memref<?x64xf32>
  return
}

// Attention rotates the query and the output, each once and outside of the loop
// over keys; keys and values stay in the basis of their codes.
// CHECK-LABEL: func.func @attend(
// CHECK: %[[GIVEN:.*]] = kvc.load_query
// CHECK: %[[Q:.*]] = arith.mulf %[[GIVEN]]
// CHECK: %[[H:.*]] = kvc.rotate %[[Q]] {block = 64 : i64} : tensor<4x64xf32, #kvc.dims<r, c>>
// CHECK: %[[HB:.*]] = kvc.split %[[H]] : {{.*}} to tensor<4x4x16xf32, #kvc.dims<r, b, e>>
// CHECK-NOT: kvc.rotate
// CHECK: %[[LOOP:.*]]:3 = scf.for
// CHECK: %[[K:.*]] = kvc.dequantize {{.*}} to tensor<64x4x16xf32, #kvc.dims<t, b, e>>
// CHECK-NEXT: kvc.contract %[[HB]], %[[K]]
// CHECK-NOT: kvc.rotate
// CHECK: scf.yield
// CHECK: %[[O:.*]] = arith.mulf %[[LOOP]]#2, %{{.*}} : tensor<4x96xf32, #kvc.dims<r, d>>
// CHECK-NEXT: %[[OUT:.*]] = kvc.rotate %[[O]] {block = 32 : i64} : tensor<4x96xf32, #kvc.dims<r, d>>
// CHECK-NEXT: kvc.store_partial %[[OUT]]
func.func @attend(%cache: !kvc.cache<#rotated>, %q: memref<?x?x64xf32, strided<[?, ?, 1]>>, %out: memref<?x96xf32>, %lse: memref<?xf32>,
    %head: index, %queries: index, %length: index, %row: index, %row_end: index, %key: index, %key_end: index) {
  kvc.attend %q, %cache[%head] rows(%row to %row_end of %queries) keys(%key to %key_end of %length) into %out, %lse
      {tile_rows = 4, tile_tokens = 64}
      : memref<?x?x64xf32, strided<[?, ?, 1]>>, !kvc.cache<#rotated>, memref<?x96xf32>, memref<?xf32>
  return
}

// Keys that are values too are rotated back in the loop, once for both.
// CHECK-LABEL: func.func @attend_shared(
// CHECK-NOT: kvc.rotate
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[K:.*]] = kvc.dequantize {{.*}} to tensor<64x64xf32, #kvc.dims<t, c>>
// CHECK-NEXT: %[[X:.*]] = kvc.rotate %[[K]] {block = 64 : i64} : tensor<64x64xf32, #kvc.dims<t, c>>
// CHECK-NEXT: kvc.contract %{{.*}}, %[[X]]
// CHECK-NOT: kvc.rotate
func.func @attend_shared(%cache: !kvc.cache<#shared>, %q: memref<?x?x64xf16, strided<[?, ?, 1]>>, %out: memref<?x64xf32>, %lse: memref<?xf32>,
    %head: index, %queries: index, %length: index, %row: index, %row_end: index, %key: index, %key_end: index) {
  kvc.attend %q, %cache[%head] rows(%row to %row_end of %queries) keys(%key to %key_end of %length) into %out, %lse
      {tile_rows = 4, tile_tokens = 64}
      : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#shared>, memref<?x64xf32>, memref<?xf32>
  return
}
