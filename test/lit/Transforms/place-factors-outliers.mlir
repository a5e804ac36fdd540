// RUN: kvc-opt %s --kvc-place-factors=remarks=true --verify-diagnostics | FileCheck %s

// Outliers leave the codes as a product of their own where that costs less than
// a panel of all elements.

!q = tensor<4x128xf32, #kvc.dims<r, c>>
!wide = tensor<64x128xf32, #kvc.dims<r, c>>
!p = tensor<4x64xf32, #kvc.dims<r, t>>
!u = tensor<64x128xi8, #kvc.dims<t, c>>
!vu = tensor<64x128xi8, #kvc.dims<t, d>>
!x = tensor<64x128xf32, #kvc.dims<t, c>>
!vx = tensor<64x128xf32, #kvc.dims<t, d>>
!t = tensor<64xf32, #kvc.dims<t>>
!i = tensor<64x2xf32, #kvc.dims<t, o>>
!many = tensor<64x64xf32, #kvc.dims<t, o>>
!o = tensor<4x128xf32, #kvc.dims<r, d>>

// CHECK-LABEL: func.func @keys(
// CHECK: kvc.dequantize {{.*}} {scale_place = #kvc.place<score>}
// CHECK: kvc.patch {{.*}} {place = #kvc.place<score>}
func.func @keys(%q: !q, %u: !u, %s: !t, %i: !i, %v: !i) -> !p {
  // expected-remark @below {{key outliers [t o]: score at}}
  // expected-remark @below {{key scale [t]: score at 256 operations per tile; others: register (49152)}}
  %x = kvc.dequantize %u, %s : !u, !t to !x
  %k = kvc.patch %x, %i, %v : !x, !i
  %y = kvc.contract %q, %k : !q, !x to !p
  return %y : !p
}

// CHECK-LABEL: func.func @values(
// CHECK: kvc.dequantize {{.*}} {scale_place = #kvc.place<p>}
// CHECK: kvc.patch {{.*}} {place = #kvc.place<output>}
func.func @values(%p: !p, %u: !vu, %s: !t, %i: !i, %v: !i) -> !o {
  // expected-remark @below {{value outliers [t o]: output at}}
  // expected-remark @below {{value scale [t]: p at}}
  %x = kvc.dequantize %u, %s : !vu, !t to !vx
  %k = kvc.patch %x, %i, %v : !vx, !i
  %y = kvc.contract %p, %k : !p, !vx to !o
  return %y : !o
}

// Half of all channels: what stands in registers takes the factors along.
// CHECK-LABEL: func.func @many(
// CHECK: kvc.dequantize {{.*}} {scale_place = #kvc.place<register>}
// CHECK: kvc.patch {{.*}} {place = #kvc.place<register>}
func.func @many(%p: !p, %u: !vu, %s: !t, %i: !many, %v: !many) -> !o {
  // expected-remark @below {{value outliers [t o]: register at}}
  // expected-remark @below {{value scale [t]: register at 49152 operations per tile; no other place is legal}}
  %x = kvc.dequantize %u, %s : !vu, !t to !vx
  %k = kvc.patch %x, %i, %v : !vx, !many
  %y = kvc.contract %p, %k : !p, !vx to !o
  return %y : !o
}

// What something else reads too stays as it is.
// CHECK-LABEL: func.func @shared(
// CHECK: kvc.patch {{.*}} {place = #kvc.place<register>}
func.func @shared(%q: !q, %u: !u, %s: !t, %i: !i, %v: !i) -> (!p, !x) {
  // expected-remark @below {{key outliers [t o]: register at}}
  // expected-remark @below {{key scale [t]: register at 49152 operations per tile; no other place is legal}}
  %x = kvc.dequantize %u, %s : !u, !t to !x
  %k = kvc.patch %x, %i, %v : !x, !i
  %y = kvc.contract %q, %k : !q, !x to !p
  return %y, %k : !p, !x
}
