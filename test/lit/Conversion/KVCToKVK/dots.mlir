// RUN: kvc-opt %s --split-input-file --convert-kvc-to-kvk --canonicalize | FileCheck %s

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

// Factors that stay on the codes make a panel of floats; blocks of channels are
// a dot each, and a scale that is not of the rows is a factor of its lanes.

// CHECK-LABEL: func.func @panel_by_blocks
// CHECK-SAME: kvc.operands = "f32"
// CHECK:         %[[PANEL:.*]] = memref.collapse_shape %{{.*}} : memref<64x2x16xf32> into memref<64x32xf32>
// CHECK:         vector.store %{{.*}} : memref<4x64xf32>, vector<64xf32>
// CHECK:         scf.for %[[B:.*]] = %c0 to %c2 step %c1
// CHECK:           %[[FIRST:.*]] = arith.muli %[[B]], %c16
// CHECK:           %[[W:.*]] = memref.subview %{{.*}}[0, %[[FIRST]]] [4, 16]
// CHECK:           %[[G:.*]] = memref.subview %{{.*}}[%[[B]], 0] [1, 64]
// CHECK:           %[[X:.*]] = memref.subview %[[PANEL]][0, %[[FIRST]]] [64, 16]
// CHECK:           kvk.dot %[[W]], %[[X]] into %[[S:.*]] scale_lanes %[[G]] {accumulate, contract = "minor"}
// CHECK:           vector.load %[[S]]
func.func @panel_by_blocks(%cache: !kvc.cache<#s>, %mem: memref<?x?x32xf16, strided<[?, ?, 1]>>, %out: memref<?xf32>, %head: index, %row: index, %end: index, %t0: index, %n: index) {
  %q = kvc.load_query %mem[%row to %end, %head] group 4 : memref<?x?x32xf16, strided<[?, ?, 1]>> to tensor<4x32xf32, #kvc.dims<r, c>>
  %qb = kvc.split %q : tensor<4x32xf32, #kvc.dims<r, c>> to tensor<4x2x16xf32, #kvc.dims<r, b, e>>
  %u = kvc.load_codes %cache[%head, %t0] valid %n {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<64x32xi8, #kvc.dims<t, c>>
  %ub = kvc.split %u : tensor<64x32xi8, #kvc.dims<t, c>> to tensor<64x2x16xi8, #kvc.dims<t, b, e>>
  %f = arith.sitofp %ub : tensor<64x2x16xi8, #kvc.dims<t, b, e>> to tensor<64x2x16xf32, #kvc.dims<t, b, e>>
  %z = arith.addf %f, %f : tensor<64x2x16xf32, #kvc.dims<t, b, e>>
  %g = kvc.load_scale %cache[%head, %t0] valid %n {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<64x2xf32, #kvc.dims<t, b>>
  %d = kvc.contract %qb, %z : tensor<4x2x16xf32, #kvc.dims<r, b, e>>, tensor<64x2x16xf32, #kvc.dims<t, b, e>> to tensor<4x64x2xf32, #kvc.dims<r, t, b>>
  %gb = kvc.broadcast %g : tensor<64x2xf32, #kvc.dims<t, b>> to tensor<4x64x2xf32, #kvc.dims<r, t, b>>
  %gd = arith.mulf %d, %gb : tensor<4x64x2xf32, #kvc.dims<r, t, b>>
  %s = kvc.reduce add %gd : tensor<4x64x2xf32, #kvc.dims<r, t, b>> to tensor<4x64xf32, #kvc.dims<r, t>>
  %m = kvc.reduce maxnumf %s : tensor<4x64xf32, #kvc.dims<r, t>> to tensor<4xf32, #kvc.dims<r>>
  kvc.store_partial %m, %out[%row to %end] : tensor<4xf32, #kvc.dims<r>>, memref<?xf32>
  return
}
