// RUN: kvc-opt %s --kvk-derive-storage --verify-diagnostics

// A valid spec whose pages are not laid out yet.

#s = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 8, kv_heads = 2, head_dim = 128}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int3", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min", outliers = 1}>,
  value = #kvc.scheme<{codec = "f16"}>>
func.func @refused(%cache: !kvc.cache<#s>, %i: index) {
  // expected-error @below {{'kvk.load_row' op not lowered yet: outliers}}
  %0 = kvk.load_row %cache[%i, %i] channels %i {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to vector<32xi8>
  return
}
