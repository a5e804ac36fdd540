// RUN: kvc-opt %s --kvc-expand | FileCheck %s
// RUN: kvc-opt %s --kvc-expand | FileCheck %s --check-prefix=EXACT

// x' is compared to the bit: plain operations on the spec's own codes.
// EXACT-NOT: fastmath
// EXACT-NOT: kvc.dequantize
// EXACT-NOT: kvc.unpack

// "min": s * u + m, each rounding once.

#minimum = #kvc.spec<name = "minimum",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 2}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int4", scale = {channels = 16, dtype = "f16", tokens = 1}, zero = "min"}>,
  value = #kvc.scheme<{codec = "f16"}>>
// CHECK-LABEL: func.func @minimum(
// CHECK-SAME: %[[CACHE:[^:]*]]: !kvc.cache<#minimum>, %[[CODES:[^:]*]]: memref<?x64xi8>, %[[SCALES:[^:]*]]: {{[^,]*}}, %[[ZEROS:[^:]*]]: {{[^,]*}}, %[[X:[^:]*]]: memref<?x64xf32>,
// CHECK-SAME: %[[HEAD:[^:]*]]: index, %[[BEGIN:[^:]*]]: index, %[[END:[^:]*]]: index)
// CHECK-DAG: %[[CENTRE:.*]] = arith.constant dense<8.000000e+00> : tensor<1x64xf32, #kvc.dims<t, c>>
// CHECK-DAG: %[[CENTRE8:.*]] = arith.constant dense<8> : tensor<1x64xi8, #kvc.dims<t, c>>
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK: scf.for %[[T:.*]] = %[[BEGIN]] to %[[END]] step %[[C1]] {
// CHECK-NEXT: %[[I:.*]] = arith.subi %[[T]], %[[BEGIN]]
// CHECK-NEXT: %[[U:.*]] = kvc.load_codes %[[CACHE]][%[[HEAD]], %[[T]]] valid %[[C1]] {tensor = #kvc.tensor<key>} : {{.*}} to tensor<1x64xi8, #kvc.dims<t, c>>
// CHECK-NEXT: %[[S:.*]] = kvc.load_scale {{.*}} to tensor<1x4xf32, #kvc.dims<t, b>>
// CHECK-NEXT: %[[Z:.*]] = kvc.load_zero {{.*}} to tensor<1x4xf32, #kvc.dims<t, b>>
// CHECK-NEXT: %[[CANONICAL:.*]] = arith.addi %[[U]], %[[CENTRE8]]
// CHECK-NEXT: kvc.store_rows %[[CANONICAL]], %[[CODES]][%[[I]]] valid %[[C1]]
// CHECK-NEXT: kvc.store_rows %[[S]], %[[SCALES]][%[[I]]] valid %[[C1]]
// CHECK-NEXT: kvc.store_rows %[[Z]], %[[ZEROS]][%[[I]]] valid %[[C1]]
// CHECK-NEXT: %[[F:.*]] = arith.sitofp %[[U]]
// CHECK-NEXT: %[[UF:.*]] = arith.addf %[[F]], %[[CENTRE]]
// CHECK-NEXT: %[[UB:.*]] = kvc.split %[[UF]] : {{.*}} to tensor<1x4x16xf32, #kvc.dims<t, b, e>>
// CHECK-NEXT: %[[SB:.*]] = kvc.broadcast %[[S]]
// CHECK-NEXT: %[[SU:.*]] = arith.mulf %[[UB]], %[[SB]]
// CHECK-NEXT: %[[ZB:.*]] = kvc.broadcast %[[Z]]
// CHECK-NEXT: %[[XB:.*]] = arith.addf %[[SU]], %[[ZB]]
// CHECK-NEXT: %[[XC:.*]] = kvc.join %[[XB]] : {{.*}} to tensor<1x64xf32, #kvc.dims<t, c>>
// CHECK-NEXT: kvc.store_rows %[[XC]], %[[X]][%[[I]]] valid %[[C1]]
func.func @minimum(%cache: !kvc.cache<#minimum>, %codes: memref<?x64xi8>, %scales: memref<?x4xf32>, %zeros: memref<?x4xf32>, %x: memref<?x64xf32>,
    %head: index, %begin: index, %end: index) {
  kvc.unpack %cache[%head] tokens(%begin to %end) into %codes, %scales, %zeros, %x {tensor = #kvc.tensor<key>}
      : !kvc.cache<#minimum>, memref<?x64xi8>, memref<?x4xf32>, memref<?x4xf32>, memref<?x64xf32>
  return
}

// "code": s * (u - z). Codes of 8 bits wrap to their bit pattern.

#code = #kvc.spec<name = "code",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 2}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "f16"}>,
  value = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "code"}>>
// CHECK-LABEL: func.func @code(
// CHECK-SAME: %[[CACHE:[^:]*]]: !kvc.cache<#code>, %[[CODES:[^:]*]]: memref<?x64xi8>, %[[SCALES:[^:]*]]: {{[^,]*}}, %[[ZEROS:[^:]*]]: {{[^,]*}}, %[[X:[^:]*]]: memref<?x64xf32>,
// CHECK-SAME: %[[HEAD:[^:]*]]: index, %[[BEGIN:[^:]*]]: index, %[[END:[^:]*]]: index)
// CHECK-DAG: %[[CENTRE8:.*]] = arith.constant dense<-128> : tensor<1x64xi8, #kvc.dims<t, c>>
// CHECK: %[[U:.*]] = kvc.load_codes {{.*}} {tensor = #kvc.tensor<value>}
// CHECK: %[[S:.*]] = kvc.load_scale {{.*}} to tensor<1x1xf32, #kvc.dims<t, b>>
// CHECK: %[[Z:.*]] = kvc.load_zero {{.*}} to tensor<1x1xf32, #kvc.dims<t, b>>
// CHECK-NEXT: arith.addi %[[U]], %[[CENTRE8]]
// CHECK: %[[UB:.*]] = kvc.split
// CHECK-NEXT: %[[ZB:.*]] = kvc.broadcast %[[Z]]
// CHECK-NEXT: %[[UZ:.*]] = arith.subf %[[UB]], %[[ZB]]
// CHECK-NEXT: %[[SB:.*]] = kvc.broadcast %[[S]]
// CHECK-NEXT: arith.mulf %[[UZ]], %[[SB]]
func.func @code(%cache: !kvc.cache<#code>, %codes: memref<?x64xi8>, %scales: memref<?x1xf32>, %zeros: memref<?x1xf32>, %x: memref<?x64xf32>,
    %head: index, %begin: index, %end: index) {
  kvc.unpack %cache[%head] tokens(%begin to %end) into %codes, %scales, %zeros, %x {tensor = #kvc.tensor<value>}
      : !kvc.cache<#code>, memref<?x64xi8>, memref<?x1xf32>, memref<?x1xf32>, memref<?x64xf32>
  return
}

// Symmetric codes are stored signed, and there is no zero to write.

#symmetric = #kvc.spec<name = "symmetric",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 2}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}}>,
  value = #kvc.scheme<{codec = "f16"}>>
// CHECK-LABEL: func.func @symmetric(
// CHECK-SAME: %[[CACHE:[^:]*]]: !kvc.cache<#symmetric>, %[[CODES:[^:]*]]: memref<?x64xi8>, %[[SCALES:[^:]*]]: {{[^,]*}}, %[[ZEROS:[^:]*]]: {{[^,]*}}, %[[X:[^:]*]]: memref<?x64xf32>,
// CHECK-SAME: %[[HEAD:[^:]*]]: index, %[[BEGIN:[^:]*]]: index, %[[END:[^:]*]]: index)
// CHECK: %[[U:.*]] = kvc.load_codes
// CHECK-NEXT: %[[S:.*]] = kvc.load_scale
// CHECK-NEXT: kvc.store_rows %[[U]], %[[CODES]]
// CHECK-NEXT: kvc.store_rows %[[S]], %[[SCALES]]
// CHECK-NEXT: %[[F:.*]] = arith.sitofp %[[U]]
// CHECK-NEXT: %[[UB:.*]] = kvc.split %[[F]]
// CHECK-NEXT: %[[SB:.*]] = kvc.broadcast %[[S]]
// CHECK-NEXT: arith.mulf %[[UB]], %[[SB]]
// CHECK-NOT: %[[ZEROS]]
func.func @symmetric(%cache: !kvc.cache<#symmetric>, %codes: memref<?x64xi8>, %scales: memref<?x1xf32>, %zeros: memref<?x1xf32>, %x: memref<?x64xf32>,
    %head: index, %begin: index, %end: index) {
  kvc.unpack %cache[%head] tokens(%begin to %end) into %codes, %scales, %zeros, %x {tensor = #kvc.tensor<key>}
      : !kvc.cache<#symmetric>, memref<?x64xi8>, memref<?x1xf32>, memref<?x1xf32>, memref<?x64xf32>
  return
}

// A scale that is 0 gives 0: where its product with code 0 may be -0 (a table's
// first entry is negative, the scale of a block of zeros is -0) 0 is selected,
// where codes are from exact quotients the product stands.

#signed = #kvc.spec<name = "signed",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 2}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int4", estimate = "signed", scale = {channels = 32, dtype = "f16", tokens = 1}}>,
  value = #kvc.scheme<{codec = "int4", codes_from = "exact", estimate = "signed", scale = {channels = 32, dtype = "f16", tokens = 1}}>>
// CHECK-LABEL: func.func @signed(
// CHECK-DAG: %[[NONE:.*]] = arith.constant dense<0.000000e+00> : tensor<1x2x32xf32, #kvc.dims<t, b, e>>
// CHECK: %[[S:.*]] = kvc.load_scale
// CHECK: %[[UB:.*]] = kvc.split
// CHECK: %[[P:.*]] = arith.mulf %[[UB]],
// CHECK: %[[IS:.*]] = arith.cmpf oeq, %{{.*}}, %[[NONE]]
// CHECK: %[[XB:.*]] = arith.select %[[IS]], %[[NONE]], %[[P]]
// CHECK: kvc.join %[[XB]]
func.func @signed(%cache: !kvc.cache<#signed>, %codes: memref<?x64xi8>, %scales: memref<?x2xf32>, %zeros: memref<?x2xf32>, %x: memref<?x64xf32>,
    %head: index, %begin: index, %end: index) {
  kvc.unpack %cache[%head] tokens(%begin to %end) into %codes, %scales, %zeros, %x {tensor = #kvc.tensor<key>}
      : !kvc.cache<#signed>, memref<?x64xi8>, memref<?x2xf32>, memref<?x2xf32>, memref<?x64xf32>
  return
}

// CHECK-LABEL: func.func @exact(
// CHECK-NOT: arith.select
// CHECK: kvc.join
func.func @exact(%cache: !kvc.cache<#signed>, %codes: memref<?x64xi8>, %scales: memref<?x2xf32>, %zeros: memref<?x2xf32>, %x: memref<?x64xf32>,
    %head: index, %begin: index, %end: index) {
  kvc.unpack %cache[%head] tokens(%begin to %end) into %codes, %scales, %zeros, %x {tensor = #kvc.tensor<value>}
      : !kvc.cache<#signed>, memref<?x64xi8>, memref<?x2xf32>, memref<?x2xf32>, memref<?x64xf32>
  return
}

// Raw values are only widened.

#raw = #kvc.spec<name = "raw",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 2}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "bf16"}>,
  value = #kvc.scheme<{codec = "f32"}>>
// CHECK-LABEL: func.func @raw(
// CHECK-SAME: %[[CACHE:[^:]*]]: !kvc.cache<#raw>, %[[CODES:[^:]*]]: memref<?x64xi8>, %[[SCALES:[^:]*]]: {{[^,]*}}, %[[ZEROS:[^:]*]]: {{[^,]*}}, %[[X:[^:]*]]: memref<?x64xf32>,
// CHECK-SAME: %[[HEAD:[^:]*]]: index, %[[BEGIN:[^:]*]]: index, %[[END:[^:]*]]: index)
// CHECK: %[[U:.*]] = kvc.load_codes {{.*}} to tensor<1x64xbf16, #kvc.dims<t, c>>
// CHECK-NEXT: %[[F:.*]] = arith.extf %[[U]] : {{.*}} to tensor<1x64xf32, #kvc.dims<t, c>>
// CHECK-NEXT: kvc.store_rows %[[F]], %[[X]]{{.*$}}
// CHECK-NEXT: }
func.func @raw(%cache: !kvc.cache<#raw>, %codes: memref<?x64xi8>, %scales: memref<?x1xf32>, %zeros: memref<?x1xf32>, %x: memref<?x64xf32>,
    %head: index, %begin: index, %end: index) {
  kvc.unpack %cache[%head] tokens(%begin to %end) into %codes, %scales, %zeros, %x {tensor = #kvc.tensor<key>}
      : !kvc.cache<#raw>, memref<?x64xi8>, memref<?x1xf32>, memref<?x1xf32>, memref<?x64xf32>
  return
}

// CHECK-LABEL: func.func @raw_f32(
// CHECK: %[[U:.*]] = kvc.load_codes {{.*}} to tensor<1x64xf32, #kvc.dims<t, c>>
// CHECK-NEXT: kvc.store_rows %[[U]],
func.func @raw_f32(%cache: !kvc.cache<#raw>, %codes: memref<?x64xi8>, %scales: memref<?x1xf32>, %zeros: memref<?x1xf32>, %x: memref<?x64xf32>,
    %head: index, %begin: index, %end: index) {
  kvc.unpack %cache[%head] tokens(%begin to %end) into %codes, %scales, %zeros, %x {tensor = #kvc.tensor<value>}
      : !kvc.cache<#raw>, memref<?x64xi8>, memref<?x1xf32>, memref<?x1xf32>, memref<?x64xf32>
  return
}
