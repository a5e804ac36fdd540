; Kernels that LLVM turns into PTX of many kinds: branches, loops, switches, calls,
; halves, 64 and 128 bits, stacks, divisions, barriers, shuffles, copies.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@tile = dso_local local_unnamed_addr addrspace(3) global [256 x float] zeroinitializer, align 4
@smem = dso_local addrspace(3) global [512 x half] zeroinitializer, align 2

define dso_local ptx_kernel void @saxpy(i32 noundef %n, float noundef %a, ptr addrspace(1) noundef readonly captures(none) %x, ptr addrspace(1) noundef captures(none) %y) local_unnamed_addr {
entry:
  %0 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %1 = tail call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %mul = mul nuw nsw i32 %0, %1
  %2 = tail call noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %add = add nuw i32 %mul, %2
  %cmp = icmp slt i32 %add, %n
  br i1 %cmp, label %if.then, label %if.end

if.then:
  %idxprom = sext i32 %add to i64
  %arrayidx = getelementptr inbounds float, ptr addrspace(1) %x, i64 %idxprom
  %3 = load float, ptr addrspace(1) %arrayidx, align 4
  %mul1 = fmul contract float %a, %3
  %arrayidx3 = getelementptr inbounds float, ptr addrspace(1) %y, i64 %idxprom
  %4 = load float, ptr addrspace(1) %arrayidx3, align 4
  %add4 = fadd contract float %mul1, %4
  store float %add4, ptr addrspace(1) %arrayidx3, align 4
  br label %if.end

if.end:
  ret void
}

declare void @llvm.lifetime.start.p0(ptr captures(none))

declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x()

declare void @llvm.lifetime.end.p0(ptr captures(none))

define dso_local ptx_kernel void @reduce(ptr addrspace(1) noundef readonly captures(none) %in, ptr addrspace(1) noundef writeonly captures(none) %out, i32 noundef %n) local_unnamed_addr {
entry:
  %0 = tail call noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %1 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %mul = shl nsw i32 %1, 8
  %add = add nuw i32 %mul, %0
  %cmp35 = icmp slt i32 %add, %n
  br i1 %cmp35, label %for.body.lr.ph, label %for.cond.cleanup

for.body.lr.ph:
  %2 = tail call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %mul2 = shl nsw i32 %2, 8
  br label %for.body

for.cond.cleanup:
  %v.0.lcssa = phi float [ 0.000000e+00, %entry ], [ %add1, %for.body ]
  %idxprom4 = zext nneg i32 %0 to i64
  %arrayidx5 = getelementptr inbounds nuw float, ptr addrspace(3) @tile, i64 %idxprom4
  store float %v.0.lcssa, ptr addrspace(3) %arrayidx5, align 4
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %cmp10 = icmp samesign ult i32 %0, 128
  br i1 %cmp10, label %if.then, label %if.end

for.body:
  %i.037 = phi i32 [ %add, %for.body.lr.ph ], [ %add3, %for.body ]
  %v.036 = phi float [ 0.000000e+00, %for.body.lr.ph ], [ %add1, %for.body ]
  %idxprom = sext i32 %i.037 to i64
  %arrayidx = getelementptr inbounds float, ptr addrspace(1) %in, i64 %idxprom
  %3 = load float, ptr addrspace(1) %arrayidx, align 4
  %add1 = fadd contract float %v.036, %3
  %add3 = add nsw i32 %i.037, %mul2
  %cmp = icmp slt i32 %add3, %n
  br i1 %cmp, label %for.body, label %for.cond.cleanup

if.then:
  %4 = zext nneg i32 %0 to i64
  %5 = getelementptr inbounds nuw float, ptr addrspace(3) @tile, i64 %4
  %arrayidx13 = getelementptr inbounds nuw i8, ptr addrspace(3) %5, i64 512
  %6 = load float, ptr addrspace(3) %arrayidx13, align 4
  %7 = load float, ptr addrspace(3) %arrayidx5, align 4
  %add16 = fadd contract float %6, %7
  store float %add16, ptr addrspace(3) %arrayidx5, align 4
  br label %if.end

if.end:
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %cmp10.1 = icmp samesign ult i32 %0, 64
  br i1 %cmp10.1, label %if.then.1, label %if.end.1

if.then.1:
  %8 = zext nneg i32 %0 to i64
  %9 = getelementptr inbounds nuw float, ptr addrspace(3) @tile, i64 %8
  %arrayidx13.1 = getelementptr inbounds nuw i8, ptr addrspace(3) %9, i64 256
  %10 = load float, ptr addrspace(3) %arrayidx13.1, align 4
  %11 = load float, ptr addrspace(3) %arrayidx5, align 4
  %add16.1 = fadd contract float %10, %11
  store float %add16.1, ptr addrspace(3) %arrayidx5, align 4
  br label %if.end.1

if.end.1:
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %cmp10.2 = icmp samesign ult i32 %0, 32
  br i1 %cmp10.2, label %if.then.2, label %if.end.2

if.then.2:
  %12 = zext nneg i32 %0 to i64
  %13 = getelementptr inbounds nuw float, ptr addrspace(3) @tile, i64 %12
  %arrayidx13.2 = getelementptr inbounds nuw i8, ptr addrspace(3) %13, i64 128
  %14 = load float, ptr addrspace(3) %arrayidx13.2, align 4
  %15 = load float, ptr addrspace(3) %arrayidx5, align 4
  %add16.2 = fadd contract float %14, %15
  store float %add16.2, ptr addrspace(3) %arrayidx5, align 4
  br label %if.end.2

if.end.2:
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %cmp10.3 = icmp samesign ult i32 %0, 16
  br i1 %cmp10.3, label %if.then.3, label %if.end.3

if.then.3:
  %16 = zext nneg i32 %0 to i64
  %17 = getelementptr inbounds nuw float, ptr addrspace(3) @tile, i64 %16
  %arrayidx13.3 = getelementptr inbounds nuw i8, ptr addrspace(3) %17, i64 64
  %18 = load float, ptr addrspace(3) %arrayidx13.3, align 4
  %19 = load float, ptr addrspace(3) %arrayidx5, align 4
  %add16.3 = fadd contract float %18, %19
  store float %add16.3, ptr addrspace(3) %arrayidx5, align 4
  br label %if.end.3

if.end.3:
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %cmp10.4 = icmp samesign ult i32 %0, 8
  br i1 %cmp10.4, label %if.then.4, label %if.end.4

if.then.4:
  %20 = zext nneg i32 %0 to i64
  %21 = getelementptr inbounds nuw float, ptr addrspace(3) @tile, i64 %20
  %arrayidx13.4 = getelementptr inbounds nuw i8, ptr addrspace(3) %21, i64 32
  %22 = load float, ptr addrspace(3) %arrayidx13.4, align 4
  %23 = load float, ptr addrspace(3) %arrayidx5, align 4
  %add16.4 = fadd contract float %22, %23
  store float %add16.4, ptr addrspace(3) %arrayidx5, align 4
  br label %if.end.4

if.end.4:
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %cmp10.5 = icmp samesign ult i32 %0, 4
  br i1 %cmp10.5, label %if.then.5, label %if.end.5

if.then.5:
  %24 = zext nneg i32 %0 to i64
  %25 = getelementptr inbounds nuw float, ptr addrspace(3) @tile, i64 %24
  %arrayidx13.5 = getelementptr inbounds nuw i8, ptr addrspace(3) %25, i64 16
  %26 = load float, ptr addrspace(3) %arrayidx13.5, align 4
  %27 = load float, ptr addrspace(3) %arrayidx5, align 4
  %add16.5 = fadd contract float %26, %27
  store float %add16.5, ptr addrspace(3) %arrayidx5, align 4
  br label %if.end.5

if.end.5:
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %cmp10.6 = icmp samesign ult i32 %0, 2
  br i1 %cmp10.6, label %if.then.6, label %if.end.6

if.then.6:
  %28 = zext nneg i32 %0 to i64
  %29 = getelementptr inbounds nuw float, ptr addrspace(3) @tile, i64 %28
  %arrayidx13.6 = getelementptr inbounds nuw i8, ptr addrspace(3) %29, i64 8
  %30 = load float, ptr addrspace(3) %arrayidx13.6, align 4
  %31 = load float, ptr addrspace(3) %arrayidx5, align 4
  %add16.6 = fadd contract float %30, %31
  store float %add16.6, ptr addrspace(3) %arrayidx5, align 4
  br label %if.end.6

if.end.6:
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %cmp10.7 = icmp eq i32 %0, 0
  br i1 %cmp10.7, label %if.then.7, label %if.end.7

if.then.7:
  %32 = load float, ptr addrspace(3) getelementptr inbounds nuw (i8, ptr addrspace(3) @tile, i64 4), align 4
  %33 = load float, ptr addrspace(3) %arrayidx5, align 4
  %add16.7 = fadd contract float %32, %33
  store float %add16.7, ptr addrspace(3) %arrayidx5, align 4
  br label %if.end.7

if.end.7:
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %cmp19 = icmp eq i32 %0, 0
  br i1 %cmp19, label %if.then20, label %if.end23

if.then20:
  %idxprom21 = zext nneg i32 %1 to i64
  %arrayidx22 = getelementptr inbounds nuw float, ptr addrspace(1) %out, i64 %idxprom21
  %34 = load float, ptr addrspace(3) @tile, align 4
  store float %34, ptr addrspace(1) %arrayidx22, align 4
  br label %if.end23

if.end23:
  ret void
}

declare noundef range(i32 1, -2147483648) i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()

declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

define dso_local ptx_kernel void @warp(ptr addrspace(1) noundef captures(none) %p, ptr addrspace(1) noundef captures(none) %q) local_unnamed_addr {
entry:
  %0 = tail call noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %idxprom = zext nneg i32 %0 to i64
  %arrayidx = getelementptr inbounds nuw float, ptr addrspace(1) %p, i64 %idxprom
  %1 = load float, ptr addrspace(1) %arrayidx, align 4
  %2 = tail call contract float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %1, i32 16, i32 31)
  %add = fadd contract float %1, %2
  %3 = tail call contract float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %add, i32 8, i32 31)
  %add.1 = fadd contract float %add, %3
  %4 = tail call contract float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %add.1, i32 4, i32 31)
  %add.2 = fadd contract float %add.1, %4
  %5 = tail call contract float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %add.2, i32 2, i32 31)
  %add.3 = fadd contract float %add.2, %5
  %6 = tail call contract float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %add.3, i32 1, i32 31)
  %add.4 = fadd contract float %add.3, %6
  %cmp = fcmp contract ogt float %add.4, 1.000000e+00
  %7 = tail call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %cmp)
  tail call void @llvm.nvvm.bar.warp.sync(i32 %7)
  %arrayidx3 = getelementptr inbounds nuw i32, ptr addrspace(1) %q, i64 %idxprom
  store i32 %7, ptr addrspace(1) %arrayidx3, align 4
  store float %add.4, ptr addrspace(1) %arrayidx, align 4
  %8 = addrspacecast ptr addrspace(1) %q to ptr
  %9 = atomicrmw add ptr %8, i32 1 seq_cst, align 4
  tail call void @llvm.nvvm.membar.gl()
  ret void
}

declare float @llvm.nvvm.shfl.sync.bfly.f32(i32, float, i32, i32)

declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)

declare void @llvm.nvvm.bar.warp.sync(i32)

declare void @llvm.nvvm.membar.gl()

define dso_local ptx_kernel void @calls(ptr addrspace(1) noundef captures(none) %p, ptr addrspace(1) noundef captures(none) %v) local_unnamed_addr {
entry:
  %0 = tail call noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %idxprom = zext nneg i32 %0 to i64
  %arrayidx = getelementptr inbounds nuw i32, ptr addrspace(1) %p, i64 %idxprom
  %1 = load i32, ptr addrspace(1) %arrayidx, align 4
  %arrayidx3 = getelementptr inbounds nuw i8, ptr addrspace(1) %arrayidx, i64 128
  %2 = load i32, ptr addrspace(1) %arrayidx3, align 4
  %call4 = tail call fastcc i32 @rot(i32 noundef %1, i32 noundef %2)
  store i32 %call4, ptr addrspace(1) %arrayidx, align 4
  %arrayidx10 = getelementptr inbounds nuw <4 x float>, ptr addrspace(1) %v, i64 %idxprom
  %3 = load <4 x float>, ptr addrspace(1) %arrayidx10, align 16
  %call11 = tail call fastcc <4 x float> @scale(<4 x float> noundef %3)
  store <4 x float> %call11, ptr addrspace(1) %arrayidx10, align 16
  ret void
}

define internal fastcc noundef i32 @rot(i32 noundef %a, i32 noundef %b) unnamed_addr {
entry:
  %or = tail call i32 @llvm.fshl.i32(i32 %a, i32 %a, i32 %b)
  ret i32 %or
}

define internal fastcc noundef <4 x float> @scale(<4 x float> noundef %v) unnamed_addr {
entry:
  %mul = fmul contract <4 x float> %v, splat (float 2.000000e+00)
  ret <4 x float> %mul
}

define dso_local ptx_kernel void @choose(ptr addrspace(1) noundef readonly captures(none) %p, ptr addrspace(1) noundef captures(none) %q) local_unnamed_addr {
entry:
  %0 = tail call noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %idxprom = zext nneg i32 %0 to i64
  %arrayidx = getelementptr inbounds nuw i32, ptr addrspace(1) %p, i64 %idxprom
  %1 = load i32, ptr addrspace(1) %arrayidx, align 4
  switch i32 %1, label %sw.default [
    i32 0, label %sw.epilog
    i32 1, label %sw.bb1
    i32 2, label %sw.bb3
    i32 3, label %sw.bb8
    i32 4, label %sw.bb10
    i32 5, label %sw.bb12
  ]

sw.bb1:
  %arrayidx2 = getelementptr inbounds nuw i8, ptr addrspace(1) %q, i64 12
  %2 = load i32, ptr addrspace(1) %arrayidx2, align 4
  br label %sw.epilog

sw.bb3:
  %arrayidx4 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 36
  %3 = load i32, ptr addrspace(1) %arrayidx4, align 4
  %idxprom5 = sext i32 %3 to i64
  %arrayidx6 = getelementptr inbounds i32, ptr addrspace(1) %q, i64 %idxprom5
  %4 = load i32, ptr addrspace(1) %arrayidx6, align 4
  %arrayidx7 = getelementptr inbounds nuw i8, ptr addrspace(1) %q, i64 4
  store i32 4, ptr addrspace(1) %arrayidx7, align 4
  br label %sw.epilog

sw.bb8:
  %arrayidx9 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 32
  %5 = load i32, ptr addrspace(1) %arrayidx9, align 4
  %mul = mul nsw i32 %5, 3
  br label %sw.epilog

sw.bb10:
  %arrayidx11 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 4
  %6 = load i32, ptr addrspace(1) %arrayidx11, align 4
  %sub = sub nsw i32 0, %6
  br label %sw.epilog

sw.bb12:
  %7 = tail call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  br label %sw.epilog

sw.default:
  %8 = load i32, ptr addrspace(1) %p, align 4
  %9 = load i32, ptr addrspace(1) %q, align 4
  %div = sdiv i32 %8, %9
  br label %sw.epilog

sw.epilog:
  %r.0 = phi i32 [ %div, %sw.default ], [ %7, %sw.bb12 ], [ %2, %sw.bb1 ], [ %4, %sw.bb3 ], [ %mul, %sw.bb8 ], [ %sub, %sw.bb10 ], [ 7, %entry ]
  %arrayidx17 = getelementptr inbounds nuw i32, ptr addrspace(1) %q, i64 %idxprom
  store i32 %r.0, ptr addrspace(1) %arrayidx17, align 4
  ret void
}

declare noundef range(i32 0, 32) i32 @llvm.nvvm.read.ptx.sreg.laneid()

define dso_local ptx_kernel void @halves(ptr addrspace(1) noundef captures(none) %p, ptr addrspace(1) noundef readonly captures(none) %f, ptr addrspace(1) noundef captures(none) %b) local_unnamed_addr {
entry:
  %0 = tail call noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %idxprom = zext nneg i32 %0 to i64
  %arrayidx = getelementptr inbounds nuw <2 x half>, ptr addrspace(1) %p, i64 %idxprom
  %1 = load <2 x half>, ptr addrspace(1) %arrayidx, align 4
  %arrayidx3 = getelementptr inbounds nuw i8, ptr addrspace(1) %arrayidx, i64 4
  %2 = load <2 x half>, ptr addrspace(1) %arrayidx3, align 4
  %mul = fmul contract <2 x half> %1, %2
  %add4 = fadd contract <2 x half> %1, %mul
  %3 = load float, ptr addrspace(1) %f, align 4
  %conv = fptrunc contract float %3 to half
  %vecinit = insertelement <2 x half> poison, half %conv, i64 0
  %arrayidx6 = getelementptr inbounds nuw i8, ptr addrspace(1) %f, i64 4
  %4 = load float, ptr addrspace(1) %arrayidx6, align 4
  %conv7 = fptrunc contract float %4 to half
  %vecinit8 = insertelement <2 x half> %vecinit, half %conv7, i64 1
  %add9 = fadd contract <2 x half> %add4, %vecinit8
  store <2 x half> %add9, ptr addrspace(1) %arrayidx, align 4
  %arrayidx15 = getelementptr inbounds nuw i8, ptr addrspace(1) %b, i64 %idxprom
  %5 = load i8, ptr addrspace(1) %arrayidx15, align 1
  %conv17 = sitofp i8 %5 to half
  %vecinit18 = insertelement <2 x half> poison, half %conv17, i64 0
  %arrayidx19 = getelementptr inbounds nuw i8, ptr addrspace(1) %b, i64 1
  %6 = load i8, ptr addrspace(1) %arrayidx19, align 1
  %conv21 = uitofp i8 %6 to half
  %vecinit22 = insertelement <2 x half> %vecinit18, half %conv21, i64 1
  %arrayidx26 = getelementptr inbounds nuw i8, ptr addrspace(1) %arrayidx, i64 256
  store <2 x half> %vecinit22, ptr addrspace(1) %arrayidx26, align 4
  %arrayidx27 = getelementptr inbounds nuw i8, ptr addrspace(1) %f, i64 8
  %7 = load float, ptr addrspace(1) %arrayidx27, align 4
  %conv28 = fptoui float %7 to i8
  %arrayidx29 = getelementptr inbounds nuw i8, ptr addrspace(1) %b, i64 3
  store i8 %conv28, ptr addrspace(1) %arrayidx29, align 1
  ret void
}

define dso_local ptx_kernel void @wide(ptr addrspace(1) noundef captures(none) initializes((0, 8), (40, 48), (56, 64), (80, 88)) %p, ptr addrspace(1) noundef captures(none) initializes((0, 8), (32, 40)) %d, ptr addrspace(1) noundef captures(none) initializes((0, 8), (24, 32), (40, 48)) %s) local_unnamed_addr {
entry:
  %arrayidx = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 8
  %0 = load i64, ptr addrspace(1) %arrayidx, align 8
  %arrayidx1 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 16
  %1 = load i64, ptr addrspace(1) %arrayidx1, align 8
  %mul = mul i64 %1, %0
  %arrayidx2 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 24
  %2 = load i64, ptr addrspace(1) %arrayidx2, align 8
  %arrayidx3 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 32
  %3 = load i64, ptr addrspace(1) %arrayidx3, align 8
  %shr = lshr i64 %2, %3
  %add = add i64 %shr, %mul
  store i64 %add, ptr addrspace(1) %p, align 8
  %arrayidx5 = getelementptr inbounds nuw i8, ptr addrspace(1) %s, i64 8
  %4 = load i64, ptr addrspace(1) %arrayidx5, align 8
  %arrayidx6 = getelementptr inbounds nuw i8, ptr addrspace(1) %s, i64 16
  %5 = load i64, ptr addrspace(1) %arrayidx6, align 8
  %div = sdiv i64 %4, %5
  store i64 %div, ptr addrspace(1) %s, align 8
  %arrayidx8 = getelementptr inbounds nuw i8, ptr addrspace(1) %s, i64 32
  %6 = load i64, ptr addrspace(1) %arrayidx8, align 8
  %rem = srem i64 %6, 7
  %arrayidx9 = getelementptr inbounds nuw i8, ptr addrspace(1) %s, i64 24
  store i64 %rem, ptr addrspace(1) %arrayidx9, align 8
  %arrayidx10 = getelementptr inbounds nuw i8, ptr addrspace(1) %d, i64 8
  %7 = load double, ptr addrspace(1) %arrayidx10, align 8
  %arrayidx11 = getelementptr inbounds nuw i8, ptr addrspace(1) %d, i64 16
  %8 = load double, ptr addrspace(1) %arrayidx11, align 8
  %mul12 = fmul contract double %7, %8
  %arrayidx13 = getelementptr inbounds nuw i8, ptr addrspace(1) %d, i64 24
  %9 = load double, ptr addrspace(1) %arrayidx13, align 8
  %add14 = fadd contract double %mul12, %9
  store double %add14, ptr addrspace(1) %d, align 8
  %conv = sitofp i64 %4 to double
  %arrayidx17 = getelementptr inbounds nuw i8, ptr addrspace(1) %d, i64 32
  store double %conv, ptr addrspace(1) %arrayidx17, align 8
  %arrayidx18 = getelementptr inbounds nuw i8, ptr addrspace(1) %d, i64 40
  %10 = load double, ptr addrspace(1) %arrayidx18, align 8
  %conv19 = fptosi double %10 to i64
  %arrayidx20 = getelementptr inbounds nuw i8, ptr addrspace(1) %s, i64 40
  store i64 %conv19, ptr addrspace(1) %arrayidx20, align 8
  %arrayidx21 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 48
  %11 = load i64, ptr addrspace(1) %arrayidx21, align 8
  %12 = tail call i64 @llvm.bitreverse.i64(i64 %11)
  %arrayidx22 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 40
  store i64 %12, ptr addrspace(1) %arrayidx22, align 8
  %arrayidx23 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 64
  %13 = load i64, ptr addrspace(1) %arrayidx23, align 8
  %14 = tail call range(i64 0, 65) i64 @llvm.ctpop.i64(i64 %13)
  %arrayidx24 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 72
  %15 = load i64, ptr addrspace(1) %arrayidx24, align 8
  %or = or i64 %15, 1
  %16 = tail call range(i64 0, 64) i64 @llvm.ctlz.i64(i64 %or, i1 true)
  %add26 = add nuw nsw i64 %16, %14
  %arrayidx28 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 56
  store i64 %add26, ptr addrspace(1) %arrayidx28, align 8
  %17 = load i64, ptr addrspace(1) %arrayidx, align 8
  %conv30 = zext i64 %17 to i128
  %18 = load i64, ptr addrspace(1) %arrayidx1, align 8
  %conv32 = zext i64 %18 to i128
  %mul33 = mul nuw i128 %conv32, %conv30
  %shr34 = lshr i128 %mul33, 64
  %conv35 = trunc nuw i128 %shr34 to i64
  %arrayidx36 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 80
  store i64 %conv35, ptr addrspace(1) %arrayidx36, align 8
  ret void
}

declare i64 @llvm.bitreverse.i64(i64)

declare i64 @llvm.ctpop.i64(i64)

declare i64 @llvm.ctlz.i64(i64, i1 immarg)

define dso_local ptx_kernel void @bits(ptr addrspace(1) noundef captures(none) %p) local_unnamed_addr {
entry:
  %0 = tail call noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %idxprom = zext nneg i32 %0 to i64
  %arrayidx = getelementptr inbounds nuw i32, ptr addrspace(1) %p, i64 %idxprom
  %1 = load i32, ptr addrspace(1) %arrayidx, align 4
  %arrayidx3 = getelementptr inbounds nuw i8, ptr addrspace(1) %arrayidx, i64 4
  %2 = load i32, ptr addrspace(1) %arrayidx3, align 4
  %and = and i32 %2, %1
  %not = xor i32 %1, -1
  %arrayidx4 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 12
  %3 = load i32, ptr addrspace(1) %arrayidx4, align 4
  %and5 = and i32 %3, %not
  %or = or i32 %and5, %and
  %arrayidx6 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 8
  store i32 %or, ptr addrspace(1) %arrayidx6, align 4
  %4 = tail call i32 @llvm.bswap.i32(i32 %1)
  %arrayidx7 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 16
  store i32 %4, ptr addrspace(1) %arrayidx7, align 4
  %shr = lshr i32 %1, 5
  %and8 = and i32 %shr, 31
  %arrayidx9 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 20
  store i32 %and8, ptr addrspace(1) %arrayidx9, align 4
  %cond = tail call i32 @llvm.umax.i32(i32 %1, i32 %2)
  %arrayidx10 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 24
  store i32 %cond, ptr addrspace(1) %arrayidx10, align 4
  %cond15 = tail call i32 @llvm.smin.i32(i32 %1, i32 %2)
  %arrayidx16 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 28
  store i32 %cond15, ptr addrspace(1) %arrayidx16, align 4
  %5 = tail call i32 @llvm.fshl.i32(i32 %1, i32 %1, i32 %2)
  %arrayidx17 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 32
  store i32 %5, ptr addrspace(1) %arrayidx17, align 4
  %arrayidx19 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 36
  store i32 0, ptr addrspace(1) %arrayidx19, align 4
  %6 = tail call { i32, i1 } @llvm.uadd.with.overflow.i32(i32 %1, i32 %2)
  %7 = extractvalue { i32, i1 } %6, 1
  %8 = extractvalue { i32, i1 } %6, 0
  %cond23 = select i1 %7, i32 1, i32 %8
  %arrayidx24 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 40
  store i32 %cond23, ptr addrspace(1) %arrayidx24, align 4
  ret void
}

declare i32 @llvm.bswap.i32(i32)

declare i32 @llvm.fshl.i32(i32, i32, i32)

declare { i32, i1 } @llvm.uadd.with.overflow.i32(i32, i32)

define dso_local ptx_kernel void @stack(ptr addrspace(1) noundef captures(none) %p) local_unnamed_addr {
entry:
  %buf = alloca [40 x i32], align 4
  call void @llvm.lifetime.start.p0(ptr nonnull %buf)
  br label %for.body

for.body:
  %i.024 = phi i32 [ 0, %entry ], [ %inc.4, %for.body ]
  %idxprom = zext nneg i32 %i.024 to i64
  %arrayidx = getelementptr inbounds nuw i32, ptr addrspace(1) %p, i64 %idxprom
  %0 = load i32, ptr addrspace(1) %arrayidx, align 4
  %arrayidx2 = getelementptr inbounds nuw i32, ptr %buf, i64 %idxprom
  store i32 %0, ptr %arrayidx2, align 4
  %inc = add nuw nsw i32 %i.024, 1
  %idxprom.1 = zext nneg i32 %inc to i64
  %arrayidx.1 = getelementptr inbounds nuw i32, ptr addrspace(1) %p, i64 %idxprom.1
  %1 = load i32, ptr addrspace(1) %arrayidx.1, align 4
  %arrayidx2.1 = getelementptr inbounds nuw i32, ptr %buf, i64 %idxprom.1
  store i32 %1, ptr %arrayidx2.1, align 4
  %inc.1 = add nuw nsw i32 %i.024, 2
  %idxprom.2 = zext nneg i32 %inc.1 to i64
  %arrayidx.2 = getelementptr inbounds nuw i32, ptr addrspace(1) %p, i64 %idxprom.2
  %2 = load i32, ptr addrspace(1) %arrayidx.2, align 4
  %arrayidx2.2 = getelementptr inbounds nuw i32, ptr %buf, i64 %idxprom.2
  store i32 %2, ptr %arrayidx2.2, align 4
  %inc.2 = add nuw nsw i32 %i.024, 3
  %idxprom.3 = zext nneg i32 %inc.2 to i64
  %arrayidx.3 = getelementptr inbounds nuw i32, ptr addrspace(1) %p, i64 %idxprom.3
  %3 = load i32, ptr addrspace(1) %arrayidx.3, align 4
  %arrayidx2.3 = getelementptr inbounds nuw i32, ptr %buf, i64 %idxprom.3
  store i32 %3, ptr %arrayidx2.3, align 4
  %inc.3 = add nuw nsw i32 %i.024, 4
  %idxprom.4 = zext nneg i32 %inc.3 to i64
  %arrayidx.4 = getelementptr inbounds nuw i32, ptr addrspace(1) %p, i64 %idxprom.4
  %4 = load i32, ptr addrspace(1) %arrayidx.4, align 4
  %arrayidx2.4 = getelementptr inbounds nuw i32, ptr %buf, i64 %idxprom.4
  store i32 %4, ptr %arrayidx2.4, align 4
  %inc.4 = add nuw nsw i32 %i.024, 5
  %exitcond.not.4 = icmp eq i32 %inc.4, 40
  br i1 %exitcond.not.4, label %for.body7, label %for.body

for.cond.cleanup6:
  store i32 %add.1, ptr addrspace(1) %p, align 4
  call void @llvm.lifetime.end.p0(ptr nonnull %buf)
  ret void

for.body7:
  %i3.026 = phi i32 [ %inc13.1, %for.body7 ], [ 0, %for.body ]
  %s.025 = phi i32 [ %add.1, %for.body7 ], [ 0, %for.body ]
  %idxprom8 = zext nneg i32 %i3.026 to i64
  %arrayidx9 = getelementptr inbounds nuw i32, ptr addrspace(1) %p, i64 %idxprom8
  %5 = load i32, ptr addrspace(1) %arrayidx9, align 4
  %and = and i32 %5, 31
  %idxprom10 = zext nneg i32 %and to i64
  %arrayidx11 = getelementptr inbounds nuw i32, ptr %buf, i64 %idxprom10
  %6 = load i32, ptr %arrayidx11, align 4
  %add = add nsw i32 %6, %s.025
  %7 = zext nneg i32 %i3.026 to i64
  %8 = getelementptr inbounds nuw i32, ptr addrspace(1) %p, i64 %7
  %arrayidx9.1 = getelementptr inbounds nuw i8, ptr addrspace(1) %8, i64 4
  %9 = load i32, ptr addrspace(1) %arrayidx9.1, align 4
  %and.1 = and i32 %9, 31
  %idxprom10.1 = zext nneg i32 %and.1 to i64
  %arrayidx11.1 = getelementptr inbounds nuw i32, ptr %buf, i64 %idxprom10.1
  %10 = load i32, ptr %arrayidx11.1, align 4
  %add.1 = add nsw i32 %10, %add
  %inc13.1 = add nuw nsw i32 %i3.026, 2
  %exitcond27.not.1 = icmp eq i32 %inc13.1, 40
  br i1 %exitcond27.not.1, label %for.cond.cleanup6, label %for.body7
}

define dso_local ptx_kernel void @math(ptr addrspace(1) noundef captures(none) %p) local_unnamed_addr {
entry:
  %0 = tail call noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %idxprom = zext nneg i32 %0 to i64
  %arrayidx = getelementptr inbounds nuw float, ptr addrspace(1) %p, i64 %idxprom
  %1 = load float, ptr addrspace(1) %arrayidx, align 4
  %2 = tail call contract float @llvm.nvvm.ex2.approx.f32(float %1)
  %arrayidx1 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 4
  store float %2, ptr addrspace(1) %arrayidx1, align 4
  %3 = tail call contract float @llvm.nvvm.sqrt.approx.f(float %1)
  %arrayidx2 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 8
  store float %3, ptr addrspace(1) %arrayidx2, align 4
  %4 = tail call contract float @llvm.nvvm.rcp.approx.ftz.f(float %1)
  %arrayidx3 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 12
  store float %4, ptr addrspace(1) %arrayidx3, align 4
  %arrayidx4 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 20
  %5 = load float, ptr addrspace(1) %arrayidx4, align 4
  %6 = tail call contract float @llvm.maxnum.f32(float %1, float %5)
  %arrayidx5 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 16
  store float %6, ptr addrspace(1) %arrayidx5, align 4
  %7 = tail call contract float @llvm.fabs.f32(float %1)
  %8 = tail call contract float @llvm.floor.f32(float %1)
  %add = fadd contract float %7, %8
  %9 = tail call contract float @llvm.copysign.f32(float 1.000000e+00, float %1)
  %add6 = fadd contract float %9, %add
  %arrayidx7 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 24
  store float %add6, ptr addrspace(1) %arrayidx7, align 4
  %arrayidx8 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 32
  %10 = load float, ptr addrspace(1) %arrayidx8, align 4
  %div = fdiv contract float %1, %10
  %arrayidx9 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 28
  store float %div, ptr addrspace(1) %arrayidx9, align 4
  %11 = tail call contract float @llvm.sqrt.f32(float %1)
  %arrayidx10 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 36
  store float %11, ptr addrspace(1) %arrayidx10, align 4
  %12 = tail call contract float @llvm.nvvm.lg2.approx.f(float %1)
  %13 = tail call contract float @llvm.nvvm.rsqrt.approx.f(float %1)
  %add11 = fadd contract float %12, %13
  %arrayidx12 = getelementptr inbounds nuw i8, ptr addrspace(1) %p, i64 40
  store float %add11, ptr addrspace(1) %arrayidx12, align 4
  ret void
}

declare float @llvm.nvvm.ex2.approx.f32(float)

declare float @llvm.nvvm.sqrt.approx.f(float)

declare float @llvm.nvvm.rcp.approx.ftz.f(float)

declare float @llvm.maxnum.f32(float, float)

declare float @llvm.fabs.f32(float)

declare float @llvm.floor.f32(float)

declare float @llvm.copysign.f32(float, float)

declare float @llvm.sqrt.f32(float)

declare float @llvm.nvvm.lg2.approx.f(float)

declare float @llvm.nvvm.rsqrt.approx.f(float)

define dso_local ptx_kernel void @async(ptr addrspace(1) noundef %g, ptr addrspace(1) noundef writeonly captures(none) %o) local_unnamed_addr {
entry:
  %0 = tail call noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mul = shl nuw nsw i32 %0, 3
  %idxprom = zext nneg i32 %mul to i64
  %arrayidx = getelementptr inbounds nuw half, ptr addrspace(3) @smem, i64 %idxprom
  tail call void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3) %arrayidx, ptr addrspace(1) %g)
  tail call void @llvm.nvvm.cp.async.commit.group()
  tail call void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3) %arrayidx, ptr addrspace(1) %g)
  tail call void @llvm.nvvm.cp.async.commit.group()
  tail call void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3) %arrayidx, ptr addrspace(1) %g)
  tail call void @llvm.nvvm.cp.async.commit.group()
  tail call void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3) %arrayidx, ptr addrspace(1) %g)
  tail call void @llvm.nvvm.cp.async.commit.group()
  tail call void @llvm.nvvm.cp.async.wait.group(i32 0)
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %idxprom2 = zext nneg i32 %0 to i64
  %arrayidx3 = getelementptr inbounds nuw half, ptr addrspace(3) @smem, i64 %idxprom2
  %1 = load half, ptr addrspace(3) %arrayidx3, align 2
  %conv = fpext contract half %1 to float
  %arrayidx6 = getelementptr inbounds nuw float, ptr addrspace(1) %o, i64 %idxprom2
  store float %conv, ptr addrspace(1) %arrayidx6, align 4
  ret void
}

declare void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3) noalias writeonly, ptr addrspace(1) noalias readonly)

declare void @llvm.nvvm.cp.async.commit.group()

declare void @llvm.nvvm.cp.async.wait.group(i32 immarg)

declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x()

declare i32 @llvm.umax.i32(i32, i32)

declare i32 @llvm.smin.i32(i32, i32)

