// RUN: kvc-opt %s --kvc-create-kernels --kvc-schedule --kvc-split-kv=remarks=true --split-input-file 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: kvc-opt %s --kvc-create-kernels --kvc-schedule --kvc-split-kv="split-tokens=192 prefill-split-tokens=640" --split-input-file | FileCheck %s --check-prefix=FORCED

// 512 bytes of a token and kv head; 16 rows of 256 products for each key.

#f16 = #kvc.spec<name = "f16",
  attention = #kvc.attention<{head_dim = 128, kv_heads = 8, q_heads = 32}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
kvc.attention_spec @f16 #f16

// CHECK: func.func @decode({{.*}} kvc.split_tokens = 512 : i64
// CHECK: func.func @prefill({{.*}} kvc.split_tokens = 16384 : i64
// CHECK: func.func @append({{.*}} attributes {kvc.kernel = "append"}
// FORCED: func.func @decode({{.*}} kvc.split_tokens = 192 : i64
// FORCED: func.func @prefill({{.*}} kvc.split_tokens = 640 : i64
// REMARK: remark: split_tokens: 512; 256 KiB of one kv head
// REMARK: remark: split_tokens: 16384; 67.1 million products of a row tile

// -----

// Codes of four bits and two factors of f16: 136 bytes. Narrow heads compute
// less for a key.

#int4 = #kvc.spec<name = "int4",
  attention = #kvc.attention<{head_dim = 128, kv_heads = 8, q_heads = 32}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>>
kvc.attention_spec @int4 #int4

// CHECK: func.func @decode({{.*}} kvc.split_tokens = 2048 : i64
// REMARK: remark: split_tokens: 2048; 272 KiB of one kv head

// -----

#narrow = #kvc.spec<name = "narrow",
  attention = #kvc.attention<{head_dim = 16, kv_heads = 8, q_heads = 32}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
kvc.attention_spec @narrow #narrow

// CHECK: func.func @decode({{.*}} kvc.split_tokens = 4096 : i64
// CHECK: func.func @prefill({{.*}} kvc.split_tokens = 131072 : i64
