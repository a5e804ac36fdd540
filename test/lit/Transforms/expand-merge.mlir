// RUN: kvc-opt %s --kvc-expand | FileCheck %s

// The largest log-sum, then each split weighted by 2^((lse - largest) log2(e)),
// the square of a root that does not underflow where the output does not.

#plain = #kvc.spec<name = "plain",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 6}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "f16"}>,
  value = #kvc.scheme<{codec = "f16"}>>
// CHECK-LABEL: func.func @plain(
// CHECK-SAME: %[[POUT:[^:]*]]: memref<?x?x64xf32, {{.*}}>>, %[[PLSE:[^:]*]]: memref<?x?xf32, {{.*}}>>, %[[SINKS:[^:]*]]: memref<?xf32>, %[[OUT:[^:]*]]: memref<?x?x64xf16, {{.*}}>>, %[[LSE:[^:]*]]: memref<?x?xf32, {{.*}}>>,
// CHECK-SAME: %[[HEAD:[^:]*]]: index, %[[ROW0:[^:]*]]: index, %[[ROW_END:[^:]*]]: index, %[[SPLITS:[^:]*]]: index)
// CHECK-DAG: %[[MINUS_INF:.*]] = arith.constant dense<0xFF800000> : tensor<4xf32, #kvc.dims<r>>
// CHECK-DAG: %[[NONE:.*]] = arith.constant dense<0.000000e+00> : tensor<4xf32, #kvc.dims<r>>
// CHECK-DAG: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<4xf32, #kvc.dims<r>>
// CHECK-DAG: %[[HALF_LOG2E:.*]] = arith.constant dense<0.72134751> : tensor<4xf32, #kvc.dims<r>>
// CHECK-DAG: %[[LN2:.*]] = arith.constant dense<0.693147182> : tensor<4xf32, #kvc.dims<r>>
// CHECK-DAG: %[[O0:.*]] = arith.constant dense<0.000000e+00> : tensor<4x64xf32, #kvc.dims<r, d>>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK: %[[COUNT:.*]] = arith.subi %[[ROW_END]], %[[ROW0]]
// CHECK-NEXT: scf.for %[[ROW:.*]] = %[[ROW0]] to %[[ROW_END]] step %[[C4]] {
// CHECK-NEXT: %[[I:.*]] = arith.subi %[[ROW]], %[[ROW0]]
// CHECK-NEXT: %[[LARGEST:.*]] = scf.for %[[J:.*]] = %[[C0]] to %[[SPLITS]] step %[[C1]] iter_args(%[[SO_FAR:.*]] = %[[MINUS_INF]])
// CHECK-NEXT: %[[LJ:.*]] = kvc.load_partial %[[PLSE]][%[[J]], %[[I]] to %[[COUNT]]] : {{.*}} to tensor<4xf32, #kvc.dims<r>>
// CHECK-NEXT: %[[LARGER:.*]] = arith.maxnumf %[[SO_FAR]], %[[LJ]]
// CHECK-NEXT: scf.yield %[[LARGER]]
// CHECK: %[[EMPTY:.*]] = arith.cmpf oeq, %[[LARGEST]], %[[MINUS_INF]]
// CHECK-NEXT: %[[BASE:.*]] = arith.select %[[EMPTY]], %[[NONE]], %[[LARGEST]]
// CHECK-NEXT: %[[R:.*]]:2 = scf.for %[[J:.*]] = %[[C0]] to %[[SPLITS]] step %[[C1]] iter_args(%[[SUM:.*]] = %[[NONE]], %[[O:.*]] = %[[O0]])
// CHECK-NEXT: %[[LJ:.*]] = kvc.load_partial %[[PLSE]][%[[J]], %[[I]] to %[[COUNT]]]
// CHECK-NEXT: %[[BELOW:.*]] = arith.subf %[[LJ]], %[[BASE]]
// CHECK-NEXT: %[[BELOW2:.*]] = arith.mulf %[[BELOW]], %[[HALF_LOG2E]]
// CHECK-NEXT: %[[ROOT:.*]] = math.exp2 %[[BELOW2]]
// CHECK-NEXT: %[[PART:.*]] = kvc.load_partial %[[POUT]][%[[J]], %[[I]] to %[[COUNT]]] : {{.*}} to tensor<4x64xf32, #kvc.dims<r, d>>
// CHECK-NEXT: %[[W:.*]] = arith.mulf %[[ROOT]], %[[ROOT]]
// CHECK-NEXT: %[[SUM1:.*]] = arith.addf %[[SUM]], %[[W]]
// CHECK-NEXT: %[[ROOTS:.*]] = kvc.broadcast %[[ROOT]]
// CHECK-NEXT: %[[ONCE:.*]] = arith.mulf %[[PART]], %[[ROOTS]]
// CHECK-NEXT: %[[ROOTS:.*]] = kvc.broadcast %[[ROOT]]
// CHECK-NEXT: %[[WEIGHTED:.*]] = arith.mulf %[[ONCE]], %[[ROOTS]]
// CHECK-NEXT: %[[O1:.*]] = arith.addf %[[O]], %[[WEIGHTED]]
// CHECK-NEXT: scf.yield %[[SUM1]], %[[O1]]
// CHECK: %[[UNSEEN:.*]] = arith.cmpf oeq, %[[R]]#0, %[[NONE]]
// CHECK-NEXT: %[[SAFE:.*]] = arith.select %[[UNSEEN]], %[[ONE]], %[[R]]#0
// CHECK-NEXT: %[[INV:.*]] = arith.divf %[[ONE]], %[[SAFE]]
// CHECK-NEXT: %[[LOG:.*]] = math.log2 %[[SAFE]]
// CHECK-NEXT: %[[LN:.*]] = arith.mulf %[[LOG]], %[[LN2]]
// CHECK-NEXT: %[[LOG_SUM:.*]] = arith.addf %[[LN]], %[[LARGEST]]
// CHECK-NEXT: %[[INVS:.*]] = kvc.broadcast %[[INV]]
// CHECK-NEXT: %[[RESULT:.*]] = arith.mulf %[[R]]#1, %[[INVS]]
// CHECK-NEXT: kvc.store_output %[[RESULT]], %[[OUT]][%[[ROW]] to %[[ROW_END]], %[[HEAD]]] group 3
// CHECK-NEXT: kvc.store_output %[[LOG_SUM]], %[[LSE]][%[[ROW]] to %[[ROW_END]], %[[HEAD]]] group 3
// CHECK-NOT: kvc.merge
func.func @plain(%pout: memref<?x?x64xf32, strided<[?, 64, 1]>>, %plse: memref<?x?xf32, strided<[?, 1]>>, %sinks: memref<?xf32>,
    %out: memref<?x?x64xf16, strided<[?, ?, 1]>>, %lse: memref<?x?xf32, strided<[?, ?]>>, %head: index, %row: index, %row_end: index, %splits: index) {
  kvc.merge %pout, %plse rows(%row to %row_end) splits(%splits) into %out, %lse[%head] {spec = #plain, tile_rows = 4}
      : memref<?x?x64xf32, strided<[?, 64, 1]>>, memref<?x?xf32, strided<[?, 1]>>, memref<?x?x64xf16, strided<[?, ?, 1]>>, memref<?x?xf32, strided<[?, ?]>>
  return
}

// A sink logit is one more log-sum without an output.

#sinks = #kvc.spec<name = "sinks",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 2, sink_logits = true}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "f16"}>,
  value = #kvc.scheme<{codec = "f16"}>>
// CHECK-LABEL: func.func @sinks(
// CHECK-SAME: %[[POUT:[^:]*]]: memref<?x?x64xf32, {{.*}}>>, %[[PLSE:[^:]*]]: memref<?x?xf32, {{.*}}>>, %[[SINKS:[^:]*]]: memref<?xf32>, %[[OUT:[^:]*]]: memref<?x?x64xf16, {{.*}}>>, %[[LSE:[^:]*]]: memref<?x?xf32, {{.*}}>>,
// CHECK-SAME: %[[HEAD:[^:]*]]: index, %[[ROW0:[^:]*]]: index, %[[ROW_END:[^:]*]]: index, %[[SPLITS:[^:]*]]: index)
// CHECK: scf.for %[[ROW:.*]] = %[[ROW0]] to %[[ROW_END]]
// CHECK: %[[SINK:.*]] = kvc.load_row_values %[[SINKS]][%[[ROW]] to %[[ROW_END]], %[[HEAD]]] group 1 : memref<?xf32> to tensor<1xf32, #kvc.dims<r>>
// CHECK-NEXT: %[[LARGEST:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[SINK]])
// CHECK: %[[EMPTY:.*]] = arith.cmpf oeq, %[[LARGEST]],
// CHECK-NEXT: %[[BASE:.*]] = arith.select %[[EMPTY]], %{{.*}}, %[[LARGEST]]
// CHECK-NEXT: %[[BELOW:.*]] = arith.subf %[[SINK]], %[[BASE]]
// CHECK-NEXT: %[[BELOW2:.*]] = arith.mulf %[[BELOW]],
// CHECK-NEXT: %[[ROOT:.*]] = math.exp2 %[[BELOW2]]
// CHECK-NEXT: %[[W:.*]] = arith.mulf %[[ROOT]], %[[ROOT]]
// CHECK-NEXT: scf.for {{.*}} iter_args(%{{.*}} = %[[W]], %{{.*}} =
func.func @sinks(%pout: memref<?x?x64xf32, strided<[?, 64, 1]>>, %plse: memref<?x?xf32, strided<[?, 1]>>, %sinks: memref<?xf32>,
    %out: memref<?x?x64xf16, strided<[?, ?, 1]>>, %lse: memref<?x?xf32, strided<[?, ?]>>, %head: index, %row: index, %row_end: index, %splits: index) {
  kvc.merge %pout, %plse rows(%row to %row_end) splits(%splits) sinks(%sinks) into %out, %lse[%head] {spec = #sinks, tile_rows = 1}
      : memref<?x?x64xf32, strided<[?, 64, 1]>>, memref<?x?xf32, strided<[?, 1]>>, memref<?x?x64xf16, strided<[?, ?, 1]>>, memref<?x?xf32, strided<[?, ?]>>, memref<?xf32>
  return
}
