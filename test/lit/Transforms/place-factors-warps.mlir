// RUN: kvc-opt %s --kvc-place-factors=warps=true | FileCheck %s

// Products on tensor cores have no blocks of channels: their factors stay on
// the codes. Factors of tokens or channels go where they cost least.

!q = tensor<8x128xf32, #kvc.dims<r, c>>
!qb = tensor<8x4x32xf32, #kvc.dims<r, b, e>>
!u = tensor<16x128xi8, #kvc.dims<t, c>>
!ub = tensor<16x4x32xi8, #kvc.dims<t, b, e>>
!x = tensor<16x128xf32, #kvc.dims<t, c>>
!xb = tensor<16x4x32xf32, #kvc.dims<t, b, e>>
!t = tensor<16xf32, #kvc.dims<t>>
!tb = tensor<16x4xf32, #kvc.dims<t, b>>
!s = tensor<8x16xf32, #kvc.dims<r, t>>

// CHECK-LABEL: func.func @token(
// CHECK: kvc.dequantize {{.*}} {centre = 8 : i64, scale_place = #kvc.place<score>, zero_kind = "min", zero_place = #kvc.place<score>}
func.func @token(%q: !q, %u: !u, %s: !t, %z: !t) -> !s {
  %x = kvc.dequantize %u, %s, %z {centre = 8 : i64, zero_kind = "min"} : !u, !t, !t to !x
  %y = kvc.contract %q, %x : !q, !x to !s
  return %y : !s
}

// CHECK-LABEL: func.func @blocks(
// CHECK: kvc.dequantize {{.*}} {centre = 8 : i64, scale_place = #kvc.place<register>, zero_kind = "min", zero_place = #kvc.place<register>}
func.func @blocks(%q: !qb, %u: !ub, %s: !tb, %z: !tb) -> !s {
  %x = kvc.dequantize %u, %s, %z {centre = 8 : i64, zero_kind = "min"} : !ub, !tb, !tb to !xb
  %y = kvc.contract %q, %x : !qb, !xb to !s
  return %y : !s
}

// Outliers too, and with them all factors.
// CHECK-LABEL: func.func @outliers(
// CHECK: kvc.dequantize {{.*}} {scale_place = #kvc.place<register>}
// CHECK: kvc.patch {{.*}} {place = #kvc.place<register>}
func.func @outliers(%q: !q, %u: !u, %s: !t, %i: tensor<16x1xf32, #kvc.dims<t, o>>) -> !s {
  %d = kvc.dequantize %u, %s : !u, !t to !x
  %x = kvc.patch %d, %i, %i : !x, tensor<16x1xf32, #kvc.dims<t, o>>
  %y = kvc.contract %q, %x : !q, !x to !s
  return %y : !s
}
