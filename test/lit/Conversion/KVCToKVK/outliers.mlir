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
// CHECK: kvk.load_meta %{{.*}} {kind = #kvk.meta<outlier_index>, tensor = #kvc.tensor<key>} : !kvc.cache<#s> to vector<64xf32>
// CHECK: kvk.load_meta %{{.*}} {kind = #kvk.meta<outlier_value>, tensor = #kvc.tensor<key>} : !kvc.cache<#s> to vector<64xf32>
// CHECK: scf.for %[[T:.*]] = %c0 to %{{.*}} step %c1
// CHECK:   vector.store %{{.*}}, %[[ROW:.*]][%c0] : memref<64xf32>, vector<64xf32>
// CHECK:   scf.for %[[O:.*]] = %c0 to %c2
// CHECK:     %[[NUMBER:.*]] = memref.load %{{.*}}[%[[O]], %[[T]]] : memref<2x64xf32>
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
