// RUN: kvc-opt %s --kvk-assign-layouts=remarks=true --split-input-file --verify-diagnostics | FileCheck %s

// Words of contracted channels below lanes of tokens; rows of channels.

#s = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 8, kv_heads = 2, head_dim = 128}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min"}>,
  layout = #kvc.layout<{kind = "paged", page = 64, order = "auto"}>>
#keys = #kvk.storage<width = 4, addr = [c1, c2, c0, t0, t1, t2, t3, c3, c4, c5, c6, t4, t5]>
#values = #kvk.storage<width = 4, addr = [t1, t2, t0, c0, c1, c2, c3, t3, t4, t5, c4, c5, c6]>
#rows = #kvk.storage<width = 4, addr = [c0, c1, c2, c3, c4, c5, c6, t0, t1, t2, t3, t4, t5]>
!codes = !kvk.tile<64x128xi4, #kvc.dims<t, c>>
!pairs = !kvk.tile<64x128xi16, #kvc.dims<t, c>>
!floats = !kvk.tile<64x128xf32, #kvc.dims<t, c>>
#fewer = #kvk.layout<pack = [c0], reg = [c1, c2, c3, c4, c5, c6, t3, t4, t5], lane = [t0, t1, t2]>
!fewer = !kvk.tile<64x128xi16, #kvc.dims<t, c>, #fewer>

// CHECK-DAG: #[[KEY:layout.*]] = #kvk.layout<pack = [c0], reg = [c1, c2, c3, c4, c5, c6, t4, t5], lane = [t0, t1, t2, t3]>
// CHECK-DAG: #[[FLOAT_KEY:layout.*]] = #kvk.layout<reg = [c0, c1, c2, c3, c4, c5, c6, t4, t5], lane = [t0, t1, t2, t3]>
// CHECK-DAG: #[[VALUE:layout.*]] = #kvk.layout<pack = [t0], reg = [t1, t2, t3, t4, t5, c4, c5, c6], lane = [c0, c1, c2, c3]>
// CHECK-DAG: #[[KEY_ROWS:layout.*]] = #kvk.layout<pack = [c0], reg = [t0, t1, t2, t3, t4, t5], lane = [c1, c2, c3, c4, c5, c6]>
// CHECK-DAG: #[[VALUE_ROWS:layout.*]] = #kvk.layout<pack = [t0], reg = [t1, t2, t3, t4, t5], lane = [c0, c1, c2, c3, c4, c5, c6]>
// CHECK-DAG: #[[FEWER:layout.*]] = #kvk.layout<pack = [c0], reg = [c1, c2, c3, c4, c5, c6, t3, t4, t5], lane = [t0, t1, t2]>

// CHECK-LABEL: func.func @words(
func.func @words(%cache: !kvc.cache<#s>, %q: memref<4x128xi16>, %qf: memref<4x128xf32>, %p: memref<4x64xi16>, %s: memref<4x64xf32>, %o: memref<4x128xf32>, %i: index) {
  %k = kvk.load %cache[%i, %i] valid %i channels %i {tensor = #kvc.tensor<key>, storage = #keys, page = 64 : i64} : !kvc.cache<#s> to !codes
  // CHECK: kvk.widen {{.*}} to !kvk.tile<64x128xi16, #kvc.dims<t, c>, #[[KEY]]>
  %kw = kvk.widen %k {bias = 8 : i64} : !codes to !pairs
  // CHECK-NEXT: kvk.dot {{.*}}, !kvk.tile<64x128xi16, #kvc.dims<t, c>, #[[KEY]]> into
  // expected-remark @below {{key operand: tokens on lanes, no sum crosses lanes; digits pack c0 | reg c1 c2 c3 c4 c5 c6 t4 t5 | lane t0 t1 t2 t3; words of 8 codes}}
  kvk.dot %q, %kw into %s {contract = "c"} : memref<4x128xi16>, !pairs into memref<4x64xf32>
  // What was chosen is said once, however many dots read it.
  kvk.dot %q, %kw into %s {accumulate, contract = "c"} : memref<4x128xi16>, !pairs into memref<4x64xf32>
  // Float weights meet one element a lane.
  // CHECK: kvk.widen {{.*}} to !kvk.tile<64x128xf32, #kvc.dims<t, c>, #[[FLOAT_KEY]]>
  %kf = kvk.widen %k {bias = 8 : i64} : !codes to !floats
  // expected-remark @below {{key operand: tokens on lanes,}}
  kvk.dot %qf, %kf into %s {contract = "c"} : memref<4x128xf32>, !floats into memref<4x64xf32>
  %v = kvk.load %cache[%i, %i] valid %i channels %i {tensor = #kvc.tensor<value>, storage = #values, page = 64 : i64} : !kvc.cache<#s> to !codes
  // CHECK: kvk.widen {{.*}} to !kvk.tile<64x128xi16, #kvc.dims<t, c>, #[[VALUE]]>
  %vw = kvk.widen %v {bias = 8 : i64} : !codes to !pairs
  // expected-remark @below {{value operand: channels on lanes, no sum crosses lanes}}
  kvk.dot %p, %vw into %o {contract = "t"} : memref<4x64xi16>, !pairs into memref<4x128xf32>
  return
}

// CHECK-LABEL: func.func @rows(
func.func @rows(%cache: !kvc.cache<#s>, %q: memref<4x128xi16>, %p: memref<4x64xi16>, %s: memref<4x64xf32>, %o: memref<4x128xf32>, %i: index) {
  %k = kvk.load %cache[%i, %i] valid %i channels %i {tensor = #kvc.tensor<key>, storage = #rows, page = 64 : i64} : !kvc.cache<#s> to !codes
  // CHECK: kvk.widen {{.*}} to !kvk.tile<64x128xi16, #kvc.dims<t, c>, #[[KEY_ROWS]]>
  %kw = kvk.widen %k {bias = 8 : i64} : !codes to !pairs
  // expected-remark @below {{key operand: channels on lanes, as they lie in memory: sums cross lanes at the end}}
  kvk.dot %q, %kw into %s {contract = "c"} : memref<4x128xi16>, !pairs into memref<4x64xf32>
  %v = kvk.load %cache[%i, %i] valid %i channels %i {tensor = #kvc.tensor<value>, storage = #rows, page = 64 : i64} : !kvc.cache<#s> to !codes
  // CHECK: kvk.widen {{.*}} to !kvk.tile<64x128xi16, #kvc.dims<t, c>, #[[VALUE_ROWS]]>
  %vw = kvk.widen %v {bias = 8 : i64} : !codes to !pairs
  // expected-remark @below {{value operand: channels on lanes, no sum crosses lanes}}
  kvk.dot %p, %vw into %o {contract = "t"} : memref<4x64xi16>, !pairs into memref<4x128xf32>
  return
}

// A layout that is there is kept.
// CHECK-LABEL: func.func @given(
func.func @given(%cache: !kvc.cache<#s>, %q: memref<4x128xi16>, %s: memref<4x64xf32>, %i: index) {
  %k = kvk.load %cache[%i, %i] valid %i channels %i {tensor = #kvc.tensor<key>, storage = #keys, page = 64 : i64} : !kvc.cache<#s> to !codes
  // CHECK: kvk.widen {{.*}} to !kvk.tile<64x128xi16, #kvc.dims<t, c>, #[[FEWER]]>
  %kw = kvk.widen %k {bias = 8 : i64} : !codes to !fewer
  // expected-remark @below {{key operand: tokens on lanes as asked, no sum crosses lanes}}
  kvk.dot %q, %kw into %s {contract = "c"} : memref<4x128xi16>, !fewer into memref<4x64xf32>
  return
}

// -----

// A slice of five channels cuts words of eight codes: more is read.

#s = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 8, kv_heads = 2, head_dim = 80}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = 5, dtype = "f16"}, zero = "min"}>,
  value = #kvc.scheme<{codec = "f16"}>>
#keys = #kvk.storage<width = 4, addr = [c1, c2, c0, t0, t1, t2, t3, c3, c[16:5], t4, t5]>
!codes = !kvk.tile<64x5xi4, #kvc.dims<t, c>>
!pairs = !kvk.tile<64x5xi16, #kvc.dims<t, c>>
// CHECK: #kvk.layout<reg = [c[1:5], t4, t5], lane = [t0, t1, t2, t3]>
// CHECK-LABEL: func.func @slice(
func.func @slice(%cache: !kvc.cache<#s>, %q: memref<4x5xi16>, %s: memref<4x64xf32>, %i: index) {
  %k = kvk.load %cache[%i, %i] valid %i channels %i {tensor = #kvc.tensor<key>, storage = #keys, page = 64 : i64} : !kvc.cache<#s> to !codes
  %kw = kvk.widen %k {bias = 8 : i64} : !codes to !pairs
  // expected-remark @below {{words of 8 codes; reads 16 channels for 5}}
  kvk.dot %q, %kw into %s {contract = "c"} : memref<4x5xi16>, !pairs into memref<4x64xf32>
  return
}
