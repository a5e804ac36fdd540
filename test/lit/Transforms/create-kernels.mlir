// RUN: kvc-opt %s --kvc-create-kernels --split-input-file | FileCheck %s

// The five kernels, parameters in the order of kvc/kernel_abi.h. The declaration
// goes: its name may be that of a kernel.

#int4 = #kvc.spec<name = "int4",
  attention = #kvc.attention<{head_dim = 128, kv_heads = 8, q_heads = 32, value_dim = 64}>,
  io = #kvc.io<{output = "f32", query = "bf16"}>,
  key = #kvc.scheme<{codec = "int4", scale = {channels = 32, dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "f16"}>>
kvc.attention_spec @decode #int4

// CHECK-NOT: kvc.attention_spec
// CHECK-LABEL: func.func @decode(
// CHECK-SAME: %[[CACHE:.*]]: !kvc.cache<#int4>,
// CHECK-SAME: %[[Q:[^:]*]]: memref<?x?x128xbf16, strided<[?, ?, 1]>>,
// CHECK-SAME: %[[OUT:[^:]*]]: memref<?x64xf32>, %[[LSE:[^:]*]]: memref<?xf32>, %{{[^:]*}}: memref<?xf32>,
// CHECK-SAME: %[[HEAD:[^:]*]]: index, %[[QUERIES:[^:]*]]: index, %[[LENGTH:[^:]*]]: index,
// CHECK-SAME: %[[ROW:[^:]*]]: index, %[[ROW_END:[^:]*]]: index, %[[KEY:[^:]*]]: index, %[[KEY_END:[^:]*]]: index)
// CHECK-SAME: attributes {kvc.kernel = "decode"}
// CHECK-NEXT: kvc.attend %[[Q]], %[[CACHE]][%[[HEAD]]] rows(%[[ROW]] to %[[ROW_END]] of %[[QUERIES]]) keys(%[[KEY]] to %[[KEY_END]] of %[[LENGTH]]) into %[[OUT]], %[[LSE]] : memref
// CHECK-NEXT: return

// CHECK-LABEL: func.func @prefill(
// CHECK-SAME: attributes {kvc.kernel = "prefill"}
// CHECK: kvc.attend

// CHECK-LABEL: func.func @append(
// CHECK-SAME: %[[CACHE:.*]]: !kvc.cache<#int4>,
// CHECK-SAME: %[[K:[^:]*]]: memref<?x?x128xbf16, strided<[?, ?, 1]>>, %[[V:[^:]*]]: memref<?x?x64xbf16, strided<[?, ?, 1]>>,
// CHECK-SAME: %[[HEAD:[^:]*]]: index, %[[BEGIN:[^:]*]]: index, %[[END:[^:]*]]: index, %{{[^:]*}}: index, %{{[^:]*}}: index, %{{[^:]*}}: memref<?xi8>) attributes {kvc.kernel = "append"}
// CHECK-NEXT: kvc.append %[[K]], %[[CACHE]][%[[HEAD]]] tokens(%[[BEGIN]] to %[[END]]) {tensor = #kvc.tensor<key>}
// CHECK-NEXT: kvc.append %[[V]], %[[CACHE]][%[[HEAD]]] tokens(%[[BEGIN]] to %[[END]]) {tensor = #kvc.tensor<value>}

// CHECK-LABEL: func.func @merge(
// CHECK-SAME: %[[POUT:[^:]*]]: memref<?x?x64xf32, strided<[?, 64, 1]>>, %[[PLSE:[^:]*]]: memref<?x?xf32, strided<[?, 1]>>,
// CHECK-SAME: %{{[^:]*}}: memref<?xf32>,
// CHECK-SAME: %[[OUT:[^:]*]]: memref<?x?x64xf32, strided<[?, ?, 1]>>, %[[LSE:[^:]*]]: memref<?x?xf32, strided<[?, ?]>>,
// CHECK-SAME: %[[HEAD:[^:]*]]: index, %[[ROW:[^:]*]]: index, %[[ROW_END:[^:]*]]: index, %[[SPLITS:[^:]*]]: index) attributes {kvc.kernel = "merge"}
// CHECK-NEXT: kvc.merge %[[POUT]], %[[PLSE]] rows(%[[ROW]] to %[[ROW_END]]) splits(%[[SPLITS]]) into %[[OUT]], %[[LSE]][%[[HEAD]]] {spec = #int4}

// Raw values have no codes, scales and zeros, and nothing has outliers; their
// parameters stay.
// CHECK-LABEL: func.func @unpack(
// CHECK-SAME: %[[CACHE:[^:]*]]: !kvc.cache<#int4>,
// CHECK-SAME: %[[HEAD:[^:]*]]: index, %[[BEGIN:[^:]*]]: index, %[[END:[^:]*]]: index,
// CHECK-SAME: %[[KC:[^:]*]]: memref<?x128xi8>, %[[KS:[^:]*]]: memref<?x4xf32>, %[[KZ:[^:]*]]: memref<?x4xf32>, %[[KX:[^:]*]]: memref<?x128xf32>,
// CHECK-SAME: %{{[^:]*}}: memref<?x1xf32>, %{{[^:]*}}: memref<?x1xf32>,
// CHECK-SAME: %[[VC:[^:]*]]: memref<?x64xi8>, %[[VS:[^:]*]]: memref<?x1xf32>, %[[VZ:[^:]*]]: memref<?x1xf32>, %[[VX:[^:]*]]: memref<?x64xf32>,
// CHECK-SAME: %{{[^:]*}}: memref<?x1xf32>, %{{[^:]*}}: memref<?x1xf32>) attributes {kvc.kernel = "unpack"}
// CHECK-NEXT: kvc.unpack %[[CACHE]][%[[HEAD]]] tokens(%[[BEGIN]] to %[[END]]) into %[[KC]], %[[KS]], %[[KZ]], %[[KX]] {tensor = #kvc.tensor<key>}
// CHECK-NEXT: kvc.unpack %[[CACHE]][%[[HEAD]]] tokens(%[[BEGIN]] to %[[END]]) into %[[VC]], %[[VS]], %[[VZ]], %[[VX]] {tensor = #kvc.tensor<value>}


// -----

// Slopes and sink logits reach the ops where the spec has them.

#mha = #kvc.spec<name = "mha",
  attention = #kvc.attention<{alibi = true, head_dim = 64, kv_heads = 8, q_heads = 8, sink_logits = true}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
kvc.attention_spec @mha #mha

// CHECK-LABEL: func.func @decode(
// CHECK-SAME: memref<?x64xf32>, %{{[^:]*}}: memref<?xf32>, %[[SLOPES:[^:]*]]: memref<?xf32>
// CHECK: kvc.attend {{.*}} slopes(%[[SLOPES]]) into
// CHECK-LABEL: func.func @merge(
// CHECK-SAME: strided<[?, 1]>>, %[[SINKS:[^:]*]]: memref<?xf32>
// CHECK: kvc.merge {{.*}} sinks(%[[SINKS]]) into

// -----

// Both attention kernels get the score region.

#f16 = #kvc.spec<name = "f16", attention = #kvc.attention<{head_dim = 64, kv_heads = 1, q_heads = 2}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
kvc.attention_spec @scored #f16
    score(%score: f32, %query: i32, %key: i32, %head: i32, %kv_head: i32) {
  %half = arith.constant 0.5 : f32
  %less = arith.mulf %score, %half : f32
  kvc.yield %less : f32
}

// CHECK-LABEL: func.func @decode(
// CHECK: kvc.attend {{.*}} score(%[[SCORE:.*]]: f32, {{.*}}) {
// CHECK: arith.mulf %[[SCORE]], %{{.*}} : f32
// CHECK: kvc.yield
// CHECK-LABEL: func.func @prefill(
// CHECK: kvc.attend {{.*}} score(%{{.*}}) {
// CHECK: kvc.yield
