// RUN: kvc-opt %s --split-input-file --convert-kvc-to-kvk --canonicalize --verify-diagnostics | FileCheck %s

// Scores of one tile: rows quantised once, the dot over codes where they lie, a
// second dot for what rounding left, then one loop of vectors over the rows.

#s = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 4, kv_heads = 1, head_dim = 32}>, io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min"}>, value = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min"}>>

// CHECK-LABEL: func.func @scores
// CHECK-SAME: kvc.operands = "i16"
// CHECK:         kvk.quantize_rows %[[Q:.*]] into %[[W:.*]], %[[F:.*]] : memref<4x32xf32> into memref<4x32xi16>, memref<4xf32>
// CHECK:         %[[X:.*]] = kvk.load %{{.*}} : !kvc.cache<#s> to !kvk.tile<64x32xi4, #kvc.dims<t, c>>
// CHECK:         %[[WIDE:.*]] = kvk.widen %[[X]] {bias = 8 : i64}
// CHECK:         kvk.dot %[[W]], %[[WIDE]] into %[[S:.*]] scale_rows %[[F]] {contract = "c"}
// CHECK:         scf.if
// CHECK-NEXT:      kvk.dot %{{.*}}, %[[WIDE]] into %[[S]] scale_rows %{{.*}} {accumulate, contract = "c"}
// CHECK:         scf.for
// CHECK:           vector.load %[[S]]
// CHECK:           vector.reduction <maxnumf>
func.func @scores(%cache: !kvc.cache<#s>, %mem: memref<?x?x32xf16, strided<[?, ?, 1]>>, %out: memref<?xf32>, %head: index, %row: index, %end: index, %t0: index, %n: index) {
  %q = kvc.load_query %mem[%row to %end, %head] group 4 : memref<?x?x32xf16, strided<[?, ?, 1]>> to tensor<4x32xf32, #kvc.dims<r, c>>
  %u = kvc.load_codes %cache[%head, %t0] valid %n {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<64x32xi8, #kvc.dims<t, c>>
  %f = arith.sitofp %u : tensor<64x32xi8, #kvc.dims<t, c>> to tensor<64x32xf32, #kvc.dims<t, c>>
  %s = kvc.contract %q, %f : tensor<4x32xf32, #kvc.dims<r, c>>, tensor<64x32xf32, #kvc.dims<t, c>> to tensor<4x64xf32, #kvc.dims<r, t>>
  %m = kvc.reduce maxnumf %s : tensor<4x64xf32, #kvc.dims<r, t>> to tensor<4xf32, #kvc.dims<r>>
  kvc.store_partial %m, %out[%row to %end] : tensor<4xf32, #kvc.dims<r>>, memref<?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 4, kv_heads = 1, head_dim = 32}>, io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = 16, dtype = "f16"}, zero = "code"}>, value = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min"}>>

// What is no code is dequantised into a panel, whose blocks are one dot each.
// CHECK-LABEL: func.func @panel_by_blocks
// CHECK: %[[X:.*]] = memref.subview %{{.*}}[0, %{{.*}}, 0] [64, 1, 16] [1, 1, 1] : memref<64x2x16xf32>
// CHECK: kvk.dot %{{.*}}, %[[X]] into %{{.*}} {contract = "minor"} : {{.*}}memref<64x16xf32, strided<[32, 1], offset: ?>>
func.func @panel_by_blocks(%cache: !kvc.cache<#s>, %mem: memref<?x?x32xf16, strided<[?, ?, 1]>>, %out: memref<?xf32>, %head: index, %row: index, %end: index, %t0: index, %n: index) {
  %q = kvc.load_query %mem[%row to %end, %head] group 4 : memref<?x?x32xf16, strided<[?, ?, 1]>> to tensor<4x32xf32, #kvc.dims<r, c>>
  %qb = kvc.split %q : tensor<4x32xf32, #kvc.dims<r, c>> to tensor<4x2x16xf32, #kvc.dims<r, b, e>>
  %u = kvc.load_codes %cache[%head, %t0] valid %n {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<64x32xi8, #kvc.dims<t, c>>
  %ub = kvc.split %u : tensor<64x32xi8, #kvc.dims<t, c>> to tensor<64x2x16xi8, #kvc.dims<t, b, e>>
  %f = arith.sitofp %ub : tensor<64x2x16xi8, #kvc.dims<t, b, e>> to tensor<64x2x16xf32, #kvc.dims<t, b, e>>
  %z = arith.addf %f, %f : tensor<64x2x16xf32, #kvc.dims<t, b, e>>
  %s = kvc.contract %qb, %z : tensor<4x2x16xf32, #kvc.dims<r, b, e>>, tensor<64x2x16xf32, #kvc.dims<t, b, e>> to tensor<4x64x2xf32, #kvc.dims<r, t, b>>
  %m = kvc.reduce maxnumf %s : tensor<4x64x2xf32, #kvc.dims<r, t, b>> to tensor<4xf32, #kvc.dims<r>>
  kvc.store_partial %m, %out[%row to %end] : tensor<4xf32, #kvc.dims<r>>, memref<?xf32>
  return
}
