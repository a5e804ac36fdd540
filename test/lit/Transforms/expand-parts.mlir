// RUN: kvc-opt %s --kvc-expand | FileCheck %s
// RUN: kvc-opt %s --kvc-expand --kvc-place-factors=remarks=true -o /dev/null 2>&1 | FileCheck %s --check-prefix=PLACE

// Parts: ranges of channels with schemes of their own. V may be a range of K's.

#shared = #kvc.spec<name = "shared", attention = #kvc.attention<{q_heads = 4, kv_heads = 1, head_dim = 64, value_is_key = [8, 56]}>, io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{parts = [
    {channels = [0, 16], codec = "int8", scale = {tokens = 1, channels = "all", dtype = "f16"}},
    {channels = [16, 48], codec = "int4", scale = {tokens = 1, channels = 16, dtype = "f16"}, zero = "min"},
    {channels = [48, 64], codec = "f16"}]}>>
#parts = #kvc.spec<name = "parts", attention = #kvc.attention<{q_heads = 4, kv_heads = 1, head_dim = 64}>, io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int8", scale = {tokens = 1, channels = "all", dtype = "f16"}}>,
  value = #kvc.scheme<{parts = [
    {channels = [0, 48], codec = "f16", rotate = 16},
    {channels = [48, 64], codec = "int8", scale = {tokens = 1, channels = "all", dtype = "f16"}}]}>>

// Each part is quantised from its channels of the row.
// CHECK-LABEL: func.func @append(
// CHECK: kvc.load_input %{{.*}} : memref<{{.*}}> to tensor<1x16xf32, #kvc.dims<b, e>>
// CHECK: kvc.store_codes {{.*}} {tensor = #kvc.tensor<key>}
// CHECK: kvc.load_input %{{.*}} {channel = 16 : i64} : memref<{{.*}}> to tensor<2x16xf32, #kvc.dims<b, e>>
// CHECK: kvc.store_codes {{.*}} {part = 1 : i64, tensor = #kvc.tensor<key>}
// CHECK: kvc.store_scale {{.*}} {part = 1 : i64, tensor = #kvc.tensor<key>}
// CHECK: kvc.store_zero {{.*}} {part = 1 : i64, tensor = #kvc.tensor<key>}
// CHECK: kvc.load_input %{{.*}} {channel = 48 : i64} : memref<{{.*}}> to tensor<1x16xf32, #kvc.dims<b, e>>
// CHECK: kvc.store_codes {{.*}} {part = 2 : i64, tensor = #kvc.tensor<key>}
func.func @append(%k: memref<?x?x64xf16, strided<[?, ?, 1]>>, %cache: !kvc.cache<#shared>, %head: index, %begin: index, %end: index) {
  kvc.append %k, %cache[%head] tokens(%begin to %end) {tensor = #kvc.tensor<key>} : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#shared>
  return
}

// CHECK-LABEL: func.func @unpack(
// CHECK: kvc.load_codes {{.*}} {part = 1 : i64, tensor = #kvc.tensor<key>} : {{.*}} to tensor<1x32xi8, #kvc.dims<t, c>>
// CHECK: kvc.load_scale {{.*}} {part = 1 : i64, tensor = #kvc.tensor<key>} : {{.*}} to tensor<1x2xf32, #kvc.dims<t, b>>
func.func @unpack(%cache: !kvc.cache<#shared>, %codes: memref<?x32xi8>, %scales: memref<?x2xf32>, %zeros: memref<?x2xf32>, %x: memref<?x32xf32>,
    %head: index, %begin: index, %end: index) {
  kvc.unpack %cache[%head] tokens(%begin to %end) into %codes, %scales, %zeros, %x {tensor = #kvc.tensor<key>, part = 1 : i64}
      : !kvc.cache<#shared>, memref<?x32xi8>, memref<?x2xf32>, memref<?x2xf32>, memref<?x32xf32>
  return
}

// Scores are sums over the parts. V has a sum for each part that it has channels
// of, over the tile that the scores read.
// CHECK-LABEL: func.func @attend_shared(
// CHECK: %[[Q:.*]] = kvc.load_query
// CHECK-NEXT: %[[Q0:.*]] = kvc.slice %[[Q]] : {{.*}} to tensor<4x16xf32, #kvc.dims<r, c>>
// CHECK-NEXT: %[[Q1:.*]] = kvc.slice %[[Q]] {first = 16 : i64} : {{.*}} to tensor<4x32xf32, #kvc.dims<r, c>>
// CHECK-NEXT: %[[Q1B:.*]] = kvc.split %[[Q1]] : {{.*}} to tensor<4x2x16xf32, #kvc.dims<r, b, e>>
// CHECK-NEXT: %[[Q2:.*]] = kvc.slice %[[Q]] {first = 48 : i64}
// CHECK: %[[LOOP:.*]]:5 = scf.for
// CHECK: %[[K0:.*]] = kvc.dequantize {{.*}} to tensor<64x16xf32, #kvc.dims<t, c>>
// CHECK: %[[K1:.*]] = kvc.dequantize {{.*}} to tensor<64x2x16xf32, #kvc.dims<t, b, e>>
// CHECK: %[[K2:.*]] = kvc.dequantize {{.*}} to tensor<64x16xf32, #kvc.dims<t, c>>
// CHECK-NEXT: %[[S0:.*]] = kvc.contract %[[Q0]], %[[K0]]
// CHECK-NEXT: %[[S1:.*]] = kvc.contract %[[Q1B]], %[[K1]]
// CHECK-NEXT: %[[S01:.*]] = arith.addf %[[S0]], %[[S1]]
// CHECK-NEXT: %[[S2:.*]] = kvc.contract %[[Q2]], %[[K2]]
// CHECK-NEXT: arith.addf %[[S01]], %[[S2]]
// CHECK-NOT: kvc.load_codes
// CHECK: %[[V0:.*]] = kvc.slice %[[K0]] {first = 8 : i64} : {{.*}} to tensor<64x8xf32, #kvc.dims<t, d>>
// CHECK-NEXT: kvc.contract %{{.*}}, %[[V0]]
// CHECK: %[[K1C:.*]] = kvc.join %[[K1]]
// CHECK-NEXT: %[[V1:.*]] = kvc.slice %[[K1C]] : {{.*}} to tensor<64x32xf32, #kvc.dims<t, d>>
// CHECK-NEXT: kvc.contract %{{.*}}, %[[V1]]
// CHECK: %[[V2:.*]] = kvc.slice %[[K2]] : {{.*}} to tensor<64x8xf32, #kvc.dims<t, d>>
// CHECK-NEXT: kvc.contract %{{.*}}, %[[V2]]
// CHECK: scf.yield
// CHECK: kvc.store_partial %{{.*}}, %[[OUT:.*]][%{{.*}} to %{{.*}}] : tensor<4x8xf32, #kvc.dims<r, d>>, memref<?x48xf32>
// CHECK: kvc.store_partial %{{.*}}, %[[OUT]][%{{.*}} to %{{.*}}] {channel = 8 : i64} : tensor<4x32xf32, #kvc.dims<r, d>>
// CHECK: kvc.store_partial %{{.*}}, %[[OUT]][%{{.*}} to %{{.*}}] {channel = 40 : i64} : tensor<4x8xf32, #kvc.dims<r, d>>
// A tile that both products read stays as it is, whatever a score would cost.
// PLACE: key scale [t]: register at {{.*}}; no other place is legal
// PLACE: key scale [t b]: register
// PLACE: key zero [t b]: register
func.func @attend_shared(%cache: !kvc.cache<#shared>, %q: memref<?x?x64xf16, strided<[?, ?, 1]>>, %out: memref<?x48xf32>, %lse: memref<?xf32>,
    %head: index, %queries: index, %length: index, %row: index, %row_end: index, %key: index, %key_end: index) {
  kvc.attend %q, %cache[%head] rows(%row to %row_end of %queries) keys(%key to %key_end of %length) into %out, %lse
      {tile_rows = 4, tile_tokens = 64}
      : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#shared>, memref<?x48xf32>, memref<?xf32>
  return
}

// Each part of V has a sum of its own, and a rotation of its own at the end.
// CHECK-LABEL: func.func @attend_parts(
// CHECK: %[[LOOP:.*]]:4 = scf.for
// CHECK: kvc.contract %{{.*}}, %{{.*}} to tensor<4x48xf32, #kvc.dims<r, d>>
// CHECK: kvc.contract %{{.*}}, %{{.*}} to tensor<4x16xf32, #kvc.dims<r, d>>
// CHECK: scf.yield
// CHECK: %[[O0:.*]] = arith.mulf %[[LOOP]]#2
// CHECK-NEXT: %[[R0:.*]] = kvc.rotate %[[O0]] {block = 16 : i64}
// CHECK-NEXT: kvc.store_partial %[[R0]]
// CHECK: %[[O1:.*]] = arith.mulf %[[LOOP]]#3
// CHECK-NEXT: kvc.store_partial %[[O1]], %{{.*}} {channel = 48 : i64}
// PLACE: key scale [t]: score
// PLACE: value scale [t]: p
func.func @attend_parts(%cache: !kvc.cache<#parts>, %q: memref<?x?x64xf16, strided<[?, ?, 1]>>, %out: memref<?x64xf32>, %lse: memref<?xf32>,
    %head: index, %queries: index, %length: index, %row: index, %row_end: index, %key: index, %key_end: index) {
  kvc.attend %q, %cache[%head] rows(%row to %row_end of %queries) keys(%key to %key_end of %length) into %out, %lse
      {tile_rows = 4, tile_tokens = 64}
      : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#parts>, memref<?x64xf32>, memref<?xf32>
  return
}

// The parts that RoPE rotates channels of are one product; others have theirs.

#roped = #kvc.spec<name = "roped", attention = #kvc.attention<{q_heads = 4, kv_heads = 1, head_dim = 64}>, io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{parts = [{channels = [0, 16], codec = "f16"}, {channels = [16, 40], codec = "f16"}, {channels = [40, 64], codec = "bf16", smooth = true}],
    rope = {dims = 32, offset = 32, style = "half"}}>,
  value = #kvc.scheme<{codec = "f16"}>>

// CHECK-LABEL: func.func @attend_roped(
// CHECK: %[[Q:.*]] = kvc.load_query
// CHECK: %[[Q0:.*]] = kvc.slice %[[Q]] : {{.*}} to tensor<4x16xf32, #kvc.dims<r, c>>
// CHECK: %[[Q1:.*]] = kvc.slice %[[Q]] {first = 16 : i64} : {{.*}} to tensor<4x48xf32, #kvc.dims<r, c>>
// CHECK: %[[K0:.*]] = kvc.dequantize
// CHECK: %[[K1:.*]] = kvc.dequantize
// CHECK: %[[K2:.*]] = kvc.dequantize
// CHECK: %[[SMOOTHED:.*]] = arith.mulf %[[K2]],
// CHECK: %[[BOTH:.*]] = kvc.concat %[[K1]], %[[SMOOTHED]] : {{.*}} to tensor<64x48xf32, #kvc.dims<t, c>>
// CHECK: %[[ROPED:.*]] = kvc.rope %[[BOTH]] at %{{.*}} {dims = 32 : i64, offset = 16 : i64
// CHECK: kvc.contract %[[Q0]], %[[K0]]
// CHECK: kvc.contract %[[Q1]], %[[ROPED]]
func.func @attend_roped(%cache: !kvc.cache<#roped>, %q: memref<?x?x64xf16, strided<[?, ?, 1]>>, %out: memref<?x64xf32>, %lse: memref<?xf32>,
    %head: index, %queries: index, %length: index, %row: index, %row_end: index, %key: index, %key_end: index) {
  kvc.attend %q, %cache[%head] rows(%row to %row_end of %queries) keys(%key to %key_end of %length) into %out, %lse
      {tile_rows = 4, tile_tokens = 64}
      : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#roped>, memref<?x64xf32>, memref<?xf32>
  return
}
