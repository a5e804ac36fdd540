// RUN: kvc-opt %s --convert-kvk-to-vector --canonicalize --cse | FileCheck %s

#spec = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 8, kv_heads = 2, head_dim = 128}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min"}>, value = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min"}>,
  layout = #kvc.layout<{kind = "paged", page = 64, order = "auto"}>>
#keys = #kvk.storage<width = 4, addr = [c1, c2, c0, t0, t1, t2, t3, c3, c4, c5, c6, t4, t5]>
#values = #kvk.storage<width = 4, addr = [t1, t2, t0, c0, c1, c2, c3, t3, t4, t5, c4, c5, c6]>
#metas = #kvk.storage<width = 16, addr = [t0, t1, t2, t3, t4, t5, h0]>

// A word of the key holds eight channels of one token: it is written whole.
// CHECK-LABEL: func.func @store_key(
// CHECK: %[[BITS:.*]] = arith.constant dense<[0, 16, 4, 20, 8, 24, 12, 28]> : vector<8xi32>
// CHECK: scf.for {{.*}} step %c8
// CHECK: arith.shli %{{.*}}, %[[BITS]] : vector<8xi32>
// CHECK: vector.reduction <or>
// CHECK-NOT: llvm.load {{.*}} -> vector
// CHECK: llvm.store {{.*}} : i32, !llvm.ptr
func.func @store_key(%cache: !kvc.cache<#spec>, %v: vector<128xi8>, %h: index, %t: index) {
  %c0 = arith.constant 0 : index
  kvk.store_row %v, %cache[%h, %t] channels %c0 {tensor = #kvc.tensor<key>, storage = #keys, page = 64 : i64} : vector<128xi8>, !kvc.cache<#spec>
  return
}

// A word of the value holds eight tokens: the others keep their bits.
// CHECK-LABEL: func.func @store_value(
// CHECK: scf.for {{.*}} step %c16
// CHECK: llvm.load {{.*}} -> vector<16xi32>
// CHECK: arith.andi
// CHECK: arith.ori
// CHECK: llvm.store {{.*}} : vector<16xi32>, !llvm.ptr
func.func @store_value(%cache: !kvc.cache<#spec>, %v: vector<128xi8>, %h: index, %t: index) {
  %c0 = arith.constant 0 : index
  kvk.store_row %v, %cache[%h, %t] channels %c0 {tensor = #kvc.tensor<value>, storage = #values, page = 64 : i64} : vector<128xi8>, !kvc.cache<#spec>
  return
}

// CHECK-LABEL: func.func @load_value(
// CHECK: llvm.load {{.*}} -> vector<16xi32>
// CHECK: arith.shrui
// CHECK: arith.trunci {{.*}} : vector<16xi32> to vector<16xi8>
func.func @load_value(%cache: !kvc.cache<#spec>, %h: index, %t: index) -> vector<128xi8> {
  %c0 = arith.constant 0 : index
  %v = kvk.load_row %cache[%h, %t] channels %c0 {tensor = #kvc.tensor<value>, storage = #values, page = 64 : i64} : !kvc.cache<#spec> to vector<128xi8>
  return %v : vector<128xi8>
}

// A page's scales are one load; what is not valid becomes 0.
// CHECK-LABEL: func.func @load_scales(
// CHECK: llvm.load {{.*}} : !llvm.ptr -> vector<64xf16>
// CHECK: arith.cmpi sgt
// CHECK: arith.extf
// CHECK: arith.select
func.func @load_scales(%cache: !kvc.cache<#spec>, %h: index, %t: index, %n: index) -> vector<64xf32> {
  %c0 = arith.constant 0 : index
  %s = kvk.load_meta %cache[%h, %t] block %c0 valid %n {tensor = #kvc.tensor<key>, kind = #kvk.meta<scale>, storage = #metas, page = 64 : i64} : !kvc.cache<#spec> to vector<64xf32>
  return %s : vector<64xf32>
}

// CHECK-LABEL: func.func @store_zero(
// CHECK: arith.truncf {{.*}} : f32 to f16
// CHECK: llvm.store {{.*}} : f16, !llvm.ptr
func.func @store_zero(%cache: !kvc.cache<#spec>, %x: f32, %h: index, %t: index) {
  %c0 = arith.constant 0 : index
  kvk.store_meta %x, %cache[%h, %t] block %c0 {tensor = #kvc.tensor<key>, kind = #kvk.meta<zero>, storage = #metas, page = 64 : i64} : f32, !kvc.cache<#spec>
  return
}

// CHECK-LABEL: func.func @quantize(
// CHECK: vector.reduction <maxnumf>
// CHECK: arith.divf
// CHECK: memref.store {{.*}} : memref<4xf32>
// CHECK: arith.trunci {{.*}} to vector<4xi16>
func.func @quantize(%x: memref<4x128xf32>, %w: memref<4x128xi16>, %f: memref<4xf32>) {
  kvk.quantize_rows %x into %w, %f : memref<4x128xf32> into memref<4x128xi16>, memref<4xf32>
  return
}

// An unused cache is a pointer all the same.
// CHECK: func.func @unused(%{{.*}}: !llvm.ptr {kvc.cache_view})
func.func @unused(%cache: !kvc.cache<#spec>) {
  return
}
