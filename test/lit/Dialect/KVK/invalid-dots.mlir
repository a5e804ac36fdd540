// Every numbered constraint of kvk.widen and kvk.dot, violated once.
// RUN: kvc-opt %s --split-input-file --verify-diagnostics

func.func @widen_c1(%x: !kvk.tile<4x8xi4, #kvc.dims<t, c>>) {
  // expected-error@+1 {{'kvk.widen' op expected equal dims and extents, got}}
  %0 = kvk.widen %x : !kvk.tile<4x8xi4, #kvc.dims<t, c>> to !kvk.tile<8x4xi16, #kvc.dims<c, t>>
  return
}

// -----

func.func @widen_c1_element(%x: !kvk.tile<4x8xi4, #kvc.dims<t, c>>) {
  // expected-error@+1 {{'kvk.widen' op expected result elements f32, i16, f16 or bf16, got 'i8'}}
  %0 = kvk.widen %x : !kvk.tile<4x8xi4, #kvc.dims<t, c>> to !kvk.tile<4x8xi8, #kvc.dims<t, c>>
  return
}

// -----

func.func @widen_c1_raw(%x: !kvk.tile<4x8xf16, #kvc.dims<t, c>>) {
  // expected-error@+1 {{'kvk.widen' op expected result elements f32, got 'i16'}}
  %0 = kvk.widen %x : !kvk.tile<4x8xf16, #kvc.dims<t, c>> to !kvk.tile<4x8xi16, #kvc.dims<t, c>>
  return
}

// -----

func.func @widen_c2(%x: !kvk.tile<4x8xi4, #kvc.dims<t, c>>) {
  // expected-error@+1 {{'kvk.widen' op bias: expected 0 or 8, got 7}}
  %0 = kvk.widen %x {bias = 7 : i64} : !kvk.tile<4x8xi4, #kvc.dims<t, c>> to !kvk.tile<4x8xi16, #kvc.dims<t, c>>
  return
}

// -----

func.func @widen_c2_raw(%x: !kvk.tile<4x8xf16, #kvc.dims<t, c>>) {
  // expected-error@+1 {{'kvk.widen' op bias: expected 0, got 8}}
  %0 = kvk.widen %x {bias = 8 : i64} : !kvk.tile<4x8xf16, #kvc.dims<t, c>> to !kvk.tile<4x8xf32, #kvc.dims<t, c>>
  return
}

// -----

func.func @widen_c2_bits(%x: !kvk.tile<4x8xi16, #kvc.dims<t, c>>) {
  // expected-error@+1 {{'kvk.widen' op expected source elements of 2 to 8 bits, got 'i16'}}
  %0 = kvk.widen %x : !kvk.tile<4x8xi16, #kvc.dims<t, c>> to !kvk.tile<4x8xf32, #kvc.dims<t, c>>
  return
}

// -----

func.func @widen_c3(%x: !kvk.tile<4x8xi8, #kvc.dims<t, c>>) {
  // expected-error@+1 {{'kvk.widen' op format: expected i8 source elements and float result elements, got 'i8' and 'i16'}}
  %0 = kvk.widen %x {format = "fp8_e4m3"} : !kvk.tile<4x8xi8, #kvc.dims<t, c>> to !kvk.tile<4x8xi16, #kvc.dims<t, c>>
  return
}

// -----

func.func @widen_c3_bias(%x: !kvk.tile<4x8xi8, #kvc.dims<t, c>>) {
  // expected-error@+1 {{'kvk.widen' op format: expected no bias and no table}}
  %0 = kvk.widen %x {format = "fp8_e4m3", bias = 128 : i64} : !kvk.tile<4x8xi8, #kvc.dims<t, c>> to !kvk.tile<4x8xf32, #kvc.dims<t, c>>
  return
}

// -----

func.func @widen_c6(%x: !kvk.tile<4x8xi8, #kvc.dims<t, c>>) {
  // expected-error@+1 {{'kvk.widen' op in_place: expected i2 or i4 source elements and f16 result elements, got 'i8' and 'f16'}}
  %0 = kvk.widen %x {in_place} : !kvk.tile<4x8xi8, #kvc.dims<t, c>> to !kvk.tile<4x8xf16, #kvc.dims<t, c>>
  return
}

// -----

func.func @widen_c6_bias(%x: !kvk.tile<4x8xi4, #kvc.dims<t, c>>) {
  // expected-error@+1 {{'kvk.widen' op in_place: expected no bias, no format, no table and no entries}}
  %0 = kvk.widen %x {in_place, bias = 8 : i64} : !kvk.tile<4x8xi4, #kvc.dims<t, c>> to !kvk.tile<4x8xf16, #kvc.dims<t, c>>
  return
}

// -----

func.func @widen_c4(%x: !kvk.tile<4x8xi8, #kvc.dims<t, c>>) {
  // expected-error@+1 {{'kvk.widen' op table: expected source elements of 2 to 4 bits and no bias, got 'i8' and 0}}
  %0 = kvk.widen %x {table = array<f32: 0.0, 1.0, 2.0, 3.0>} : !kvk.tile<4x8xi8, #kvc.dims<t, c>> to !kvk.tile<4x8xf32, #kvc.dims<t, c>>
  return
}

// -----

func.func @widen_c4_entries(%x: !kvk.tile<4x8xi4, #kvc.dims<t, c>>) {
  // expected-error@+1 {{'kvk.widen' op table: expected 16 entries, got 4}}
  %0 = kvk.widen %x {table = array<f32: 0.0, 1.0, 2.0, 3.0>} : !kvk.tile<4x8xi4, #kvc.dims<t, c>> to !kvk.tile<4x8xf32, #kvc.dims<t, c>>
  return
}

// -----

func.func @widen_c4_integers(%x: !kvk.tile<4x8xi2, #kvc.dims<t, c>>) {
  // expected-error@+1 {{'kvk.widen' op table: expected multiples of a power of two, at most 127 times as large}}
  %0 = kvk.widen %x {table = array<f32: 0.0, 1.0, 2.0, 128.0>} : !kvk.tile<4x8xi2, #kvc.dims<t, c>> to !kvk.tile<4x8xi16, #kvc.dims<t, c>>
  return
}

// -----

func.func @dot_c1(%w: memref<4x8xi16>, %x: !kvk.tile<16x8xi16, #kvc.dims<t, c>>, %a: memref<4x16xf32>) {
  // expected-error@+1 {{'kvk.dot' op contract: expected "c" or "t" for a tile, got "minor"}}
  kvk.dot %w, %x into %a {contract = "minor"} : memref<4x8xi16>, !kvk.tile<16x8xi16, #kvc.dims<t, c>> into memref<4x16xf32>
  return
}

// -----

func.func @dot_c1_panel(%w: memref<4x8xf32>, %x: memref<16x8xf32>, %a: memref<4x16xf32>) {
  // expected-error@+1 {{'kvk.dot' op contract: expected "minor" or "major" for a panel, got "c"}}
  kvk.dot %w, %x into %a {contract = "c"} : memref<4x8xf32>, memref<16x8xf32> into memref<4x16xf32>
  return
}

// -----

func.func @dot_c2(%w: memref<4x9xi16>, %x: !kvk.tile<16x8xi16, #kvc.dims<t, c>>, %a: memref<4x16xf32>) {
  // expected-error@+1 {{'kvk.dot' op weights: expected shape [R, K = 8], got}}
  kvk.dot %w, %x into %a {contract = "c"} : memref<4x9xi16>, !kvk.tile<16x8xi16, #kvc.dims<t, c>> into memref<4x16xf32>
  return
}

// -----

func.func @dot_c2_element(%w: memref<4x8xf32>, %x: !kvk.tile<16x8xi16, #kvc.dims<t, c>>, %a: memref<4x16xf32>) {
  // expected-error@+1 {{'kvk.dot' op weights: expected elements 'i16', got 'f32'}}
  kvk.dot %w, %x into %a {contract = "c"} : memref<4x8xf32>, !kvk.tile<16x8xi16, #kvc.dims<t, c>> into memref<4x16xf32>
  return
}

// -----

func.func @dot_c2_tile(%w: memref<4x8xi16>, %x: !kvk.tile<16x8xi4, #kvc.dims<t, c>>, %a: memref<4x16xf32>) {
  // expected-error@+1 {{'kvk.dot' op expected tile elements i16 or f32, got 'i4'}}
  kvk.dot %w, %x into %a {contract = "c"} : memref<4x8xi16>, !kvk.tile<16x8xi4, #kvc.dims<t, c>> into memref<4x16xf32>
  return
}

// -----

func.func @dot_c3(%w: memref<4x8xi16>, %x: !kvk.tile<16x8xi16, #kvc.dims<t, c>>, %a: memref<4x8xf32>) {
  // expected-error@+1 {{'kvk.dot' op acc: expected shape [R = 4, J = 16], got}}
  kvk.dot %w, %x into %a {contract = "c"} : memref<4x8xi16>, !kvk.tile<16x8xi16, #kvc.dims<t, c>> into memref<4x8xf32>
  return
}

// -----

func.func @dot_c4(%w: memref<4x8xi16>, %x: !kvk.tile<16x8xi16, #kvc.dims<t, c>>, %a: memref<4x16xf32>, %f: memref<5xf32>) {
  // expected-error@+1 {{'kvk.dot' op row_scale: expected shape [R = 4], got}}
  kvk.dot %w, %x into %a scale_rows %f {contract = "c"} : memref<4x8xi16>, !kvk.tile<16x8xi16, #kvc.dims<t, c>> into memref<4x16xf32> scale_rows memref<5xf32>
  return
}

// -----

func.func @dot_c4_lanes(%w: memref<4x8xi16>, %x: !kvk.tile<16x8xi16, #kvc.dims<t, c>>, %a: memref<4x16xf32>, %g: memref<16xf16>) {
  // expected-error@+1 {{'kvk.dot' op lane_scale: expected elements 'f32', got 'f16'}}
  kvk.dot %w, %x into %a scale_lanes %g {contract = "c"} : memref<4x8xi16>, !kvk.tile<16x8xi16, #kvc.dims<t, c>> into memref<4x16xf32> scale_lanes memref<16xf16>
  return
}

// -----

func.func @dot_c5(%w: memref<4x8xf32>, %x: memref<?x8xf32>, %a: memref<4x16xf32>) {
  // expected-error@+1 {{'kvk.dot' op x: expected shape [major, minor], got}}
  kvk.dot %w, %x into %a {contract = "minor"} : memref<4x8xf32>, memref<?x8xf32> into memref<4x16xf32>
  return
}

// -----

func.func @dot_l7(%w: memref<4x8xi16>, %x: !kvk.tile<16x8xi16, #kvc.dims<t, c>, #kvk.layout<pack = [t0], reg = [c0, c1, c2], lane = [t1, t2, t3]>>, %a: memref<4x16xf32>) {
  // expected-error@+1 {{'kvk.dot' op layout: expected pack to hold digits of c only, got t0}}
  kvk.dot %w, %x into %a {contract = "c"} : memref<4x8xi16>, !kvk.tile<16x8xi16, #kvc.dims<t, c>, #kvk.layout<pack = [t0], reg = [c0, c1, c2], lane = [t1, t2, t3]>> into memref<4x16xf32>
  return
}

// -----

// Codes of 3 bits fill no whole bytes in blocks of 4.
func.func @dot_c4_small_blocks(%w: memref<4x64xi16>, %x: !kvk.tile<16x64xi16, #kvc.dims<t, c>>, %a: memref<4x16xf32>, %g: memref<16x16xf32>) {
  // expected-error@+1 {{'kvk.dot' op lane_scale: expected one row, or rows for equal blocks of a multiple of 8 channels, got 16 for 64 elements of c}}
  kvk.dot %w, %x into %a scale_lanes %g {contract = "c"} : memref<4x64xi16>, !kvk.tile<16x64xi16, #kvc.dims<t, c>> into memref<4x16xf32> scale_lanes memref<16x16xf32>
  return
}
