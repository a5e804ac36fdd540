// RUN: kvc-opt %s --convert-kvc-to-kvk --canonicalize --kvk-derive-storage | FileCheck %s

// Records: blocks and tokens are steps of bytes. Fifth bits lie apart; codes whose
// halves share bytes are no operand of a dot, rows of a panel are read instead.

#s = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 2, kv_heads = 2, head_dim = 64}>, io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int5", scale = {tokens = 1, channels = 32, dtype = "f16"}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int8", scale = {tokens = 1, channels = 32, dtype = "f16"}}>,
  layout = #kvc.layout<{kind = "paged", page = 16, order = "ggml"}>>

// CHECK-DAG: #[[LOW:.*]] = #kvk.storage<width = 4, addr = [c4, c0, c1, c2, c3], steps = [c5 * 24, h0 * 48, t[1:16] * 96]>
// CHECK-DAG: #[[HIGH:.*]] = #kvk.storage<width = 1, addr = [c0, c1, c2, c3, c4], steps = [c5 * 24, h0 * 48, t[1:16] * 96]>
// CHECK-DAG: #[[BYTES:.*]] = #kvk.storage<width = 8, addr = [c0, c1, c2, c3, c4], steps = [c5 * 34, h0 * 68, t[1:16] * 136]>

// CHECK-LABEL: func.func @keys
// CHECK: %[[L:.*]] = kvk.load_row %{{.*}} {page = 16 : i64, storage = #[[LOW]], tensor = #kvc.tensor<key>}
// CHECK: %[[H:.*]] = kvk.load_row %{{.*}} {high, page = 16 : i64, storage = #[[HIGH]], tensor = #kvc.tensor<key>}
// CHECK: %[[UP:.*]] = arith.shli %[[H]]
// CHECK: arith.ori %[[L]], %[[UP]]
// CHECK: kvk.dot %{{.*}} {contract = "minor"}
func.func @keys(%cache: !kvc.cache<#s>, %mem: memref<?x?x64xf16, strided<[?, ?, 1]>>, %out: memref<?x64xf32>, %head: index, %row: index, %end: index, %t0: index, %n: index) {
  %q = kvc.load_query %mem[%row to %end, %head] group 1 : memref<?x?x64xf16, strided<[?, ?, 1]>> to tensor<4x64xf32, #kvc.dims<r, c>>
  %u = kvc.load_codes %cache[%head, %t0] valid %n {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<64x64xi8, #kvc.dims<t, c>>
  %f = arith.sitofp %u : tensor<64x64xi8, #kvc.dims<t, c>> to tensor<64x64xf32, #kvc.dims<t, c>>
  %s = kvc.contract %q, %f : tensor<4x64xf32, #kvc.dims<r, c>>, tensor<64x64xf32, #kvc.dims<t, c>> to tensor<4x64xf32, #kvc.dims<r, t>>
  kvc.store_partial %s, %out[%row to %end] : tensor<4x64xf32, #kvc.dims<r, t>>, memref<?x64xf32>
  return
}

// CHECK-LABEL: func.func @append
// CHECK: kvk.store_row %[[CODES:[0-9]+]], %{{.*}} {page = 16 : i64, storage = #[[LOW]]
// CHECK: %[[UPPER:.*]] = arith.shrui %[[CODES]]
// CHECK: kvk.store_row %[[UPPER]], %{{.*}} {high, page = 16 : i64, storage = #[[HIGH]]
func.func @append(%cache: !kvc.cache<#s>, %mem: memref<?x?x64xf16, strided<[?, ?, 1]>>, %head: index, %t: index) {
  %x = kvc.load_input %mem[%t, %head] : memref<?x?x64xf16, strided<[?, ?, 1]>> to tensor<1x64xf32, #kvc.dims<b, e>>
  %u = kvc.encode_float %x {format = "fp8_e4m3"} : tensor<1x64xf32, #kvc.dims<b, e>> to tensor<1x64xi8, #kvc.dims<b, e>>
  kvc.store_codes %u, %cache[%head, %t] {tensor = #kvc.tensor<key>} : tensor<1x64xi8, #kvc.dims<b, e>>, !kvc.cache<#s>
  return
}

// Whole bytes in blocks are read where they lie.
// CHECK-LABEL: func.func @values
// CHECK: kvk.load %{{.*}} {page = 16 : i64, storage = #[[BYTES]], tensor = #kvc.tensor<value>}
// CHECK: kvk.dot %{{.*}} {contract = "t"}
func.func @values(%cache: !kvc.cache<#s>, %mem: memref<?x?x64xf16, strided<[?, ?, 1]>>, %out: memref<?x64xf32>, %head: index, %row: index, %end: index, %t0: index, %n: index) {
  %p = kvc.load_query %mem[%row to %end, %head] group 1 : memref<?x?x64xf16, strided<[?, ?, 1]>> to tensor<4x64xf32, #kvc.dims<r, t>>
  %u = kvc.load_codes %cache[%head, %t0] valid %n {tensor = #kvc.tensor<value>} : !kvc.cache<#s> to tensor<64x64xi8, #kvc.dims<t, d>>
  %f = arith.sitofp %u : tensor<64x64xi8, #kvc.dims<t, d>> to tensor<64x64xf32, #kvc.dims<t, d>>
  %s = kvc.contract %p, %f : tensor<4x64xf32, #kvc.dims<r, t>>, tensor<64x64xf32, #kvc.dims<t, d>> to tensor<4x64xf32, #kvc.dims<r, d>>
  kvc.store_partial %s, %out[%row to %end] : tensor<4x64xf32, #kvc.dims<r, d>>, memref<?x64xf32>
  return
}
