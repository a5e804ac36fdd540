// RUN: kvc-opt %s --convert-kvc-to-kvk --canonicalize | FileCheck %s

// Tiles that a loop carries lie in scratches that are overwritten at its end. One
// that becomes another argument's is saved before.

// CHECK-LABEL: func.func @delayed
// CHECK:         scf.for %{{.*}} = %{{.*}} to %arg5
// CHECK:           vector.load %[[A:[a-z_0-9]+]][
// CHECK:           vector.load %[[B:[a-z_0-9]+]][
// CHECK:           vector.store %{{.*}}, %[[SUM:[a-z_0-9]+]][
// CHECK:           vector.load %[[A]][
// CHECK-NEXT:      vector.store %{{.*}}, %[[SAVED:[a-z_0-9]+]][
// CHECK:           vector.load %[[SUM]][
// CHECK-NEXT:      vector.store %{{.*}}, %[[A]][
// CHECK:           vector.load %[[SAVED]][
// CHECK-NEXT:      vector.store %{{.*}}, %[[B]][
func.func @delayed(%q: memref<?x?x16xf32, strided<[?, ?, 1]>>, %out: memref<?x16xf32>, %head: index, %row: index, %end: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = kvc.load_query %q[%row to %end, %head] group 4 : memref<?x?x16xf32, strided<[?, ?, 1]>> to tensor<4x16xf32, #kvc.dims<r, c>>
  %two = arith.addf %one, %one : tensor<4x16xf32, #kvc.dims<r, c>>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %one, %b = %two) -> (tensor<4x16xf32, #kvc.dims<r, c>>, tensor<4x16xf32, #kvc.dims<r, c>>) {
    %sum = arith.addf %a, %b : tensor<4x16xf32, #kvc.dims<r, c>>
    scf.yield %sum, %a : tensor<4x16xf32, #kvc.dims<r, c>>, tensor<4x16xf32, #kvc.dims<r, c>>
  }
  kvc.store_partial %r#0, %out[%row to %end] : tensor<4x16xf32, #kvc.dims<r, c>>, memref<?x16xf32>
  kvc.store_partial %r#1, %out[%row to %end] : tensor<4x16xf32, #kvc.dims<r, c>>, memref<?x16xf32>
  return
}
