#documents = #kvc.spec<name = "documents", attention = #kvc.attention<{q_heads = 9, kv_heads = 3, head_dim = 64}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int8", scale = {tokens = 1, channels = "all", dtype = "f16"}}>,
  value = #kvc.scheme<{codec = "f16"}>>
kvc.attention_spec @documents #documents
    score(%score: f32, %query: i32, %key: i32, %head: i32, %kv_head: i32) {
  %size = arith.constant 300 : i32
  %of_query = arith.floordivsi %query, %size : i32
  %of_key = arith.floordivsi %key, %size : i32
  %same = arith.cmpi eq, %of_query, %of_key : i32
  %masked = arith.constant 0xFF800000 : f32
  %result = arith.select %same, %score, %masked {note = "score("} : f32
  kvc.yield %result : f32
}
