// Every numbered constraint of the ops on ranges of channels, violated once.
// RUN: kvc-opt %s --split-input-file --verify-diagnostics

func.func @split_c1(%x: tensor<4x8xf32, #kvc.dims<t, c>>) {
  // expected-error@+1 {{'kvc.split' op expected equal element types, got 'f32' and 'i8'}}
  %0 = kvc.split %x : tensor<4x8xf32, #kvc.dims<t, c>> to tensor<4x2x4xi8, #kvc.dims<t, b, e>>
  return
}

// -----

func.func @split_c2(%x: tensor<4x8xf32, #kvc.dims<t, c>>) {
  // expected-error@+1 {{'kvc.split' op expected the dims of the source with the last one in two in the result}}
  %0 = kvc.split %x : tensor<4x8xf32, #kvc.dims<t, c>> to tensor<2x2x8xf32, #kvc.dims<b, e, c>>
  return
}

// -----

func.func @split_c2_rank(%x: tensor<4x8xf32, #kvc.dims<t, c>>) {
  // expected-error@+1 {{'kvc.split' op expected the dims of the source with the last one in two in the result}}
  %0 = kvc.split %x : tensor<4x8xf32, #kvc.dims<t, c>> to tensor<4x8xf32, #kvc.dims<t, e>>
  return
}

// -----

func.func @split_c3(%x: tensor<4x8xf32, #kvc.dims<t, c>>) {
  // expected-error@+1 {{'kvc.split' op expected the last dims of the result to make up 8, got 6}}
  %0 = kvc.split %x : tensor<4x8xf32, #kvc.dims<t, c>> to tensor<4x2x3xf32, #kvc.dims<t, b, e>>
  return
}

// -----

func.func @concat_c1(%x: tensor<4x8xf32, #kvc.dims<t, c>>, %y: tensor<4x8xi8, #kvc.dims<t, c>>) {
  // expected-error@+1 {{'kvc.concat' op expected equal element types, got 'f32' and 'i8'}}
  %0 = kvc.concat %x, %y : tensor<4x8xf32, #kvc.dims<t, c>>, tensor<4x8xi8, #kvc.dims<t, c>> to tensor<4x16xf32, #kvc.dims<t, c>>
  return
}

// -----

func.func @concat_c2(%x: tensor<4x8xf32, #kvc.dims<t, c>>, %y: tensor<2x8xf32, #kvc.dims<t, c>>) {
  // expected-error@+1 {{'kvc.concat' op expected the dims of the result but for the last one, got}}
  %0 = kvc.concat %x, %y : tensor<4x8xf32, #kvc.dims<t, c>>, tensor<2x8xf32, #kvc.dims<t, c>> to tensor<4x16xf32, #kvc.dims<t, c>>
  return
}

// -----

func.func @concat_c3(%x: tensor<4x8xf32, #kvc.dims<t, c>>) {
  // expected-error@+1 {{'kvc.concat' op expected sources of 24 channels together, got 16}}
  %0 = kvc.concat %x, %x : tensor<4x8xf32, #kvc.dims<t, c>>, tensor<4x8xf32, #kvc.dims<t, c>> to tensor<4x24xf32, #kvc.dims<t, c>>
  return
}

// -----

func.func @slice_c1(%x: tensor<4x8xf32, #kvc.dims<t, c>>) {
  // expected-error@+1 {{'kvc.slice' op expected equal element types, got 'f32' and 'i8'}}
  %0 = kvc.slice %x : tensor<4x8xf32, #kvc.dims<t, c>> to tensor<4x4xi8, #kvc.dims<t, c>>
  return
}

// -----

func.func @slice_c2(%x: tensor<4x8xf32, #kvc.dims<t, c>>) {
  // expected-error@+1 {{'kvc.slice' op expected the dims of the source but for the last one, got}}
  %0 = kvc.slice %x : tensor<4x8xf32, #kvc.dims<t, c>> to tensor<2x4xf32, #kvc.dims<t, c>>
  return
}

// -----

func.func @slice_c3(%x: tensor<4x8xf32, #kvc.dims<t, c>>) {
  // expected-error@+1 {{'kvc.slice' op expected channels inside [0, 8), got 4 from 5}}
  %0 = kvc.slice %x {first = 5 : i64} : tensor<4x8xf32, #kvc.dims<t, c>> to tensor<4x4xf32, #kvc.dims<t, c>>
  return
}

// -----

func.func @join_c1(%x: tensor<4x2x4xf32, #kvc.dims<t, b, e>>) {
  // expected-error@+1 {{'kvc.join' op expected equal element types}}
  %0 = kvc.join %x : tensor<4x2x4xf32, #kvc.dims<t, b, e>> to tensor<4x8xi8, #kvc.dims<t, c>>
  return
}

// -----

func.func @join_c2(%x: tensor<4x2x4xf32, #kvc.dims<t, b, e>>) {
  // expected-error@+1 {{'kvc.join' op expected the dims of the result with the last one in two in the source}}
  %0 = kvc.join %x : tensor<4x2x4xf32, #kvc.dims<t, b, e>> to tensor<8x4xf32, #kvc.dims<c, e>>
  return
}

// -----

func.func @join_c3(%x: tensor<4x2x4xf32, #kvc.dims<t, b, e>>) {
  // expected-error@+1 {{'kvc.join' op expected the last dims of the source to make up 9, got 8}}
  %0 = kvc.join %x : tensor<4x2x4xf32, #kvc.dims<t, b, e>> to tensor<4x9xf32, #kvc.dims<t, c>>
  return
}
