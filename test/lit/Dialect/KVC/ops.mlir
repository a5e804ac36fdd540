// Level 0: the kernels of one spec, as kvc-create-kernels makes them.
// RUN: kvc-opt %s | kvc-opt | FileCheck %s
// RUN: kvc-opt %s --mlir-print-op-generic | kvc-opt | FileCheck %s

#int4 = #kvc.spec<name = "int4_",
  attention = #kvc.attention<{head_dim = 128, kv_heads = 8, q_heads = 32}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = 32, dtype = "f16", tokens = 1}, zero = "min"}>>

// CHECK: kvc.attention_spec @int4 #int4_
kvc.attention_spec @int4 #int4

// CHECK-LABEL: func.func @decode
// CHECK-SAME: kvc.kernel = "decode"
func.func @decode(%cache: !kvc.cache<#int4>, %q: memref<?x?x128xf16, strided<[?, ?, 1]>>, %pout: memref<?x128xf32>,
    %plse: memref<?xf32>, %slopes: memref<?xf32>, %kv_head: index, %num_queries: index, %length: index,
    %row_begin: index, %row_end: index, %key_begin: index, %key_end: index) attributes {kvc.kernel = "decode"} {
  // CHECK: kvc.attend %{{.*}}, %{{.*}}[%{{.*}}] rows(%{{.*}} to %{{.*}} of %{{.*}}) keys(%{{.*}} to %{{.*}} of %{{.*}}) slopes(%{{.*}}) into %{{.*}}, %{{.*}} {tile_rows = 4 : i64, tile_tokens = 64 : i64} : memref<?x?x128xf16, strided<[?, ?, 1]>>, !kvc.cache<#int4_>, memref<?x128xf32>, memref<?xf32>, memref<?xf32>
  kvc.attend %q, %cache[%kv_head] rows(%row_begin to %row_end of %num_queries)
    keys(%key_begin to %key_end of %length) slopes(%slopes) into %pout, %plse
    {tile_rows = 4, tile_tokens = 64}
    : memref<?x?x128xf16, strided<[?, ?, 1]>>, !kvc.cache<#int4>, memref<?x128xf32>, memref<?xf32>, memref<?xf32>
  return
}

// Slopes may be left out where the spec does not say alibi.
// CHECK-LABEL: func.func @without_slopes
func.func @without_slopes(%cache: !kvc.cache<#int4>, %q: memref<4x32x128xf16>, %pout: memref<?x128xf32>,
    %plse: memref<?xf32>, %i: index) {
  // CHECK: of %{{.*}}) into %{{.*}}, %{{.*}} {tile_rows = 1 : i64, tile_tokens = 32 : i64} : memref<4x32x128xf16>, !kvc.cache<#int4_>, memref<?x128xf32>, memref<?xf32>
  kvc.attend %q, %cache[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %pout, %plse
    {tile_rows = 1, tile_tokens = 32} : memref<4x32x128xf16>, !kvc.cache<#int4>, memref<?x128xf32>, memref<?xf32>
  // Nor tile sizes where nothing has chosen them.
  // CHECK: of %{{.*}}) into %{{.*}}, %{{.*}} : memref<4x32x128xf16>
  kvc.attend %q, %cache[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %pout, %plse
    : memref<4x32x128xf16>, !kvc.cache<#int4>, memref<?x128xf32>, memref<?xf32>
  return
}

// CHECK-LABEL: func.func @append
func.func @append(%cache: !kvc.cache<#int4>, %k: memref<?x?x128xf16, strided<[?, ?, 1]>>,
    %v: memref<?x?x128xf16, strided<[?, ?, 1]>>, %kv_head: index, %token_begin: index, %token_end: index)
    attributes {kvc.kernel = "append"} {
  // CHECK: kvc.append %{{.*}}, %{{.*}}[%{{.*}}] tokens(%{{.*}} to %{{.*}}) {tensor = #kvc.tensor<key>} : memref<?x?x128xf16, strided<[?, ?, 1]>>, !kvc.cache<#int4_>
  kvc.append %k, %cache[%kv_head] tokens(%token_begin to %token_end) {tensor = #kvc.tensor<key>}
    : memref<?x?x128xf16, strided<[?, ?, 1]>>, !kvc.cache<#int4>
  // CHECK: tensor = #kvc.tensor<value>
  kvc.append %v, %cache[%kv_head] tokens(%token_begin to %token_end) {tensor = #kvc.tensor<value>}
    : memref<?x?x128xf16, strided<[?, ?, 1]>>, !kvc.cache<#int4>
  return
}

// CHECK-LABEL: func.func @merge
func.func @merge(%pout: memref<?x?x128xf32, strided<[?, 128, 1]>>, %plse: memref<?x?xf32, strided<[?, 1]>>,
    %sinks: memref<?xf32>, %out: memref<?x?x128xf16, strided<[?, ?, 1]>>, %lse: memref<?x?xf32, strided<[?, ?]>>,
    %kv_head: index, %row_begin: index, %row_end: index, %num_splits: index) attributes {kvc.kernel = "merge"} {
  // CHECK: kvc.merge %{{.*}}, %{{.*}} rows(%{{.*}} to %{{.*}}) splits(%{{.*}}) sinks(%{{.*}}) into %{{.*}}, %{{.*}}[%{{.*}}] {spec = #int4_} : memref<?x?x128xf32, strided<[?, 128, 1]>>, memref<?x?xf32, strided<[?, 1]>>, memref<?x?x128xf16, strided<[?, ?, 1]>>, memref<?x?xf32, strided<[?, ?]>>, memref<?xf32>
  kvc.merge %pout, %plse rows(%row_begin to %row_end) splits(%num_splits) sinks(%sinks)
    into %out, %lse[%kv_head] {spec = #int4}
    : memref<?x?x128xf32, strided<[?, 128, 1]>>, memref<?x?xf32, strided<[?, 1]>>,
      memref<?x?x128xf16, strided<[?, ?, 1]>>, memref<?x?xf32, strided<[?, ?]>>, memref<?xf32>
  // CHECK: splits(%{{.*}}) into {{.*}} {spec = #int4_, tile_rows = 4 : i64}
  kvc.merge %pout, %plse rows(%row_begin to %row_end) splits(%num_splits) into %out, %lse[%kv_head] {spec = #int4, tile_rows = 4}
    : memref<?x?x128xf32, strided<[?, 128, 1]>>, memref<?x?xf32, strided<[?, 1]>>,
      memref<?x?x128xf16, strided<[?, ?, 1]>>, memref<?x?xf32, strided<[?, ?]>>
  return
}

// CHECK-LABEL: func.func @unpack
func.func @unpack(%cache: !kvc.cache<#int4>, %codes: memref<?x128xi8>, %scales: memref<?x4xf32>,
    %zeros: memref<?x4xf32>, %x: memref<?x128xf32>, %kv_head: index, %token_begin: index, %token_end: index)
    attributes {kvc.kernel = "unpack"} {
  // CHECK: kvc.unpack %{{.*}}[%{{.*}}] tokens(%{{.*}} to %{{.*}}) into %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {tensor = #kvc.tensor<value>} : !kvc.cache<#int4_>, memref<?x128xi8>, memref<?x4xf32>, memref<?x4xf32>, memref<?x128xf32>
  kvc.unpack %cache[%kv_head] tokens(%token_begin to %token_end) into %codes, %scales, %zeros, %x
    {tensor = #kvc.tensor<value>}
    : !kvc.cache<#int4>, memref<?x128xi8>, memref<?x4xf32>, memref<?x4xf32>, memref<?x128xf32>
  return
}
