// RUN: kvc-opt %s --kvk-assign-layouts --convert-kvk-to-vector="dot=vnni prefetch-bytes=4096 prefetch-pages=2" --canonicalize --cse | FileCheck %s

#spec = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 8, kv_heads = 2, head_dim = 128}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>,
  layout = #kvc.layout<{kind = "paged", page = 64, order = "auto"}>>
#values = #kvk.storage<width = 16, addr = [c0, c1, c2, c3, t0, t1, t2, t3, t4, t5, c4, c5, c6]>
!stored = !kvk.tile<64x128xf16, #kvc.dims<t, c>>
!operand = !kvk.tile<64x128xf32, #kvc.dims<t, c>>

// Four tokens an iteration, then single ones: no element beyond the valid tokens
// meets a weight. Prefetches ahead in bytes, and in pages.
// CHECK-LABEL: func.func @value(
// CHECK: scf.for
// CHECK: scf.for %{{.*}} = %c0 to %[[WHOLE:.*]] step %c4
// CHECK: "llvm.intr.prefetch"
// CHECK: "llvm.intr.prefetch"
// CHECK: llvm.load {{.*}} : !llvm.ptr -> vector<16xf16>
// CHECK: arith.extf {{.*}} : vector<16xf16> to vector<16xf32>
// CHECK: memref.load
// CHECK: arith.mulf {{.*}} fastmath<contract> : vector<16xf32>
// CHECK: scf.for %{{.*}} = %[[WHOLE]] to %{{.*}} step %c1
func.func @value(%cache: !kvc.cache<#spec>, %w: memref<4x64xf32>, %o: memref<4x128xf32>, %h: index, %t: index, %n: index) {
  %c0 = arith.constant 0 : index
  %x = kvk.load %cache[%h, %t] valid %n channels %c0 {tensor = #kvc.tensor<value>, storage = #values, page = 64 : i64} : !kvc.cache<#spec> to !stored
  %v = kvk.widen %x : !stored to !operand
  kvk.dot %w, %v into %o {contract = "t"} : memref<4x64xf32>, !operand into memref<4x128xf32>
  return
}

// A panel needs no cache.
// CHECK-LABEL: func.func @panel(
// CHECK: vector.load {{.*}} : memref<64x128xf32>, vector<16xf32>
// CHECK-NOT: llvm
// CHECK: return
func.func @panel(%w: memref<4x64xf32>, %x: memref<64x128xf32>, %o: memref<4x128xf32>) {
  kvk.dot %w, %x into %o {contract = "major"} : memref<4x64xf32>, memref<64x128xf32> into memref<4x128xf32>
  return
}
