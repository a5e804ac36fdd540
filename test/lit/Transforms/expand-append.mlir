// RUN: kvc-opt %s --kvc-expand | FileCheck %s
// RUN: kvc-opt %s --kvc-expand | FileCheck %s --check-prefix=EXACT

// No operation of append may be reassociated, contracted or approximated.
// EXACT-NOT: fastmath
// EXACT-NOT: kvc.append

// Symmetric: amax / 7, x / s, ties to even, -7..7. A scale of 0 divides by inf.

#symmetric = #kvc.spec<name = "symmetric",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 2}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "bf16", tokens = 1}}>,
  value = #kvc.scheme<{codec = "f16"}>>
// CHECK-LABEL: func.func @symmetric(
// CHECK-SAME: %[[X:[^:]*]]: memref<{{.*}}>>, %[[CACHE:[^:]*]]: !kvc.cache<#symmetric>, %[[HEAD:[^:]*]]: index, %[[BEGIN:[^:]*]]: index, %[[END:[^:]*]]: index)
// CHECK-DAG: %[[SEVEN:.*]] = arith.constant dense<7.000000e+00> : tensor<1xf32, #kvc.dims<b>>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<1xf32, #kvc.dims<b>>
// CHECK-DAG: %[[INF:.*]] = arith.constant dense<0x7F800000> : tensor<1xf32, #kvc.dims<b>>
// CHECK-DAG: %[[LOW:.*]] = arith.constant dense<-7.000000e+00> : tensor<1x64xf32, #kvc.dims<b, e>>
// CHECK-DAG: %[[HIGH:.*]] = arith.constant dense<7.000000e+00> : tensor<1x64xf32, #kvc.dims<b, e>>
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK: scf.for %[[T:.*]] = %[[BEGIN]] to %[[END]] step %[[C1]] {
// CHECK-NEXT: %[[I:.*]] = arith.subi %[[T]], %[[BEGIN]]
// CHECK-NEXT: %[[ROW:.*]] = kvc.load_input %[[X]][%[[I]], %[[HEAD]]] : {{.*}} to tensor<1x64xf32, #kvc.dims<b, e>>
// CHECK-NEXT: %[[ABS:.*]] = math.absf %[[ROW]]
// CHECK-NEXT: %[[AMAX:.*]] = kvc.reduce maximumf %[[ABS]] : {{.*}} to tensor<1xf32, #kvc.dims<b>>
// CHECK-NEXT: %[[QUOTIENT:.*]] = arith.divf %[[AMAX]], %[[SEVEN]] :
// CHECK-NEXT: %[[S:.*]] = kvc.round_to %[[QUOTIENT]] {dtype = "bf16"}
// CHECK-NEXT: %[[IS_ZERO:.*]] = arith.cmpf oeq, %[[S]], %[[ZERO]]
// CHECK-NEXT: %[[BY:.*]] = arith.select %[[IS_ZERO]], %[[INF]], %[[S]]
// CHECK-NEXT: %[[BYS:.*]] = kvc.broadcast %[[BY]]
// CHECK-NEXT: %[[XS:.*]] = arith.divf %[[ROW]], %[[BYS]] :
// CHECK-NEXT: %[[RNE:.*]] = math.roundeven %[[XS]]
// CHECK-NEXT: %[[ABOVE_IS:.*]] = arith.cmpf ogt, %[[RNE]], %[[LOW]]
// CHECK-NEXT: %[[ABOVE:.*]] = arith.select %[[ABOVE_IS]], %[[RNE]], %[[LOW]]
// CHECK-NEXT: %[[U_IS:.*]] = arith.cmpf olt, %[[ABOVE]], %[[HIGH]]
// CHECK-NEXT: %[[U:.*]] = arith.select %[[U_IS]], %[[ABOVE]], %[[HIGH]]
// CHECK-NEXT: %[[CODES:.*]] = arith.fptosi %[[U]] : {{.*}} to tensor<1x64xi8, #kvc.dims<b, e>>
// CHECK-NEXT: kvc.store_codes %[[CODES]], %[[CACHE]][%[[HEAD]], %[[T]]] {tensor = #kvc.tensor<key>}
// CHECK-NEXT: kvc.store_scale %[[S]], %[[CACHE]][%[[HEAD]], %[[T]]] {tensor = #kvc.tensor<key>} : {{.*$}}
// CHECK-NEXT: }
// CHECK-NOT: kvc.store_zero
func.func @symmetric(%x: memref<?x?x64xf16, strided<[?, ?, 1]>>, %cache: !kvc.cache<#symmetric>, %head: index, %begin: index, %end: index) {
  kvc.append %x, %cache[%head] tokens(%begin to %end) {tensor = #kvc.tensor<key>} : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#symmetric>
  return
}

// "min": the zero is rounded first and never -0, the scale comes from the rounded
// zero. Codes are centred to be stored. Blocks of 16 channels are rows <b>. Rounding
// to f32 is saturation alone.

#minimum = #kvc.spec<name = "minimum",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 2}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "f16"}>,
  value = #kvc.scheme<{codec = "int8", scale = {channels = 16, dtype = "f32", tokens = 1}, zero = "min"}>>
// CHECK-LABEL: func.func @minimum(
// CHECK-SAME: %[[X:[^:]*]]: memref<{{.*}}>>, %[[CACHE:[^:]*]]: !kvc.cache<#minimum>, %[[HEAD:[^:]*]]: index, %[[BEGIN:[^:]*]]: index, %[[END:[^:]*]]: index)
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<4xf32, #kvc.dims<b>>
// CHECK-DAG: %[[STEPS:.*]] = arith.constant dense<2.550000e+02> : tensor<4xf32, #kvc.dims<b>>
// CHECK-DAG: %[[INF:.*]] = arith.constant dense<0x7F800000> : tensor<4xf32, #kvc.dims<b>>
// CHECK-DAG: %[[SMALLEST:.*]] = arith.constant dense<-3.40282347E+38> : tensor<4xf32, #kvc.dims<b>>
// CHECK-DAG: %[[LARGEST:.*]] = arith.constant dense<3.40282347E+38> : tensor<4xf32, #kvc.dims<b>>
// CHECK-DAG: %[[LOWEST:.*]] = arith.constant dense<0.000000e+00> : tensor<4x16xf32, #kvc.dims<b, e>>
// CHECK-DAG: %[[HIGHEST:.*]] = arith.constant dense<2.550000e+02> : tensor<4x16xf32, #kvc.dims<b, e>>
// CHECK-DAG: %[[CENTRE:.*]] = arith.constant dense<1.280000e+02> : tensor<4x16xf32, #kvc.dims<b, e>>
// CHECK: %[[ROW:.*]] = kvc.load_input
// CHECK-NEXT: %[[LOW:.*]] = kvc.reduce minimumf %[[ROW]] : {{.*}} to tensor<4xf32, #kvc.dims<b>>
// CHECK-NEXT: %[[HIGH:.*]] = kvc.reduce maximumf %[[ROW]] : {{.*}} to tensor<4xf32, #kvc.dims<b>>
// CHECK-NEXT: %[[LOW1_IS:.*]] = arith.cmpf ogt, %[[LOW]], %[[SMALLEST]]
// CHECK-NEXT: %[[LOW1:.*]] = arith.select %[[LOW1_IS]], %[[LOW]], %[[SMALLEST]]
// CHECK-NEXT: %[[M_IS:.*]] = arith.cmpf olt, %[[LOW1]], %[[LARGEST]]
// CHECK-NEXT: %[[M:.*]] = arith.select %[[M_IS]], %[[LOW1]], %[[LARGEST]]
// CHECK-NEXT: %[[Z:.*]] = arith.addf %[[M]], %[[ZERO]]
// CHECK-NEXT: %[[RANGE:.*]] = arith.subf %[[HIGH]], %[[Z]]
// CHECK-NEXT: %[[QUOTIENT:.*]] = arith.divf %[[RANGE]], %[[STEPS]]
// CHECK-NEXT: %[[QUOTIENT1_IS:.*]] = arith.cmpf ogt, %[[QUOTIENT]], %[[SMALLEST]]
// CHECK-NEXT: %[[QUOTIENT1:.*]] = arith.select %[[QUOTIENT1_IS]], %[[QUOTIENT]], %[[SMALLEST]]
// CHECK-NEXT: %[[S_IS:.*]] = arith.cmpf olt, %[[QUOTIENT1]], %[[LARGEST]]
// CHECK-NEXT: %[[S:.*]] = arith.select %[[S_IS]], %[[QUOTIENT1]], %[[LARGEST]]
// CHECK-NEXT: %[[ZS:.*]] = kvc.broadcast %[[Z]]
// CHECK-NEXT: %[[FROM_Z:.*]] = arith.subf %[[ROW]], %[[ZS]]
// CHECK-NEXT: %[[IS_ZERO:.*]] = arith.cmpf oeq, %[[S]], %[[ZERO]]
// CHECK-NEXT: %[[BY:.*]] = arith.select %[[IS_ZERO]], %[[INF]], %[[S]]
// CHECK-NEXT: %[[BYS:.*]] = kvc.broadcast %[[BY]]
// CHECK-NEXT: %[[XS:.*]] = arith.divf %[[FROM_Z]], %[[BYS]]
// CHECK-NEXT: %[[RNE:.*]] = math.roundeven %[[XS]]
// CHECK-NEXT: %[[ABOVE_IS:.*]] = arith.cmpf ogt, %[[RNE]], %[[LOWEST]]
// CHECK-NEXT: %[[ABOVE:.*]] = arith.select %[[ABOVE_IS]], %[[RNE]], %[[LOWEST]]
// CHECK-NEXT: %[[U_IS:.*]] = arith.cmpf olt, %[[ABOVE]], %[[HIGHEST]]
// CHECK-NEXT: %[[U:.*]] = arith.select %[[U_IS]], %[[ABOVE]], %[[HIGHEST]]
// CHECK-NEXT: %[[CENTRED:.*]] = arith.subf %[[U]], %[[CENTRE]]
// CHECK-NEXT: %[[CODES:.*]] = arith.fptosi %[[CENTRED]]
// CHECK-NEXT: %[[ALL:.*]] = kvc.join %[[CODES]] : {{.*}} to tensor<64xi8, #kvc.dims<c>>
// CHECK-NEXT: %[[ROW_CODES:.*]] = kvc.split %[[ALL]] : {{.*}} to tensor<1x64xi8, #kvc.dims<b, e>>
// CHECK-NEXT: kvc.store_codes %[[ROW_CODES]], {{.*}} {tensor = #kvc.tensor<value>}
// CHECK-NEXT: kvc.store_scale %[[S]], {{.*}} {tensor = #kvc.tensor<value>}
// CHECK-NEXT: kvc.store_zero %[[Z]], {{.*}} {tensor = #kvc.tensor<value>}
func.func @minimum(%x: memref<?x?x64xf16, strided<[?, ?, 1]>>, %cache: !kvc.cache<#minimum>, %head: index, %begin: index, %end: index) {
  kvc.append %x, %cache[%head] tokens(%begin to %end) {tensor = #kvc.tensor<value>} : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#minimum>
  return
}

// "code": z = -min / s, u from x / s + z. Where s is 0 the scale becomes |min| and
// the zero -1, 1 or 0, behind the codes.

#code = #kvc.spec<name = "code",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 2}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int4", scale = {channels = "all", dtype = "f16", tokens = 1}, zero = "code"}>,
  value = #kvc.scheme<{codec = "f16"}>>
// CHECK-LABEL: func.func @code(
// CHECK-SAME: %[[X:[^:]*]]: memref<{{.*}}>>, %[[CACHE:[^:]*]]: !kvc.cache<#code>, %[[HEAD:[^:]*]]: index, %[[BEGIN:[^:]*]]: index, %[[END:[^:]*]]: index)
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<1xf32, #kvc.dims<b>>
// CHECK-DAG: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<1xf32, #kvc.dims<b>>
// CHECK-DAG: %[[MINUS_ONE:.*]] = arith.constant dense<-1.000000e+00> : tensor<1xf32, #kvc.dims<b>>
// CHECK-DAG: %[[STEPS:.*]] = arith.constant dense<1.500000e+01> : tensor<1xf32, #kvc.dims<b>>
// CHECK-DAG: %[[INF:.*]] = arith.constant dense<0x7F800000> : tensor<1xf32, #kvc.dims<b>>
// CHECK: %[[ROW:.*]] = kvc.load_input
// CHECK-NEXT: %[[LOW:.*]] = kvc.reduce minimumf %[[ROW]]
// CHECK-NEXT: %[[HIGH:.*]] = kvc.reduce maximumf %[[ROW]]
// CHECK-NEXT: %[[RANGE:.*]] = arith.subf %[[HIGH]], %[[LOW]]
// CHECK-NEXT: %[[QUOTIENT:.*]] = arith.divf %[[RANGE]], %[[STEPS]]
// CHECK-NEXT: %[[S:.*]] = kvc.round_to %[[QUOTIENT]] {dtype = "f16"}
// CHECK-NEXT: %[[IS_ZERO:.*]] = arith.cmpf oeq, %[[S]], %[[ZERO]]
// CHECK-NEXT: %[[BY:.*]] = arith.select %[[IS_ZERO]], %[[INF]], %[[S]]
// CHECK-NEXT: %[[MINUS_LOW:.*]] = arith.negf %[[LOW]]
// CHECK-NEXT: %[[ZQ:.*]] = arith.divf %[[MINUS_LOW]], %[[BY]]
// CHECK-NEXT: %[[ZR:.*]] = kvc.round_to %[[ZQ]] {dtype = "f16"}
// CHECK-NEXT: %[[Z:.*]] = arith.addf %[[ZR]], %[[ZERO]]
// CHECK-NEXT: %[[BYS:.*]] = kvc.broadcast %[[BY]]
// CHECK-NEXT: %[[XS:.*]] = arith.divf %[[ROW]], %[[BYS]]
// CHECK-NEXT: %[[ZS:.*]] = kvc.broadcast %[[Z]]
// CHECK-NEXT: %[[XSZ:.*]] = arith.addf %[[XS]], %[[ZS]]
// CHECK-NEXT: %[[RNE:.*]] = math.roundeven %[[XSZ]]
// CHECK-DAG: %[[POSITIVE:.*]] = arith.cmpf ogt, %[[LOW]], %[[ZERO]]
// CHECK-DAG: %[[NEGATIVE:.*]] = arith.cmpf olt, %[[LOW]], %[[ZERO]]
// CHECK-DAG: %[[INNER:.*]] = arith.select %[[NEGATIVE]], %[[ONE]], %[[ZERO]]
// CHECK-DAG: %[[SIGN:.*]] = arith.select %[[POSITIVE]], %[[MINUS_ONE]], %[[INNER]]
// CHECK-DAG: %[[ABS:.*]] = math.absf %[[LOW]]
// CHECK-DAG: %[[MAGNITUDE:.*]] = kvc.round_to %[[ABS]] {dtype = "f16"}
// CHECK-DAG: %[[STORED_S:.*]] = arith.select %[[FLAT:.*]], %[[MAGNITUDE]], %[[S]]
// CHECK-DAG: %[[STORED_Z:.*]] = arith.select %[[FLAT]], %[[SIGN]], %[[Z]]
// CHECK: kvc.store_scale %[[STORED_S]],
// CHECK-NEXT: kvc.store_zero %[[STORED_Z]],
func.func @code(%x: memref<?x?x64xf16, strided<[?, ?, 1]>>, %cache: !kvc.cache<#code>, %head: index, %begin: index, %end: index) {
  kvc.append %x, %cache[%head] tokens(%begin to %end) {tensor = #kvc.tensor<key>} : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#code>
  return
}

// Symmetric codes of 8 bits reach -127..127.

#int8 = #kvc.spec<name = "int8",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 2}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "int8", scale = {channels = "all", dtype = "f16", tokens = 1}}>,
  value = #kvc.scheme<{codec = "f16"}>>
// CHECK-LABEL: func.func @int8(
// CHECK-SAME: %[[X:[^:]*]]: memref<{{.*}}>>, %[[CACHE:[^:]*]]: !kvc.cache<#int8>, %[[HEAD:[^:]*]]: index, %[[BEGIN:[^:]*]]: index, %[[END:[^:]*]]: index)
// CHECK-DAG: arith.constant dense<1.270000e+02> : tensor<1xf32, #kvc.dims<b>>
// CHECK-DAG: arith.constant dense<-1.270000e+02> : tensor<1x64xf32, #kvc.dims<b, e>>
// CHECK-DAG: arith.constant dense<1.270000e+02> : tensor<1x64xf32, #kvc.dims<b, e>>
func.func @int8(%x: memref<?x?x64xf16, strided<[?, ?, 1]>>, %cache: !kvc.cache<#int8>, %head: index, %begin: index, %end: index) {
  kvc.append %x, %cache[%head] tokens(%begin to %end) {tensor = #kvc.tensor<key>} : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#int8>
  return
}

// Raw codecs: the type of the queries is stored as it is, another is rounded to,
// f32 holds both.

#same = #kvc.spec<name = "same",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 2}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "f16"}>,
  value = #kvc.scheme<{codec = "f16"}>>
// CHECK-LABEL: func.func @same(
// CHECK-SAME: %[[X:[^:]*]]: memref<{{.*}}>>, %[[CACHE:[^:]*]]: !kvc.cache<#same>, %[[HEAD:[^:]*]]: index, %[[BEGIN:[^:]*]]: index, %[[END:[^:]*]]: index)
// CHECK: %[[ROW:.*]] = kvc.load_input
// CHECK-NEXT: %[[H:.*]] = arith.truncf %[[ROW]] : {{.*}} to tensor<1x64xf16, #kvc.dims<b, e>>
// CHECK-NEXT: kvc.store_codes %[[H]], %[[CACHE]][%[[HEAD]], %{{.*}}] {tensor = #kvc.tensor<key>} : {{.*$}}
// CHECK-NEXT: }
func.func @same(%x: memref<?x?x64xf16, strided<[?, ?, 1]>>, %cache: !kvc.cache<#same>, %head: index, %begin: index, %end: index) {
  kvc.append %x, %cache[%head] tokens(%begin to %end) {tensor = #kvc.tensor<key>} : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#same>
  return
}
#other = #kvc.spec<name = "other",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 2}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "bf16"}>,
  value = #kvc.scheme<{codec = "f16"}>>
// CHECK-LABEL: func.func @other(
// CHECK-SAME: %[[X:[^:]*]]: memref<{{.*}}>>, %[[CACHE:[^:]*]]: !kvc.cache<#other>, %[[HEAD:[^:]*]]: index, %[[BEGIN:[^:]*]]: index, %[[END:[^:]*]]: index)
// CHECK: %[[ROW:.*]] = kvc.load_input
// CHECK-NEXT: %[[ROUNDED:.*]] = kvc.round_to %[[ROW]] {dtype = "bf16"}
// CHECK-NEXT: %[[H:.*]] = arith.truncf %[[ROUNDED]] : {{.*}} to tensor<1x64xbf16, #kvc.dims<b, e>>
// CHECK-NEXT: kvc.store_codes %[[H]],
func.func @other(%x: memref<?x?x64xf16, strided<[?, ?, 1]>>, %cache: !kvc.cache<#other>, %head: index, %begin: index, %end: index) {
  kvc.append %x, %cache[%head] tokens(%begin to %end) {tensor = #kvc.tensor<key>} : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#other>
  return
}
#wide = #kvc.spec<name = "wide",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 2}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "f32"}>,
  value = #kvc.scheme<{codec = "f16"}>>
// CHECK-LABEL: func.func @wide(
// CHECK-SAME: %[[X:[^:]*]]: memref<{{.*}}>>, %[[CACHE:[^:]*]]: !kvc.cache<#wide>, %[[HEAD:[^:]*]]: index, %[[BEGIN:[^:]*]]: index, %[[END:[^:]*]]: index)
// CHECK: %[[ROW:.*]] = kvc.load_input
// CHECK-NEXT: kvc.store_codes %[[ROW]],
func.func @wide(%x: memref<?x?x64xf16, strided<[?, ?, 1]>>, %cache: !kvc.cache<#wide>, %head: index, %begin: index, %end: index) {
  kvc.append %x, %cache[%head] tokens(%begin to %end) {tensor = #kvc.tensor<key>} : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#wide>
  return
}
