// RUN: kvc-opt %s --kvc-schedule="decode-rows=2 tile-tokens=32 remarks=true" --verify-diagnostics | FileCheck %s

// What an op says already is kept; a function that is no kernel gets no
// attributes.

#s = #kvc.spec<name = "s",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>

// CHECK: func.func @given({{.*}}: index) {
// CHECK: kvc.attend {{.*}} {tile_rows = 6 : i64, tile_tokens = 32 : i64}
func.func @given(%cache: !kvc.cache<#s>, %q: memref<?x?x64xf16>, %out: memref<?x64xf32>, %lse: memref<?xf32>, %i: index) {
  // expected-remark @below {{tile_rows: 6 as asked, at 3.00 operations per row and vector of operands; others: 4 (2.00), 2 (2.75), 3 (3.38)}}
  // expected-remark @below {{tile_tokens: 32 as asked}}
  kvc.attend %q, %cache[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %out, %lse {tile_rows = 6}
    : memref<?x?x64xf16>, !kvc.cache<#s>, memref<?x64xf32>, memref<?xf32>
  return
}
