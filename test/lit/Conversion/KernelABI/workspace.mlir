// Buffers that together are too large for a stack lie in the workspace, the
// largest ones first, 64 bytes apart; the rest stays on the stack.
// RUN: kvc-opt %s --convert-kernel-abi="mxcsr=false" | FileCheck %s

// CHECK-LABEL: llvm.func @kvc_append(
// CHECK-SAME: kvc.workspace_bytes = 1601600 : i64
// CHECK-DAG: memref.alloca() {alignment = 64 : i64} : memref<100x1000xf32>
// CHECK-DAG: %[[FIRST:.*]] = arith.constant 0 : index
// CHECK-DAG: memref.view %[[SPACE:.*]][%[[FIRST]]][] : memref<?xi8> to memref<100192x2xf32>
// CHECK-DAG: %[[SECOND:.*]] = arith.constant 801536 : index
// CHECK-DAG: memref.view %[[SPACE]][%[[SECOND]]][] : memref<?xi8> to memref<200001xf32>
func.func @large(%m: memref<?xf32>, %i: index, %workspace: memref<?xi8>) attributes {kvc.kernel = "append"} {
  %0 = memref.alloca() {alignment = 64 : i64} : memref<100x1000xf32>
  %1 = memref.alloca() {alignment = 64 : i64} : memref<200001xf32>
  %2 = memref.alloca() {alignment = 64 : i64} : memref<100192x2xf32>
  %3 = memref.load %m[%i] : memref<?xf32>
  memref.store %3, %0[%i, %i] : memref<100x1000xf32>
  memref.store %3, %1[%i] : memref<200001xf32>
  memref.store %3, %2[%i, %i] : memref<100192x2xf32>
  return
}

// CHECK-LABEL: llvm.func @kvc_prefill(
// CHECK-NOT: kvc.workspace_bytes
// CHECK-NOT: memref.view
// CHECK: llvm.return
func.func @small(%m: memref<?xf32>, %i: index, %workspace: memref<?xi8>) attributes {kvc.kernel = "prefill"} {
  %0 = memref.alloca() {alignment = 64 : i64} : memref<100x1000xf32>
  %1 = memref.load %m[%i] : memref<?xf32>
  memref.store %1, %0[%i, %i] : memref<100x1000xf32>
  return
}

// A kernel without a workspace has its stack.
// CHECK-LABEL: llvm.func @kvc_decode(
// CHECK-NOT: memref.view
// CHECK: llvm.return
func.func @none(%m: memref<?xf32>, %i: index) attributes {kvc.kernel = "decode"} {
  %0 = memref.alloca() {alignment = 64 : i64} : memref<1000x1000xf32>
  %1 = memref.load %m[%i] : memref<?xf32>
  memref.store %1, %0[%i, %i] : memref<1000x1000xf32>
  return
}
