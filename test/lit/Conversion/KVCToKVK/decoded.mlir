// RUN: kvc-opt %s --split-input-file --convert-kvc-to-kvk --canonicalize | FileCheck %s

// Codes that stand for something else than integers are operands of dots where
// they lie, too: kvk.widen says what they are. Floats of 8 bits take f32
// weights.

#s = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 4, kv_heads = 1, head_dim = 32}>, io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "fp8_e4m3", scale = {tokens = 1, channels = "all", dtype = "f16"}}>, value = #kvc.scheme<{codec = "fp8_e4m3", scale = {tokens = 1, channels = "all", dtype = "f16"}}>>

// CHECK-LABEL: func.func @floats
// CHECK-SAME: kvc.operands = "f32"
// CHECK-NOT:     kvk.quantize_rows
// CHECK:         %[[X:.*]] = kvk.load %{{.*}} : !kvc.cache<#s> to !kvk.tile<64x32xi8, #kvc.dims<t, c>>
// CHECK:         %[[WIDE:.*]] = kvk.widen %[[X]] {format = "fp8_e4m3"} : {{.*}} to !kvk.tile<64x32xf32
// CHECK:         kvk.dot %{{.*}}, %[[WIDE]] into %{{.*}} {contract = "c"}
func.func @floats(%cache: !kvc.cache<#s>, %mem: memref<?x?x32xf16, strided<[?, ?, 1]>>, %out: memref<?xf32>, %head: index, %row: index, %end: index, %t0: index, %n: index) {
  %q = kvc.load_query %mem[%row to %end, %head] group 4 : memref<?x?x32xf16, strided<[?, ?, 1]>> to tensor<4x32xf32, #kvc.dims<r, c>>
  %u = kvc.load_codes %cache[%head, %t0] valid %n {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<64x32xi8, #kvc.dims<t, c>>
  %f = kvc.decode_float %u {format = "fp8_e4m3"} : tensor<64x32xi8, #kvc.dims<t, c>> to tensor<64x32xf32, #kvc.dims<t, c>>
  %s = kvc.contract %q, %f : tensor<4x32xf32, #kvc.dims<r, c>>, tensor<64x32xf32, #kvc.dims<t, c>> to tensor<4x64xf32, #kvc.dims<r, t>>
  %m = kvc.reduce maxnumf %s : tensor<4x64xf32, #kvc.dims<r, t>> to tensor<4xf32, #kvc.dims<r>>
  kvc.store_partial %m, %out[%row to %end] : tensor<4xf32, #kvc.dims<r>>, memref<?xf32>
  return
}

// -----

// Few values are a table. Multiples of a power of two are integers, by blocks of
// channels as well.

#s = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 4, kv_heads = 1, head_dim = 32}>, io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "fp4_e2m1", scale = {tokens = 1, channels = 16, dtype = "f16"}}>, value = #kvc.scheme<{codec = "fp4_e2m1", scale = {tokens = 1, channels = "all", dtype = "f16"}}>>

// CHECK-LABEL: func.func @integers
// CHECK-SAME: kvc.operands = "i16"
// CHECK:         kvk.load_meta_tile %{{.*}} valid %{{.*}} into %{{.*}} : !kvc.cache<#s> into memref<2x64xf32>
// CHECK:         kvk.quantize_rows
// CHECK:         scf.for
// CHECK:           %[[X:.*]] = kvk.load %{{.*}} : !kvc.cache<#s> to !kvk.tile<64x16xi4, #kvc.dims<t, c>>
// CHECK:           kvk.widen %[[X]] {table = array<f32: 0.000000e+00, 5.000000e-01, 1.000000e+00, 1.500000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 6.000000e+00, -0.000000e+00, -5.000000e-01, -1.000000e+00, -1.500000e+00, -2.000000e+00, -3.000000e+00, -4.000000e+00, -6.000000e+00>} : {{.*}} to !kvk.tile<64x16xi16
func.func @integers(%cache: !kvc.cache<#s>, %mem: memref<?x?x32xf16, strided<[?, ?, 1]>>, %out: memref<?xf32>, %head: index, %row: index, %end: index, %t0: index, %n: index) {
  %q = kvc.load_query %mem[%row to %end, %head] group 4 : memref<?x?x32xf16, strided<[?, ?, 1]>> to tensor<4x32xf32, #kvc.dims<r, c>>
  %qb = kvc.split %q : tensor<4x32xf32, #kvc.dims<r, c>> to tensor<4x2x16xf32, #kvc.dims<r, b, e>>
  %u = kvc.load_codes %cache[%head, %t0] valid %n {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<64x32xi8, #kvc.dims<t, c>>
  %f = kvc.decode_float %u {format = "fp4_e2m1"} : tensor<64x32xi8, #kvc.dims<t, c>> to tensor<64x32xf32, #kvc.dims<t, c>>
  %fb = kvc.split %f : tensor<64x32xf32, #kvc.dims<t, c>> to tensor<64x2x16xf32, #kvc.dims<t, b, e>>
  %g = kvc.load_scale %cache[%head, %t0] valid %n {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<64x2xf32, #kvc.dims<t, b>>
  %d = kvc.contract %qb, %fb : tensor<4x2x16xf32, #kvc.dims<r, b, e>>, tensor<64x2x16xf32, #kvc.dims<t, b, e>> to tensor<4x64x2xf32, #kvc.dims<r, t, b>>
  %gb = kvc.broadcast %g : tensor<64x2xf32, #kvc.dims<t, b>> to tensor<4x64x2xf32, #kvc.dims<r, t, b>>
  %gd = arith.mulf %d, %gb : tensor<4x64x2xf32, #kvc.dims<r, t, b>>
  %s = kvc.reduce add %gd : tensor<4x64x2xf32, #kvc.dims<r, t, b>> to tensor<4x64xf32, #kvc.dims<r, t>>
  %m = kvc.reduce maxnumf %s : tensor<4x64xf32, #kvc.dims<r, t>> to tensor<4xf32, #kvc.dims<r>>
  kvc.store_partial %m, %out[%row to %end] : tensor<4xf32, #kvc.dims<r>>, memref<?xf32>
  return
}

// -----

// Other tables are floats.

#s = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 4, kv_heads = 1, head_dim = 32}>, io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "lut", table = [-1.0, -0.3, 0.3, 1.0], scale = {tokens = 1, channels = "all", dtype = "f16"}}>, value = #kvc.scheme<{codec = "lut", table = [-1.0, -0.3, 0.3, 1.0], scale = {tokens = 1, channels = "all", dtype = "f16"}}>>

// CHECK-LABEL: func.func @table
// CHECK-SAME: kvc.operands = "f32"
// CHECK:         kvk.widen %{{.*}} {table = array<f32: -1.000000e+00, -3.000000e-01, 3.000000e-01, 1.000000e+00>} : !kvk.tile<64x32xi2, #kvc.dims<t, c>> to !kvk.tile<64x32xf32
func.func @table(%cache: !kvc.cache<#s>, %mem: memref<?x?x32xf16, strided<[?, ?, 1]>>, %out: memref<?xf32>, %head: index, %row: index, %end: index, %t0: index, %n: index) {
  %q = kvc.load_query %mem[%row to %end, %head] group 4 : memref<?x?x32xf16, strided<[?, ?, 1]>> to tensor<4x32xf32, #kvc.dims<r, c>>
  %u = kvc.load_codes %cache[%head, %t0] valid %n {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<64x32xi8, #kvc.dims<t, c>>
  %f = kvc.lookup %u in [-1.0, -0.3, 0.3, 1.0] : tensor<64x32xi8, #kvc.dims<t, c>> to tensor<64x32xf32, #kvc.dims<t, c>>
  %s = kvc.contract %q, %f : tensor<4x32xf32, #kvc.dims<r, c>>, tensor<64x32xf32, #kvc.dims<t, c>> to tensor<4x64xf32, #kvc.dims<r, t>>
  %m = kvc.reduce maxnumf %s : tensor<4x64xf32, #kvc.dims<r, t>> to tensor<4xf32, #kvc.dims<r>>
  kvc.store_partial %m, %out[%row to %end] : tensor<4xf32, #kvc.dims<r>>, memref<?xf32>
  return
}

// -----

// Where channels lie on the lanes one dot serves all blocks, with a row of scales
// for each.

#s = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 4, kv_heads = 1, head_dim = 32}>, io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int5", scale = {tokens = 1, channels = 16, dtype = "f16"}}>, value = #kvc.scheme<{codec = "f16"}>>

// CHECK-LABEL: func.func @rows
// CHECK:         kvk.load_meta_tile %{{.*}} into %[[SCALES:[^ ]*]] {{.*}} into memref<2x64xf32>
// CHECK-NOT:     scf.for %{{.*}} to %c2
// CHECK:         %[[X:.*]] = kvk.load %{{.*}} channels %c0 {{.*}} to !kvk.tile<64x32xi5, #kvc.dims<t, c>>
// CHECK:         %[[W:.*]] = kvk.widen %[[X]] {bias = 16 : i64}
// CHECK:         kvk.dot %{{.*}}, %[[W]] into %{{.*}} scale_rows %{{.*}} scale_lanes %[[SCALES]] {accumulate, contract = "c"} : {{.*}} scale_lanes memref<2x64xf32>
func.func @rows(%cache: !kvc.cache<#s>, %mem: memref<?x?x32xf16, strided<[?, ?, 1]>>, %out: memref<?xf32>, %head: index, %row: index, %end: index, %t0: index, %n: index) {
  %q = kvc.load_query %mem[%row to %end, %head] group 4 : memref<?x?x32xf16, strided<[?, ?, 1]>> to tensor<4x32xf32, #kvc.dims<r, c>>
  %qb = kvc.split %q : tensor<4x32xf32, #kvc.dims<r, c>> to tensor<4x2x16xf32, #kvc.dims<r, b, e>>
  %u = kvc.load_codes %cache[%head, %t0] valid %n {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<64x32xi8, #kvc.dims<t, c>>
  %f = arith.sitofp %u : tensor<64x32xi8, #kvc.dims<t, c>> to tensor<64x32xf32, #kvc.dims<t, c>>
  %fb = kvc.split %f : tensor<64x32xf32, #kvc.dims<t, c>> to tensor<64x2x16xf32, #kvc.dims<t, b, e>>
  %g = kvc.load_scale %cache[%head, %t0] valid %n {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<64x2xf32, #kvc.dims<t, b>>
  %d = kvc.contract %qb, %fb : tensor<4x2x16xf32, #kvc.dims<r, b, e>>, tensor<64x2x16xf32, #kvc.dims<t, b, e>> to tensor<4x64x2xf32, #kvc.dims<r, t, b>>
  %gb = kvc.broadcast %g : tensor<64x2xf32, #kvc.dims<t, b>> to tensor<4x64x2xf32, #kvc.dims<r, t, b>>
  %gd = arith.mulf %d, %gb : tensor<4x64x2xf32, #kvc.dims<r, t, b>>
  %s = kvc.reduce add %gd : tensor<4x64x2xf32, #kvc.dims<r, t, b>> to tensor<4x64xf32, #kvc.dims<r, t>>
  %m = kvc.reduce maxnumf %s : tensor<4x64xf32, #kvc.dims<r, t>> to tensor<4xf32, #kvc.dims<r>>
  kvc.store_partial %m, %out[%row to %end] : tensor<4xf32, #kvc.dims<r>>, memref<?xf32>
  return
}
