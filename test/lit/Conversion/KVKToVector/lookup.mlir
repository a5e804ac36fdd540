// RUN: kvc-opt %s --convert-kvk-to-vector="dot=vnni vector-bits=512" --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: kvc-opt %s --convert-kvk-to-vector="dot=avx2 vector-bits=256" --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: kvc-opt %s --convert-kvk-to-vector --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,PORTABLE

// A table in registers: machine vectors of indices permute it, the rest of them
// too; elsewhere the lowest bit halves the candidates first.

// CHECK-LABEL: func.func @wide(
// CHECK-SAME: %[[CODES:[^:]*]]: vector<40xi8>, %[[TABLE:[^:]*]]: vector<16xf32>
// CHECK: %[[INDEX:.*]] = arith.extui %[[CODES]] : vector<40xi8> to vector<40xi32>
// AVX512: %[[FIRST:.*]] = vector.extract_strided_slice %[[INDEX]] {offsets = [0], sizes = [16], strides = [1]}
// AVX512: llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"(%[[TABLE]], %[[FIRST]])
// AVX512: llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"
// AVX512-COUNT-2: llvm.call_intrinsic "llvm.x86.avx2.permps"
// AVX2-COUNT-10: llvm.call_intrinsic "llvm.x86.avx2.permps"
// PORTABLE-NOT: llvm.call_intrinsic
// PORTABLE-COUNT-15: arith.select {{.*}} : vector<40xi1>, vector<40xf32>
// CHECK: return %{{.*}} : vector<40xf32>
func.func @wide(%codes: vector<40xi8>, %table: vector<16xf32>) -> vector<40xf32> {
  %x = kvk.lookup %codes in %table : vector<40xi8> in vector<16xf32> to vector<40xf32>
  return %x : vector<40xf32>
}

// A table of 8 needs no choice between halves.
// CHECK-LABEL: func.func @narrow(
// AVX512: llvm.call_intrinsic "llvm.x86.avx2.permps"
// AVX2: llvm.call_intrinsic "llvm.x86.avx2.permps"
// AVX2-NOT: arith.select
// PORTABLE-COUNT-7: arith.select
// CHECK: return
func.func @narrow(%codes: vector<8xi8>, %table: vector<8xf32>) -> vector<8xf32> {
  %x = kvk.lookup %codes in %table : vector<8xi8> in vector<8xf32> to vector<8xf32>
  return %x : vector<8xf32>
}
