// Metadata of outliers that a part lacks, or that lies otherwise.
// RUN: kvc-opt %s --split-input-file --verify-diagnostics

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 1, q_heads = 1}>, io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}, outliers = 2}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @load_meta_c2_outliers(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load_meta' op kind: the part has no outlier_index}}
  %0 = kvk.load_meta %c[%i, %i] block %i {tensor = #kvc.tensor<value>, kind = #kvk.meta<outlier_index>} : !kvc.cache<#s> to f32
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 1, q_heads = 1}>, io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}, outliers = 2}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @load_meta_c4_outliers(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvk.load_meta' op storage: expected the digits of 2 blocks, got those of 4}}
  %0 = kvk.load_meta %c[%i, %i] block %i {tensor = #kvc.tensor<key>, kind = #kvk.meta<outlier_value>, page = 4, storage = #kvk.storage<width = 16, addr = [b0, b1, t0, t1]>} : !kvc.cache<#s> to f32
  return
}
