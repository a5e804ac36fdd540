// RUN: kvc-opt %s --kvk-assign-layouts --split-input-file --verify-diagnostics

#s = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 8, kv_heads = 2, head_dim = 128}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min"}>, value = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min"}>,
  layout = #kvc.layout<{kind = "paged", page = 64, order = "auto"}>>
#keys = #kvk.storage<width = 4, addr = [c1, c2, c0, t0, t1, t2, t3, c3, c4, c5, c6, t4, t5]>
!codes = !kvk.tile<64x128xi4, #kvc.dims<t, c>>
!operand = !kvk.tile<64x128xi16, #kvc.dims<t, c>>

// The key's order has tokens on its lanes: nothing sums over them.
func.func @contracted_lanes(%cache: !kvc.cache<#s>, %w: memref<4x64xi16>, %o: memref<4x128xf32>, %i: index) {
  %x = kvk.load %cache[%i, %i] valid %i channels %i {tensor = #kvc.tensor<key>, storage = #keys, page = 64 : i64} : !kvc.cache<#s> to !codes
  %v = kvk.widen %x {bias = 8 : i64} : !codes to !operand
  // expected-error @+1 {{no loop nest over 't' reads the order #kvk.storage<width = 4, addr = [c1, c2, c0, t0, t1, t2, t3, c3, c4, c5, c6, t4, t5]> with 64 x 128 elements: dequantise it into a panel}}
  kvk.dot %w, %v into %o {contract = "t"} : memref<4x64xi16>, !operand into memref<4x128xf32>
  return
}

// -----

// Channels on the lanes, which the order does not deliver.

#s = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 8, kv_heads = 2, head_dim = 128}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min"}>, value = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min"}>,
  layout = #kvc.layout<{kind = "paged", page = 64, order = "auto"}>>
#keys = #kvk.storage<width = 4, addr = [c1, c2, c0, t0, t1, t2, t3, c3, c4, c5, c6, t4, t5]>
#across = #kvk.layout<pack = [c0], reg = [c5, c6, t0, t1, t2, t3, t4, t5], lane = [c1, c2, c3, c4]>
!codes = !kvk.tile<64x128xi4, #kvc.dims<t, c>>
!operand = !kvk.tile<64x128xi16, #kvc.dims<t, c>, #across>
func.func @given(%cache: !kvc.cache<#s>, %w: memref<4x128xi16>, %o: memref<4x64xf32>, %i: index) {
  %x = kvk.load %cache[%i, %i] valid %i channels %i {tensor = #kvc.tensor<key>, storage = #keys, page = 64 : i64} : !kvc.cache<#s> to !codes
  %v = kvk.widen %x {bias = 8 : i64} : !codes to !operand
  // expected-error @+1 {{with 128 x 64 elements in the layout #kvk.layout<pack = [c0], reg = [c5, c6, t0, t1, t2, t3, t4, t5], lane = [c1, c2, c3, c4]>}}
  kvk.dot %w, %v into %o {contract = "c"} : memref<4x128xi16>, !operand into memref<4x64xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 8, kv_heads = 2, head_dim = 128}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
!stored = !kvk.tile<64x128xf16, #kvc.dims<t, c>>
!operand = !kvk.tile<64x128xf32, #kvc.dims<t, c>>
func.func @without_storage(%cache: !kvc.cache<#s>, %w: memref<4x128xf32>, %o: memref<4x64xf32>, %i: index) {
  // expected-error @+1 {{storage: expected it, got none: run kvk-derive-storage first}}
  %x = kvk.load %cache[%i, %i] valid %i channels %i {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to !stored
  %v = kvk.widen %x : !stored to !operand
  kvk.dot %w, %v into %o {contract = "c"} : memref<4x128xf32>, !operand into memref<4x64xf32>
  return
}

// -----

!operand = !kvk.tile<64x128xi16, #kvc.dims<t, c>>
func.func @unknown_operand(%x: !operand, %w: memref<4x128xi16>, %s: memref<4x64xf32>) {
  // expected-error @+1 {{operand: expected a kvk.widen of a kvk.load}}
  kvk.dot %w, %x into %s {contract = "c"} : memref<4x128xi16>, !operand into memref<4x64xf32>
  return
}
