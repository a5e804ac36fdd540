// Level 1: tiles by name, and that upstream arith, math and scf carry them.
// RUN: kvc-opt %s | kvc-opt | FileCheck %s
// RUN: kvc-opt %s --mlir-print-op-generic | kvc-opt | FileCheck %s
// RUN: kvc-opt %s --canonicalize | FileCheck %s --check-prefix=FOLD

#int4 = #kvc.spec<name = "int",
  attention = #kvc.attention<{head_dim = 128, kv_heads = 8, q_heads = 32}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = 32, dtype = "f16", tokens = 1}, zero = "min"}>>
#raw = #kvc.spec<name = "raw",
  attention = #kvc.attention<{head_dim = 128, kv_heads = 8, q_heads = 32}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "bf16"}>, value = #kvc.scheme<{codec = "f32"}>>

!qt = tensor<4x128xf32, #kvc.dims<r, c>>
!st = tensor<4x64xf32, #kvc.dims<r, t>>
!ot = tensor<4x128xf32, #kvc.dims<r, d>>
!rt = tensor<4xf32, #kvc.dims<r>>
!tt = tensor<64xf32, #kvc.dims<t>>

// The whole loop of decode: int4 "min", one scale per token of K and four blocks
// of V, causal.
// CHECK-LABEL: func.func @decode
func.func @decode(%cache: !kvc.cache<#int4>, %qm: memref<?x?x128xf16, strided<[?, ?, 1]>>, %pout: memref<?x128xf32>,
    %plse: memref<?xf32>, %slopes: memref<?xf32>, %kv_head: index, %row: index, %row_end: index, %first: i64,
    %ntiles: index, %hi: index, %scale: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  // CHECK: kvc.load_query %{{.*}}[%{{.*}} to %{{.*}}, %{{.*}}] group 4 : memref<?x?x128xf16, strided<[?, ?, 1]>> to tensor<4x128xf32, #kvc.dims<r, c>>
  %q0 = kvc.load_query %qm[%row to %row_end, %kv_head] group 4 : memref<?x?x128xf16, strided<[?, ?, 1]>> to !qt
  // CHECK: kvc.broadcast %{{.*}} : f32 to tensor<4x128xf32, #kvc.dims<r, c>>
  %sb = kvc.broadcast %scale : f32 to !qt
  // CHECK: arith.mulf %{{.*}}, %{{.*}} : tensor<4x128xf32, #kvc.dims<r, c>>
  %q = arith.mulf %q0, %sb : !qt
  // CHECK: kvc.load_row_values %{{.*}}[%{{.*}} to %{{.*}}, %{{.*}}] group 4 : memref<?xf32> to tensor<4xf32, #kvc.dims<r>>
  %slope = kvc.load_row_values %slopes[%row to %row_end, %kv_head] group 4 : memref<?xf32> to !rt
  // CHECK: arith.constant dense<0xFF800000> : tensor<4xf32, #kvc.dims<r>>
  %m0 = arith.constant dense<0xFF800000> : !rt
  %l0 = arith.constant dense<0.0> : !rt
  %o0 = arith.constant dense<0.0> : !ot
  // CHECK: kvc.iota : tensor<4xi64, #kvc.dims<r>>
  %ri = kvc.iota : tensor<4xi64, #kvc.dims<r>>
  %f = kvc.broadcast %first : i64 to tensor<4xi64, #kvc.dims<r>>
  %pos = arith.addi %f, %ri : tensor<4xi64, #kvc.dims<r>>
  // CHECK: scf.for {{.*}} -> (tensor<4xf32, #kvc.dims<r>>, tensor<4xf32, #kvc.dims<r>>, tensor<4x128xf32, #kvc.dims<r, d>>)
  %r:3 = scf.for %i = %c0 to %ntiles step %c1 iter_args(%m = %m0, %l = %l0, %o = %o0) -> (!rt, !rt, !ot) {
    %t0 = arith.muli %i, %c64 : index
    %left = arith.subi %hi, %t0 : index
    %n = arith.minsi %left, %c64 : index
    // CHECK: kvc.load_codes %{{.*}}[%{{.*}}, %{{.*}}] valid %{{.*}} {tensor = #kvc.tensor<key>} : !kvc.cache<#int> to tensor<64x128xi8, #kvc.dims<t, c>>
    %u = kvc.load_codes %cache[%kv_head, %t0] valid %n {tensor = #kvc.tensor<key>}
      : !kvc.cache<#int4> to tensor<64x128xi8, #kvc.dims<t, c>>
    // CHECK: kvc.load_scale %{{.*}}[%{{.*}}, %{{.*}}] valid %{{.*}} {tensor = #kvc.tensor<key>} : !kvc.cache<#int> to tensor<64xf32, #kvc.dims<t>>
    %s = kvc.load_scale %cache[%kv_head, %t0] valid %n {tensor = #kvc.tensor<key>} : !kvc.cache<#int4> to !tt
    // CHECK: kvc.load_zero %{{.*}}[%{{.*}}, %{{.*}}] valid %{{.*}} {tensor = #kvc.tensor<key>} : !kvc.cache<#int> to tensor<64xf32, #kvc.dims<t>>
    %z = kvc.load_zero %cache[%kv_head, %t0] valid %n {tensor = #kvc.tensor<key>} : !kvc.cache<#int4> to !tt
    // CHECK: kvc.dequantize %{{.*}}, %{{.*}}, %{{.*}} {centre = 8 : i64, zero_kind = "min"} : tensor<64x128xi8, #kvc.dims<t, c>>, tensor<64xf32, #kvc.dims<t>>, tensor<64xf32, #kvc.dims<t>> to tensor<64x128xf32, #kvc.dims<t, c>>
    %k = kvc.dequantize %u, %s, %z {centre = 8 : i64, zero_kind = "min"}
      : tensor<64x128xi8, #kvc.dims<t, c>>, !tt, !tt to tensor<64x128xf32, #kvc.dims<t, c>>
    // CHECK: kvc.contract %{{.*}}, %{{.*}} : tensor<4x128xf32, #kvc.dims<r, c>>, tensor<64x128xf32, #kvc.dims<t, c>> to tensor<4x64xf32, #kvc.dims<r, t>>
    %S0 = kvc.contract %q, %k : !qt, tensor<64x128xf32, #kvc.dims<t, c>> to !st

    // Causal mask: token <= position of the row, clamped to the tile.
    %ti = kvc.iota : tensor<64xi32, #kvc.dims<t>>
    %tb = kvc.broadcast %ti : tensor<64xi32, #kvc.dims<t>> to tensor<4x64xi32, #kvc.dims<r, t>>
    // CHECK: arith.trunci %{{.*}} : tensor<4xi64, #kvc.dims<r>> to tensor<4xi32, #kvc.dims<r>>
    %lim = arith.trunci %pos : tensor<4xi64, #kvc.dims<r>> to tensor<4xi32, #kvc.dims<r>>
    %lb = kvc.broadcast %lim : tensor<4xi32, #kvc.dims<r>> to tensor<4x64xi32, #kvc.dims<r, t>>
    // CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : tensor<4x64xi32, #kvc.dims<r, t>>
    %vis = arith.cmpi slt, %tb, %lb : tensor<4x64xi32, #kvc.dims<r, t>>
    %ninf = arith.constant dense<0xFF800000> : !st
    // CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x64xi1, #kvc.dims<r, t>>, tensor<4x64xf32, #kvc.dims<r, t>>
    %S = arith.select %vis, %S0, %ninf : tensor<4x64xi1, #kvc.dims<r, t>>, !st

    // CHECK: kvc.reduce maximumf %{{.*}} : tensor<4x64xf32, #kvc.dims<r, t>> to tensor<4xf32, #kvc.dims<r>>
    %mt = kvc.reduce maximumf %S : !st to !rt
    %m1 = arith.maximumf %m, %mt : !rt
    // CHECK: arith.cmpf oeq, %{{.*}}, %{{.*}} : tensor<4xf32, #kvc.dims<r>>
    %none = arith.cmpf oeq, %m1, %m0 : !rt
    %safe = arith.select %none, %l0, %m1 : tensor<4xi1, #kvc.dims<r>>, !rt
    %mb = kvc.broadcast %safe : !rt to !st
    %d = arith.subf %S, %mb : !st
    // CHECK: math.exp2 %{{.*}} : tensor<4x64xf32, #kvc.dims<r, t>>
    %p = math.exp2 %d : !st
    %dm = arith.subf %m, %safe : !rt
    %alpha = math.exp2 %dm : !rt
    %lt = kvc.reduce add %p : !st to !rt
    %la = arith.mulf %l, %alpha : !rt
    %l1 = arith.addf %la, %lt : !rt

    %uv = kvc.load_codes %cache[%kv_head, %t0] valid %n {tensor = #kvc.tensor<value>}
      : !kvc.cache<#int4> to tensor<64x128xi8, #kvc.dims<t, d>>
    // CHECK: kvc.load_scale {{.*}} to tensor<64x4xf32, #kvc.dims<t, b>>
    %sv = kvc.load_scale %cache[%kv_head, %t0] valid %n {tensor = #kvc.tensor<value>}
      : !kvc.cache<#int4> to tensor<64x4xf32, #kvc.dims<t, b>>
    %zv = kvc.load_zero %cache[%kv_head, %t0] valid %n {tensor = #kvc.tensor<value>}
      : !kvc.cache<#int4> to tensor<64x4xf32, #kvc.dims<t, b>>
    // CHECK: kvc.split %{{.*}} : tensor<64x128xi8, #kvc.dims<t, d>> to tensor<64x4x32xi8, #kvc.dims<t, b, e>>
    %ub = kvc.split %uv : tensor<64x128xi8, #kvc.dims<t, d>> to tensor<64x4x32xi8, #kvc.dims<t, b, e>>
    // CHECK: kvc.dequantize {{.*}} {centre = 8 : i64, scale_place = #kvc.place<p>, zero_kind = "min", zero_place = #kvc.place<register>}
    %vb = kvc.dequantize %ub, %sv, %zv
      {centre = 8 : i64, zero_kind = "min", scale_place = #kvc.place<p>, zero_place = #kvc.place<register>}
      : tensor<64x4x32xi8, #kvc.dims<t, b, e>>, tensor<64x4xf32, #kvc.dims<t, b>>, tensor<64x4xf32, #kvc.dims<t, b>>
      to tensor<64x4x32xf32, #kvc.dims<t, b, e>>
    // CHECK: kvc.join %{{.*}} : tensor<64x4x32xf32, #kvc.dims<t, b, e>> to tensor<64x128xf32, #kvc.dims<t, d>>
    %v = kvc.join %vb : tensor<64x4x32xf32, #kvc.dims<t, b, e>> to tensor<64x128xf32, #kvc.dims<t, d>>
    %pv = kvc.contract %p, %v : !st, tensor<64x128xf32, #kvc.dims<t, d>> to !ot
    %ab = kvc.broadcast %alpha : !rt to !ot
    %oa = arith.mulf %o, %ab : !ot
    %o1 = arith.addf %oa, %pv : !ot
    scf.yield %m1, %l1, %o1 : !rt, !rt, !ot
  }
  %lb = kvc.broadcast %r#1 : !rt to !ot
  %out = arith.divf %r#2, %lb : !ot
  %ln = math.log %r#1 : !rt
  %lse = arith.addf %r#0, %ln : !rt
  // CHECK: kvc.store_partial %{{.*}}, %{{.*}}[%{{.*}} to %{{.*}}] : tensor<4x128xf32, #kvc.dims<r, d>>, memref<?x128xf32>
  kvc.store_partial %out, %pout[%row to %row_end] : !ot, memref<?x128xf32>
  // CHECK: %[[PART:.*]] = kvc.slice %{{.*}} {first = 64 : i64} : tensor<4x128xf32, #kvc.dims<r, d>> to tensor<4x32xf32, #kvc.dims<r, d>>
  %part = kvc.slice %out {first = 64 : i64} : !ot to tensor<4x32xf32, #kvc.dims<r, d>>
  // CHECK: kvc.store_partial %[[PART]], %{{.*}}[%{{.*}} to %{{.*}}] {channel = 96 : i64}
  kvc.store_partial %part, %pout[%row to %row_end] {channel = 96 : i64} : tensor<4x32xf32, #kvc.dims<r, d>>, memref<?x128xf32>
  // CHECK: kvc.store_partial %{{.*}}, %{{.*}}[%{{.*}} to %{{.*}}] : tensor<4xf32, #kvc.dims<r>>, memref<?xf32>
  kvc.store_partial %lse, %plse[%row to %row_end] : !rt, memref<?xf32>
  return
}

// CHECK-LABEL: func.func @casts
func.func @casts(%u: tensor<64x128xi8, #kvc.dims<t, c>>) -> tensor<64x128xf16, #kvc.dims<t, c>> {
  // CHECK: arith.sitofp %{{.*}} : tensor<64x128xi8, #kvc.dims<t, c>> to tensor<64x128xf32, #kvc.dims<t, c>>
  %x = arith.sitofp %u : tensor<64x128xi8, #kvc.dims<t, c>> to tensor<64x128xf32, #kvc.dims<t, c>>
  // CHECK: arith.truncf %{{.*}} : tensor<64x128xf32, #kvc.dims<t, c>> to tensor<64x128xf16, #kvc.dims<t, c>>
  %y = arith.truncf %x : tensor<64x128xf32, #kvc.dims<t, c>> to tensor<64x128xf16, #kvc.dims<t, c>>
  return %y : tensor<64x128xf16, #kvc.dims<t, c>>
}

// CHECK-LABEL: func.func @raw
func.func @raw(%cache: !kvc.cache<#raw>, %i: index) -> tensor<16x128xf32, #kvc.dims<t, c>> {
  // CHECK: kvc.load_codes {{.*}} : !kvc.cache<#raw> to tensor<16x128xbf16, #kvc.dims<t, c>>
  %u = kvc.load_codes %cache[%i, %i] valid %i {tensor = #kvc.tensor<key>}
    : !kvc.cache<#raw> to tensor<16x128xbf16, #kvc.dims<t, c>>
  // CHECK: kvc.dequantize %{{.*}} : tensor<16x128xbf16, #kvc.dims<t, c>> to tensor<16x128xf32, #kvc.dims<t, c>>
  %x = kvc.dequantize %u : tensor<16x128xbf16, #kvc.dims<t, c>> to tensor<16x128xf32, #kvc.dims<t, c>>
  return %x : tensor<16x128xf32, #kvc.dims<t, c>>
}

// CHECK-LABEL: func.func @append
func.func @append(%cache: !kvc.cache<#int4>, %v: memref<?x?x128xf16, strided<[?, ?, 1]>>, %kv_head: index, %i: index,
    %t: index, %u: tensor<4x32xi8, #kvc.dims<b, e>>) {
  // CHECK: kvc.load_input %{{.*}}[%{{.*}}, %{{.*}}] : memref<?x?x128xf16, strided<[?, ?, 1]>> to tensor<4x32xf32, #kvc.dims<b, e>>
  %x = kvc.load_input %v[%i, %kv_head]
    : memref<?x?x128xf16, strided<[?, ?, 1]>> to tensor<4x32xf32, #kvc.dims<b, e>>
  // CHECK: kvc.rotate %{{.*}} {block = 16 : i64} : tensor<4x32xf32, #kvc.dims<b, e>>
  %h = kvc.rotate %x {block = 16} : tensor<4x32xf32, #kvc.dims<b, e>>
  // CHECK: kvc.load_input %{{.*}}[%{{.*}}, %{{.*}}] {channel = 96 : i64} : memref<?x?x128xf16, strided<[?, ?, 1]>> to tensor<1x32xf32, #kvc.dims<b, e>>
  %y = kvc.load_input %v[%i, %kv_head] {channel = 96 : i64}
    : memref<?x?x128xf16, strided<[?, ?, 1]>> to tensor<1x32xf32, #kvc.dims<b, e>>
  // CHECK: kvc.reduce minimumf %{{.*}} : tensor<4x32xf32, #kvc.dims<b, e>> to tensor<4xf32, #kvc.dims<b>>
  %z0 = kvc.reduce minimumf %h : tensor<4x32xf32, #kvc.dims<b, e>> to tensor<4xf32, #kvc.dims<b>>
  // CHECK: kvc.round_to %{{.*}} {dtype = "f16"} : tensor<4xf32, #kvc.dims<b>>
  %z = kvc.round_to %z0 {dtype = "f16"} : tensor<4xf32, #kvc.dims<b>>
  // CHECK: kvc.store_codes %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] {tensor = #kvc.tensor<value>} : tensor<4x32xi8, #kvc.dims<b, e>>, !kvc.cache<#int>
  kvc.store_codes %u, %cache[%kv_head, %t] {tensor = #kvc.tensor<value>}
    : tensor<4x32xi8, #kvc.dims<b, e>>, !kvc.cache<#int4>
  // CHECK: kvc.store_scale %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] {tensor = #kvc.tensor<value>} : tensor<4xf32, #kvc.dims<b>>, !kvc.cache<#int>
  kvc.store_scale %z, %cache[%kv_head, %t] {tensor = #kvc.tensor<value>} : tensor<4xf32, #kvc.dims<b>>, !kvc.cache<#int4>
  // CHECK: kvc.store_zero %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] {tensor = #kvc.tensor<value>} : tensor<4xf32, #kvc.dims<b>>, !kvc.cache<#int>
  kvc.store_zero %z, %cache[%kv_head, %t] {tensor = #kvc.tensor<value>} : tensor<4xf32, #kvc.dims<b>>, !kvc.cache<#int4>
  return
}

// CHECK-LABEL: func.func @merge
func.func @merge(%pout: memref<?x?x128xf32, strided<[?, 128, 1]>>, %plse: memref<?x?xf32, strided<[?, 1]>>,
    %out: memref<?x?x128xf16, strided<[?, ?, 1]>>, %lse: memref<?x?xf32, strided<[?, ?]>>, %kv_head: index,
    %row: index, %row_end: index, %split: index) {
  // CHECK: kvc.load_partial %{{.*}}[%{{.*}}, %{{.*}} to %{{.*}}] : memref<?x?x128xf32, strided<[?, 128, 1]>> to tensor<4x128xf32, #kvc.dims<r, d>>
  %o = kvc.load_partial %pout[%split, %row to %row_end] : memref<?x?x128xf32, strided<[?, 128, 1]>> to !ot
  // CHECK: kvc.load_partial %{{.*}}[%{{.*}}, %{{.*}} to %{{.*}}] : memref<?x?xf32, strided<[?, 1]>> to tensor<4xf32, #kvc.dims<r>>
  %l = kvc.load_partial %plse[%split, %row to %row_end] : memref<?x?xf32, strided<[?, 1]>> to !rt
  // CHECK: kvc.store_output %{{.*}}, %{{.*}}[%{{.*}} to %{{.*}}, %{{.*}}] group 4 : tensor<4x128xf32, #kvc.dims<r, d>>, memref<?x?x128xf16, strided<[?, ?, 1]>>
  kvc.store_output %o, %out[%row to %row_end, %kv_head] group 4 : !ot, memref<?x?x128xf16, strided<[?, ?, 1]>>
  // CHECK: kvc.store_output %{{.*}}, %{{.*}}[%{{.*}} to %{{.*}}, %{{.*}}] group 4 : tensor<4xf32, #kvc.dims<r>>, memref<?x?xf32, strided<[?, ?]>>
  kvc.store_output %l, %lse[%row to %row_end, %kv_head] group 4 : !rt, memref<?x?xf32, strided<[?, ?]>>
  return
}

// CHECK-LABEL: func.func @unpack
func.func @unpack(%u: tensor<64x128xi8, #kvc.dims<t, c>>, %s: !tt, %codes: memref<?x128xi8>,
    %scales: memref<?x1xf32>, %i: index, %n: index) {
  // CHECK: kvc.store_rows %{{.*}}, %{{.*}}[%{{.*}}] valid %{{.*}} : tensor<64x128xi8, #kvc.dims<t, c>>, memref<?x128xi8>
  kvc.store_rows %u, %codes[%i] valid %n : tensor<64x128xi8, #kvc.dims<t, c>>, memref<?x128xi8>
  // CHECK: kvc.store_rows %{{.*}}, %{{.*}}[%{{.*}}] valid %{{.*}} : tensor<64xf32, #kvc.dims<t>>, memref<?x1xf32>
  kvc.store_rows %s, %scales[%i] valid %n : !tt, memref<?x1xf32>
  return
}

// FOLD-LABEL: func.func @folds
// FOLD-SAME: (%[[X:.*]]: tensor<64x128xf32, #kvc.dims<t, c>>, %[[Y:.*]]: tensor<64x4x32xf32, #kvc.dims<t, b, e>>)
func.func @folds(%x: tensor<64x128xf32, #kvc.dims<t, c>>, %y: tensor<64x4x32xf32, #kvc.dims<t, b, e>>)
    -> (tensor<64x128xf32, #kvc.dims<t, c>>, tensor<64x4x32xf32, #kvc.dims<t, b, e>>,
        tensor<64x128xf32, #kvc.dims<t, d>>, tensor<64x128xf32, #kvc.dims<t, c>>) {
  %0 = kvc.broadcast %x : tensor<64x128xf32, #kvc.dims<t, c>> to tensor<64x128xf32, #kvc.dims<t, c>>
  %1 = kvc.round_to %0 {dtype = "f32"} : tensor<64x128xf32, #kvc.dims<t, c>>
  %2 = kvc.split %1 : tensor<64x128xf32, #kvc.dims<t, c>> to tensor<64x4x32xf32, #kvc.dims<t, b, e>>
  %3 = kvc.join %2 : tensor<64x4x32xf32, #kvc.dims<t, b, e>> to tensor<64x128xf32, #kvc.dims<t, c>>
  %4 = kvc.join %y : tensor<64x4x32xf32, #kvc.dims<t, b, e>> to tensor<64x128xf32, #kvc.dims<t, c>>
  %5 = kvc.split %4 : tensor<64x128xf32, #kvc.dims<t, c>> to tensor<64x4x32xf32, #kvc.dims<t, b, e>>
  // Another name is another tile: this pair stays.
  // FOLD: %[[S:.*]] = kvc.split %[[X]]
  // FOLD: %[[J:.*]] = kvc.join %[[S]]
  %6 = kvc.join %2 : tensor<64x4x32xf32, #kvc.dims<t, b, e>> to tensor<64x128xf32, #kvc.dims<t, d>>
  // FOLD: %[[R:.*]] = kvc.round_to %[[X]]
  %7 = kvc.round_to %x {dtype = "f16"} : tensor<64x128xf32, #kvc.dims<t, c>>
  %8 = kvc.round_to %7 {dtype = "f16"} : tensor<64x128xf32, #kvc.dims<t, c>>
  // FOLD-NEXT: return %[[X]], %[[Y]], %[[J]], %[[R]]
  return %3, %5, %6, %8 : tensor<64x128xf32, #kvc.dims<t, c>>, tensor<64x4x32xf32, #kvc.dims<t, b, e>>,
    tensor<64x128xf32, #kvc.dims<t, d>>, tensor<64x128xf32, #kvc.dims<t, c>>
}

// What a scheme takes beside k and v.
#given = #kvc.spec<name = "given", attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "lut", table = {bits = 3}, scale = {channels = 16, dtype = "f32", static = true, tokens = "all"}}>,
  value = #kvc.scheme<{codec = "f16", smooth = true}>>
// CHECK-LABEL: func.func @given
func.func @given(%cache: !kvc.cache<#given>, %head: index, %u: tensor<64x64xi8, #kvc.dims<t, c>>, %x: tensor<1x64xf32, #kvc.dims<b, e>>,
    %t0: index) -> (tensor<64x64xf32, #kvc.dims<t, c>>, tensor<1x64xi8, #kvc.dims<b, e>>) {
  // CHECK: kvc.load_scheme %{{.*}}[%{{.*}}] {field = "scale", tensor = #kvc.tensor<key>} : !kvc.cache<#given> to tensor<64xf32, #kvc.dims<c>>
  %scale = kvc.load_scheme %cache[%head] {tensor = #kvc.tensor<key>, field = "scale"} : !kvc.cache<#given> to tensor<64xf32, #kvc.dims<c>>
  // CHECK: kvc.load_scheme {{.*}} {field = "smooth", tensor = #kvc.tensor<value>} : !kvc.cache<#given> to tensor<64xf32, #kvc.dims<d>>
  %smooth = kvc.load_scheme %cache[%head] {tensor = #kvc.tensor<value>, field = "smooth"} : !kvc.cache<#given> to tensor<64xf32, #kvc.dims<d>>
  // CHECK: kvc.load_scheme {{.*}} {field = "table", tensor = #kvc.tensor<key>} : !kvc.cache<#given> to tensor<8xf32, #kvc.dims<n>>
  %table = kvc.load_scheme %cache[%head] {tensor = #kvc.tensor<key>, field = "table"} : !kvc.cache<#given> to tensor<8xf32, #kvc.dims<n>>
  %thresholds = kvc.load_scheme %cache[%head] {tensor = #kvc.tensor<key>, field = "thresholds"} : !kvc.cache<#given> to tensor<8xf32, #kvc.dims<n>>
  %codes = kvc.load_scheme %cache[%head] {tensor = #kvc.tensor<key>, field = "codes"} : !kvc.cache<#given> to tensor<8xf32, #kvc.dims<n>>
  // CHECK: kvc.load_scheme {{.*}} {field = "largest", tensor = #kvc.tensor<key>} : !kvc.cache<#given> to f32
  %largest = kvc.load_scheme %cache[%head] {tensor = #kvc.tensor<key>, field = "largest"} : !kvc.cache<#given> to f32
  // CHECK: kvc.gather %{{.*}} from %{{.*}} : tensor<64x64xi8, #kvc.dims<t, c>>, tensor<8xf32, #kvc.dims<n>> to tensor<64x64xf32, #kvc.dims<t, c>>
  %y = kvc.gather %u from %table : tensor<64x64xi8, #kvc.dims<t, c>>, tensor<8xf32, #kvc.dims<n>> to tensor<64x64xf32, #kvc.dims<t, c>>
  // CHECK: kvc.nearest %{{.*}} by %{{.*}}, %{{.*}} : tensor<1x64xf32, #kvc.dims<b, e>>, tensor<8xf32, #kvc.dims<n>>, tensor<8xf32, #kvc.dims<n>> to tensor<1x64xi8, #kvc.dims<b, e>>
  %z = kvc.nearest %x by %thresholds, %codes : tensor<1x64xf32, #kvc.dims<b, e>>, tensor<8xf32, #kvc.dims<n>>, tensor<8xf32, #kvc.dims<n>>
    to tensor<1x64xi8, #kvc.dims<b, e>>
  // CHECK: kvc.rope %{{.*}} at %{{.*}} {dims = 32 : i64, offset = 8 : i64, pairs, theta = 1.000000e+04 : f64} : tensor<64x64xf32, #kvc.dims<t, c>>
  %k = kvc.rope %y at %t0 {dims = 32 : i64, offset = 8 : i64, pairs, theta = 1.0e4 : f64} : tensor<64x64xf32, #kvc.dims<t, c>>
  return %k, %z : tensor<64x64xf32, #kvc.dims<t, c>>, tensor<1x64xi8, #kvc.dims<b, e>>
}
