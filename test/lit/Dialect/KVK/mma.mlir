// RUN: kvc-opt %s --split-input-file --verify-diagnostics | kvc-opt --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @mma
func.func @mma(%k: !kvk.tile<64x128xf16, #kvc.dims<t, c>>, %q: tensor<8x128xf16, #kvc.dims<r, c>>, %a: tensor<8x64xf32, #kvc.dims<r, t>>) {
  // CHECK: kvk.mma %arg0, %arg1 : !kvk.tile<64x128xf16, #kvc.dims<t, c>>, tensor<8x128xf16, #kvc.dims<r, c>> to tensor<8x64xf32, #kvc.dims<r, t>>
  %0 = kvk.mma %k, %q : !kvk.tile<64x128xf16, #kvc.dims<t, c>>, tensor<8x128xf16, #kvc.dims<r, c>> to tensor<8x64xf32, #kvc.dims<r, t>>
  // CHECK: kvk.mma %arg0, %arg1 acc %arg2 :
  %1 = kvk.mma %k, %q acc %a : !kvk.tile<64x128xf16, #kvc.dims<t, c>>, tensor<8x128xf16, #kvc.dims<r, c>> to tensor<8x64xf32, #kvc.dims<r, t>> acc tensor<8x64xf32, #kvc.dims<r, t>>
  // CHECK: kvk.convert_layout %{{.*}} {kvk.layouts = [#{{.*}}]} : tensor<8x64xf32, #kvc.dims<r, t>>
  %2 = kvk.convert_layout %1 {kvk.layouts = [#kvk.layout<reg = [r0, t3, t4, t5], lane = [r1, r2, t0, t1, t2]>]} : tensor<8x64xf32, #kvc.dims<r, t>>
  return
}

// -----

func.func @mma_c1(%k: tensor<16x16xf16, #kvc.dims<t, c>>, %q: tensor<8x32xf16, #kvc.dims<r, c>>) {
  // expected-error@+1 {{'kvk.mma' op expected operands of two dims that share one, got}}
  %0 = kvk.mma %k, %q : tensor<16x16xf16, #kvc.dims<t, c>>, tensor<8x32xf16, #kvc.dims<r, c>> to tensor<8x16xf32, #kvc.dims<r, t>>
  return
}

// -----

func.func @mma_c2(%k: tensor<16x16xf16, #kvc.dims<t, c>>, %q: tensor<8x16xf16, #kvc.dims<r, c>>) {
  // expected-error@+1 {{'kvk.mma' op expected a result with the dims t and r, got}}
  %0 = kvk.mma %k, %q : tensor<16x16xf16, #kvc.dims<t, c>>, tensor<8x16xf16, #kvc.dims<r, c>> to tensor<8x16xf32, #kvc.dims<r, d>>
  return
}

// -----

func.func @mma_c3(%k: tensor<16x16xf16, #kvc.dims<t, c>>, %q: tensor<8x16xbf16, #kvc.dims<r, c>>) {
  // expected-error@+1 {{'kvk.mma' op expected operands of f16 or of bf16, got}}
  %0 = kvk.mma %k, %q : tensor<16x16xf16, #kvc.dims<t, c>>, tensor<8x16xbf16, #kvc.dims<r, c>> to tensor<8x16xf32, #kvc.dims<r, t>>
  return
}

// -----

// L8: the element type stays.
func.func @convert_layout_element(%a: tensor<8x16xf32, #kvc.dims<r, t>>) {
  // expected-error@+1 {{'kvk.convert_layout' op requires the same type for all operands and results}}
  %0 = "kvk.convert_layout"(%a) : (tensor<8x16xf32, #kvc.dims<r, t>>) -> tensor<8x16xf16, #kvc.dims<r, t>>
  return
}

// -----

// L8: the shape stays.
func.func @convert_layout_shape(%a: tensor<8x16xf32, #kvc.dims<r, t>>) {
  // expected-error@+1 {{'kvk.convert_layout' op requires the same type for all operands and results}}
  %0 = "kvk.convert_layout"(%a) : (tensor<8x16xf32, #kvc.dims<r, t>>) -> tensor<16x8xf32, #kvc.dims<r, t>>
  return
}

// -----

// L8: and the dims.
func.func @convert_layout_dims(%a: tensor<16x16xf32, #kvc.dims<r, t>>) {
  // expected-error@+1 {{'kvk.convert_layout' op requires the same encoding for all operands and results}}
  %0 = "kvk.convert_layout"(%a) : (tensor<16x16xf32, #kvc.dims<r, t>>) -> tensor<16x16xf32, #kvc.dims<t, r>>
  return
}
