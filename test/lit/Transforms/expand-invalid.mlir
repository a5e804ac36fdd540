// RUN: kvc-opt %s --kvc-expand --split-input-file --verify-diagnostics

// Nothing has chosen tile sizes yet.

#s = #kvc.spec<name = "s",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 2}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @unscheduled(%cache: !kvc.cache<#s>, %q: memref<?x?x64xf16>, %out: memref<?x64xf32>, %lse: memref<?xf32>, %i: index) {
  // expected-error @+1 {{'kvc.attend' op has no tile sizes: run kvc-schedule first}}
  kvc.attend %q, %cache[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %out, %lse {tile_rows = 4}
      : memref<?x?x64xf16>, !kvc.cache<#s>, memref<?x64xf32>, memref<?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 2}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @unscheduled(%pout: memref<?x?x64xf32>, %plse: memref<?x?xf32>, %out: memref<?x?x64xf16>, %lse: memref<?x?xf32>, %i: index) {
  // expected-error @+1 {{'kvc.merge' op has no tile sizes: run kvc-schedule first}}
  kvc.merge %pout, %plse rows(%i to %i) splits(%i) into %out, %lse[%i] {spec = #s}
      : memref<?x?x64xf32>, memref<?x?xf32>, memref<?x?x64xf16>, memref<?x?xf32>
  return
}
