// RUN: kvc-opt %s --kvc-expand --kvc-place-factors | FileCheck %s

// A constant block of a scheme with a zero "code" loses as many bits as the
// centre has when its zero leaves the codes. f16 queries (16-bit weights) miss
// them at 8 bits, f32 ones too; 4 bits or bf16 queries do not.

#f16 = #kvc.spec<name = "f16",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 1, q_heads = 4}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "code"}>,
  value = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "code"}>>
// CHECK-LABEL: func.func @f16(
// CHECK: kvc.dequantize {{.*}} {centre = 8 : i64, scale_place = #kvc.place<score>, zero_kind = "code", zero_place = #kvc.place<score>}
// CHECK: kvc.dequantize {{.*}} {centre = 128 : i64, scale_place = #kvc.place<register>, zero_kind = "code", zero_place = #kvc.place<register>}
func.func @f16(%cache: !kvc.cache<#f16>, %q: memref<?x?x64xf16, strided<[?, ?, 1]>>, %out: memref<?x64xf32>, %lse: memref<?xf32>,
    %head: index, %queries: index, %length: index, %row: index, %row_end: index, %key: index, %key_end: index) {
  kvc.attend %q, %cache[%head] rows(%row to %row_end of %queries) keys(%key to %key_end of %length) into %out, %lse {tile_rows = 4, tile_tokens = 64}
      : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#f16>, memref<?x64xf32>, memref<?xf32>
  return
}

#bf16 = #kvc.spec<name = "bf16",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 1, q_heads = 4}>,
  io = #kvc.io<{query = "bf16"}>,
  key = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "code"}>,
  value = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
// CHECK-LABEL: func.func @bf16(
// CHECK: kvc.dequantize {{.*}} {centre = 128 : i64, scale_place = #kvc.place<score>, zero_kind = "code", zero_place = #kvc.place<score>}
// CHECK: kvc.dequantize {{.*}} {centre = 128 : i64, scale_place = #kvc.place<p>, zero_kind = "min", zero_place = #kvc.place<output>}
func.func @bf16(%cache: !kvc.cache<#bf16>, %q: memref<?x?x64xbf16, strided<[?, ?, 1]>>, %out: memref<?x64xf32>, %lse: memref<?xf32>,
    %head: index, %queries: index, %length: index, %row: index, %row_end: index, %key: index, %key_end: index) {
  kvc.attend %q, %cache[%head] rows(%row to %row_end of %queries) keys(%key to %key_end of %length) into %out, %lse {tile_rows = 4, tile_tokens = 64}
      : memref<?x?x64xbf16, strided<[?, ?, 1]>>, !kvc.cache<#bf16>, memref<?x64xf32>, memref<?xf32>
  return
}

#f32 = #kvc.spec<name = "f32",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 1, q_heads = 4}>,
  io = #kvc.io<{query = "f32"}>,
  key = #kvc.scheme<{codec = "int8", scale = {channels = 32, dtype = "f16", tokens = 1}, zero = "code"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "code"}>>
// CHECK-LABEL: func.func @f32(
// CHECK: kvc.dequantize {{.*}} {centre = 128 : i64, scale_place = #kvc.place<register>, zero_kind = "code", zero_place = #kvc.place<register>}
// CHECK: kvc.dequantize {{.*}} {centre = 8 : i64, scale_place = #kvc.place<p>, zero_kind = "code", zero_place = #kvc.place<output>}
func.func @f32(%cache: !kvc.cache<#f32>, %q: memref<?x?x64xf32, strided<[?, ?, 1]>>, %out: memref<?x64xf32>, %lse: memref<?xf32>,
    %head: index, %queries: index, %length: index, %row: index, %row_end: index, %key: index, %key_end: index) {
  kvc.attend %q, %cache[%head] rows(%row to %row_end of %queries) keys(%key to %key_end of %length) into %out, %lse {tile_rows = 4, tile_tokens = 64}
      : memref<?x?x64xf32, strided<[?, ?, 1]>>, !kvc.cache<#f32>, memref<?x64xf32>, memref<?xf32>
  return
}
