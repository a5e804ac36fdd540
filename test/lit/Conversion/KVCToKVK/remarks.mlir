// Which types meet in a dot, and why.

// RUN: kvc-opt %s --kvc-create-kernels --kvc-schedule --kvc-expand --kvc-place-factors --kvc-apply-placement --canonicalize --cse --convert-kvc-to-kvk=remarks=true --split-input-file -o /dev/null 2>&1 | FileCheck %s
// RUN: kvc-opt %s --kvc-create-kernels --kvc-schedule --kvc-expand --kvc-place-factors --kvc-apply-placement --canonicalize --cse --convert-kvc-to-kvk="integer-dots=false remarks=true" --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=FLOAT

#mixed = #kvc.spec<name = "mixed", attention = #kvc.attention<{q_heads = 4, kv_heads = 1, head_dim = 32}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min"}>,
  value = #kvc.scheme<{codec = "f16"}>>
kvc.attention_spec @mixed #mixed

// CHECK: remark: decode: key product: 16-bit integer weights and codes, two products per 32 bits; once more with what rounding left of rows in which one channel stands out{{$}}
// CHECK: remark: decode: value product: f32 weights: floats are stored{{$}}
// CHECK: remark: prefill: key product: 16-bit
// CHECK: remark: prefill: value product: f32
// CHECK-NOT: remark:
// FLOAT: remark: decode: key product: f32 weights: this target takes no integer products{{$}}

// -----

#f32 = #kvc.spec<name = "f32", attention = #kvc.attention<{q_heads = 4, kv_heads = 1, head_dim = 32}>,
  io = #kvc.io<{query = "f32"}>, key = #kvc.scheme<{codec = "int8", scale = {tokens = 1, channels = "all", dtype = "f16"}}>,
  value = #kvc.scheme<{codec = "int8", scale = {tokens = 1, channels = 8, dtype = "f16"}}>>
kvc.attention_spec @f32 #f32

// CHECK: remark: decode: key product: f32 weights: 16 bits are too few for f32 queries{{$}}
// CHECK: remark: decode: value product: f32 weights and a panel of f32: factors stay on the codes{{$}}
