// What a score region must not be: C7 to C9 of kvc.attend, C1 of a declaration.
// RUN: kvc-opt %s --split-input-file --verify-diagnostics

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @attend_c7(%c: !kvc.cache<#s>, %q: memref<?x?x128xf16>, %o: memref<?x128xf32>, %l: memref<?xf32>, %i: index) {
  // expected-error@+1 {{'kvc.attend' op score region: expected arguments (score: f32, query: i32, key: i32, head: i32, kv_head: i32), got types ('f32', 'i32', 'i32', 'i32')}}
  kvc.attend %q, %c[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %o, %l
    score(%score: f32, %query: i32, %key: i32, %head: i32) {
      kvc.yield %score : f32
    } : memref<?x?x128xf16>, !kvc.cache<#s>, memref<?x128xf32>, memref<?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @attend_c7_index(%c: !kvc.cache<#s>, %q: memref<?x?x128xf16>, %o: memref<?x128xf32>, %l: memref<?xf32>, %i: index) {
  // expected-error@+1 {{'kvc.attend' op score region: expected arguments (score: f32, query: i32, key: i32, head: i32, kv_head: i32), got types}}
  kvc.attend %q, %c[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %o, %l
    score(%score: f32, %query: index, %key: index, %head: i32, %kv_head: i32) {
      kvc.yield %score : f32
    } : memref<?x?x128xf16>, !kvc.cache<#s>, memref<?x128xf32>, memref<?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @attend_c7_f16(%c: !kvc.cache<#s>, %q: memref<?x?x128xf16>, %o: memref<?x128xf32>, %l: memref<?xf32>, %i: index) {
  // expected-error@+1 {{'kvc.attend' op score region: expected arguments (score: f32, query: i32, key: i32, head: i32, kv_head: i32), got types}}
  kvc.attend %q, %c[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %o, %l
    score(%score: f16, %query: i32, %key: i32, %head: i32, %kv_head: i32) {
      %x = arith.extf %score : f16 to f32
      kvc.yield %x : f32
    } : memref<?x?x128xf16>, !kvc.cache<#s>, memref<?x128xf32>, memref<?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @attend_c7_end(%c: !kvc.cache<#s>, %q: memref<?x?x128xf16>, %o: memref<?x128xf32>, %l: memref<?xf32>, %i: index) {
  // expected-error@+1 {{'kvc.attend' op score region: expected kvc.yield at its end, got llvm.unreachable}}
  kvc.attend %q, %c[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %o, %l
    score(%score: f32, %query: i32, %key: i32, %head: i32, %kv_head: i32) {
      llvm.unreachable
    } : memref<?x?x128xf16>, !kvc.cache<#s>, memref<?x128xf32>, memref<?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @attend_c8(%c: !kvc.cache<#s>, %q: memref<?x?x128xf16>, %o: memref<?x128xf32>, %l: memref<?xf32>, %i: index) {
  kvc.attend %q, %c[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %o, %l
    score(%score: f32, %query: i32, %key: i32, %head: i32, %kv_head: i32) {
      // expected-error@+1 {{'math.erf' op in a score region: expected an operation of arith or math that kvc.attend lists}}
      %x = math.erf %score : f32
      kvc.yield %x : f32
    } : memref<?x?x128xf16>, !kvc.cache<#s>, memref<?x128xf32>, memref<?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @attend_c8_if(%c: !kvc.cache<#s>, %q: memref<?x?x128xf16>, %o: memref<?x128xf32>, %l: memref<?xf32>, %i: index) {
  kvc.attend %q, %c[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %o, %l
    score(%score: f32, %query: i32, %key: i32, %head: i32, %kv_head: i32) {
      %t = arith.cmpi eq, %query, %key : i32
      // expected-error@+1 {{'scf.if' op in a score region: expected an operation of arith or math}}
      %x = scf.if %t -> (f32) {
        scf.yield %score : f32
      } else {
        scf.yield %score : f32
      }
      kvc.yield %x : f32
    } : memref<?x?x128xf16>, !kvc.cache<#s>, memref<?x128xf32>, memref<?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @attend_c8_type(%c: !kvc.cache<#s>, %q: memref<?x?x128xf16>, %o: memref<?x128xf32>, %l: memref<?xf32>, %i: index) {
  kvc.attend %q, %c[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %o, %l
    score(%score: f32, %query: i32, %key: i32, %head: i32, %kv_head: i32) {
      // expected-error@+1 {{'arith.constant' op in a score region: expected f32 or i32 or i1, got 'f64'}}
      %x = arith.constant 1.0 : f64
      kvc.yield %score : f32
    } : memref<?x?x128xf16>, !kvc.cache<#s>, memref<?x128xf32>, memref<?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @attend_c8_operand(%c: !kvc.cache<#s>, %q: memref<?x?x128xf16>, %o: memref<?x128xf32>, %l: memref<?xf32>, %i: index) {
  kvc.attend %q, %c[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %o, %l
    score(%score: f32, %query: i32, %key: i32, %head: i32, %kv_head: i32) {
      %t = arith.cmpi eq, %query, %key : i32
      // expected-error@+1 {{'arith.addi' op in a score region: expected i32, got 'i1'}}
      %x = arith.addi %t, %t : i1
      kvc.yield %score : f32
    } : memref<?x?x128xf16>, !kvc.cache<#s>, memref<?x128xf32>, memref<?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @attend_c8_vector(%c: !kvc.cache<#s>, %q: memref<?x?x128xf16>, %o: memref<?x128xf32>, %l: memref<?xf32>, %i: index) {
  kvc.attend %q, %c[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %o, %l
    score(%score: f32, %query: i32, %key: i32, %head: i32, %kv_head: i32) {
      // expected-error@+1 {{'arith.constant' op in a score region: expected f32 or i32 or i1, got 'vector<4xf32>'}}
      %x = arith.constant dense<1.0> : vector<4xf32>
      kvc.yield %score : f32
    } : memref<?x?x128xf16>, !kvc.cache<#s>, memref<?x128xf32>, memref<?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @attend_c9(%c: !kvc.cache<#s>, %q: memref<?x?x128xf16>, %o: memref<?x128xf32>, %l: memref<?xf32>, %i: index) {
  kvc.attend %q, %c[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %o, %l
    score(%score: f32, %query: i32, %key: i32, %head: i32, %kv_head: i32) {
      // expected-error@+1 {{'arith.divsi' op in a score region: second operand: expected a constant from 1 to 2147483647}}
      %x = arith.divsi %query, %key : i32
      kvc.yield %score : f32
    } : memref<?x?x128xf16>, !kvc.cache<#s>, memref<?x128xf32>, memref<?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @attend_c9_zero(%c: !kvc.cache<#s>, %q: memref<?x?x128xf16>, %o: memref<?x128xf32>, %l: memref<?xf32>, %i: index) {
  kvc.attend %q, %c[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %o, %l
    score(%score: f32, %query: i32, %key: i32, %head: i32, %kv_head: i32) {
      %z = arith.constant 0 : i32
      // expected-error@+1 {{'arith.floordivsi' op in a score region: second operand: expected a constant from 1 to 2147483647}}
      %x = arith.floordivsi %query, %z : i32
      kvc.yield %score : f32
    } : memref<?x?x128xf16>, !kvc.cache<#s>, memref<?x128xf32>, memref<?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @attend_c9_negative(%c: !kvc.cache<#s>, %q: memref<?x?x128xf16>, %o: memref<?x128xf32>, %l: memref<?xf32>, %i: index) {
  kvc.attend %q, %c[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %o, %l
    score(%score: f32, %query: i32, %key: i32, %head: i32, %kv_head: i32) {
      %z = arith.constant -1 : i32
      // expected-error@+1 {{'arith.remsi' op in a score region: second operand: expected a constant from 1 to 2147483647}}
      %x = arith.remsi %query, %z : i32
      kvc.yield %score : f32
    } : memref<?x?x128xf16>, !kvc.cache<#s>, memref<?x128xf32>, memref<?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
func.func @attend_c9_shift(%c: !kvc.cache<#s>, %q: memref<?x?x128xf16>, %o: memref<?x128xf32>, %l: memref<?xf32>, %i: index) {
  kvc.attend %q, %c[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %o, %l
    score(%score: f32, %query: i32, %key: i32, %head: i32, %kv_head: i32) {
      %z = arith.constant 32 : i32
      // expected-error@+1 {{'arith.shrui' op in a score region: second operand: expected a constant from 0 to 31}}
      %x = arith.shrui %query, %z : i32
      kvc.yield %score : f32
    } : memref<?x?x128xf16>, !kvc.cache<#s>, memref<?x128xf32>, memref<?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
func.func private @attention_spec_c1()
// expected-error@+1 {{'kvc.attention_spec' op score region: expected arguments (score: f32, query: i32, key: i32, head: i32, kv_head: i32), got types ()}}
kvc.attention_spec @s #s score() {
  %zero = arith.constant 0.0 : f32
  kvc.yield %zero : f32
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
func.func private @attention_spec_c1_operation()
kvc.attention_spec @s #s score(%score: f32, %query: i32, %key: i32, %head: i32, %kv_head: i32) {
  // expected-error@+1 {{'arith.index_cast' op in a score region: expected an operation of arith or math that kvc.attend lists}}
  %x = arith.index_cast %key : i32 to index
  kvc.yield %score : f32
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
// A region sees nothing but its arguments.
func.func @outside(%c: !kvc.cache<#s>, %q: memref<?x?x128xf16>, %o: memref<?x128xf32>, %l: memref<?xf32>, %i: index, %x: f32) {
  // expected-note@+1 {{required by region isolation constraints}}
  kvc.attend %q, %c[%i] rows(%i to %i of %i) keys(%i to %i of %i) into %o, %l
    score(%score: f32, %query: i32, %key: i32, %head: i32, %kv_head: i32) {
      // expected-error@+1 {{'arith.addf' op using value defined outside the region}}
      %y = arith.addf %score, %x : f32
      kvc.yield %y : f32
    } : memref<?x?x128xf16>, !kvc.cache<#s>, memref<?x128xf32>, memref<?xf32>
  return
}

// -----

#s = #kvc.spec<name = "s", attention = #kvc.attention<{head_dim = 128, kv_heads = 2, q_heads = 8}>,
  io = #kvc.io<{query = "f16"}>, key = #kvc.scheme<{codec = "f16"}>, value = #kvc.scheme<{codec = "f16"}>>
// Nor is kvc.yield anything elsewhere.
func.func @yield(%x: f32) {
  // expected-error@+1 {{'kvc.yield' op expects parent op to be one of 'kvc.attention_spec, kvc.attend'}}
  kvc.yield %x : f32
}
