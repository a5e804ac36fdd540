// Every numbered constraint of the ops on outliers, violated once.
// RUN: kvc-opt %s --split-input-file --verify-diagnostics

func.func @find_outliers_c1(%x: tensor<2x8xf32, #kvc.dims<b, e>>) {
  // expected-error@+1 {{'kvc.find_outliers' op expected a source of one row of channels, got}}
  %0 = kvc.find_outliers %x : tensor<2x8xf32, #kvc.dims<b, e>> to tensor<1xf32, #kvc.dims<o>>
  return
}

// -----

func.func @find_outliers_c2(%x: tensor<1x8xf32, #kvc.dims<b, e>>) {
  // expected-error@+1 {{'kvc.find_outliers' op expected fewer channels than the 8 of the source in one dim, got}}
  %0 = kvc.find_outliers %x : tensor<1x8xf32, #kvc.dims<b, e>> to tensor<8xf32, #kvc.dims<o>>
  return
}

// -----

func.func @pick_c1(%x: tensor<1x8xf32, #kvc.dims<b, e>>, %i: tensor<4x2x2xf32, #kvc.dims<t, b, o>>) {
  // expected-error@+1 {{'kvc.pick' op expected an index with one dim or two, got}}
  %0 = kvc.pick %x at %i : tensor<1x8xf32, #kvc.dims<b, e>>, tensor<4x2x2xf32, #kvc.dims<t, b, o>>
  return
}

// -----

func.func @pick_c2(%x: tensor<2x8xf32, #kvc.dims<t, c>>, %i: tensor<4x2xf32, #kvc.dims<t, o>>) {
  // expected-error@+1 {{'kvc.pick' op expected a source with dims of the index or of one element before its last, got}}
  %0 = kvc.pick %x at %i : tensor<2x8xf32, #kvc.dims<t, c>>, tensor<4x2xf32, #kvc.dims<t, o>>
  return
}

// -----

func.func @patch_c1(%x: tensor<4x8xf32, #kvc.dims<t, c>>, %i: tensor<4x2x2xf32, #kvc.dims<t, b, o>>) {
  // expected-error@+1 {{'kvc.patch' op expected an index with one dim or two, got}}
  %0 = kvc.patch %x, %i, %i : tensor<4x8xf32, #kvc.dims<t, c>>, tensor<4x2x2xf32, #kvc.dims<t, b, o>>
  return
}

// -----

func.func @patch_c2(%x: tensor<4x8xf32, #kvc.dims<t, c>>, %i: tensor<2x2xf32, #kvc.dims<t, o>>) {
  // expected-error@+1 {{'kvc.patch' op expected a dense tile with the index's first dim, then one or two dims of channels, got}}
  %0 = kvc.patch %x, %i, %i : tensor<4x8xf32, #kvc.dims<t, c>>, tensor<2x2xf32, #kvc.dims<t, o>>
  return
}

// -----

func.func @gather_dot_c1(%q: tensor<8xf32, #kvc.dims<c>>, %i: tensor<4x2xf32, #kvc.dims<t, o>>) {
  // expected-error@+1 {{'kvc.gather_dot' op expected tiles of two dims, got}}
  %0 = kvc.gather_dot %q, %i, %i : tensor<8xf32, #kvc.dims<c>>, tensor<4x2xf32, #kvc.dims<t, o>> to tensor<2x4xf32, #kvc.dims<r, t>>
  return
}

// -----

func.func @gather_dot_c2(%q: tensor<2x8xf32, #kvc.dims<r, c>>, %i: tensor<4x2xf32, #kvc.dims<t, o>>) {
  // expected-error@+1 {{'kvc.gather_dot' op expected a result of 2 rows and 4 tokens, got}}
  %0 = kvc.gather_dot %q, %i, %i : tensor<2x8xf32, #kvc.dims<r, c>>, tensor<4x2xf32, #kvc.dims<t, o>> to tensor<2x8xf32, #kvc.dims<r, t>>
  return
}

// -----

func.func @scatter_dot_c1(%p: tensor<2x4xf32, #kvc.dims<r, t>>, %i: tensor<2xf32, #kvc.dims<o>>) {
  // expected-error@+1 {{'kvc.scatter_dot' op expected tiles of two dims, got}}
  %0 = kvc.scatter_dot %p, %i, %i : tensor<2x4xf32, #kvc.dims<r, t>>, tensor<2xf32, #kvc.dims<o>> to tensor<2x8xf32, #kvc.dims<r, d>>
  return
}

// -----

func.func @scatter_dot_c2(%p: tensor<2x4xf32, #kvc.dims<r, t>>, %i: tensor<4x2xf32, #kvc.dims<t, o>>) {
  // expected-error@+1 {{'kvc.scatter_dot' op expected rows of 3 rows and 4 tokens, got}}
  %0 = kvc.scatter_dot %p, %i, %i : tensor<2x4xf32, #kvc.dims<r, t>>, tensor<4x2xf32, #kvc.dims<t, o>> to tensor<3x8xf32, #kvc.dims<r, d>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 1, q_heads = 1}>, io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}, outliers = 2}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @load_outlier_indices_c1(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.load_outlier_indices' op part: expected 0, got 1}}
  %0 = kvc.load_outlier_indices %c[%i, %i] valid %i {tensor = #kvc.tensor<key>, part = 1 : i64} : !kvc.cache<#s> to tensor<4x2xf32, #kvc.dims<t, o>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 1, q_heads = 1}>, io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}, outliers = 2}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @store_outlier_indices_c1(%c: !kvc.cache<#s>, %i: index, %x: tensor<2xf32, #kvc.dims<o>>) {
  // expected-error@+1 {{'kvc.store_outlier_indices' op part: expected 0, got 1}}
  kvc.store_outlier_indices %x, %c[%i, %i] {tensor = #kvc.tensor<key>, part = 1 : i64} : tensor<2xf32, #kvc.dims<o>>, !kvc.cache<#s>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 1, q_heads = 1}>, io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}, outliers = 2}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @load_outlier_indices_c2(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.load_outlier_indices' op the part has no outliers}}
  %0 = kvc.load_outlier_indices %c[%i, %i] valid %i {tensor = #kvc.tensor<value>} : !kvc.cache<#s> to tensor<4x2xf32, #kvc.dims<t, o>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 1, q_heads = 1}>, io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}, outliers = 2}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @store_outlier_indices_c2(%c: !kvc.cache<#s>, %i: index, %x: tensor<2xf32, #kvc.dims<o>>) {
  // expected-error@+1 {{'kvc.store_outlier_indices' op the part has no outliers}}
  kvc.store_outlier_indices %x, %c[%i, %i] {tensor = #kvc.tensor<value>} : tensor<2xf32, #kvc.dims<o>>, !kvc.cache<#s>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 1, q_heads = 1}>, io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}, outliers = 2}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @load_outlier_indices_c3(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.load_outlier_indices' op expected a tile of 2 dims that ends in 2 outliers, got}}
  %0 = kvc.load_outlier_indices %c[%i, %i] valid %i {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<4x3xf32, #kvc.dims<t, o>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 1, q_heads = 1}>, io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}, outliers = 2}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @store_outlier_indices_c3(%c: !kvc.cache<#s>, %i: index, %x: tensor<3xf32, #kvc.dims<o>>) {
  // expected-error@+1 {{'kvc.store_outlier_indices' op expected a tile of 1 dim that ends in 2 outliers, got}}
  kvc.store_outlier_indices %x, %c[%i, %i] {tensor = #kvc.tensor<key>} : tensor<3xf32, #kvc.dims<o>>, !kvc.cache<#s>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 1, q_heads = 1}>, io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}, outliers = 2}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @load_outlier_values_c1(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.load_outlier_values' op part: expected 0, got 1}}
  %0 = kvc.load_outlier_values %c[%i, %i] valid %i {tensor = #kvc.tensor<key>, part = 1 : i64} : !kvc.cache<#s> to tensor<4x2xf32, #kvc.dims<t, o>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 1, q_heads = 1}>, io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}, outliers = 2}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @store_outlier_values_c1(%c: !kvc.cache<#s>, %i: index, %x: tensor<2xf32, #kvc.dims<o>>) {
  // expected-error@+1 {{'kvc.store_outlier_values' op part: expected 0, got 1}}
  kvc.store_outlier_values %x, %c[%i, %i] {tensor = #kvc.tensor<key>, part = 1 : i64} : tensor<2xf32, #kvc.dims<o>>, !kvc.cache<#s>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 1, q_heads = 1}>, io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}, outliers = 2}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @load_outlier_values_c2(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.load_outlier_values' op the part has no outliers}}
  %0 = kvc.load_outlier_values %c[%i, %i] valid %i {tensor = #kvc.tensor<value>} : !kvc.cache<#s> to tensor<4x2xf32, #kvc.dims<t, o>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 1, q_heads = 1}>, io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}, outliers = 2}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @store_outlier_values_c2(%c: !kvc.cache<#s>, %i: index, %x: tensor<2xf32, #kvc.dims<o>>) {
  // expected-error@+1 {{'kvc.store_outlier_values' op the part has no outliers}}
  kvc.store_outlier_values %x, %c[%i, %i] {tensor = #kvc.tensor<value>} : tensor<2xf32, #kvc.dims<o>>, !kvc.cache<#s>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 1, q_heads = 1}>, io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}, outliers = 2}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @load_outlier_values_c3(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.load_outlier_values' op expected a tile of 2 dims that ends in 2 outliers, got}}
  %0 = kvc.load_outlier_values %c[%i, %i] valid %i {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<4x3xf32, #kvc.dims<t, o>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 1, q_heads = 1}>, io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}, outliers = 2}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @store_outlier_values_c3(%c: !kvc.cache<#s>, %i: index, %x: tensor<3xf32, #kvc.dims<o>>) {
  // expected-error@+1 {{'kvc.store_outlier_values' op expected a tile of 1 dim that ends in 2 outliers, got}}
  kvc.store_outlier_values %x, %c[%i, %i] {tensor = #kvc.tensor<key>} : tensor<3xf32, #kvc.dims<o>>, !kvc.cache<#s>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 1, q_heads = 1}>, io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}, outliers = 2}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @unpack_c5(%c: !kvc.cache<#s>, %u: memref<?x16xi8>, %s: memref<?x1xf32>, %z: memref<?x1xf32>, %x: memref<?x16xf32>, %i: index) {
  // expected-error@+1 {{'kvc.unpack' op expected outliers, the part has 2}}
  kvc.unpack %c[%i] tokens(%i to %i) into %u, %s, %z, %x {tensor = #kvc.tensor<key>}
    : !kvc.cache<#s>, memref<?x16xi8>, memref<?x1xf32>, memref<?x1xf32>, memref<?x16xf32>
  return
}
