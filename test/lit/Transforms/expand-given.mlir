// RUN: kvc-opt %s --kvc-expand | FileCheck %s

#given = #kvc.spec<name = "given",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 8, value_dim = 96}>,
  io = #kvc.io<{query = "f32"}>,
  key = #kvc.scheme<{codec = "int4", scale = {channels = 16, dtype = "e4m3", global = 0.5, static = true, tokens = "all"}, smooth = true}>,
  value = #kvc.scheme<{codec = "lut", scale = {channels = 48, dtype = "f16", tokens = 1}, smooth = true, rotate = 32, table = {bits = 3}}>>
#rope = #kvc.spec<name = "rope",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f32"}>,
  key = #kvc.scheme<{codec = "int4", scale = {channels = 16, dtype = "f16", tokens = 1}, smooth = true, rope = {dims = 32, offset = 8, style = "pairs", theta = 500.0}}>,
  value = #kvc.scheme<{codec = "f16", smooth = true}>>
#e8m0 = #kvc.spec<name = "e8m0",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f32"}>,
  key = #kvc.scheme<{codec = "lut", scale = {channels = 32, dtype = "e8m0", tokens = 1}, table = {bits = 2}}>,
  value = #kvc.scheme<{codec = "f16"}>>

// A static scale is one of channels: no statistics, no blocks, nothing stored but
// codes. It is multiplied by the second level once, outside of the loop.
// CHECK-LABEL: func.func @append_static(
// CHECK: %[[STORED:.*]] = kvc.load_scheme {{.*}} {field = "scale", {{.*}} to tensor<64xf32, #kvc.dims<e>>
// CHECK-NEXT: %[[SCALE:.*]] = arith.mulf %[[STORED]], %{{.*}}
// CHECK-NEXT: %[[SMOOTH:.*]] = kvc.load_scheme {{.*}} {field = "smooth", {{.*}} to tensor<64xf32, #kvc.dims<e>>
// CHECK: scf.for
// CHECK: %[[X:.*]] = kvc.load_input {{.*}} to tensor<1x64xf32, #kvc.dims<b, e>>
// CHECK-NEXT: %[[F:.*]] = kvc.broadcast %[[SMOOTH]]
// CHECK-NEXT: %[[Y:.*]] = arith.divf %[[X]], %[[F]]
// CHECK: %[[BY:.*]] = arith.select %{{.*}}, %{{.*}}, %[[SCALE]]
// CHECK-NEXT: %[[ALL:.*]] = kvc.broadcast %[[BY]]
// CHECK-NEXT: %[[STEPS:.*]] = arith.divf %[[Y]], %[[ALL]]
// CHECK-NEXT: math.roundeven %[[STEPS]]
// CHECK-NOT: kvc.reduce
// CHECK: kvc.store_codes
// CHECK-NOT: kvc.store_scale
func.func @append_static(%x: memref<?x?x64xf32, strided<[?, ?, 1]>>, %cache: !kvc.cache<#given>, %head: index, %begin: index, %end: index) {
  kvc.append %x, %cache[%head] tokens(%begin to %end) {tensor = #kvc.tensor<key>} : memref<?x?x64xf32, strided<[?, ?, 1]>>, !kvc.cache<#given>
  return
}
// Smoothed, rotated, then in blocks; the nearest entry of the head's table.
// CHECK-LABEL: func.func @append_table(
// CHECK-DAG: %[[SMOOTH:.*]] = kvc.load_scheme {{.*}} {field = "smooth", {{.*}} to tensor<96xf32, #kvc.dims<e>>
// CHECK-DAG: %[[AT:.*]] = kvc.load_scheme {{.*}} {field = "thresholds", {{.*}} to tensor<8xf32, #kvc.dims<n>>
// CHECK-DAG: %[[CODES:.*]] = kvc.load_scheme {{.*}} {field = "codes", {{.*}} to tensor<8xf32, #kvc.dims<n>>
// CHECK-DAG: %[[LARGEST:.*]] = kvc.load_scheme {{.*}} {field = "largest", {{.*}} to f32
// CHECK: %[[Y:.*]] = arith.divf %{{.*}}, %{{.*}} : tensor<1x96xf32, #kvc.dims<b, e>>
// CHECK-NEXT: kvc.rotate %[[Y]] {block = 32 : i64}
// CHECK: %[[AMAX:.*]] = kvc.reduce maximumf
// CHECK-NEXT: %[[PER:.*]] = kvc.broadcast %[[LARGEST]] : f32 to tensor<2xf32, #kvc.dims<b>>
// CHECK-NEXT: arith.divf %[[AMAX]], %[[PER]]
// CHECK: %[[U:.*]] = kvc.nearest %{{.*}} by %[[AT]], %[[CODES]]
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[U]] : tensor<2x48xi1, #kvc.dims<b, e>>, tensor<2x48xi8, #kvc.dims<b, e>>
func.func @append_table(%x: memref<?x?x96xf32, strided<[?, ?, 1]>>, %cache: !kvc.cache<#given>, %head: index, %begin: index, %end: index) {
  kvc.append %x, %cache[%head] tokens(%begin to %end) {tensor = #kvc.tensor<value>} : memref<?x?x96xf32, strided<[?, ?, 1]>>, !kvc.cache<#given>
  return
}
// The exponent of the largest entry is not known here.
// CHECK-LABEL: func.func @append_exponent(
// CHECK: %[[OVER:.*]] = kvc.power_of_two %{{.*}} from -149 to 127 {down}
// CHECK-NEXT: %[[UNDER:.*]] = kvc.power_of_two %{{.*}} from -149 to 127 {down}
// CHECK-NEXT: arith.divf %[[OVER]], %[[UNDER]]
func.func @append_exponent(%x: memref<?x?x64xf32, strided<[?, ?, 1]>>, %cache: !kvc.cache<#e8m0>, %head: index, %begin: index, %end: index) {
  kvc.append %x, %cache[%head] tokens(%begin to %end) {tensor = #kvc.tensor<key>} : memref<?x?x64xf32, strided<[?, ?, 1]>>, !kvc.cache<#e8m0>
  return
}
// CHECK-LABEL: func.func @append_smooth_raw(
// CHECK: %[[Y:.*]] = arith.divf
// CHECK-NEXT: kvc.round_to %[[Y]] {dtype = "f16"}
func.func @append_smooth_raw(%x: memref<?x?x64xf32, strided<[?, ?, 1]>>, %cache: !kvc.cache<#rope>, %head: index, %begin: index, %end: index) {
  kvc.append %x, %cache[%head] tokens(%begin to %end) {tensor = #kvc.tensor<value>} : memref<?x?x64xf32, strided<[?, ?, 1]>>, !kvc.cache<#rope>
  return
}
// The scales that are shown are those that are stored, one per block.
// CHECK-LABEL: func.func @unpack_static(
// CHECK: %[[SHOWN:.*]] = kvc.load_scheme {{.*}} {field = "scale", {{.*}} to tensor<4xf32, #kvc.dims<c>>
// CHECK: scf.for
// CHECK: %[[ROW:.*]] = kvc.broadcast %[[SHOWN]] : {{.*}} to tensor<1x4xf32, #kvc.dims<t, c>>
// CHECK: kvc.store_rows %[[ROW]]
// CHECK: %[[U:.*]] = arith.sitofp
// CHECK: %[[Y:.*]] = arith.mulf %[[U]], %{{.*}}
// CHECK: %[[X:.*]] = arith.mulf %[[Y]], %{{.*}}
// CHECK-NEXT: kvc.store_rows %[[X]]
func.func @unpack_static(%cache: !kvc.cache<#given>, %codes: memref<?x64xi8>, %scales: memref<?x4xf32>, %zeros: memref<?x4xf32>, %x: memref<?x64xf32>,
    %head: index, %begin: index, %end: index) {
  kvc.unpack %cache[%head] tokens(%begin to %end) into %codes, %scales, %zeros, %x {tensor = #kvc.tensor<key>}
      : !kvc.cache<#given>, memref<?x64xi8>, memref<?x4xf32>, memref<?x4xf32>, memref<?x64xf32>
  return
}
// CHECK-LABEL: func.func @unpack_before_rope(
// CHECK-NOT: kvc.rope
// CHECK: return
func.func @unpack_before_rope(%cache: !kvc.cache<#rope>, %codes: memref<?x64xi8>, %scales: memref<?x4xf32>, %zeros: memref<?x4xf32>, %x: memref<?x64xf32>,
    %head: index, %begin: index, %end: index) {
  kvc.unpack %cache[%head] tokens(%begin to %end) into %codes, %scales, %zeros, %x {tensor = #kvc.tensor<key>}
      : !kvc.cache<#rope>, memref<?x64xi8>, memref<?x4xf32>, memref<?x4xf32>, memref<?x64xf32>
  return
}
// K's smoothing factors go to the query, V's to the output, where rotation has
// been undone. Everything that is given is loaded outside of the loops.
// CHECK-LABEL: func.func @attend(
// CHECK: %[[KS:.*]] = kvc.load_scheme {{.*}} {field = "smooth", tensor = #kvc.tensor<key>} {{.*}} to tensor<64xf32, #kvc.dims<c>>
// CHECK: %[[VS:.*]] = kvc.load_scheme {{.*}} {field = "smooth", tensor = #kvc.tensor<value>} {{.*}} to tensor<96xf32, #kvc.dims<d>>
// CHECK: %[[TABLE:.*]] = kvc.load_scheme {{.*}} {field = "table"
// CHECK: %[[GIVEN:.*]] = kvc.load_query
// CHECK: %[[Q:.*]] = arith.mulf %[[GIVEN]]
// CHECK: %[[F:.*]] = kvc.broadcast %[[KS]]
// CHECK-NEXT: %[[QS:.*]] = arith.mulf %[[Q]], %[[F]]
// CHECK: scf.for
// CHECK-NOT: kvc.load_scheme
// CHECK: %[[K:.*]] = kvc.dequantize %{{.*}}, %{{.*}} : tensor<64x64xi8, #kvc.dims<t, c>>, tensor<64xf32, #kvc.dims<c>>
// CHECK-NEXT: kvc.contract %[[QS]], %[[K]]
// CHECK: kvc.gather %{{.*}} from %[[TABLE]]
// CHECK: scf.yield
// CHECK: %[[O:.*]] = kvc.rotate
// CHECK-NEXT: %[[G:.*]] = kvc.broadcast %[[VS]]
// CHECK-NEXT: %[[OUT:.*]] = arith.mulf %[[O]], %[[G]]
// CHECK-NEXT: kvc.store_partial %[[OUT]]
func.func @attend(%cache: !kvc.cache<#given>, %q: memref<?x?x64xf32, strided<[?, ?, 1]>>, %out: memref<?x96xf32>, %lse: memref<?xf32>,
    %head: index, %queries: index, %length: index, %row: index, %row_end: index, %key: index, %key_end: index) {
  kvc.attend %q, %cache[%head] rows(%row to %row_end of %queries) keys(%key to %key_end of %length) into %out, %lse
      {tile_rows = 4, tile_tokens = 64}
      : memref<?x?x64xf32, strided<[?, ?, 1]>>, !kvc.cache<#given>, memref<?x96xf32>, memref<?xf32>
  return
}
// Keys are smoothed, then rotated by their positions; the query is as given but
// for its size.
// CHECK-LABEL: func.func @attend_rope(
// CHECK: %[[GIVEN:.*]] = kvc.load_query
// CHECK: %[[Q:.*]] = arith.mulf %[[GIVEN]]
// CHECK-NOT: arith.mulf %[[Q]]
// CHECK: %{{.*}} = scf.for %[[T:.*]] = %{{.*}} iter_args
// CHECK: %[[K:.*]] = kvc.join %{{.*}} to tensor<64x64xf32, #kvc.dims<t, c>>
// CHECK: %[[KS:.*]] = arith.mulf %[[K]], %{{.*}}
// CHECK-NEXT: %[[R:.*]] = kvc.rope %[[KS]] at %[[T]] {dims = 32 : i64, offset = 8 : i64, pairs, theta = 5.000000e+02 : f64}
// CHECK-NEXT: kvc.contract %[[Q]], %[[R]]
func.func @attend_rope(%cache: !kvc.cache<#rope>, %q: memref<?x?x64xf32, strided<[?, ?, 1]>>, %out: memref<?x64xf32>, %lse: memref<?xf32>,
    %head: index, %queries: index, %length: index, %row: index, %row_end: index, %key: index, %key_end: index) {
  kvc.attend %q, %cache[%head] rows(%row to %row_end of %queries) keys(%key to %key_end of %length) into %out, %lse
      {tile_rows = 4, tile_tokens = 64}
      : memref<?x?x64xf32, strided<[?, ?, 1]>>, !kvc.cache<#rope>, memref<?x64xf32>, memref<?xf32>
  return
}
