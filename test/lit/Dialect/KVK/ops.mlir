// Level 3: every op, and attributes with every kind of digit.
// RUN: kvc-opt %s --split-input-file | kvc-opt --split-input-file | FileCheck %s
// RUN: kvc-opt %s --split-input-file --mlir-print-op-generic | kvc-opt --split-input-file | FileCheck %s

#int4 = #kvc.spec<name = "int",
  attention = #kvc.attention<{head_dim = 128, kv_heads = 8, q_heads = 32}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int4", scale = {channels = 32, dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f32", tokens = 1}}>>

// CHECK-DAG: #[[CODES:storage.*]] = #kvk.storage<width = 4, addr = [c1, c2, c0, t0, t1, t2, t3, c3, c4, c5, c6, t4, t5, h0, h1, h2]>
// CHECK-DAG: #[[META:storage.*]] = #kvk.storage<width = 16, addr = [t0, t1, t2, t3, t4, t5, b0, b1, h0, h1, h2]>
// CHECK-DAG: #[[LAYOUT:layout.*]] = #kvk.layout<pack = [c0], reg = [c1, c2, c3, c4, c5, c6, t4, t5], lane = [t0, t1, t2, t3]>
#codes = #kvk.storage<width = 4, addr = [c1, c2, c0, t0, t1, t2, t3, c3, c4, c5, c6, t4, t5, h0, h1, h2]>
#meta = #kvk.storage<width = 16, addr = [t0, t1, t2, t3, t4, t5, b0, b1, h0, h1, h2]>
#operand = #kvk.layout<pack = [c0], reg = [c1, c2, c3, c4, c5, c6, t4, t5], lane = [t0, t1, t2, t3]>

// CHECK-LABEL: func.func @scores
func.func @scores(%cache: !kvc.cache<#int4>, %q: memref<4x128xf32>, %S: memref<4x64xf32, strided<[128, 1]>>,
    %f: memref<4xf32>, %g: memref<64xf32>, %w: memref<4x128xi16>, %kv_head: index, %t0: index, %n: index) {
  %c0 = arith.constant 0 : index
  // CHECK: kvk.quantize_rows %{{.*}} into %{{.*}}, %{{.*}} : memref<4x128xf32> into memref<4x128xi16>, memref<4xf32>
  kvk.quantize_rows %q into %w, %f : memref<4x128xf32> into memref<4x128xi16>, memref<4xf32>
  // CHECK: kvk.load %{{.*}}[%{{.*}}, %{{.*}}] valid %{{.*}} channels %{{.*}} {page = 64 : i64, storage = #[[CODES]], tensor = #kvc.tensor<key>} : !kvc.cache<#int> to !kvk.tile<64x128xi4, #kvc.dims<t, c>>
  %x = kvk.load %cache[%kv_head, %t0] valid %n channels %c0
    {tensor = #kvc.tensor<key>, storage = #codes, page = 64}
    : !kvc.cache<#int4> to !kvk.tile<64x128xi4, #kvc.dims<t, c>>
  // CHECK: kvk.widen %{{.*}} {bias = 8 : i64} : !kvk.tile<64x128xi4, #kvc.dims<t, c>> to !kvk.tile<64x128xi16, #kvc.dims<t, c>, #[[LAYOUT]]>
  %y = kvk.widen %x {bias = 8 : i64} : !kvk.tile<64x128xi4, #kvc.dims<t, c>>
    to !kvk.tile<64x128xi16, #kvc.dims<t, c>, #operand>
  // CHECK: kvk.dot %{{.*}}, %{{.*}} into %{{.*}} scale_rows %{{.*}} scale_lanes %{{.*}} {contract = "c"} : memref<4x128xi16>, !kvk.tile<64x128xi16, #kvc.dims<t, c>, #[[LAYOUT]]> into memref<4x64xf32, strided<[128, 1]>> scale_rows memref<4xf32> scale_lanes memref<64xf32>
  kvk.dot %w, %y into %S scale_rows %f scale_lanes %g {contract = "c"}
    : memref<4x128xi16>, !kvk.tile<64x128xi16, #kvc.dims<t, c>, #operand> into memref<4x64xf32, strided<[128, 1]>>
    scale_rows memref<4xf32> scale_lanes memref<64xf32>
  return
}

// A dot with a panel, and one slice of channels of a tile.
// CHECK-LABEL: func.func @output
func.func @output(%cache: !kvc.cache<#int4>, %p: memref<4x64xf32>, %panel: memref<64x128xf32>, %O: memref<4x128xf32>,
    %O2: memref<4x32xf32, strided<[128, 1], offset: ?>>, %kv_head: index, %t0: index, %n: index, %c0: index) {
  // CHECK: kvk.dot %{{.*}}, %{{.*}} into %{{.*}} {accumulate, contract = "major"} : memref<4x64xf32>, memref<64x128xf32> into memref<4x128xf32>
  kvk.dot %p, %panel into %O {contract = "major", accumulate}
    : memref<4x64xf32>, memref<64x128xf32> into memref<4x128xf32>
  // CHECK: kvk.dot {{.*}} {contract = "minor"} : memref<4x128xf32>, memref<64x128xf32> into memref<4x64xf32>
  kvk.dot %O, %panel into %p {contract = "minor"} : memref<4x128xf32>, memref<64x128xf32> into memref<4x64xf32>
  %x = kvk.load %cache[%kv_head, %t0] valid %n channels %c0
    {tensor = #kvc.tensor<key>, storage = #codes, page = 64}
    : !kvc.cache<#int4> to !kvk.tile<64x32xi4, #kvc.dims<t, c>>
  // CHECK: kvk.widen {{.*}} to !kvk.tile<64x32xf32, #kvc.dims<t, c>>
  %y = kvk.widen %x {bias = 8 : i64} : !kvk.tile<64x32xi4, #kvc.dims<t, c>> to !kvk.tile<64x32xf32, #kvc.dims<t, c>>
  // CHECK: kvk.dot {{.*}} {accumulate, contract = "t"} : memref<4x64xf32>, !kvk.tile<64x32xf32, #kvc.dims<t, c>> into memref<4x32xf32, strided<[128, 1], offset: ?>>
  kvk.dot %p, %y into %O2 {contract = "t", accumulate}
    : memref<4x64xf32>, !kvk.tile<64x32xf32, #kvc.dims<t, c>> into memref<4x32xf32, strided<[128, 1], offset: ?>>
  return
}

// Codes that are decoded: small floats, and entries of a table.
// CHECK-LABEL: func.func @decoded
func.func @decoded(%f: !kvk.tile<64x32xi8, #kvc.dims<t, c>>, %u: !kvk.tile<64x32xi2, #kvc.dims<t, c>>) {
  // CHECK: kvk.widen %{{.*}} {format = "fp8_e4m3"} : !kvk.tile<64x32xi8, #kvc.dims<t, c>> to !kvk.tile<64x32xf32, #kvc.dims<t, c>>
  %0 = kvk.widen %f {format = "fp8_e4m3"} : !kvk.tile<64x32xi8, #kvc.dims<t, c>> to !kvk.tile<64x32xf32, #kvc.dims<t, c>>
  // CHECK: kvk.widen %{{.*}} {table = array<f32: -1.000000e+00, -5.000000e-01, 5.000000e-01, 3.175000e+01>} : {{.*}} to !kvk.tile<64x32xi16, #kvc.dims<t, c>>
  %1 = kvk.widen %u {table = array<f32: -1.0, -0.5, 0.5, 31.75>} : !kvk.tile<64x32xi2, #kvc.dims<t, c>> to !kvk.tile<64x32xi16, #kvc.dims<t, c>>
  return
}

// Before kvk-derive-storage.
// CHECK-LABEL: func.func @without_storage
func.func @without_storage(%cache: !kvc.cache<#int4>, %i: index, %x: vector<32xi8>, %s: f32) {
  // CHECK: kvk.load %{{.*}} {tensor = #kvc.tensor<key>} : !kvc.cache<#int> to
  %0 = kvk.load %cache[%i, %i] valid %i channels %i {tensor = #kvc.tensor<key>} : !kvc.cache<#int4> to !kvk.tile<64x128xi4, #kvc.dims<t, c>>
  // CHECK: kvk.load_row %{{.*}} {tensor = #kvc.tensor<key>} : !kvc.cache<#int> to vector<32xi8>
  %1 = kvk.load_row %cache[%i, %i] channels %i {tensor = #kvc.tensor<key>} : !kvc.cache<#int4> to vector<32xi8>
  // CHECK: kvk.store_row %{{.*}} {tensor = #kvc.tensor<key>} : vector<32xi8>
  kvk.store_row %x, %cache[%i, %i] channels %i {tensor = #kvc.tensor<key>} : vector<32xi8>, !kvc.cache<#int4>
  // CHECK: kvk.load_meta %{{.*}} {kind = #kvk.meta<scale>, tensor = #kvc.tensor<key>} : !kvc.cache<#int> to f32
  %2 = kvk.load_meta %cache[%i, %i] block %i {tensor = #kvc.tensor<key>, kind = #kvk.meta<scale>} : !kvc.cache<#int4> to f32
  // CHECK: kvk.store_meta %{{.*}} {kind = #kvk.meta<scale>, tensor = #kvc.tensor<key>} : f32
  kvk.store_meta %s, %cache[%i, %i] block %i {tensor = #kvc.tensor<key>, kind = #kvk.meta<scale>} : f32, !kvc.cache<#int4>
  return
}

// CHECK-LABEL: func.func @rows
func.func @rows(%cache: !kvc.cache<#int4>, %kv_head: index, %t: index, %c0: index, %b: index, %n: index, %s: f32) {
  // CHECK: kvk.load_row %{{.*}}[%{{.*}}, %{{.*}}] channels %{{.*}} {page = 64 : i64, storage = #[[CODES]], tensor = #kvc.tensor<key>} : !kvc.cache<#int> to vector<32xi8>
  %v = kvk.load_row %cache[%kv_head, %t] channels %c0 {tensor = #kvc.tensor<key>, storage = #codes, page = 64}
    : !kvc.cache<#int4> to vector<32xi8>
  // CHECK: kvk.store_row %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] channels %{{.*}} {page = 64 : i64, storage = #[[CODES]], tensor = #kvc.tensor<key>} : vector<32xi8>, !kvc.cache<#int>
  kvk.store_row %v, %cache[%kv_head, %t] channels %c0 {tensor = #kvc.tensor<key>, storage = #codes, page = 64}
    : vector<32xi8>, !kvc.cache<#int4>
  // CHECK: kvk.load_meta %{{.*}}[%{{.*}}, %{{.*}}] block %{{.*}} {kind = #kvk.meta<scale>, page = 64 : i64, storage = #[[META]], tensor = #kvc.tensor<key>} : !kvc.cache<#int> to f32
  %one = kvk.load_meta %cache[%kv_head, %t] block %b
    {tensor = #kvc.tensor<key>, kind = #kvk.meta<scale>, storage = #meta, page = 64} : !kvc.cache<#int4> to f32
  // CHECK: kvk.load_meta %{{.*}}[%{{.*}}, %{{.*}}] block %{{.*}} valid %{{.*}} {kind = #kvk.meta<zero>, page = 64 : i64, storage = #[[META]], tensor = #kvc.tensor<key>} : !kvc.cache<#int> to vector<64xf32>
  %many = kvk.load_meta %cache[%kv_head, %t] block %b valid %n
    {tensor = #kvc.tensor<key>, kind = #kvk.meta<zero>, storage = #meta, page = 64} : !kvc.cache<#int4> to vector<64xf32>
  %rows = memref.alloca() : memref<4x64xf32>
  // CHECK: kvk.load_meta_tile %{{.*}}[%{{.*}}, %{{.*}}] valid %{{.*}} into %{{.*}} {kind = #kvk.meta<zero>, page = 64 : i64, storage = #[[META]], tensor = #kvc.tensor<key>} : !kvc.cache<#int> into memref<4x64xf32>
  kvk.load_meta_tile %cache[%kv_head, %t] valid %n into %rows
    {tensor = #kvc.tensor<key>, kind = #kvk.meta<zero>, storage = #meta, page = 64} : !kvc.cache<#int4> into memref<4x64xf32>
  // CHECK: kvk.store_meta %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] block %{{.*}} {kind = #kvk.meta<zero>, page = 64 : i64, storage = #[[META]], tensor = #kvc.tensor<key>} : f32, !kvc.cache<#int>
  kvk.store_meta %s, %cache[%kv_head, %t] block %b
    {tensor = #kvc.tensor<key>, kind = #kvk.meta<zero>, storage = #meta, page = 64} : f32, !kvc.cache<#int4>
  return
}

// -----

// Raw values; an extent of 80 = 16 * 5 channels has one digit that is no bit.
#raw = #kvc.spec<name = "raw", attention = #kvc.attention<{head_dim = 80, kv_heads = 1, q_heads = 1}>,
  io = #kvc.io<{query = "bf16"}>, key = #kvc.scheme<{codec = "bf16"}>, value = #kvc.scheme<{codec = "f16"}>>
// CHECK: #kvk.storage<width = 16, addr = [c0, c1, c2, c3, c[16:5], t0, t1, t2, t3]>
#codes = #kvk.storage<width = 16, addr = [c0, c1, c2, c3, c[16:5], t0, t1, t2, t3]>
// CHECK-LABEL: func.func @raw
func.func @raw(%cache: !kvc.cache<#raw>, %i: index) {
  %x = kvk.load %cache[%i, %i] valid %i channels %i {tensor = #kvc.tensor<key>, storage = #codes, page = 16}
    : !kvc.cache<#raw> to !kvk.tile<16x80xbf16, #kvc.dims<t, c>>
  // CHECK: kvk.widen %{{.*}} : !kvk.tile<16x80xbf16, #kvc.dims<t, c>> to !kvk.tile<16x80xf32, #kvc.dims<t, c>>
  %y = kvk.widen %x : !kvk.tile<16x80xbf16, #kvc.dims<t, c>> to !kvk.tile<16x80xf32, #kvc.dims<t, c>>
  // CHECK: kvk.load_row {{.*}} to vector<80xf16>
  %v = kvk.load_row %cache[%i, %i] channels %i {tensor = #kvc.tensor<value>, storage = #codes, page = 16}
    : !kvc.cache<#raw> to vector<80xf16>
  return
}

// -----

// Scales of blocks of 32 tokens start at t5; a page of 32 tokens is one block.
#kivi = #kvc.spec<name = "kivi", attention = #kvc.attention<{head_dim = 16, kv_heads = 1, q_heads = 1}>,
  io = #kvc.io<{query = "f16"}>, segments = #kvc.segments<{recent = 32}>,
  key = #kvc.scheme<{codec = "int2", scale = {channels = 1, dtype = "f16", tokens = 32}, zero = "min"}>,
  value = #kvc.scheme<{codec = "f16"}>>
// CHECK-LABEL: func.func @blocks
func.func @blocks(%cache: !kvc.cache<#kivi>, %i: index) {
  // CHECK: page = 64
  %0 = kvk.load_meta %cache[%i, %i] block %i {tensor = #kvc.tensor<key>, kind = #kvk.meta<scale>, page = 64,
    storage = #kvk.storage<width = 16, addr = [t5, b0, b1, b2, b3]>} : !kvc.cache<#kivi> to f32
  // CHECK: page = 32
  %1 = kvk.load_meta %cache[%i, %i] block %i {tensor = #kvc.tensor<key>, kind = #kvk.meta<zero>, page = 32,
    storage = #kvk.storage<width = 16, addr = [b0, b1, b2, b3]>} : !kvc.cache<#kivi> to f32
  return
}

// -----

// A fragment of a warp: replicated lanes, warps, empty lists.
// CHECK: #kvk.layout<pack = [m0], lane = [*, *, n0, n1, n2], warp = [*, m[2:3]]>
func.func private @warp() attributes {test.layout = #kvk.layout<pack = [m0], reg = [], lane = [*, *, n0, n1, n2], warp = [*, m[2:3]]>}

// -----

#given = #kvc.spec<name = "given", attention = #kvc.attention<{head_dim = 16, kv_heads = 1, q_heads = 1}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "lut", table = {bits = 2}, scale = {channels = 8, dtype = "f16", static = true, tokens = "all"}}>,
  value = #kvc.scheme<{codec = "f16", smooth = true}>>
// CHECK-LABEL: func.func @given
func.func @given(%cache: !kvc.cache<#given>, %head: index) {
  // CHECK: kvk.load_scheme %{{.*}}[%{{.*}}] {field = "scale", tensor = #kvc.tensor<key>} : !kvc.cache<#given> to vector<16xf32>
  %0 = kvk.load_scheme %cache[%head] {tensor = #kvc.tensor<key>, field = "scale"} : !kvc.cache<#given> to vector<16xf32>
  // CHECK: kvk.load_scheme %{{.*}}[%{{.*}}] {field = "largest", tensor = #kvc.tensor<key>} : !kvc.cache<#given> to f32
  %1 = kvk.load_scheme %cache[%head] {tensor = #kvc.tensor<key>, field = "largest"} : !kvc.cache<#given> to f32
  return
}

// CHECK-LABEL: func.func @lookup
func.func @lookup(%u: vector<128xi8>, %t: vector<16xf32>) -> vector<128xf32> {
  // CHECK: kvk.lookup %{{.*}} in %{{.*}} : vector<128xi8> in vector<16xf32> to vector<128xf32>
  %0 = kvk.lookup %u in %t : vector<128xi8> in vector<16xf32> to vector<128xf32>
  return %0 : vector<128xf32>
}
