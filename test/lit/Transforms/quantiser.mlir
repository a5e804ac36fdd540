// RUN: kvc-opt %s --kvc-expand | FileCheck %s

// The forms of scales and codes that expand-append.mlir does not show.

// Float codes: amax / 448, a power of two that is not below; patterns.

#fp8 = #kvc.spec<name = "fp8",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 2}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "fp8_e4m3", scale = {channels = 32, dtype = "f16", round = "up", tokens = 1}}>,
  value = #kvc.scheme<{codec = "fp4_e2m1", scale = {channels = 32, dtype = "e8m0", tokens = 1}}>>
// CHECK-LABEL: func.func @fp8(
// CHECK: %[[AMAX:.*]] = kvc.reduce maximumf
// CHECK-NEXT: %[[QUOTIENT:.*]] = arith.divf %[[AMAX]],
// CHECK-NEXT: %[[S:.*]] = kvc.power_of_two %[[QUOTIENT]] from -24 to 15 : tensor<2xf32, #kvc.dims<b>>
// CHECK: %[[XS:.*]] = arith.divf
// CHECK: %[[U:.*]] = arith.select %{{.*}}, %{{.*}}, %[[XS]]
// CHECK-NEXT: kvc.encode_float %[[U]] {format = "fp8_e4m3"}
// CHECK: kvc.store_scale %[[S]],
// An exponent alone: that of amax less 2, that of the largest code.
// CHECK: %[[AMAX:.*]] = kvc.reduce maximumf
// CHECK: kvc.power_of_two %[[AMAX]] from -127 to 127 {down, offset = -2 : i64}
// CHECK: kvc.encode_float %{{.*}} {format = "fp4_e2m1"}
func.func @fp8(%x: memref<?x?x64xf16, strided<[?, ?, 1]>>, %cache: !kvc.cache<#fp8>, %head: index, %begin: index, %end: index) {
  kvc.append %x, %cache[%head] tokens(%begin to %end) {tensor = #kvc.tensor<key>} : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#fp8>
  kvc.append %x, %cache[%head] tokens(%begin to %end) {tensor = #kvc.tensor<value>} : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#fp8>
  return
}

// Tables: a step for each threshold below x / s, code 0 where s is 0. Between
// entries 1 (-1) and 3 (-0.25) lies -0.625; a tie goes to the lower index.

#lut = #kvc.spec<name = "lut",
  attention = #kvc.attention<{head_dim = 64, kv_heads = 2, q_heads = 2}>,
  io = #kvc.io<{query = "f16"}>,
  key = #kvc.scheme<{codec = "lut", estimate = "rms", scale = {channels = "all", dtype = "f16", tokens = 1}, table = [0.75, -1.0, 0.125, -0.25]}>,
  value = #kvc.scheme<{codec = "f16"}>>
// CHECK-LABEL: func.func @lut(
// CHECK-DAG: %[[THIRD:.*]] = arith.constant dense<-6.250000e-01> : tensor<1x64xf32, #kvc.dims<b, e>>
// CHECK-DAG: %[[THREE:.*]] = arith.constant dense<3.000000e+00> : tensor<1x64xf32, #kvc.dims<b, e>>
// CHECK: %[[SUM:.*]] = kvc.reduce pairwise_add
// CHECK-NEXT: %[[MEAN:.*]] = arith.divf %[[SUM]],
// CHECK-NEXT: %[[RMS:.*]] = math.sqrt %[[MEAN]]
// CHECK-NEXT: kvc.round_to %[[RMS]] {dtype = "f16"}
// CHECK: %[[ABOVE:.*]] = arith.cmpf ogt, %[[STEPS:.*]], %[[THIRD]]
// CHECK-NEXT: arith.select %[[ABOVE]], %[[THREE]],
func.func @lut(%x: memref<?x?x64xf16, strided<[?, ?, 1]>>, %cache: !kvc.cache<#lut>, %head: index, %begin: index, %end: index) {
  kvc.append %x, %cache[%head] tokens(%begin to %end) {tensor = #kvc.tensor<key>} : memref<?x?x64xf16, strided<[?, ?, 1]>>, !kvc.cache<#lut>
  return
}
