// RUN: kvc-opt %s --kvc-expand | FileCheck %s

// The whole expansion once: causal, group 4, int4 with a minimum per token.

#causal = #kvc.spec<name = "causal",
  attention = #kvc.attention<{head_dim = 128, kv_heads = 8, q_heads = 32, value_dim = 64}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}}>>
// CHECK-LABEL: func.func @causal(
// CHECK-SAME: %[[CACHE:[^:]*]]: !kvc.cache<#causal>, %[[Q:[^:]*]]: memref<?x?x128xf16, {{.*}}>>, %[[OUT:[^:]*]]: memref<?x64xf32>, %[[LSE:[^:]*]]: memref<?xf32>, %[[SLOPES:[^:]*]]: memref<?xf32>,
// CHECK-SAME: %[[HEAD:[^:]*]]: index, %[[QUERIES:[^:]*]]: index, %[[LENGTH:[^:]*]]: index, %[[ROW0:[^:]*]]: index, %[[ROW_END:[^:]*]]: index, %[[KEY0:[^:]*]]: index, %[[KEY_END:[^:]*]]: index)

// CHECK-DAG: %[[MINUS_INF:.*]] = arith.constant dense<0xFF800000> : tensor<4xf32, #kvc.dims<r>>
// CHECK-DAG: %[[MASKED:.*]] = arith.constant dense<0xFF800000> : tensor<4x64xf32, #kvc.dims<r, t>>
// CHECK-DAG: %[[NONE:.*]] = arith.constant dense<0.000000e+00> : tensor<4xf32, #kvc.dims<r>>
// CHECK-DAG: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<4xf32, #kvc.dims<r>>
// CHECK-DAG: %[[O0:.*]] = arith.constant dense<0.000000e+00> : tensor<4x64xf32, #kvc.dims<r, d>>
// 1 / sqrt(128) * log2(e):
// CHECK-DAG: %[[SCALE:.*]] = arith.constant dense<0.127517432> : tensor<4x64xf32, #kvc.dims<r, t>>
// CHECK-DAG: %[[LN2:.*]] = arith.constant dense<0.693147182> : tensor<4xf32, #kvc.dims<r>>
// CHECK-DAG: %[[I0:.*]] = arith.constant dense<0> : tensor<4xi64, #kvc.dims<r>>
// CHECK-DAG: %[[I1:.*]] = arith.constant dense<1> : tensor<4xi64, #kvc.dims<r>>
// CHECK-DAG: %[[GROUP:.*]] = arith.constant dense<4> : tensor<4xi64, #kvc.dims<r>>
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index

// CHECK: %[[IOTA:.*]] = kvc.iota : tensor<64xi32, #kvc.dims<t>>
// CHECK-NEXT: %[[COUNT:.*]] = arith.subi %[[ROW_END]], %[[ROW0]]
// CHECK-NEXT: %[[FIRST:.*]] = arith.subi %[[LENGTH]], %[[QUERIES]]
// CHECK-NEXT: scf.for %[[ROW:.*]] = %[[ROW0]] to %[[ROW_END]] step %[[C4]] {
// CHECK-NEXT: %[[QT:.*]] = kvc.load_query %[[Q]][%[[ROW]] to %[[ROW_END]], %[[HEAD]]] group 4 : {{.*}} to tensor<4x128xf32, #kvc.dims<r, c>>

// Positions of the rows: length - num_queries + row / group.
// CHECK-NEXT: %[[ROWS:.*]] = kvc.iota : tensor<4xi64, #kvc.dims<r>>
// CHECK-NEXT: %[[ROW64:.*]] = arith.index_cast %[[ROW]]
// CHECK-NEXT: %[[ROWB:.*]] = kvc.broadcast %[[ROW64]] : i64 to tensor<4xi64, #kvc.dims<r>>
// CHECK-NEXT: %[[NUMBER:.*]] = arith.addi %[[ROWS]], %[[ROWB]]
// CHECK-NEXT: %[[QUERY:.*]] = arith.divui %[[NUMBER]], %[[GROUP]]
// CHECK-NEXT: %[[FIRST64:.*]] = arith.index_cast %[[FIRST]]
// CHECK-NEXT: %[[FIRSTB:.*]] = kvc.broadcast %[[FIRST64]] : i64 to tensor<4xi64, #kvc.dims<r>>
// CHECK-NEXT: %[[POS:.*]] = arith.addi %[[QUERY]], %[[FIRSTB]]

// Keys end behind the position of the last row.
// CHECK-NEXT: %[[NEXT_ROW:.*]] = arith.addi %[[ROW]], %[[C4]]
// CHECK-NEXT: %[[TILE_END:.*]] = arith.minsi %[[NEXT_ROW]], %[[ROW_END]]
// CHECK-NEXT: %[[LAST:.*]] = arith.subi %[[TILE_END]], %[[C1]]
// CHECK-NEXT: %[[LAST_QUERY:.*]] = arith.divui %[[LAST]], %[[C4]]
// CHECK-NEXT: %[[LAST_POS:.*]] = arith.addi %[[LAST_QUERY]], %[[FIRST]]
// CHECK-NEXT: %[[VISIBLE_END:.*]] = arith.addi %[[LAST_POS]], %[[C1]]
// CHECK-NEXT: %[[END:.*]] = arith.minsi %[[KEY_END]], %[[VISIBLE_END]]

// CHECK-NEXT: %[[R:.*]]:3 = scf.for %[[T:.*]] = %[[KEY0]] to %[[END]] step %[[C64]] iter_args(%[[M:.*]] = %[[MINUS_INF]], %[[L:.*]] = %[[NONE]], %[[O:.*]] = %[[O0]])
// CHECK-NEXT: %[[LEFT:.*]] = arith.subi %[[END]], %[[T]]
// CHECK-NEXT: %[[N:.*]] = arith.minsi %[[LEFT]], %[[C64]]
// CHECK-NEXT: %[[KU:.*]] = kvc.load_codes %[[CACHE]][%[[HEAD]], %[[T]]] valid %[[N]] {tensor = #kvc.tensor<key>} : {{.*}} to tensor<64x128xi8, #kvc.dims<t, c>>
// CHECK-NEXT: %[[KS:.*]] = kvc.load_scale %[[CACHE]][%[[HEAD]], %[[T]]] valid %[[N]] {tensor = #kvc.tensor<key>} : {{.*}} to tensor<64xf32, #kvc.dims<t>>
// CHECK-NEXT: %[[KZ:.*]] = kvc.load_zero %[[CACHE]][%[[HEAD]], %[[T]]] valid %[[N]] {tensor = #kvc.tensor<key>} : {{.*}} to tensor<64xf32, #kvc.dims<t>>
// CHECK-NEXT: %[[K:.*]] = kvc.dequantize %[[KU]], %[[KS]], %[[KZ]] {centre = 8 : i64, zero_kind = "min"} : {{.*}} to tensor<64x128xf32, #kvc.dims<t, c>>
// CHECK-NEXT: %[[S0:.*]] = kvc.contract %[[QT]], %[[K]] : {{.*}} to tensor<4x64xf32, #kvc.dims<r, t>>
// CHECK-NEXT: %[[S1:.*]] = arith.mulf %[[S0]], %[[SCALE]] fastmath<contract>

// Visible are the tokens below min(position + 1 - T, N), narrowed to i32.
// CHECK-NEXT: %[[TOKENS:.*]] = kvc.broadcast %[[IOTA]] : tensor<64xi32, #kvc.dims<t>> to tensor<4x64xi32, #kvc.dims<r, t>>
// CHECK-NEXT: %[[T64:.*]] = arith.index_cast %[[T]]
// CHECK-NEXT: %[[TB:.*]] = kvc.broadcast %[[T64]] : i64 to tensor<4xi64, #kvc.dims<r>>
// CHECK-NEXT: %[[REL:.*]] = arith.subi %[[POS]], %[[TB]]
// CHECK-NEXT: %[[REL1:.*]] = arith.addi %[[REL]], %[[I1]]
// CHECK-NEXT: %[[N64:.*]] = arith.index_cast %[[N]]
// CHECK-NEXT: %[[NB:.*]] = kvc.broadcast %[[N64]] : i64 to tensor<4xi64, #kvc.dims<r>>
// CHECK-NEXT: %[[BELOW:.*]] = arith.minsi %[[REL1]], %[[NB]]
// CHECK-NEXT: %[[LIMIT64:.*]] = arith.maxsi %[[BELOW]], %[[I0]]
// CHECK-NEXT: %[[LIMIT:.*]] = arith.trunci %[[LIMIT64]] : {{.*}} to tensor<4xi32, #kvc.dims<r>>
// CHECK-NEXT: %[[LIMITS:.*]] = kvc.broadcast %[[LIMIT]] : tensor<4xi32, #kvc.dims<r>> to tensor<4x64xi32, #kvc.dims<r, t>>
// CHECK-NEXT: %[[VISIBLE:.*]] = arith.cmpi slt, %[[TOKENS]], %[[LIMITS]]
// CHECK-NEXT: %[[S:.*]] = arith.select %[[VISIBLE]], %[[S1]], %[[MASKED]]

// The online softmax; 0 stands in for a maximum of -inf.
// CHECK-NEXT: %[[MT:.*]] = kvc.reduce maxnumf %[[S]] : {{.*}} to tensor<4xf32, #kvc.dims<r>>
// CHECK-NEXT: %[[M1:.*]] = arith.maxnumf %[[M]], %[[MT]] :
// CHECK-NEXT: %[[UNSEEN:.*]] = arith.cmpf oeq, %[[M1]], %[[MINUS_INF]]
// CHECK-NEXT: %[[BASE:.*]] = arith.select %[[UNSEEN]], %[[NONE]], %[[M1]]
// CHECK-NEXT: %[[BASES:.*]] = kvc.broadcast %[[BASE]]
// CHECK-NEXT: %[[D:.*]] = arith.subf %[[S]], %[[BASES]]
// CHECK-NEXT: %[[P:.*]] = math.exp2 %[[D]]
// CHECK-NEXT: %[[DM:.*]] = arith.subf %[[M]], %[[BASE]]
// CHECK-NEXT: %[[DECAY:.*]] = math.exp2 %[[DM]]
// CHECK-NEXT: %[[LD:.*]] = arith.mulf %[[L]], %[[DECAY]]
// CHECK-NEXT: %[[PS:.*]] = kvc.reduce add %[[P]] : {{.*}} to tensor<4xf32, #kvc.dims<r>>
// CHECK-NEXT: %[[L1:.*]] = arith.addf %[[LD]], %[[PS]]

// Symmetric codes have no zero and centre 0.
// CHECK-NEXT: %[[VU:.*]] = kvc.load_codes %[[CACHE]][%[[HEAD]], %[[T]]] valid %[[N]] {tensor = #kvc.tensor<value>} : {{.*}} to tensor<64x64xi8, #kvc.dims<t, d>>
// CHECK-NEXT: %[[VS:.*]] = kvc.load_scale %[[CACHE]][%[[HEAD]], %[[T]]] valid %[[N]] {tensor = #kvc.tensor<value>} : {{.*}} to tensor<64xf32, #kvc.dims<t>>
// CHECK-NEXT: %[[V:.*]] = kvc.dequantize %[[VU]], %[[VS]] : {{.*}} to tensor<64x64xf32, #kvc.dims<t, d>>
// CHECK-NEXT: %[[PV:.*]] = kvc.contract %[[P]], %[[V]] : {{.*}} to tensor<4x64xf32, #kvc.dims<r, d>>
// CHECK-NEXT: %[[DECAYS:.*]] = kvc.broadcast %[[DECAY]]
// CHECK-NEXT: %[[OD:.*]] = arith.mulf %[[O]], %[[DECAYS]]
// CHECK-NEXT: %[[O1:.*]] = arith.addf %[[OD]], %[[PV]]
// CHECK-NEXT: scf.yield %[[M1]], %[[L1]], %[[O1]]

// Rows without a key: 1 in place of their sum gives 0 and -inf.
// CHECK: %[[EMPTY:.*]] = arith.cmpf oeq, %[[R]]#1, %[[NONE]]
// CHECK-NEXT: %[[SUM:.*]] = arith.select %[[EMPTY]], %[[ONE]], %[[R]]#1
// CHECK-NEXT: %[[INV:.*]] = arith.divf %[[ONE]], %[[SUM]]
// CHECK-NEXT: %[[LOG:.*]] = math.log2 %[[SUM]]
// CHECK-NEXT: %[[LSE2:.*]] = arith.addf %[[LOG]], %[[R]]#0
// CHECK-NEXT: %[[LSEN:.*]] = arith.mulf %[[LSE2]], %[[LN2]]
// CHECK-NEXT: %[[I:.*]] = arith.subi %[[ROW]], %[[ROW0]]
// CHECK-NEXT: %[[INVS:.*]] = kvc.broadcast %[[INV]]
// CHECK-NEXT: %[[RESULT:.*]] = arith.mulf %[[R]]#2, %[[INVS]]
// CHECK-NEXT: kvc.store_partial %[[RESULT]], %[[OUT]][%[[I]] to %[[COUNT]]]
// CHECK-NEXT: kvc.store_partial %[[LSEN]], %[[LSE]][%[[I]] to %[[COUNT]]]
// CHECK-NOT: kvc.attend
func.func @causal(%cache: !kvc.cache<#causal>, %q: memref<?x?x128xf16, strided<[?, ?, 1]>>, %out: memref<?x64xf32>, %lse: memref<?xf32>,
    %slopes: memref<?xf32>, %head: index, %queries: index, %length: index, %row: index, %row_end: index, %key: index, %key_end: index) {
  kvc.attend %q, %cache[%head] rows(%row to %row_end of %queries) keys(%key to %key_end of %length) into %out, %lse
      {tile_rows = 4, tile_tokens = 64}
      : memref<?x?x128xf16, strided<[?, ?, 1]>>, !kvc.cache<#causal>, memref<?x64xf32>, memref<?xf32>
  return
}

// Without a mask nothing depends on positions: all keys, and one mask for all rows.

#open = #kvc.spec<name = "open",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, mask = "none", q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "f16"}>,
  value = #kvc.scheme<{codec = "f16"}>>
// CHECK-LABEL: func.func @open(
// CHECK-SAME: %[[CACHE:[^:]*]]: !kvc.cache<#open>, %[[Q:[^:]*]]: memref<?x?x64xf16, {{.*}}>>, %[[OUT:[^:]*]]: memref<?x64xf32>, %[[LSE:[^:]*]]: memref<?xf32>, %[[SLOPES:[^:]*]]: memref<?xf32>,
// CHECK-SAME: %[[HEAD:[^:]*]]: index, %[[QUERIES:[^:]*]]: index, %[[LENGTH:[^:]*]]: index, %[[ROW0:[^:]*]]: index, %[[ROW_END:[^:]*]]: index, %[[KEY0:[^:]*]]: index, %[[KEY_END:[^:]*]]: index)
// CHECK-NOT: arith.subi %[[LENGTH]]
// CHECK-NOT: arith.divui
// CHECK: scf.for %[[T:.*]] = %[[KEY0]] to %[[KEY_END]] step
// CHECK-NEXT: %[[LEFT:.*]] = arith.subi %[[KEY_END]], %[[T]]
// CHECK-NEXT: %[[N:.*]] = arith.minsi %[[LEFT]],
// Raw values are dequantised without factors.
// CHECK-NEXT: %[[KU:.*]] = kvc.load_codes {{.*}} to tensor<64x64xf16, #kvc.dims<t, c>>
// CHECK-NEXT: kvc.dequantize %[[KU]] : tensor<64x64xf16, #kvc.dims<t, c>> to tensor<64x64xf32, #kvc.dims<t, c>>
// CHECK: %[[N64:.*]] = arith.index_cast %[[N]]
// CHECK-NEXT: %[[N32:.*]] = arith.trunci %[[N64]] : i64 to i32
// CHECK-NEXT: %[[NB:.*]] = kvc.broadcast %[[N32]] : i32 to tensor<64xi32, #kvc.dims<t>>
// CHECK-NEXT: %[[VALID:.*]] = arith.cmpi slt, %{{.*}}, %[[NB]]
// CHECK-NEXT: %[[VISIBLE:.*]] = kvc.broadcast %[[VALID]] : tensor<64xi1, #kvc.dims<t>> to tensor<4x64xi1, #kvc.dims<r, t>>
// CHECK-NEXT: arith.select %[[VISIBLE]]
func.func @open(%cache: !kvc.cache<#open>, %q: memref<?x?x64xf16, strided<[?, ?, 1]>>, %out: memref<?x64xf32>, %lse: memref<?xf32>,
    %slopes: memref<?xf32>, %head: index, %queries: index, %length: index, %row: index, %row_end: index, %key: index, %key_end: index) {
  kvc.attend %q, %cache[%head] rows(%row to %row_end of %queries) keys(%key to %key_end of %length) into %out, %lse
      {tile_rows = 4, tile_tokens = 64}
      : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#open>, memref<?x64xf32>, memref<?xf32>
  return
}

// A group of one row: rows are queries.

#mha = #kvc.spec<name = "mha",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 2}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "f16"}>,
  value = #kvc.scheme<{codec = "f16"}>>
// CHECK-LABEL: func.func @mha(
// CHECK-SAME: %[[CACHE:[^:]*]]: !kvc.cache<#mha>, %[[Q:[^:]*]]: memref<?x?x64xf16, {{.*}}>>, %[[OUT:[^:]*]]: memref<?x64xf32>, %[[LSE:[^:]*]]: memref<?xf32>, %[[SLOPES:[^:]*]]: memref<?xf32>,
// CHECK-SAME: %[[HEAD:[^:]*]]: index, %[[QUERIES:[^:]*]]: index, %[[LENGTH:[^:]*]]: index, %[[ROW0:[^:]*]]: index, %[[ROW_END:[^:]*]]: index, %[[KEY0:[^:]*]]: index, %[[KEY_END:[^:]*]]: index)
// CHECK-NOT: arith.divui
// CHECK: kvc.load_query {{.*}} group 1
// CHECK-NOT: arith.divui
// CHECK: return
func.func @mha(%cache: !kvc.cache<#mha>, %q: memref<?x?x64xf16, strided<[?, ?, 1]>>, %out: memref<?x64xf32>, %lse: memref<?xf32>,
    %slopes: memref<?xf32>, %head: index, %queries: index, %length: index, %row: index, %row_end: index, %key: index, %key_end: index) {
  kvc.attend %q, %cache[%head] rows(%row to %row_end of %queries) keys(%key to %key_end of %length) into %out, %lse
      {tile_rows = 1, tile_tokens = 64}
      : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#mha>, memref<?x64xf32>, memref<?xf32>
  return
}

// A window starts at the tile in which the first row's window starts.

#window = #kvc.spec<name = "window",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 6, window = 100}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "f16"}>,
  value = #kvc.scheme<{codec = "f16"}>>
// CHECK-LABEL: func.func @window(
// CHECK-SAME: %[[CACHE:[^:]*]]: !kvc.cache<#window>, %[[Q:[^:]*]]: memref<?x?x64xf16, {{.*}}>>, %[[OUT:[^:]*]]: memref<?x64xf32>, %[[LSE:[^:]*]]: memref<?xf32>, %[[SLOPES:[^:]*]]: memref<?xf32>,
// CHECK-SAME: %[[HEAD:[^:]*]]: index, %[[QUERIES:[^:]*]]: index, %[[LENGTH:[^:]*]]: index, %[[ROW0:[^:]*]]: index, %[[ROW_END:[^:]*]]: index, %[[KEY0:[^:]*]]: index, %[[KEY_END:[^:]*]]: index)
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG: %[[C99:.*]] = arith.constant 99 : index
// CHECK-DAG: %[[I99:.*]] = arith.constant dense<99> : tensor<4xi64, #kvc.dims<r>>
// CHECK: %[[FIRST:.*]] = arith.subi %[[LENGTH]], %[[QUERIES]]
// CHECK: scf.for %[[ROW:.*]] = %[[ROW0]]
// CHECK: %[[QUERY_OF:.*]] = arith.divui {{.*}} : tensor<4xi64, #kvc.dims<r>>
// CHECK: %[[POS:.*]] = arith.addi %[[QUERY_OF]],
// CHECK-NEXT: arith.addi %[[ROW]]
// CHECK: %[[END:.*]] = arith.minsi %[[KEY_END]],
// CHECK-NEXT: %[[QUERY:.*]] = arith.divui %[[ROW]], %[[C3]]
// CHECK-NEXT: %[[ROW_POS:.*]] = arith.addi %[[QUERY]], %[[FIRST]]
// CHECK-NEXT: %[[START:.*]] = arith.subi %[[ROW_POS]], %[[C99]]
// CHECK-NEXT: %[[CLIPPED:.*]] = arith.maxsi %[[KEY0]], %[[START]]
// CHECK-NEXT: %[[INSIDE:.*]] = arith.remui %[[CLIPPED]], %[[C64]]
// CHECK-NEXT: %[[BEGIN:.*]] = arith.subi %[[CLIPPED]], %[[INSIDE]]
// CHECK-NEXT: scf.for %[[T:.*]] = %[[BEGIN]] to %[[END]] step %[[C64]]
// CHECK: %[[REL:.*]] = arith.subi %[[POS]], %{{.*}} : tensor<4xi64
// CHECK: %[[BEFORE_END:.*]] = arith.cmpi slt,
// CHECK-NEXT: %[[FROM:.*]] = arith.subi %[[REL]], %[[I99]]
// CHECK: arith.minsi %[[FROM]]
// CHECK: %[[IN_WINDOW:.*]] = arith.cmpi sge,
// CHECK-NEXT: %[[VISIBLE:.*]] = arith.andi %[[BEFORE_END]], %[[IN_WINDOW]]
// CHECK-NEXT: arith.select %[[VISIBLE]]
func.func @window(%cache: !kvc.cache<#window>, %q: memref<?x?x64xf16, strided<[?, ?, 1]>>, %out: memref<?x64xf32>, %lse: memref<?xf32>,
    %slopes: memref<?xf32>, %head: index, %queries: index, %length: index, %row: index, %row_end: index, %key: index, %key_end: index) {
  kvc.attend %q, %cache[%head] rows(%row to %row_end of %queries) keys(%key to %key_end of %length) into %out, %lse
      {tile_rows = 4, tile_tokens = 64}
      : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#window>, memref<?x64xf32>, memref<?xf32>
  return
}

// Visible sinks are a second range of the same loop, before the window; the window
// starts behind the last tile of the sinks.

#sinks = #kvc.spec<name = "sinks",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 2, window = 100, window_sinks = 70}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "f16"}>,
  value = #kvc.scheme<{codec = "f16"}>>
// CHECK-LABEL: func.func @sinks(
// CHECK-SAME: %[[CACHE:[^:]*]]: !kvc.cache<#sinks>, %[[Q:[^:]*]]: memref<?x?x64xf16, {{.*}}>>, %[[OUT:[^:]*]]: memref<?x64xf32>, %[[LSE:[^:]*]]: memref<?xf32>, %[[SLOPES:[^:]*]]: memref<?xf32>,
// CHECK-SAME: %[[HEAD:[^:]*]]: index, %[[QUERIES:[^:]*]]: index, %[[LENGTH:[^:]*]]: index, %[[ROW0:[^:]*]]: index, %[[ROW_END:[^:]*]]: index, %[[KEY0:[^:]*]]: index, %[[KEY_END:[^:]*]]: index)
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C63:.*]] = arith.constant 63 : index
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG: %[[C70:.*]] = arith.constant 70 : index
// CHECK-DAG: %[[L70:.*]] = arith.constant 70 : i64
// CHECK: %[[END:.*]] = arith.minsi %[[KEY_END]],
// CHECK: %[[INSIDE:.*]] = arith.remui %[[CLIPPED:.*]], %[[C64]]
// CHECK-NEXT: %[[BEGIN:.*]] = arith.subi %[[CLIPPED]], %[[INSIDE]]
// CHECK-NEXT: %[[SINK_END:.*]] = arith.minsi %[[END]], %[[C70]]
// CHECK-NEXT: %[[SINKS:.*]] = arith.subi %[[SINK_END]], %[[KEY0]]
// CHECK-NEXT: %[[SINKS0:.*]] = arith.maxsi %[[SINKS]], %[[C0]]
// CHECK-NEXT: %[[SINKS63:.*]] = arith.addi %[[SINKS0]], %[[C63]]
// CHECK-NEXT: %[[SINK_TILES:.*]] = arith.divui %[[SINKS63]], %[[C64]]
// CHECK-NEXT: %[[COVERED:.*]] = arith.muli %[[SINK_TILES]], %[[C64]]
// CHECK-NEXT: %[[BEHIND:.*]] = arith.addi %[[KEY0]], %[[COVERED]]
// CHECK-NEXT: %[[WINDOW:.*]] = arith.maxsi %[[BEGIN]], %[[BEHIND]]
// CHECK-NEXT: %[[KEYS:.*]] = arith.subi %[[END]], %[[WINDOW]]
// CHECK-NEXT: %[[KEYS0:.*]] = arith.maxsi %[[KEYS]], %[[C0]]
// CHECK-NEXT: %[[KEYS63:.*]] = arith.addi %[[KEYS0]], %[[C63]]
// CHECK-NEXT: %[[WINDOW_TILES:.*]] = arith.divui %[[KEYS63]], %[[C64]]
// CHECK-NEXT: %[[TILES:.*]] = arith.addi %[[SINK_TILES]], %[[WINDOW_TILES]]
// CHECK-NEXT: scf.for %[[I:.*]] = %[[C0]] to %[[TILES]] step %[[C1]]
// CHECK-NEXT: %[[IS_SINK:.*]] = arith.cmpi slt, %[[I]], %[[SINK_TILES]]
// CHECK-NEXT: %[[J:.*]] = arith.subi %[[I]], %[[SINK_TILES]]
// CHECK-NEXT: %[[FROM:.*]] = arith.select %[[IS_SINK]], %[[KEY0]], %[[WINDOW]]
// CHECK-NEXT: %[[STEP:.*]] = arith.select %[[IS_SINK]], %[[I]], %[[J]]
// CHECK-NEXT: %[[OFFSET:.*]] = arith.muli %[[STEP]], %[[C64]]
// CHECK-NEXT: %[[T:.*]] = arith.addi %[[FROM]], %[[OFFSET]]
// CHECK: %[[IN_WINDOW:.*]] = arith.cmpi sge,
// CHECK: %[[LEFT:.*]] = arith.subi %[[L70]], %{{.*}} : i64
// CHECK: %[[IN_SINKS:.*]] = arith.cmpi slt, {{.*}} : tensor<64xi32
// CHECK-NEXT: %[[SINK_MASK:.*]] = kvc.broadcast %[[IN_SINKS]]
// CHECK-NEXT: %[[EITHER:.*]] = arith.ori %[[IN_WINDOW]], %[[SINK_MASK]]
// CHECK-NEXT: arith.andi %{{.*}}, %[[EITHER]]
func.func @sinks(%cache: !kvc.cache<#sinks>, %q: memref<?x?x64xf16, strided<[?, ?, 1]>>, %out: memref<?x64xf32>, %lse: memref<?xf32>,
    %slopes: memref<?xf32>, %head: index, %queries: index, %length: index, %row: index, %row_end: index, %key: index, %key_end: index) {
  kvc.attend %q, %cache[%head] rows(%row to %row_end of %queries) keys(%key to %key_end of %length) into %out, %lse
      {tile_rows = 4, tile_tokens = 64}
      : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#sinks>, memref<?x64xf32>, memref<?xf32>
  return
}

// ALiBi joins the scaled score; 1 / 8 * log2(e) and slope * log2(e).

#alibi = #kvc.spec<name = "alibi",
  attention = #kvc.attention<{alibi = true, head_dim = 64, kv_heads = 2, q_heads = 6}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "f16"}>,
  value = #kvc.scheme<{codec = "f16"}>>
// CHECK-LABEL: func.func @alibi(
// CHECK-SAME: %[[CACHE:[^:]*]]: !kvc.cache<#alibi>, %[[Q:[^:]*]]: memref<?x?x64xf16, {{.*}}>>, %[[OUT:[^:]*]]: memref<?x64xf32>, %[[LSE:[^:]*]]: memref<?xf32>, %[[SLOPES:[^:]*]]: memref<?xf32>,
// CHECK-SAME: %[[HEAD:[^:]*]]: index, %[[QUERIES:[^:]*]]: index, %[[LENGTH:[^:]*]]: index, %[[ROW0:[^:]*]]: index, %[[ROW_END:[^:]*]]: index, %[[KEY0:[^:]*]]: index, %[[KEY_END:[^:]*]]: index)
// CHECK-DAG: %[[SCALE:.*]] = arith.constant dense<0.180336878> : tensor<4x64xf32, #kvc.dims<r, t>>
// CHECK-DAG: %[[LOG2E:.*]] = arith.constant dense<1.44269502> : tensor<4xf32, #kvc.dims<r>>
// CHECK-DAG: %[[LOW:.*]] = arith.constant dense<-3.40282347E+38> : tensor<4xf32, #kvc.dims<r>>
// CHECK-DAG: %[[HIGH:.*]] = arith.constant dense<3.40282347E+38> : tensor<4xf32, #kvc.dims<r>>
// CHECK: %[[QUERY_OF:.*]] = arith.divui {{.*}} : tensor<4xi64, #kvc.dims<r>>
// CHECK: %[[POS:.*]] = arith.addi %[[QUERY_OF]],
// CHECK-NEXT: %[[SLOPE:.*]] = kvc.load_row_values %[[SLOPES]][%[[ROW:.*]] to %[[ROW_END]], %[[HEAD]]] group 3 : memref<?xf32> to tensor<4xf32, #kvc.dims<r>>
// CHECK-NEXT: %[[SLOPE_LOG2E:.*]] = arith.mulf %[[SLOPE]], %[[LOG2E]]
// Finite, so that it counts for nothing at distance 0.
// CHECK-NEXT: %[[RAISED_IS:.*]] = arith.cmpf ogt, %[[SLOPE_LOG2E]], %[[LOW]]
// CHECK-NEXT: %[[RAISED:.*]] = arith.select %[[RAISED_IS]], %[[SLOPE_LOG2E]], %[[LOW]]
// CHECK-NEXT: %[[SLOPE2_IS:.*]] = arith.cmpf olt, %[[RAISED]], %[[HIGH]]
// CHECK-NEXT: %[[SLOPE2:.*]] = arith.select %[[SLOPE2_IS]], %[[RAISED]], %[[HIGH]]
// CHECK: %[[SCORES:.*]] = kvc.contract
// CHECK-NEXT: %[[SCALED:.*]] = arith.mulf %[[SCORES]], %[[SCALE]]
// CHECK: %[[REL:.*]] = arith.subi %{{.*}}, %[[POS]]
// CHECK-NEXT: %[[RELF:.*]] = arith.sitofp %[[REL]]
// CHECK-NEXT: %[[TOKEN:.*]] = arith.sitofp {{.*}} to tensor<64xf32, #kvc.dims<t>>
// CHECK-NEXT: %[[TOKENS:.*]] = kvc.broadcast %[[TOKEN]]
// CHECK-NEXT: %[[RELS:.*]] = kvc.broadcast %[[RELF]]
// CHECK-NEXT: %[[DISTANCE:.*]] = arith.addf %[[TOKENS]], %[[RELS]]
// CHECK-NEXT: %[[SLOPE2S:.*]] = kvc.broadcast %[[SLOPE2]]
// CHECK-NEXT: %[[BIAS:.*]] = arith.mulf %[[DISTANCE]], %[[SLOPE2S]]
// CHECK-NEXT: %[[BIASED:.*]] = arith.addf %[[SCALED]], %[[BIAS]]
// CHECK: arith.select %{{.*}}, %[[BIASED]]
func.func @alibi(%cache: !kvc.cache<#alibi>, %q: memref<?x?x64xf16, strided<[?, ?, 1]>>, %out: memref<?x64xf32>, %lse: memref<?xf32>,
    %slopes: memref<?xf32>, %head: index, %queries: index, %length: index, %row: index, %row_end: index, %key: index, %key_end: index) {
  kvc.attend %q, %cache[%head] rows(%row to %row_end of %queries) keys(%key to %key_end of %length) slopes(%slopes) into %out, %lse
      {tile_rows = 4, tile_tokens = 64}
      : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#alibi>, memref<?x64xf32>, memref<?xf32>, memref<?xf32>
  return
}

// Softcap: scale / 50 before tanh, 50 * log2(e) behind it, then the mask.

#softcap = #kvc.spec<name = "softcap",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 8, softcap = 50.0}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "f16"}>,
  value = #kvc.scheme<{codec = "f16"}>>
// CHECK-LABEL: func.func @softcap(
// CHECK-SAME: %[[CACHE:[^:]*]]: !kvc.cache<#softcap>, %[[Q:[^:]*]]: memref<?x?x64xf16, {{.*}}>>, %[[OUT:[^:]*]]: memref<?x64xf32>, %[[LSE:[^:]*]]: memref<?xf32>, %[[SLOPES:[^:]*]]: memref<?xf32>,
// CHECK-SAME: %[[HEAD:[^:]*]]: index, %[[QUERIES:[^:]*]]: index, %[[LENGTH:[^:]*]]: index, %[[ROW0:[^:]*]]: index, %[[ROW_END:[^:]*]]: index, %[[KEY0:[^:]*]]: index, %[[KEY_END:[^:]*]]: index)
// CHECK-DAG: %[[SCALE:.*]] = arith.constant dense<2.500000e-03> : tensor<4x64xf32, #kvc.dims<r, t>>
// CHECK-DAG: %[[CAP:.*]] = arith.constant dense<72.1347503> : tensor<4x64xf32, #kvc.dims<r, t>>
// CHECK: %[[SCORES:.*]] = kvc.contract
// CHECK-NEXT: %[[SCALED:.*]] = arith.mulf %[[SCORES]], %[[SCALE]]
// CHECK-NEXT: %[[TANH:.*]] = math.tanh %[[SCALED]]
// CHECK-NEXT: %[[CAPPED:.*]] = arith.mulf %[[TANH]], %[[CAP]]
// CHECK: arith.select %{{.*}}, %[[CAPPED]]
func.func @softcap(%cache: !kvc.cache<#softcap>, %q: memref<?x?x64xf16, strided<[?, ?, 1]>>, %out: memref<?x64xf32>, %lse: memref<?xf32>,
    %slopes: memref<?xf32>, %head: index, %queries: index, %length: index, %row: index, %row_end: index, %key: index, %key_end: index) {
  kvc.attend %q, %cache[%head] rows(%row to %row_end of %queries) keys(%key to %key_end of %length) into %out, %lse
      {tile_rows = 4, tile_tokens = 64}
      : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#softcap>, memref<?x64xf32>, memref<?xf32>
  return
}

// Both: ALiBi comes before the cap, so its slope is divided by it too.

#capped_alibi = #kvc.spec<name = "capped_alibi",
  attention = #kvc.attention<{alibi = true, head_dim = 64, kv_heads = 2, q_heads = 8, scale = 1.0, softcap = 50.0}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "f16"}>,
  value = #kvc.scheme<{codec = "f16"}>>
// CHECK-LABEL: func.func @capped_alibi(
// CHECK-SAME: %[[CACHE:[^:]*]]: !kvc.cache<#capped_alibi>, %[[Q:[^:]*]]: memref<?x?x64xf16, {{.*}}>>, %[[OUT:[^:]*]]: memref<?x64xf32>, %[[LSE:[^:]*]]: memref<?xf32>, %[[SLOPES:[^:]*]]: memref<?xf32>,
// CHECK-SAME: %[[HEAD:[^:]*]]: index, %[[QUERIES:[^:]*]]: index, %[[LENGTH:[^:]*]]: index, %[[ROW0:[^:]*]]: index, %[[ROW_END:[^:]*]]: index, %[[KEY0:[^:]*]]: index, %[[KEY_END:[^:]*]]: index)
// CHECK-DAG: %[[FIFTIETH:.*]] = arith.constant dense<2.000000e-02> : tensor<4xf32, #kvc.dims<r>>
// CHECK-DAG: %[[SCALE:.*]] = arith.constant dense<2.000000e-02> : tensor<4x64xf32, #kvc.dims<r, t>>
// CHECK: %[[SLOPE:.*]] = kvc.load_row_values
// CHECK-NEXT: arith.mulf %[[SLOPE]], %[[FIFTIETH]]
// CHECK: %[[SCALED:.*]] = arith.mulf %{{.*}}, %[[SCALE]]
// CHECK: %[[BIASED:.*]] = arith.addf %[[SCALED]], %{{.*}} fastmath<contract> : tensor<4x64xf32, #kvc.dims<r, t>>
// CHECK-NEXT: %[[TANH:.*]] = math.tanh %[[BIASED]]
// CHECK-NEXT: %[[CAPPED:.*]] = arith.mulf %[[TANH]],
// CHECK: arith.select %{{.*}}, %[[CAPPED]]
func.func @capped_alibi(%cache: !kvc.cache<#capped_alibi>, %q: memref<?x?x64xf16, strided<[?, ?, 1]>>, %out: memref<?x64xf32>, %lse: memref<?xf32>,
    %slopes: memref<?xf32>, %head: index, %queries: index, %length: index, %row: index, %row_end: index, %key: index, %key_end: index) {
  kvc.attend %q, %cache[%head] rows(%row to %row_end of %queries) keys(%key to %key_end of %length) slopes(%slopes) into %out, %lse
      {tile_rows = 4, tile_tokens = 64}
      : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#capped_alibi>, memref<?x64xf32>, memref<?xf32>, memref<?xf32>
  return
}

// Scales per block of channels split them into <b, e>, the query once per row
// tile; the output is joined again.

#blocks = #kvc.spec<name = "blocks",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int4", scale = {channels = 16, dtype = "f16", tokens = 1}, zero = "code"}>,
  value = #kvc.scheme<{codec = "int8", scale = {channels = 32, dtype = "f16", tokens = 1}}>>
// CHECK-LABEL: func.func @blocks(
// CHECK-SAME: %[[CACHE:[^:]*]]: !kvc.cache<#blocks>, %[[Q:[^:]*]]: memref<?x?x64xf16, {{.*}}>>, %[[OUT:[^:]*]]: memref<?x64xf32>, %[[LSE:[^:]*]]: memref<?xf32>, %[[SLOPES:[^:]*]]: memref<?xf32>,
// CHECK-SAME: %[[HEAD:[^:]*]]: index, %[[QUERIES:[^:]*]]: index, %[[LENGTH:[^:]*]]: index, %[[ROW0:[^:]*]]: index, %[[ROW_END:[^:]*]]: index, %[[KEY0:[^:]*]]: index, %[[KEY_END:[^:]*]]: index)
// CHECK: %[[QT:.*]] = kvc.load_query
// CHECK-NEXT: %[[QB:.*]] = kvc.split %[[QT]] : {{.*}} to tensor<4x4x16xf32, #kvc.dims<r, b, e>>
// CHECK: scf.for {{.*}} iter_args
// CHECK: %[[KU:.*]] = kvc.load_codes {{.*}} to tensor<64x64xi8, #kvc.dims<t, c>>
// CHECK-NEXT: %[[KUB:.*]] = kvc.split %[[KU]] : {{.*}} to tensor<64x4x16xi8, #kvc.dims<t, b, e>>
// CHECK-NEXT: %[[KS:.*]] = kvc.load_scale {{.*}} to tensor<64x4xf32, #kvc.dims<t, b>>
// CHECK-NEXT: %[[KZ:.*]] = kvc.load_zero {{.*}} to tensor<64x4xf32, #kvc.dims<t, b>>
// CHECK-NEXT: %[[K:.*]] = kvc.dequantize %[[KUB]], %[[KS]], %[[KZ]] {centre = 8 : i64, zero_kind = "code"}
// CHECK-NEXT: kvc.contract %[[QB]], %[[K]] : {{.*}} to tensor<4x64xf32, #kvc.dims<r, t>>
// CHECK: %[[P:.*]] = math.exp2
// CHECK: %[[VU:.*]] = kvc.load_codes {{.*}} to tensor<64x64xi8, #kvc.dims<t, d>>
// CHECK-NEXT: %[[VUB:.*]] = kvc.split %[[VU]] : {{.*}} to tensor<64x2x32xi8, #kvc.dims<t, b, e>>
// CHECK-NEXT: %[[VS:.*]] = kvc.load_scale {{.*}} to tensor<64x2xf32, #kvc.dims<t, b>>
// CHECK-NEXT: %[[V:.*]] = kvc.dequantize %[[VUB]], %[[VS]] :
// CHECK-NEXT: %[[PV:.*]] = kvc.contract %[[P]], %[[V]] : {{.*}} to tensor<4x2x32xf32, #kvc.dims<r, b, e>>
// CHECK-NEXT: kvc.join %[[PV]] : {{.*}} to tensor<4x64xf32, #kvc.dims<r, d>>
func.func @blocks(%cache: !kvc.cache<#blocks>, %q: memref<?x?x64xf16, strided<[?, ?, 1]>>, %out: memref<?x64xf32>, %lse: memref<?xf32>,
    %slopes: memref<?xf32>, %head: index, %queries: index, %length: index, %row: index, %row_end: index, %key: index, %key_end: index) {
  kvc.attend %q, %cache[%head] rows(%row to %row_end of %queries) keys(%key to %key_end of %length) into %out, %lse
      {tile_rows = 4, tile_tokens = 64}
      : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#blocks>, memref<?x64xf32>, memref<?xf32>
  return
}
