// Constraints of what schemes take beside k and v, and of RoPE, violated once.
// RUN: kvc-opt %s --split-input-file --verify-diagnostics

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8, value_is_key = "all"}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>>
func.func @load_scheme_c1(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.load_scheme' op tensor: the spec has no value, its value is the key}}
  %0 = kvc.load_scheme %c[%i] {tensor = #kvc.tensor<value>, field = "smooth"} : !kvc.cache<#s> to tensor<16xf32, #kvc.dims<d>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "lut", table = {bits = 2}, scale = {channels = 8, dtype = "f16", static = true, tokens = "all"}}>,
  value = #kvc.scheme<{codec = "f16", smooth = true}>>
func.func @load_scheme_c1_part(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.load_scheme' op part: expected 0, got 1}}
  %0 = kvc.load_scheme %c[%i] {tensor = #kvc.tensor<key>, part = 1, field = "scale"} : !kvc.cache<#s> to tensor<16xf32, #kvc.dims<c>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "lut", table = {bits = 2}, scale = {channels = 8, dtype = "f16", static = true, tokens = "all"}}>,
  value = #kvc.scheme<{codec = "f16", smooth = true}>>
func.func @load_scheme_c2(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.load_scheme' op field: the part takes no input with "scale"}}
  %0 = kvc.load_scheme %c[%i] {tensor = #kvc.tensor<value>, field = "scale"} : !kvc.cache<#s> to tensor<16xf32, #kvc.dims<d>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "lut", table = {bits = 2}, scale = {channels = 8, dtype = "f16", static = true, tokens = "all"}}>,
  value = #kvc.scheme<{codec = "f16", smooth = true}>>
func.func @load_scheme_c2_smooth(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.load_scheme' op field: the part takes no input with "smooth"}}
  %0 = kvc.load_scheme %c[%i] {tensor = #kvc.tensor<key>, field = "smooth"} : !kvc.cache<#s> to tensor<16xf32, #kvc.dims<c>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "lut", table = {bits = 2}, scale = {channels = 8, dtype = "f16", static = true, tokens = "all"}}>,
  value = #kvc.scheme<{codec = "f16", smooth = true}>>
func.func @load_scheme_c2_table(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.load_scheme' op field: the part takes no input with "codes"}}
  %0 = kvc.load_scheme %c[%i] {tensor = #kvc.tensor<value>, field = "codes"} : !kvc.cache<#s> to tensor<4xf32, #kvc.dims<n>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "lut", table = {bits = 2}, scale = {channels = 8, dtype = "f16", static = true, tokens = "all"}}>,
  value = #kvc.scheme<{codec = "f16", smooth = true}>>
func.func @load_scheme_c3(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.load_scheme' op expected a multiple of 2 elements, got 9}}
  %0 = kvc.load_scheme %c[%i] {tensor = #kvc.tensor<key>, field = "scale"} : !kvc.cache<#s> to tensor<9xf32, #kvc.dims<c>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "lut", table = {bits = 2}, scale = {channels = 8, dtype = "f16", static = true, tokens = "all"}}>,
  value = #kvc.scheme<{codec = "f16", smooth = true}>>
func.func @load_scheme_c3_scalar(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.load_scheme' op expected a tile, got 'f32'}}
  %0 = kvc.load_scheme %c[%i] {tensor = #kvc.tensor<key>, field = "table"} : !kvc.cache<#s> to f32
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "lut", table = {bits = 2}, scale = {channels = 8, dtype = "f16", static = true, tokens = "all"}}>,
  value = #kvc.scheme<{codec = "f16", smooth = true}>>
func.func @load_scheme_c3_tile(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.load_scheme' op expected a scalar, got}}
  %0 = kvc.load_scheme %c[%i] {tensor = #kvc.tensor<key>, field = "largest"} : !kvc.cache<#s> to tensor<4xf32, #kvc.dims<n>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "lut", table = {bits = 2}, scale = {channels = 8, dtype = "f16", static = true, tokens = "all"}}>,
  value = #kvc.scheme<{codec = "f16", smooth = true}>>
func.func @load_scheme_c3_rank(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.load_scheme' op expected a tile with 1 dim, got}}
  %0 = kvc.load_scheme %c[%i] {tensor = #kvc.tensor<key>, field = "scale"} : !kvc.cache<#s> to tensor<8x2xf32, #kvc.dims<t, b>>
  return
}

// -----

func.func @gather_c1(%u: tensor<8x16xi8, #kvc.dims<t, c>>, %n: tensor<4xf32, #kvc.dims<n>>) {
  // expected-error@+1 {{'kvc.gather' op expected codes 'tensor<8x32xi8, #kvc.dims<t, c>>', got}}
  %0 = kvc.gather %u from %n : tensor<8x16xi8, #kvc.dims<t, c>>, tensor<4xf32, #kvc.dims<n>> to tensor<8x32xf32, #kvc.dims<t, c>>
  return
}

// -----

func.func @gather_c2(%u: tensor<8x16xi8, #kvc.dims<t, c>>, %n: tensor<5xf32, #kvc.dims<n>>) {
  // expected-error@+1 {{'kvc.gather' op table: expected one dim of 4, 8 or 16 numbers, got}}
  %0 = kvc.gather %u from %n : tensor<8x16xi8, #kvc.dims<t, c>>, tensor<5xf32, #kvc.dims<n>> to tensor<8x16xf32, #kvc.dims<t, c>>
  return
}

// -----

func.func @nearest_c1(%x: tensor<1x16xf32, #kvc.dims<b, e>>, %n: tensor<4xf32, #kvc.dims<n>>) {
  // expected-error@+1 {{'kvc.nearest' op expected codes 'tensor<1x16xi8, #kvc.dims<b, e>>', got}}
  %0 = kvc.nearest %x by %n, %n : tensor<1x16xf32, #kvc.dims<b, e>>, tensor<4xf32, #kvc.dims<n>>, tensor<4xf32, #kvc.dims<n>> to tensor<16xi8, #kvc.dims<e>>
  return
}

// -----

func.func @nearest_c2_thresholds(%x: tensor<1x16xf32, #kvc.dims<b, e>>, %n: tensor<4xf32, #kvc.dims<n>>, %m: tensor<2x4xf32, #kvc.dims<b, n>>) {
  // expected-error@+1 {{'kvc.nearest' op thresholds: expected one dim of 4, 8 or 16 numbers, got}}
  %0 = kvc.nearest %x by %m, %n : tensor<1x16xf32, #kvc.dims<b, e>>, tensor<2x4xf32, #kvc.dims<b, n>>, tensor<4xf32, #kvc.dims<n>> to tensor<1x16xi8, #kvc.dims<b, e>>
  return
}

// -----

func.func @nearest_c2_codes(%x: tensor<1x16xf32, #kvc.dims<b, e>>, %n: tensor<4xf32, #kvc.dims<n>>, %m: tensor<2x4xf32, #kvc.dims<b, n>>) {
  // expected-error@+1 {{'kvc.nearest' op codes: expected one dim of 4, 8 or 16 numbers, got}}
  %0 = kvc.nearest %x by %n, %m : tensor<1x16xf32, #kvc.dims<b, e>>, tensor<4xf32, #kvc.dims<n>>, tensor<2x4xf32, #kvc.dims<b, n>> to tensor<1x16xi8, #kvc.dims<b, e>>
  return
}

// -----

func.func @rope_c1(%x: tensor<8x16xf32, #kvc.dims<t, c>>, %y: tensor<4x16xf32, #kvc.dims<r, c>>, %i: index) {
  // expected-error@+1 {{'kvc.rope' op expected a tile <t, c>, got}}
  %0 = kvc.rope %y at %i {dims = 16 : i64, offset = 0 : i64, theta = 1.0e4 : f64} : tensor<4x16xf32, #kvc.dims<r, c>>
  return
}

// -----

func.func @rope_c2_odd(%x: tensor<8x16xf32, #kvc.dims<t, c>>, %y: tensor<4x16xf32, #kvc.dims<r, c>>, %i: index) {
  // expected-error@+1 {{'kvc.rope' op expected an even number of dims inside the 16 channels, got 7 from 0}}
  %0 = kvc.rope %x at %i {dims = 7 : i64, offset = 0 : i64, theta = 1.0e4 : f64} : tensor<8x16xf32, #kvc.dims<t, c>>
  return
}

// -----

func.func @rope_c2_none(%x: tensor<8x16xf32, #kvc.dims<t, c>>, %y: tensor<4x16xf32, #kvc.dims<r, c>>, %i: index) {
  // expected-error@+1 {{'kvc.rope' op expected an even number of dims inside the 16 channels, got 0 from 0}}
  %0 = kvc.rope %x at %i {dims = 0 : i64, offset = 0 : i64, theta = 1.0e4 : f64} : tensor<8x16xf32, #kvc.dims<t, c>>
  return
}

// -----

func.func @rope_c2_beyond(%x: tensor<8x16xf32, #kvc.dims<t, c>>, %y: tensor<4x16xf32, #kvc.dims<r, c>>, %i: index) {
  // expected-error@+1 {{'kvc.rope' op expected an even number of dims inside the 16 channels, got 12 from 6}}
  %0 = kvc.rope %x at %i {dims = 12 : i64, offset = 6 : i64, theta = 1.0e4 : f64} : tensor<8x16xf32, #kvc.dims<t, c>>
  return
}

// -----

func.func @rope_c2_offset(%x: tensor<8x16xf32, #kvc.dims<t, c>>, %y: tensor<4x16xf32, #kvc.dims<r, c>>, %i: index) {
  // expected-error@+1 {{'kvc.rope' op expected an even number of dims inside the 16 channels, got 8 from -2}}
  %0 = kvc.rope %x at %i {dims = 8 : i64, offset = -2 : i64, theta = 1.0e4 : f64} : tensor<8x16xf32, #kvc.dims<t, c>>
  return
}

// -----

func.func @rope_c3_zero(%x: tensor<8x16xf32, #kvc.dims<t, c>>, %y: tensor<4x16xf32, #kvc.dims<r, c>>, %i: index) {
  // expected-error@+1 {{'kvc.rope' op theta: expected a finite number above 0, got}}
  %0 = kvc.rope %x at %i {dims = 16 : i64, offset = 0 : i64, theta = 0.0 : f64} : tensor<8x16xf32, #kvc.dims<t, c>>
  return
}

// -----

func.func @rope_c3_negative(%x: tensor<8x16xf32, #kvc.dims<t, c>>, %y: tensor<4x16xf32, #kvc.dims<r, c>>, %i: index) {
  // expected-error@+1 {{'kvc.rope' op theta: expected a finite number above 0, got}}
  %0 = kvc.rope %x at %i {dims = 16 : i64, offset = 0 : i64, theta = -1.0 : f64} : tensor<8x16xf32, #kvc.dims<t, c>>
  return
}

// -----

func.func @rope_c3_infinite(%x: tensor<8x16xf32, #kvc.dims<t, c>>, %y: tensor<4x16xf32, #kvc.dims<r, c>>, %i: index) {
  // expected-error@+1 {{'kvc.rope' op theta: expected a finite number above 0, got}}
  %0 = kvc.rope %x at %i {dims = 16 : i64, offset = 0 : i64, theta = 0x7FF0000000000000 : f64} : tensor<8x16xf32, #kvc.dims<t, c>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "lut", table = {bits = 2}, scale = {channels = 8, dtype = "f16", static = true, tokens = "all"}}>,
  value = #kvc.scheme<{codec = "f16", smooth = true}>>
func.func @load_scale_c2_static(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.load_scale' op the part's scale is static: no page has it}}
  %0 = kvc.load_scale %c[%i, %i] valid %i {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<8x2xf32, #kvc.dims<t, b>>
  return
}
