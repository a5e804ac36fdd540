// RUN: kvc-opt %s --kvc-expand --split-input-file --verify-diagnostics

// Valid specs that are not lowered yet are refused at the op, by name.

#refused = #kvc.spec<name = "refused",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 2, window = 64}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{parts = [{channels = [0, 32], codec = "f16"}, {channels = [32, 64], codec = "f16"}], rope = {dims = 64, style = "half"}}>,
  value = #kvc.scheme<{codec = "f16"}>>
func.func @refused(%cache: !kvc.cache<#refused>, %q: memref<?x?x64xf16, strided<[?, ?, 1]>>, %out: memref<?x64xf32>, %lse: memref<?xf32>,
    %slopes: memref<?xf32>, %head: index, %queries: index, %length: index, %row: index, %row_end: index, %key: index, %key_end: index) {
  // expected-error @+1 {{'kvc.attend' op not lowered yet: rope across parts}}
  kvc.attend %q, %cache[%head] rows(%row to %row_end of %queries) keys(%key to %key_end of %length) into %out, %lse
      {tile_rows = 4, tile_tokens = 64}
      : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#refused>, memref<?x64xf32>, memref<?xf32>
  return
}

// -----

#refused = #kvc.spec<name = "refused",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 2}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{parts = [{channels = [0, 32], codec = "f16"}, {channels = [32, 64], codec = "f16"}], rope = {dims = 64, style = "half"}}>,
  value = #kvc.scheme<{codec = "f16"}>>
func.func @refused(%x: memref<?x?x64xf16, strided<[?, ?, 1]>>, %cache: !kvc.cache<#refused>, %head: index, %begin: index, %end: index) {
  // expected-error @+1 {{'kvc.append' op not lowered yet: rope across parts}}
  kvc.append %x, %cache[%head] tokens(%begin to %end) {tensor = #kvc.tensor<key>} : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#refused>
  return
}

// -----

#refused = #kvc.spec<name = "refused",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 2}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{parts = [{channels = [0, 32], codec = "f16"}, {channels = [32, 64], codec = "f16"}], rope = {dims = 64, style = "half"}}>,
  value = #kvc.scheme<{codec = "f16"}>>
func.func @refused(%pout: memref<?x?x64xf32, strided<[?, 64, 1]>>, %plse: memref<?x?xf32, strided<[?, 1]>>, %sinks: memref<?xf32>,
    %out: memref<?x?x64xf16, strided<[?, ?, 1]>>, %lse: memref<?x?xf32, strided<[?, ?]>>, %head: index, %row: index, %row_end: index, %splits: index) {
  // expected-error @+1 {{'kvc.merge' op not lowered yet: rope across parts}}
  kvc.merge %pout, %plse rows(%row to %row_end) splits(%splits) into %out, %lse[%head] {spec = #refused}
      : memref<?x?x64xf32, strided<[?, 64, 1]>>, memref<?x?xf32, strided<[?, 1]>>, memref<?x?x64xf16, strided<[?, ?, 1]>>, memref<?x?xf32, strided<[?, ?]>>
  return
}

// -----

#refused = #kvc.spec<name = "refused",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 2}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{parts = [{channels = [0, 32], codec = "f16"}, {channels = [32, 64], codec = "f16"}], rope = {dims = 64, style = "half"}}>,
  value = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}}>>
func.func @refused(%cache: !kvc.cache<#refused>, %codes: memref<?x32xi8>, %scales: memref<?x1xf32>, %zeros: memref<?x1xf32>, %x: memref<?x32xf32>,
    %head: index, %begin: index, %end: index) {
  // expected-error @+1 {{'kvc.unpack' op not lowered yet: rope across parts}}
  kvc.unpack %cache[%head] tokens(%begin to %end) into %codes, %scales, %zeros, %x {tensor = #kvc.tensor<key>}
      : !kvc.cache<#refused>, memref<?x32xi8>, memref<?x1xf32>, memref<?x1xf32>, memref<?x32xf32>
  return
}

// -----

// Nothing has chosen tile sizes yet.

#s = #kvc.spec<name = "s",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 2}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @unscheduled(%cache: !kvc.cache<#s>, %q: memref<?x?x64xf16>, %out: memref<?x64xf32>, %lse: memref<?xf32>, %i: index) {
  // expected-error @+1 {{'kvc.attend' op has no tile sizes: run kvc-schedule first}}
  kvc.attend %q, %cache[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %out, %lse {tile_rows = 4}
      : memref<?x?x64xf16>, !kvc.cache<#s>, memref<?x64xf32>, memref<?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 2}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @unscheduled(%pout: memref<?x?x64xf32>, %plse: memref<?x?xf32>, %out: memref<?x?x64xf16>, %lse: memref<?x?xf32>, %i: index) {
  // expected-error @+1 {{'kvc.merge' op has no tile sizes: run kvc-schedule first}}
  kvc.merge %pout, %plse rows(%i to %i) splits(%i) into %out, %lse[%i] {spec = #s}
      : memref<?x?x64xf32>, memref<?x?xf32>, memref<?x?x64xf16>, memref<?x?xf32>
  return
}
