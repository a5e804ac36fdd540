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
