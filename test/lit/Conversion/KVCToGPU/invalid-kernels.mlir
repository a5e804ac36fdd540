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

// -----

// L6: an operand lies where its result does.
func.func @other_lanes() {
  %x = arith.constant {kvk.layouts = [#kvk.layout<reg = [c0], lane = [c1, c2, c3, c4, c5]>]} dense<1.0> : tensor<64xf32, #kvc.dims<c>>
  // expected-error@below {{'math.absf' op layout: expected an operand at "reg c5 | lane c0 c1 c2 c3 c4", got one at "reg c0 | lane c1 c2 c3 c4 c5"}}
  %y = math.absf %x {kvk.layouts = [#kvk.layout<reg = [c5], lane = [c0, c1, c2, c3, c4]>]} : tensor<64xf32, #kvc.dims<c>>
  return
}

// -----

// And the source of a broadcast at the slice of it.
func.func @other_slice() {
  %x = arith.constant {kvk.layouts = [#kvk.layout<lane = [t0, *, *, *, *]>]} dense<1.0> : tensor<2xf32, #kvc.dims<t>>
  // expected-error@below {{'kvc.broadcast' op layout: expected an operand at "lane * * * * t0", got one at "lane t0 * * * *"}}
  %y = kvc.broadcast %x {kvk.layouts = [#kvk.layout<lane = [c0, c1, c2, c3, t0]>]} : tensor<2xf32, #kvc.dims<t>> to tensor<2x16xf32, #kvc.dims<t, c>>
  return
}
