// RUN: kvc-opt %s --kvk-assign-layouts --convert-kvk-to-vector="dot=vnni" | FileCheck %s --check-prefixes=CHECK,VNNI
// RUN: kvc-opt %s --kvk-assign-layouts --convert-kvk-to-vector="dot=avx2" | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: kvc-opt %s --kvk-assign-layouts --convert-kvk-to-vector="dot=portable" | FileCheck %s --check-prefixes=CHECK,PORTABLE

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

// A loaded table is the register that a permutation takes, as often as it fits;
// elsewhere each entry is a vector of its own.
// CHECK-LABEL: func.func @table
// CHECK: %[[TABLE:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<4xf32>
// VNNI: %[[ENTRIES:.*]] = vector.shuffle %[[TABLE]], %[[TABLE]] [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]
// VNNI: llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"(%[[ENTRIES]], %{{.*}})
// AVX2: %[[ENTRIES:.*]] = vector.shuffle %[[TABLE]], %[[TABLE]] [0, 1, 2, 3, 0, 1, 2, 3]
// AVX2: llvm.call_intrinsic "llvm.x86.avx2.permps"(%[[ENTRIES]], %{{.*}})
// PORTABLE: %[[ONE:.*]] = vector.extract %[[TABLE]][0]
// PORTABLE: vector.broadcast %[[ONE]] : f32 to vector<4xf32>
// PORTABLE-COUNT-3: arith.select
#codes = #kvk.storage<width = 2, addr = [c1, c2, c3, c0, t0, t1, t2, t3]>
func.func @table(%cache: !kvc.cache<#given>, %w: memref<1x16xf32>, %s: memref<1x16xf32>, %head: index, %t: index, %n: index) {
  %c0 = arith.constant 0 : index
  %table = kvk.load_scheme %cache[%head] {tensor = #kvc.tensor<key>, field = "table"} : !kvc.cache<#given> to vector<4xf32>
  %x = kvk.load %cache[%head, %t] valid %n channels %c0 {tensor = #kvc.tensor<key>, storage = #codes, page = 16 : i64} : !kvc.cache<#given> to !kvk.tile<16x16xi2, #kvc.dims<t, c>>
  %k = kvk.widen %x table %table : vector<4xf32> : !kvk.tile<16x16xi2, #kvc.dims<t, c>> to !kvk.tile<16x16xf32, #kvc.dims<t, c>>
  kvk.dot %w, %k into %s {contract = "c"} : memref<1x16xf32>, !kvk.tile<16x16xf32, #kvc.dims<t, c>> into memref<1x16xf32>
  return
}
