// RUN: kvc-opt %s --kvc-place-factors --split-input-file --verify-diagnostics

// Places that are given and not legal.

!q = tensor<4x128xf32, #kvc.dims<r, c>>
!p = tensor<4x64xf32, #kvc.dims<r, t>>
!u = tensor<64x128xi8, #kvc.dims<t, c>>
!x = tensor<64x128xf32, #kvc.dims<t, c>>
!t = tensor<64xf32, #kvc.dims<t>>

// The query knows no tokens.
func.func @query(%q: !q, %u: !u, %s: !t) -> !p {
  // expected-error @below {{scale of the key cannot go to place query, legal: score (256), register (49152)}}
  %x = kvc.dequantize %u, %s {scale_place = #kvc.place<query>} : !u, !t to !x
  %y = kvc.contract %q, %x : !q, !x to !p
  return %y : !p
}

// -----

!q = tensor<4x128xf32, #kvc.dims<r, c>>
!p = tensor<4x64xf32, #kvc.dims<r, t>>
!u = tensor<64x128xi8, #kvc.dims<t, c>>
!x = tensor<64x128xf32, #kvc.dims<t, c>>
!t = tensor<64xf32, #kvc.dims<t>>

// s * u + m: without s, m cannot be added to u.
func.func @min(%q: !q, %u: !u, %s: !t, %z: !t) -> !p {
  // expected-error @below {{zero of the key cannot go to place register, legal: score (256)}}
  %x = kvc.dequantize %u, %s, %z {centre = 8 : i64, zero_kind = "min", zero_place = #kvc.place<register>} : !u, !t, !t to !x
  %y = kvc.contract %q, %x : !q, !x to !p
  return %y : !p
}

// -----

!p = tensor<4x64xf32, #kvc.dims<r, t>>
!u = tensor<64x128xi8, #kvc.dims<t, d>>
!x = tensor<64x128xf32, #kvc.dims<t, d>>
!t = tensor<64xf32, #kvc.dims<t>>
!o = tensor<4x128xf32, #kvc.dims<r, d>>

// Tokens are summed over: their scale cannot wait for the output.
func.func @output(%p: !p, %u: !u, %s: !t) -> !o {
  // expected-error @below {{scale of the value cannot go to place output, legal: p (256), register (49152)}}
  %x = kvc.dequantize %u, %s {scale_place = #kvc.place<output>} : !u, !t to !x
  %y = kvc.contract %p, %x : !p, !x to !o
  return %y : !o
}

// -----

!q = tensor<4x4x24xf32, #kvc.dims<r, b, e>>
!p = tensor<4x64xf32, #kvc.dims<r, t>>
!u = tensor<64x4x24xi8, #kvc.dims<t, b, e>>
!x = tensor<64x4x24xf32, #kvc.dims<t, b, e>>
!tb = tensor<64x4xf32, #kvc.dims<t, b>>

// Blocks of 24 of 96 channels are no whole number of 16 lanes.
func.func @partial(%q: !q, %u: !u, %s: !tb) -> !p {
  // expected-error @below {{scale of the key cannot go to place partial, legal: register (36864)}}
  %x = kvc.dequantize %u, %s {scale_place = #kvc.place<partial>} : !u, !tb to !x
  %y = kvc.contract %q, %x : !q, !x to !p
  return %y : !p
}
