// Attributes and types: what is read is printed, once, under its own name.
// RUN: kvc-opt %s --split-input-file | kvc-opt --split-input-file | FileCheck %s

// Every kind of value that a spec file has; numbers keep their bits and kinds.
// CHECK: #everything = #kvc.spec<name = "everything"
// CHECK-SAME: attention = #kvc.attention<{alibi = true, head_dim = 64, kv_heads = 2, mask = "causal", q_heads = 6, scale = 0.08838834764831845, softcap = 50.0, window = 128, window_sinks = 4}>
// CHECK-SAME: io = #kvc.io<{output = "f32", query = "bf16"}>
// CHECK-SAME: key = #kvc.scheme<{codec = "lut", scale = {channels = 32, dtype = "f16", tokens = 1}, table = [-1.0, -0.25, 0.125, 1.0]}>
// CHECK-SAME: value = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f32", tokens = 1}}>
// CHECK-SAME: segments = #kvc.segments<{recent = 8, sink = 4}>
// CHECK-SAME: layout = #kvc.layout<{kind = "paged", order = "auto", page = 64}>
// CHECK: kvc.attention_spec @everything #everything
#a = #kvc.spec<name = "everything",
  attention = #kvc.attention<{q_heads = 6, kv_heads = 2, head_dim = 64, scale = 0.08838834764831845, mask = "causal",
                              window = 128, window_sinks = 4, softcap = 50.0, alibi = true}>,
  io = #kvc.io<{query = "bf16", output = "f32"}>,
  key = #kvc.scheme<{codec = "lut", table = [-1.0, -0.25, 0.125, 1.0],
                     scale = {tokens = 1, channels = 32, dtype = "f16"}}>,
  value = #kvc.scheme<{codec = "int8", scale = {tokens = 1, channels = "all", dtype = "f32"}}>,
  segments = #kvc.segments<{sink = 4, recent = 8}>,
  layout = #kvc.layout<{kind = "paged", page = 64, order = "auto"}>>
kvc.attention_spec @everything #a

// -----

// The shortest spec: sections in any order, nested attributes without their name.
// CHECK: #raw = #kvc.spec<name = "raw",
// CHECK-NOT: segments
// CHECK: kvc.attention_spec @raw #raw
#a = #kvc.spec<key = <{codec = "f16"}>, value = <{codec = "f16"}>, io = <{query = "f16"}>, name = "raw",
  attention = <{q_heads = 1, kv_heads = 1, head_dim = 16}>>
kvc.attention_spec @raw #a

// -----

// A value that is a slice of the key.
// CHECK: #latent = #kvc.spec<name = "latent"
// CHECK-NOT: value =
// CHECK: kvc.attention_spec @latent #latent
#a = #kvc.spec<name = "latent",
  attention = #kvc.attention<{q_heads = 1, kv_heads = 1, head_dim = 64, value_is_key = [0, 32]}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>>
kvc.attention_spec @latent #a

// -----

// A name that is no identifier does not become one.
// CHECK: #spec = #kvc.spec<name = "two words"
// CHECK: func.func private @f(!kvc.cache<#spec>)
#a = #kvc.spec<name = "two words", attention = #kvc.attention<{q_heads = 1, kv_heads = 1, head_dim = 16}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
func.func private @f(!kvc.cache<#a>)

// -----

// CHECK: func.func private @tiles(tensor<4x64xf32, #kvc.dims<r, t>>, tensor<1xi8, #kvc.dims<c>>)
func.func private @tiles(tensor<4x64xf32, #kvc.dims<r, t>>, tensor<1xi8, #kvc.dims<c>>)

// -----

// CHECK: place.score = #kvc.place<score>
// CHECK-SAME: tensor.key = #kvc.tensor<key>
func.func private @enums() attributes {tensor.key = #kvc.tensor<key>, place.score = #kvc.place<score>}
