// RUN: kvc-opt %s --kvc-create-kernels --kvc-schedule --kvc-split-kv=remarks=true --split-input-file 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: kvc-opt %s --kvc-create-kernels --kvc-schedule --kvc-split-kv="split-tokens=192 prefill-split-tokens=640" --split-input-file | FileCheck %s --check-prefix=FORCED
// RUN: kvc-opt %s --kvc-create-kernels --kvc-schedule --kvc-split-kv="split-tokens=192 remarks=true" --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=ASKED
// RUN: kvc-opt %s --kvc-create-kernels --kvc-schedule="tile-tokens=256" --kvc-split-kv=remarks=true --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=WIDE

// 512 bytes of a token and kv head; 16 rows of 256 products for each key.

#f16 = #kvc.spec<name = "f16",
  attention = #kvc.attention<{head_dim = 128, kv_heads = 8, q_heads = 32}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
kvc.attention_spec @f16 #f16

// CHECK: func.func @decode({{.*}} kvc.split_tokens = 512 : i64
// CHECK: func.func @prefill({{.*}} kvc.split_tokens = 16384 : i64
// CHECK: func.func @append({{.*}} attributes {kvc.kernel = "append"}
// ASKED: remark: decode: split_tokens: 192 as asked: 96 KiB of one kv head
// FORCED: func.func @decode({{.*}} kvc.split_tokens = 192 : i64
// FORCED: func.func @prefill({{.*}} kvc.split_tokens = 640 : i64
// REMARK: remark: decode: split_tokens: 512, the power of two nearest to 256 KiB: 256 KiB of one kv head
// REMARK: remark: prefill: split_tokens: 16384, the power of two nearest to 2^26 products: 67.1 million products in a row tile

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
// REMARK: remark: decode: split_tokens: 2048, the power of two nearest to 256 KiB: 272 KiB of one kv head

// -----

#narrow = #kvc.spec<name = "narrow",
  attention = #kvc.attention<{head_dim = 16, kv_heads = 8, q_heads = 32}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
kvc.attention_spec @narrow #narrow

// CHECK: func.func @decode({{.*}} kvc.split_tokens = 4096 : i64
// CHECK: func.func @prefill({{.*}} kvc.split_tokens = 131072 : i64

// -----

// A head so wide that 256 KiB are less than a tile.

#wide = #kvc.spec<name = "wide",
  attention = #kvc.attention<{head_dim = 576, kv_heads = 1, q_heads = 8}>,
  io = #kvc.io<{query = "f32"}>, key = #kvc.scheme<{codec = "f32"}>, value = #kvc.scheme<{codec = "f32"}>>
kvc.attention_spec @wide #wide

// CHECK: func.func @decode({{.*}} kvc.split_tokens = 64 : i64
// WIDE: remark: decode: split_tokens: 256, one tile: 1152 KiB of one kv head
