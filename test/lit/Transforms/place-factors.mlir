// RUN: kvc-opt %s --kvc-place-factors=remarks=true --verify-diagnostics | FileCheck %s

// A place follows from index sets and costs alone.

!q = tensor<4x128xf32, #kvc.dims<r, c>>
!qb = tensor<4x4x32xf32, #kvc.dims<r, b, e>>
!p = tensor<4x64xf32, #kvc.dims<r, t>>
!u = tensor<64x128xi8, #kvc.dims<t, c>>
!ub = tensor<64x4x32xi8, #kvc.dims<t, b, e>>
!vu = tensor<64x128xi8, #kvc.dims<t, d>>
!x = tensor<64x128xf32, #kvc.dims<t, c>>
!xb = tensor<64x4x32xf32, #kvc.dims<t, b, e>>
!vx = tensor<64x128xf32, #kvc.dims<t, d>>
!t = tensor<64xf32, #kvc.dims<t>>
!tb = tensor<64x4xf32, #kvc.dims<t, b>>
!c = tensor<128xf32, #kvc.dims<c>>
!d = tensor<128xf32, #kvc.dims<d>>
!o = tensor<4x128xf32, #kvc.dims<r, d>>
!ob = tensor<4x4x32xf32, #kvc.dims<r, b, e>>

// One scale per token has nothing of the contracted channels: it leaves them.
// CHECK-LABEL: func.func @key_token(
// CHECK: kvc.dequantize {{.*}} {centre = 8 : i64, scale_place = #kvc.place<score>, zero_kind = "min", zero_place = #kvc.place<score>}
func.func @key_token(%q: !q, %u: !u, %s: !t, %z: !t) -> !p {
  // expected-remark @below {{key scale [t]: score at 256 operations per tile; others: register (49152)}}
  // expected-remark @below {{key zero [t]: score at 256 operations per tile; no other place is legal}}
  %x = kvc.dequantize %u, %s, %z {centre = 8 : i64, zero_kind = "min"} : !u, !t, !t to !x
  %y = kvc.contract %q, %x : !q, !x to !p
  return %y : !p
}

// A scale per block of channels: one dot per block.
// CHECK-LABEL: func.func @key_blocks(
// CHECK: kvc.dequantize {{.*}} {centre = 8 : i64, scale_place = #kvc.place<partial>, zero_kind = "code", zero_place = #kvc.place<score>}
func.func @key_blocks(%q: !qb, %u: !ub, %s: !tb, %z: !tb) -> !p {
  // expected-remark @below {{key scale [t b]: partial at 2048 operations per tile; others: register (49152)}}
  // expected-remark @below {{key zero [t b]: score at 1024 operations per tile; others: register (49152)}}
  %x = kvc.dequantize %u, %s, %z {centre = 8 : i64, zero_kind = "code"} : !ub, !tb, !tb to !xb
  %y = kvc.contract %q, %x : !qb, !xb to !p
  return %y : !p
}

// Blocks that do not fill the lanes of a dot stay on the codes.
// CHECK-LABEL: func.func @key_narrow_blocks(
// CHECK: kvc.dequantize {{.*}} {scale_place = #kvc.place<register>}
func.func @key_narrow_blocks(%q: tensor<4x16x8xf32, #kvc.dims<r, b, e>>, %u: tensor<64x16x8xi8, #kvc.dims<t, b, e>>, %s: tensor<64x16xf32, #kvc.dims<t, b>>) -> !p {
  // expected-remark @below {{key scale [t b]: register at 49152 operations per tile; no other place is legal}}
  %x = kvc.dequantize %u, %s : tensor<64x16x8xi8, #kvc.dims<t, b, e>>, tensor<64x16xf32, #kvc.dims<t, b>> to tensor<64x16x8xf32, #kvc.dims<t, b, e>>
  %y = kvc.contract %q, %x : tensor<4x16x8xf32, #kvc.dims<r, b, e>>, tensor<64x16x8xf32, #kvc.dims<t, b, e>> to !p
  return %y : !p
}

// A scale per channel goes onto the query.
// CHECK-LABEL: func.func @key_channel(
// CHECK: kvc.dequantize {{.*}} {scale_place = #kvc.place<query>}
func.func @key_channel(%q: !q, %u: !u, %s: !c) -> !p {
  // expected-remark @below {{key scale [c]: query at 512 operations per tile; others: register (49152)}}
  %x = kvc.dequantize %u, %s : !u, !c to !x
  %y = kvc.contract %q, %x : !q, !x to !p
  return %y : !p
}

// Values are contracted over tokens: their scales go onto p, once per block.
// CHECK-LABEL: func.func @value_token(
// CHECK: kvc.dequantize {{.*}} {centre = 8 : i64, scale_place = #kvc.place<p>, zero_kind = "min", zero_place = #kvc.place<output>}
func.func @value_token(%p: !p, %u: !vu, %s: !t, %z: !t) -> !o {
  // expected-remark @below {{value scale [t]: p at 256 operations per tile; others: register (49152)}}
  // expected-remark @below {{value zero [t]: output at 256 operations per tile; no other place is legal}}
  %x = kvc.dequantize %u, %s, %z {centre = 8 : i64, zero_kind = "min"} : !vu, !t, !t to !vx
  %y = kvc.contract %p, %x : !p, !vx to !o
  return %y : !o
}

// CHECK-LABEL: func.func @value_blocks(
// CHECK: kvc.dequantize {{.*}} {scale_place = #kvc.place<p>}
func.func @value_blocks(%p: !p, %u: !ub, %s: !tb) -> !ob {
  // expected-remark @below {{value scale [t b]: p at 4096 operations per tile; others: register (49152)}}
  %x = kvc.dequantize %u, %s : !ub, !tb to !xb
  %y = kvc.contract %p, %x : !p, !xb to !ob
  return %y : !ob
}

// CHECK-LABEL: func.func @value_channel(
// CHECK: kvc.dequantize {{.*}} {scale_place = #kvc.place<output>}
func.func @value_channel(%p: !p, %u: !vu, %s: !d) -> !o {
  // expected-remark @below {{value scale [d]: output at 512 operations per tile; others: register (49152)}}
  %x = kvc.dequantize %u, %s : !vu, !d to !vx
  %y = kvc.contract %p, %x : !p, !vx to !o
  return %y : !o
}

// A place that is given and legal stays. A minimum may stay on the codes only
// where the scale does.
// CHECK-LABEL: func.func @given(
// CHECK: kvc.dequantize {{.*}} {centre = 8 : i64, scale_place = #kvc.place<register>, zero_kind = "min", zero_place = #kvc.place<register>}
func.func @given(%q: !q, %u: !u, %s: !t, %z: !t) -> !p {
  // expected-remark @below {{key scale [t]: register as asked, at 49152 operations per tile; others: score (256)}}
  // expected-remark @below {{key zero [t]: register as asked, at 8192 operations per tile; others: score (256)}}
  %x = kvc.dequantize %u, %s, %z {centre = 8 : i64, scale_place = #kvc.place<register>, zero_kind = "min", zero_place = #kvc.place<register>} : !u, !t, !t to !x
  %y = kvc.contract %q, %x : !q, !x to !p
  return %y : !p
}

// Raw values have no factors; codes that nothing contracts have no place.
// CHECK-LABEL: func.func @nothing_to_place(
// CHECK-NOT: _place
// CHECK: return
func.func @nothing_to_place(%q: !q, %raw: tensor<64x128xf16, #kvc.dims<t, c>>, %u: !u, %s: !t) -> (!p, !x) {
  %x = kvc.dequantize %raw : tensor<64x128xf16, #kvc.dims<t, c>> to !x
  %y = kvc.contract %q, %x : !q, !x to !p
  // expected-remark @below {{key scale [t]: register by rule, func.return reads the values}}
  %z = kvc.dequantize %u, %s : !u, !t to !x
  return %y, %z : !p, !x
}
