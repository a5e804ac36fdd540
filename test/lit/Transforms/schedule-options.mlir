// RUN: not kvc-opt %s --kvc-create-kernels --kvc-schedule="decode-rows=129" 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: not kvc-opt %s --kvc-create-kernels --kvc-schedule="prefill-rows=-1" 2>&1 | FileCheck %s --check-prefix=PREFILL
// RUN: not kvc-opt %s --kvc-create-kernels --kvc-schedule="tile-tokens=48" 2>&1 | FileCheck %s --check-prefix=TOKENS
// RUN: not kvc-opt %s --kvc-create-kernels --kvc-schedule="vector-bits=64" 2>&1 | FileCheck %s --check-prefix=BITS

// Options out of range.

// ROWS: error: kvc-schedule: decode-rows: expected 0 to 128, got 129
// PREFILL: error: kvc-schedule: prefill-rows: expected 0 to 128, got -1
// TOKENS: error: kvc-schedule: tile-tokens: expected 0 or a power of two from 16 to 256, got 48
// BITS: error: kvc-schedule: vector-bits: expected 128, 256 or 512, got 64

#f16 = #kvc.spec<name = "f16",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 2}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
kvc.attention_spec @f16 #f16
