// RUN: kvc-opt %s --kvk-assign-layouts --convert-kvk-to-vector="dot=vnni" --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,VNNI
// RUN: kvc-opt %s --kvk-assign-layouts --convert-kvk-to-vector="dot=avx2" --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: kvc-opt %s --kvk-assign-layouts --convert-kvk-to-vector --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,PORTABLE

#spec = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 8, kv_heads = 2, head_dim = 128}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min"}>,
  layout = #kvc.layout<{kind = "paged", page = 64, order = "auto"}>>
#keys = #kvk.storage<width = 4, addr = [c1, c2, c0, t0, t1, t2, t3, c3, c4, c5, c6, t4, t5]>
#values = #kvk.storage<width = 4, addr = [t1, t2, t0, c0, c1, c2, c3, t3, t4, t5, c4, c5, c6]>
!codes = !kvk.tile<64x128xi4, #kvc.dims<t, c>>
!operand = !kvk.tile<64x128xi16, #kvc.dims<t, c>>

// Channels are contracted: a loop over words of eight codes of 16 tokens.
// CHECK-LABEL: func.func @key(
// CHECK-SAME: %[[CACHE:.*]]: !llvm.ptr {kvc.cache_view}
// CHECK: %[[BIAS:.*]] = arith.constant -8 : i32
// The view is read once.
// CHECK: llvm.load %{{.*}} invariant {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
// -8 times the sum of each row's weights starts the sums.
// CHECK: vector.reduction <add>, {{.*}} into i32
// CHECK: arith.muli %{{.*}}, %[[BIAS]] : i32
// VNNI: scf.for {{.*}} -> (vector<16xi32>, {{.*}}) {
// VNNI: llvm.load {{.*}} : !llvm.ptr -> vector<16xi32>
// VNNI: vector.load %{{.*}} : memref<4x128xi16>, vector<2xi16>
// VNNI: vector.bitcast %{{.*}} : vector<2xi16> to vector<1xi32>
// VNNI: llvm.call_intrinsic "llvm.x86.avx512.vpdpwssd.512"
// VNNI-NOT: vector.reduction
// AVX2: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// AVX2: llvm.inline_asm "", "=x,0"
// PORTABLE-NOT: llvm.call_intrinsic
// PORTABLE-NOT: llvm.inline_asm
// CHECK: arith.sitofp
// CHECK: vector.store
func.func @key(%cache: !kvc.cache<#spec>, %w: memref<4x128xi16>, %f: memref<4xf32>, %s: memref<4x64xf32>, %h: index, %t: index, %n: index) {
  %c0 = arith.constant 0 : index
  %x = kvk.load %cache[%h, %t] valid %n channels %c0 {tensor = #kvc.tensor<key>, storage = #keys, page = 64 : i64} : !kvc.cache<#spec> to !codes
  %k = kvk.widen %x {bias = 8 : i64} : !codes to !operand
  kvk.dot %w, %k into %s scale_rows %f {contract = "c"} : memref<4x128xi16>, !operand into memref<4x64xf32> scale_rows memref<4xf32>
  return
}

// Tokens are contracted, up to the valid ones, in one page.
// CHECK-LABEL: func.func @value(
// CHECK-SAME: %[[N:[a-z0-9]*]]: index) {
// CHECK: llvm.load {{.*}} : !llvm.ptr -> i32
// VNNI: scf.for %{{.*}} = %c0 to %[[N]] step %c8
// VNNI: llvm.load {{.*}} : !llvm.ptr -> vector<16xi32>
// VNNI: llvm.call_intrinsic "llvm.x86.avx512.vpdpwssd.512"
// CHECK: vector.load {{.*}} : memref<4x128xf32>
// CHECK: arith.addf {{.*}} fastmath<contract>
// CHECK: vector.store
func.func @value(%cache: !kvc.cache<#spec>, %w: memref<4x64xi16>, %f: memref<4xf32>, %o: memref<4x128xf32>, %h: index, %t: index, %n: index) {
  %c0 = arith.constant 0 : index
  %x = kvk.load %cache[%h, %t] valid %n channels %c0 {tensor = #kvc.tensor<value>, storage = #values, page = 64 : i64} : !kvc.cache<#spec> to !codes
  %v = kvk.widen %x {bias = 8 : i64} : !codes to !operand
  kvk.dot %w, %v into %o scale_rows %f {contract = "t", accumulate} : memref<4x64xi16>, !operand into memref<4x128xf32> scale_rows memref<4xf32>
  return
}
