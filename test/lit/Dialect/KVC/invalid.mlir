// Every numbered constraint of level 0 and of the attributes, violated once.
// RUN: kvc-opt %s --split-input-file --verify-diagnostics

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @attend_c1(%c: !kvc.cache<#s>, %q: memref<?x?x64xf16>, %o: memref<?x128xf32>, %l: memref<?xf32>, %i: index) {
  // expected-error@+1 {{'kvc.attend' op query: expected shape [queries, q_heads = 8, head_dim = 128], got}}
  kvc.attend %q, %c[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %o, %l
    {tile_rows = 4, tile_tokens = 64} : memref<?x?x64xf16>, !kvc.cache<#s>, memref<?x128xf32>, memref<?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @attend_c1_rank(%c: !kvc.cache<#s>, %q: memref<?x128xf16>, %o: memref<?x128xf32>, %l: memref<?xf32>, %i: index) {
  // expected-error@+1 {{'kvc.attend' op query: expected shape [queries, q_heads = 8, head_dim = 128], got}}
  kvc.attend %q, %c[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %o, %l
    {tile_rows = 4, tile_tokens = 64} : memref<?x128xf16>, !kvc.cache<#s>, memref<?x128xf32>, memref<?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @attend_c1_heads(%c: !kvc.cache<#s>, %q: memref<?x4x128xf16>, %o: memref<?x128xf32>, %l: memref<?xf32>, %i: index) {
  // expected-error@+1 {{'kvc.attend' op query: expected shape [queries, q_heads = 8, head_dim = 128], got}}
  kvc.attend %q, %c[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %o, %l
    {tile_rows = 4, tile_tokens = 64} : memref<?x4x128xf16>, !kvc.cache<#s>, memref<?x128xf32>, memref<?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @attend_c1_element(%c: !kvc.cache<#s>, %q: memref<?x?x128xf32>, %o: memref<?x128xf32>, %l: memref<?xf32>, %i: index) {
  // expected-error@+1 {{'kvc.attend' op query: expected elements 'f16', got 'f32'}}
  kvc.attend %q, %c[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %o, %l
    {tile_rows = 4, tile_tokens = 64} : memref<?x?x128xf32>, !kvc.cache<#s>, memref<?x128xf32>, memref<?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @attend_c1_dense(%c: !kvc.cache<#s>, %q: memref<?x?x128xf16, strided<[?, ?, ?]>>, %o: memref<?x128xf32>, %l: memref<?xf32>, %i: index) {
  // expected-error@+1 {{'kvc.attend' op query: expected a dense last dim, got}}
  kvc.attend %q, %c[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %o, %l
    {tile_rows = 4, tile_tokens = 64} : memref<?x?x128xf16, strided<[?, ?, ?]>>, !kvc.cache<#s>, memref<?x128xf32>, memref<?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @attend_c2(%c: !kvc.cache<#s>, %q: memref<?x?x128xf16>, %o: memref<?x?xf32>, %l: memref<?xf32>, %i: index) {
  // expected-error@+1 {{'kvc.attend' op partial_out: expected shape [rows, value_dim = 128], got}}
  kvc.attend %q, %c[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %o, %l
    {tile_rows = 4, tile_tokens = 64} : memref<?x?x128xf16>, !kvc.cache<#s>, memref<?x?xf32>, memref<?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @attend_c3(%c: !kvc.cache<#s>, %q: memref<?x?x128xf16>, %o: memref<?x128xf32>, %l: memref<?xf64>, %i: index) {
  // expected-error@+1 {{'kvc.attend' op partial_lse: expected elements 'f32', got 'f64'}}
  kvc.attend %q, %c[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %o, %l
    {tile_rows = 4, tile_tokens = 64} : memref<?x?x128xf16>, !kvc.cache<#s>, memref<?x128xf32>, memref<?xf64>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8, alibi = true}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @attend_c4(%c: !kvc.cache<#s>, %q: memref<?x?x128xf16>, %o: memref<?x128xf32>, %l: memref<?xf32>, %i: index) {
  // expected-error@+1 {{'kvc.attend' op expected slopes, the spec says alibi}}
  kvc.attend %q, %c[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %o, %l
    {tile_rows = 4, tile_tokens = 64} : memref<?x?x128xf16>, !kvc.cache<#s>, memref<?x128xf32>, memref<?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @attend_c4_shape(%c: !kvc.cache<#s>, %q: memref<?x?x128xf16>, %o: memref<?x128xf32>, %l: memref<?xf32>, %i: index, %s: memref<7xf32>) {
  // expected-error@+1 {{'kvc.attend' op slopes: expected shape [q_heads = 8], got}}
  kvc.attend %q, %c[%i] rows(%i to %i of %i) keys(%i to %i of %i) slopes(%s) into %o, %l
    {tile_rows = 4, tile_tokens = 64} : memref<?x?x128xf16>, !kvc.cache<#s>, memref<?x128xf32>, memref<?xf32>, memref<7xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @attend_c5(%c: !kvc.cache<#s>, %q: memref<?x?x128xf16>, %o: memref<?x128xf32>, %l: memref<?xf32>, %i: index) {
  // expected-error@+1 {{'kvc.attend' op tile_rows: expected a positive number, got 0}}
  kvc.attend %q, %c[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %o, %l
    {tile_rows = 0, tile_tokens = 64} : memref<?x?x128xf16>, !kvc.cache<#s>, memref<?x128xf32>, memref<?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @attend_c6(%c: !kvc.cache<#s>, %q: memref<?x?x128xf16>, %o: memref<?x128xf32>, %l: memref<?xf32>, %i: index) {
  // expected-error@+1 {{'kvc.attend' op tile_tokens: expected a power of two, got 48}}
  kvc.attend %q, %c[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %o, %l
    {tile_rows = 4, tile_tokens = 48} : memref<?x?x128xf16>, !kvc.cache<#s>, memref<?x128xf32>, memref<?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @attend_c6_negative(%c: !kvc.cache<#s>, %q: memref<?x?x128xf16>, %o: memref<?x128xf32>, %l: memref<?xf32>, %i: index) {
  // expected-error@+1 {{'kvc.attend' op tile_tokens: expected a power of two, got -64}}
  kvc.attend %q, %c[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %o, %l
    {tile_rows = 4, tile_tokens = -64} : memref<?x?x128xf16>, !kvc.cache<#s>, memref<?x128xf32>, memref<?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @append_c1(%c: !kvc.cache<#s>, %x: memref<?x3x128xf16>, %i: index) {
  // expected-error@+1 {{'kvc.append' op input: expected shape [tokens, kv_heads = 2, channels = 128], got}}
  kvc.append %x, %c[%i] tokens(%i to %i) {tensor = #kvc.tensor<key>} : memref<?x3x128xf16>, !kvc.cache<#s>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @append_c1_element(%c: !kvc.cache<#s>, %x: memref<?x?x128xbf16>, %i: index) {
  // expected-error@+1 {{'kvc.append' op input: expected elements 'f16', got 'bf16'}}
  kvc.append %x, %c[%i] tokens(%i to %i) {tensor = #kvc.tensor<key>} : memref<?x?x128xbf16>, !kvc.cache<#s>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8, value_is_key = [0, 64]}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @append_c2(%c: !kvc.cache<#s>, %x: memref<?x?x128xf16>, %i: index) {
  // expected-error@+1 {{'kvc.append' op tensor: the spec has no value, its value is the key}}
  kvc.append %x, %c[%i] tokens(%i to %i) {tensor = #kvc.tensor<value>} : memref<?x?x128xf16>, !kvc.cache<#s>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @merge_c1(%po: memref<?x?x64xf32>, %pl: memref<?x?xf32>, %o: memref<?x?x128xf16>, %l: memref<?x?xf32>, %i: index) {
  // expected-error@+1 {{'kvc.merge' op partial_out: expected shape [splits, rows, value_dim = 128], got}}
  kvc.merge %po, %pl rows(%i to %i) splits(%i) into %o, %l[%i] {spec = #s}
    : memref<?x?x64xf32>, memref<?x?xf32>, memref<?x?x128xf16>, memref<?x?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @merge_c2(%po: memref<?x?x128xf32>, %pl: memref<?xf32>, %o: memref<?x?x128xf16>, %l: memref<?x?xf32>, %i: index) {
  // expected-error@+1 {{'kvc.merge' op partial_lse: expected shape [splits, rows], got}}
  kvc.merge %po, %pl rows(%i to %i) splits(%i) into %o, %l[%i] {spec = #s}
    : memref<?x?x128xf32>, memref<?xf32>, memref<?x?x128xf16>, memref<?x?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8, sink_logits = true}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @merge_c3(%po: memref<?x?x128xf32>, %pl: memref<?x?xf32>, %o: memref<?x?x128xf16>, %l: memref<?x?xf32>, %i: index) {
  // expected-error@+1 {{'kvc.merge' op expected sinks, the spec says sink_logits}}
  kvc.merge %po, %pl rows(%i to %i) splits(%i) into %o, %l[%i] {spec = #s}
    : memref<?x?x128xf32>, memref<?x?xf32>, memref<?x?x128xf16>, memref<?x?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @merge_c3_element(%po: memref<?x?x128xf32>, %pl: memref<?x?xf32>, %o: memref<?x?x128xf16>, %l: memref<?x?xf32>, %i: index, %s: memref<?xf16>) {
  // expected-error@+1 {{'kvc.merge' op sinks: expected elements 'f32', got 'f16'}}
  kvc.merge %po, %pl rows(%i to %i) splits(%i) sinks(%s) into %o, %l[%i] {spec = #s}
    : memref<?x?x128xf32>, memref<?x?xf32>, memref<?x?x128xf16>, memref<?x?xf32>, memref<?xf16>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @merge_c4(%po: memref<?x?x128xf32>, %pl: memref<?x?xf32>, %o: memref<?x?x128xf32>, %l: memref<?x?xf32>, %i: index) {
  // expected-error@+1 {{'kvc.merge' op out: expected elements 'f16', got 'f32'}}
  kvc.merge %po, %pl rows(%i to %i) splits(%i) into %o, %l[%i] {spec = #s}
    : memref<?x?x128xf32>, memref<?x?xf32>, memref<?x?x128xf32>, memref<?x?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @merge_c4_shape(%po: memref<?x?x128xf32>, %pl: memref<?x?xf32>, %o: memref<?x9x128xf16>, %l: memref<?x?xf32>, %i: index) {
  // expected-error@+1 {{'kvc.merge' op out: expected shape [queries, q_heads = 8, value_dim = 128], got}}
  kvc.merge %po, %pl rows(%i to %i) splits(%i) into %o, %l[%i] {spec = #s}
    : memref<?x?x128xf32>, memref<?x?xf32>, memref<?x9x128xf16>, memref<?x?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @merge_c5(%po: memref<?x?x128xf32>, %pl: memref<?x?xf32>, %o: memref<?x?x128xf16>, %l: memref<?x?x1xf32>, %i: index) {
  // expected-error@+1 {{'kvc.merge' op lse: expected shape [queries, q_heads = 8], got}}
  kvc.merge %po, %pl rows(%i to %i) splits(%i) into %o, %l[%i] {spec = #s}
    : memref<?x?x128xf32>, memref<?x?xf32>, memref<?x?x128xf16>, memref<?x?x1xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @merge_c6(%po: memref<?x?x128xf32>, %pl: memref<?x?xf32>, %o: memref<?x?x128xf16>, %l: memref<?x?xf32>, %i: index) {
  // expected-error@+1 {{'kvc.merge' op tile_rows: expected a positive number, got -4}}
  kvc.merge %po, %pl rows(%i to %i) splits(%i) into %o, %l[%i] {spec = #s, tile_rows = -4}
    : memref<?x?x128xf32>, memref<?x?xf32>, memref<?x?x128xf16>, memref<?x?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8, value_is_key = [0, 64]}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @unpack_c1(%c: !kvc.cache<#s>, %u: memref<?x128xi8>, %s: memref<?x1xf32>, %z: memref<?x1xf32>, %x: memref<?x128xf32>, %i: index) {
  // expected-error@+1 {{'kvc.unpack' op tensor: the spec has no value, its value is the key}}
  kvc.unpack %c[%i] tokens(%i to %i) into %u, %s, %z, %x {tensor = #kvc.tensor<value>}
    : !kvc.cache<#s>, memref<?x128xi8>, memref<?x1xf32>, memref<?x1xf32>, memref<?x128xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @unpack_c1_part(%c: !kvc.cache<#s>, %u: memref<?x128xi8>, %s: memref<?x1xf32>, %z: memref<?x1xf32>, %x: memref<?x128xf32>, %i: index) {
  // expected-error@+1 {{'kvc.unpack' op part: expected 0, got 1}}
  kvc.unpack %c[%i] tokens(%i to %i) into %u, %s, %z, %x {tensor = #kvc.tensor<key>, part = 1 : i64}
    : !kvc.cache<#s>, memref<?x128xi8>, memref<?x1xf32>, memref<?x1xf32>, memref<?x128xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @unpack_c2(%c: !kvc.cache<#s>, %u: memref<?x128xi16>, %s: memref<?x1xf32>, %z: memref<?x1xf32>, %x: memref<?x128xf32>, %i: index) {
  // expected-error@+1 {{'kvc.unpack' op codes: expected elements 'i8', got 'i16'}}
  kvc.unpack %c[%i] tokens(%i to %i) into %u, %s, %z, %x {tensor = #kvc.tensor<key>}
    : !kvc.cache<#s>, memref<?x128xi16>, memref<?x1xf32>, memref<?x1xf32>, memref<?x128xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = 32, dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = 32, dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @unpack_c3(%c: !kvc.cache<#s>, %u: memref<?x128xi8>, %s: memref<?x1xf32>, %z: memref<?x1xf32>, %x: memref<?x128xf32>, %i: index) {
  // expected-error@+1 {{'kvc.unpack' op scales: expected shape [tokens, blocks = 4], got}}
  kvc.unpack %c[%i] tokens(%i to %i) into %u, %s, %z, %x {tensor = #kvc.tensor<key>}
    : !kvc.cache<#s>, memref<?x128xi8>, memref<?x1xf32>, memref<?x1xf32>, memref<?x128xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @unpack_c3_zeros(%c: !kvc.cache<#s>, %u: memref<?x128xi8>, %s: memref<?x1xf32>, %z: memref<?xf32>, %x: memref<?x128xf32>, %i: index) {
  // expected-error@+1 {{'kvc.unpack' op zeros: expected shape [tokens, blocks = 1], got}}
  kvc.unpack %c[%i] tokens(%i to %i) into %u, %s, %z, %x {tensor = #kvc.tensor<key>}
    : !kvc.cache<#s>, memref<?x128xi8>, memref<?x1xf32>, memref<?xf32>, memref<?x128xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @unpack_c4(%c: !kvc.cache<#s>, %u: memref<?x128xi8>, %s: memref<?x1xf32>, %z: memref<?x1xf32>, %x: memref<?x127xf32>, %i: index) {
  // expected-error@+1 {{'kvc.unpack' op x: expected shape [tokens, channels = 128], got}}
  kvc.unpack %c[%i] tokens(%i to %i) into %u, %s, %z, %x {tensor = #kvc.tensor<key>}
    : !kvc.cache<#s>, memref<?x128xi8>, memref<?x1xf32>, memref<?x1xf32>, memref<?x127xf32>
  return
}

// -----

// expected-error@+1 {{'kvc.kernel': expected one of "decode", "prefill", "append", "merge", "unpack", got "decod"}}
func.func private @kernel_kind() attributes {kvc.kernel = "decod"}

// -----

// expected-error@+1 {{'kvc.kernel': expected one of "decode", "prefill", "append", "merge", "unpack", got 1}}
func.func private @kernel_kind_type() attributes {kvc.kernel = 1 : i64}

// -----

// expected-error@+1 {{carries 'kvc.kernel', expected on functions only}}
module attributes {kvc.kernel = "decode"} {}

// -----

// expected-error@+1 {{carries 'kvc.tile_rows', expected on functions only}}
module attributes {kvc.tile_rows = 4 : i64} {}

// -----

// expected-error@+1 {{'kvc.tile_rows': expected a positive i64, got 4 : i32}}
func.func private @tile_rows_type() attributes {kvc.tile_rows = 4 : i32}

// -----

// expected-error@+1 {{'kvc.tile_tokens': expected a positive i64, got "64"}}
func.func private @tile_tokens_type() attributes {kvc.tile_tokens = "64"}

// -----

// expected-error@+1 {{'kvc.split_tokens': expected a positive i64, got 0 : i64}}
func.func private @split_tokens_zero() attributes {kvc.split_tokens = 0 : i64}

// -----

// expected-error@+1 {{dim t is named twice}}
func.func private @dims_c1(tensor<4x64xf32, #kvc.dims<t, t>>)

// -----

// expected-error@+1 {{expected valid keyword}}
func.func private @dims_c1_empty(tensor<4xf32, #kvc.dims<>>)

// -----

// expected-error@+1 {{expected as many dims as #kvc.dims names (1), got 2}}
func.func private @dims_c2(tensor<4x64xf32, #kvc.dims<t>>)

// -----

// expected-error@+1 {{expected a static positive extent of dim t}}
func.func private @dims_c3(tensor<?xf32, #kvc.dims<t>>)

// -----

// expected-error@+1 {{expected a static positive extent of dim t}}
func.func private @dims_c3_empty(tensor<0xf32, #kvc.dims<t>>)

// -----

// expected-error@+1 {{$.a: expected an i64, a finite f64, a string, a bool, an array or a dictionary, got 1 : i32}}
func.func private @attention_c1() attributes {test.a = #kvc.attention<{a = 1 : i32}>}

// -----

// expected-error@+1 {{$.a[1]: expected an i64, a finite f64, a string, a bool, an array or a dictionary, got unit}}
func.func private @io_c1() attributes {test.a = #kvc.io<{a = [1, unit]}>}

// -----

// expected-error@+1 {{$.a.b: expected an i64, a finite f64, a string, a bool, an array or a dictionary, got 1.000000e+00 : f32}}
func.func private @scheme_c1() attributes {test.a = #kvc.scheme<{a = {b = 1.0 : f32}}>}

// -----

// expected-error@+1 {{$.a: expected an i64, a finite f64, a string, a bool, an array or a dictionary, got 0x7FF0000000000000 : f64}}
func.func private @segments_c1() attributes {test.a = #kvc.segments<{a = 0x7FF0000000000000 : f64}>}

// -----

// expected-error@+1 {{$.a: expected an i64, a finite f64, a string, a bool, an array or a dictionary, got f32}}
func.func private @layout_c1() attributes {test.a = #kvc.layout<{a = f32}>}

// -----

// expected-error@+1 {{expected key or value, got keys}}
func.func private @tensor() attributes {test.a = #kvc.tensor<keys>}

// -----

// The parser of specs speaks: an unknown key, a missing one, a number of the wrong
// kind, and a contradiction between sections.
// expected-error@+1 {{invalid spec: $.key.scale.}}
#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 1, q_heads = 1}>,
  io = #kvc.io<{query = "f16"}>, value = #kvc.scheme<{codec = "f16"}>,
  key = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtipe = "f16", tokens = 1}}>>
kvc.attention_spec @spec_c1 #s

// -----

// expected-error@+1 {{invalid spec: $.attention}}
#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 1}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
kvc.attention_spec @spec_c1_missing #s

// -----

// expected-error@+1 {{invalid spec: $.attention.q_heads}}
#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 1, q_heads = 4.0}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
kvc.attention_spec @spec_c1_float #s

// -----

// expected-error@+1 {{invalid spec: $.value}}
#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 1, q_heads = 1, value_is_key = "all"}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
kvc.attention_spec @spec_c1_value #s

// -----

// expected-error@+2 {{missing required parameter: key}}
#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 1, q_heads = 1}>,
  io = #kvc.io<{query = "f16"}>>
kvc.attention_spec @spec_section #s
