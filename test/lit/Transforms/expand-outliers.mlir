// RUN: kvc-opt %s --kvc-expand --canonicalize --cse | FileCheck %s

// The channels of largest magnitude are kept apart; blocks are quantised without
// them. Reading puts them back before anything else is undone.

#s = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 4, kv_heads = 1, head_dim = 64}>, io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int8", scale = {tokens = 1, channels = 16, dtype = "f16"}, outliers = 2, rotate = 32}>,
  value = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min", outliers = 1}>>

// CHECK-LABEL: func.func @append(
// CHECK: %[[X:.*]] = kvc.rotate %{{.*}} {block = 32 : i64} : tensor<1x64xf32, #kvc.dims<b, e>>
// CHECK: %[[M:.*]] = math.absf %[[X]]
// CHECK: %[[I:.*]] = kvc.find_outliers %[[M]] : tensor<1x64xf32, #kvc.dims<b, e>> to tensor<2xf32, #kvc.dims<o>>
// CHECK: %[[V:.*]] = kvc.pick %[[X]] at %[[I]]
// CHECK: %[[R:.*]] = kvc.round_to %[[V]] {dtype = "f16"}
// CHECK: kvc.store_outlier_indices %[[I]]
// CHECK: kvc.store_outlier_values %[[R]]
// CHECK: %[[MARKS:.*]] = kvc.patch %{{.*}}, %[[I]], %{{.*}} : tensor<4x16xf32, #kvc.dims<b, e>>, tensor<2xf32, #kvc.dims<o>>
// CHECK: %[[IS:.*]] = arith.cmpf oeq, %[[MARKS]], %{{.*}} : tensor<4x16xf32, #kvc.dims<b, e>>
// CHECK: %[[LEFT:.*]] = arith.select %[[IS]], %{{.*}}, %{{.*}} : {{.*}}tensor<4x16xf32, #kvc.dims<b, e>>
// CHECK: %[[MAG:.*]] = math.absf %[[LEFT]]
// CHECK: kvc.reduce maximumf %[[MAG]]
// CHECK: arith.select %[[IS]], %{{.*}}, %{{.*}} : {{.*}}tensor<4x16xi8, #kvc.dims<b, e>>
// CHECK: kvc.store_codes
func.func @append(%k: memref<?x?x64xf16, strided<[?, ?, 1]>>, %cache: !kvc.cache<#s>, %head: index, %begin: index, %end: index) {
  kvc.append %k, %cache[%head] tokens(%begin to %end) {tensor = #kvc.tensor<key>} : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#s>
  return
}

// CHECK-LABEL: func.func @unpack(
// CHECK: %[[I:.*]] = kvc.load_outlier_indices
// CHECK: %[[V:.*]] = kvc.load_outlier_values
// CHECK: kvc.store_rows %[[I]]
// CHECK: kvc.store_rows %[[V]]
// CHECK: %[[P:.*]] = kvc.patch %{{.*}}, %[[I]], %[[V]] : tensor<1x64xf32, #kvc.dims<t, c>>, tensor<1x2xf32, #kvc.dims<t, o>>
// CHECK: kvc.rotate %[[P]]
func.func @unpack(%cache: !kvc.cache<#s>, %codes: memref<?x64xi8>, %scales: memref<?x4xf32>, %zeros: memref<?x4xf32>, %x: memref<?x64xf32>,
    %indices: memref<?x2xf32>, %values: memref<?x2xf32>, %head: index, %begin: index, %end: index) {
  kvc.unpack %cache[%head] tokens(%begin to %end) into %codes, %scales, %zeros, %x outliers(%indices, %values) {tensor = #kvc.tensor<key>}
      : !kvc.cache<#s>, memref<?x64xi8>, memref<?x4xf32>, memref<?x4xf32>, memref<?x64xf32> outliers(memref<?x2xf32>, memref<?x2xf32>)
  return
}

// CHECK-LABEL: func.func @attend(
// CHECK: %[[Q:.*]] = kvc.rotate %{{.*}} {block = 32 : i64} : tensor<4x64xf32, #kvc.dims<r, c>>
// CHECK: %[[QB:.*]] = kvc.split %[[Q]]
// CHECK: scf.for
// CHECK: %[[K:.*]] = kvc.patch %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x4x16xf32, #kvc.dims<t, b, e>>, tensor<64x2xf32, #kvc.dims<t, o>>
// CHECK: kvc.contract %[[QB]], %[[K]]
// CHECK: %[[V:.*]] = kvc.patch %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x64xf32, #kvc.dims<t, d>>, tensor<64x1xf32, #kvc.dims<t, o>>
// CHECK: kvc.contract %{{.*}}, %[[V]]
func.func @attend(%cache: !kvc.cache<#s>, %q: memref<?x?x64xf16, strided<[?, ?, 1]>>, %out: memref<?x64xf32>, %lse: memref<?xf32>,
    %head: index, %queries: index, %length: index, %row: index, %row_end: index, %key: index, %key_end: index) {
  kvc.attend %q, %cache[%head] rows(%row to %row_end of %queries) keys(%key to %key_end of %length) into %out, %lse
      {tile_rows = 4, tile_tokens = 64}
      : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#s>, memref<?x64xf32>, memref<?xf32>
  return
}

// A scale block of tokens: outliers are found row by row and stored, then those
// of all rows are marked at once.

#blocks = #kvc.spec<name = "blocks", attention = #kvc.attention<{q_heads = 4, kv_heads = 1, head_dim = 64}>, io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int4", scale = {tokens = 8, channels = 1, dtype = "f16"}, outliers = 2, smooth = true}>,
  value = #kvc.scheme<{codec = "f16"}>, segments = #kvc.segments<{sink = 4, recent = 16}>>

// CHECK-LABEL: func.func @append_blocks(
// CHECK: scf.for %[[T0:.*]] = %{{.*}} to %{{.*}} step %c8
// CHECK:   scf.for %[[T:.*]] = %[[T0]] to
// CHECK:     kvc.load_given {{.*}} to tensor<1x64xf32, #kvc.dims<t, c>>
// CHECK:     kvc.find_outliers %{{.*}} : tensor<1x64xf32, #kvc.dims<t, c>> to tensor<2xf32, #kvc.dims<o>>
// CHECK:     kvc.store_outlier_values
// CHECK:   %[[FIRST:.*]] = arith.subi %[[T0]], %c4
// CHECK:   %[[I:.*]] = kvc.load_outlier_indices %{{.*}}[%{{.*}}, %[[FIRST]]] valid %c8 {{.*}} to tensor<8x2xf32, #kvc.dims<t, o>>
// CHECK:   kvc.patch %{{.*}}, %[[I]], %{{.*}} : tensor<8x64xf32, #kvc.dims<t, c>>, tensor<8x2xf32, #kvc.dims<t, o>>
// CHECK:   kvc.reduce maximumf
// CHECK:   kvc.store_codes
func.func @append_blocks(%k: memref<?x?x64xf16, strided<[?, ?, 1]>>, %cache: !kvc.cache<#blocks>, %head: index, %begin: index, %end: index, %coded: index) {
  kvc.append %k, %cache[%head] tokens(%begin to %end) coded(%coded) {tensor = #kvc.tensor<key>} : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#blocks>
  return
}
