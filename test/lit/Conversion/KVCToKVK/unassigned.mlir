// RUN: kvc-opt %s --convert-kvc-to-kvk | FileCheck %s
// RUN: kvc-opt %s --convert-kvc-to-kvk --kvk-derive-storage --kvk-assign-layouts | FileCheck %s --check-prefix=ASSIGNED

// The conversion says which codes meet which weights; where they lie, in memory
// and in registers, is left to the passes behind it.

#s = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 8, kv_heads = 2, head_dim = 128}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min"}>,
  value = #kvc.scheme<{codec = "f16"}>,
  layout = #kvc.layout<{kind = "paged", page = 64}>>

// CHECK-NOT: #kvk
// CHECK-LABEL: func.func @scores(
// CHECK: kvk.quantize_rows
// CHECK: kvk.load %{{.*}} {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to !kvk.tile<64x128xi4, #kvc.dims<t, c>>
// CHECK: kvk.widen %{{.*}} {bias = 8 : i64} : {{.*}} to !kvk.tile<64x128xi16, #kvc.dims<t, c>>
// CHECK: kvk.dot {{.*}} {contract = "c"}
// ASSIGNED-LABEL: func.func @scores(
// ASSIGNED: kvk.load %{{.*}} {page = 64 : i64, storage = #{{.*}}, tensor = #kvc.tensor<key>}
// ASSIGNED: kvk.widen {{.*}} to !kvk.tile<64x128xi16, #kvc.dims<t, c>, #layout>
func.func @scores(%cache: !kvc.cache<#s>, %q: memref<?x?x128xf16>, %out: memref<?x64xf32>, %i: index) {
  %rows = kvc.load_query %q[%i to %i, %i] group 4 : memref<?x?x128xf16> to tensor<4x128xf32, #kvc.dims<r, c>>
  %u = kvc.load_codes %cache[%i, %i] valid %i {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<64x128xi8, #kvc.dims<t, c>>
  %x = arith.sitofp %u : tensor<64x128xi8, #kvc.dims<t, c>> to tensor<64x128xf32, #kvc.dims<t, c>>
  %S = kvc.contract %rows, %x : tensor<4x128xf32, #kvc.dims<r, c>>, tensor<64x128xf32, #kvc.dims<t, c>> to tensor<4x64xf32, #kvc.dims<r, t>>
  kvc.store_partial %S, %out[%i to %i] : tensor<4x64xf32, #kvc.dims<r, t>>, memref<?x64xf32>
  return
}
