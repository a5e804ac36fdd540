// Attention of 8 query heads over 2 kv heads with 4-bit keys and 8-bit values:
// what `kvc translate SPEC --to mlir` prints for a spec file, with line breaks.
#small = #kvc.spec<name = "small",
  attention = #kvc.attention<{q_heads = 8, kv_heads = 2, head_dim = 64}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = "all", dtype = "f16"}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int8", scale = {tokens = 1, channels = "all", dtype = "f16"}}>,
  layout = #kvc.layout<{kind = "paged", page = 64}>>

kvc.attention_spec @small #small
