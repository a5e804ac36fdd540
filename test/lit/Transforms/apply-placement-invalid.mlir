// RUN: kvc-opt %s --kvc-apply-placement --split-input-file --verify-diagnostics

!q = tensor<4x128xf32, #kvc.dims<r, c>>
!p = tensor<4x64xf32, #kvc.dims<r, t>>
!u = tensor<64x128xi8, #kvc.dims<t, c>>
!x = tensor<64x128xf32, #kvc.dims<t, c>>
!t = tensor<64xf32, #kvc.dims<t>>

// Nothing was planned.
func.func @open(%q: !q, %u: !u, %s: !t) -> !p {
  // expected-error @below {{has a factor without a place; run kvc-place-factors first}}
  %x = kvc.dequantize %u, %s : !u, !t to !x
  %y = kvc.contract %q, %x : !q, !x to !p
  return %y : !p
}

// -----

!q = tensor<4x128xf32, #kvc.dims<r, c>>
!p = tensor<4x64xf32, #kvc.dims<r, t>>
!u = tensor<64x128xi8, #kvc.dims<t, c>>
!x = tensor<64x128xf32, #kvc.dims<t, c>>
!t = tensor<64xf32, #kvc.dims<t>>

// The zero's place is open.
func.func @open_zero(%q: !q, %u: !u, %s: !t, %z: !t) -> !p {
  // expected-error @below {{has a factor without a place; run kvc-place-factors first}}
  %x = kvc.dequantize %u, %s, %z {scale_place = #kvc.place<score>, zero_kind = "min"} : !u, !t, !t to !x
  %y = kvc.contract %q, %x : !q, !x to !p
  return %y : !p
}

// -----

!q = tensor<4x128xf32, #kvc.dims<r, c>>
!p = tensor<4x64xf32, #kvc.dims<r, t>>
!u = tensor<64x128xi8, #kvc.dims<t, c>>
!x = tensor<64x128xf32, #kvc.dims<t, c>>
!t = tensor<64xf32, #kvc.dims<t>>

// Places that the pass would get wrong are refused, whoever wrote them.
func.func @illegal(%q: !q, %u: !u, %s: !t) -> !p {
  // expected-error @below {{scale cannot go to place query}}
  %x = kvc.dequantize %u, %s {scale_place = #kvc.place<query>} : !u, !t to !x
  %y = kvc.contract %q, %x : !q, !x to !p
  return %y : !p
}

// -----

!p = tensor<4x64xf32, #kvc.dims<r, t>>
!u = tensor<64x128xi8, #kvc.dims<t, d>>
!x = tensor<64x128xf32, #kvc.dims<t, d>>
!t = tensor<64xf32, #kvc.dims<t>>
!o = tensor<4x128xf32, #kvc.dims<r, d>>

func.func @illegal_zero(%p: !p, %u: !u, %s: !t, %z: !t) -> !o {
  // expected-error @below {{zero cannot go to place p}}
  %x = kvc.dequantize %u, %s, %z {scale_place = #kvc.place<p>, zero_kind = "min", zero_place = #kvc.place<p>} : !u, !t, !t to !x
  %y = kvc.contract %p, %x : !p, !x to !o
  return %y : !o
}

// -----

func.func @outliers_without_place(%q: tensor<4x128xf32, #kvc.dims<r, c>>, %u: tensor<64x128xi8, #kvc.dims<t, c>>, %s: tensor<64xf32, #kvc.dims<t>>, %i: tensor<64x2xf32, #kvc.dims<t, o>>) -> tensor<4x64xf32, #kvc.dims<r, t>> {
  %x = kvc.dequantize %u, %s {scale_place = #kvc.place<score>} : tensor<64x128xi8, #kvc.dims<t, c>>, tensor<64xf32, #kvc.dims<t>> to tensor<64x128xf32, #kvc.dims<t, c>>
  // expected-error @+1 {{'kvc.patch' op has no place; run kvc-place-factors first}}
  %k = kvc.patch %x, %i, %i : tensor<64x128xf32, #kvc.dims<t, c>>, tensor<64x2xf32, #kvc.dims<t, o>>
  %y = kvc.contract %q, %k : tensor<4x128xf32, #kvc.dims<r, c>>, tensor<64x128xf32, #kvc.dims<t, c>> to tensor<4x64xf32, #kvc.dims<r, t>>
  return %y : tensor<4x64xf32, #kvc.dims<r, t>>
}
