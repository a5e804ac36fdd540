// RUN: kvc-opt %s --convert-kvc-to-kvk --canonicalize | FileCheck %s

// 24 channels are three pieces of 8 lanes. Strides below 4 exchange lanes; f32(1 /
// sqrt(4)) comes last. No flag lets a sum be rounded otherwise.

// CHECK-LABEL: func.func @inside
// CHECK-NOT:     fastmath
// CHECK:         %[[X:.*]] = vector.load %{{.*}} : memref<?x?x24xf32>, vector<24xf32>
// CHECK:         %[[P:.*]] = vector.extract_strided_slice %[[X]] {offsets = [0], sizes = [8], strides = [1]}
// CHECK:         %[[A:.*]] = vector.shuffle %[[P]], %{{.*}} [0, 0, 2, 2, 4, 4, 6, 6]
// CHECK:         %[[B:.*]] = vector.shuffle %[[P]], %{{.*}} [1, 1, 3, 3, 5, 5, 7, 7]
// CHECK:         %[[SUM:.*]] = arith.addf %[[A]], %[[B]]
// CHECK:         %[[DIFFERENCE:.*]] = arith.subf %[[A]], %[[B]]
// CHECK:         %[[ONE:.*]] = vector.shuffle %[[SUM]], %[[DIFFERENCE]] [0, 9, 2, 11, 4, 13, 6, 15]
// CHECK:         vector.shuffle %[[ONE]], %{{.*}} [0, 1, 0, 1, 4, 5, 4, 5]
// CHECK:         vector.shuffle %[[ONE]], %{{.*}} [2, 3, 2, 3, 6, 7, 6, 7]
// CHECK-COUNT-3: arith.mulf {{.*}} : vector<8xf32>
// CHECK:         vector.store %{{.*}} : memref<?x24xf32>, vector<24xf32>
func.func @inside(%in: memref<?x?x24xf32>, %out: memref<?x24xf32>, %row: index, %end: index) {
  %x = kvc.load_partial %in[%row, %row to %end] : memref<?x?x24xf32> to tensor<4x24xf32, #kvc.dims<r, d>>
  %y = kvc.rotate %x {block = 4} : tensor<4x24xf32, #kvc.dims<r, d>>
  kvc.store_partial %y, %out[%row to %end] : tensor<4x24xf32, #kvc.dims<r, d>>, memref<?x24xf32>
  return
}

// Strides of 16 and more move nothing: 64 channels in blocks of 32 are two pairs
// of pieces.

// CHECK-LABEL: func.func @between
// CHECK-COUNT-4: vector.extract_strided_slice
// CHECK-COUNT-48: vector.shuffle
// CHECK-NOT:     vector.shuffle
// CHECK:         arith.addf
// CHECK-NEXT:    arith.subf
// CHECK-NEXT:    arith.addf
// CHECK-NEXT:    arith.subf
// CHECK-NOT:     arith.addf
// CHECK-COUNT-4: arith.mulf
func.func @between(%in: memref<?x?x64xf32>, %out: memref<?x64xf32>, %row: index, %end: index) {
  %x = kvc.load_partial %in[%row, %row to %end] : memref<?x?x64xf32> to tensor<4x64xf32, #kvc.dims<r, d>>
  %y = kvc.rotate %x {block = 32} : tensor<4x64xf32, #kvc.dims<r, d>>
  kvc.store_partial %y, %out[%row to %end] : tensor<4x64xf32, #kvc.dims<r, d>>, memref<?x64xf32>
  return
}

// Weights of a rotated query: their largest is compared with the channels as they
// were before the rotation, which are the rotated ones rotated again.

#s = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 4, kv_heads = 1, head_dim = 16}>, io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int8", scale = {tokens = 1, channels = "all", dtype = "f16"}, rotate = 16}>, value = #kvc.scheme<{codec = "f16"}>>

// CHECK-LABEL: func.func @weights
// CHECK:         kvk.quantize_rows %[[ROWS:[^ ]*]] into
// CHECK:         scf.for
// CHECK:           vector.load %[[ROWS]]
// CHECK-COUNT-4:   arith.subf
// CHECK:           vector.store %{{.*}}, %[[GIVEN:[a-z0-9_]*]][%{{.*}}, %c0]
// CHECK:         %[[MATTERS:.*]] = scf.for {{.*}} -> (i1)
// CHECK:           %[[WEIGHTS:.*]] = vector.load %[[ROWS]]
// CHECK:           %[[SIZES:.*]] = math.absf %[[WEIGHTS]]
// CHECK:           vector.reduction <maxnumf>, %[[SIZES]]
// CHECK:           vector.load %[[GIVEN]]
// CHECK:           vector.reduction <add>
// CHECK:         scf.if %[[MATTERS]]
func.func @weights(%cache: !kvc.cache<#s>, %mem: memref<?x?x16xf16, strided<[?, ?, 1]>>, %scores: memref<?x64xf32>, %head: index, %row: index, %end: index, %t0: index, %n: index) {
  %q = kvc.load_query %mem[%row to %end, %head] group 4 : memref<?x?x16xf16, strided<[?, ?, 1]>> to tensor<4x16xf32, #kvc.dims<r, c>>
  %h = kvc.rotate %q {block = 16} : tensor<4x16xf32, #kvc.dims<r, c>>
  %u = kvc.load_codes %cache[%head, %t0] valid %n {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<64x16xi8, #kvc.dims<t, c>>
  %f = arith.sitofp %u : tensor<64x16xi8, #kvc.dims<t, c>> to tensor<64x16xf32, #kvc.dims<t, c>>
  %s = kvc.contract %h, %f : tensor<4x16xf32, #kvc.dims<r, c>>, tensor<64x16xf32, #kvc.dims<t, c>> to tensor<4x64xf32, #kvc.dims<r, t>>
  kvc.store_partial %s, %scores[%row to %end] : tensor<4x64xf32, #kvc.dims<r, t>>, memref<?x64xf32>
  return
}

// With a factor of each rotated channel nothing says how large the others were:
// what rounding left always counts.
// CHECK-LABEL: func.func @scaled_weights
// CHECK:         kvk.quantize_rows
// CHECK-NOT:     vector.reduction
// CHECK:         kvk.quantize_rows
// CHECK-COUNT-2: kvk.dot
func.func @scaled_weights(%cache: !kvc.cache<#s>, %mem: memref<?x?x16xf16, strided<[?, ?, 1]>>, %scores: memref<?x64xf32>, %head: index, %row: index, %end: index, %t0: index, %n: index) {
  %two = arith.constant dense<2.0> : tensor<4x16xf32, #kvc.dims<r, c>>
  %q = kvc.load_query %mem[%row to %end, %head] group 4 : memref<?x?x16xf16, strided<[?, ?, 1]>> to tensor<4x16xf32, #kvc.dims<r, c>>
  %h = kvc.rotate %q {block = 16} : tensor<4x16xf32, #kvc.dims<r, c>>
  %g = arith.mulf %h, %two : tensor<4x16xf32, #kvc.dims<r, c>>
  %u = kvc.load_codes %cache[%head, %t0] valid %n {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<64x16xi8, #kvc.dims<t, c>>
  %f = arith.sitofp %u : tensor<64x16xi8, #kvc.dims<t, c>> to tensor<64x16xf32, #kvc.dims<t, c>>
  %s = kvc.contract %g, %f : tensor<4x16xf32, #kvc.dims<r, c>>, tensor<64x16xf32, #kvc.dims<t, c>> to tensor<4x64xf32, #kvc.dims<r, t>>
  kvc.store_partial %s, %scores[%row to %end] : tensor<4x64xf32, #kvc.dims<r, t>>, memref<?x64xf32>
  return
}
