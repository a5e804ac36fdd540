// RUN: kvc-opt %s --convert-kvc-to-kvk --canonicalize | FileCheck %s

// Rows of more channels than one vector takes are loops over chunks: what is
// summed over all of them is complete only behind the loops, and what reads the
// sum is a nest of its own.

#s = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 4, kv_heads = 1, head_dim = 192}>, io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min"}>, value = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min"}>>

// CHECK-LABEL: func.func @wide
// CHECK:         %[[SUMS:.*]] = memref.alloca() {{.*}} : memref<4xf32>
// CHECK:         %[[ROWS:.*]] = memref.alloca() {{.*}} : memref<4x192xf32>
// CHECK:         vector.store %{{.*}}, %[[SUMS]]
// CHECK:         scf.for %[[R:.*]] = %c0 to %c4 step %c1
// CHECK-NEXT:      scf.for %[[C:.*]] = %c0 to %c192 step %c96
// CHECK:             vector.load %{{.*}}[%{{.*}}, %{{.*}}, %[[C]]] : {{.*}}, vector<96xf16>
// CHECK:             %[[SUM:.*]] = vector.reduction <add>
// CHECK:             %[[BEFORE:.*]] = memref.load %[[SUMS]][%[[R]]]
// CHECK:             arith.addf %[[BEFORE]], %[[SUM]]
// CHECK:             vector.store %{{.*}}, %[[ROWS]][%[[R]], %[[C]]] : memref<4x192xf32>, vector<96xf32>
// CHECK:         scf.for %[[R:.*]] = %c0 to %c4 step %c1
// CHECK-NEXT:      scf.for %[[C:.*]] = %c0 to %c192 step %c96
// CHECK:             memref.load %[[SUMS]][%[[R]]]
// CHECK:             vector.load %[[ROWS]][%[[R]], %[[C]]]
// CHECK:             vector.store %{{.*}}[%{{.*}}, %[[C]]] : memref<?x192xf32>, vector<96xf32>
func.func @wide(%mem: memref<?x?x192xf16, strided<[?, ?, 1]>>, %out: memref<?x192xf32>, %sums: memref<?xf32>, %head: index, %row: index, %end: index) {
  %q = kvc.load_query %mem[%row to %end, %head] group 4 : memref<?x?x192xf16, strided<[?, ?, 1]>> to tensor<4x192xf32, #kvc.dims<r, d>>
  %m = kvc.reduce add %q : tensor<4x192xf32, #kvc.dims<r, d>> to tensor<4xf32, #kvc.dims<r>>
  %b = kvc.broadcast %m : tensor<4xf32, #kvc.dims<r>> to tensor<4x192xf32, #kvc.dims<r, d>>
  %x = arith.mulf %q, %b : tensor<4x192xf32, #kvc.dims<r, d>>
  kvc.store_partial %x, %out[%row to %end] : tensor<4x192xf32, #kvc.dims<r, d>>, memref<?x192xf32>
  kvc.store_partial %m, %sums[%row to %end] : tensor<4xf32, #kvc.dims<r>>, memref<?xf32>
  return
}

// A sum in pairs has the order of the whole row, so it takes the row as one.

// CHECK-LABEL: func.func @pairs
// CHECK:         scf.for %{{.*}} = %c0 to %c192 step %c96
// CHECK:         scf.for %[[R:.*]] = %c0 to %c4 step %c1
// CHECK:           %[[ROW:.*]] = vector.load %{{.*}}[%[[R]], %c0] : memref<4x192xf32>, vector<192xf32>
// CHECK:           vector.shuffle %[[ROW]], %{{.*}} : vector<192xf32>, vector<192xf32>
// CHECK:           %[[SUM:.*]] = vector.extract
// CHECK:           memref.store %[[SUM]], %{{.*}} : memref<?xf32>
func.func @pairs(%mem: memref<?x?x192xf16, strided<[?, ?, 1]>>, %sums: memref<?xf32>, %head: index, %row: index, %end: index) {
  %q = kvc.load_query %mem[%row to %end, %head] group 4 : memref<?x?x192xf16, strided<[?, ?, 1]>> to tensor<4x192xf32, #kvc.dims<r, d>>
  %m = kvc.reduce pairwise_add %q : tensor<4x192xf32, #kvc.dims<r, d>> to tensor<4xf32, #kvc.dims<r>>
  kvc.store_partial %m, %sums[%row to %end] : tensor<4xf32, #kvc.dims<r>>, memref<?xf32>
  return
}

// A query times metadata of every channel is a sum of products, however many
// channels there are: no panel, which would have no rows.

// CHECK-LABEL: func.func @skinny
// CHECK-NOT:     kvk.dot
// CHECK:         scf.for %[[R:.*]] = %c0 to %c4 step %c1
// CHECK-NEXT:      scf.for %[[C:.*]] = %c0 to %c192 step %c96
// CHECK:             arith.mulf %{{.*}}, %{{.*}} : vector<96xf32>
// CHECK:             vector.reduction <add>
// CHECK-NOT:     kvk.dot
// CHECK:         return
func.func @skinny(%cache: !kvc.cache<#s>, %mem: memref<?x?x192xf16, strided<[?, ?, 1]>>, %sums: memref<?xf32>, %head: index, %row: index, %end: index) {
  %q = kvc.load_query %mem[%row to %end, %head] group 4 : memref<?x?x192xf16, strided<[?, ?, 1]>> to tensor<4x192xf32, #kvc.dims<r, c>>
  %x = kvc.load_query %mem[%row to %end, %head] group 4 : memref<?x?x192xf16, strided<[?, ?, 1]>> to tensor<4x192xf32, #kvc.dims<r, c>>
  %z = kvc.reduce add %x : tensor<4x192xf32, #kvc.dims<r, c>> to tensor<192xf32, #kvc.dims<c>>
  %m = kvc.contract %q, %z : tensor<4x192xf32, #kvc.dims<r, c>>, tensor<192xf32, #kvc.dims<c>> to tensor<4xf32, #kvc.dims<r>>
  kvc.store_partial %m, %sums[%row to %end] : tensor<4xf32, #kvc.dims<r>>, memref<?xf32>
  return
}
