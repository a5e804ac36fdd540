// RUN: kvc-opt %s --kvc-split-kv=split-tokens=96 --split-input-file --verify-diagnostics

#s = #kvc.spec<name = "s",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @unscheduled(%cache: !kvc.cache<#s>, %q: memref<?x?x64xf16>, %out: memref<?x64xf32>, %lse: memref<?xf32>, %i: index) {
  // expected-error @below {{tile_rows and tile_tokens: expected both, got none: run kvc-schedule first}}
  kvc.attend %q, %cache[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %out, %lse
    : memref<?x?x64xf16>, !kvc.cache<#s>, memref<?x64xf32>, memref<?xf32>
  return
}

// -----

// Splits end where tiles do.

#s = #kvc.spec<name = "s",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @split_in_tile(%cache: !kvc.cache<#s>, %q: memref<?x?x64xf16>, %out: memref<?x64xf32>, %lse: memref<?xf32>, %i: index) {
  // expected-error @below {{split-tokens: expected a multiple of tile_tokens = 64, at most 2147483647, got 96}}
  kvc.attend %q, %cache[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %out, %lse {tile_rows = 4, tile_tokens = 64}
    : memref<?x?x64xf16>, !kvc.cache<#s>, memref<?x64xf32>, memref<?xf32>
  return
}

// -----

// A split that is there already is held to the same.

#s = #kvc.spec<name = "s",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @given(%cache: !kvc.cache<#s>, %q: memref<?x?x64xf16>, %out: memref<?x64xf32>, %lse: memref<?xf32>, %i: index) attributes {kvc.split_tokens = 100 : i64} {
  // expected-error @below {{split-tokens: expected a multiple of tile_tokens = 64, at most 2147483647, got 100}}
  kvc.attend %q, %cache[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %out, %lse {tile_rows = 4, tile_tokens = 64}
    : memref<?x?x64xf16>, !kvc.cache<#s>, memref<?x64xf32>, memref<?xf32>
  return
}

// -----

// A plan adds a split to a key's number.

#s = #kvc.spec<name = "s",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @large(%cache: !kvc.cache<#s>, %q: memref<?x?x64xf16>, %out: memref<?x64xf32>, %lse: memref<?xf32>, %i: index) attributes {kvc.split_tokens = 9223372036854775744 : i64} {
  // expected-error @below {{split-tokens: expected a multiple of tile_tokens = 64, at most 2147483647, got 9223372036854775744}}
  kvc.attend %q, %cache[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %out, %lse {tile_rows = 4, tile_tokens = 64}
    : memref<?x?x64xf16>, !kvc.cache<#s>, memref<?x64xf32>, memref<?xf32>
  return
}
