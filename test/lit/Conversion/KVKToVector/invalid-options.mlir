// RUN: not kvc-opt %s --convert-kvk-to-vector="dot=neon" 2>&1 | FileCheck %s --check-prefix=DOT
// RUN: not kvc-opt %s --convert-kvk-to-vector="vector-bits=384" 2>&1 | FileCheck %s --check-prefix=BITS

// DOT: option 'dot': expected portable, avx2, avx512 or vnni, got 'neon'
// BITS: option 'vector-bits': expected 128, 256 or 512, got 384
module {}
