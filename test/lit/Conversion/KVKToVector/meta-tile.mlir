// RUN: kvc-opt %s --convert-kvk-to-vector --canonicalize --cse | FileCheck %s

// Four blocks of channels, each with a scale.

#spec = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 1, kv_heads = 1, head_dim = 64}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = 16, dtype = "f16"}}>, value = #kvc.scheme<{codec = "f16"}>>

// Of a token they lie together: eight tokens are a vector of four scales each,
// which are interleaved until the tokens are neighbours. Tokens that are not valid
// have 0, whatever lies there.
// CHECK-LABEL: func.func @together(
// CHECK-SAME: %[[N:[a-z0-9]*]]: index, %[[INTO:[a-z0-9]*]]: memref<4x64xf32>)
// CHECK:         scf.for %[[T:.*]] = %c0 to %[[N]] step %c8 {
// CHECK:           %[[T0:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<4xi16>
// CHECK-COUNT-3:   llvm.load %{{.*}} : !llvm.ptr -> vector<4xi16>
// CHECK:           %[[T4:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<4xi16>
// CHECK-COUNT-3:   llvm.load %{{.*}} : !llvm.ptr -> vector<4xi16>
// CHECK:           vector.interleave %[[T0]], %[[T4]] : vector<4xi16>
// CHECK-COUNT-3:   vector.interleave {{.*}} : vector<4xi16>
// CHECK-COUNT-2:   vector.interleave {{.*}} : vector<8xi16>
// CHECK:           %[[BITS:.*]] = vector.interleave {{.*}} : vector<16xi16>
// CHECK:           %[[SCALES:.*]] = vector.bitcast %[[BITS]] : vector<32xi16> to vector<32xf16>
// CHECK:           %[[VALID:.*]] = arith.cmpi sgt
// CHECK:           %[[WIDE:.*]] = arith.extf %[[SCALES]] : vector<32xf16> to vector<32xf32>
// CHECK:           %[[ALL:.*]] = arith.select %[[VALID]], %[[WIDE]]
// CHECK:           %[[FIRST:.*]] = vector.shuffle %[[ALL]], %[[ALL]] [0, 1, 2, 3, 4, 5, 6, 7]
// CHECK:           vector.store %[[FIRST]], %[[INTO]][%c0, %[[T]]]
// CHECK:           %[[LAST:.*]] = vector.shuffle %[[ALL]], %[[ALL]] [24, 25, 26, 27, 28, 29, 30, 31]
// CHECK:           vector.store %[[LAST]], %[[INTO]][%c3, %[[T]]]
// CHECK:         scf.for %[[REST:.*]] = %{{.*}} to %c64 step %c8
// CHECK:           vector.store %cst{{.*}}, %[[INTO]][%{{.*}}, %[[REST]]]
func.func @together(%cache: !kvc.cache<#spec>, %h: index, %t: index, %n: index, %into: memref<4x64xf32>) {
  kvk.load_meta_tile %cache[%h, %t] valid %n into %into {tensor = #kvc.tensor<key>, kind = #kvk.meta<scale>, page = 64,
    storage = #kvk.storage<width = 16, addr = [b0, b1, t0, t1, t2, t3, t4, t5]>} : !kvc.cache<#spec> into memref<4x64xf32>
  return
}

// A page of two tokens holds two rows, and no more are loaded from it.
// CHECK-LABEL: func.func @pages(
// CHECK:         scf.for {{.*}} step %c2 {
// CHECK-COUNT-2:   llvm.load %{{.*}} : !llvm.ptr -> vector<4xi16>
// CHECK-NOT:       llvm.load {{.*}} vector<4xi16>
// CHECK:           vector.interleave {{.*}} : vector<4xi16>
// CHECK-NOT:       vector.interleave
// CHECK:           vector.store {{.*}} vector<2xf32>
func.func @pages(%cache: !kvc.cache<#spec>, %h: index, %t: index, %n: index, %into: memref<4x64xf32>) {
  kvk.load_meta_tile %cache[%h, %t] valid %n into %into {tensor = #kvc.tensor<key>, kind = #kvk.meta<scale>, page = 2,
    storage = #kvk.storage<width = 16, addr = [b0, b1, t0]>} : !kvc.cache<#spec> into memref<4x64xf32>
  return
}

// Tokens that lie together are a run: one load for each block.
// CHECK-LABEL: func.func @runs(
// CHECK:         scf.for %[[T:.*]] = %c0 to %{{.*}} step %c64 {
// CHECK:           scf.for %[[B:.*]] = %c0 to %c4 step %c1 {
// CHECK:             llvm.load %{{.*}} : !llvm.ptr -> vector<64xf16>
// CHECK:             vector.store %{{.*}}, %{{.*}}[%[[B]], %[[T]]]
func.func @runs(%cache: !kvc.cache<#spec>, %h: index, %t: index, %n: index, %into: memref<4x64xf32>) {
  kvk.load_meta_tile %cache[%h, %t] valid %n into %into {tensor = #kvc.tensor<key>, kind = #kvk.meta<scale>, page = 64,
    storage = #kvk.storage<width = 16, addr = [t0, t1, t2, t3, t4, t5, b0, b1]>} : !kvc.cache<#spec> into memref<4x64xf32>
  return
}

// Blocks that lie apart, as in records, are loaded one by one, too, eight tokens
// of each.
// CHECK-LABEL: func.func @records(
// CHECK:         scf.for %[[T:.*]] = %c0 to %{{.*}} step %c8 {
// CHECK:           scf.for %[[B:.*]] = %c0 to %c4 step %c1 {
// CHECK-COUNT-8:     llvm.load %{{.*}} : !llvm.ptr -> i16
// CHECK:             vector.store %{{.*}}, %{{.*}}[%[[B]], %[[T]]] : memref<4x64xf32>, vector<8xf32>
func.func @records(%cache: !kvc.cache<#spec>, %h: index, %t: index, %n: index, %into: memref<4x64xf32>) {
  kvk.load_meta_tile %cache[%h, %t] valid %n into %into {tensor = #kvc.tensor<key>, kind = #kvk.meta<scale>, page = 64,
    storage = #kvk.storage<width = 16, addr = [], steps = [b[1:4] * 18, t[1:64] * 72]>} : !kvc.cache<#spec> into memref<4x64xf32>
  return
}
