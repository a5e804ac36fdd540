// RUN: kvc-opt %s --kvk-assign-layouts --convert-kvk-to-vector="dot=vnni" --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,VNNI
// RUN: kvc-opt %s --kvk-assign-layouts --convert-kvk-to-vector="dot=avx2" --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,AVX2

#spec = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 1, kv_heads = 1, head_dim = 64}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int3", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min"}>, value = #kvc.scheme<{codec = "int3", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min"}>,
  layout = #kvc.layout<{kind = "paged", page = 64, order = "auto"}>>
#rows = #kvk.storage<width = 3, addr = [c0, c1, c2, c3, c4, c5, t0, t1, t2, t3, t4, t5]>
!codes = !kvk.tile<64x64xi3, #kvc.dims<t, c>>
!operand = !kvk.tile<64x64xi16, #kvc.dims<t, c>>

// Eight codes are three bytes. A chunk's bytes are loaded and no more, each lane
// takes the two that its code is in, and two shifts cut it out.
// CHECK-LABEL: func.func @key(
// VNNI: scf.for {{.*}} = %c0 to %c64 step %c32
// VNNI: llvm.load {{.*}} : !llvm.ptr -> vector<8xi8>
// VNNI: llvm.load {{.*}} : !llvm.ptr -> vector<4xi8>
// VNNI: %[[BYTES:.*]] = vector.shuffle {{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, -1, -1, -1, -1]
// VNNI-NEXT: %[[PAIRS:.*]] = vector.shuffle %[[BYTES]], %[[BYTES]] [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, {{.*}}] : vector<16xi8>, vector<16xi8>
// VNNI-NEXT: %[[HALVES:.*]] = vector.bitcast %[[PAIRS]] : vector<64xi8> to vector<32xi16>
// VNNI-NEXT: %[[HIGH:.*]] = arith.shli %[[HALVES]], %{{.*}} : vector<32xi16>
// VNNI-NEXT: arith.shrui %[[HIGH]], %{{.*}} : vector<32xi16>
// AVX2: scf.for {{.*}} = %c0 to %c64 step %c16
// AVX2: llvm.load {{.*}} : !llvm.ptr -> vector<4xi8>
// AVX2: llvm.load {{.*}} : !llvm.ptr -> vector<2xi8>
func.func @key(%cache: !kvc.cache<#spec>, %w: memref<1x64xi16>, %s: memref<1x64xf32>, %h: index, %t: index, %n: index) {
  %c0 = arith.constant 0 : index
  %x = kvk.load %cache[%h, %t] valid %n channels %c0 {tensor = #kvc.tensor<key>, storage = #rows, page = 64 : i64} : !kvc.cache<#spec> to !codes
  %k = kvk.widen %x {bias = 4 : i64} : !codes to !operand
  kvk.dot %w, %k into %s {contract = "c"} : memref<1x64xi16>, !operand into memref<1x64xf32>
  return
}

// Two tokens are paired: codes of the same channel in one lane of 32 bits. Lanes
// have six or three bytes a token, which one load brings along with neighbours',
// for the last vector with those before it. Each 128 bits take from a copy of
// them, one half of the lanes for each token.
// CHECK-LABEL: func.func @value(
// VNNI-DAG: %[[EVEN:.*]] = arith.constant dense<[0, 0, -128, -128, 0, 0, -128, -128, 0, 1, -128, -128, {{.*}}]> : vector<64xi8>
// VNNI-DAG: %[[ODD:.*]] = arith.constant dense<[-128, -128, 0, 0, -128, -128, 0, 0, -128, -128, 0, 1, {{.*}}]> : vector<64xi8>
// VNNI-DAG: arith.constant dense<[2, 2, -128, -128, 2, 2, -128, -128, 2, 3, -128, -128, {{.*}}]> : vector<64xi8>
// VNNI: %[[A:.*]] = llvm.load {{.*}} : !llvm.ptr -> vector<8xi8>
// VNNI: %[[B:.*]] = llvm.load {{.*}} : !llvm.ptr -> vector<8xi8>
// VNNI: %[[COPIES:.*]] = vector.shuffle %[[A]], %[[A]] [0, 1, 2, 3, 4, 5, 6, 7, -1, -1, -1, -1, -1, -1, -1, -1, 0, 1, 2, 3, {{.*}}]
// VNNI: %[[FIRST:.*]] = llvm.call_intrinsic "llvm.x86.avx512.pshuf.b.512"(%[[COPIES]], %[[EVEN]])
// VNNI: %[[OTHERS:.*]] = vector.shuffle %[[B]], %[[B]]
// VNNI: %[[SECOND:.*]] = llvm.call_intrinsic "llvm.x86.avx512.pshuf.b.512"(%[[OTHERS]], %[[ODD]])
// VNNI: arith.ori %[[FIRST]], %[[SECOND]] : vector<64xi8>
// VNNI: llvm.call_intrinsic "llvm.x86.avx512.vpdpwssd.512"
// AVX2-DAG: arith.constant dense<[1, 1, -128, -128, 1, 1, -128, -128, 1, 2, -128, -128, {{.*}}]> : vector<32xi8>
// AVX2-COUNT-2: llvm.load {{.*}} : !llvm.ptr -> vector<4xi8>
// AVX2-COUNT-2: llvm.call_intrinsic "llvm.x86.avx2.pshuf.b"
// AVX2: arith.ori {{.*}} : vector<32xi8>
func.func @value(%cache: !kvc.cache<#spec>, %w: memref<1x64xi16>, %o: memref<1x64xf32>, %h: index, %t: index, %n: index) {
  %c0 = arith.constant 0 : index
  %x = kvk.load %cache[%h, %t] valid %n channels %c0 {tensor = #kvc.tensor<value>, storage = #rows, page = 64 : i64} : !kvc.cache<#spec> to !codes
  %v = kvk.widen %x {bias = 4 : i64} : !codes to !operand
  kvk.dot %w, %v into %o {contract = "t"} : memref<1x64xi16>, !operand into memref<1x64xf32>
  return
}
