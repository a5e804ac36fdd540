// RUN: kvc-opt %s --convert-kernel-abi | FileCheck %s
// RUN: kvc-opt %s --convert-kernel-abi="mxcsr=false" | FileCheck %s --check-prefix=BARE
// RUN: kvc-opt %s --convert-kernel-abi --finalize-memref-to-llvm --convert-arith-to-llvm --reconcile-unrealized-casts | FileCheck %s --check-prefix=LLVM

// Slots of 8 bytes: the view at 0, the memref's pointer behind it, its dynamic
// strides, outermost first, then the index.
// CHECK: llvm.func internal @kvc_decode_body(%[[ARGS:.*]]: !llvm.ptr) attributes {no_inline, no_unwind} {
// CHECK: llvm.getelementptr %[[ARGS]][0]
// CHECK: %[[BASE:.*]] = llvm.getelementptr %[[ARGS]]{{\[}}[[#SLOT:]]{{\]}}
// CHECK: llvm.load %[[BASE]] invariant {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
// CHECK: llvm.getelementptr %[[ARGS]]{{\[}}[[#SLOT+8]]{{\]}}
// CHECK: llvm.getelementptr %[[ARGS]]{{\[}}[[#SLOT+16]]{{\]}}
// CHECK: unrealized_conversion_cast {{.*}} to memref<?x?x8xf32, strided<[?, ?, 1]>>
// CHECK: llvm.getelementptr %[[ARGS]]{{\[}}[[#SLOT+24]]{{\]}}
// CHECK: arith.index_cast {{.*}} : i64 to index
// CHECK: llvm.return

// Attributes that the kernel's table needs stay with the entry.
// CHECK: llvm.func @kvc_decode(%[[ARGS:.*]]: !llvm.ptr) attributes {kvc.kernel = "decode", kvc.tile_rows = 4 : i64, no_unwind} {
// CHECK: llvm.call_intrinsic "llvm.x86.sse.stmxcsr"(%[[SAVED:.*]])
// CHECK: %[[WORD:.*]] = llvm.mlir.constant(8064 : i32)
// CHECK: llvm.store %[[WORD]], %[[WANTED:.*]] :
// CHECK: llvm.call_intrinsic "llvm.x86.sse.ldmxcsr"(%[[WANTED]])
// CHECK: llvm.call @kvc_decode_body(%[[ARGS]])
// CHECK: llvm.call_intrinsic "llvm.x86.sse.ldmxcsr"(%[[SAVED]])
// CHECK: llvm.return

// BARE: llvm.func @kvc_decode(%{{.*}}: !llvm.ptr) attributes {kvc.kernel = "decode", kvc.tile_rows = 4 : i64, no_unwind} {
// BARE-NOT: mxcsr
// LLVM-NOT: unrealized_conversion_cast
func.func @f(%view: !llvm.ptr {kvc.cache_view}, %m: memref<?x?x8xf32, strided<[?, ?, 1]>>, %i: index) attributes {kvc.kernel = "decode", kvc.tile_rows = 4 : i64} {
  %c1 = arith.constant 1 : index
  %0 = memref.load %m[%i, %c1, %c1] : memref<?x?x8xf32, strided<[?, ?, 1]>>
  memref.store %0, %m[%c1, %i, %c1] : memref<?x?x8xf32, strided<[?, ?, 1]>>
  %1 = llvm.load %view : !llvm.ptr -> i64
  llvm.store %1, %view : i64, !llvm.ptr
  return
}

// Functions without a kernel's name are left alone.
// CHECK: func.func private @helper(index)
func.func private @helper(index)
