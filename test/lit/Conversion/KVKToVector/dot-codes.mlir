// RUN: kvc-opt %s --split-input-file --kvk-assign-layouts --convert-kvk-to-vector="dot=vnni vector-bits=512" --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: kvc-opt %s --split-input-file --kvk-assign-layouts --convert-kvk-to-vector="dot=avx2 vector-bits=256" --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: kvc-opt %s --split-input-file --kvk-assign-layouts --convert-kvk-to-vector --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,PORTABLE

// Small floats become f16 by a shift; f16 has 2^-8 of their exponents' bias, so
// the sum is multiplied by 2^8.

#spec = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 4, kv_heads = 1, head_dim = 64}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "fp8_e4m3", scale = {tokens = 1, channels = "all", dtype = "f16"}}>,
  value = #kvc.scheme<{codec = "fp8_e4m3", scale = {tokens = 1, channels = "all", dtype = "f16"}}>,
  layout = #kvc.layout<{kind = "paged", page = 64, order = "auto"}>>
#keys = #kvk.storage<width = 8, addr = [t0, t1, t2, t3, c0, c1, c2, c3, c4, c5, t4, t5]>

// CHECK-LABEL: func.func @floats(
// CHECK-DAG: %[[SEVEN:.*]] = arith.constant dense<7> : vector<[[LANES:[0-9]+]]xi16>
// CHECK-DAG: %[[MASK:.*]] = arith.constant dense<-16512> : vector<[[LANES]]xi16>
// CHECK-DAG: %[[UNIT:.*]] = arith.constant dense<2.560000e+02> : vector<[[LANES]]xf32>
// CHECK: %[[BYTES:.*]] = llvm.load {{.*}} : !llvm.ptr -> vector<[[LANES]]xi8>
// CHECK-NEXT: %[[WIDE:.*]] = arith.extsi %[[BYTES]] : vector<[[LANES]]xi8> to vector<[[LANES]]xi16>
// CHECK-NEXT: %[[SHIFTED:.*]] = arith.shli %[[WIDE]], %[[SEVEN]]
// CHECK-NEXT: %[[HALF:.*]] = arith.andi %[[SHIFTED]], %[[MASK]]
// CHECK-NEXT: %[[F16:.*]] = vector.bitcast %[[HALF]] : vector<[[LANES]]xi16> to vector<[[LANES]]xf16>
// CHECK-NEXT: arith.extf %[[F16]] : vector<[[LANES]]xf16> to vector<[[LANES]]xf32>
// CHECK: arith.mulf %{{.*}}, %[[UNIT]]
// CHECK: vector.store
func.func @floats(%cache: !kvc.cache<#spec>, %w: memref<4x64xf32>, %s: memref<4x64xf32>, %h: index, %t: index, %n: index) {
  %c0 = arith.constant 0 : index
  %x = kvk.load %cache[%h, %t] valid %n channels %c0 {tensor = #kvc.tensor<key>, storage = #keys, page = 64 : i64} : !kvc.cache<#spec> to !kvk.tile<64x64xi8, #kvc.dims<t, c>>
  %k = kvk.widen %x {format = "fp8_e4m3"} : !kvk.tile<64x64xi8, #kvc.dims<t, c>> to !kvk.tile<64x64xf32, #kvc.dims<t, c>>
  kvk.dot %w, %k into %s {contract = "c"} : memref<4x64xf32>, !kvk.tile<64x64xf32, #kvc.dims<t, c>> into memref<4x64xf32>
  return
}

// -----

// A table of floats in registers: bits above an index are ignored, so a shift is
// all that a field needs. Eight lanes hold half of a table of 16.

#spec = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 4, kv_heads = 1, head_dim = 64}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}}>,
  value = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}}>,
  layout = #kvc.layout<{kind = "paged", page = 64, order = "auto"}>>
#keys = #kvk.storage<width = 4, addr = [c1, c2, c0, t0, t1, t2, t3, c3, c4, c5, t4, t5]>

// CHECK-LABEL: func.func @table(
// AVX512: %[[TABLE:.*]] = arith.constant dense<[-1.000000e+00, -7.500000e-01, {{.*}}, 1.000000e+00]> : vector<16xf32>
// AVX512: %[[WORDS:.*]] = llvm.load {{.*}} : !llvm.ptr -> vector<16xi32>
// AVX512: llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"(%[[TABLE]], %[[WORDS]])
// AVX512: %[[NEXT:.*]] = arith.shrui %[[WORDS]], %{{.*}} : vector<16xi32>
// AVX512: llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"(%[[TABLE]], %[[NEXT]])
// AVX2: %[[WORDS:.*]] = llvm.load {{.*}} : !llvm.ptr -> vector<8xi32>
// AVX2: arith.shli %[[WORDS]], %{{.*}} : vector<8xi32>
// AVX2: %[[UPPER:.*]] = arith.cmpi slt
// AVX2: %[[HIGH:.*]] = llvm.call_intrinsic "llvm.x86.avx2.permps"
// AVX2: %[[LOW:.*]] = llvm.call_intrinsic "llvm.x86.avx2.permps"
// AVX2: arith.select %[[UPPER]], %[[HIGH]], %[[LOW]]
// PORTABLE-NOT: llvm.call_intrinsic
// PORTABLE: arith.select
// CHECK: vector.store
func.func @table(%cache: !kvc.cache<#spec>, %w: memref<4x64xf32>, %s: memref<4x64xf32>, %h: index, %t: index, %n: index) {
  %c0 = arith.constant 0 : index
  %x = kvk.load %cache[%h, %t] valid %n channels %c0 {tensor = #kvc.tensor<key>, storage = #keys, page = 64 : i64} : !kvc.cache<#spec> to !kvk.tile<64x64xi4, #kvc.dims<t, c>>
  %k = kvk.widen %x {table = array<f32: -1.0, -0.75, -0.52, -0.39, -0.28, -0.18, -0.09, 0.0, 0.08, 0.16, 0.25, 0.34, 0.44, 0.56, 0.72, 1.0>} : !kvk.tile<64x64xi4, #kvc.dims<t, c>> to !kvk.tile<64x64xf32, #kvc.dims<t, c>>
  kvk.dot %w, %k into %s {contract = "c"} : memref<4x64xf32>, !kvk.tile<64x64xf32, #kvc.dims<t, c>> into memref<4x64xf32>
  return
}

// -----

// A table of integers: entries of all low nibbles of a word at once, then of all
// high ones. Halves of 16 bits hold two entries; the least one, -12 halves, is a
// bias.

#spec = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 4, kv_heads = 1, head_dim = 64}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}}>,
  value = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}}>,
  layout = #kvc.layout<{kind = "paged", page = 64, order = "auto"}>>
#keys = #kvk.storage<width = 4, addr = [c1, c2, c0, t0, t1, t2, t3, c3, c4, c5, t4, t5]>

// CHECK-LABEL: func.func @integers(
// CHECK-DAG: arith.constant -12 : i32
// CHECK-DAG: arith.constant dense<5.000000e-01>
// AVX512-DAG: %[[NIBBLES:.*]] = arith.constant dense<252645135> : vector<16xi32>
// AVX512-DAG: %[[TABLE:.*]] = arith.constant dense<[12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0, {{.*}}]> : vector<64xi8>
// AVX512: %[[WORDS:.*]] = llvm.load {{.*}} : !llvm.ptr -> vector<16xi32>
// AVX512: %[[LOW:.*]] = arith.andi %[[WORDS]], %[[NIBBLES]]
// AVX512: %[[INDEX:.*]] = vector.bitcast %[[LOW]] : vector<16xi32> to vector<64xi8>
// AVX512: llvm.call_intrinsic "llvm.x86.avx512.pshuf.b.512"(%[[TABLE]], %[[INDEX]])
// AVX512: llvm.call_intrinsic "llvm.x86.avx512.vpdpwssd.512"
// AVX512: %[[SHIFTED:.*]] = arith.shrui %[[WORDS]]
// AVX512: %[[HIGH:.*]] = arith.andi %[[SHIFTED]], %[[NIBBLES]]
// AVX2: llvm.call_intrinsic "llvm.x86.avx2.pshuf.b"
// AVX2: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// PORTABLE-NOT: llvm.call_intrinsic
// PORTABLE: arith.select
// CHECK: vector.store
func.func @integers(%cache: !kvc.cache<#spec>, %w: memref<4x64xi16>, %f: memref<4xf32>, %s: memref<4x64xf32>, %h: index, %t: index, %n: index) {
  %c0 = arith.constant 0 : index
  %x = kvk.load %cache[%h, %t] valid %n channels %c0 {tensor = #kvc.tensor<key>, storage = #keys, page = 64 : i64} : !kvc.cache<#spec> to !kvk.tile<64x64xi4, #kvc.dims<t, c>>
  %k = kvk.widen %x {table = array<f32: 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0>} : !kvk.tile<64x64xi4, #kvc.dims<t, c>> to !kvk.tile<64x64xi16, #kvc.dims<t, c>>
  kvk.dot %w, %k into %s scale_rows %f {contract = "c"} : memref<4x64xi16>, !kvk.tile<64x64xi16, #kvc.dims<t, c>> into memref<4x64xf32> scale_rows memref<4xf32>
  return
}
