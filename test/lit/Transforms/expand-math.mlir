// RUN: kvc-opt %s --kvc-expand-math | FileCheck %s
// RUN: kvc-opt %s --kvc-expand-math="has-f16c=true has-sse41=true" | FileCheck %s --check-prefix=HW

// A vector of any length, and a scalar. The polynomial is fused where the target
// can; no library is called.
// CHECK-LABEL: func.func @exp2(
// CHECK-NOT: math.
// CHECK: arith.mulf {{.*}} fastmath<contract> : vector<16xf32>
// CHECK: arith.addf {{.*}} fastmath<contract> : vector<16xf32>
// CHECK: arith.shli {{.*}} : vector<16xi32>
// CHECK: arith.cmpf olt
// CHECK: arith.select
func.func @exp2(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.exp2 %x : vector<16xf32>
  return %0 : vector<16xf32>
}

// CHECK-LABEL: func.func @functions(
// CHECK-NOT: math.
// CHECK: return
// HW-LABEL: func.func @functions(
// HW-NOT: math.
// HW: return
func.func @functions(%x: f32) -> (f32, f32, f32, f32) {
  %0 = math.log2 %x : f32
  %1 = math.log %x : f32
  %2 = math.tanh %x : f32
  %3 = math.exp %x : f32
  return %0, %1, %2, %3 : f32, f32, f32, f32
}

// Rounding decides stored bytes: no flag, and one instruction where there is one.
// CHECK-LABEL: func.func @round(
// CHECK-NOT: math.
// CHECK-NOT: fastmath
// CHECK: return
// HW-LABEL: func.func @round(
// HW: math.roundeven
// HW: math.floor
// HW: math.ceil
func.func @round(%x: vector<8xf32>) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>) {
  %0 = math.roundeven %x : vector<8xf32>
  %1 = math.floor %x : vector<8xf32>
  %2 = math.ceil %x : vector<8xf32>
  return %0, %1, %2 : vector<8xf32>, vector<8xf32>, vector<8xf32>
}

// CHECK-LABEL: func.func @half(
// CHECK-NOT: arith.extf
// CHECK-NOT: arith.truncf
// CHECK-NOT: fastmath
// CHECK: return
// HW-LABEL: func.func @half(
// HW: arith.extf {{.*}} : vector<4xf16> to vector<4xf32>
// HW: arith.truncf {{.*}} : vector<4xf32> to vector<4xf16>
func.func @half(%x: vector<4xf16>) -> vector<4xf16> {
  %0 = arith.extf %x : vector<4xf16> to vector<4xf32>
  %1 = arith.addf %0, %0 : vector<4xf32>
  %2 = arith.truncf %1 : vector<4xf32> to vector<4xf16>
  return %2 : vector<4xf16>
}

// No level of x86 that kvc knows converts bf16.
// HW-LABEL: func.func @bfloat(
// HW-NOT: arith.extf
// HW-NOT: arith.truncf
// HW: return
func.func @bfloat(%x: bf16) -> bf16 {
  %0 = arith.extf %x : bf16 to f32
  %1 = arith.truncf %0 : f32 to bf16
  return %1 : bf16
}

// Saturates before it converts.
// HW-LABEL: func.func @round_to(
// HW: arith.constant dense<6.550400e+04>
// HW: arith.cmpf ogt
// HW: arith.cmpf olt
// HW: arith.truncf
// HW: arith.extf
// HW-NOT: kvc.round_to
func.func @round_to(%x: tensor<4xf32, #kvc.dims<b>>) -> tensor<4xf32, #kvc.dims<b>> {
  %0 = kvc.round_to %x {dtype = "f16"} : tensor<4xf32, #kvc.dims<b>>
  return %0 : tensor<4xf32, #kvc.dims<b>>
}

// Other types and directed roundings are left alone.
// CHECK-LABEL: func.func @others(
// CHECK: math.exp2 {{.*}} : f64
// CHECK: arith.truncf {{.*}} : f64 to f32
// CHECK: arith.truncf {{.*}} upward : f32 to f16
func.func @others(%x: f64, %y: f32) -> (f64, f32, f16) {
  %0 = math.exp2 %x : f64
  %1 = arith.truncf %x : f64 to f32
  %2 = arith.truncf %y upward : f32 to f16
  return %0, %1, %2 : f64, f32, f16
}

// Quotients that are rounded down or up: one to zero, and a step where that went
// the other way.
// CHECK-LABEL: func.func @divide(
// CHECK-NOT: floordivsi
// CHECK-NOT: ceildivsi
// CHECK: %[[Q:.*]] = arith.divsi
// CHECK: arith.xori
// CHECK: arith.cmpi slt
// CHECK: arith.select {{.*}}, %[[Q]] : vector<8xi1>, vector<8xi32>
// CHECK: %[[UP:.*]] = arith.divsi
// CHECK: arith.cmpi sge
// CHECK: arith.select {{.*}}, %[[UP]] : index
func.func @divide(%x: vector<8xi32>, %y: vector<8xi32>, %i: index, %j: index) -> (vector<8xi32>, index) {
  %0 = arith.floordivsi %x, %y : vector<8xi32>
  %1 = arith.ceildivsi %i, %j : index
  return %0, %1 : vector<8xi32>, index
}
