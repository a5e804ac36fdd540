// RUN: kvc-opt %s --kvc-expand --split-input-file | FileCheck %s

// Keys in blocks of 32 tokens x 1 channel, values token by token: codes of both,
// tokens whose keys are still raw, raw rows behind the sink.

#spec = #kvc.spec<name = "spec",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 2}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int2", scale = {channels = 1, dtype = "f16", tokens = 32}, zero = "min"}>,
  value = #kvc.scheme<{codec = "int2", scale = {channels = 32, dtype = "f16", tokens = 1}, zero = "min"}>,
  segments = #kvc.segments<{recent = 40, sink = 5}>>

// CHECK-LABEL: func.func @append(
// CHECK-SAME: %[[X:[^:]*]]: memref<?x?x64xf16, strided<[?, ?, 1]>>, %[[CACHE:[^:]*]]: !kvc.cache<#spec>, %[[HEAD:[^:]*]]: index, %[[BEGIN:[^:]*]]: index, %[[END:[^:]*]]: index, %[[CODED:[^:]*]]: index)
// CHECK: %[[RAW:.*]] = kvc.raw_rows %[[CACHE]]
// CHECK: %[[OLD:.*]] = kvc.coded_end %[[CACHE]] {tensor = #kvc.tensor<key>}
// Blocks of 32 tokens, some of them raw rows: once for the bounds, once for the
// codes.
// CHECK: scf.for %[[T:.*]] = %[[OLD]] to %[[CODED]] step %c32
// CHECK: kvc.load_given %[[RAW]][%[[HEAD]], %{{.*}}] count %{{.*}} else %[[X]][%{{.*}}] {tensor = #kvc.tensor<key>}
// CHECK-SAME: to tensor<32x64xf32, #kvc.dims<t, c>>
// CHECK: kvc.reduce minimumf %{{.*}} : tensor<32x64xf32, #kvc.dims<t, c>> to tensor<64xf32, #kvc.dims<c>>
// CHECK: kvc.load_given
// CHECK: kvc.store_codes %{{.*}}, %[[CACHE]][%[[HEAD]], %{{.*}}] {{.*}} : tensor<32x64xi8, #kvc.dims<t, c>>
// CHECK: kvc.store_scale %{{.*}} : tensor<64xf32, #kvc.dims<c>>
// CHECK: kvc.store_zero %{{.*}} : tensor<64xf32, #kvc.dims<c>>
// The sink, then what stays behind the codes.
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to
// CHECK: kvc.store_codes %{{.*}}, %[[RAW]][%[[HEAD]]
// CHECK: %[[FIRST:.*]] = arith.maxsi %[[BEGIN]], %[[CODED]]
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[END]]
// CHECK: kvc.store_codes %{{.*}}, %[[RAW]][%[[HEAD]]
func.func @append(%x: memref<?x?x64xf16, strided<[?, ?, 1]>>, %cache: !kvc.cache<#spec>, %head: index, %begin: index, %end: index, %coded: index) {
  kvc.append %x, %cache[%head] tokens(%begin to %end) coded(%coded) {tensor = #kvc.tensor<key>} : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#spec>
  return
}

// CHECK-LABEL: func.func @attend(
// CHECK-SAME: %[[CACHE:[^:]*]]: !kvc.cache<#spec>
// CHECK: %[[RAW:.*]] = kvc.raw_rows %[[CACHE]]
// CHECK-DAG: kvc.coded_end %[[CACHE]] {tensor = #kvc.tensor<key>}
// CHECK-DAG: kvc.coded_end %[[CACHE]] {tensor = #kvc.tensor<value>}
// A tile of codes lies in one block of the keys: its factors are per channel.
// CHECK: %[[CODES:.*]]:3 = scf.for
// CHECK: kvc.load_codes %[[CACHE]]{{.*}} {tensor = #kvc.tensor<key>} : {{.*}} to tensor<32x64xi8, #kvc.dims<t, c>>
// CHECK: kvc.load_scale %[[CACHE]]{{.*}} to tensor<64xf32, #kvc.dims<c>>
// CHECK: kvc.load_scale %[[CACHE]]{{.*}} to tensor<32x2xf32, #kvc.dims<t, b>>
// Values are ahead of keys, in a sum of their own.
// CHECK: %[[MIXED:.*]]:3 = scf.for {{.*}} iter_args(%{{.*}} = %[[CODES]]#0, %{{.*}} = %[[CODES]]#1, %{{.*}} = %cst
// CHECK: kvc.load_codes %[[RAW]]{{.*}} {tensor = #kvc.tensor<key>, unaligned}
// CHECK: kvc.load_codes %[[CACHE]]{{.*}} {tensor = #kvc.tensor<value>, unaligned}
// Raw rows.
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[MIXED]]#0, %{{.*}} = %[[MIXED]]#1
// CHECK: kvc.load_codes %[[RAW]]{{.*}} {tensor = #kvc.tensor<key>, unaligned} : {{.*}} to tensor<32x64xf16
// CHECK: kvc.load_codes %[[RAW]]{{.*}} {tensor = #kvc.tensor<value>, unaligned}
// CHECK-NOT: kvc.load_codes
// CHECK: return
func.func @attend(%cache: !kvc.cache<#spec>, %q: memref<?x?x64xf16, strided<[?, ?, 1]>>, %pout: memref<?x64xf32>, %plse: memref<?xf32>, %head: index, %n: index, %length: index, %row0: index, %row1: index, %key0: index, %key1: index) {
  kvc.attend %q, %cache[%head] rows(%row0 to %row1 of %n) keys(%key0 to %key1 of %length) into %pout, %plse {tile_rows = 2, tile_tokens = 32}
    : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#spec>, memref<?x64xf32>, memref<?xf32>
  return
}
