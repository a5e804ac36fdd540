// RUN: kvc-opt %s --kvk-assign-layouts --convert-kvk-to-vector="dot=vnni" --canonicalize --cse | FileCheck %s

#spec = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 8, kv_heads = 2, head_dim = 128}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min"}>, value = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min"}>,
  layout = #kvc.layout<{kind = "paged", page = 4, order = "nhd"}>>
#rows = #kvk.storage<width = 4, addr = [c0, c1, c2, c3, c4, c5, c6, h0, t0, t1]>
!codes = !kvk.tile<64x128xi4, #kvc.dims<t, c>>
!operand = !kvk.tile<64x128xi16, #kvc.dims<t, c>>

// Channels lie together: chunks of 32 meet as many weights, four tokens a time
// (one page), and the lanes are summed at the end of a block.
// CHECK-LABEL: func.func @key(
// CHECK-SAME: %[[N:[a-z0-9]*]]: index) {
// CHECK: scf.for %{{.*}} = %c0 to %[[N]] step %c4
// CHECK: scf.for {{.*}} step %c32
// A byte becomes a pair of i16: (x | x << 12) & 0x000f000f.
// CHECK: llvm.load {{.*}} : !llvm.ptr -> vector<16xi8>
// CHECK: arith.extui {{.*}} : vector<16xi8> to vector<16xi32>
// CHECK: arith.shli
// CHECK: arith.ori
// CHECK: arith.andi
// CHECK: vector.bitcast {{.*}} : vector<16xi32> to vector<32xi16>
// CHECK: vector.load {{.*}} : memref<4x128xi16>, vector<32xi16>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpwssd.512"
// CHECK: vector.shuffle
// CHECK: vector.store {{.*}} : memref<4x64xf32>, vector<4xf32>
func.func @key(%cache: !kvc.cache<#spec>, %w: memref<4x128xi16>, %s: memref<4x64xf32>, %h: index, %t: index, %n: index) {
  %c0 = arith.constant 0 : index
  %x = kvk.load %cache[%h, %t] valid %n channels %c0 {tensor = #kvc.tensor<key>, storage = #rows, page = 4 : i64} : !kvc.cache<#spec> to !codes
  %k = kvk.widen %x {bias = 8 : i64} : !codes to !operand
  kvk.dot %w, %k into %s {contract = "c"} : memref<4x128xi16>, !operand into memref<4x64xf32>
  return
}

// Rows of two tokens are paired; a page after the other; the two codes of a byte
// have sums of their own and are interleaved at the end.
// CHECK-LABEL: func.func @value(
// CHECK: scf.for
// CHECK: scf.for {{.*}} -> (vector<16xi32>
// CHECK: llvm.load {{.*}} : !llvm.ptr -> i32
// CHECK: scf.for {{.*}} step %c2
// CHECK-COUNT-2: llvm.load {{.*}} : !llvm.ptr -> vector<16xi8>
// CHECK: arith.shli {{.*}} : vector<16xi32>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpwssd.512"
// CHECK: vector.interleave {{.*}} : vector<16xi32> -> vector<32xi32>
// CHECK: vector.store {{.*}} : memref<4x128xf32>, vector<32xf32>
func.func @value(%cache: !kvc.cache<#spec>, %w: memref<4x64xi16>, %o: memref<4x128xf32>, %h: index, %t: index, %n: index) {
  %c0 = arith.constant 0 : index
  %x = kvk.load %cache[%h, %t] valid %n channels %c0 {tensor = #kvc.tensor<value>, storage = #rows, page = 4 : i64} : !kvc.cache<#spec> to !codes
  %v = kvk.widen %x {bias = 8 : i64} : !codes to !operand
  kvk.dot %w, %v into %o {contract = "t"} : memref<4x64xi16>, !operand into memref<4x128xf32>
  return
}

// A scale for each of four blocks of channels: it multiplies a block's sums, and
// lanes are summed once, behind all blocks. Codes are centred before that.
// CHECK-LABEL: func.func @blocks(
// CHECK: scf.for %[[T:.*]] = %c0 to %{{.*}} step %c4
// CHECK: %[[SUMS:.*]]:4 = scf.for %[[B:.*]] = %c0 to %c4 step %c1 iter_args(%[[FIRST:[a-z0-9]*]] = %{{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK: arith.subi %{{.*}} : vector<32xi16>
// CHECK: %[[INTEGERS:.*]] = llvm.call_intrinsic "llvm.x86.avx512.vpdpwssd.512"
// CHECK: %[[SCALE:.*]] = memref.load %{{.*}}[%[[B]], %[[T]]] : memref<4x64xf32>
// CHECK: %[[LANES:.*]] = vector.broadcast %[[SCALE]] : f32 to vector<16xf32>
// CHECK: %[[FLOATS:.*]] = arith.sitofp %[[INTEGERS]]
// CHECK: %[[SCALED:.*]] = arith.mulf %[[FLOATS]], %[[LANES]] fastmath<contract>
// CHECK: arith.addf %[[SCALED]], %[[FIRST]] fastmath<contract>
// CHECK: scf.yield
// CHECK: vector.shuffle %[[SUMS]]#0
// CHECK: vector.store {{.*}} : memref<1x64xf32>, vector<4xf32>
func.func @blocks(%cache: !kvc.cache<#spec>, %w: memref<1x128xi16>, %f: memref<1xf32>, %g: memref<4x64xf32>, %s: memref<1x64xf32>, %h: index, %t: index, %n: index) {
  %c0 = arith.constant 0 : index
  %x = kvk.load %cache[%h, %t] valid %n channels %c0 {tensor = #kvc.tensor<key>, storage = #rows, page = 4 : i64} : !kvc.cache<#spec> to !codes
  %k = kvk.widen %x {bias = 8 : i64} : !codes to !operand
  kvk.dot %w, %k into %s scale_rows %f scale_lanes %g {contract = "c"} : memref<1x128xi16>, !operand into memref<1x64xf32> scale_rows memref<1xf32> scale_lanes memref<4x64xf32>
  return
}
