// RUN: kvc-opt %s --split-input-file --verify-diagnostics

// One case for each constraint of the ops in KVCSegmentOps.td.

#plain = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @raw_rows_c1(%c: !kvc.cache<#plain>) {
  // expected-error@+1 {{'kvc.raw_rows' op the spec has no segments}}
  %0 = kvc.raw_rows %c : !kvc.cache<#plain> to !kvc.cache<#plain>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>,
  segments = #kvc.segments<{sink = 4}>>
func.func @raw_rows_c1_type(%c: !kvc.cache<#s>) {
  // expected-error@+1 {{'kvc.raw_rows' op expected a result of type}}
  %0 = kvc.raw_rows %c : !kvc.cache<#s> to !kvc.cache<#s>
  return
}

// -----

#plain = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @coded_end_c1(%c: !kvc.cache<#plain>) {
  // expected-error@+1 {{'kvc.coded_end' op the spec has no segments}}
  %0 = kvc.coded_end %c {tensor = #kvc.tensor<key>} : !kvc.cache<#plain>
  return
}

// -----

#shared = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 8, value_is_key = [0, 64]}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, segments = #kvc.segments<{sink = 4}>>
func.func @coded_end_c1_value(%c: !kvc.cache<#shared>) {
  // expected-error@+1 {{'kvc.coded_end' op tensor: the spec has no value, its value is the key}}
  %0 = kvc.coded_end %c {tensor = #kvc.tensor<value>} : !kvc.cache<#shared>
  return
}

// -----

#raw = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @load_given_c1(%c: !kvc.cache<#raw>, %m: memref<?x?x16xi8, strided<[?, ?, 1]>>, %i: index) {
  // expected-error@+1 {{'kvc.load_given' op memref: expected elements 'f16' or 'bf16' or 'f32', got 'i8'}}
  %0 = kvc.load_given %c[%i, %i] count %i else %m[%i] {tensor = #kvc.tensor<key>}
    : !kvc.cache<#raw>, memref<?x?x16xi8, strided<[?, ?, 1]>> to tensor<4x16xf32, #kvc.dims<t, c>>
  return
}

// -----

#raw = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @load_given_c2(%c: !kvc.cache<#raw>, %m: memref<?x?x16xf16, strided<[?, ?, 1]>>, %i: index) {
  // expected-error@+1 {{'kvc.load_given' op expected channels inside [0, 16), got 16 from 8}}
  %0 = kvc.load_given %c[%i, %i] count %i else %m[%i] {tensor = #kvc.tensor<key>, channel = 8 : i64}
    : !kvc.cache<#raw>, memref<?x?x16xf16, strided<[?, ?, 1]>> to tensor<4x16xf32, #kvc.dims<t, c>>
  return
}

// -----

#raw = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @load_given_c2_rank(%c: !kvc.cache<#raw>, %m: memref<?x?x16xf16, strided<[?, ?, 1]>>, %i: index) {
  // expected-error@+1 {{'kvc.load_given' op expected a tile with 2 or 3 dims, got}}
  %0 = kvc.load_given %c[%i, %i] count %i else %m[%i] {tensor = #kvc.tensor<key>}
    : !kvc.cache<#raw>, memref<?x?x16xf16, strided<[?, ?, 1]>> to tensor<16xf32, #kvc.dims<c>>
  return
}

// -----

#coded = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}}>,
  value = #kvc.scheme<{codec = "f16"}>>
func.func @load_given_c3(%c: !kvc.cache<#coded>, %m: memref<?x?x16xf16, strided<[?, ?, 1]>>, %i: index) {
  // expected-error@+1 {{'kvc.load_given' op raw: expected raw rows of the key}}
  %0 = kvc.load_given %c[%i, %i] count %i else %m[%i] {tensor = #kvc.tensor<key>}
    : !kvc.cache<#coded>, memref<?x?x16xf16, strided<[?, ?, 1]>> to tensor<4x16xf32, #kvc.dims<t, c>>
  return
}

// -----

#raw = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f32"}>, key = #kvc.scheme<{codec = "f32"}>, value = #kvc.scheme<{codec = "f32"}>>
func.func @load_given_c3_element(%c: !kvc.cache<#raw>, %m: memref<?x?x16xf16, strided<[?, ?, 1]>>, %i: index) {
  // expected-error@+1 {{'kvc.load_given' op raw: expected rows of 16 x 'f16', got 16 x 'f32'}}
  %0 = kvc.load_given %c[%i, %i] count %i else %m[%i] {tensor = #kvc.tensor<key>}
    : !kvc.cache<#raw>, memref<?x?x16xf16, strided<[?, ?, 1]>> to tensor<4x16xf32, #kvc.dims<t, c>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>,
  segments = #kvc.segments<{sink = 4}>>
func.func @append_c3(%x: memref<?x?x16xf16, strided<[?, ?, 1]>>, %c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.append' op expected a coded end, the spec has segments}}
  kvc.append %x, %c[%i] tokens(%i to %i) {tensor = #kvc.tensor<key>} : memref<?x?x16xf16, strided<[?, ?, 1]>>, !kvc.cache<#s>
  return
}
