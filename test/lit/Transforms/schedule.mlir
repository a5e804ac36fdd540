// RUN: kvc-opt %s --kvc-create-kernels --kvc-schedule --split-input-file | FileCheck %s
// RUN: kvc-opt %s --kvc-create-kernels --kvc-schedule=vector-bits=256 --split-input-file | FileCheck %s --check-prefix=NARROW
// RUN: kvc-opt %s --kvc-create-kernels --kvc-schedule="decode-rows=5 prefill-rows=32 tile-tokens=128" --split-input-file | FileCheck %s --check-prefix=FORCED
// RUN: kvc-opt %s --kvc-create-kernels --kvc-schedule=remarks=true --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// A group of four is one tile; the rows of prefill are a power of two. What a
// plan must know stands on the function.

#four = #kvc.spec<name = "four",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
kvc.attention_spec @four #four

// CHECK-LABEL: func.func @decode(
// CHECK-SAME: attributes {kvc.kernel = "decode", kvc.tile_rows = 4 : i64, kvc.tile_tokens = 64 : i64}
// CHECK: kvc.attend {{.*}} {tile_rows = 4 : i64, tile_tokens = 64 : i64}
// CHECK-LABEL: func.func @prefill(
// CHECK-SAME: attributes {kvc.kernel = "prefill", kvc.tile_rows = 16 : i64, kvc.tile_tokens = 64 : i64}
// CHECK: kvc.attend {{.*}} {tile_rows = 16 : i64, tile_tokens = 64 : i64}
// CHECK-LABEL: func.func @append(
// CHECK-SAME: attributes {kvc.kernel = "append"}
// CHECK-LABEL: func.func @merge(
// CHECK-SAME: attributes {kvc.kernel = "merge"}
// CHECK: kvc.merge {{.*}} {spec = #four, tile_rows = 4 : i64}

// FORCED: func.func @decode({{.*}} attributes {kvc.kernel = "decode", kvc.tile_rows = 5 : i64, kvc.tile_tokens = 128 : i64}
// FORCED: kvc.attend {{.*}} {tile_rows = 5 : i64, tile_tokens = 128 : i64}
// FORCED: func.func @prefill({{.*}} attributes {kvc.kernel = "prefill", kvc.tile_rows = 32 : i64, kvc.tile_tokens = 128 : i64}
// FORCED: kvc.attend {{.*}} {tile_rows = 32 : i64, tile_tokens = 128 : i64}
// FORCED: kvc.merge {{.*}} {spec = #four, tile_rows = 5 : i64}

// REMARK: remark: decode: tile_rows: 4 at 2.00 operations per row and vector of operands, the fewest within 5 % of the cheapest; others: 2 (2.75), 3 (3.38), 1 (4.25){{$}}
// REMARK: remark: decode: tile_tokens: 64, four vectors of 16 tokens: a tile loads each weight once
// REMARK: remark: prefill: tile_rows: 16 at 1.81 {{.*}}; others: 128 (1.76), 64 (1.77), 32 (1.78){{$}}
// REMARK: remark: merge: tile_rows: 4, those of a group, at most 4: rows share only the loop over the splits

// -----

// One row has nothing to share.

#one = #kvc.spec<name = "one",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 8, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
kvc.attention_spec @one #one

// CHECK-LABEL: func.func @decode(
// CHECK: kvc.attend {{.*}} {tile_rows = 1 : i64
// CHECK: kvc.merge {{.*}} tile_rows = 1 : i64}
// REMARK: remark: decode: tile_rows: 1 at {{.*}} of the cheapest{{$}}

// -----

// Rows need not be a power of two: a row too many would be computed in vain.

#three = #kvc.spec<name = "three",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 3, q_heads = 9}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
kvc.attention_spec @three #three

// CHECK-LABEL: func.func @decode(
// CHECK: kvc.attend {{.*}} {tile_rows = 3 : i64
// CHECK: kvc.merge {{.*}} tile_rows = 3 : i64}

// -----

// Many heads: the rows of a tile share loads and widening, up to what fits the
// registers.

#many = #kvc.spec<name = "many",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 1, q_heads = 32}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
kvc.attention_spec @many #many

// CHECK-LABEL: func.func @decode(
// CHECK: kvc.attend {{.*}} {tile_rows = 16 : i64
// CHECK: kvc.merge {{.*}} tile_rows = 4 : i64}

// Half the registers hold half the sums: more rows widen again.
// NARROW: kvc.attend {{.*}} {tile_rows = 4 : i64
// NARROW: kvc.attend {{.*}} {tile_rows = 16 : i64
// NARROW: kvc.attend {{.*}} {tile_rows = 1 : i64
// NARROW: kvc.attend {{.*}} {tile_rows = 16 : i64
// NARROW: kvc.attend {{.*}} {tile_rows = 3 : i64
// NARROW: kvc.attend {{.*}} {tile_rows = 16 : i64
// NARROW: kvc.attend {{.*}} {tile_rows = 8 : i64
// NARROW: kvc.attend {{.*}} {tile_rows = 16 : i64

// -----

// Keys that are values too are made from codes once for each tile of rows, which
// pays off over more of them; raw ones are read where they lie. Rows of prefill
// may be few.

#codes = #kvc.spec<name = "codes",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 1, q_heads = 128, value_is_key = "all"}>,
  io = #kvc.io<{query = "bf16"}>, key = #kvc.scheme<{codec = "fp8_e4m3", scale = {tokens = 1, channels = "all", dtype = "f32"}}>>
kvc.attention_spec @codes #codes

// CHECK-LABEL: func.func @decode(
// CHECK: kvc.attend {{.*}} {tile_rows = 64 : i64
// CHECK-LABEL: func.func @prefill(
// CHECK: kvc.attend {{.*}} {tile_rows = 16 : i64

// -----

#raw = #kvc.spec<name = "raw",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 1, q_heads = 128, value_is_key = "all"}>,
  io = #kvc.io<{query = "bf16"}>, key = #kvc.scheme<{codec = "bf16"}>>
kvc.attention_spec @raw #raw

// CHECK-LABEL: func.func @decode(
// CHECK: kvc.attend {{.*}} {tile_rows = 16 : i64

// -----

// RoPE turns them, too.

#rope = #kvc.spec<name = "rope",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 1, q_heads = 128}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16", rope = {style = "half", dims = 64}}>, value = #kvc.scheme<{codec = "f16"}>>
kvc.attention_spec @rope #rope

// CHECK-LABEL: func.func @decode(
// CHECK: kvc.attend {{.*}} {tile_rows = 128 : i64
// CHECK-LABEL: func.func @prefill(
// CHECK: kvc.attend {{.*}} {tile_rows = 16 : i64
