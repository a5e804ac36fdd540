// RUN: kvc-opt %s --kvk-derive-storage=remarks=true --verify-diagnostics | FileCheck %s

// Every op on a region gets its order and its page; the first of each region says
// so. What an op has already is kept.

#s = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 8, kv_heads = 2, head_dim = 128}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = 32, dtype = "f16"}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int8", scale = {tokens = 1, channels = "all", dtype = "f32"}}>,
  layout = #kvc.layout<{kind = "paged", page = 32, order = "auto"}>>

// CHECK-DAG: #[[KEYS:.*]] = #kvk.storage<width = 4, addr = [c1, c2, c0, t0, t1, t2, t3, c3, c4, c5, c6, t4, h0]>
// CHECK-DAG: #[[VALUES:.*]] = #kvk.storage<width = 8, addr = [t1, t0, c0, c1, c2, c3, t2, t3, t4, c4, c5, c6, h0]>
// CHECK-DAG: #[[META:.*]] = #kvk.storage<width = 16, addr = [t0, t1, t2, t3, t4, b0, b1, h0]>
// CHECK-DAG: #[[SCALES:.*]] = #kvk.storage<width = 32, addr = [t0, t1, t2, t3, t4, h0]>
// CHECK-DAG: #[[ASKED:.*]] = #kvk.storage<width = 4, addr = [c0, c1, c2, c3, c4, c5, c6, t0, t1, t2, t3]>
#asked = #kvk.storage<width = 4, addr = [c0, c1, c2, c3, c4, c5, c6, t0, t1, t2, t3]>

// CHECK-LABEL: func.func @regions(
func.func @regions(%cache: !kvc.cache<#s>, %i: index, %x: vector<32xi8>, %s: f32) {
  // CHECK: kvk.load %{{.*}} {page = 32 : i64, storage = #[[KEYS]], tensor = #kvc.tensor<key>}
  // expected-remark @below {{key codes: 4 bits in order c1 c2 c0 t0 t1 t2 t3 c3 c4 c5 c6 t4 h0, lowest first, in pages of 32 tokens; the spec's order "auto"}}
  %0 = kvk.load %cache[%i, %i] valid %i channels %i {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to !kvk.tile<64x128xi4, #kvc.dims<t, c>>
  // CHECK: kvk.load_row %{{.*}} {page = 32 : i64, storage = #[[KEYS]]
  %1 = kvk.load_row %cache[%i, %i] channels %i {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to vector<32xi8>
  // CHECK: kvk.store_row %{{.*}} {page = 32 : i64, storage = #[[VALUES]]
  // expected-remark @below {{value codes: 8 bits in order t1 t0 c0}}
  kvk.store_row %x, %cache[%i, %i] channels %i {tensor = #kvc.tensor<value>} : vector<32xi8>, !kvc.cache<#s>
  // CHECK: kvk.load_meta %{{.*}} {kind = #kvk.meta<scale>, page = 32 : i64, storage = #[[META]]
  // expected-remark @below {{key scales: 16 bits in order t0 t1 t2 t3 t4 b0 b1 h0}}
  %2 = kvk.load_meta %cache[%i, %i] block %i {tensor = #kvc.tensor<key>, kind = #kvk.meta<scale>} : !kvc.cache<#s> to f32
  // CHECK: kvk.load_meta %{{.*}} {kind = #kvk.meta<zero>, page = 32 : i64, storage = #[[META]]
  // expected-remark @below {{key zeros: 16 bits in order}}
  %3 = kvk.load_meta %cache[%i, %i] block %i valid %i {tensor = #kvc.tensor<key>, kind = #kvk.meta<zero>} : !kvc.cache<#s> to vector<64xf32>
  // CHECK: kvk.store_meta %{{.*}} {kind = #kvk.meta<scale>, page = 32 : i64, storage = #[[SCALES]]
  // expected-remark @below {{value scales: 32 bits in order t0 t1 t2 t3 t4 h0}}
  kvk.store_meta %s, %cache[%i, %i] block %i {tensor = #kvc.tensor<value>, kind = #kvk.meta<scale>} : f32, !kvc.cache<#s>
  // CHECK: kvk.load_row %{{.*}} {page = 16 : i64, storage = #[[ASKED]]
  %4 = kvk.load_row %cache[%i, %i] channels %i {tensor = #kvc.tensor<key>, storage = #asked, page = 16} : !kvc.cache<#s> to vector<32xi8>
  return
}
