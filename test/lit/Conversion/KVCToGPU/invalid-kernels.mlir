// What kvk-assign-lanes has not seen.
// RUN: kvc-opt %s --convert-kvc-to-gpu --split-input-file --verify-diagnostics

func.func @no_lanes() {
  // expected-error@below {{expected a tile whose elements lie on lanes, which kvk-assign-lanes says, got 'tensor<4xi32, #kvc.dims<t>>'}}
  %t = kvc.iota : tensor<4xi32, #kvc.dims<t>>
  return
}

// -----

// expected-error@below {{expected a kernel, which has no results, got 'f32'}}
func.func @results(%x: f32) -> f32 {
  return %x : f32
}

// -----

// Two rows, of which the layout knows one.
func.func @fewer_rows() {
  // expected-error@below {{'arith.constant' op layout: expected extent 2 of dim t, got 1}}
  %x = arith.constant {kvk.layouts = [#kvk.layout<lane = [c0, c1, c2, c3, c4]>]} dense<1.0> : tensor<2x32xf32, #kvc.dims<t, c>>
  return
}

// -----

func.func @other_dims() {
  // expected-error@below {{'arith.constant' op layout: expected digits of the tile's dims only}}
  %x = arith.constant {kvk.layouts = [#kvk.layout<reg = [d0], lane = [c0, c1, c2, c3, c4]>]} dense<1.0> : tensor<32xf32, #kvc.dims<c>>
  return
}
