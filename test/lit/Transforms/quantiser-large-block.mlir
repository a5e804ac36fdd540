// RUN: kvc-opt %s -split-input-file --kvc-create-kernels --kvc-schedule --kvc-expand | FileCheck %s

// The first element of largest magnitude in a block of 2^25: f32 does not tell so
// many numbers apart, so the first token of such an element is found, then the
// first channel in it.

#large = #kvc.spec<name = "large", attention = #kvc.attention<{head_dim = 512, kv_heads = 1, q_heads = 1}>, io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", estimate = "signed", scale = {channels = "all", dtype = "f16", tokens = 65536}}>, value = #kvc.scheme<{codec = "f16"}>, segments = #kvc.segments<{recent = 65536}>>
module {
  kvc.attention_spec @large #large
}

// CHECK-LABEL: func.func @append(
// CHECK:         %[[AMAX:.*]] = kvc.reduce maximumf
// CHECK:         %[[TOKENS:.*]] = kvc.iota : tensor<65536xi32, #kvc.dims<t>>
// CHECK-NEXT:    %[[F:.*]] = arith.sitofp %[[TOKENS]]
// CHECK-NEXT:    %[[NUMBER:.*]] = kvc.broadcast %[[F]]
// CHECK-NEXT:    %[[LARGEST:.*]] = arith.select %{{.*}}, %[[NUMBER]], %{{.*}}
// CHECK-NEXT:    %[[TOKEN:.*]] = kvc.reduce minimumf %[[LARGEST]]
// CHECK:         %[[OF_TOKEN:.*]] = kvc.broadcast %[[TOKEN]]
// CHECK-NEXT:    %[[IN_TOKEN:.*]] = arith.cmpf oeq, %{{.*}}, %[[OF_TOKEN]]
// CHECK-NEXT:    %[[BOTH:.*]] = arith.andi %{{.*}}, %[[IN_TOKEN]]
// CHECK-NEXT:    %[[CHANNELS:.*]] = kvc.iota : tensor<512xi32, #kvc.dims<e>>
// CHECK:         %[[LARGEST2:.*]] = arith.select %[[BOTH]]
// CHECK-NEXT:    %[[CHANNEL:.*]] = kvc.reduce minimumf %[[LARGEST2]]
// CHECK:         %[[ONE:.*]] = arith.andi
// CHECK-NEXT:    %[[KEPT:.*]] = arith.select %[[ONE]]
// CHECK-NEXT:    kvc.reduce add %[[KEPT]]

// -----

// Nor does it tell so many tokens apart: they are counted by two digits.

#many = #kvc.spec<name = "many", attention = #kvc.attention<{head_dim = 16, kv_heads = 1, q_heads = 1}>, io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "int4", estimate = "signed", scale = {channels = "all", dtype = "f16", tokens = 33554432}}>, value = #kvc.scheme<{codec = "f16"}>, segments = #kvc.segments<{recent = 33554432}>>
module {
  kvc.attention_spec @many #many
}

// CHECK-LABEL: func.func @append(
// CHECK:         %[[AMAX:.*]] = kvc.reduce maximumf
// CHECK:         %[[TOKENS:.*]] = kvc.iota : tensor<33554432xi32, #kvc.dims<t>>
// CHECK-NEXT:    %[[HIGH:.*]] = arith.divui %[[TOKENS]], %{{.*}}
// CHECK-NEXT:    arith.sitofp %[[HIGH]]
// CHECK:         kvc.reduce minimumf
// CHECK:         %[[LOW:.*]] = arith.remui %{{.*}}, %{{.*}} : tensor<33554432xi32, #kvc.dims<t>>
// CHECK-NEXT:    arith.sitofp %[[LOW]]
// CHECK:         kvc.reduce minimumf
// CHECK:         kvc.iota : tensor<16xi32, #kvc.dims<e>>
// CHECK:         kvc.reduce minimumf
// CHECK:         kvc.reduce add

// -----

// The elements that outliers leave of a block of more than 2^24 are counted in
// f64.

#counted = #kvc.spec<name = "counted", attention = #kvc.attention<{head_dim = 512, kv_heads = 1, q_heads = 1}>, io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "lut", table = [-1.0, -0.5, 0.5, 1.0], estimate = "rms", outliers = 1, scale = {channels = "all", dtype = "f16", tokens = 65536}}>, value = #kvc.scheme<{codec = "f16"}>, segments = #kvc.segments<{recent = 65536}>>
module {
  kvc.attention_spec @counted #counted
}

// CHECK-LABEL: func.func @append(
// CHECK:         kvc.reduce pairwise_add
// CHECK:         %[[LEFT:.*]] = kvc.reduce add %{{.*}} : tensor<65536x1x512xf64, #kvc.dims<t, b, e>> to tensor<1xf64, #kvc.dims<b>>
// CHECK:         arith.truncf %[[LEFT]]
