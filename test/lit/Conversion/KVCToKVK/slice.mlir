// RUN: kvc-opt %s --convert-kvc-to-kvk --canonicalize | FileCheck %s

// A range of channels is a view: of the rows that are weights, and of the panel
// that both products read. Tokens that are not there become 0 in the view alone.

#s = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 4, kv_heads = 1, head_dim = 64, value_is_key = [16, 48]}>, io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>>

// CHECK-LABEL: func.func @views
// CHECK-DAG:     %[[PANEL:.*]] = memref.alloca() {{.*}} : memref<64x64xf32>
// CHECK-DAG:     %[[VALUES:.*]] = memref.subview %[[PANEL]][0, 16] [64, 32] [1, 1]
// CHECK-DAG:     %[[ROWS:.*]] = memref.subview %{{.*}}[0, 0] [4, 64] [1, 1]
// CHECK:         vector.store %{{.*}}, %[[PANEL]]
// CHECK:         kvk.dot %{{.*}}, %[[PANEL]] into %{{.*}} {contract = "minor"}
// CHECK:         vector.store %{{.*}}, %[[VALUES]]
// CHECK:         kvk.dot %[[ROWS]], %[[VALUES]] into %{{.*}} {contract = "major"}
func.func @views(%cache: !kvc.cache<#s>, %mem: memref<?x?x64xf16, strided<[?, ?, 1]>>, %scores: memref<?x64xf32>, %wide: memref<?x?x128xf16, strided<[?, ?, 1]>>, %out: memref<?x32xf32>, %head: index, %row: index, %end: index, %t0: index, %n: index) {
  %q = kvc.load_query %mem[%row to %end, %head] group 4 : memref<?x?x64xf16, strided<[?, ?, 1]>> to tensor<4x64xf32, #kvc.dims<r, c>>
  %u = kvc.load_codes %cache[%head, %t0] valid %n {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<64x64xf16, #kvc.dims<t, c>>
  %k = arith.extf %u : tensor<64x64xf16, #kvc.dims<t, c>> to tensor<64x64xf32, #kvc.dims<t, c>>
  %s = kvc.contract %q, %k : tensor<4x64xf32, #kvc.dims<r, c>>, tensor<64x64xf32, #kvc.dims<t, c>> to tensor<4x64xf32, #kvc.dims<r, t>>
  kvc.store_partial %s, %scores[%row to %end] : tensor<4x64xf32, #kvc.dims<r, t>>, memref<?x64xf32>
  %w = kvc.load_query %wide[%row to %end, %head] group 4 : memref<?x?x128xf16, strided<[?, ?, 1]>> to tensor<4x128xf32, #kvc.dims<r, t>>
  %p = kvc.slice %w : tensor<4x128xf32, #kvc.dims<r, t>> to tensor<4x64xf32, #kvc.dims<r, t>>
  %v = kvc.slice %k {first = 16 : i64} : tensor<64x64xf32, #kvc.dims<t, c>> to tensor<64x32xf32, #kvc.dims<t, d>>
  %o = kvc.contract %p, %v : tensor<4x64xf32, #kvc.dims<r, t>>, tensor<64x32xf32, #kvc.dims<t, d>> to tensor<4x32xf32, #kvc.dims<r, d>>
  kvc.store_partial %o, %out[%row to %end] : tensor<4x32xf32, #kvc.dims<r, d>>, memref<?x32xf32>
  return
}

// Ranges of channels are copied beside each other.
// CHECK-LABEL: func.func @concat
// CHECK: %[[ALL:.*]] = memref.alloca() {{.*}} : memref<64x128xf32>
// CHECK: memref.subview %[[ALL]][0, 0] [64, 64] [1, 1]
// CHECK: %[[SECOND:.*]] = memref.subview %[[ALL]][0, 64] [64, 64] [1, 1]
// CHECK: vector.store %{{.*}}, %[[SECOND]]
func.func @concat(%cache: !kvc.cache<#s>, %out: memref<?x128xf32>, %head: index, %t0: index, %n: index) {
  %u = kvc.load_codes %cache[%head, %t0] valid %n {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<64x64xf16, #kvc.dims<t, c>>
  %k = arith.extf %u : tensor<64x64xf16, #kvc.dims<t, c>> to tensor<64x64xf32, #kvc.dims<t, c>>
  %x = kvc.concat %k, %k : tensor<64x64xf32, #kvc.dims<t, c>>, tensor<64x64xf32, #kvc.dims<t, c>> to tensor<64x128xf32, #kvc.dims<t, c>>
  kvc.store_rows %x, %out[%t0] valid %n : tensor<64x128xf32, #kvc.dims<t, c>>, memref<?x128xf32>
  return
}
