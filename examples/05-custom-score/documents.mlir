// Attention over a sequence that is several documents of 400 tokens, one behind
// the other: a query sees the tokens of its own document and token 0, and the
// farther the less, each head at a pace of its own.
#documents = #kvc.spec<name = "documents",
  attention = #kvc.attention<{q_heads = 9, kv_heads = 3, head_dim = 64}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int8", scale = {tokens = 1, channels = "all", dtype = "f16"}}>,
  value = #kvc.scheme<{codec = "int4", scale = {tokens = 1, channels = 16, dtype = "f16"}, zero = "min"}>,
  layout = #kvc.layout<{kind = "paged", page = 64}>>

kvc.attention_spec @documents #documents
    score(%score: f32, %query: i32, %key: i32, %head: i32, %kv_head: i32) {
  // score - (head + 1) / 32 * log(1 + query - key)
  %distance = arith.subi %query, %key : i32
  %distance_f32 = arith.sitofp %distance : i32 to f32
  %one = arith.constant 1.0 : f32
  %next = arith.addf %distance_f32, %one : f32
  %log = math.log %next : f32
  %head_f32 = arith.sitofp %head : i32 to f32
  %head_1 = arith.addf %head_f32, %one : f32
  %unit = arith.constant 0.03125 : f32
  %pace = arith.mulf %head_1, %unit : f32
  %bias = arith.mulf %pace, %log : f32
  %biased = arith.subf %score, %bias : f32
  // Same document, or token 0; else -inf: masked.
  %size = arith.constant 400 : i32
  %document = arith.floordivsi %query, %size : i32
  %of_key = arith.floordivsi %key, %size : i32
  %same = arith.cmpi eq, %document, %of_key : i32
  %zero = arith.constant 0 : i32
  %first = arith.cmpi eq, %key, %zero : i32
  %visible = arith.ori %same, %first : i1
  %masked = arith.constant 0xFF800000 : f32
  %result = arith.select %visible, %biased, %masked : f32
  kvc.yield %result : f32
}
