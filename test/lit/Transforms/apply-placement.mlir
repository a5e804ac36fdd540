// RUN: kvc-opt %s --kvc-apply-placement | FileCheck %s

// One function per place. What is contracted are centred codes, as floats; what
// a zero and the centre come to is m, metadata alone.

#wide = #kvc.spec<name = "wide", attention = #kvc.attention<{q_heads = 4, kv_heads = 1, head_dim = 128}>, io = #kvc.io<{query = "bf16"}>, key = #kvc.scheme<{codec = "bf16"}>, value = #kvc.scheme<{codec = "int8", scale = {tokens = 1, channels = "all", dtype = "bf16"}}>>

!q = tensor<4x128xf32, #kvc.dims<r, c>>
!qb = tensor<4x4x32xf32, #kvc.dims<r, b, e>>
!p = tensor<4x64xf32, #kvc.dims<r, t>>
!u = tensor<64x128xi8, #kvc.dims<t, c>>
!ub = tensor<64x4x32xi8, #kvc.dims<t, b, e>>
!vu = tensor<64x128xi8, #kvc.dims<t, d>>
!x = tensor<64x128xf32, #kvc.dims<t, c>>
!xb = tensor<64x4x32xf32, #kvc.dims<t, b, e>>
!vx = tensor<64x128xf32, #kvc.dims<t, d>>
!r = tensor<4xf32, #kvc.dims<r>>
!t = tensor<64xf32, #kvc.dims<t>>
!tb = tensor<64x4xf32, #kvc.dims<t, b>>
!c = tensor<128xf32, #kvc.dims<c>>
!d = tensor<128xf32, #kvc.dims<d>>
!o = tensor<4x128xf32, #kvc.dims<r, d>>
!ob = tensor<4x4x32xf32, #kvc.dims<r, b, e>>

// CHECK-LABEL: func.func @score(
// CHECK-SAME: %[[Q:.*]]: tensor<4x128{{.*}}, %[[U:.*]]: tensor<64x128{{.*}}, %[[S:.*]]: tensor<64x
// CHECK-NEXT: %[[X:.*]] = arith.sitofp %[[U]] : tensor<64x128xi8, #kvc.dims<t, c>> to tensor<64x128xf32, #kvc.dims<t, c>>
// CHECK-NEXT: %[[DOT:.*]] = kvc.contract %[[Q]], %[[X]] : {{.*}} to tensor<4x64xf32, #kvc.dims<r, t>>
// CHECK-NEXT: %[[SB:.*]] = kvc.broadcast %[[S]] : {{.*}} to tensor<4x64xf32, #kvc.dims<r, t>>
// CHECK-NEXT: %[[Y:.*]] = arith.mulf %[[DOT]], %[[SB]] fastmath<contract>
// CHECK-NEXT: return %[[Y]]
func.func @score(%q: !q, %u: !u, %s: !t) -> !p {
  %x = kvc.dequantize %u, %s {scale_place = #kvc.place<score>} : !u, !t to !x
  %y = kvc.contract %q, %x : !q, !x to !p
  return %y : !p
}

// CHECK-LABEL: func.func @partial(
// CHECK-SAME: %[[Q:.*]]: tensor<4x4x32{{.*}}, %[[U:.*]]: tensor<64x4x32{{.*}}, %[[S:.*]]: tensor<64x4x
// CHECK-NEXT: %[[X:.*]] = arith.sitofp %[[U]]
// CHECK-NEXT: %[[DOTS:.*]] = kvc.contract %[[Q]], %[[X]] : {{.*}} to tensor<4x64x4xf32, #kvc.dims<r, t, b>>
// CHECK-NEXT: %[[SB:.*]] = kvc.broadcast %[[S]] : {{.*}} to tensor<4x64x4xf32, #kvc.dims<r, t, b>>
// CHECK-NEXT: %[[SCALED:.*]] = arith.mulf %[[DOTS]], %[[SB]]
// CHECK-NEXT: %[[Y:.*]] = kvc.reduce add %[[SCALED]] : {{.*}} to tensor<4x64xf32, #kvc.dims<r, t>>
// CHECK-NEXT: return %[[Y]]
func.func @partial(%q: !qb, %u: !ub, %s: !tb) -> !p {
  %x = kvc.dequantize %u, %s {scale_place = #kvc.place<partial>} : !ub, !tb to !xb
  %y = kvc.contract %q, %x : !qb, !xb to !p
  return %y : !p
}

// CHECK-LABEL: func.func @query(
// CHECK-SAME: %[[Q:.*]]: tensor<4x128{{.*}}, %[[U:.*]]: tensor<64x128{{.*}}, %[[S:.*]]: tensor<128x
// CHECK-NEXT: %[[X:.*]] = arith.sitofp %[[U]]
// CHECK-NEXT: %[[SB:.*]] = kvc.broadcast %[[S]] : {{.*}} to tensor<4x128xf32, #kvc.dims<r, c>>
// CHECK-NEXT: %[[QS:.*]] = arith.mulf %[[Q]], %[[SB]]
// CHECK-NEXT: %[[Y:.*]] = kvc.contract %[[QS]], %[[X]]
// CHECK-NEXT: return %[[Y]]
func.func @query(%q: !q, %u: !u, %s: !c) -> !p {
  %x = kvc.dequantize %u, %s {scale_place = #kvc.place<query>} : !u, !c to !x
  %y = kvc.contract %q, %x : !q, !x to !p
  return %y : !p
}

// CHECK-LABEL: func.func @p(
// CHECK-SAME: %[[P:.*]]: tensor<4x64{{.*}}, %[[U:.*]]: tensor<64x128{{.*}}, %[[S:.*]]: tensor<64x
// CHECK-NEXT: %[[X:.*]] = arith.sitofp %[[U]]
// CHECK-NEXT: %[[SB:.*]] = kvc.broadcast %[[S]] : {{.*}} to tensor<4x64xf32, #kvc.dims<r, t>>
// CHECK-NEXT: %[[PS:.*]] = arith.mulf %[[P]], %[[SB]]
// CHECK-NEXT: %[[Y:.*]] = kvc.contract %[[PS]], %[[X]] : {{.*}} to tensor<4x128xf32, #kvc.dims<r, d>>
// CHECK-NEXT: return %[[Y]]
func.func @p(%p: !p, %u: !vu, %s: !t) -> !o {
  %x = kvc.dequantize %u, %s {scale_place = #kvc.place<p>} : !vu, !t to !vx
  %y = kvc.contract %p, %x : !p, !vx to !o
  return %y : !o
}

// A copy of p for each block of channels.
// CHECK-LABEL: func.func @p_blocks(
// CHECK-SAME: %[[P:.*]]: tensor<4x64{{.*}}, %[[U:.*]]: tensor<64x4x32{{.*}}, %[[S:.*]]: tensor<64x4x
// CHECK-NEXT: %[[X:.*]] = arith.sitofp %[[U]]
// CHECK-NEXT: %[[PB:.*]] = kvc.broadcast %[[P]] : {{.*}} to tensor<4x64x4xf32, #kvc.dims<r, t, b>>
// CHECK-NEXT: %[[SB:.*]] = kvc.broadcast %[[S]] : {{.*}} to tensor<4x64x4xf32, #kvc.dims<r, t, b>>
// CHECK-NEXT: %[[PS:.*]] = arith.mulf %[[PB]], %[[SB]]
// CHECK-NEXT: %[[Y:.*]] = kvc.contract %[[PS]], %[[X]] : {{.*}} to tensor<4x4x32xf32, #kvc.dims<r, b, e>>
// CHECK-NEXT: return %[[Y]]
func.func @p_blocks(%p: !p, %u: !ub, %s: !tb) -> !ob {
  %x = kvc.dequantize %u, %s {scale_place = #kvc.place<p>} : !ub, !tb to !xb
  %y = kvc.contract %p, %x : !p, !xb to !ob
  return %y : !ob
}

// CHECK-LABEL: func.func @output(
// CHECK-SAME: %[[P:.*]]: tensor<4x64{{.*}}, %[[U:.*]]: tensor<64x128{{.*}}, %[[S:.*]]: tensor<128x
// CHECK-NEXT: %[[X:.*]] = arith.sitofp %[[U]]
// CHECK-NEXT: %[[DOT:.*]] = kvc.contract %[[P]], %[[X]]
// CHECK-NEXT: %[[SB:.*]] = kvc.broadcast %[[S]] : {{.*}} to tensor<4x128xf32, #kvc.dims<r, d>>
// CHECK-NEXT: %[[Y:.*]] = arith.mulf %[[DOT]], %[[SB]]
// CHECK-NEXT: return %[[Y]]
func.func @output(%p: !p, %u: !vu, %s: !d) -> !o {
  %x = kvc.dequantize %u, %s {scale_place = #kvc.place<output>} : !vu, !d to !vx
  %y = kvc.contract %p, %x : !p, !vx to !o
  return %y : !o
}

// Both on the codes: s * (u + 8 - z).
// CHECK-LABEL: func.func @register_code(
// CHECK-SAME: %[[Q:.*]]: tensor<4x128{{.*}}, %[[U:.*]]: tensor<64x128{{.*}}, %[[S:.*]]: tensor<64xf32{{.*}}, %[[Z:.*]]: tensor<64xf32
// CHECK-NEXT: %[[X:.*]] = arith.sitofp %[[U]]
// CHECK-NEXT: %[[EIGHT:.*]] = arith.constant dense<8.000000e+00> : tensor<64x128xf32, #kvc.dims<t, c>>
// CHECK-NEXT: %[[XU:.*]] = arith.addf %[[X]], %[[EIGHT]]
// CHECK-NEXT: %[[ZB:.*]] = kvc.broadcast %[[Z]]
// CHECK-NEXT: %[[SHIFTED:.*]] = arith.subf %[[XU]], %[[ZB]]
// CHECK-NEXT: %[[SB:.*]] = kvc.broadcast %[[S]]
// CHECK-NEXT: %[[XS:.*]] = arith.mulf %[[SHIFTED]], %[[SB]]
// CHECK-NEXT: %[[Y:.*]] = kvc.contract %[[Q]], %[[XS]]
// CHECK-NEXT: return %[[Y]]
func.func @register_code(%q: !q, %u: !u, %s: !t, %z: !t) -> !p {
  %x = kvc.dequantize %u, %s, %z {centre = 8 : i64, scale_place = #kvc.place<register>, zero_kind = "code", zero_place = #kvc.place<register>} : !u, !t, !t to !x
  %y = kvc.contract %q, %x : !q, !x to !p
  return %y : !p
}

// Both on the codes: s * (u + 8) + z.
// CHECK-LABEL: func.func @register_min(
// CHECK-SAME: %[[Q:.*]]: tensor<4x128{{.*}}, %[[U:.*]]: tensor<64x128{{.*}}, %[[S:.*]]: tensor<64xf32{{.*}}, %[[Z:.*]]: tensor<64xf32
// CHECK-NEXT: %[[X:.*]] = arith.sitofp %[[U]]
// CHECK-NEXT: %[[EIGHT:.*]] = arith.constant dense<8.000000e+00> : tensor<64x128xf32, #kvc.dims<t, c>>
// CHECK-NEXT: %[[XU:.*]] = arith.addf %[[X]], %[[EIGHT]]
// CHECK-NEXT: %[[SB:.*]] = kvc.broadcast %[[S]]
// CHECK-NEXT: %[[XS:.*]] = arith.mulf %[[XU]], %[[SB]]
// CHECK-NEXT: %[[MB:.*]] = kvc.broadcast %[[Z]]
// CHECK-NEXT: %[[XM:.*]] = arith.addf %[[XS]], %[[MB]]
// CHECK-NEXT: %[[Y:.*]] = kvc.contract %[[Q]], %[[XM]]
// CHECK-NEXT: return %[[Y]]
func.func @register_min(%q: !q, %u: !u, %s: !t, %z: !t) -> !p {
  %x = kvc.dequantize %u, %s, %z {centre = 8 : i64, scale_place = #kvc.place<register>, zero_kind = "min", zero_place = #kvc.place<register>} : !u, !t, !t to !x
  %y = kvc.contract %q, %x : !q, !x to !p
  return %y : !p
}

// A zero of the scores: m times the sum of the query, which is taken where the
// query is made, not once per tile.
// CHECK-LABEL: func.func @score_zero(
// CHECK-SAME: %[[QM:[^:]*]]: memref<{{.*}}, %[[U:[^:]*]]: tensor<64x128{{.*}}, %[[S:[^:]*]]: tensor<64xf32{{.*}}, %[[Z:[^:]*]]: tensor<64xf32{{[^,]*, [^,]*}}, %[[N:[^:]*]]: index
// CHECK: %[[Q:.*]] = kvc.load_query
// CHECK-NEXT: %[[SUM:.*]] = kvc.reduce add %[[Q]] : {{.*}} to tensor<4xf32, #kvc.dims<r>>
// CHECK: scf.for
// CHECK-NEXT: %[[X:.*]] = arith.sitofp %[[U]]
// CHECK-NEXT: %[[DOT:.*]] = kvc.contract %[[Q]], %[[X]]
// CHECK-NEXT: %[[SB:.*]] = kvc.broadcast %[[S]]
// CHECK-NEXT: %[[SCALED:.*]] = arith.mulf %[[DOT]], %[[SB]]
// CHECK-NEXT: %[[EIGHT:.*]] = arith.constant dense<8.000000e+00>
// CHECK-NEXT: %[[OFFSET:.*]] = arith.subf %[[EIGHT]], %[[Z]]
// CHECK-NEXT: %[[M:.*]] = arith.mulf %[[S]], %[[OFFSET]]
// CHECK-NEXT: %[[SUMB:.*]] = kvc.broadcast %[[SUM]] : {{.*}} to tensor<4x64xf32, #kvc.dims<r, t>>
// CHECK-NEXT: %[[MB:.*]] = kvc.broadcast %[[M]] : {{.*}} to tensor<4x64xf32, #kvc.dims<r, t>>
// CHECK-NEXT: %[[TERM:.*]] = arith.mulf %[[SUMB]], %[[MB]]
// CHECK-NEXT: %[[Y:.*]] = arith.addf %[[SCALED]], %[[TERM]]
func.func @score_zero(%qm: memref<?x?x128xf32>, %u: !u, %s: !t, %z: !t, %n: index) -> !p {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %q = kvc.load_query %qm[%c0 to %n, %c0] group 4 : memref<?x?x128xf32> to !q
  %init = arith.constant dense<0.0> : !p
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> !p {
    %x = kvc.dequantize %u, %s, %z {centre = 8 : i64, scale_place = #kvc.place<score>, zero_kind = "code", zero_place = #kvc.place<score>} : !u, !t, !t to !x
    %y = kvc.contract %q, %x : !q, !x to !p
    scf.yield %y : !p
  }
  return %r : !p
}

// A zero per block meets sums per block.
// CHECK-LABEL: func.func @score_zero_blocks(
// CHECK-SAME: %[[Q:.*]]: tensor<4x4x32
// CHECK: %[[SUM:.*]] = kvc.reduce add %[[Q]] : {{.*}} to tensor<4x4xf32, #kvc.dims<r, b>>
// CHECK: %[[DOTS:.*]] = kvc.reduce add
// CHECK: %[[M:.*]] = arith.addf {{.*}} : tensor<64x4xf32, #kvc.dims<t, b>>
// CHECK-NEXT: %[[TERM:.*]] = kvc.contract %[[SUM]], %[[M]] : {{.*}} to tensor<4x64xf32, #kvc.dims<r, t>>
// CHECK-NEXT: %[[Y:.*]] = arith.addf %[[DOTS]], %[[TERM]]
// CHECK-NEXT: return %[[Y]]
func.func @score_zero_blocks(%q: !qb, %u: !ub, %s: !tb, %z: !tb) -> !p {
  %x = kvc.dequantize %u, %s, %z {centre = 8 : i64, scale_place = #kvc.place<partial>, zero_kind = "min", zero_place = #kvc.place<score>} : !ub, !tb, !tb to !xb
  %y = kvc.contract %q, %x : !qb, !xb to !p
  return %y : !p
}

// A zero per channel is the same for all tokens: one number per row.
// CHECK-LABEL: func.func @score_zero_channels(
// CHECK-SAME: %[[Q:.*]]: tensor<4x128
// CHECK: %[[M:.*]] = arith.addf {{.*}} : tensor<128xf32, #kvc.dims<c>>
// CHECK-NEXT: %[[TERM:.*]] = kvc.contract %[[Q]], %[[M]] : {{.*}} to tensor<4xf32, #kvc.dims<r>>
// CHECK-NEXT: %[[TERMB:.*]] = kvc.broadcast %[[TERM]] : {{.*}} to tensor<4x64xf32, #kvc.dims<r, t>>
// CHECK-NEXT: %[[Y:.*]] = arith.addf %{{.*}}, %[[TERMB]]
// CHECK-NEXT: return %[[Y]]
func.func @score_zero_channels(%q: !q, %u: !u, %s: !c, %z: !c) -> !p {
  %x = kvc.dequantize %u, %s, %z {centre = 8 : i64, scale_place = #kvc.place<query>, zero_kind = "min", zero_place = #kvc.place<score>} : !u, !c, !c to !x
  %y = kvc.contract %q, %x : !q, !x to !p
  return %y : !p
}

// A zero of the output is carried through the loop like the output, one number
// per row instead of one per channel, and added behind it.
// CHECK-LABEL: func.func @output_zero_carried(
// CHECK-SAME: %[[P:[^:]*]]: tensor<4x64{{.*}}, %[[ALPHA:[^:]*]]: tensor<4xf32
// CHECK: %[[INIT:.*]] = arith.constant dense<0.000000e+00> : tensor<4xf32, #kvc.dims<r>>
// CHECK-NEXT: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[O:.*]] = %{{.*}}, %[[SUM:.*]] = %[[INIT]])
// CHECK: %[[M:.*]] = arith.addf {{.*}} : tensor<64xf32, #kvc.dims<t>>
// CHECK-NEXT: %[[TERM:.*]] = kvc.contract %[[P]], %[[M]] : {{.*}} to tensor<4xf32, #kvc.dims<r>>
// CHECK: %[[PS:.*]] = arith.mulf %[[P]], %{{.*}}
// CHECK-NEXT: %[[PV:.*]] = kvc.contract %[[PS]], %{{.*}} : {{.*}} to tensor<4x128xf32, #kvc.dims<r, d>>
// CHECK: %[[DECAYED:.*]] = arith.mulf %[[O]], %{{.*}}
// CHECK-NEXT: %[[NEXT:.*]] = arith.addf %[[DECAYED]], %[[PV]]
// CHECK-NEXT: %[[SUM_DECAYED:.*]] = arith.mulf %[[SUM]], %[[ALPHA]]
// CHECK-NEXT: %[[NEXT_SUM:.*]] = arith.addf %[[SUM_DECAYED]], %[[TERM]]
// CHECK-NEXT: scf.yield %[[NEXT]], %[[NEXT_SUM]]
// CHECK: %[[WIDE:.*]] = kvc.broadcast %[[R]]#1 : {{.*}} to tensor<4x128xf32, #kvc.dims<r, d>>
// CHECK-NEXT: %[[TOTAL:.*]] = arith.addf %[[R]]#0, %[[WIDE]]
// CHECK-NEXT: return %[[TOTAL]]
func.func @output_zero_carried(%p: !p, %alpha: !r, %u: !vu, %s: !t, %z: !t, %n: index) -> !o {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %init = arith.constant dense<0.0> : !o
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%o = %init) -> !o {
    %x = kvc.dequantize %u, %s, %z {centre = 8 : i64, scale_place = #kvc.place<p>, zero_kind = "min", zero_place = #kvc.place<output>} : !vu, !t, !t to !vx
    %y = kvc.contract %p, %x : !p, !vx to !o
    %wide = kvc.broadcast %alpha : !r to !o
    %decayed = arith.mulf %o, %wide : !o
    %next = arith.addf %decayed, %y : !o
    scf.yield %next : !o
  }
  return %r : !o
}

// The same with blocks: one number per row and block.
// CHECK-LABEL: func.func @output_zero_blocks(
// CHECK: %[[R:.*]]:2 = scf.for
// CHECK: kvc.contract {{.*}} : tensor<4x64xf32, #kvc.dims<r, t>>, tensor<64x4xf32, #kvc.dims<t, b>> to tensor<4x4xf32, #kvc.dims<r, b>>
// CHECK: %[[WIDE:.*]] = kvc.broadcast %[[R]]#1 : {{.*}} to tensor<4x4x32xf32, #kvc.dims<r, b, e>>
// CHECK-NEXT: %[[JOINED:.*]] = kvc.join %[[WIDE]] : {{.*}} to tensor<4x128xf32, #kvc.dims<r, d>>
// CHECK-NEXT: %[[TOTAL:.*]] = arith.addf %[[R]]#0, %[[JOINED]]
// CHECK-NEXT: return %[[TOTAL]]
func.func @output_zero_blocks(%p: !p, %alpha: !r, %u: !ub, %s: !tb, %z: !tb, %n: index) -> !o {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %init = arith.constant dense<0.0> : !o
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%o = %init) -> !o {
    %x = kvc.dequantize %u, %s, %z {centre = 8 : i64, scale_place = #kvc.place<p>, zero_kind = "min", zero_place = #kvc.place<output>} : !ub, !tb, !tb to !xb
    %y = kvc.contract %p, %x : !p, !xb to !ob
    %joined = kvc.join %y : !ob to !o
    %wide = kvc.broadcast %alpha : !r to !o
    %decayed = arith.mulf %o, %wide : !o
    %next = arith.addf %decayed, %joined : !o
    scf.yield %next : !o
  }
  return %r : !o
}

// A sum that something else in the loop reads must be whole there.
// CHECK-LABEL: func.func @output_zero_read(
// CHECK: %[[R:.*]] = scf.for
// CHECK: %[[TERM:.*]] = kvc.contract %{{.*}}, %{{.*}} : {{.*}} to tensor<4xf32, #kvc.dims<r>>
// CHECK-NEXT: %[[WIDE:.*]] = kvc.broadcast %[[TERM]] : {{.*}} to tensor<4x128xf32, #kvc.dims<r, d>>
// CHECK-NEXT: arith.addf %{{.*}}, %[[WIDE]]
// CHECK: return %[[R]] :
func.func @output_zero_read(%p: !p, %alpha: !r, %u: !vu, %s: !t, %z: !t, %n: index, %mem: memref<?x128xf32>) -> !o {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %init = arith.constant dense<0.0> : !o
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%o = %init) -> !o {
    %x = kvc.dequantize %u, %s, %z {centre = 8 : i64, scale_place = #kvc.place<p>, zero_kind = "min", zero_place = #kvc.place<output>} : !vu, !t, !t to !vx
    %y = kvc.contract %p, %x : !p, !vx to !o
    %wide = kvc.broadcast %alpha : !r to !o
    %decayed = arith.mulf %o, %wide : !o
    %next = arith.addf %decayed, %y : !o
    kvc.store_partial %next, %mem[%c0 to %n] : !o, memref<?x128xf32>
    scf.yield %next : !o
  }
  return %r : !o
}

// A zero per channel of the values.
// CHECK-LABEL: func.func @output_zero_channels(
// CHECK-SAME: %[[P:.*]]: tensor<4x64
// CHECK: %[[M:.*]] = arith.addf {{.*}} : tensor<128xf32, #kvc.dims<d>>
// CHECK: %[[SUM:.*]] = kvc.reduce add %[[P]] : {{.*}} to tensor<4xf32, #kvc.dims<r>>
// CHECK-DAG: %[[SUMS:.*]] = kvc.broadcast %[[SUM]] : {{.*}} to tensor<4x128xf32, #kvc.dims<r, d>>
// CHECK-DAG: %[[MS:.*]] = kvc.broadcast %[[M]] : {{.*}} to tensor<4x128xf32, #kvc.dims<r, d>>
// CHECK: %[[TERM:.*]] = arith.mulf %[[SUMS]], %[[MS]]
// CHECK-NEXT: %[[Y:.*]] = arith.addf %{{.*}}, %[[TERM]]
// CHECK-NEXT: return %[[Y]]
func.func @output_zero_channels(%p: !p, %u: !vu, %s: !d, %z: !d) -> !o {
  %x = kvc.dequantize %u, %s, %z {centre = 8 : i64, scale_place = #kvc.place<output>, zero_kind = "min", zero_place = #kvc.place<output>} : !vu, !d, !d to !vx
  %y = kvc.contract %p, %x : !p, !vx to !o
  return %y : !o
}

// Without a zero the centre stays with the codes.
// CHECK-LABEL: func.func @centre_alone(
// CHECK: %[[X:.*]] = arith.sitofp
// CHECK-NEXT: %[[EIGHT:.*]] = arith.constant dense<8.000000e+00>
// CHECK-NEXT: %[[U:.*]] = arith.addf %[[X]], %[[EIGHT]]
// CHECK-NEXT: kvc.contract %{{.*}}, %[[U]]
func.func @centre_alone(%q: !q, %u: !u, %s: !t) -> !p {
  %x = kvc.dequantize %u, %s {centre = 8 : i64, scale_place = #kvc.place<score>} : !u, !t to !x
  %y = kvc.contract %q, %x : !q, !x to !p
  return %y : !p
}

// Raw values are only widened.
// CHECK-LABEL: func.func @raw(
// CHECK-SAME: %[[Q:.*]]: tensor<4x128{{.*}}, %[[RAW:.*]]: tensor<64x128xbf16
// CHECK-NEXT: %[[X:.*]] = arith.extf %[[RAW]] : {{.*}} to tensor<64x128xf32, #kvc.dims<t, c>>
// CHECK-NEXT: kvc.contract %[[Q]], %[[X]]
func.func @raw(%q: !q, %raw: tensor<64x128xbf16, #kvc.dims<t, c>>) -> !p {
  %x = kvc.dequantize %raw : tensor<64x128xbf16, #kvc.dims<t, c>> to !x
  %y = kvc.contract %q, %x : !q, !x to !p
  return %y : !p
}

// What nothing contracts is opened as it is written, operation by operation and
// without fast-math.
// CHECK-LABEL: func.func @no_contraction(
// CHECK-SAME: %[[U:.*]]: tensor<64x128xi8{{.*}}, %[[S:.*]]: tensor<64xf32{{.*}}, %[[Z:.*]]: tensor<64xf32
// CHECK-NEXT: %[[X:.*]] = arith.sitofp %[[U]]
// CHECK-NEXT: %[[EIGHT:.*]] = arith.constant dense<8.000000e+00> : tensor<64x128xf32, #kvc.dims<t, c>>
// CHECK-NEXT: %[[CODE:.*]] = arith.addf %[[X]], %[[EIGHT]] : tensor<64x128xf32, #kvc.dims<t, c>>
// CHECK-NEXT: %[[SB:.*]] = kvc.broadcast %[[S]]
// CHECK-NEXT: %[[XS:.*]] = arith.mulf %[[CODE]], %[[SB]] : tensor<64x128xf32, #kvc.dims<t, c>>
// CHECK-NEXT: %[[ZB:.*]] = kvc.broadcast %[[Z]]
// CHECK-NEXT: %[[XZ:.*]] = arith.addf %[[XS]], %[[ZB]] : tensor<64x128xf32, #kvc.dims<t, c>>
// CHECK-NEXT: return %[[XZ]]
func.func @no_contraction(%u: !u, %s: !t, %z: !t) -> !x {
  %x = kvc.dequantize %u, %s, %z {centre = 8 : i64, zero_kind = "min"} : !u, !t, !t to !x
  return %x : !x
}

// Scales with the exponents of f32: p times such a scale may underflow, so p is
// enlarged by a power of two and the sum made small behind the loop. A tile of
// large scales brings the power to 1, and the decay takes the sum along.
// CHECK-LABEL: func.func @units(
// CHECK-SAME: %[[P:[^:]*]]: tensor<4x64{{.*}}, %[[A:[^:]*]]: tensor<4xf32
// CHECK: %[[MOST:.*]] = arith.constant dense<1.23794004E+27> : tensor<4xf32, #kvc.dims<r>>
// CHECK: %[[LOOP:.*]]:2 = scf.for {{.*}} iter_args(%[[O:.*]] = %{{.*}}, %[[BEFORE:.*]] = %[[MOST]])
// CHECK: %[[S:.*]] = kvc.load_scale
// CHECK: %[[MINUS:.*]] = arith.mulf %[[S]]
// CHECK: %[[SIZE:.*]] = arith.maxnumf %[[S]], %[[MINUS]]
// CHECK: %[[SIZES:.*]] = kvc.broadcast %[[SIZE]] : {{.*}} to tensor<4x64xf32, #kvc.dims<r, t>>
// CHECK: %[[LARGEST:.*]] = kvc.reduce maxnumf %[[SIZES]] : {{.*}} to tensor<4xf32, #kvc.dims<r>>
// CHECK: %[[SMALL:.*]] = arith.cmpf olt, %[[LARGEST]]
// CHECK: %[[OWN:.*]] = arith.select %[[SMALL]]
// CHECK: %[[UNIT:.*]] = arith.minnumf %[[BEFORE]], %[[OWN]]
// CHECK: %[[STEP:.*]] = arith.divf %[[UNIT]], %[[BEFORE]]
// CHECK: %[[DECAY:.*]] = arith.mulf %[[A]], %[[STEP]]
// CHECK: %[[DECAYS:.*]] = kvc.broadcast %[[DECAY]] : {{.*}} to tensor<4x128xf32, #kvc.dims<r, d>>
// CHECK: %[[UNITS:.*]] = kvc.broadcast %[[UNIT]] : {{.*}} to tensor<4x64xf32, #kvc.dims<r, t>>
// CHECK: %[[ENLARGED:.*]] = arith.mulf %[[P]], %[[UNITS]]
// CHECK: %[[SB:.*]] = kvc.broadcast %[[S]] : {{.*}} to tensor<4x64xf32, #kvc.dims<r, t>>
// CHECK: %[[PS:.*]] = arith.mulf %[[ENLARGED]], %[[SB]]
// CHECK: %[[DOT:.*]] = kvc.contract %[[PS]]
// CHECK: %[[OLD:.*]] = arith.mulf %[[O]], %[[DECAYS]]
// CHECK: %[[NEXT:.*]] = arith.addf %[[OLD]], %[[DOT]]
// CHECK: scf.yield %[[NEXT]], %[[UNIT]]
// CHECK: %[[INVERSE:.*]] = arith.divf %{{.*}}, %[[LOOP]]#1
// CHECK: %[[INVERSES:.*]] = kvc.broadcast %[[INVERSE]] : {{.*}} to tensor<4x128xf32, #kvc.dims<r, d>>
// CHECK: %[[Y:.*]] = arith.mulf %[[LOOP]]#0, %[[INVERSES]]
// CHECK: return %[[Y]]
func.func @units(%p: !p, %alpha: !r, %cache: !kvc.cache<#wide>, %n: index) -> !o {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %init = arith.constant dense<0.0> : !o
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%o = %init) -> !o {
    %u = kvc.load_codes %cache[%c0, %i] valid %n {tensor = #kvc.tensor<value>} : !kvc.cache<#wide> to !vu
    %s = kvc.load_scale %cache[%c0, %i] valid %n {tensor = #kvc.tensor<value>} : !kvc.cache<#wide> to !t
    %x = kvc.dequantize %u, %s {centre = 0 : i64, scale_place = #kvc.place<p>, zero_kind = "none"} : !vu, !t to !vx
    %y = kvc.contract %p, %x : !p, !vx to !o
    %a = kvc.broadcast %alpha : !r to !o
    %d = arith.mulf %o, %a : !o
    %next = arith.addf %d, %y : !o
    scf.yield %next : !o
  }
  return %r : !o
}
