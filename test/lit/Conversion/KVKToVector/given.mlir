// RUN: kvc-opt %s --convert-kvk-to-vector | FileCheck %s

#given = #kvc.spec<name = "given", attention = #kvc.attention<{head_dim = 16, kv_heads = 2, q_heads = 2}>,
  io = #kvc.io<{query = "f32"}>,
  key = #kvc.scheme<{codec = "lut", table = {bits = 2}, scale = {channels = 8, dtype = "f16", static = true, tokens = "all"}}>,
  value = #kvc.scheme<{codec = "f16", smooth = true}>>

// Input 0 of the view's, the head's row of two scales, each for eight channels.
// CHECK-LABEL: func.func @scales
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[VIEW:.*]][%c16_i64]
// CHECK: %[[LIST:.*]] = llvm.load %[[AT]] invariant
// CHECK: %[[INPUT:.*]] = llvm.load %[[LIST]] invariant
// CHECK: arith.muli %{{.*}}, %c8
// CHECK: %[[ROW:.*]] = llvm.getelementptr %[[INPUT]]
// CHECK: %[[TWO:.*]] = llvm.load %[[ROW]] {alignment = 4 : i64} : !llvm.ptr -> vector<2xf32>
// CHECK: vector.shuffle %[[TWO]], %[[TWO]] [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]
func.func @scales(%cache: !kvc.cache<#given>, %head: index, %out: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %s = kvk.load_scheme %cache[%head] {tensor = #kvc.tensor<key>, field = "scale"} : !kvc.cache<#given> to vector<16xf32>
  vector.store %s, %out[%c0] : memref<16xf32>, vector<16xf32>
  return
}
// The largest entry is the last of 13 numbers of a table's row.
// CHECK-LABEL: func.func @fields
// CHECK: arith.muli %{{.*}}, %c52
// CHECK: arith.addi %{{.*}}, %c48
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK: arith.muli %{{.*}}, %c64
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
func.func @fields(%cache: !kvc.cache<#given>, %head: index, %out: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %l = kvk.load_scheme %cache[%head] {tensor = #kvc.tensor<key>, field = "largest"} : !kvc.cache<#given> to f32
  memref.store %l, %out[%c0] : memref<16xf32>
  %s = kvk.load_scheme %cache[%head] {tensor = #kvc.tensor<value>, field = "smooth"} : !kvc.cache<#given> to vector<16xf32>
  vector.store %s, %out[%c0] : memref<16xf32>, vector<16xf32>
  return
}
