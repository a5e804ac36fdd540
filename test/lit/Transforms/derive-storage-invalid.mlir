// RUN: kvc-opt %s --kvk-derive-storage --verify-diagnostics

// A valid spec whose pages are not laid out yet.

#s = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 8, kv_heads = 2, head_dim = 128}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{parts = [{channels = [0, 64], codec = "f16"}, {channels = [64, 128], codec = "f16"}], rope = {dims = 128, style = "half"}}>,
  value = #kvc.scheme<{codec = "f16"}>>
func.func @refused(%cache: !kvc.cache<#s>, %i: index) {
  // expected-error @below {{'kvk.load_row' op not lowered yet: rope across parts}}
  %0 = kvk.load_row %cache[%i, %i] channels %i {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to vector<32xf16>
  return
}
