// RUN: kvc-opt %s --kvc-create-kernels --split-input-file --verify-diagnostics

// No spec.

// expected-error @+1 {{kernels are made from one kvc.attention_spec, got 0}}
module {
}

// -----

// More than one.

#f16 = #kvc.spec<name = "f16",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 2}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
// expected-error @+1 {{kernels are made from one kvc.attention_spec, got 2}}
module {
  kvc.attention_spec @one #f16
  kvc.attention_spec @two #f16
}

// -----

// A name that is taken.

#f16 = #kvc.spec<name = "f16",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 2}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
kvc.attention_spec @f16 #f16
// expected-error @+1 {{the name of a kernel is taken: 'merge'}}
func.func private @merge()
