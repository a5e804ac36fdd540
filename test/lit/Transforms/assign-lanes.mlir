// RUN: kvc-opt %s --kvk-assign-lanes --split-input-file --verify-diagnostics | FileCheck %s

// Scores and outputs have the layout of the instruction's result, factors of
// rows a slice of both. Probabilities, pairs of which share a register, turn by
// one movmatrix into the next product's operand.

#s = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 8, kv_heads = 1, head_dim = 32}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>,
  layout = #kvc.layout<{kind = "paged", page = 16}>>
#keys = #kvk.storage<width = 16, addr = [c0, t3, c3, c1, c2, t0, t1, t2, c4]>
#values = #kvk.storage<width = 16, addr = [t0, c3, t3, t1, t2, c0, c1, c2, c4]>
!q = tensor<8x32xf32, #kvc.dims<r, c>>
!s = tensor<8x16xf32, #kvc.dims<r, t>>
!o = tensor<8x32xf32, #kvc.dims<r, d>>

// CHECK-DAG: #[[KEYS:layout.*]] = #kvk.layout<pack = [c0], reg = [t3, c3, c4], lane = [c1, c2, t0, t1, t2]>
// CHECK-DAG: #[[GIVEN:layout.*]] = #kvk.layout<reg = [c0, c3, c4], lane = [c1, c2, r0, r1, r2]>
// CHECK-DAG: #[[QUERY:layout.*]] = #kvk.layout<pack = [c0], reg = [c3, c4], lane = [c1, c2, r0, r1, r2]>
// CHECK-DAG: #[[SCORES:layout.*]] = #kvk.layout<reg = [r0, t3], lane = [r1, r2, t0, t1, t2]>
// CHECK-DAG: #[[ROWS:layout.*]] = #kvk.layout<reg = [r0], lane = [r1, r2, *, *, *]>
// CHECK-DAG: #[[PAIRS:layout.*]] = #kvk.layout<pack = [r0], reg = [t3], lane = [r1, r2, t0, t1, t2]>
// CHECK-DAG: #[[WEIGHTS:layout.*]] = #kvk.layout<pack = [t0], reg = [t3], lane = [t1, t2, r0, r1, r2]>
// CHECK-DAG: #[[OUT:layout.*]] = #kvk.layout<reg = [r0, d3, d4], lane = [r1, r2, d0, d1, d2]>

// CHECK-LABEL: func.func @attend
func.func @attend(%cache: !kvc.cache<#s>, %query: memref<?x?x32xf16, strided<[?, ?, 1]>>, %i: index) -> !o {
  // CHECK: kvc.load_query {{.*}} {kvk.layouts = [#[[GIVEN]]]}
  %q = kvc.load_query %query[%i to %i, %i] group 8 : memref<?x?x32xf16, strided<[?, ?, 1]>> to !q
  // CHECK: arith.truncf {{.*}} {kvk.layouts = [#[[QUERY]]]}
  %qh = arith.truncf %q : !q to tensor<8x32xf16, #kvc.dims<r, c>>
  // CHECK: kvk.load {{.*}} to !kvk.tile<16x32xf16, #kvc.dims<t, c>, #[[KEYS]]>
  %k = kvk.load %cache[%i, %i] valid %i channels %i {tensor = #kvc.tensor<key>, storage = #keys, page = 16}
      : !kvc.cache<#s> to !kvk.tile<16x32xf16, #kvc.dims<t, c>>
  // CHECK: kvk.mma {{.*}} {kvk.layouts = [#[[SCORES]]]}
  %s = kvk.mma %k, %qh : !kvk.tile<16x32xf16, #kvc.dims<t, c>>, tensor<8x32xf16, #kvc.dims<r, c>> to !s
  // CHECK: kvc.reduce maxnumf {{.*}} {kvk.layouts = [#[[ROWS]]]}
  %m = kvc.reduce maxnumf %s : !s to tensor<8xf32, #kvc.dims<r>>
  // CHECK: kvc.broadcast {{.*}} {kvk.layouts = [#[[SCORES]]]}
  %mb = kvc.broadcast %m : tensor<8xf32, #kvc.dims<r>> to !s
  // CHECK: arith.subf {{.*}} {kvk.layouts = [#[[SCORES]]]}
  %p = arith.subf %s, %mb : !s
  // CHECK: %[[HALF:.*]] = arith.truncf {{.*}} {kvk.layouts = [#[[PAIRS]]]}
  // CHECK: %[[TURNED:.*]] = kvk.convert_layout %[[HALF]] {kvk.layouts = [#[[WEIGHTS]]]}
  %ph = arith.truncf %p : !s to tensor<8x16xf16, #kvc.dims<r, t>>
  %v = kvk.load %cache[%i, %i] valid %i channels %i {tensor = #kvc.tensor<value>, storage = #values, page = 16}
      : !kvc.cache<#s> to !kvk.tile<16x32xf16, #kvc.dims<t, d>>
  // CHECK: kvk.mma %{{.*}}, %[[TURNED]] {kvk.layouts = [#[[OUT]]]}
  %o = kvk.mma %v, %ph : !kvk.tile<16x32xf16, #kvc.dims<t, d>>, tensor<8x16xf16, #kvc.dims<r, t>> to !o
  // CHECK: arith.mulf {{.*}} {kvk.layouts = [#[[OUT]]]}
  %mo = kvc.broadcast %m : tensor<8xf32, #kvc.dims<r>> to !o
  %r = arith.mulf %o, %mo : !o
  return %r : !o
}

// -----

// Rows in memory: channels are numbered so that a lane's lie together, eight of
// K and four of V in 32 channels.

#s = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 8, kv_heads = 1, head_dim = 32}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>,
  layout = #kvc.layout<{kind = "paged", page = 16, order = "nhd"}>>
#rows = #kvk.storage<width = 16, addr = [c0, c1, c2, c3, c4, t0, t1, t2, t3]>
// CHECK-DAG: #[[KEYS:layout.*]] = #kvk.layout<pack = [c0], reg = [t3, c1, c2], lane = [c3, c4, t0, t1, t2]>
// CHECK-DAG: #[[VALUES:layout.*]] = #kvk.layout<pack = [t0], reg = [c0, t3, c1], lane = [t1, t2, c2, c3, c4]>
func.func @rows(%cache: !kvc.cache<#s>, %q: tensor<8x32xf16, #kvc.dims<r, c>>, %i: index) {
  %qh = arith.constant dense<1.0> : tensor<8x32xf16, #kvc.dims<r, c>>
  %ph = arith.constant dense<1.0> : tensor<8x16xf16, #kvc.dims<r, t>>
  // CHECK: #kvc.dims<t, c>, #[[KEYS]]>
  %k = kvk.load %cache[%i, %i] valid %i channels %i {tensor = #kvc.tensor<key>, storage = #rows, page = 16}
      : !kvc.cache<#s> to !kvk.tile<16x32xf16, #kvc.dims<t, c>>
  %s = kvk.mma %k, %qh : !kvk.tile<16x32xf16, #kvc.dims<t, c>>, tensor<8x32xf16, #kvc.dims<r, c>> to tensor<8x16xf32, #kvc.dims<r, t>>
  // CHECK: #kvc.dims<t, c>, #[[VALUES]]>
  %v = kvk.load %cache[%i, %i] valid %i channels %i {tensor = #kvc.tensor<value>, storage = #rows, page = 16}
      : !kvc.cache<#s> to !kvk.tile<16x32xf16, #kvc.dims<t, c>>
  %o = kvk.mma %v, %ph : !kvk.tile<16x32xf16, #kvc.dims<t, c>>, tensor<8x16xf16, #kvc.dims<r, t>> to tensor<8x32xf32, #kvc.dims<r, c>>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 8, kv_heads = 1, head_dim = 24}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
#rows = #kvk.storage<width = 16, addr = [c0, c1, c2, c[8:3], t0, t1, t2, t3, t4, t5]>
func.func @no_fragment(%cache: !kvc.cache<#s>, %i: index) {
  %qh = arith.constant dense<1.0> : tensor<8x24xf16, #kvc.dims<r, c>>
  %k = kvk.load %cache[%i, %i] valid %i channels %i {tensor = #kvc.tensor<key>, storage = #rows, page = 64}
      : !kvc.cache<#s> to !kvk.tile<16x24xf16, #kvc.dims<t, c>>
  // expected-error@+1 {{expected multiples of 16 t, 16 c and 8 r, got}}
  %s = kvk.mma %k, %qh : !kvk.tile<16x24xf16, #kvc.dims<t, c>>, tensor<8x24xf16, #kvc.dims<r, c>> to tensor<8x16xf32, #kvc.dims<r, t>>
  return
}
