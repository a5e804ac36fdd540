// RUN: kvc-opt %s --convert-kvc-to-kvk --canonicalize | FileCheck %s

#given = #kvc.spec<name = "given", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 2}>,
  io = #kvc.io<{query = "f32"}>,
  key = #kvc.scheme<{codec = "lut", table = {bits = 2}, scale = {channels = 8, dtype = "f16", static = true, tokens = "all"}}>,
  value = #kvc.scheme<{codec = "f16", smooth = true}>>

// A table is a vector, loaded once.
// CHECK-LABEL: func.func @gather
// CHECK: %[[TABLE:.*]] = kvk.load_scheme {{.*}} {field = "table", {{.*}} to vector<4xf32>
// CHECK: %[[SCALE:.*]] = kvk.load_scheme {{.*}} {field = "scale", {{.*}} to vector<16xf32>
// CHECK: scf.for
// CHECK: %[[CODES:.*]] = kvk.load_row
// CHECK: %[[X:.*]] = kvk.lookup %[[CODES]] in %[[TABLE]] : vector<16xi8> in vector<4xf32> to vector<16xf32>
// CHECK: arith.mulf %[[X]], %[[SCALE]] : vector<16xf32>
func.func @gather(%cache: !kvc.cache<#given>, %head: index, %token: index, %valid: index, %out: memref<?x16xf32>) {
  %table = kvc.load_scheme %cache[%head] {tensor = #kvc.tensor<key>, field = "table"} : !kvc.cache<#given> to tensor<4xf32, #kvc.dims<n>>
  %scale = kvc.load_scheme %cache[%head] {tensor = #kvc.tensor<key>, field = "scale"} : !kvc.cache<#given> to tensor<16xf32, #kvc.dims<c>>
  %u = kvc.load_codes %cache[%head, %token] valid %valid {tensor = #kvc.tensor<key>} : !kvc.cache<#given> to tensor<8x16xi8, #kvc.dims<t, c>>
  %x = kvc.gather %u from %table : tensor<8x16xi8, #kvc.dims<t, c>>, tensor<4xf32, #kvc.dims<n>> to tensor<8x16xf32, #kvc.dims<t, c>>
  %f = kvc.broadcast %scale : tensor<16xf32, #kvc.dims<c>> to tensor<8x16xf32, #kvc.dims<t, c>>
  %y = arith.mulf %x, %f : tensor<8x16xf32, #kvc.dims<t, c>>
  kvc.store_rows %y, %out[%token] valid %valid : tensor<8x16xf32, #kvc.dims<t, c>>, memref<?x16xf32>
  return
}

// One compare for each threshold but the last; a scalar is loaded as such.
// CHECK-LABEL: func.func @nearest
// CHECK: kvk.load_scheme {{.*}} {field = "largest", {{.*}} to f32
// CHECK-COUNT-3: arith.cmpf ogt
// CHECK-NOT: arith.cmpf
// CHECK: arith.fptosi %{{.*}} : vector<16xf32> to vector<16xi8>
// CHECK-NEXT: kvk.store_row
func.func @nearest(%cache: !kvc.cache<#given>, %x: memref<?x?x16xf32>, %head: index, %token: index) {
  %thresholds = kvc.load_scheme %cache[%head] {tensor = #kvc.tensor<key>, field = "thresholds"} : !kvc.cache<#given> to tensor<4xf32, #kvc.dims<n>>
  %codes = kvc.load_scheme %cache[%head] {tensor = #kvc.tensor<key>, field = "codes"} : !kvc.cache<#given> to tensor<4xf32, #kvc.dims<n>>
  %largest = kvc.load_scheme %cache[%head] {tensor = #kvc.tensor<key>, field = "largest"} : !kvc.cache<#given> to f32
  %v = kvc.load_input %x[%token, %head] : memref<?x?x16xf32> to tensor<1x16xf32, #kvc.dims<b, e>>
  %all = kvc.broadcast %largest : f32 to tensor<1x16xf32, #kvc.dims<b, e>>
  %y = arith.divf %v, %all : tensor<1x16xf32, #kvc.dims<b, e>>
  %u = kvc.nearest %y by %thresholds, %codes : tensor<1x16xf32, #kvc.dims<b, e>>, tensor<4xf32, #kvc.dims<n>>, tensor<4xf32, #kvc.dims<n>>
    to tensor<1x16xi8, #kvc.dims<b, e>>
  kvc.store_codes %u, %cache[%head, %token] {tensor = #kvc.tensor<key>} : tensor<1x16xi8, #kvc.dims<b, e>>, !kvc.cache<#given>
  return
}

#wide = #kvc.spec<name = "wide", attention = #kvc.attention<{head_dim = 576, kv_heads = 2, q_heads = 2}>,
  io = #kvc.io<{query = "f32"}>, key = #kvc.scheme<{codec = "f32", smooth = true}>, value = #kvc.scheme<{codec = "f32"}>>

// A wide row is loaded once, as a whole, and read in the chunks of its users.
// CHECK-LABEL: func.func @wide
// CHECK: %[[ROW:.*]] = kvk.load_scheme {{.*}} to vector<576xf32>
// CHECK: vector.store %[[ROW]], %[[SCRATCH:.*]][%{{.*}}] : memref<576xf32>, vector<576xf32>
// CHECK: scf.for
// CHECK: scf.for %[[C:.*]] =
// CHECK: %[[PART:.*]] = vector.load %[[SCRATCH]][%[[C]]] : memref<576xf32>, vector<96xf32>
// CHECK: arith.mulf %{{.*}}, %[[PART]]
func.func @wide(%cache: !kvc.cache<#wide>, %head: index, %token: index, %valid: index, %out: memref<?x576xf32>) {
  %smooth = kvc.load_scheme %cache[%head] {tensor = #kvc.tensor<key>, field = "smooth"} : !kvc.cache<#wide> to tensor<576xf32, #kvc.dims<c>>
  %x = kvc.load_codes %cache[%head, %token] valid %valid {tensor = #kvc.tensor<key>} : !kvc.cache<#wide> to tensor<8x576xf32, #kvc.dims<t, c>>
  %f = kvc.broadcast %smooth : tensor<576xf32, #kvc.dims<c>> to tensor<8x576xf32, #kvc.dims<t, c>>
  %y = arith.mulf %x, %f : tensor<8x576xf32, #kvc.dims<t, c>>
  kvc.store_rows %y, %out[%token] valid %valid : tensor<8x576xf32, #kvc.dims<t, c>>, memref<?x576xf32>
  return
}

// A dot reads codes of a loaded table where they lie.
// CHECK-LABEL: func.func @dot
// CHECK-SAME: kvc.operands = "f32"
// CHECK: %[[TABLE:.*]] = kvk.load_scheme {{.*}} {field = "table", {{.*}} to vector<4xf32>
// CHECK: %[[X:.*]] = kvk.load %{{.*}} : !kvc.cache<#given> to !kvk.tile<64x16xi2, #kvc.dims<t, c>>
// CHECK-NEXT: %[[K:.*]] = kvk.widen %[[X]] table %[[TABLE]] : vector<4xf32> : {{.*}} to !kvk.tile<64x16xf32, #kvc.dims<t, c>>
// CHECK-NEXT: kvk.dot %{{.*}}, %[[K]] into %{{.*}} {contract = "c"}
func.func @dot(%cache: !kvc.cache<#given>, %mem: memref<?x?x16xf32, strided<[?, ?, 1]>>, %scores: memref<?x64xf32>, %head: index, %row: index, %end: index, %t0: index, %n: index) {
  %q = kvc.load_query %mem[%row to %end, %head] group 1 : memref<?x?x16xf32, strided<[?, ?, 1]>> to tensor<4x16xf32, #kvc.dims<r, c>>
  %table = kvc.load_scheme %cache[%head] {tensor = #kvc.tensor<key>, field = "table"} : !kvc.cache<#given> to tensor<4xf32, #kvc.dims<n>>
  %u = kvc.load_codes %cache[%head, %t0] valid %n {tensor = #kvc.tensor<key>} : !kvc.cache<#given> to tensor<64x16xi8, #kvc.dims<t, c>>
  %x = kvc.gather %u from %table : tensor<64x16xi8, #kvc.dims<t, c>>, tensor<4xf32, #kvc.dims<n>> to tensor<64x16xf32, #kvc.dims<t, c>>
  %s = kvc.contract %q, %x : tensor<4x16xf32, #kvc.dims<r, c>>, tensor<64x16xf32, #kvc.dims<t, c>> to tensor<4x64xf32, #kvc.dims<r, t>>
  kvc.store_partial %s, %scores[%row to %end] : tensor<4x64xf32, #kvc.dims<r, t>>, memref<?x64xf32>
  return
}
