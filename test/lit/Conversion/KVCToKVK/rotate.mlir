// RUN: kvc-opt %s --convert-kvc-to-kvk --canonicalize | FileCheck %s

// 24 channels are three pieces of 8 lanes. Strides below 4 exchange lanes; f32(1 /
// sqrt(4)) comes last. No flag lets a sum be rounded otherwise.

// CHECK-LABEL: func.func @inside
// CHECK-NOT:     fastmath
// CHECK:         %[[X:.*]] = vector.load %{{.*}} : memref<?x?x24xf32>, vector<24xf32>
// CHECK:         %[[P:.*]] = vector.extract_strided_slice %[[X]] {offsets = [0], sizes = [8], strides = [1]}
// CHECK:         %[[A:.*]] = vector.shuffle %[[P]], %{{.*}} [0, 0, 2, 2, 4, 4, 6, 6]
// CHECK:         %[[B:.*]] = vector.shuffle %[[P]], %{{.*}} [1, 1, 3, 3, 5, 5, 7, 7]
// CHECK:         %[[SUM:.*]] = arith.addf %[[A]], %[[B]]
// CHECK:         %[[DIFFERENCE:.*]] = arith.subf %[[A]], %[[B]]
// CHECK:         %[[ONE:.*]] = vector.shuffle %[[SUM]], %[[DIFFERENCE]] [0, 9, 2, 11, 4, 13, 6, 15]
// CHECK:         vector.shuffle %[[ONE]], %{{.*}} [0, 1, 0, 1, 4, 5, 4, 5]
// CHECK:         vector.shuffle %[[ONE]], %{{.*}} [2, 3, 2, 3, 6, 7, 6, 7]
// CHECK-COUNT-3: arith.mulf {{.*}} : vector<8xf32>
// CHECK:         vector.store %{{.*}} : memref<?x24xf32>, vector<24xf32>
func.func @inside(%in: memref<?x?x24xf32>, %out: memref<?x24xf32>, %row: index, %end: index) {
  %x = kvc.load_partial %in[%row, %row to %end] : memref<?x?x24xf32> to tensor<4x24xf32, #kvc.dims<r, d>>
  %y = kvc.rotate %x {block = 4} : tensor<4x24xf32, #kvc.dims<r, d>>
  kvc.store_partial %y, %out[%row to %end] : tensor<4x24xf32, #kvc.dims<r, d>>, memref<?x24xf32>
  return
}

// Strides of 16 and more move nothing: 64 channels in blocks of 32 are two pairs
// of pieces.

// CHECK-LABEL: func.func @between
// CHECK-COUNT-4: vector.extract_strided_slice
// CHECK-COUNT-48: vector.shuffle
// CHECK-NOT:     vector.shuffle
// CHECK:         arith.addf
// CHECK-NEXT:    arith.subf
// CHECK-NEXT:    arith.addf
// CHECK-NEXT:    arith.subf
// CHECK-NOT:     arith.addf
// CHECK-COUNT-4: arith.mulf
func.func @between(%in: memref<?x?x64xf32>, %out: memref<?x64xf32>, %row: index, %end: index) {
  %x = kvc.load_partial %in[%row, %row to %end] : memref<?x?x64xf32> to tensor<4x64xf32, #kvc.dims<r, d>>
  %y = kvc.rotate %x {block = 32} : tensor<4x64xf32, #kvc.dims<r, d>>
  kvc.store_partial %y, %out[%row to %end] : tensor<4x64xf32, #kvc.dims<r, d>>, memref<?x64xf32>
  return
}
