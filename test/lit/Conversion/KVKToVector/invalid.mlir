// RUN: kvc-opt %s --convert-kvk-to-vector --split-input-file --verify-diagnostics

#spec = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 8, kv_heads = 2, head_dim = 128}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min"}>, value = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min"}>,
  layout = #kvc.layout<{kind = "paged", page = 64, order = "auto"}>>
#keys = #kvk.storage<width = 4, addr = [c1, c2, c0, t0, t1, t2, t3, c3, c4, c5, c6, t4, t5]>
!codes = !kvk.tile<64x128xi4, #kvc.dims<t, c>>
#across = #kvk.layout<pack = [t0], reg = [c0, c1, c2, c3, c4, c5, c6, t5], lane = [t1, t2, t3, t4]>
!operand = !kvk.tile<64x128xi16, #kvc.dims<t, c>, #across>

// The key's order has tokens on its lanes: nothing sums over them.
func.func @contracted_lanes(%cache: !kvc.cache<#spec>, %w: memref<4x64xi16>, %o: memref<4x128xf32>, %h: index, %t: index, %n: index) {
  %c0 = arith.constant 0 : index
  %x = kvk.load %cache[%h, %t] valid %n channels %c0 {tensor = #kvc.tensor<key>, storage = #keys, page = 64 : i64} : !kvc.cache<#spec> to !codes
  %v = kvk.widen %x {bias = 8 : i64} : !codes to !operand
  // expected-error @+1 {{no loop nest over 't' reads the order #kvk.storage<width = 4, addr = [c1, c2, c0, t0, t1, t2, t3, c3, c4, c5, c6, t4, t5]> in the layout #kvk.layout<pack = [t0]}}
  kvk.dot %w, %v into %o {contract = "t"} : memref<4x64xi16>, !operand into memref<4x128xf32>
  return
}

// -----

#spec = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 8, kv_heads = 2, head_dim = 128}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min"}>, value = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min"}>,
  layout = #kvc.layout<{kind = "paged", page = 64, order = "auto"}>>
!operand = !kvk.tile<64x128xi16, #kvc.dims<t, c>>

func.func @unknown_operand(%x: !operand, %w: memref<4x128xi16>, %s: memref<4x64xf32>) {
  // expected-error @+1 {{operand: expected a kvk.widen of a kvk.load}}
  kvk.dot %w, %x into %s {contract = "c"} : memref<4x128xi16>, !operand into memref<4x64xf32>
  return
}

// -----

#spec = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 8, kv_heads = 2, head_dim = 128}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min"}>, value = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min"}>,
  layout = #kvc.layout<{kind = "paged", page = 64, order = "auto"}>>
func.func private @other(!kvc.cache<#spec>)
func.func @other_user(%cache: !kvc.cache<#spec>) {
  // expected-error @+1 {{uses a cache and was not lowered}}
  func.call @other(%cache) : (!kvc.cache<#spec>) -> ()
  return
}

// -----

#spec = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 8, kv_heads = 2, head_dim = 128}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
#rows = #kvk.storage<width = 16, addr = [c0, c1, c2, c3, c4, c5, c6, h0, t0, t1, t2, t3, t4, t5]>
!stored = !kvk.tile<64x128xf16, #kvc.dims<t, c>>
!operand = !kvk.tile<64x128xf32, #kvc.dims<t, c>>
func.func @without_layout(%cache: !kvc.cache<#spec>, %w: memref<4x128xf32>, %o: memref<4x64xf32>, %i: index) {
  %x = kvk.load %cache[%i, %i] valid %i channels %i {tensor = #kvc.tensor<key>, storage = #rows, page = 64 : i64} : !kvc.cache<#spec> to !stored
  %v = kvk.widen %x : !stored to !operand
  // expected-error @+1 {{operand: expected a layout, got none: run kvk-assign-layouts first}}
  kvk.dot %w, %v into %o {contract = "c"} : memref<4x128xf32>, !operand into memref<4x64xf32>
  return
}

// -----

#spec = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 8, kv_heads = 2, head_dim = 128}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @without_storage(%cache: !kvc.cache<#spec>, %i: index) {
  // expected-error @+1 {{storage: expected it, got none: run kvk-derive-storage first}}
  %x = kvk.load_row %cache[%i, %i] channels %i {tensor = #kvc.tensor<key>} : !kvc.cache<#spec> to vector<32xf16>
  return
}

// -----

// Tokens on the lanes have one sum for all channels.
#spec = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 8, kv_heads = 2, head_dim = 32}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int8", scale = {tokens = 1, channels = 16, dtype = "f16"}}>, value = #kvc.scheme<{codec = "f16"}>,
  layout = #kvc.layout<{kind = "paged", page = 64, order = "auto"}>>
func.func @blocks_of_lanes(%cache: !kvc.cache<#spec>, %w: memref<1x32xi16>, %g: memref<2x64xf32>, %s: memref<1x64xf32>, %h: index, %t: index, %n: index) {
  %c0 = arith.constant 0 : index
  %x = kvk.load %cache[%h, %t] valid %n channels %c0 {tensor = #kvc.tensor<key>, page = 64 : i64, storage = #kvk.storage<width = 8, addr = [c1, c0, t0, t1, t2, t3, c2, c3, c4, t4, t5]>} : !kvc.cache<#spec> to !kvk.tile<64x32xi8, #kvc.dims<t, c>>
  %k = kvk.widen %x : !kvk.tile<64x32xi8, #kvc.dims<t, c>> to !kvk.tile<64x32xi16, #kvc.dims<t, c>, #kvk.layout<pack = [c0], reg = [c1, c2, c3, c4, t4, t5], lane = [t0, t1, t2, t3]>>
  // expected-error@+1 {{'kvk.dot' op lane_scale: a row for each block needs the contracted dim on the lanes, and whole words of it}}
  kvk.dot %w, %k into %s scale_lanes %g {contract = "c"} : memref<1x32xi16>, !kvk.tile<64x32xi16, #kvc.dims<t, c>, #kvk.layout<pack = [c0], reg = [c1, c2, c3, c4, t4, t5], lane = [t0, t1, t2, t3]>> into memref<1x64xf32> scale_lanes memref<2x64xf32>
  return
}
