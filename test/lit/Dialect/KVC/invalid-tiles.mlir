// Every numbered constraint of level 1, violated once.
// RUN: kvc-opt %s --split-input-file --verify-diagnostics

func.func @iota_c1() {
  // expected-error@+1 {{'kvc.iota' op expected a result with one dim, got}}
  %0 = kvc.iota : tensor<4x4xi32, #kvc.dims<r, t>>
  return
}

// -----

func.func @broadcast_c1(%x: i32) {
  // expected-error@+1 {{'kvc.broadcast' op expected equal element types, got 'i32' and 'f32'}}
  %0 = kvc.broadcast %x : i32 to tensor<4xf32, #kvc.dims<r>>
  return
}

// -----

func.func @broadcast_c2(%x: tensor<4xf32, #kvc.dims<d>>) {
  // expected-error@+1 {{'kvc.broadcast' op the source has dim d, which the result lacks}}
  %0 = kvc.broadcast %x : tensor<4xf32, #kvc.dims<d>> to tensor<4x4xf32, #kvc.dims<r, t>>
  return
}

// -----

func.func @broadcast_c2_extent(%x: tensor<4xf32, #kvc.dims<r>>) {
  // expected-error@+1 {{'kvc.broadcast' op dim r: expected one extent, got 4 in the source and 8 in the result}}
  %0 = kvc.broadcast %x : tensor<4xf32, #kvc.dims<r>> to tensor<8xf32, #kvc.dims<r>>
  return
}

// -----

func.func @contract_c1(%x: tensor<4x8xf32, #kvc.dims<r, c>>, %y: tensor<16x8xf16, #kvc.dims<t, c>>) {
  // expected-error@+1 {{'kvc.contract' op expected equal element types, got 'f32' and 'f16'}}
  %0 = kvc.contract %x, %y : tensor<4x8xf32, #kvc.dims<r, c>>, tensor<16x8xf16, #kvc.dims<t, c>> to tensor<4x16xf32, #kvc.dims<r, t>>
  return
}

// -----

func.func @contract_c1_integers(%x: tensor<4x8xi32, #kvc.dims<r, c>>, %y: tensor<16x8xi32, #kvc.dims<t, c>>) {
  // expected-error@+1 {{'kvc.contract' op expected floating-point elements, got 'i32'}}
  %0 = kvc.contract %x, %y : tensor<4x8xi32, #kvc.dims<r, c>>, tensor<16x8xi32, #kvc.dims<t, c>> to tensor<4x16xi32, #kvc.dims<r, t>>
  return
}

// -----

func.func @contract_c2(%x: tensor<4x8xf32, #kvc.dims<r, c>>, %y: tensor<16x9xf32, #kvc.dims<t, c>>) {
  // expected-error@+1 {{'kvc.contract' op dim c: expected one extent, got 8 in lhs and 9 in rhs}}
  %0 = kvc.contract %x, %y : tensor<4x8xf32, #kvc.dims<r, c>>, tensor<16x9xf32, #kvc.dims<t, c>> to tensor<4x16xf32, #kvc.dims<r, t>>
  return
}

// -----

func.func @contract_c3(%x: tensor<4x8xf32, #kvc.dims<r, c>>, %y: tensor<16x8xf32, #kvc.dims<t, c>>) {
  // expected-error@+1 {{'kvc.contract' op the result has dim d, which both operands lack}}
  %0 = kvc.contract %x, %y : tensor<4x8xf32, #kvc.dims<r, c>>, tensor<16x8xf32, #kvc.dims<t, c>> to tensor<4x16xf32, #kvc.dims<r, d>>
  return
}

// -----

func.func @contract_c3_extent(%x: tensor<4x8xf32, #kvc.dims<r, c>>, %y: tensor<16x8xf32, #kvc.dims<t, c>>) {
  // expected-error@+1 {{'kvc.contract' op dim t of the result: expected extent 16, got 15}}
  %0 = kvc.contract %x, %y : tensor<4x8xf32, #kvc.dims<r, c>>, tensor<16x8xf32, #kvc.dims<t, c>> to tensor<4x15xf32, #kvc.dims<r, t>>
  return
}

// -----

func.func @reduce_c1(%x: tensor<4x8xf32, #kvc.dims<r, t>>) {
  // expected-error@+1 {{'kvc.reduce' op expected equal element types, got 'f32' and 'f16'}}
  %0 = kvc.reduce add %x : tensor<4x8xf32, #kvc.dims<r, t>> to tensor<4xf16, #kvc.dims<r>>
  return
}

// -----

func.func @reduce_c1_integers(%x: tensor<4x8xi32, #kvc.dims<r, t>>) {
  // expected-error@+1 {{'kvc.reduce' op maximumf: expected floating-point elements, got 'i32'}}
  %0 = kvc.reduce maximumf %x : tensor<4x8xi32, #kvc.dims<r, t>> to tensor<4xi32, #kvc.dims<r>>
  return
}

// -----

func.func @reduce_c2(%x: tensor<4x8xf32, #kvc.dims<r, t>>) {
  // expected-error@+1 {{'kvc.reduce' op the result has dim c, which the source lacks}}
  %0 = kvc.reduce add %x : tensor<4x8xf32, #kvc.dims<r, t>> to tensor<4xf32, #kvc.dims<c>>
  return
}

// -----

func.func @reduce_c3(%x: tensor<4x8xf32, #kvc.dims<r, t>>) {
  // expected-error@+1 {{'kvc.reduce' op expected a result that lacks a dim of the source, got}}
  %0 = kvc.reduce add %x : tensor<4x8xf32, #kvc.dims<r, t>> to tensor<8x4xf32, #kvc.dims<t, r>>
  return
}

// -----

func.func @rotate_c1(%x: tensor<4x24xf32, #kvc.dims<r, c>>) {
  // expected-error@+1 {{'kvc.rotate' op block: expected a power of two that divides the 24 channels, got 16}}
  %0 = kvc.rotate %x {block = 16} : tensor<4x24xf32, #kvc.dims<r, c>>
  return
}

// -----

func.func @rotate_c1_power(%x: tensor<4x24xf32, #kvc.dims<r, c>>) {
  // expected-error@+1 {{'kvc.rotate' op block: expected a power of two that divides the 24 channels, got 12}}
  %0 = kvc.rotate %x {block = 12} : tensor<4x24xf32, #kvc.dims<r, c>>
  return
}

// -----

func.func @rotate_c1_zero(%x: tensor<4x24xf32, #kvc.dims<r, c>>) {
  // expected-error@+1 {{'kvc.rotate' op block: expected a power of two that divides the 24 channels, got 0}}
  %0 = kvc.rotate %x {block = 0} : tensor<4x24xf32, #kvc.dims<r, c>>
  return
}

// -----

func.func @dequantize_c1(%u: tensor<8x16xi8, #kvc.dims<t, c>>, %s: tensor<8xf32, #kvc.dims<t>>, %z: tensor<8xf32, #kvc.dims<t>>) {
  // expected-error@+1 {{'kvc.dequantize' op expected result}}
  %0 = kvc.dequantize %u, %s, %z {centre = 8 : i64, zero_kind = "min"}
    : tensor<8x16xi8, #kvc.dims<t, c>>, tensor<8xf32, #kvc.dims<t>>, tensor<8xf32, #kvc.dims<t>> to tensor<16x8xf32, #kvc.dims<c, t>>
  return
}

// -----

func.func @dequantize_c2(%u: tensor<8x16xi8, #kvc.dims<t, c>>, %s: tensor<8xf32, #kvc.dims<b>>, %z: tensor<8xf32, #kvc.dims<t>>) {
  // expected-error@+1 {{'kvc.dequantize' op scale has dim b, which codes lacks}}
  %0 = kvc.dequantize %u, %s, %z {centre = 8 : i64, zero_kind = "min"}
    : tensor<8x16xi8, #kvc.dims<t, c>>, tensor<8xf32, #kvc.dims<b>>, tensor<8xf32, #kvc.dims<t>> to tensor<8x16xf32, #kvc.dims<t, c>>
  return
}

// -----

func.func @dequantize_c2_zero(%u: tensor<8x16xi8, #kvc.dims<t, c>>, %s: tensor<8xf32, #kvc.dims<t>>, %z: tensor<4xf32, #kvc.dims<t>>) {
  // expected-error@+1 {{'kvc.dequantize' op dim t: expected one extent, got 4 in zero and 8 in codes}}
  %0 = kvc.dequantize %u, %s, %z {centre = 8 : i64, zero_kind = "min"}
    : tensor<8x16xi8, #kvc.dims<t, c>>, tensor<8xf32, #kvc.dims<t>>, tensor<4xf32, #kvc.dims<t>> to tensor<8x16xf32, #kvc.dims<t, c>>
  return
}

// -----

func.func @dequantize_c3(%u: tensor<8x16xi8, #kvc.dims<t, c>>, %s: tensor<8xf32, #kvc.dims<t>>) {
  // expected-error@+1 {{'kvc.dequantize' op zero_kind "min": expected a scale and a zero}}
  %0 = kvc.dequantize %u, %s {centre = 8 : i64, zero_kind = "min"}
    : tensor<8x16xi8, #kvc.dims<t, c>>, tensor<8xf32, #kvc.dims<t>> to tensor<8x16xf32, #kvc.dims<t, c>>
  return
}

// -----

func.func @dequantize_c3_none(%u: tensor<8x16xi8, #kvc.dims<t, c>>, %s: tensor<8xf32, #kvc.dims<t>>, %z: tensor<8xf32, #kvc.dims<t>>) {
  // expected-error@+1 {{'kvc.dequantize' op zero_kind "none": expected no zero}}
  %0 = kvc.dequantize %u, %s, %z 
    : tensor<8x16xi8, #kvc.dims<t, c>>, tensor<8xf32, #kvc.dims<t>>, tensor<8xf32, #kvc.dims<t>> to tensor<8x16xf32, #kvc.dims<t, c>>
  return
}

// -----

func.func @dequantize_c4(%u: tensor<8x16xi8, #kvc.dims<t, c>>) {
  // expected-error@+1 {{'kvc.dequantize' op expected a scale for i8 codes}}
  %0 = kvc.dequantize %u 
    : tensor<8x16xi8, #kvc.dims<t, c>> to tensor<8x16xf32, #kvc.dims<t, c>>
  return
}

// -----

func.func @dequantize_c4_raw(%u: tensor<8x16xf16, #kvc.dims<t, c>>, %s: tensor<8xf32, #kvc.dims<t>>) {
  // expected-error@+1 {{'kvc.dequantize' op expected no scale for raw values}}
  %0 = kvc.dequantize %u, %s 
    : tensor<8x16xf16, #kvc.dims<t, c>>, tensor<8xf32, #kvc.dims<t>> to tensor<8x16xf32, #kvc.dims<t, c>>
  return
}

// -----

func.func @dequantize_c4_centre(%u: tensor<8x16xf16, #kvc.dims<t, c>>) {
  // expected-error@+1 {{'kvc.dequantize' op centre: expected 0 for values, got 8}}
  %0 = kvc.dequantize %u {centre = 8 : i64}
    : tensor<8x16xf16, #kvc.dims<t, c>> to tensor<8x16xf32, #kvc.dims<t, c>>
  return
}

// -----

func.func @dequantize_c5(%u: tensor<8x16xi8, #kvc.dims<t, c>>, %s: tensor<8xf32, #kvc.dims<t>>) {
  // expected-error@+1 {{'kvc.dequantize' op expected a place only where its factor is given}}
  %0 = kvc.dequantize %u, %s {zero_place = #kvc.place<score>}
    : tensor<8x16xi8, #kvc.dims<t, c>>, tensor<8xf32, #kvc.dims<t>> to tensor<8x16xf32, #kvc.dims<t, c>>
  return
}

// -----

func.func @dequantize_zero_kind(%u: tensor<8x16xi8, #kvc.dims<t, c>>, %s: tensor<8xf32, #kvc.dims<t>>) {
  // expected-error@+1 {{'kvc.dequantize' op attribute 'zero_kind' failed to satisfy constraint: "none", "min" or "code"}}
  %0 = kvc.dequantize %u, %s {zero_kind = "mid"} : tensor<8x16xi8, #kvc.dims<t, c>>, tensor<8xf32, #kvc.dims<t>> to tensor<8x16xf32, #kvc.dims<t, c>>
  return
}

// -----

func.func @round_to_dtype(%x: tensor<8xf32, #kvc.dims<t>>) {
  // expected-error@+1 {{'kvc.round_to' op attribute 'dtype' failed to satisfy constraint: "f16", "bf16", "f32" or "e4m3"}}
  %0 = kvc.round_to %x {dtype = "f8"} : tensor<8xf32, #kvc.dims<t>>
  return
}

// -----

func.func @tile(%x: tensor<8xf32>) {
  // expected-error@+1 {{'kvc.round_to' op operand #0 must be tile of f32, but got 'tensor<8xf32>'}}
  %0 = "kvc.round_to"(%x) {dtype = "f16"} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @load_query_c1(%m: memref<?x?x?xf16>, %i: index) {
  // expected-error@+1 {{'kvc.load_query' op memref: expected shape [queries, q_heads, channels], got}}
  %0 = kvc.load_query %m[%i to %i, %i] group 4 : memref<?x?x?xf16> to tensor<4x16xf32, #kvc.dims<r, c>>
  return
}

// -----

func.func @load_query_c1_element(%m: memref<?x?x16xf64>, %i: index) {
  // expected-error@+1 {{'kvc.load_query' op memref: expected elements 'f16' or 'bf16' or 'f32', got 'f64'}}
  %0 = kvc.load_query %m[%i to %i, %i] group 4 : memref<?x?x16xf64> to tensor<4x16xf32, #kvc.dims<r, c>>
  return
}

// -----

func.func @load_query_c2(%m: memref<?x?x16xf16>, %i: index) {
  // expected-error@+1 {{'kvc.load_query' op dim c of the tile: expected extent 16, got 8}}
  %0 = kvc.load_query %m[%i to %i, %i] group 4 : memref<?x?x16xf16> to tensor<4x8xf32, #kvc.dims<r, c>>
  return
}

// -----

func.func @load_query_c2_rank(%m: memref<?x?x16xf16>, %i: index) {
  // expected-error@+1 {{'kvc.load_query' op expected a tile with 2 dims, got}}
  %0 = kvc.load_query %m[%i to %i, %i] group 4 : memref<?x?x16xf16> to tensor<16xf32, #kvc.dims<c>>
  return
}

// -----

func.func @load_query_c3(%m: memref<?x?x16xf16>, %i: index) {
  // expected-error@+1 {{'kvc.load_query' op group: expected a positive number, got 0}}
  %0 = kvc.load_query %m[%i to %i, %i] group 0 : memref<?x?x16xf16> to tensor<4x16xf32, #kvc.dims<r, c>>
  return
}

// -----

func.func @load_row_values_c1(%m: memref<?xf16>, %i: index) {
  // expected-error@+1 {{'kvc.load_row_values' op memref: expected elements 'f32', got 'f16'}}
  %0 = kvc.load_row_values %m[%i to %i, %i] group 4 : memref<?xf16> to tensor<4xf32, #kvc.dims<r>>
  return
}

// -----

func.func @load_row_values_c2(%m: memref<?xf32>, %i: index) {
  // expected-error@+1 {{'kvc.load_row_values' op expected a tile with 1 dim, got}}
  %0 = kvc.load_row_values %m[%i to %i, %i] group 4 : memref<?xf32> to tensor<4x1xf32, #kvc.dims<r, c>>
  return
}

// -----

func.func @load_row_values_c3(%m: memref<?xf32>, %i: index) {
  // expected-error@+1 {{'kvc.load_row_values' op group: expected a positive number, got -1}}
  %0 = kvc.load_row_values %m[%i to %i, %i] group -1 : memref<?xf32> to tensor<4xf32, #kvc.dims<r>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8, value_is_key = [0, 64]}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @load_codes_c1(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.load_codes' op tensor: the spec has no value, its value is the key}}
  %0 = kvc.load_codes %c[%i, %i] valid %i {tensor = #kvc.tensor<value>} : !kvc.cache<#s> to tensor<8x128xi8, #kvc.dims<t, c>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @load_codes_c1_part(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.load_codes' op part: expected 0, got 1}}
  %0 = kvc.load_codes %c[%i, %i] valid %i {tensor = #kvc.tensor<key>, part = 1 : i64} : !kvc.cache<#s> to tensor<8x128xi8, #kvc.dims<t, c>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 32, kv_heads = 1, q_heads = 1}>, io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{parts = [{channels = [0, 16], codec = "f16"}, {channels = [16, 32], codec = "f16"}]}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @load_codes_c1_parts(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.load_codes' op part: expected 0 to 1, got 2}}
  %0 = kvc.load_codes %c[%i, %i] valid %i {tensor = #kvc.tensor<key>, part = 2 : i64} : !kvc.cache<#s> to tensor<8x16xf16, #kvc.dims<t, c>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @load_codes_c2(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.load_codes' op dim c of the tile: expected extent 128, got 64}}
  %0 = kvc.load_codes %c[%i, %i] valid %i {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<8x64xi8, #kvc.dims<t, c>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @load_codes_c3(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.load_codes' op expected elements 'i8' for codec int4, got 'f16'}}
  %0 = kvc.load_codes %c[%i, %i] valid %i {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<8x128xf16, #kvc.dims<t, c>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>,
  value = #kvc.scheme<{codec = "f16"}>>
func.func @load_codes_c3_raw(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.load_codes' op expected elements 'f16' for codec f16, got 'i8'}}
  %0 = kvc.load_codes %c[%i, %i] valid %i {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<8x128xi8, #kvc.dims<t, c>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @load_scale_c1(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.load_scale' op part: expected 0, got -1}}
  %0 = kvc.load_scale %c[%i, %i] valid %i {tensor = #kvc.tensor<key>, part = -1 : i64} : !kvc.cache<#s> to tensor<8xf32, #kvc.dims<t>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>,
  value = #kvc.scheme<{codec = "f16"}>>
func.func @load_scale_c2(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.load_scale' op the part has no scale, its codec is f16}}
  %0 = kvc.load_scale %c[%i, %i] valid %i {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<8xf32, #kvc.dims<t>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = 32, dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = 32, dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @load_scale_c3(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.load_scale' op expected a tile with 2 dims, got}}
  %0 = kvc.load_scale %c[%i, %i] valid %i {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<8xf32, #kvc.dims<t>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = 32, dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = 32, dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @load_scale_c3_blocks(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.load_scale' op dim b of the tile: expected extent 4, got 5}}
  %0 = kvc.load_scale %c[%i, %i] valid %i {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<8x5xf32, #kvc.dims<t, b>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8, value_is_key = [0, 64]}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @load_zero_c1(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.load_zero' op tensor: the spec has no value, its value is the key}}
  %0 = kvc.load_zero %c[%i, %i] valid %i {tensor = #kvc.tensor<value>} : !kvc.cache<#s> to tensor<8xf32, #kvc.dims<t>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}}>,
  value = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}}>>
func.func @load_zero_c2(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.load_zero' op the part has no zero}}
  %0 = kvc.load_zero %c[%i, %i] valid %i {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<8xf32, #kvc.dims<t>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = 32, dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = 32, dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @load_zero_c3(%c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.load_zero' op expected a tile with 2 dims, got}}
  %0 = kvc.load_zero %c[%i, %i] valid %i {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<8xf32, #kvc.dims<t>>
  return
}

// -----

func.func @load_partial_c1(%m: memref<?x?x?xf32>, %i: index) {
  // expected-error@+1 {{'kvc.load_partial' op memref: expected shape [splits, rows, channels], got}}
  %0 = kvc.load_partial %m[%i, %i to %i] : memref<?x?x?xf32> to tensor<4x16xf32, #kvc.dims<r, d>>
  return
}

// -----

func.func @load_partial_c2(%m: memref<?x?xf32>, %i: index) {
  // expected-error@+1 {{'kvc.load_partial' op expected a tile with 1 dim, got}}
  %0 = kvc.load_partial %m[%i, %i to %i] : memref<?x?xf32> to tensor<4x16xf32, #kvc.dims<r, d>>
  return
}

// -----

func.func @store_partial_c1(%x: tensor<4x16xf32, #kvc.dims<r, d>>, %m: memref<?x16xf16>, %i: index) {
  // expected-error@+1 {{'kvc.store_partial' op memref: expected elements 'f32', got 'f16'}}
  kvc.store_partial %x, %m[%i to %i] : tensor<4x16xf32, #kvc.dims<r, d>>, memref<?x16xf16>
  return
}

// -----

func.func @store_partial_c2(%x: tensor<4x8xf32, #kvc.dims<r, d>>, %m: memref<?x16xf32>, %i: index) {
  // expected-error@+1 {{'kvc.store_partial' op expected channels inside [0, 16), got 8 from 12}}
  kvc.store_partial %x, %m[%i to %i] {channel = 12 : i64} : tensor<4x8xf32, #kvc.dims<r, d>>, memref<?x16xf32>
  return
}

// -----

func.func @store_output_c1(%x: tensor<4x16xf32, #kvc.dims<r, d>>, %m: memref<?x?x16xf16, strided<[?, ?, 2]>>, %i: index) {
  // expected-error@+1 {{'kvc.store_output' op memref: expected a dense last dim, got}}
  kvc.store_output %x, %m[%i to %i, %i] group 4 : tensor<4x16xf32, #kvc.dims<r, d>>, memref<?x?x16xf16, strided<[?, ?, 2]>>
  return
}

// -----

func.func @store_output_c2(%x: tensor<4xf32, #kvc.dims<r>>, %m: memref<?x?x16xf16>, %i: index) {
  // expected-error@+1 {{'kvc.store_output' op expected a tile with 2 dims, got}}
  kvc.store_output %x, %m[%i to %i, %i] group 4 : tensor<4xf32, #kvc.dims<r>>, memref<?x?x16xf16>
  return
}

// -----

func.func @store_output_c3(%x: tensor<4x16xf32, #kvc.dims<r, d>>, %m: memref<?x?x16xf16>, %i: index) {
  // expected-error@+1 {{'kvc.store_output' op group: expected a positive number, got 0}}
  kvc.store_output %x, %m[%i to %i, %i] group 0 : tensor<4x16xf32, #kvc.dims<r, d>>, memref<?x?x16xf16>
  return
}

// -----

func.func @load_input_c1(%m: memref<?x16xf16>, %i: index) {
  // expected-error@+1 {{'kvc.load_input' op memref: expected shape [tokens, kv_heads, channels], got}}
  %0 = kvc.load_input %m[%i, %i] : memref<?x16xf16> to tensor<1x16xf32, #kvc.dims<b, e>>
  return
}

// -----

func.func @load_input_c2(%m: memref<?x?x16xf16>, %i: index) {
  // expected-error@+1 {{'kvc.load_input' op expected channels inside [0, 16), got 24 from 0}}
  %0 = kvc.load_input %m[%i, %i] : memref<?x?x16xf16> to tensor<1x24xf32, #kvc.dims<b, e>>
  return
}

// -----

func.func @load_input_c2_rank(%m: memref<?x?x16xf16>, %i: index) {
  // expected-error@+1 {{'kvc.load_input' op expected a tile with 2 dims, got}}
  %0 = kvc.load_input %m[%i, %i] : memref<?x?x16xf16> to tensor<16xf32, #kvc.dims<e>>
  return
}

// -----

func.func @load_input_c2_first(%m: memref<?x?x16xf16>, %i: index) {
  // expected-error@+1 {{'kvc.load_input' op expected channels inside [0, 16), got 8 from 9}}
  %0 = kvc.load_input %m[%i, %i] {channel = 9 : i64} : memref<?x?x16xf16> to tensor<1x8xf32, #kvc.dims<b, e>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @store_codes_c1(%x: tensor<1x128xi8, #kvc.dims<b, e>>, %c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.store_codes' op part: expected 0, got 2}}
  kvc.store_codes %x, %c[%i, %i] {tensor = #kvc.tensor<key>, part = 2 : i64} : tensor<1x128xi8, #kvc.dims<b, e>>, !kvc.cache<#s>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @store_codes_c2(%x: tensor<2x32xi8, #kvc.dims<b, e>>, %c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.store_codes' op expected a tile of 128 channels, got 64}}
  kvc.store_codes %x, %c[%i, %i] {tensor = #kvc.tensor<key>} : tensor<2x32xi8, #kvc.dims<b, e>>, !kvc.cache<#s>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @store_codes_c2_rank(%x: tensor<128xi8, #kvc.dims<e>>, %c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.store_codes' op expected a tile with 2 dims, got}}
  kvc.store_codes %x, %c[%i, %i] {tensor = #kvc.tensor<key>} : tensor<128xi8, #kvc.dims<e>>, !kvc.cache<#s>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @store_codes_c2_huge(%x: tensor<4294967304x4294967312xi8, #kvc.dims<b, e>>, %c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.store_codes' op expected a tile of 128 channels, got 18446744073709551615}}
  kvc.store_codes %x, %c[%i, %i] {tensor = #kvc.tensor<key>} : tensor<4294967304x4294967312xi8, #kvc.dims<b, e>>, !kvc.cache<#s>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @store_codes_c3(%x: tensor<1x128xf32, #kvc.dims<b, e>>, %c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.store_codes' op expected elements 'i8' for codec int4, got 'f32'}}
  kvc.store_codes %x, %c[%i, %i] {tensor = #kvc.tensor<key>} : tensor<1x128xf32, #kvc.dims<b, e>>, !kvc.cache<#s>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8, value_is_key = [0, 64]}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @store_scale_c1(%x: tensor<1xf32, #kvc.dims<b>>, %c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.store_scale' op tensor: the spec has no value, its value is the key}}
  kvc.store_scale %x, %c[%i, %i] {tensor = #kvc.tensor<value>} : tensor<1xf32, #kvc.dims<b>>, !kvc.cache<#s>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>,
  value = #kvc.scheme<{codec = "f16"}>>
func.func @store_scale_c2(%x: tensor<1xf32, #kvc.dims<b>>, %c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.store_scale' op the part has no scale, its codec is f16}}
  kvc.store_scale %x, %c[%i, %i] {tensor = #kvc.tensor<key>} : tensor<1xf32, #kvc.dims<b>>, !kvc.cache<#s>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = 32, dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = 32, dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @store_scale_c3(%x: tensor<1xf32, #kvc.dims<b>>, %c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.store_scale' op dim b of the tile: expected extent 4, got 1}}
  kvc.store_scale %x, %c[%i, %i] {tensor = #kvc.tensor<key>} : tensor<1xf32, #kvc.dims<b>>, !kvc.cache<#s>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @store_zero_c1(%x: tensor<1xf32, #kvc.dims<b>>, %c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.store_zero' op part: expected 0, got 1}}
  kvc.store_zero %x, %c[%i, %i] {tensor = #kvc.tensor<key>, part = 1 : i64} : tensor<1xf32, #kvc.dims<b>>, !kvc.cache<#s>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}}>,
  value = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}}>>
func.func @store_zero_c2(%x: tensor<1xf32, #kvc.dims<b>>, %c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.store_zero' op the part has no zero}}
  kvc.store_zero %x, %c[%i, %i] {tensor = #kvc.tensor<key>} : tensor<1xf32, #kvc.dims<b>>, !kvc.cache<#s>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
func.func @store_zero_c3(%x: tensor<1x1xf32, #kvc.dims<b, e>>, %c: !kvc.cache<#s>, %i: index) {
  // expected-error@+1 {{'kvc.store_zero' op expected a tile with 1 dim, got}}
  kvc.store_zero %x, %c[%i, %i] {tensor = #kvc.tensor<key>} : tensor<1x1xf32, #kvc.dims<b, e>>, !kvc.cache<#s>
  return
}

// -----

func.func @store_rows_c1(%x: tensor<8x16xi8, #kvc.dims<t, c>>, %m: memref<?x16xf32>, %i: index) {
  // expected-error@+1 {{'kvc.store_rows' op memref: expected elements 'i8', got 'f32'}}
  kvc.store_rows %x, %m[%i] valid %i : tensor<8x16xi8, #kvc.dims<t, c>>, memref<?x16xf32>
  return
}

// -----

func.func @store_rows_c2(%x: tensor<8x8xf32, #kvc.dims<t, c>>, %m: memref<?x16xf32>, %i: index) {
  // expected-error@+1 {{'kvc.store_rows' op dim c of the tile: expected extent 16, got 8}}
  kvc.store_rows %x, %m[%i] valid %i : tensor<8x8xf32, #kvc.dims<t, c>>, memref<?x16xf32>
  return
}

// -----

func.func @store_rows_c2_rank(%x: tensor<8xf32, #kvc.dims<t>>, %m: memref<?x16xf32>, %i: index) {
  // expected-error@+1 {{'kvc.store_rows' op expected a tile with 2 dims, got}}
  kvc.store_rows %x, %m[%i] valid %i : tensor<8xf32, #kvc.dims<t>>, memref<?x16xf32>
  return
}

// -----

// power_of_two C1
func.func @power_of_two_c1(%x: tensor<8xf32, #kvc.dims<t>>) {
  // expected-error@+1 {{'kvc.power_of_two' op expected exponents within -149 to 127 in order, got 3 to 2}}
  %0 = kvc.power_of_two %x from 3 to 2 : tensor<8xf32, #kvc.dims<t>>
  return
}

// -----

// encode_float C1
func.func @encode_float_c1(%x: tensor<8xf32, #kvc.dims<t>>) {
  // expected-error@+1 {{'kvc.encode_float' op expected codes 'tensor<8xi8, #kvc.dims<t>>', got 'tensor<4xi8, #kvc.dims<t>>'}}
  %0 = kvc.encode_float %x {format = "fp8_e4m3"} : tensor<8xf32, #kvc.dims<t>> to tensor<4xi8, #kvc.dims<t>>
  return
}

// -----

// decode_float C1
func.func @decode_float_c1(%u: tensor<4xi8, #kvc.dims<t>>) {
  // expected-error@+1 {{'kvc.decode_float' op expected codes 'tensor<8xi8, #kvc.dims<t>>', got 'tensor<4xi8, #kvc.dims<t>>'}}
  %0 = kvc.decode_float %u {format = "fp8_e4m3"} : tensor<4xi8, #kvc.dims<t>> to tensor<8xf32, #kvc.dims<t>>
  return
}

// -----

// lookup C1
func.func @lookup_c1(%u: tensor<4xi8, #kvc.dims<t>>) {
  // expected-error@+1 {{'kvc.lookup' op expected codes 'tensor<8xi8, #kvc.dims<t>>', got 'tensor<4xi8, #kvc.dims<t>>'}}
  %0 = kvc.lookup %u in [0.0, 1.0, 2.0, 3.0] : tensor<4xi8, #kvc.dims<t>> to tensor<8xf32, #kvc.dims<t>>
  return
}

// -----

// lookup C2
func.func @lookup_c2(%u: tensor<8xi8, #kvc.dims<t>>) {
  // expected-error@+1 {{'kvc.lookup' op table: expected 4, 8 or 16 entries, got 3}}
  %0 = kvc.lookup %u in [0.0, 1.0, 2.0] : tensor<8xi8, #kvc.dims<t>> to tensor<8xf32, #kvc.dims<t>>
  return
}
