// RUN: kvc-opt %s --convert-kvc-to-kvk --canonicalize | FileCheck %s

// Channels kept apart: a search over a row's magnitudes as often as there are
// some, a list of those that were marked, and rows that take the values which lie
// in their chunk of channels.

#s = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 4, kv_heads = 1, head_dim = 64}>, io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int8", scale = {tokens = 1, channels = "all", dtype = "f16"}, outliers = 2}>, value = #kvc.scheme<{codec = "f16"}>>

// CHECK-LABEL: func.func @find
// CHECK: scf.for %{{.*}} = %c0 to %c2 step %c1
// CHECK:   %[[FOUND:.*]]:2 = scf.for %[[C:.*]] = %c0 to %c64 step %c1 iter_args(%[[MOST:.*]] = %{{.*}}, %[[AT:.*]] = %c0)
// CHECK:     %[[M:.*]] = memref.load %[[LEFT:.*]][%c0, %[[C]]]
// CHECK:     %[[LARGER:.*]] = arith.cmpf ogt, %[[M]], %[[MOST]]
// CHECK:     arith.select %[[LARGER]], %[[M]], %[[MOST]]
// CHECK:     arith.select %[[LARGER]], %[[C]], %[[AT]]
// CHECK:   memref.store %{{.*}}, %[[LEFT]][%c0, %[[FOUND]]#1]
// CHECK: scf.for %[[N:.*]] = %c0 to %c64 step %c1 iter_args(%[[NEXT:.*]] = %c0)
// CHECK:   scf.if
// CHECK:     memref.store %{{.*}}, %[[LIST:.*]][%[[NEXT]]]
// CHECK: scf.for %[[O:.*]] = %c0 to %c2
// CHECK:   memref.load %[[LIST]][%[[O]]]
// CHECK: kvk.store_meta %{{.*}} {kind = #kvk.meta<outlier_index>, tensor = #kvc.tensor<key>}
// CHECK: kvk.store_meta %{{.*}} {kind = #kvk.meta<outlier_value>, tensor = #kvc.tensor<key>}
func.func @find(%cache: !kvc.cache<#s>, %mem: memref<?x?x64xf16, strided<[?, ?, 1]>>, %head: index, %t: index) {
  %x = kvc.load_input %mem[%t, %head] : memref<?x?x64xf16, strided<[?, ?, 1]>> to tensor<1x64xf32, #kvc.dims<b, e>>
  %m = math.absf %x : tensor<1x64xf32, #kvc.dims<b, e>>
  %i = kvc.find_outliers %m : tensor<1x64xf32, #kvc.dims<b, e>> to tensor<2xf32, #kvc.dims<o>>
  %v = kvc.pick %x at %i : tensor<1x64xf32, #kvc.dims<b, e>>, tensor<2xf32, #kvc.dims<o>>
  kvc.store_outlier_indices %i, %cache[%head, %t] {tensor = #kvc.tensor<key>} : tensor<2xf32, #kvc.dims<o>>, !kvc.cache<#s>
  kvc.store_outlier_values %v, %cache[%head, %t] {tensor = #kvc.tensor<key>} : tensor<2xf32, #kvc.dims<o>>, !kvc.cache<#s>
  return
}

// CHECK-LABEL: func.func @patch
// CHECK: kvk.load_meta_tile %{{.*}} into %[[NUMBERS:.*]] {kind = #kvk.meta<outlier_index>, tensor = #kvc.tensor<key>} : !kvc.cache<#s> into memref<2x64xf32>
// CHECK: kvk.load_meta_tile %{{.*}} into %[[VALUES:.*]] {kind = #kvk.meta<outlier_value>, tensor = #kvc.tensor<key>} : !kvc.cache<#s> into memref<2x64xf32>
// CHECK: scf.for %[[T:.*]] = %c0 to %{{.*}} step %c1
// CHECK:   vector.store %{{.*}}, %[[ROW:.*]][%c0] : memref<64xf32>, vector<64xf32>
// CHECK:   scf.for %[[O:.*]] = %c0 to %c2
// CHECK:     %[[NUMBER:.*]] = memref.load %[[NUMBERS]][%[[O]], %[[T]]] : memref<2x64xf32>
// CHECK:     %[[HERE:.*]] = arith.cmpi ult, %[[CHANNEL:.*]], %c64
// CHECK:     scf.if %[[HERE]]
// CHECK:       memref.store %{{.*}}, %[[ROW]][%[[CHANNEL]]]
// CHECK:   vector.load %[[ROW]][%c0]
func.func @patch(%cache: !kvc.cache<#s>, %out: memref<?x64xf32>, %head: index, %t0: index, %n: index) {
  %i = kvc.load_outlier_indices %cache[%head, %t0] valid %n {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<64x2xf32, #kvc.dims<t, o>>
  %v = kvc.load_outlier_values %cache[%head, %t0] valid %n {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<64x2xf32, #kvc.dims<t, o>>
  %u = kvc.load_codes %cache[%head, %t0] valid %n {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<64x64xi8, #kvc.dims<t, c>>
  %f = arith.sitofp %u : tensor<64x64xi8, #kvc.dims<t, c>> to tensor<64x64xf32, #kvc.dims<t, c>>
  %x = kvc.patch %f, %i, %v : tensor<64x64xf32, #kvc.dims<t, c>>, tensor<64x2xf32, #kvc.dims<t, o>>
  kvc.store_rows %x, %out[%t0] valid %n : tensor<64x64xf32, #kvc.dims<t, c>>, memref<?x64xf32>
  return
}

// Vectors of tokens take elements of a row.
// CHECK-LABEL: func.func @gather
// CHECK: scf.for %[[R:.*]] = %c0 to %c4
// CHECK:   %[[SUM:.*]] = scf.for %[[O:.*]] = %c0 to %c2 {{.*}} iter_args
// CHECK:     %[[I:.*]] = vector.load %{{.*}}[%[[O]], %c0] : memref<2x64xf32>
// CHECK:     %[[N:.*]] = arith.fptosi %[[I]]
// CHECK:     %[[IN:.*]] = arith.minui %[[N]], %{{.*}}
// CHECK:     %[[Q:.*]] = vector.gather %{{.*}}[%[[R]], %c0] [%[[IN]]]
// CHECK:     %[[V:.*]] = vector.load
// CHECK:     %[[P:.*]] = arith.mulf %[[Q]], %[[V]]
// CHECK:     arith.addf %{{.*}}, %[[P]]
// CHECK:   vector.store %[[SUM]], %{{.*}}[%[[R]], %c0]
func.func @gather(%cache: !kvc.cache<#s>, %mem: memref<?x?x64xf16, strided<[?, ?, 1]>>, %scores: memref<?x64xf32>, %head: index, %row: index, %end: index, %t0: index, %n: index) {
  %q = kvc.load_query %mem[%row to %end, %head] group 4 : memref<?x?x64xf16, strided<[?, ?, 1]>> to tensor<4x64xf32, #kvc.dims<r, c>>
  %i = kvc.load_outlier_indices %cache[%head, %t0] valid %n {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<64x2xf32, #kvc.dims<t, o>>
  %v = kvc.load_outlier_values %cache[%head, %t0] valid %n {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<64x2xf32, #kvc.dims<t, o>>
  %s = kvc.gather_dot %q, %i, %v : tensor<4x64xf32, #kvc.dims<r, c>>, tensor<64x2xf32, #kvc.dims<t, o>> to tensor<4x64xf32, #kvc.dims<r, t>>
  kvc.store_partial %s, %scores[%row to %end] : tensor<4x64xf32, #kvc.dims<r, t>>, memref<?x64xf32>
  return
}

// The carried sum is rescaled where it is, then takes one outlier after the
// other.
// CHECK-LABEL: func.func @scatter
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c64
// CHECK:   memref.load %{{.*}} : memref<4xf32>
// CHECK:   vector.store %{{.*}}, %[[SUM:.*]][%{{.*}}, %c0] : memref<4x48xf32>
// CHECK:   scf.for %[[T:.*]] = %c0 to %c64
// CHECK:     scf.for %[[O:.*]] = %c0 to %c2
// CHECK:       %[[C:.*]] = arith.minui
// CHECK:       %[[V:.*]] = memref.load %{{.*}}[%[[O]], %[[T]]]
// CHECK:       scf.for %[[R:.*]] = %c0 to %c4
// CHECK:         %[[W:.*]] = memref.load %{{.*}}[%[[R]], %[[T]]]
// CHECK:         %[[B:.*]] = memref.load %[[SUM]][%[[R]], %[[C]]]
// CHECK:         %[[P:.*]] = arith.mulf %[[W]], %[[V]]
// CHECK:         %[[A:.*]] = arith.addf %[[B]], %[[P]]
// CHECK:         memref.store %[[A]], %[[SUM]][%[[R]], %[[C]]]
func.func @scatter(%cache: !kvc.cache<#s>, %mem: memref<?x?x64xf16, strided<[?, ?, 1]>>, %out: memref<?x48xf32>, %head: index, %row: index, %end: index, %tiles: index, %n: index) {
  %zero = arith.constant dense<0.0> : tensor<4x48xf32, #kvc.dims<r, d>>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %p = kvc.load_query %mem[%row to %end, %head] group 4 : memref<?x?x64xf16, strided<[?, ?, 1]>> to tensor<4x64xf32, #kvc.dims<r, t>>
  %sum = scf.for %t0 = %c0 to %tiles step %c64 iter_args(%before = %zero) -> tensor<4x48xf32, #kvc.dims<r, d>> {
    %i = kvc.load_outlier_indices %cache[%head, %t0] valid %n {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<64x2xf32, #kvc.dims<t, o>>
    %v = kvc.load_outlier_values %cache[%head, %t0] valid %n {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<64x2xf32, #kvc.dims<t, o>>
    %m = kvc.reduce maxnumf %p : tensor<4x64xf32, #kvc.dims<r, t>> to tensor<4xf32, #kvc.dims<r>>
    %d = kvc.broadcast %m : tensor<4xf32, #kvc.dims<r>> to tensor<4x48xf32, #kvc.dims<r, d>>
    %old = arith.mulf %before, %d : tensor<4x48xf32, #kvc.dims<r, d>>
    %new = kvc.scatter_dot %p, %i, %v : tensor<4x64xf32, #kvc.dims<r, t>>, tensor<64x2xf32, #kvc.dims<t, o>> to tensor<4x48xf32, #kvc.dims<r, d>>
    %next = arith.addf %old, %new : tensor<4x48xf32, #kvc.dims<r, d>>
    scf.yield %next : tensor<4x48xf32, #kvc.dims<r, d>>
  }
  kvc.store_partial %sum, %out[%row to %end] : tensor<4x48xf32, #kvc.dims<r, d>>, memref<?x48xf32>
  return
}
