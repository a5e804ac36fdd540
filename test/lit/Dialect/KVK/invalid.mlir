// Every numbered constraint of ops on caches, violated once.
// RUN: kvc-opt %s --split-input-file --verify-diagnostics

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 8, value_is_key = [0, 64]}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @load_c1(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load' op tensor: the spec has no value, its value is the key}}
  %0 = kvk.load %c[%i, %i] valid %i channels %i {tensor = #kvc.tensor<value>, page = 16,
    storage = #kvk.storage<width = 4, addr = [c0, c1, c2, c3, t0, t1, t2, t3]>}
    : !kvc.cache<#s> to !kvk.tile<16x16xi4, #kvc.dims<t, c>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @load_c1_part(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load' op part: expected 0, got 1}}
  %0 = kvk.load %c[%i, %i] valid %i channels %i {tensor = #kvc.tensor<key>, page = 16, part = 1 : i64,
    storage = #kvk.storage<width = 4, addr = [c0, c1, c2, c3, t0, t1, t2, t3]>}
    : !kvc.cache<#s> to !kvk.tile<16x16xi4, #kvc.dims<t, c>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @load_c2(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load' op expected a tile with the dims t and c, or t and d, got}}
  %0 = kvk.load %c[%i, %i] valid %i channels %i {tensor = #kvc.tensor<key>, page = 16,
    storage = #kvk.storage<width = 4, addr = [c0, c1, c2, c3, t0, t1, t2, t3]>}
    : !kvc.cache<#s> to !kvk.tile<16x16xi4, #kvc.dims<r, c>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @load_c2_channels(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load' op expected at most the part's 16 channels, got 32}}
  %0 = kvk.load %c[%i, %i] valid %i channels %i {tensor = #kvc.tensor<key>, page = 16,
    storage = #kvk.storage<width = 4, addr = [c0, c1, c2, c3, t0, t1, t2, t3]>}
    : !kvc.cache<#s> to !kvk.tile<16x32xi4, #kvc.dims<t, c>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @load_c3(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load' op expected elements 'i4' for codec int4, got 'i8'}}
  %0 = kvk.load %c[%i, %i] valid %i channels %i {tensor = #kvc.tensor<key>, page = 16,
    storage = #kvk.storage<width = 4, addr = [c0, c1, c2, c3, t0, t1, t2, t3]>}
    : !kvc.cache<#s> to !kvk.tile<16x16xi8, #kvc.dims<t, c>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @load_c4_page_missing(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load' op storage: expected it together with page, got one of them}}
  %0 = kvk.load %c[%i, %i] valid %i channels %i {tensor = #kvc.tensor<key>, storage = #kvk.storage<width = 8, addr = [c0, c1, c2, c3, t0, t1, t2, t3]>}
    : !kvc.cache<#s> to !kvk.tile<16x16xi4, #kvc.dims<t, c>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @load_c4(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load' op storage: expected width 4, got 8}}
  %0 = kvk.load %c[%i, %i] valid %i channels %i {tensor = #kvc.tensor<key>, page = 16,
    storage = #kvk.storage<width = 8, addr = [c0, c1, c2, c3, t0, t1, t2, t3]>}
    : !kvc.cache<#s> to !kvk.tile<16x16xi4, #kvc.dims<t, c>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @load_c4_page(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load' op storage: expected the digits of 64 tokens, got those of 16}}
  %0 = kvk.load %c[%i, %i] valid %i channels %i {tensor = #kvc.tensor<key>, page = 64,
    storage = #kvk.storage<width = 4, addr = [c0, c1, c2, c3, t0, t1, t2, t3]>}
    : !kvc.cache<#s> to !kvk.tile<16x16xi4, #kvc.dims<t, c>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @load_c4_channels(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load' op storage: expected the digits of 16 channels, got those of 8}}
  %0 = kvk.load %c[%i, %i] valid %i channels %i {tensor = #kvc.tensor<key>, page = 16,
    storage = #kvk.storage<width = 4, addr = [c0, c1, c2, t0, t1, t2, t3]>}
    : !kvc.cache<#s> to !kvk.tile<16x16xi4, #kvc.dims<t, c>>
  return
}

// -----

func.func @quantize_rows_c1(%r: memref<4x8xf16>, %w: memref<4x8xi16>, %s: memref<4xf32>) {
  // expected-error@+1 {{'kvk.quantize_rows' op rows: expected elements 'f32', got 'f16'}}
  kvk.quantize_rows %r into %w, %s : memref<4x8xf16> into memref<4x8xi16>, memref<4xf32>
  return
}

// -----

func.func @quantize_rows_c1_empty(%r: memref<4x0xf32>, %w: memref<4x8xi16>, %s: memref<4xf32>) {
  // expected-error@+1 {{'kvk.quantize_rows' op rows: expected shape [R, K], got}}
  kvk.quantize_rows %r into %w, %s : memref<4x0xf32> into memref<4x8xi16>, memref<4xf32>
  return
}

// -----

func.func @quantize_rows_c2(%r: memref<1x16777216xf32>, %w: memref<1x16777216xi16>, %s: memref<1xf32>) {
  // expected-error@+1 {{'kvk.quantize_rows' op rows: expected at most 16777215 weights of a row, got 16777216}}
  kvk.quantize_rows %r into %w, %s : memref<1x16777216xf32> into memref<1x16777216xi16>, memref<1xf32>
  return
}

// -----

func.func @quantize_rows_c1_weights(%r: memref<4x8xf32>, %w: memref<4x7xi16>, %s: memref<4xf32>) {
  // expected-error@+1 {{'kvk.quantize_rows' op weights: expected shape [R = 4, K = 8], got}}
  kvk.quantize_rows %r into %w, %s : memref<4x8xf32> into memref<4x7xi16>, memref<4xf32>
  return
}

// -----

func.func @quantize_rows_c1_scale(%r: memref<4x8xf32>, %w: memref<4x8xi16>, %s: memref<?xf32>) {
  // expected-error@+1 {{'kvk.quantize_rows' op scale: expected shape [R = 4], got}}
  kvk.quantize_rows %r into %w, %s : memref<4x8xf32> into memref<4x8xi16>, memref<?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @load_row_c5(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load_row' op high: expected it only where bits of codes lie apart, codec int4 has none}}
  %0 = kvk.load_row %c[%i, %i] channels %i {high, tensor = #kvc.tensor<key>} : !kvc.cache<#s> to vector<16xi8>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @store_row_c5(%c: !kvc.cache<#s>, %i: index, %x: vector<16xi8>) {
  // expected-error@+1 {{'kvk.store_row' op high: expected it only where bits of codes lie apart, codec int4 has none}}
  kvk.store_row %x, %c[%i, %i] channels %i {high, tensor = #kvc.tensor<key>} : vector<16xi8>, !kvc.cache<#s>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @load_row_c1(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load_row' op part: expected 0, got 1}}
  %0 = kvk.load_row %c[%i, %i] channels %i {tensor = #kvc.tensor<key>, page = 16, part = 1 : i64,
    storage = #kvk.storage<width = 4, addr = [c0, c1, c2, c3, t0, t1, t2, t3]>}
    : !kvc.cache<#s> to vector<16xi8>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @load_row_c2(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load_row' op expected at most the part's 16 channels, got 17}}
  %0 = kvk.load_row %c[%i, %i] channels %i {tensor = #kvc.tensor<key>, page = 16,
    storage = #kvk.storage<width = 4, addr = [c0, c1, c2, c3, t0, t1, t2, t3]>}
    : !kvc.cache<#s> to vector<17xi8>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>,
  value = #kvc.scheme<{codec = "f16"}>>
func.func @load_row_c3(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load_row' op expected elements 'f16' for codec f16, got 'i8'}}
  %0 = kvk.load_row %c[%i, %i] channels %i {tensor = #kvc.tensor<key>, page = 16,
    storage = #kvk.storage<width = 4, addr = [c0, c1, c2, c3, t0, t1, t2, t3]>}
    : !kvc.cache<#s> to vector<16xi8>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @load_row_c4_page_missing(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load_row' op storage: expected it together with page, got one of them}}
  %0 = kvk.load_row %c[%i, %i] channels %i {tensor = #kvc.tensor<key>, storage = #kvk.storage<width = 4, addr = [c0, c1, c2, c3, t0, t1, t2, t3]>}
    : !kvc.cache<#s> to vector<16xi8>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @load_row_c4(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load_row' op storage: expected the digits of 32 tokens, got those of 16}}
  %0 = kvk.load_row %c[%i, %i] channels %i {tensor = #kvc.tensor<key>, page = 32,
    storage = #kvk.storage<width = 4, addr = [c0, c1, c2, c3, t0, t1, t2, t3]>}
    : !kvc.cache<#s> to vector<16xi8>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @store_row_c1(%c: !kvc.cache<#s>, %i: index, %v: vector<16xi8>) {
  // expected-error@+1 {{'kvk.store_row' op part: expected 0, got 1}}
  kvk.store_row %v, %c[%i, %i] channels %i {tensor = #kvc.tensor<key>, page = 16, part = 1 : i64,
    storage = #kvk.storage<width = 4, addr = [c0, c1, c2, c3, t0, t1, t2, t3]>}
    : vector<16xi8>, !kvc.cache<#s>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @store_row_c2(%c: !kvc.cache<#s>, %i: index, %v: vector<17xi8>) {
  // expected-error@+1 {{'kvk.store_row' op expected at most the part's 16 channels, got 17}}
  kvk.store_row %v, %c[%i, %i] channels %i {tensor = #kvc.tensor<key>, page = 16,
    storage = #kvk.storage<width = 4, addr = [c0, c1, c2, c3, t0, t1, t2, t3]>}
    : vector<17xi8>, !kvc.cache<#s>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>,
  value = #kvc.scheme<{codec = "f16"}>>
func.func @store_row_c3(%c: !kvc.cache<#s>, %i: index, %v: vector<16xi8>) {
  // expected-error@+1 {{'kvk.store_row' op expected elements 'f16' for codec f16, got 'i8'}}
  kvk.store_row %v, %c[%i, %i] channels %i {tensor = #kvc.tensor<key>, page = 16,
    storage = #kvk.storage<width = 4, addr = [c0, c1, c2, c3, t0, t1, t2, t3]>}
    : vector<16xi8>, !kvc.cache<#s>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @store_row_c4_page_missing(%c: !kvc.cache<#s>, %i: index, %v: vector<16xi8>) {
  // expected-error@+1 {{'kvk.store_row' op storage: expected it together with page, got one of them}}
  kvk.store_row %v, %c[%i, %i] channels %i {tensor = #kvc.tensor<key>, storage = #kvk.storage<width = 4, addr = [c0, c1, c2, c3, t0, t1, t2, t3]>}
    : vector<16xi8>, !kvc.cache<#s>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @store_row_c4(%c: !kvc.cache<#s>, %i: index, %v: vector<16xi8>) {
  // expected-error@+1 {{'kvk.store_row' op storage: expected the digits of 32 tokens, got those of 16}}
  kvk.store_row %v, %c[%i, %i] channels %i {tensor = #kvc.tensor<key>, page = 32,
    storage = #kvk.storage<width = 4, addr = [c0, c1, c2, c3, t0, t1, t2, t3]>}
    : vector<16xi8>, !kvc.cache<#s>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 8, value_is_key = [0, 64]}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @load_meta_c1(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load_meta' op tensor: the spec has no value, its value is the key}}
  %0 = kvk.load_meta %c[%i, %i] block %i {tensor = #kvc.tensor<value>, kind = #kvk.meta<scale>, page = 16,
    storage = #kvk.storage<width = 16, addr = [t0, t1, t2, t3]>} : !kvc.cache<#s> to f32
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}}>,
  value = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}}>>
func.func @load_meta_c2(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load_meta' op kind: the part has no zero}}
  %0 = kvk.load_meta %c[%i, %i] block %i {tensor = #kvc.tensor<key>, kind = #kvk.meta<zero>, page = 16,
    storage = #kvk.storage<width = 16, addr = [t0, t1, t2, t3]>} : !kvc.cache<#s> to f32
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>,
  value = #kvc.scheme<{codec = "f16"}>>
func.func @load_meta_c2_raw(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load_meta' op kind: the part has no scale}}
  %0 = kvk.load_meta %c[%i, %i] block %i {tensor = #kvc.tensor<key>, kind = #kvk.meta<scale>, page = 16,
    storage = #kvk.storage<width = 16, addr = [t0, t1, t2, t3]>} : !kvc.cache<#s> to f32
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @load_meta_c3(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load_meta' op expected valid with a vector result, got}}
  %0 = kvk.load_meta %c[%i, %i] block %i {tensor = #kvc.tensor<key>, kind = #kvk.meta<scale>, page = 16,
    storage = #kvk.storage<width = 16, addr = [t0, t1, t2, t3]>} : !kvc.cache<#s> to vector<16xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @load_meta_c3_scalar(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load_meta' op expected a vector result with valid, got}}
  %0 = kvk.load_meta %c[%i, %i] block %i valid %i {tensor = #kvc.tensor<key>, kind = #kvk.meta<scale>, page = 16,
    storage = #kvk.storage<width = 16, addr = [t0, t1, t2, t3]>} : !kvc.cache<#s> to f32
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @load_meta_c4_page_missing(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load_meta' op storage: expected it together with page, got one of them}}
  %0 = kvk.load_meta %c[%i, %i] block %i {tensor = #kvc.tensor<key>, kind = #kvk.meta<scale>, storage = #kvk.storage<width = 32, addr = [t0, t1, t2, t3]>} : !kvc.cache<#s> to f32
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @load_meta_c4(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load_meta' op storage: expected width 16, got 32}}
  %0 = kvk.load_meta %c[%i, %i] block %i {tensor = #kvc.tensor<key>, kind = #kvk.meta<scale>, page = 16,
    storage = #kvk.storage<width = 32, addr = [t0, t1, t2, t3]>} : !kvc.cache<#s> to f32
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @load_meta_c4_blocks(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load_meta' op storage: expected the digits of 1 blocks, got those of 2}}
  %0 = kvk.load_meta %c[%i, %i] block %i {tensor = #kvc.tensor<key>, kind = #kvk.meta<scale>, page = 16,
    storage = #kvk.storage<width = 16, addr = [t0, t1, t2, t3, b0]>} : !kvc.cache<#s> to f32
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @store_meta_c1(%x: f32, %c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.store_meta' op part: expected 0, got 3}}
  kvk.store_meta %x, %c[%i, %i] block %i {tensor = #kvc.tensor<key>, kind = #kvk.meta<scale>, page = 16, part = 3 : i64,
    storage = #kvk.storage<width = 16, addr = [t0, t1, t2, t3]>} : f32, !kvc.cache<#s>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}}>,
  value = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}}>>
func.func @store_meta_c2(%x: f32, %c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.store_meta' op kind: the part has no zero}}
  kvk.store_meta %x, %c[%i, %i] block %i {tensor = #kvc.tensor<key>, kind = #kvk.meta<zero>, page = 16,
    storage = #kvk.storage<width = 16, addr = [t0, t1, t2, t3]>} : f32, !kvc.cache<#s>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @store_meta_c3_page_missing(%x: f32, %c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.store_meta' op storage: expected it together with page, got one of them}}
  kvk.store_meta %x, %c[%i, %i] block %i {tensor = #kvc.tensor<key>, kind = #kvk.meta<scale>, storage = #kvk.storage<width = 16, addr = [t0, t1, t2, t3]>} : f32, !kvc.cache<#s>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @store_meta_c3(%x: f32, %c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.store_meta' op storage: expected the digits of 64 tokens, got those of 16}}
  kvk.store_meta %x, %c[%i, %i] block %i {tensor = #kvc.tensor<key>, kind = #kvk.meta<scale>, page = 64,
    storage = #kvk.storage<width = 16, addr = [t0, t1, t2, t3]>} : f32, !kvc.cache<#s>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "lut", table = {bits = 2}, scale = {channels = 8, dtype = "f16", static = true, tokens = "all"}}>,
  value = #kvc.scheme<{codec = "f16", smooth = true}>>
func.func @load_meta_c2_static(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load_meta' op kind: the part has no scale}}
  %0 = kvk.load_meta %c[%i, %i] block %i {tensor = #kvc.tensor<key>, kind = #kvk.meta<scale>} : !kvc.cache<#s> to f32
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "lut", table = {bits = 2}, scale = {channels = 8, dtype = "f16", static = true, tokens = "all"}}>,
  value = #kvc.scheme<{codec = "f16", smooth = true}>>
func.func @load_scheme_c1_part(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load_scheme' op part: expected 0, got 1}}
  %0 = kvk.load_scheme %c[%i] {tensor = #kvc.tensor<key>, part = 1, field = "scale"} : !kvc.cache<#s> to vector<16xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "lut", table = {bits = 2}, scale = {channels = 8, dtype = "f16", static = true, tokens = "all"}}>,
  value = #kvc.scheme<{codec = "f16", smooth = true}>>
func.func @load_scheme_c2(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load_scheme' op field: the part takes no input with "scale"}}
  %0 = kvk.load_scheme %c[%i] {tensor = #kvc.tensor<value>, field = "scale"} : !kvc.cache<#s> to vector<16xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "lut", table = {bits = 2}, scale = {channels = 8, dtype = "f16", static = true, tokens = "all"}}>,
  value = #kvc.scheme<{codec = "f16", smooth = true}>>
func.func @load_scheme_c2_smooth(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load_scheme' op field: the part takes no input with "smooth"}}
  %0 = kvk.load_scheme %c[%i] {tensor = #kvc.tensor<key>, field = "smooth"} : !kvc.cache<#s> to vector<16xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "lut", table = {bits = 2}, scale = {channels = 8, dtype = "f16", static = true, tokens = "all"}}>,
  value = #kvc.scheme<{codec = "f16", smooth = true}>>
func.func @load_scheme_c2_table(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load_scheme' op field: the part takes no input with "codes"}}
  %0 = kvk.load_scheme %c[%i] {tensor = #kvc.tensor<value>, field = "codes"} : !kvc.cache<#s> to vector<4xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "lut", table = {bits = 2}, scale = {channels = 8, dtype = "f16", static = true, tokens = "all"}}>,
  value = #kvc.scheme<{codec = "f16", smooth = true}>>
func.func @load_scheme_c3(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load_scheme' op expected a multiple of 2 elements, got 9}}
  %0 = kvk.load_scheme %c[%i] {tensor = #kvc.tensor<key>, field = "scale"} : !kvc.cache<#s> to vector<9xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "lut", table = {bits = 2}, scale = {channels = 8, dtype = "f16", static = true, tokens = "all"}}>,
  value = #kvc.scheme<{codec = "f16", smooth = true}>>
func.func @load_scheme_c3_scalar(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load_scheme' op expected a vector, got 'f32'}}
  %0 = kvk.load_scheme %c[%i] {tensor = #kvc.tensor<key>, field = "table"} : !kvc.cache<#s> to f32
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "lut", table = {bits = 2}, scale = {channels = 8, dtype = "f16", static = true, tokens = "all"}}>,
  value = #kvc.scheme<{codec = "f16", smooth = true}>>
func.func @load_scheme_c3_tile(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load_scheme' op expected a scalar, got}}
  %0 = kvk.load_scheme %c[%i] {tensor = #kvc.tensor<key>, field = "largest"} : !kvc.cache<#s> to vector<4xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 8, value_is_key = [0, 64]}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @load_meta_row_c1(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load_meta_row' op tensor: the spec has no value, its value is the key}}
  %0 = kvk.load_meta_row %c[%i, %i] {tensor = #kvc.tensor<value>, kind = #kvk.meta<scale>, page = 16,
    storage = #kvk.storage<width = 16, addr = [t0, t1, t2, t3]>} : !kvc.cache<#s> to vector<64xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}}>,
  value = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}}>>
func.func @load_meta_row_c2(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load_meta_row' op kind: the part has no zero}}
  %0 = kvk.load_meta_row %c[%i, %i] {tensor = #kvc.tensor<key>, kind = #kvk.meta<zero>, page = 16,
    storage = #kvk.storage<width = 16, addr = [t0, t1, t2, t3]>} : !kvc.cache<#s> to vector<16xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}}>,
  value = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}}>>
func.func @load_meta_row_c3(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load_meta_row' op expected a vector of 16 channels, got}}
  %0 = kvk.load_meta_row %c[%i, %i] {tensor = #kvc.tensor<key>, kind = #kvk.meta<scale>, page = 16,
    storage = #kvk.storage<width = 16, addr = [t0, t1, t2, t3]>} : !kvc.cache<#s> to vector<8xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}}>,
  value = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}}>>
func.func @load_meta_row_c4(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load_meta_row' op storage: expected width 16, got 32}}
  %0 = kvk.load_meta_row %c[%i, %i] {tensor = #kvc.tensor<key>, kind = #kvk.meta<scale>, page = 16,
    storage = #kvk.storage<width = 32, addr = [t0, t1, t2, t3]>} : !kvc.cache<#s> to vector<16xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 8, value_is_key = [0, 64]}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}}>>
func.func @load_meta_tile_c1(%c: !kvc.cache<#s>, %i: index, %m: memref<1x64xf32>) {
  // expected-error@+1 {{'kvk.load_meta_tile' op tensor: the spec has no value, its value is the key}}
  kvk.load_meta_tile %c[%i, %i] valid %i into %m {tensor = #kvc.tensor<value>, kind = #kvk.meta<scale>, page = 16,
    storage = #kvk.storage<width = 16, addr = [b0, t0, t1, t2, t3]>} : !kvc.cache<#s> into memref<1x64xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 32, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int8", scale = {channels = 16, dtype = "f16", tokens = 1}}>,
  value = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}}>>
func.func @load_meta_tile_c2(%c: !kvc.cache<#s>, %i: index, %m: memref<2x64xf32>) {
  // expected-error@+1 {{'kvk.load_meta_tile' op kind: the part has no zero}}
  kvk.load_meta_tile %c[%i, %i] valid %i into %m {tensor = #kvc.tensor<key>, kind = #kvk.meta<zero>, page = 16,
    storage = #kvk.storage<width = 16, addr = [b0, t0, t1, t2, t3]>} : !kvc.cache<#s> into memref<2x64xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 32, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int8", scale = {channels = 16, dtype = "f16", tokens = 1}}>,
  value = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}}>>
func.func @load_meta_tile_c3(%c: !kvc.cache<#s>, %i: index, %m: memref<4x64xf32>) {
  // expected-error@+1 {{'kvk.load_meta_tile' op into: expected shape [B = 2, T], got 'memref<4x64xf32>'}}
  kvk.load_meta_tile %c[%i, %i] valid %i into %m {tensor = #kvc.tensor<key>, kind = #kvk.meta<scale>, page = 16,
    storage = #kvk.storage<width = 16, addr = [b0, t0, t1, t2, t3]>} : !kvc.cache<#s> into memref<4x64xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 32, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int8", scale = {channels = 16, dtype = "f16", tokens = 1}}>,
  value = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}}>>
func.func @load_meta_tile_c4(%c: !kvc.cache<#s>, %i: index, %m: memref<2x64xf32>) {
  // expected-error@+1 {{'kvk.load_meta_tile' op storage: expected width 16, got 32}}
  kvk.load_meta_tile %c[%i, %i] valid %i into %m {tensor = #kvc.tensor<key>, kind = #kvk.meta<scale>, page = 16,
    storage = #kvk.storage<width = 32, addr = [b0, t0, t1, t2, t3]>} : !kvc.cache<#s> into memref<2x64xf32>
  return
}

// -----

func.func @widen_c5(%x: !kvk.tile<64x16xi8, #kvc.dims<t, c>>, %t: vector<16xf32>) {
  // expected-error@+1 {{'kvk.widen' op entries: expected source elements of 2 to 4 bits and f32 result elements, got 'i8' and 'f32'}}
  %0 = kvk.widen %x table %t : vector<16xf32> : !kvk.tile<64x16xi8, #kvc.dims<t, c>> to !kvk.tile<64x16xf32, #kvc.dims<t, c>>
  return
}

// -----

func.func @widen_c5_integers(%x: !kvk.tile<64x16xi2, #kvc.dims<t, c>>, %t: vector<4xf32>) {
  // expected-error@+1 {{'kvk.widen' op entries: expected source elements of 2 to 4 bits and f32 result elements, got 'i2' and 'i16'}}
  %0 = kvk.widen %x table %t : vector<4xf32> : !kvk.tile<64x16xi2, #kvc.dims<t, c>> to !kvk.tile<64x16xi16, #kvc.dims<t, c>>
  return
}

// -----

func.func @widen_c5_bias(%x: !kvk.tile<64x16xi2, #kvc.dims<t, c>>, %t: vector<4xf32>) {
  // expected-error@+1 {{'kvk.widen' op entries: expected no bias, no format and no table}}
  %0 = kvk.widen %x table %t : vector<4xf32> {bias = 2 : i64} : !kvk.tile<64x16xi2, #kvc.dims<t, c>> to !kvk.tile<64x16xf32, #kvc.dims<t, c>>
  return
}

// -----

func.func @widen_c5_count(%x: !kvk.tile<64x16xi2, #kvc.dims<t, c>>, %t: vector<8xf32>) {
  // expected-error@+1 {{'kvk.widen' op entries: expected 4, got 8}}
  %0 = kvk.widen %x table %t : vector<8xf32> : !kvk.tile<64x16xi2, #kvc.dims<t, c>> to !kvk.tile<64x16xf32, #kvc.dims<t, c>>
  return
}

// -----

func.func @dot_c4_blocks(%w: memref<4x64xf32>, %x: memref<64x64xf32>, %o: memref<4x64xf32>, %g: memref<3x64xf32>) {
  // expected-error@+1 {{'kvk.dot' op lane_scale: expected one row, or rows for equal blocks of a multiple of 8 channels, got 3 for 64 elements of minor}}
  kvk.dot %w, %x into %o scale_lanes %g {contract = "minor"} : memref<4x64xf32>, memref<64x64xf32> into memref<4x64xf32> scale_lanes memref<3x64xf32>
  return
}

// -----

func.func @dot_c4_blocks_of_tokens(%w: memref<4x64xf32>, %x: memref<64x64xf32>, %o: memref<4x64xf32>, %g: memref<4x64xf32>) {
  // expected-error@+1 {{'kvk.dot' op lane_scale: expected one row, or rows for equal blocks of a multiple of 8 channels, got 4 for 64 elements of major}}
  kvk.dot %w, %x into %o scale_lanes %g {contract = "major"} : memref<4x64xf32>, memref<64x64xf32> into memref<4x64xf32> scale_lanes memref<4x64xf32>
  return
}

// -----

func.func @dot_c4_blocks_of_lanes(%w: memref<4x64xf32>, %x: memref<64x64xf32>, %o: memref<4x64xf32>, %g: memref<4x32xf32>) {
  // expected-error@+1 {{'kvk.dot' op lane_scale: expected shape [B, J = 64], got 'memref<4x32xf32>'}}
  kvk.dot %w, %x into %o scale_lanes %g {contract = "minor"} : memref<4x64xf32>, memref<64x64xf32> into memref<4x64xf32> scale_lanes memref<4x32xf32>
  return
}

// -----

func.func @lookup_c1(%u: vector<16xi8>, %t: vector<5xf32>) {
  // expected-error@+1 {{'kvk.lookup' op table: expected 4, 8 or 16 entries, got 5}}
  %0 = kvk.lookup %u in %t : vector<16xi8> in vector<5xf32> to vector<16xf32>
  return
}

// -----

func.func @lookup_c2(%u: vector<16xi8>, %t: vector<4xf32>) {
  // expected-error@+1 {{'kvk.lookup' op expected as many results as codes, got 'vector<8xf32>' for 'vector<16xi8>'}}
  %0 = kvk.lookup %u in %t : vector<16xi8> in vector<4xf32> to vector<8xf32>
  return
}
