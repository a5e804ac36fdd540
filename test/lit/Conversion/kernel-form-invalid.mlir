// What no kernel is: conversions say so, whatever else the functions hold.
// RUN: kvc-opt %s --convert-kvc-to-kvk --split-input-file --verify-diagnostics
// RUN: kvc-opt %s --convert-kvc-to-gpu --split-input-file --verify-diagnostics

// Declarations have nothing to convert.
func.func private @declared()

// -----

// expected-error@below {{expected one block, got 2}}
func.func @blocks(%n: index) {
  cf.br ^next(%n : index)
^next(%m: index):
  return
}

// -----

// expected-error@below {{expected arguments that are no tiles, got 'tensor<4x128xf32, #kvc.dims<r, c>>'}}
func.func @taken(%q: tensor<4x128xf32, #kvc.dims<r, c>>) {
  %y = arith.addf %q, %q : tensor<4x128xf32, #kvc.dims<r, c>>
  return
}

// -----

// expected-error@below {{expected results that are no tiles, got 'tensor<4xi32, #kvc.dims<t>>'}}
func.func @given() -> tensor<4xi32, #kvc.dims<t>> {
  %t = kvc.iota : tensor<4xi32, #kvc.dims<t>>
  return %t : tensor<4xi32, #kvc.dims<t>>
}
