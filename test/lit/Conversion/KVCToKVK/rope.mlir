// RUN: kvc-opt %s --convert-kvc-to-kvk --canonicalize | FileCheck %s

#raw = #kvc.spec<name = "raw", attention = #kvc.attention<{head_dim = 24, kv_heads = 2, q_heads = 2}>,
  io = #kvc.io<{query = "f32"}>, key = #kvc.scheme<{codec = "f32"}>, value = #kvc.scheme<{codec = "f32"}>>

// A piece of 8 pairs; the channels before and behind stay. The angle is one
// product, which no flag lets be rounded otherwise.
// CHECK-LABEL: func.func @half
// CHECK-DAG: %[[F:.*]] = arith.constant dense<[1.000000e+00, 0.316227764, {{.*}}, 3.16227757E-4]> : vector<8xf32>
// CHECK: %[[X:.*]] = kvk.load_row
// CHECK: %[[P:.*]] = arith.sitofp %{{.*}} : i64 to f32
// CHECK: %[[ALL:.*]] = vector.broadcast %[[P]]
// CHECK: %[[W:.*]] = arith.mulf %[[ALL]], %[[F]] : vector<8xf32>
// CHECK: %[[COS:.*]] = math.cos %[[W]]
// CHECK: %[[SIN:.*]] = math.sin %[[W]]
// CHECK: %[[A:.*]] = vector.extract_strided_slice %[[X]] {offsets = [4], sizes = [8]
// CHECK: %[[B:.*]] = vector.extract_strided_slice %[[X]] {offsets = [12], sizes = [8]
// CHECK: %[[AC:.*]] = arith.mulf %[[A]], %[[COS]]
// CHECK: %[[BS:.*]] = arith.mulf %[[B]], %[[SIN]]
// CHECK: %[[FIRST:.*]] = arith.subf %[[AC]], %[[BS]]
// CHECK: %[[BC:.*]] = arith.mulf %[[B]], %[[COS]]
// CHECK: %[[AS:.*]] = arith.mulf %[[A]], %[[SIN]]
// CHECK: %[[SECOND:.*]] = arith.addf %[[BC]], %[[AS]]
// CHECK: %[[Y:.*]] = vector.insert_strided_slice %[[FIRST]], %[[X]] {offsets = [4]
// CHECK: vector.insert_strided_slice %[[SECOND]], %[[Y]] {offsets = [12]
func.func @half(%cache: !kvc.cache<#raw>, %head: index, %token: index, %valid: index, %out: memref<?x24xf32>) {
  %x = kvc.load_codes %cache[%head, %token] valid %valid {tensor = #kvc.tensor<key>} : !kvc.cache<#raw> to tensor<8x24xf32, #kvc.dims<t, c>>
  %y = kvc.rope %x at %token {dims = 16 : i64, offset = 4 : i64, theta = 1.0e4 : f64} : tensor<8x24xf32, #kvc.dims<t, c>>
  kvc.store_rows %y, %out[%token] valid %valid : tensor<8x24xf32, #kvc.dims<t, c>>, memref<?x24xf32>
  return
}

// 12 pairs are three pieces of 4.
// CHECK-LABEL: func.func @pairs
// CHECK-COUNT-3: math.cos {{.*}} : vector<4xf32>
// CHECK-NOT: math.cos
// CHECK: %[[BOTH:.*]] = vector.extract_strided_slice %{{.*}} {offsets = [16], sizes = [8]
// CHECK: vector.shuffle %[[BOTH]], %[[BOTH]] [0, 2, 4, 6]
// CHECK: vector.shuffle %[[BOTH]], %[[BOTH]] [1, 3, 5, 7]
// CHECK: vector.interleave
// CHECK: vector.insert_strided_slice {{.*}} {offsets = [16]
func.func @pairs(%cache: !kvc.cache<#raw>, %head: index, %token: index, %valid: index, %out: memref<?x24xf32>) {
  %x = kvc.load_codes %cache[%head, %token] valid %valid {tensor = #kvc.tensor<key>} : !kvc.cache<#raw> to tensor<8x24xf32, #kvc.dims<t, c>>
  %y = kvc.rope %x at %token {pairs, dims = 24 : i64, offset = 0 : i64, theta = 1.0e4 : f64} : tensor<8x24xf32, #kvc.dims<t, c>>
  kvc.store_rows %y, %out[%token] valid %valid : tensor<8x24xf32, #kvc.dims<t, c>>, memref<?x24xf32>
  return
}
