// RUN: kvc-opt %s --kvc-place-factors=remarks=true --kvc-apply-placement 2>&1 | FileCheck %s

// A rotation mixes the channels of a token, so a scale of the token passes it and
// leaves the codes; what differs between channels, or is added, does not.

!q = tensor<4x64xf32, #kvc.dims<r, c>>
!u = tensor<32x64xi8, #kvc.dims<t, c>>
!x = tensor<32x64xf32, #kvc.dims<t, c>>
!p = tensor<4x32xf32, #kvc.dims<r, t>>
!t = tensor<32xf32, #kvc.dims<t>>
!c = tensor<64xf32, #kvc.dims<c>>

// CHECK: remark: key scale [t]: score at 128 operations per tile; others: register (2048)
// CHECK: remark: key scale [t]: register as asked, at 2048 operations per tile; others: score (128)

// CHECK-LABEL: func.func @token(
// CHECK-SAME: %[[Q:.*]]: tensor<4x64{{.*}}, %[[U:.*]]: tensor<32x64{{.*}}, %[[S:.*]]: tensor<32xf32{{.*}}, %[[T:.*]]: index
// CHECK-NEXT: %[[X:.*]] = arith.sitofp %[[U]]
// CHECK-NEXT: %[[TURNED:.*]] = kvc.rope %[[X]] at %[[T]]
// CHECK-NEXT: %[[DOT:.*]] = kvc.contract %[[Q]], %[[TURNED]]
// CHECK-NEXT: %[[SB:.*]] = kvc.broadcast %[[S]] : {{.*}} to tensor<4x32xf32, #kvc.dims<r, t>>
// CHECK-NEXT: %[[Y:.*]] = arith.mulf %[[DOT]], %[[SB]]
// CHECK-NEXT: return %[[Y]]
func.func @token(%q: !q, %u: !u, %s: !t, %token: index) -> !p {
  %x = kvc.dequantize %u, %s : !u, !t to !x
  %k = kvc.rope %x at %token {dims = 64 : i64, offset = 0 : i64, theta = 1.0e4 : f64} : !x
  %y = kvc.contract %q, %k : !q, !x to !p
  return %y : !p
}

// CHECK-LABEL: func.func @asked(
// CHECK: %[[X:.*]] = arith.mulf
// CHECK-NEXT: %[[TURNED:.*]] = kvc.rope %[[X]]
// CHECK-NEXT: %[[DOT:.*]] = kvc.contract %{{.*}}, %[[TURNED]]
// CHECK-NEXT: return %[[DOT]]
func.func @asked(%q: !q, %u: !u, %s: !t, %token: index) -> !p {
  %x = kvc.dequantize %u, %s {scale_place = #kvc.place<register>} : !u, !t to !x
  %k = kvc.rope %x at %token {dims = 64 : i64, offset = 0 : i64, theta = 1.0e4 : f64} : !x
  %y = kvc.contract %q, %k : !q, !x to !p
  return %y : !p
}

// CHECK-LABEL: func.func @channel(
// CHECK: arith.mulf
// CHECK-NEXT: kvc.rope
// CHECK-NEXT: %[[DOT:.*]] = kvc.contract
// CHECK-NEXT: return %[[DOT]]
func.func @channel(%q: !q, %u: !u, %s: !c, %token: index) -> !p {
  %x = kvc.dequantize %u, %s : !u, !c to !x
  %k = kvc.rope %x at %token {dims = 64 : i64, offset = 0 : i64, theta = 1.0e4 : f64} : !x
  %y = kvc.contract %q, %k : !q, !x to !p
  return %y : !p
}

// CHECK-LABEL: func.func @added(
// CHECK: arith.mulf
// CHECK: %[[X:.*]] = arith.addf
// CHECK-NEXT: kvc.rope %[[X]]
// CHECK-NEXT: %[[DOT:.*]] = kvc.contract
// CHECK-NEXT: return %[[DOT]]
func.func @added(%q: !q, %u: !u, %s: !t, %z: !t, %token: index) -> !p {
  %x = kvc.dequantize %u, %s, %z {centre = 8 : i64, zero_kind = "min"} : !u, !t, !t to !x
  %k = kvc.rope %x at %token {dims = 64 : i64, offset = 0 : i64, theta = 1.0e4 : f64} : !x
  %y = kvc.contract %q, %k : !q, !x to !p
  return %y : !p
}

// Values that are keys before their rotation.
// CHECK-LABEL: func.func @read_twice(
// CHECK: %[[X:.*]] = arith.mulf
// CHECK-NEXT: kvc.rope %[[X]]
// CHECK-NEXT: kvc.contract
// CHECK-NEXT: return %{{.*}}, %[[X]]
func.func @read_twice(%q: !q, %u: !u, %s: !t, %token: index) -> (!p, !x) {
  %x = kvc.dequantize %u, %s : !u, !t to !x
  %k = kvc.rope %x at %token {dims = 64 : i64, offset = 0 : i64, theta = 1.0e4 : f64} : !x
  %y = kvc.contract %q, %k : !q, !x to !p
  return %y, %x : !p, !x
}
