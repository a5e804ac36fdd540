// RUN: kvc-opt %s --convert-kvk-to-vector="dot=vnni" --canonicalize --cse | FileCheck %s

// The layout decides, not what the storage would allow: eight lanes of the
// sixteen that lie together.

#spec = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 8, kv_heads = 2, head_dim = 128}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min"}>,
  value = #kvc.scheme<{codec = "f16"}>>
#keys = #kvk.storage<width = 4, addr = [c1, c2, c0, t0, t1, t2, t3, c3, c4, c5, c6, t4, t5]>
#eight = #kvk.layout<pack = [c0], reg = [c1, c2, c3, c4, c5, c6, t3, t4, t5], lane = [t0, t1, t2]>
!codes = !kvk.tile<64x128xi4, #kvc.dims<t, c>>
!operand = !kvk.tile<64x128xi16, #kvc.dims<t, c>, #eight>

// CHECK-LABEL: func.func @key(
// CHECK-NOT: llvm.load {{.*}} : !llvm.ptr -> vector<16xi32>
// CHECK: llvm.load {{.*}} : !llvm.ptr -> vector<8xi32>
// CHECK-NOT: llvm.load {{.*}} : !llvm.ptr -> vector<16xi32>
// CHECK: return
func.func @key(%cache: !kvc.cache<#spec>, %w: memref<4x128xi16>, %s: memref<4x64xf32>, %h: index, %t: index, %n: index) {
  %c0 = arith.constant 0 : index
  %x = kvk.load %cache[%h, %t] valid %n channels %c0 {tensor = #kvc.tensor<key>, storage = #keys, page = 64 : i64} : !kvc.cache<#spec> to !codes
  %k = kvk.widen %x {bias = 8 : i64} : !codes to !operand
  kvk.dot %w, %k into %s {contract = "c"} : memref<4x128xi16>, !operand into memref<4x64xf32>
  return
}

// Channels are contracted and on the lanes: the same codes in rows.
#rows = #kvk.storage<width = 4, addr = [c0, c1, c2, c3, c4, c5, c6, t0, t1, t2, t3, t4, t5]>
#narrow = #kvk.layout<pack = [c0], reg = [c4, c5, c6, t0, t1, t2, t3, t4, t5], lane = [c1, c2, c3]>
!narrow = !kvk.tile<64x128xi16, #kvc.dims<t, c>, #narrow>
// CHECK-LABEL: func.func @row(
// CHECK: scf.for {{.*}} step %c16
// CHECK: llvm.load {{.*}} : !llvm.ptr -> vector<8xi8>
func.func @row(%cache: !kvc.cache<#spec>, %w: memref<4x128xi16>, %s: memref<4x64xf32>, %h: index, %t: index, %n: index) {
  %c0 = arith.constant 0 : index
  %x = kvk.load %cache[%h, %t] valid %n channels %c0 {tensor = #kvc.tensor<key>, storage = #rows, page = 64 : i64} : !kvc.cache<#spec> to !codes
  %k = kvk.widen %x {bias = 8 : i64} : !codes to !narrow
  kvk.dot %w, %k into %s {contract = "c"} : memref<4x128xi16>, !narrow into memref<4x64xf32>
  return
}
