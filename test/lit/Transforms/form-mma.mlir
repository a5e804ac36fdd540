// RUN: kvc-opt %s --kvk-form-mma --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// Codes are the rows of the instruction, those of few bits as they lie in their
// words; a query is rounded to its own type, a probability too. A sum starts from what the product is added to.

#s = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 8, kv_heads = 1, head_dim = 16}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min"}>,
  value = #kvc.scheme<{codec = "f16"}>,
  layout = #kvc.layout<{kind = "paged", page = 16}>>
!rows = tensor<8x16xf32, #kvc.dims<r, c>>
!scores = tensor<8x16xf32, #kvc.dims<r, t>>
!out = tensor<8x16xf32, #kvc.dims<r, d>>

// CHECK-LABEL: func.func @attend
// CHECK-SAME: attributes {kvc.operands = "f16"}
func.func @attend(%cache: !kvc.cache<#s>, %query: memref<?x?x16xf16, strided<[?, ?, 1]>>, %head: index, %t: index, %n: index, %before: !out) -> !out {
  // The row's largest element comes near f16's end, channels of the upper half of
  // a byte are divided by 16. What codes are not lowered by is 8 of each channel.
  // CHECK-DAG: %[[SIXTEENTH:.*]] = arith.constant dense<6.250000e-02> : tensor<16xf32, #kvc.dims<c>>
  // CHECK-DAG: %[[EIGHT:.*]] = arith.constant dense<8> : tensor<16xi32, #kvc.dims<c>>
  // CHECK-DAG: %[[BIAS:.*]] = arith.constant dense<-8.000000e+00> : tensor<8xf32, #kvc.dims<r>>
  // CHECK: %[[QUERY:.*]] = kvc.load_query
  // CHECK: %[[SIZE:.*]] = math.absf %[[QUERY]]
  // Rows below 2^-111 are brought as near as finite factors can.
  // CHECK: kvc.reduce maxnumf %[[SIZE]] : {{.*}} to tensor<8xf32, #kvc.dims<r>>
  // CHECK: %[[POWER:.*]] = arith.maxsi
  // CHECK: arith.subi %{{.*}}, %[[POWER]]
  // CHECK: kvc.iota : tensor<16xi32, #kvc.dims<c>>
  // CHECK: arith.andi %{{.*}}, %[[EIGHT]]
  // CHECK: arith.select %{{.*}}, %[[SIXTEENTH]]
  // CHECK: %[[SCALED:.*]] = arith.mulf %{{.*}} : tensor<8x16xf32, #kvc.dims<r, c>>
  // CHECK: %[[Q:.*]] = arith.truncf %{{.*}} to tensor<8x16xf16, #kvc.dims<r, c>>
  // CHECK: %[[SUM:.*]] = kvc.reduce add %[[QUERY]]
  // CHECK: arith.mulf %[[SUM]], %[[BIAS]]
  %q = kvc.load_query %query[%t to %n, %head] group 8 : memref<?x?x16xf16, strided<[?, ?, 1]>> to !rows
  // CHECK: %[[KEYS:.*]] = kvk.load %{{.*}} {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to !kvk.tile<16x16xi4, #kvc.dims<t, c>>
  // CHECK: %[[WIDE:.*]] = kvk.widen %[[KEYS]] {in_place} : {{.*}} to !kvk.tile<16x16xf16, #kvc.dims<t, c>>
  %u = kvc.load_codes %cache[%head, %t] valid %n {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<16x16xi8, #kvc.dims<t, c>>
  %k = arith.sitofp %u : tensor<16x16xi8, #kvc.dims<t, c>> to tensor<16x16xf32, #kvc.dims<t, c>>
  // CHECK: %[[PRODUCT:.*]] = kvk.mma %[[WIDE]], %[[Q]] :
  // CHECK: %[[BACK:.*]] = arith.mulf %[[PRODUCT]], %{{.*}}
  // CHECK: %[[S:.*]] = arith.addf %[[BACK]], %{{.*}}
  %s = kvc.contract %q, %k : !rows, tensor<16x16xf32, #kvc.dims<t, c>> to !scores
  // CHECK: %[[P:.*]] = math.exp2 %[[S]]
  %p = math.exp2 %s : !scores
  // CHECK: %[[VALUES:.*]] = kvk.load {{.*}} to !kvk.tile<16x16xf16, #kvc.dims<t, d>>
  %v = kvc.load_codes %cache[%head, %t] valid %n {tensor = #kvc.tensor<value>} : !kvc.cache<#s> to tensor<16x16xf16, #kvc.dims<t, d>>
  %x = arith.extf %v : tensor<16x16xf16, #kvc.dims<t, d>> to tensor<16x16xf32, #kvc.dims<t, d>>
  // CHECK: %[[HALF:.*]] = arith.truncf %[[P]]
  // CHECK: %[[O:.*]] = kvk.mma %[[VALUES]], %[[HALF]] acc %{{.*}} :
  %o = kvc.contract %p, %x : !scores, tensor<16x16xf32, #kvc.dims<t, d>> to !out
  %sum = arith.addf %before, %o : !out
  // CHECK: return %[[O]]
  return %sum : !out
}

// A term of the scores that has what codes are lowered by already gets the zero
// alone; what all is multiplied by goes to the query's side of both terms.

// CHECK-LABEL: func.func @raised
func.func @raised(%cache: !kvc.cache<#s>, %query: memref<?x?x16xf16, strided<[?, ?, 1]>>, %head: index, %t: index, %n: index, %scale: tensor<16xf32, #kvc.dims<t>>, %zero: tensor<16xf32, #kvc.dims<t>>) -> !scores {
  %eight = arith.constant dense<8.0> : tensor<16xf32, #kvc.dims<t>>
  %quarter = arith.constant dense<0.25> : !scores
  // CHECK-DAG: %[[QUARTER:.*]] = arith.constant dense<2.500000e-01> : tensor<8xf32, #kvc.dims<r>>
  // CHECK: %[[SUM:.*]] = kvc.reduce add
  // CHECK: %[[PART:.*]] = arith.mulf %[[SUM]], %[[QUARTER]]
  %q = kvc.load_query %query[%t to %n, %head] group 8 : memref<?x?x16xf16, strided<[?, ?, 1]>> to !rows
  %sum = kvc.reduce add %q : !rows to tensor<8xf32, #kvc.dims<r>>
  %u = kvc.load_codes %cache[%head, %t] valid %n {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<16x16xi8, #kvc.dims<t, c>>
  %k = arith.sitofp %u : tensor<16x16xi8, #kvc.dims<t, c>> to tensor<16x16xf32, #kvc.dims<t, c>>
  // CHECK: %[[S:.*]] = kvk.mma
  // CHECK: %[[BACK:.*]] = arith.mulf %[[S]], %{{.*}}
  // CHECK: %[[SCALE:.*]] = kvc.broadcast %arg5
  // CHECK: %[[SCALED:.*]] = arith.mulf %[[BACK]], %[[SCALE]]
  %s = kvc.contract %q, %k : !rows, tensor<16x16xf32, #kvc.dims<t, c>> to !scores
  %wide = kvc.broadcast %scale : tensor<16xf32, #kvc.dims<t>> to !scores
  %scaled = arith.mulf %s, %wide fastmath<contract> : !scores
  %lowered = arith.mulf %scale, %eight fastmath<contract> : tensor<16xf32, #kvc.dims<t>>
  %m = arith.addf %zero, %lowered fastmath<contract> : tensor<16xf32, #kvc.dims<t>>
  // CHECK: %[[SUMS:.*]] = kvc.broadcast %[[PART]]
  // CHECK: %[[ZEROS:.*]] = kvc.broadcast %arg6
  // CHECK: %[[TERM:.*]] = arith.mulf %[[SUMS]], %[[ZEROS]]
  %sums = kvc.broadcast %sum : tensor<8xf32, #kvc.dims<r>> to !scores
  %ms = kvc.broadcast %m : tensor<16xf32, #kvc.dims<t>> to !scores
  %term = arith.mulf %sums, %ms fastmath<contract> : !scores
  // CHECK: %[[SCORE:.*]] = arith.addf %[[SCALED]], %[[TERM]]
  %score = arith.addf %scaled, %term fastmath<contract> : !scores
  // CHECK: return %[[SCORE]]
  %all = arith.mulf %score, %quarter fastmath<contract> : !scores
  return %all : !scores
}

// Values stay in units of their channels until the loop has ended; a sum over
// the rounded rows is carried beside, which takes off what codes are not lowered
// by.

#few = #kvc.spec<name = "few", attention = #kvc.attention<{q_heads = 8, kv_heads = 1, head_dim = 16}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>,
  value = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}}>,
  layout = #kvc.layout<{kind = "paged", page = 16}>>

// CHECK-LABEL: func.func @values
func.func @values(%cache: !kvc.cache<#few>, %head: index, %n: index, %s: !scores, %f: !scores, %decay: tensor<8xf32, #kvc.dims<r>>) -> !out {
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !out
  // CHECK-DAG: %[[ONES:.*]] = arith.constant dense<1.000000e+00> : tensor<16x16xf16, #kvc.dims<t, d>>
  // CHECK: %[[LOOP:.*]]:2 = scf.for {{.*}} iter_args(%[[O:.*]] = %{{.*}}, %[[Z:.*]] = %{{.*}}) -> (tensor<8x16xf32, #kvc.dims<r, d>>, tensor<8x16xf32, #kvc.dims<r, d>>)
  %o = scf.for %i = %head to %n step %c1 iter_args(%sum = %zero) -> (!out) {
    // CHECK: %[[WIDE:.*]] = kvk.widen %{{.*}} {in_place}
    %u = kvc.load_codes %cache[%head, %i] valid %n {tensor = #kvc.tensor<value>} : !kvc.cache<#few> to tensor<16x16xi8, #kvc.dims<t, d>>
    %v = arith.sitofp %u : tensor<16x16xi8, #kvc.dims<t, d>> to tensor<16x16xf32, #kvc.dims<t, d>>
    %p = math.exp2 %s : !scores
    %x = arith.mulf %p, %f : !scores
    // CHECK: %[[ROWS:.*]] = arith.truncf %{{.*}} to tensor<8x16xf16, #kvc.dims<r, t>>
    // CHECK: %[[TOTAL:.*]] = kvk.mma %[[ONES]], %[[ROWS]]
    // CHECK: %[[PRODUCT:.*]] = kvk.mma %[[WIDE]], %[[ROWS]]
    %product = kvc.contract %x, %v : !scores, tensor<16x16xf32, #kvc.dims<t, d>> to !out
    %factors = kvc.broadcast %decay : tensor<8xf32, #kvc.dims<r>> to !out
    %before = arith.mulf %sum, %factors : !out
    %next = arith.addf %before, %product : !out
    // CHECK: %[[BEFORE:.*]] = arith.mulf %[[Z]], %{{.*}}
    // CHECK: arith.addf %[[BEFORE]], %{{.*}}
    scf.yield %next : !out
  }
  // CHECK: %[[WHOLE:.*]] = arith.mulf %[[LOOP]]#0, %{{.*}}
  // CHECK: %[[ALL:.*]] = kvc.reduce maxnumf %[[LOOP]]#1 : {{.*}} to tensor<8xf32, #kvc.dims<r>>
  // CHECK: %[[RESULT:.*]] = arith.subf %[[WHOLE]], %{{.*}}
  // CHECK: return %[[RESULT]]
  return %o : !out
}

// A probability times a factor may leave f16: a power of two of each row, at
// least as large as the factors, is taken out and multiplied afterwards.

// CHECK-LABEL: func.func @scaled
func.func @scaled(%cache: !kvc.cache<#s>, %head: index, %t: index, %n: index, %s: !scores, %f: !scores) -> !out {
  %p = math.exp2 %s : !scores
  %x = arith.mulf %p, %f : !scores
  %v = kvc.load_codes %cache[%head, %t] valid %n {tensor = #kvc.tensor<value>} : !kvc.cache<#s> to tensor<16x16xf16, #kvc.dims<t, d>>
  %w = arith.extf %v : tensor<16x16xf16, #kvc.dims<t, d>> to tensor<16x16xf32, #kvc.dims<t, d>>
  // CHECK: %[[ABS:.*]] = math.absf %arg5
  // CHECK: %[[MAX:.*]] = kvc.reduce maxnumf %[[ABS]] : {{.*}} to tensor<8xf32, #kvc.dims<r>>
  // CHECK: %[[BITS:.*]] = arith.bitcast %[[MAX]]
  // CHECK: arith.andi
  // CHECK: %[[POWER:.*]] = arith.maxsi
  // CHECK: %[[UNIT:.*]] = arith.truncf
  // CHECK: %[[O:.*]] = kvk.mma %{{.*}}, %[[UNIT]] :
  // CHECK: arith.mulf %[[O]], %{{.*}} fastmath<contract>
  %o = kvc.contract %x, %w : !scores, tensor<16x16xf32, #kvc.dims<t, d>> to !out
  return %o : !out
}

// Without a free dim on both sides: products and a sum.

// CHECK-LABEL: func.func @written_out
// CHECK-NOT: kvc.operands
func.func @written_out(%p: !scores, %m: tensor<16xf32, #kvc.dims<t>>) -> tensor<8xf32, #kvc.dims<r>> {
  // CHECK: %[[M:.*]] = kvc.broadcast %arg1
  // CHECK: %[[PM:.*]] = arith.mulf %arg0, %[[M]] fastmath<contract>
  // CHECK: kvc.reduce add %[[PM]]
  %o = kvc.contract %p, %m : !scores, tensor<16xf32, #kvc.dims<t>> to tensor<8xf32, #kvc.dims<r>>
  return %o : tensor<8xf32, #kvc.dims<r>>
}

// Values in registers, here in blocks of channels that fill no fragment: zeros
// behind them, a power of two of each channel taken out, and the blocks again.

!values = tensor<16x3x8xf32, #kvc.dims<t, b, e>>

// CHECK-LABEL: func.func @dequantised
func.func @dequantised(%cache: !kvc.cache<#s>, %s: !scores, %x: !values) -> tensor<8x3x8xf32, #kvc.dims<r, b, e>> {
  // CHECK-DAG: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : tensor<16x8xf32, #kvc.dims<t, d>>
  // CHECK-DAG: %[[P:.*]] = math.exp2
  %p = math.exp2 %s : !scores
  // CHECK: %[[X:.*]] = kvc.join %arg2 : {{.*}} to tensor<16x24xf32, #kvc.dims<t, d>>
  // CHECK: %[[WHOLE:.*]] = kvc.concat %[[X]], %[[ZEROS]] : {{.*}} to tensor<16x32xf32, #kvc.dims<t, d>>
  // CHECK: %[[ABS:.*]] = math.absf %[[WHOLE]]
  // CHECK: kvc.reduce maxnumf %[[ABS]] : {{.*}} to tensor<32xf32, #kvc.dims<d>>
  // CHECK: %[[O:.*]] = kvk.mma %{{.*}}, %{{.*}} : tensor<16x32xf16, #kvc.dims<t, d>>, tensor<8x16xf16, #kvc.dims<r, t>> to tensor<8x32xf32, #kvc.dims<r, d>>
  // CHECK: %[[SCALED:.*]] = arith.mulf %[[O]]
  // CHECK: %[[SLICE:.*]] = kvc.slice %[[SCALED]] : {{.*}} to tensor<8x24xf32, #kvc.dims<r, d>>
  // CHECK: kvc.split %[[SLICE]]
  %o = kvc.contract %p, %x : !scores, !values to tensor<8x3x8xf32, #kvc.dims<r, b, e>>
  return %o : tensor<8x3x8xf32, #kvc.dims<r, b, e>>
}

// Codes that begin anywhere are values too.

// CHECK-LABEL: func.func @unaligned
// CHECK-NOT: kvk.load
// CHECK: kvk.mma
func.func @unaligned(%cache: !kvc.cache<#s>, %head: index, %t: index, %p: !scores) -> !out {
  %v = kvc.load_codes %cache[%head, %t] valid %t {tensor = #kvc.tensor<value>, unaligned} : !kvc.cache<#s> to tensor<16x16xf16, #kvc.dims<t, d>>
  %x = arith.extf %v : tensor<16x16xf16, #kvc.dims<t, d>> to tensor<16x16xf32, #kvc.dims<t, d>>
  %o = kvc.contract %p, %x : !scores, tensor<16x16xf32, #kvc.dims<t, d>> to !out
  return %o : !out
}

// -----

// Three terms of each f32, six products, the smallest first.

#s = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 8, kv_heads = 1, head_dim = 16}>,
  io = #kvc.io<{query = "f32"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>

// CHECK-LABEL: func.func @f32
// CHECK-SAME: attributes {kvc.operands = "bf16 in 3 terms"}
func.func @f32(%cache: !kvc.cache<#s>, %k: tensor<16x16xf32, #kvc.dims<t, c>>, %q: tensor<8x16xf32, #kvc.dims<r, c>>) -> tensor<8x16xf32, #kvc.dims<r, t>> {
  // CHECK-DAG: %[[K0:.*]] = kvc.round_to %arg1 {dtype = "bf16"}
  // CHECK-DAG: %[[REST:.*]] = arith.subf %arg1, %[[K0]]
  // CHECK-DAG: %[[K1:.*]] = kvc.round_to %[[REST]] {dtype = "bf16"}
  // CHECK-DAG: %[[A:.*]] = arith.truncf %[[K0]]
  // CHECK: %[[LOW:.*]] = kvk.mma %[[A]], %{{.*}} : tensor<16x16xbf16, #kvc.dims<t, c>>
  // CHECK-COUNT-4: kvk.mma {{.*}} acc
  // CHECK: %[[S:.*]] = kvk.mma %[[A]], %{{.*}} acc
  // CHECK-NOT: kvk.mma
  // CHECK: return %[[S]]
  %s = kvc.contract %q, %k : tensor<8x16xf32, #kvc.dims<r, c>>, tensor<16x16xf32, #kvc.dims<t, c>> to tensor<8x16xf32, #kvc.dims<r, t>>
  return %s : tensor<8x16xf32, #kvc.dims<r, t>>
}
