// RUN: not kvc-opt %s --kvc-create-kernels="decode-rows=129" 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: not kvc-opt %s --kvc-create-kernels="prefill-rows=0" 2>&1 | FileCheck %s --check-prefix=PREFILL
// RUN: not kvc-opt %s --kvc-create-kernels="tile-tokens=48" 2>&1 | FileCheck %s --check-prefix=TOKENS
// RUN: not kvc-opt %s --kvc-create-kernels="split-tokens=100" 2>&1 | FileCheck %s --check-prefix=SPLIT
// RUN: not kvc-opt %s --kvc-create-kernels="prefill-split-tokens=0" 2>&1 | FileCheck %s --check-prefix=PREFILL-SPLIT

// Options out of range.

// ROWS: error: kvc-create-kernels: decode-rows: expected 0 to 128, got 129
// PREFILL: error: kvc-create-kernels: prefill-rows: expected 1 to 128, got 0
// TOKENS: error: kvc-create-kernels: tile-tokens: expected a power of two from 16 to 256, got 48
// SPLIT: error: kvc-create-kernels: split-tokens: expected a multiple of 64, got 100
// PREFILL-SPLIT: error: kvc-create-kernels: prefill-split-tokens: expected a multiple of 64, got 0

#f16 = #kvc.spec<name = "f16",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 2}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
kvc.attention_spec @f16 #f16
