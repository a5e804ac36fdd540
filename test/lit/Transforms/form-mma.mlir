// RUN: kvc-opt %s --kvk-form-mma --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// Codes are the rows of the instruction; a query is rounded to its own type, a
// probability too. A sum starts from what the product is added to.

#s = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 8, kv_heads = 1, head_dim = 16}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min"}>,
  value = #kvc.scheme<{codec = "f16"}>,
  layout = #kvc.layout<{kind = "paged", page = 16}>>
!rows = tensor<8x16xf32, #kvc.dims<r, c>>
!scores = tensor<8x16xf32, #kvc.dims<r, t>>
!out = tensor<8x16xf32, #kvc.dims<r, d>>

// CHECK-LABEL: func.func @attend
func.func @attend(%cache: !kvc.cache<#s>, %query: memref<?x?x16xf16, strided<[?, ?, 1]>>, %head: index, %t: index, %n: index, %before: !out) -> !out {
  %q = kvc.load_query %query[%t to %n, %head] group 8 : memref<?x?x16xf16, strided<[?, ?, 1]>> to !rows
  // CHECK: %[[KEYS:.*]] = kvk.load %{{.*}} {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to !kvk.tile<16x16xi4, #kvc.dims<t, c>>
  // CHECK: %[[WIDE:.*]] = kvk.widen %[[KEYS]] {bias = 8 : i64} : {{.*}} to !kvk.tile<16x16xf16, #kvc.dims<t, c>>
  %u = kvc.load_codes %cache[%head, %t] valid %n {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<16x16xi8, #kvc.dims<t, c>>
  %k = arith.sitofp %u : tensor<16x16xi8, #kvc.dims<t, c>> to tensor<16x16xf32, #kvc.dims<t, c>>
  // CHECK: %[[Q:.*]] = arith.truncf %{{.*}} to tensor<8x16xf16, #kvc.dims<r, c>>
  // CHECK: %[[S:.*]] = kvk.mma %[[WIDE]], %[[Q]] :
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
  // CHECK: %[[POWER:.*]] = arith.andi
  // CHECK: %[[UNIT:.*]] = arith.truncf
  // CHECK: %[[O:.*]] = kvk.mma %{{.*}}, %[[UNIT]] :
  // CHECK: arith.mulf %[[O]], %{{.*}} fastmath<contract>
  %o = kvc.contract %x, %w : !scores, tensor<16x16xf32, #kvc.dims<t, d>> to !out
  return %o : !out
}

// Without a free dim on both sides: products and a sum.

// CHECK-LABEL: func.func @written_out
func.func @written_out(%p: !scores, %m: tensor<16xf32, #kvc.dims<t>>) -> tensor<8xf32, #kvc.dims<r>> {
  // CHECK: %[[M:.*]] = kvc.broadcast %arg1
  // CHECK: %[[PM:.*]] = arith.mulf %arg0, %[[M]] fastmath<contract>
  // CHECK: kvc.reduce add %[[PM]]
  %o = kvc.contract %p, %m : !scores, tensor<16xf32, #kvc.dims<t>> to tensor<8xf32, #kvc.dims<r>>
  return %o : tensor<8xf32, #kvc.dims<r>>
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{q_heads = 8, kv_heads = 1, head_dim = 16}>,
  io = #kvc.io<{query = "f32"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @f32(%cache: !kvc.cache<#s>, %head: index, %q: tensor<8x16xf32, #kvc.dims<r, c>>) -> tensor<8x16xf32, #kvc.dims<r, t>> {
  %u = kvc.load_codes %cache[%head, %head] valid %head {tensor = #kvc.tensor<key>} : !kvc.cache<#s> to tensor<16x16xf16, #kvc.dims<t, c>>
  %k = arith.extf %u : tensor<16x16xf16, #kvc.dims<t, c>> to tensor<16x16xf32, #kvc.dims<t, c>>
  // expected-error@+1 {{io.query f32: tensor cores multiply f16 and bf16}}
  %s = kvc.contract %q, %k : tensor<8x16xf32, #kvc.dims<r, c>>, tensor<16x16xf32, #kvc.dims<t, c>> to tensor<8x16xf32, #kvc.dims<r, t>>
  return %s : tensor<8x16xf32, #kvc.dims<r, t>>
}
