; What clang 22 makes of test/unit/sim/machine/cuda/programs.cu.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%struct.__half = type { i16 }
%struct.__half2 = type { %struct.__half, %struct.__half }
%struct.float2.0 = type { float, float }

@_ZZ6reduceE7partial = internal unnamed_addr addrspace(3) global [32 x float] undef, align 4
@_ZZ4scanE4sums = internal unnamed_addr addrspace(3) global [256 x i32] undef, align 4
@_ZZ9transposeE4tile = internal unnamed_addr addrspace(3) global [32 x [33 x float]] undef, align 4
@_ZZ9histogramE4bins = internal addrspace(3) global [256 x i32] undef, align 4
@arrived = dso_local addrspace(1) externally_initialized global i32 0, align 4
@_ZZ9reduceAllE4sums = internal unnamed_addr addrspace(3) global [128 x float] undef, align 4
@_ZZ9reduceAllE6isLast = internal unnamed_addr addrspace(3) global i8 undef, align 1
@_ZZ4gemmE5tileA = internal addrspace(3) global [2 x [64 x [40 x %struct.__half]]] undef, align 16
@_ZZ4gemmE5tileB = internal addrspace(3) global [2 x [64 x [40 x %struct.__half]]] undef, align 16
@llvm.compiler.used = appending global [1 x ptr] [ptr addrspacecast (ptr addrspace(1) @arrived to ptr)], section "llvm.metadata"

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @reduce(ptr noundef readonly captures(none) %0, ptr noundef writeonly captures(none) %1, i32 noundef %2) local_unnamed_addr {
  %4 = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %5 = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = mul i32 %4, %5
  %7 = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %8 = add i32 %6, %7
  %9 = icmp slt i32 %8, %2
  br i1 %9, label %10, label %13

10:
  %11 = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %12 = mul i32 %11, %5
  br label %26

13:
  %14 = phi float [ 0.000000e+00, %3 ], [ %32, %26 ]
  %15 = tail call contract noundef float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %14, i32 16, i32 31)
  %16 = fadd contract float %14, %15
  %17 = tail call contract noundef float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %16, i32 8, i32 31)
  %18 = fadd contract float %16, %17
  %19 = tail call contract noundef float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %18, i32 4, i32 31)
  %20 = fadd contract float %18, %19
  %21 = tail call contract noundef float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %20, i32 2, i32 31)
  %22 = fadd contract float %20, %21
  %23 = tail call contract noundef float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %22, i32 1, i32 31)
  %24 = and i32 %7, 31
  %25 = icmp eq i32 %24, 0
  br i1 %25, label %35, label %40

26:
  %27 = phi i32 [ %8, %10 ], [ %33, %26 ]
  %28 = phi float [ 0.000000e+00, %10 ], [ %32, %26 ]
  %29 = sext i32 %27 to i64
  %30 = getelementptr inbounds float, ptr %0, i64 %29
  %31 = load float, ptr %30, align 4
  %32 = fadd contract float %28, %31
  %33 = add i32 %27, %12
  %34 = icmp slt i32 %33, %2
  br i1 %34, label %26, label %13

35:
  %36 = fadd contract float %22, %23
  %37 = lshr exact i32 %7, 5
  %38 = zext nneg i32 %37 to i64
  %39 = getelementptr inbounds nuw float, ptr addrspacecast (ptr addrspace(3) @_ZZ6reduceE7partial to ptr), i64 %38
  store float %36, ptr %39, align 4
  br label %40

40:
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %41 = icmp samesign ult i32 %7, 32
  br i1 %41, label %42, label %65

42:
  %43 = lshr i32 %5, 5
  %44 = icmp samesign ult i32 %7, %43
  br i1 %44, label %45, label %49

45:
  %46 = zext nneg i32 %7 to i64
  %47 = getelementptr inbounds nuw float, ptr addrspacecast (ptr addrspace(3) @_ZZ6reduceE7partial to ptr), i64 %46
  %48 = load float, ptr %47, align 4
  br label %49

49:
  %50 = phi contract float [ %48, %45 ], [ 0.000000e+00, %42 ]
  %51 = tail call contract noundef float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %50, i32 16, i32 31)
  %52 = fadd contract float %50, %51
  %53 = tail call contract noundef float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %52, i32 8, i32 31)
  %54 = fadd contract float %52, %53
  %55 = tail call contract noundef float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %54, i32 4, i32 31)
  %56 = fadd contract float %54, %55
  %57 = tail call contract noundef float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %56, i32 2, i32 31)
  %58 = fadd contract float %56, %57
  %59 = tail call contract noundef float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %58, i32 1, i32 31)
  %60 = icmp eq i32 %7, 0
  br i1 %60, label %61, label %65

61:
  %62 = fadd contract float %58, %59
  %63 = zext nneg i32 %4 to i64
  %64 = getelementptr inbounds nuw float, ptr %1, i64 %63
  store float %62, ptr %64, align 4
  br label %65

65:
  ret void
}

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @scan(ptr noundef readonly captures(none) %0, ptr noundef writeonly captures(none) %1) local_unnamed_addr {
  %3 = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %4 = shl i32 %3, 8
  %5 = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %6 = add i32 %4, %5
  %7 = zext i32 %6 to i64
  %8 = getelementptr inbounds nuw i32, ptr %0, i64 %7
  %9 = load i32, ptr %8, align 4
  %10 = zext nneg i32 %5 to i64
  %11 = getelementptr inbounds nuw i32, ptr addrspacecast (ptr addrspace(3) @_ZZ4scanE4sums to ptr), i64 %10
  store i32 %9, ptr %11, align 4
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %12 = icmp eq i32 %5, 0
  br i1 %12, label %18, label %13

13:
  %14 = zext nneg i32 %5 to i64
  %15 = getelementptr i32, ptr addrspacecast (ptr addrspace(3) @_ZZ4scanE4sums to ptr), i64 %14
  %16 = getelementptr i8, ptr %15, i64 -4
  %17 = load i32, ptr %16, align 4
  br label %18

18:
  %19 = phi i32 [ %17, %13 ], [ 0, %2 ]
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %20 = load i32, ptr %11, align 4
  %21 = add nsw i32 %20, %19
  store i32 %21, ptr %11, align 4
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %22 = icmp samesign ult i32 %5, 2
  br i1 %22, label %28, label %23

23:
  %24 = zext nneg i32 %5 to i64
  %25 = getelementptr i32, ptr addrspacecast (ptr addrspace(3) @_ZZ4scanE4sums to ptr), i64 %24
  %26 = getelementptr i8, ptr %25, i64 -8
  %27 = load i32, ptr %26, align 4
  br label %28

28:
  %29 = phi i32 [ %27, %23 ], [ 0, %18 ]
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %30 = load i32, ptr %11, align 4
  %31 = add nsw i32 %30, %29
  store i32 %31, ptr %11, align 4
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %32 = icmp samesign ult i32 %5, 4
  br i1 %32, label %38, label %33

33:
  %34 = zext nneg i32 %5 to i64
  %35 = getelementptr i32, ptr addrspacecast (ptr addrspace(3) @_ZZ4scanE4sums to ptr), i64 %34
  %36 = getelementptr i8, ptr %35, i64 -16
  %37 = load i32, ptr %36, align 4
  br label %38

38:
  %39 = phi i32 [ %37, %33 ], [ 0, %28 ]
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %40 = load i32, ptr %11, align 4
  %41 = add nsw i32 %40, %39
  store i32 %41, ptr %11, align 4
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %42 = icmp samesign ult i32 %5, 8
  br i1 %42, label %48, label %43

43:
  %44 = zext nneg i32 %5 to i64
  %45 = getelementptr i32, ptr addrspacecast (ptr addrspace(3) @_ZZ4scanE4sums to ptr), i64 %44
  %46 = getelementptr i8, ptr %45, i64 -32
  %47 = load i32, ptr %46, align 4
  br label %48

48:
  %49 = phi i32 [ %47, %43 ], [ 0, %38 ]
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %50 = load i32, ptr %11, align 4
  %51 = add nsw i32 %50, %49
  store i32 %51, ptr %11, align 4
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %52 = icmp samesign ult i32 %5, 16
  br i1 %52, label %58, label %53

53:
  %54 = zext nneg i32 %5 to i64
  %55 = getelementptr i32, ptr addrspacecast (ptr addrspace(3) @_ZZ4scanE4sums to ptr), i64 %54
  %56 = getelementptr i8, ptr %55, i64 -64
  %57 = load i32, ptr %56, align 4
  br label %58

58:
  %59 = phi i32 [ %57, %53 ], [ 0, %48 ]
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %60 = load i32, ptr %11, align 4
  %61 = add nsw i32 %60, %59
  store i32 %61, ptr %11, align 4
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %62 = icmp samesign ult i32 %5, 32
  br i1 %62, label %68, label %63

63:
  %64 = zext nneg i32 %5 to i64
  %65 = getelementptr i32, ptr addrspacecast (ptr addrspace(3) @_ZZ4scanE4sums to ptr), i64 %64
  %66 = getelementptr i8, ptr %65, i64 -128
  %67 = load i32, ptr %66, align 4
  br label %68

68:
  %69 = phi i32 [ %67, %63 ], [ 0, %58 ]
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %70 = load i32, ptr %11, align 4
  %71 = add nsw i32 %70, %69
  store i32 %71, ptr %11, align 4
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %72 = icmp samesign ult i32 %5, 64
  br i1 %72, label %78, label %73

73:
  %74 = zext nneg i32 %5 to i64
  %75 = getelementptr i32, ptr addrspacecast (ptr addrspace(3) @_ZZ4scanE4sums to ptr), i64 %74
  %76 = getelementptr i8, ptr %75, i64 -256
  %77 = load i32, ptr %76, align 4
  br label %78

78:
  %79 = phi i32 [ %77, %73 ], [ 0, %68 ]
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %80 = load i32, ptr %11, align 4
  %81 = add nsw i32 %80, %79
  store i32 %81, ptr %11, align 4
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %82 = icmp samesign ult i32 %5, 128
  br i1 %82, label %88, label %83

83:
  %84 = zext nneg i32 %5 to i64
  %85 = getelementptr i32, ptr addrspacecast (ptr addrspace(3) @_ZZ4scanE4sums to ptr), i64 %84
  %86 = getelementptr i8, ptr %85, i64 -512
  %87 = load i32, ptr %86, align 4
  br label %88

88:
  %89 = phi i32 [ %87, %83 ], [ 0, %78 ]
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %90 = load i32, ptr %11, align 4
  %91 = add nsw i32 %90, %89
  store i32 %91, ptr %11, align 4
  %92 = getelementptr inbounds nuw i32, ptr %1, i64 %7
  store i32 %91, ptr %92, align 4
  ret void
}

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @transpose(ptr noundef readonly captures(none) %0, ptr noundef writeonly captures(none) %1, i32 noundef %2, i32 noundef %3) local_unnamed_addr {
  %5 = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %6 = shl i32 %5, 5
  %7 = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %8 = add i32 %6, %7
  %9 = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %10 = shl nuw nsw i32 %9, 5
  %11 = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %12 = add nuw nsw i32 %10, %11
  %13 = icmp slt i32 %8, %3
  %14 = zext nneg i32 %7 to i64
  %15 = getelementptr inbounds nuw float, ptr addrspacecast (ptr addrspace(3) @_ZZ9transposeE4tile to ptr), i64 %14
  %16 = icmp slt i32 %12, %2
  %17 = select i1 %13, i1 %16, i1 false
  br i1 %17, label %18, label %26

18:
  %19 = mul nsw i32 %12, %3
  %20 = add nsw i32 %19, %8
  %21 = sext i32 %20 to i64
  %22 = getelementptr inbounds float, ptr %0, i64 %21
  %23 = load float, ptr %22, align 4
  %24 = zext nneg i32 %11 to i64
  %25 = getelementptr inbounds nuw [33 x float], ptr %15, i64 %24
  store float %23, ptr %25, align 4
  br label %26

26:
  br i1 %13, label %27, label %63

27:
  %28 = add nuw nsw i32 %12, 8
  %29 = icmp slt i32 %28, %2
  br i1 %29, label %30, label %39

30:
  %31 = mul nsw i32 %28, %3
  %32 = add nsw i32 %31, %8
  %33 = sext i32 %32 to i64
  %34 = getelementptr inbounds float, ptr %0, i64 %33
  %35 = load float, ptr %34, align 4
  %36 = zext nneg i32 %11 to i64
  %37 = getelementptr inbounds nuw [33 x float], ptr %15, i64 %36
  %38 = getelementptr inbounds nuw i8, ptr %37, i64 1056
  store float %35, ptr %38, align 4
  br label %39

39:
  %40 = add nuw nsw i32 %12, 16
  %41 = icmp slt i32 %40, %2
  br i1 %41, label %42, label %51

42:
  %43 = mul nsw i32 %40, %3
  %44 = add nsw i32 %43, %8
  %45 = sext i32 %44 to i64
  %46 = getelementptr inbounds float, ptr %0, i64 %45
  %47 = load float, ptr %46, align 4
  %48 = zext nneg i32 %11 to i64
  %49 = getelementptr inbounds nuw [33 x float], ptr %15, i64 %48
  %50 = getelementptr inbounds nuw i8, ptr %49, i64 2112
  store float %47, ptr %50, align 4
  br label %51

51:
  %52 = add nuw nsw i32 %12, 24
  %53 = icmp slt i32 %52, %2
  br i1 %53, label %54, label %63

54:
  %55 = mul nsw i32 %52, %3
  %56 = add nsw i32 %55, %8
  %57 = sext i32 %56 to i64
  %58 = getelementptr inbounds float, ptr %0, i64 %57
  %59 = load float, ptr %58, align 4
  %60 = zext nneg i32 %11 to i64
  %61 = getelementptr inbounds nuw [33 x float], ptr %15, i64 %60
  %62 = getelementptr inbounds nuw i8, ptr %61, i64 3168
  store float %59, ptr %62, align 4
  br label %63

63:
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %64 = add nuw nsw i32 %10, %7
  %65 = add i32 %6, %11
  %66 = icmp slt i32 %64, %2
  %67 = getelementptr inbounds nuw [33 x float], ptr addrspacecast (ptr addrspace(3) @_ZZ9transposeE4tile to ptr), i64 %14
  %68 = icmp slt i32 %65, %3
  %69 = and i1 %66, %68
  br i1 %69, label %70, label %78

70:
  %71 = zext nneg i32 %11 to i64
  %72 = getelementptr inbounds nuw float, ptr %67, i64 %71
  %73 = load float, ptr %72, align 4
  %74 = mul nsw i32 %65, %2
  %75 = add nsw i32 %74, %64
  %76 = sext i32 %75 to i64
  %77 = getelementptr inbounds float, ptr %1, i64 %76
  store float %73, ptr %77, align 4
  br label %78

78:
  br i1 %66, label %79, label %115

79:
  %80 = add nsw i32 %65, 8
  %81 = icmp slt i32 %80, %3
  br i1 %81, label %82, label %91

82:
  %83 = zext nneg i32 %11 to i64
  %84 = getelementptr inbounds nuw float, ptr %67, i64 %83
  %85 = getelementptr inbounds nuw i8, ptr %84, i64 32
  %86 = load float, ptr %85, align 4
  %87 = mul nsw i32 %80, %2
  %88 = add nsw i32 %87, %64
  %89 = sext i32 %88 to i64
  %90 = getelementptr inbounds float, ptr %1, i64 %89
  store float %86, ptr %90, align 4
  br label %91

91:
  %92 = add nsw i32 %65, 16
  %93 = icmp slt i32 %92, %3
  br i1 %93, label %94, label %103

94:
  %95 = zext nneg i32 %11 to i64
  %96 = getelementptr inbounds nuw float, ptr %67, i64 %95
  %97 = getelementptr inbounds nuw i8, ptr %96, i64 64
  %98 = load float, ptr %97, align 4
  %99 = mul nsw i32 %92, %2
  %100 = add nsw i32 %99, %64
  %101 = sext i32 %100 to i64
  %102 = getelementptr inbounds float, ptr %1, i64 %101
  store float %98, ptr %102, align 4
  br label %103

103:
  %104 = add nsw i32 %65, 24
  %105 = icmp slt i32 %104, %3
  br i1 %105, label %106, label %115

106:
  %107 = zext nneg i32 %11 to i64
  %108 = getelementptr inbounds nuw float, ptr %67, i64 %107
  %109 = getelementptr inbounds nuw i8, ptr %108, i64 96
  %110 = load float, ptr %109, align 4
  %111 = mul nsw i32 %104, %2
  %112 = add nsw i32 %111, %64
  %113 = sext i32 %112 to i64
  %114 = getelementptr inbounds float, ptr %1, i64 %113
  store float %110, ptr %114, align 4
  br label %115

115:
  ret void
}

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @histogram(ptr noundef readonly captures(none) %0, ptr noundef captures(none) %1, i32 noundef %2) local_unnamed_addr {
  %4 = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = icmp samesign ult i32 %4, 256
  %6 = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  br i1 %5, label %15, label %7

7:
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %8 = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %9 = mul i32 %8, %6
  %10 = add i32 %9, %4
  %11 = icmp slt i32 %10, %2
  br i1 %11, label %12, label %21

12:
  %13 = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %14 = mul i32 %13, %6
  br label %22

15:
  %16 = phi i32 [ %19, %15 ], [ %4, %3 ]
  %17 = zext nneg i32 %16 to i64
  %18 = getelementptr inbounds nuw i32, ptr addrspacecast (ptr addrspace(3) @_ZZ9histogramE4bins to ptr), i64 %17
  store i32 0, ptr %18, align 4
  %19 = add nuw nsw i32 %16, %6
  %20 = icmp samesign ult i32 %19, 256
  br i1 %20, label %15, label %7

21:
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %5, label %33, label %32

22:
  %23 = phi i32 [ %10, %12 ], [ %30, %22 ]
  %24 = sext i32 %23 to i64
  %25 = getelementptr inbounds i8, ptr %0, i64 %24
  %26 = load i8, ptr %25, align 1
  %27 = zext i8 %26 to i64
  %28 = getelementptr inbounds nuw i32, ptr addrspacecast (ptr addrspace(3) @_ZZ9histogramE4bins to ptr), i64 %27
  %29 = atomicrmw add ptr %28, i32 1 seq_cst, align 4
  %30 = add i32 %23, %14
  %31 = icmp slt i32 %30, %2
  br i1 %31, label %22, label %21

32:
  ret void

33:
  %34 = phi i32 [ %40, %33 ], [ %4, %21 ]
  %35 = zext nneg i32 %34 to i64
  %36 = getelementptr inbounds nuw i32, ptr %1, i64 %35
  %37 = getelementptr inbounds nuw i32, ptr addrspacecast (ptr addrspace(3) @_ZZ9histogramE4bins to ptr), i64 %35
  %38 = load i32, ptr %37, align 4
  %39 = atomicrmw add ptr %36, i32 %38 seq_cst, align 4
  %40 = add nuw nsw i32 %34, %6
  %41 = icmp samesign ult i32 %40, 256
  br i1 %41, label %33, label %32
}

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @reduceAll(ptr noundef readonly captures(none) %0, ptr noundef %1, ptr noundef writeonly captures(none) %2, i32 noundef %3) local_unnamed_addr {
  %5 = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %6 = shl i32 %5, 7
  %7 = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %8 = add i32 %6, %7
  %9 = icmp slt i32 %8, %3
  br i1 %9, label %10, label %13

10:
  %11 = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %12 = shl i32 %11, 7
  br label %18

13:
  %14 = phi float [ 0.000000e+00, %4 ], [ %24, %18 ]
  %15 = zext nneg i32 %7 to i64
  %16 = getelementptr inbounds nuw float, ptr addrspacecast (ptr addrspace(3) @_ZZ9reduceAllE4sums to ptr), i64 %15
  store float %14, ptr %16, align 4
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %17 = icmp samesign ult i32 %7, 64
  br i1 %17, label %27, label %34

18:
  %19 = phi i32 [ %8, %10 ], [ %25, %18 ]
  %20 = phi float [ 0.000000e+00, %10 ], [ %24, %18 ]
  %21 = sext i32 %19 to i64
  %22 = getelementptr inbounds float, ptr %0, i64 %21
  %23 = load float, ptr %22, align 4
  %24 = fadd contract float %20, %23
  %25 = add i32 %19, %12
  %26 = icmp slt i32 %25, %3
  br i1 %26, label %18, label %13

27:
  %28 = zext nneg i32 %7 to i64
  %29 = getelementptr inbounds nuw float, ptr addrspacecast (ptr addrspace(3) @_ZZ9reduceAllE4sums to ptr), i64 %28
  %30 = getelementptr inbounds nuw i8, ptr %29, i64 256
  %31 = load float, ptr %30, align 4
  %32 = load float, ptr %16, align 4
  %33 = fadd contract float %31, %32
  store float %33, ptr %16, align 4
  br label %34

34:
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %35 = icmp samesign ult i32 %7, 32
  br i1 %35, label %36, label %43

36:
  %37 = zext nneg i32 %7 to i64
  %38 = getelementptr inbounds nuw float, ptr addrspacecast (ptr addrspace(3) @_ZZ9reduceAllE4sums to ptr), i64 %37
  %39 = getelementptr inbounds nuw i8, ptr %38, i64 128
  %40 = load float, ptr %39, align 4
  %41 = load float, ptr %16, align 4
  %42 = fadd contract float %40, %41
  store float %42, ptr %16, align 4
  br label %43

43:
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %44 = icmp samesign ult i32 %7, 16
  br i1 %44, label %45, label %52

45:
  %46 = zext nneg i32 %7 to i64
  %47 = getelementptr inbounds nuw float, ptr addrspacecast (ptr addrspace(3) @_ZZ9reduceAllE4sums to ptr), i64 %46
  %48 = getelementptr inbounds nuw i8, ptr %47, i64 64
  %49 = load float, ptr %48, align 4
  %50 = load float, ptr %16, align 4
  %51 = fadd contract float %49, %50
  store float %51, ptr %16, align 4
  br label %52

52:
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %53 = icmp samesign ult i32 %7, 8
  br i1 %53, label %54, label %61

54:
  %55 = zext nneg i32 %7 to i64
  %56 = getelementptr inbounds nuw float, ptr addrspacecast (ptr addrspace(3) @_ZZ9reduceAllE4sums to ptr), i64 %55
  %57 = getelementptr inbounds nuw i8, ptr %56, i64 32
  %58 = load float, ptr %57, align 4
  %59 = load float, ptr %16, align 4
  %60 = fadd contract float %58, %59
  store float %60, ptr %16, align 4
  br label %61

61:
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %62 = icmp samesign ult i32 %7, 4
  br i1 %62, label %63, label %70

63:
  %64 = zext nneg i32 %7 to i64
  %65 = getelementptr inbounds nuw float, ptr addrspacecast (ptr addrspace(3) @_ZZ9reduceAllE4sums to ptr), i64 %64
  %66 = getelementptr inbounds nuw i8, ptr %65, i64 16
  %67 = load float, ptr %66, align 4
  %68 = load float, ptr %16, align 4
  %69 = fadd contract float %67, %68
  store float %69, ptr %16, align 4
  br label %70

70:
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %71 = icmp samesign ult i32 %7, 2
  br i1 %71, label %72, label %79

72:
  %73 = zext nneg i32 %7 to i64
  %74 = getelementptr inbounds nuw float, ptr addrspacecast (ptr addrspace(3) @_ZZ9reduceAllE4sums to ptr), i64 %73
  %75 = getelementptr inbounds nuw i8, ptr %74, i64 8
  %76 = load float, ptr %75, align 4
  %77 = load float, ptr %16, align 4
  %78 = fadd contract float %76, %77
  store float %78, ptr %16, align 4
  br label %79

79:
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %80 = icmp eq i32 %7, 0
  br i1 %80, label %81, label %85

81:
  %82 = load float, ptr getelementptr inbounds nuw (i8, ptr addrspacecast (ptr addrspace(3) @_ZZ9reduceAllE4sums to ptr), i64 4), align 4
  %83 = load float, ptr %16, align 4
  %84 = fadd contract float %82, %83
  store float %84, ptr %16, align 4
  br label %85

85:
  %86 = icmp eq i32 %7, 0
  br i1 %86, label %87, label %96

87:
  %88 = load float, ptr addrspacecast (ptr addrspace(3) @_ZZ9reduceAllE4sums to ptr), align 4
  %89 = zext nneg i32 %5 to i64
  %90 = getelementptr inbounds nuw float, ptr %1, i64 %89
  store volatile float %88, ptr %90, align 4
  tail call void @llvm.nvvm.membar.gl()
  %91 = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %92 = add nsw i32 %91, -1
  %93 = atomicrmw uinc_wrap ptr addrspacecast (ptr addrspace(1) @arrived to ptr), i32 %92 seq_cst, align 4
  %94 = icmp eq i32 %93, %92
  %95 = zext i1 %94 to i8
  store i8 %95, ptr addrspacecast (ptr addrspace(3) @_ZZ9reduceAllE6isLast to ptr), align 1
  br label %96

96:
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %97 = load i8, ptr addrspacecast (ptr addrspace(3) @_ZZ9reduceAllE6isLast to ptr), align 1
  %98 = trunc nuw i8 %97 to i1
  %99 = and i1 %86, %98
  br i1 %99, label %100, label %151

100:
  %101 = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %102 = and i32 %101, 3
  %103 = icmp samesign ult i32 %101, 4
  br i1 %103, label %108, label %104

104:
  %105 = and i32 %101, 2147483644
  br label %125

106:
  %107 = icmp eq i32 %102, 0
  br i1 %107, label %123, label %108

108:
  %109 = phi i32 [ 0, %100 ], [ %148, %106 ]
  %110 = phi float [ 0.000000e+00, %100 ], [ %147, %106 ]
  %111 = icmp ne i32 %102, 0
  tail call void @llvm.assume(i1 %111)
  br label %112

112:
  %113 = phi i32 [ %109, %108 ], [ %120, %112 ]
  %114 = phi float [ %110, %108 ], [ %119, %112 ]
  %115 = phi i32 [ 0, %108 ], [ %121, %112 ]
  %116 = zext nneg i32 %113 to i64
  %117 = getelementptr inbounds nuw float, ptr %1, i64 %116
  %118 = load volatile float, ptr %117, align 4
  %119 = fadd contract float %114, %118
  %120 = add nuw nsw i32 %113, 1
  %121 = add i32 %115, 1
  %122 = icmp eq i32 %121, %102
  br i1 %122, label %123, label %112

123:
  %124 = phi float [ %147, %106 ], [ %119, %112 ]
  store float %124, ptr %2, align 4
  br label %151

125:
  %126 = phi i32 [ 0, %104 ], [ %148, %125 ]
  %127 = phi float [ 0.000000e+00, %104 ], [ %147, %125 ]
  %128 = phi i32 [ 0, %104 ], [ %149, %125 ]
  %129 = zext nneg i32 %126 to i64
  %130 = getelementptr inbounds nuw float, ptr %1, i64 %129
  %131 = load volatile float, ptr %130, align 4
  %132 = fadd contract float %127, %131
  %133 = zext nneg i32 %126 to i64
  %134 = getelementptr inbounds nuw float, ptr %1, i64 %133
  %135 = getelementptr inbounds nuw i8, ptr %134, i64 4
  %136 = load volatile float, ptr %135, align 4
  %137 = fadd contract float %132, %136
  %138 = zext nneg i32 %126 to i64
  %139 = getelementptr inbounds nuw float, ptr %1, i64 %138
  %140 = getelementptr inbounds nuw i8, ptr %139, i64 8
  %141 = load volatile float, ptr %140, align 4
  %142 = fadd contract float %137, %141
  %143 = zext nneg i32 %126 to i64
  %144 = getelementptr inbounds nuw float, ptr %1, i64 %143
  %145 = getelementptr inbounds nuw i8, ptr %144, i64 12
  %146 = load volatile float, ptr %145, align 4
  %147 = fadd contract float %142, %146
  %148 = add nuw nsw i32 %126, 4
  %149 = add i32 %128, 4
  %150 = icmp eq i32 %149, %105
  br i1 %150, label %106, label %125

151:
  ret void
}

; Function Attrs: convergent noinline norecurse nounwind memory(argmem: readwrite, inaccessiblemem: readwrite)
define dso_local ptx_kernel void @decode(ptr noundef readonly captures(none) %0, ptr noundef readonly captures(none) %1, ptr noundef readonly captures(none) %2, ptr noundef writeonly captures(none) %3, i32 noundef %4, i32 noundef %5, i32 noundef %6, float noundef %7) local_unnamed_addr {
  %9 = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %10 = mul nsw i32 %6, %9
  %11 = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %12 = add i32 %10, %11
  %13 = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %14 = shl nsw i32 %12, 6
  %15 = sext i32 %14 to i64
  %16 = getelementptr inbounds %struct.__half, ptr %0, i64 %15
  %17 = zext nneg i32 %13 to i64
  %18 = getelementptr inbounds nuw %struct.__half2, ptr %16, i64 %17
  %19 = load i32, ptr %18, align 4
  %20 = tail call contract float asm "{.reg .f16 low,high;\0A  mov.b32 {low,high},$1;\0A  cvt.f32.f16 $0, low;}\0A", "=f,r"(i32 %19)
  %21 = tail call contract float asm "{.reg .f16 low,high;\0A  mov.b32 {low,high},$1;\0A  cvt.f32.f16 $0, high;}\0A", "=f,r"(i32 %19)
  %22 = getelementptr %struct.__half2, ptr %1, i64 %17
  %23 = getelementptr %struct.__half2, ptr %2, i64 %17
  %24 = icmp sgt i32 %4, 0
  br i1 %24, label %34, label %25

25:
  %26 = phi float [ 0.000000e+00, %8 ], [ %73, %34 ]
  %27 = phi float [ 0.000000e+00, %8 ], [ %76, %34 ]
  %28 = phi float [ 0.000000e+00, %8 ], [ %78, %34 ]
  %29 = fdiv contract float %26, %28
  %30 = fdiv contract float %27, %28
  %31 = getelementptr inbounds float, ptr %3, i64 %15
  %32 = getelementptr inbounds nuw %struct.float2.0, ptr %31, i64 %17
  store float %29, ptr %32, align 8
  %33 = getelementptr inbounds nuw i8, ptr %32, i64 4
  store float %30, ptr %33, align 4
  ret void

34:
  %35 = phi float [ %62, %34 ], [ 0xFFF0000000000000, %8 ]
  %36 = phi float [ %78, %34 ], [ 0.000000e+00, %8 ]
  %37 = phi float [ %76, %34 ], [ 0.000000e+00, %8 ]
  %38 = phi float [ %73, %34 ], [ 0.000000e+00, %8 ]
  %39 = phi i32 [ %79, %34 ], [ 0, %8 ]
  %40 = mul nsw i32 %39, %5
  %41 = add nsw i32 %40, %9
  %42 = shl nsw i32 %41, 6
  %43 = sext i32 %42 to i64
  %44 = getelementptr %struct.__half, ptr %22, i64 %43
  %45 = load i32, ptr %44, align 4
  %46 = tail call contract float asm "{.reg .f16 low,high;\0A  mov.b32 {low,high},$1;\0A  cvt.f32.f16 $0, low;}\0A", "=f,r"(i32 %45)
  %47 = tail call contract float asm "{.reg .f16 low,high;\0A  mov.b32 {low,high},$1;\0A  cvt.f32.f16 $0, high;}\0A", "=f,r"(i32 %45)
  %48 = fmul contract float %20, %46
  %49 = fmul contract float %21, %47
  %50 = fadd contract float %48, %49
  %51 = tail call contract noundef float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %50, i32 16, i32 31)
  %52 = fadd contract float %50, %51
  %53 = tail call contract noundef float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %52, i32 8, i32 31)
  %54 = fadd contract float %52, %53
  %55 = tail call contract noundef float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %54, i32 4, i32 31)
  %56 = fadd contract float %54, %55
  %57 = tail call contract noundef float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %56, i32 2, i32 31)
  %58 = fadd contract float %56, %57
  %59 = tail call contract noundef float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %58, i32 1, i32 31)
  %60 = fadd contract float %58, %59
  %61 = fmul contract float %7, %60
  %62 = tail call noundef float @llvm.maxnum.f32(float %35, float %61)
  %63 = fsub contract float %35, %62
  %64 = tail call noundef float @llvm.nvvm.ex2.approx.f32(float %63)
  %65 = fsub contract float %61, %62
  %66 = tail call noundef float @llvm.nvvm.ex2.approx.f32(float %65)
  %67 = getelementptr %struct.__half, ptr %23, i64 %43
  %68 = load i32, ptr %67, align 4
  %69 = tail call contract float asm "{.reg .f16 low,high;\0A  mov.b32 {low,high},$1;\0A  cvt.f32.f16 $0, low;}\0A", "=f,r"(i32 %68)
  %70 = tail call contract float asm "{.reg .f16 low,high;\0A  mov.b32 {low,high},$1;\0A  cvt.f32.f16 $0, high;}\0A", "=f,r"(i32 %68)
  %71 = fmul contract float %38, %64
  %72 = fmul contract float %66, %69
  %73 = fadd contract float %71, %72
  %74 = fmul contract float %37, %64
  %75 = fmul contract float %66, %70
  %76 = fadd contract float %74, %75
  %77 = fmul contract float %36, %64
  %78 = fadd contract float %77, %66
  %79 = add nuw nsw i32 %39, 1
  %80 = icmp eq i32 %79, %4
  br i1 %80, label %25, label %34
}

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @gemm(ptr noundef %0, ptr noundef %1, ptr noundef writeonly captures(none) %2, i32 noundef %3, i32 noundef %4, i32 noundef %5) local_unnamed_addr {
  %7 = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %8 = shl nuw nsw i32 %7, 6
  %9 = mul i32 %5, %8
  %10 = zext i32 %9 to i64
  %11 = getelementptr inbounds nuw %struct.__half, ptr %0, i64 %10
  %12 = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %13 = shl i32 %12, 6
  %14 = mul i32 %5, %13
  %15 = zext i32 %14 to i64
  %16 = getelementptr inbounds nuw %struct.__half, ptr %1, i64 %15
  %17 = tail call noundef i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %18 = lshr i32 %17, 5
  %19 = icmp samesign ult i32 %17, 256
  br i1 %19, label %20, label %55

20:
  %21 = shl nuw nsw i32 %17, 3
  %22 = and i32 %21, 24
  %23 = zext nneg i32 %22 to i64
  %24 = getelementptr inbounds nuw %struct.__half, ptr addrspacecast (ptr addrspace(3) @_ZZ4gemmE5tileA to ptr), i64 %23
  %25 = getelementptr %struct.__half, ptr %11, i64 %23
  br label %26

26:
  %27 = phi i32 [ %37, %26 ], [ %17, %20 ]
  %28 = lshr i32 %27, 2
  %29 = zext nneg i32 %28 to i64
  %30 = getelementptr inbounds nuw [40 x %struct.__half], ptr %24, i64 %29
  %31 = addrspacecast ptr %30 to ptr addrspace(3)
  %32 = ptrtoint ptr addrspace(3) %31 to i64
  %33 = trunc i64 %32 to i32
  %34 = mul nsw i32 %28, %5
  %35 = sext i32 %34 to i64
  %36 = getelementptr %struct.__half, ptr %25, i64 %35
  tail call void asm sideeffect "cp.async.cg.shared.global [$0], [$1], 16;", "r,l"(i32 %33, ptr %36)
  %37 = add nuw nsw i32 %27, 128
  %38 = icmp samesign ult i32 %27, 128
  br i1 %38, label %26, label %39

39:
  %40 = getelementptr inbounds nuw %struct.__half, ptr addrspacecast (ptr addrspace(3) @_ZZ4gemmE5tileB to ptr), i64 %23
  %41 = getelementptr %struct.__half, ptr %16, i64 %23
  br label %42

42:
  %43 = phi i32 [ %53, %42 ], [ %17, %39 ]
  %44 = lshr i32 %43, 2
  %45 = zext nneg i32 %44 to i64
  %46 = getelementptr inbounds nuw [40 x %struct.__half], ptr %40, i64 %45
  %47 = addrspacecast ptr %46 to ptr addrspace(3)
  %48 = ptrtoint ptr addrspace(3) %47 to i64
  %49 = trunc i64 %48 to i32
  %50 = mul nsw i32 %44, %5
  %51 = sext i32 %50 to i64
  %52 = getelementptr %struct.__half, ptr %41, i64 %51
  tail call void asm sideeffect "cp.async.cg.shared.global [$0], [$1], 16;", "r,l"(i32 %49, ptr %52)
  %53 = add nuw nsw i32 %43, 128
  %54 = icmp samesign ult i32 %43, 128
  br i1 %54, label %42, label %55

55:
  tail call void asm sideeffect "cp.async.commit_group;", ""()
  %56 = sdiv i32 %5, 32
  %57 = icmp sgt i32 %5, 31
  br i1 %57, label %60, label %58

58:
  %59 = shl nuw nsw i32 %18, 4
  br label %89

60:
  %61 = shl nuw nsw i32 %17, 3
  %62 = and i32 %61, 24
  %63 = zext nneg i32 %62 to i64
  %64 = getelementptr inbounds nuw %struct.__half, ptr addrspacecast (ptr addrspace(3) @_ZZ4gemmE5tileA to ptr), i64 %63
  %65 = getelementptr %struct.__half, ptr %11, i64 %63
  %66 = getelementptr inbounds nuw %struct.__half, ptr addrspacecast (ptr addrspace(3) @_ZZ4gemmE5tileB to ptr), i64 %63
  %67 = getelementptr %struct.__half, ptr %16, i64 %63
  %68 = shl nuw nsw i32 %18, 4
  %69 = and i32 %17, 15
  %70 = or disjoint i32 %68, %69
  %71 = zext nneg i32 %70 to i64
  %72 = getelementptr inbounds nuw [40 x %struct.__half], ptr addrspacecast (ptr addrspace(3) @_ZZ4gemmE5tileA to ptr), i64 %71
  %73 = lshr i32 %17, 1
  %74 = and i32 %73, 8
  %75 = and i32 %17, 7
  %76 = and i32 %17, 8
  %77 = zext nneg i32 %75 to i64
  %78 = zext nneg i32 %75 to i64
  %79 = zext nneg i32 %75 to i64
  %80 = zext nneg i32 %75 to i64
  %81 = zext nneg i32 %75 to i64
  %82 = zext nneg i32 %75 to i64
  %83 = zext nneg i32 %75 to i64
  %84 = zext nneg i32 %75 to i64
  %85 = zext nneg i32 %74 to i64
  %86 = zext nneg i32 %76 to i64
  %87 = zext nneg i32 %74 to i64
  %88 = zext nneg i32 %76 to i64
  br label %244

89:
  %90 = phi i32 [ %59, %58 ], [ %68, %318 ]
  %91 = phi float [ 0.000000e+00, %58 ], [ %455, %318 ]
  %92 = phi float [ 0.000000e+00, %58 ], [ %456, %318 ]
  %93 = phi float [ 0.000000e+00, %58 ], [ %457, %318 ]
  %94 = phi float [ 0.000000e+00, %58 ], [ %458, %318 ]
  %95 = phi float [ 0.000000e+00, %58 ], [ %468, %318 ]
  %96 = phi float [ 0.000000e+00, %58 ], [ %469, %318 ]
  %97 = phi float [ 0.000000e+00, %58 ], [ %470, %318 ]
  %98 = phi float [ 0.000000e+00, %58 ], [ %471, %318 ]
  %99 = phi float [ 0.000000e+00, %58 ], [ %481, %318 ]
  %100 = phi float [ 0.000000e+00, %58 ], [ %482, %318 ]
  %101 = phi float [ 0.000000e+00, %58 ], [ %483, %318 ]
  %102 = phi float [ 0.000000e+00, %58 ], [ %484, %318 ]
  %103 = phi float [ 0.000000e+00, %58 ], [ %494, %318 ]
  %104 = phi float [ 0.000000e+00, %58 ], [ %495, %318 ]
  %105 = phi float [ 0.000000e+00, %58 ], [ %496, %318 ]
  %106 = phi float [ 0.000000e+00, %58 ], [ %497, %318 ]
  %107 = phi float [ 0.000000e+00, %58 ], [ %507, %318 ]
  %108 = phi float [ 0.000000e+00, %58 ], [ %508, %318 ]
  %109 = phi float [ 0.000000e+00, %58 ], [ %509, %318 ]
  %110 = phi float [ 0.000000e+00, %58 ], [ %510, %318 ]
  %111 = phi float [ 0.000000e+00, %58 ], [ %520, %318 ]
  %112 = phi float [ 0.000000e+00, %58 ], [ %521, %318 ]
  %113 = phi float [ 0.000000e+00, %58 ], [ %522, %318 ]
  %114 = phi float [ 0.000000e+00, %58 ], [ %523, %318 ]
  %115 = phi float [ 0.000000e+00, %58 ], [ %533, %318 ]
  %116 = phi float [ 0.000000e+00, %58 ], [ %534, %318 ]
  %117 = phi float [ 0.000000e+00, %58 ], [ %535, %318 ]
  %118 = phi float [ 0.000000e+00, %58 ], [ %536, %318 ]
  %119 = phi float [ 0.000000e+00, %58 ], [ %546, %318 ]
  %120 = phi float [ 0.000000e+00, %58 ], [ %547, %318 ]
  %121 = phi float [ 0.000000e+00, %58 ], [ %548, %318 ]
  %122 = phi float [ 0.000000e+00, %58 ], [ %549, %318 ]
  %123 = add nuw nsw i32 %90, %8
  %124 = lshr i32 %17, 2
  %125 = and i32 %124, 7
  %126 = or disjoint i32 %123, %125
  %127 = shl nuw nsw i32 %17, 1
  %128 = and i32 %127, 6
  %129 = or disjoint i32 %128, %13
  %130 = mul nsw i32 %126, %4
  %131 = add i32 %129, %130
  %132 = sext i32 %131 to i64
  %133 = getelementptr inbounds float, ptr %2, i64 %132
  store float %91, ptr %133, align 4
  %134 = or disjoint i32 %129, 1
  %135 = add i32 %134, %130
  %136 = sext i32 %135 to i64
  %137 = getelementptr inbounds float, ptr %2, i64 %136
  store float %92, ptr %137, align 4
  %138 = or disjoint i32 %126, 8
  %139 = mul nsw i32 %138, %4
  %140 = add i32 %129, %139
  %141 = sext i32 %140 to i64
  %142 = getelementptr inbounds float, ptr %2, i64 %141
  store float %93, ptr %142, align 4
  %143 = add i32 %134, %139
  %144 = sext i32 %143 to i64
  %145 = getelementptr inbounds float, ptr %2, i64 %144
  store float %94, ptr %145, align 4
  %146 = or disjoint i32 %129, 8
  %147 = add i32 %146, %130
  %148 = sext i32 %147 to i64
  %149 = getelementptr inbounds float, ptr %2, i64 %148
  store float %95, ptr %149, align 4
  %150 = or disjoint i32 %129, 9
  %151 = add i32 %150, %130
  %152 = sext i32 %151 to i64
  %153 = getelementptr inbounds float, ptr %2, i64 %152
  store float %96, ptr %153, align 4
  %154 = add i32 %146, %139
  %155 = sext i32 %154 to i64
  %156 = getelementptr inbounds float, ptr %2, i64 %155
  store float %97, ptr %156, align 4
  %157 = add i32 %150, %139
  %158 = sext i32 %157 to i64
  %159 = getelementptr inbounds float, ptr %2, i64 %158
  store float %98, ptr %159, align 4
  %160 = or disjoint i32 %129, 16
  %161 = add i32 %160, %130
  %162 = sext i32 %161 to i64
  %163 = getelementptr inbounds float, ptr %2, i64 %162
  store float %99, ptr %163, align 4
  %164 = or disjoint i32 %129, 17
  %165 = add i32 %164, %130
  %166 = sext i32 %165 to i64
  %167 = getelementptr inbounds float, ptr %2, i64 %166
  store float %100, ptr %167, align 4
  %168 = add i32 %160, %139
  %169 = sext i32 %168 to i64
  %170 = getelementptr inbounds float, ptr %2, i64 %169
  store float %101, ptr %170, align 4
  %171 = add i32 %164, %139
  %172 = sext i32 %171 to i64
  %173 = getelementptr inbounds float, ptr %2, i64 %172
  store float %102, ptr %173, align 4
  %174 = or disjoint i32 %129, 24
  %175 = add i32 %174, %130
  %176 = sext i32 %175 to i64
  %177 = getelementptr inbounds float, ptr %2, i64 %176
  store float %103, ptr %177, align 4
  %178 = or disjoint i32 %129, 25
  %179 = add i32 %178, %130
  %180 = sext i32 %179 to i64
  %181 = getelementptr inbounds float, ptr %2, i64 %180
  store float %104, ptr %181, align 4
  %182 = add i32 %174, %139
  %183 = sext i32 %182 to i64
  %184 = getelementptr inbounds float, ptr %2, i64 %183
  store float %105, ptr %184, align 4
  %185 = add i32 %178, %139
  %186 = sext i32 %185 to i64
  %187 = getelementptr inbounds float, ptr %2, i64 %186
  store float %106, ptr %187, align 4
  %188 = or disjoint i32 %129, 32
  %189 = add i32 %188, %130
  %190 = sext i32 %189 to i64
  %191 = getelementptr inbounds float, ptr %2, i64 %190
  store float %107, ptr %191, align 4
  %192 = or disjoint i32 %129, 33
  %193 = add i32 %192, %130
  %194 = sext i32 %193 to i64
  %195 = getelementptr inbounds float, ptr %2, i64 %194
  store float %108, ptr %195, align 4
  %196 = add i32 %188, %139
  %197 = sext i32 %196 to i64
  %198 = getelementptr inbounds float, ptr %2, i64 %197
  store float %109, ptr %198, align 4
  %199 = add i32 %192, %139
  %200 = sext i32 %199 to i64
  %201 = getelementptr inbounds float, ptr %2, i64 %200
  store float %110, ptr %201, align 4
  %202 = or disjoint i32 %129, 40
  %203 = add i32 %202, %130
  %204 = sext i32 %203 to i64
  %205 = getelementptr inbounds float, ptr %2, i64 %204
  store float %111, ptr %205, align 4
  %206 = or disjoint i32 %129, 41
  %207 = add i32 %206, %130
  %208 = sext i32 %207 to i64
  %209 = getelementptr inbounds float, ptr %2, i64 %208
  store float %112, ptr %209, align 4
  %210 = add i32 %202, %139
  %211 = sext i32 %210 to i64
  %212 = getelementptr inbounds float, ptr %2, i64 %211
  store float %113, ptr %212, align 4
  %213 = add i32 %206, %139
  %214 = sext i32 %213 to i64
  %215 = getelementptr inbounds float, ptr %2, i64 %214
  store float %114, ptr %215, align 4
  %216 = or disjoint i32 %129, 48
  %217 = add i32 %216, %130
  %218 = sext i32 %217 to i64
  %219 = getelementptr inbounds float, ptr %2, i64 %218
  store float %115, ptr %219, align 4
  %220 = or disjoint i32 %129, 49
  %221 = add i32 %220, %130
  %222 = sext i32 %221 to i64
  %223 = getelementptr inbounds float, ptr %2, i64 %222
  store float %116, ptr %223, align 4
  %224 = add i32 %216, %139
  %225 = sext i32 %224 to i64
  %226 = getelementptr inbounds float, ptr %2, i64 %225
  store float %117, ptr %226, align 4
  %227 = add i32 %220, %139
  %228 = sext i32 %227 to i64
  %229 = getelementptr inbounds float, ptr %2, i64 %228
  store float %118, ptr %229, align 4
  %230 = or disjoint i32 %129, 56
  %231 = add i32 %230, %130
  %232 = sext i32 %231 to i64
  %233 = getelementptr inbounds float, ptr %2, i64 %232
  store float %119, ptr %233, align 4
  %234 = or disjoint i32 %129, 57
  %235 = add i32 %234, %130
  %236 = sext i32 %235 to i64
  %237 = getelementptr inbounds float, ptr %2, i64 %236
  store float %120, ptr %237, align 4
  %238 = add i32 %230, %139
  %239 = sext i32 %238 to i64
  %240 = getelementptr inbounds float, ptr %2, i64 %239
  store float %121, ptr %240, align 4
  %241 = add i32 %234, %139
  %242 = sext i32 %241 to i64
  %243 = getelementptr inbounds float, ptr %2, i64 %242
  store float %122, ptr %243, align 4
  ret void

244:
  %245 = phi float [ 0.000000e+00, %60 ], [ %455, %318 ]
  %246 = phi float [ 0.000000e+00, %60 ], [ %456, %318 ]
  %247 = phi float [ 0.000000e+00, %60 ], [ %457, %318 ]
  %248 = phi float [ 0.000000e+00, %60 ], [ %458, %318 ]
  %249 = phi float [ 0.000000e+00, %60 ], [ %468, %318 ]
  %250 = phi float [ 0.000000e+00, %60 ], [ %469, %318 ]
  %251 = phi float [ 0.000000e+00, %60 ], [ %470, %318 ]
  %252 = phi float [ 0.000000e+00, %60 ], [ %471, %318 ]
  %253 = phi float [ 0.000000e+00, %60 ], [ %481, %318 ]
  %254 = phi float [ 0.000000e+00, %60 ], [ %482, %318 ]
  %255 = phi float [ 0.000000e+00, %60 ], [ %483, %318 ]
  %256 = phi float [ 0.000000e+00, %60 ], [ %484, %318 ]
  %257 = phi float [ 0.000000e+00, %60 ], [ %494, %318 ]
  %258 = phi float [ 0.000000e+00, %60 ], [ %495, %318 ]
  %259 = phi float [ 0.000000e+00, %60 ], [ %496, %318 ]
  %260 = phi float [ 0.000000e+00, %60 ], [ %497, %318 ]
  %261 = phi float [ 0.000000e+00, %60 ], [ %507, %318 ]
  %262 = phi float [ 0.000000e+00, %60 ], [ %508, %318 ]
  %263 = phi float [ 0.000000e+00, %60 ], [ %509, %318 ]
  %264 = phi float [ 0.000000e+00, %60 ], [ %510, %318 ]
  %265 = phi float [ 0.000000e+00, %60 ], [ %520, %318 ]
  %266 = phi float [ 0.000000e+00, %60 ], [ %521, %318 ]
  %267 = phi float [ 0.000000e+00, %60 ], [ %522, %318 ]
  %268 = phi float [ 0.000000e+00, %60 ], [ %523, %318 ]
  %269 = phi float [ 0.000000e+00, %60 ], [ %533, %318 ]
  %270 = phi float [ 0.000000e+00, %60 ], [ %534, %318 ]
  %271 = phi float [ 0.000000e+00, %60 ], [ %535, %318 ]
  %272 = phi float [ 0.000000e+00, %60 ], [ %536, %318 ]
  %273 = phi float [ 0.000000e+00, %60 ], [ %546, %318 ]
  %274 = phi float [ 0.000000e+00, %60 ], [ %547, %318 ]
  %275 = phi float [ 0.000000e+00, %60 ], [ %548, %318 ]
  %276 = phi float [ 0.000000e+00, %60 ], [ %549, %318 ]
  %277 = phi i32 [ 0, %60 ], [ %279, %318 ]
  %278 = and i32 %277, 1
  %279 = add nuw nsw i32 %277, 1
  %280 = icmp slt i32 %279, %56
  br i1 %280, label %281, label %318

281:
  %282 = xor i32 %278, 1
  %283 = zext nneg i32 %282 to i64
  %284 = shl nsw i32 %279, 5
  %285 = zext nneg i32 %284 to i64
  br i1 %19, label %286, label %318

286:
  %287 = getelementptr inbounds nuw [64 x [40 x %struct.__half]], ptr %64, i64 %283
  %288 = getelementptr %struct.__half, ptr %65, i64 %285
  br label %289

289:
  %290 = phi i32 [ %300, %289 ], [ %17, %286 ]
  %291 = lshr i32 %290, 2
  %292 = zext nneg i32 %291 to i64
  %293 = getelementptr inbounds nuw [40 x %struct.__half], ptr %287, i64 %292
  %294 = addrspacecast ptr %293 to ptr addrspace(3)
  %295 = ptrtoint ptr addrspace(3) %294 to i64
  %296 = trunc i64 %295 to i32
  %297 = mul nuw nsw i32 %291, %5
  %298 = zext nneg i32 %297 to i64
  %299 = getelementptr %struct.__half, ptr %288, i64 %298
  tail call void asm sideeffect "cp.async.cg.shared.global [$0], [$1], 16;", "r,l"(i32 %296, ptr %299)
  %300 = add nuw nsw i32 %290, 128
  %301 = icmp samesign ult i32 %290, 128
  br i1 %301, label %289, label %302

302:
  %303 = getelementptr inbounds nuw [64 x [40 x %struct.__half]], ptr %66, i64 %283
  %304 = getelementptr %struct.__half, ptr %67, i64 %285
  br label %305

305:
  %306 = phi i32 [ %316, %305 ], [ %17, %302 ]
  %307 = lshr i32 %306, 2
  %308 = zext nneg i32 %307 to i64
  %309 = getelementptr inbounds nuw [40 x %struct.__half], ptr %303, i64 %308
  %310 = addrspacecast ptr %309 to ptr addrspace(3)
  %311 = ptrtoint ptr addrspace(3) %310 to i64
  %312 = trunc i64 %311 to i32
  %313 = mul nuw nsw i32 %307, %5
  %314 = zext nneg i32 %313 to i64
  %315 = getelementptr %struct.__half, ptr %304, i64 %314
  tail call void asm sideeffect "cp.async.cg.shared.global [$0], [$1], 16;", "r,l"(i32 %312, ptr %315)
  %316 = add nuw nsw i32 %306, 128
  %317 = icmp samesign ult i32 %306, 128
  br i1 %317, label %305, label %318

318:
  tail call void asm sideeffect "cp.async.commit_group;", ""()
  tail call void asm sideeffect "cp.async.wait_group 1;", ""()
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %319 = zext nneg i32 %278 to i64
  %320 = getelementptr inbounds nuw [64 x [40 x %struct.__half]], ptr addrspacecast (ptr addrspace(3) @_ZZ4gemmE5tileB to ptr), i64 %319
  %321 = getelementptr inbounds nuw [64 x [40 x %struct.__half]], ptr %72, i64 %319
  %322 = getelementptr inbounds nuw %struct.__half, ptr %321, i64 %85
  %323 = addrspacecast ptr %322 to ptr addrspace(3)
  %324 = ptrtoint ptr addrspace(3) %323 to i64
  %325 = trunc i64 %324 to i32
  %326 = tail call { i32, i32, i32, i32 } asm sideeffect "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,r"(i32 %325)
  %327 = extractvalue { i32, i32, i32, i32 } %326, 0
  %328 = extractvalue { i32, i32, i32, i32 } %326, 1
  %329 = extractvalue { i32, i32, i32, i32 } %326, 2
  %330 = extractvalue { i32, i32, i32, i32 } %326, 3
  %331 = getelementptr inbounds nuw %struct.__half, ptr %320, i64 %86
  %332 = getelementptr inbounds nuw [40 x %struct.__half], ptr %331, i64 %77
  %333 = addrspacecast ptr %332 to ptr addrspace(3)
  %334 = ptrtoint ptr addrspace(3) %333 to i64
  %335 = trunc i64 %334 to i32
  %336 = tail call { i32, i32 } asm sideeffect "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {$0, $1}, [$2];", "=r,=r,r"(i32 %335)
  %337 = extractvalue { i32, i32 } %336, 0
  %338 = extractvalue { i32, i32 } %336, 1
  %339 = tail call contract { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %327, i32 %328, i32 %329, i32 %330, i32 %337, i32 %338, float %245, float %246, float %247, float %248)
  %340 = extractvalue { float, float, float, float } %339, 0
  %341 = extractvalue { float, float, float, float } %339, 1
  %342 = extractvalue { float, float, float, float } %339, 2
  %343 = extractvalue { float, float, float, float } %339, 3
  %344 = getelementptr inbounds nuw [40 x %struct.__half], ptr %331, i64 %78
  %345 = getelementptr inbounds nuw i8, ptr %344, i64 640
  %346 = addrspacecast ptr %345 to ptr addrspace(3)
  %347 = ptrtoint ptr addrspace(3) %346 to i64
  %348 = trunc i64 %347 to i32
  %349 = tail call { i32, i32 } asm sideeffect "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {$0, $1}, [$2];", "=r,=r,r"(i32 %348)
  %350 = extractvalue { i32, i32 } %349, 0
  %351 = extractvalue { i32, i32 } %349, 1
  %352 = tail call contract { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %327, i32 %328, i32 %329, i32 %330, i32 %350, i32 %351, float %249, float %250, float %251, float %252)
  %353 = extractvalue { float, float, float, float } %352, 0
  %354 = extractvalue { float, float, float, float } %352, 1
  %355 = extractvalue { float, float, float, float } %352, 2
  %356 = extractvalue { float, float, float, float } %352, 3
  %357 = getelementptr inbounds nuw [40 x %struct.__half], ptr %331, i64 %79
  %358 = getelementptr inbounds nuw i8, ptr %357, i64 1280
  %359 = addrspacecast ptr %358 to ptr addrspace(3)
  %360 = ptrtoint ptr addrspace(3) %359 to i64
  %361 = trunc i64 %360 to i32
  %362 = tail call { i32, i32 } asm sideeffect "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {$0, $1}, [$2];", "=r,=r,r"(i32 %361)
  %363 = extractvalue { i32, i32 } %362, 0
  %364 = extractvalue { i32, i32 } %362, 1
  %365 = tail call contract { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %327, i32 %328, i32 %329, i32 %330, i32 %363, i32 %364, float %253, float %254, float %255, float %256)
  %366 = extractvalue { float, float, float, float } %365, 0
  %367 = extractvalue { float, float, float, float } %365, 1
  %368 = extractvalue { float, float, float, float } %365, 2
  %369 = extractvalue { float, float, float, float } %365, 3
  %370 = getelementptr inbounds nuw [40 x %struct.__half], ptr %331, i64 %80
  %371 = getelementptr inbounds nuw i8, ptr %370, i64 1920
  %372 = addrspacecast ptr %371 to ptr addrspace(3)
  %373 = ptrtoint ptr addrspace(3) %372 to i64
  %374 = trunc i64 %373 to i32
  %375 = tail call { i32, i32 } asm sideeffect "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {$0, $1}, [$2];", "=r,=r,r"(i32 %374)
  %376 = extractvalue { i32, i32 } %375, 0
  %377 = extractvalue { i32, i32 } %375, 1
  %378 = tail call contract { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %327, i32 %328, i32 %329, i32 %330, i32 %376, i32 %377, float %257, float %258, float %259, float %260)
  %379 = extractvalue { float, float, float, float } %378, 0
  %380 = extractvalue { float, float, float, float } %378, 1
  %381 = extractvalue { float, float, float, float } %378, 2
  %382 = extractvalue { float, float, float, float } %378, 3
  %383 = getelementptr inbounds nuw [40 x %struct.__half], ptr %331, i64 %81
  %384 = getelementptr inbounds nuw i8, ptr %383, i64 2560
  %385 = addrspacecast ptr %384 to ptr addrspace(3)
  %386 = ptrtoint ptr addrspace(3) %385 to i64
  %387 = trunc i64 %386 to i32
  %388 = tail call { i32, i32 } asm sideeffect "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {$0, $1}, [$2];", "=r,=r,r"(i32 %387)
  %389 = extractvalue { i32, i32 } %388, 0
  %390 = extractvalue { i32, i32 } %388, 1
  %391 = tail call contract { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %327, i32 %328, i32 %329, i32 %330, i32 %389, i32 %390, float %261, float %262, float %263, float %264)
  %392 = extractvalue { float, float, float, float } %391, 0
  %393 = extractvalue { float, float, float, float } %391, 1
  %394 = extractvalue { float, float, float, float } %391, 2
  %395 = extractvalue { float, float, float, float } %391, 3
  %396 = getelementptr inbounds nuw [40 x %struct.__half], ptr %331, i64 %82
  %397 = getelementptr inbounds nuw i8, ptr %396, i64 3200
  %398 = addrspacecast ptr %397 to ptr addrspace(3)
  %399 = ptrtoint ptr addrspace(3) %398 to i64
  %400 = trunc i64 %399 to i32
  %401 = tail call { i32, i32 } asm sideeffect "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {$0, $1}, [$2];", "=r,=r,r"(i32 %400)
  %402 = extractvalue { i32, i32 } %401, 0
  %403 = extractvalue { i32, i32 } %401, 1
  %404 = tail call contract { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %327, i32 %328, i32 %329, i32 %330, i32 %402, i32 %403, float %265, float %266, float %267, float %268)
  %405 = extractvalue { float, float, float, float } %404, 0
  %406 = extractvalue { float, float, float, float } %404, 1
  %407 = extractvalue { float, float, float, float } %404, 2
  %408 = extractvalue { float, float, float, float } %404, 3
  %409 = getelementptr inbounds nuw [40 x %struct.__half], ptr %331, i64 %83
  %410 = getelementptr inbounds nuw i8, ptr %409, i64 3840
  %411 = addrspacecast ptr %410 to ptr addrspace(3)
  %412 = ptrtoint ptr addrspace(3) %411 to i64
  %413 = trunc i64 %412 to i32
  %414 = tail call { i32, i32 } asm sideeffect "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {$0, $1}, [$2];", "=r,=r,r"(i32 %413)
  %415 = extractvalue { i32, i32 } %414, 0
  %416 = extractvalue { i32, i32 } %414, 1
  %417 = tail call contract { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %327, i32 %328, i32 %329, i32 %330, i32 %415, i32 %416, float %269, float %270, float %271, float %272)
  %418 = extractvalue { float, float, float, float } %417, 0
  %419 = extractvalue { float, float, float, float } %417, 1
  %420 = extractvalue { float, float, float, float } %417, 2
  %421 = extractvalue { float, float, float, float } %417, 3
  %422 = getelementptr inbounds nuw [40 x %struct.__half], ptr %331, i64 %84
  %423 = getelementptr inbounds nuw i8, ptr %422, i64 4480
  %424 = addrspacecast ptr %423 to ptr addrspace(3)
  %425 = ptrtoint ptr addrspace(3) %424 to i64
  %426 = trunc i64 %425 to i32
  %427 = tail call { i32, i32 } asm sideeffect "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {$0, $1}, [$2];", "=r,=r,r"(i32 %426)
  %428 = extractvalue { i32, i32 } %427, 0
  %429 = extractvalue { i32, i32 } %427, 1
  %430 = tail call contract { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %327, i32 %328, i32 %329, i32 %330, i32 %428, i32 %429, float %273, float %274, float %275, float %276)
  %431 = extractvalue { float, float, float, float } %430, 0
  %432 = extractvalue { float, float, float, float } %430, 1
  %433 = extractvalue { float, float, float, float } %430, 2
  %434 = extractvalue { float, float, float, float } %430, 3
  %435 = getelementptr inbounds nuw %struct.__half, ptr %321, i64 %87
  %436 = getelementptr inbounds nuw i8, ptr %435, i64 32
  %437 = addrspacecast ptr %436 to ptr addrspace(3)
  %438 = ptrtoint ptr addrspace(3) %437 to i64
  %439 = trunc i64 %438 to i32
  %440 = tail call { i32, i32, i32, i32 } asm sideeffect "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,r"(i32 %439)
  %441 = extractvalue { i32, i32, i32, i32 } %440, 0
  %442 = extractvalue { i32, i32, i32, i32 } %440, 1
  %443 = extractvalue { i32, i32, i32, i32 } %440, 2
  %444 = extractvalue { i32, i32, i32, i32 } %440, 3
  %445 = getelementptr inbounds nuw %struct.__half, ptr %320, i64 %88
  %446 = getelementptr inbounds nuw i8, ptr %445, i64 32
  %447 = getelementptr inbounds nuw [40 x %struct.__half], ptr %446, i64 %77
  %448 = addrspacecast ptr %447 to ptr addrspace(3)
  %449 = ptrtoint ptr addrspace(3) %448 to i64
  %450 = trunc i64 %449 to i32
  %451 = tail call { i32, i32 } asm sideeffect "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {$0, $1}, [$2];", "=r,=r,r"(i32 %450)
  %452 = extractvalue { i32, i32 } %451, 0
  %453 = extractvalue { i32, i32 } %451, 1
  %454 = tail call contract { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %441, i32 %442, i32 %443, i32 %444, i32 %452, i32 %453, float %340, float %341, float %342, float %343)
  %455 = extractvalue { float, float, float, float } %454, 0
  %456 = extractvalue { float, float, float, float } %454, 1
  %457 = extractvalue { float, float, float, float } %454, 2
  %458 = extractvalue { float, float, float, float } %454, 3
  %459 = getelementptr inbounds nuw [40 x %struct.__half], ptr %446, i64 %78
  %460 = getelementptr inbounds nuw i8, ptr %459, i64 640
  %461 = addrspacecast ptr %460 to ptr addrspace(3)
  %462 = ptrtoint ptr addrspace(3) %461 to i64
  %463 = trunc i64 %462 to i32
  %464 = tail call { i32, i32 } asm sideeffect "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {$0, $1}, [$2];", "=r,=r,r"(i32 %463)
  %465 = extractvalue { i32, i32 } %464, 0
  %466 = extractvalue { i32, i32 } %464, 1
  %467 = tail call contract { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %441, i32 %442, i32 %443, i32 %444, i32 %465, i32 %466, float %353, float %354, float %355, float %356)
  %468 = extractvalue { float, float, float, float } %467, 0
  %469 = extractvalue { float, float, float, float } %467, 1
  %470 = extractvalue { float, float, float, float } %467, 2
  %471 = extractvalue { float, float, float, float } %467, 3
  %472 = getelementptr inbounds nuw [40 x %struct.__half], ptr %446, i64 %79
  %473 = getelementptr inbounds nuw i8, ptr %472, i64 1280
  %474 = addrspacecast ptr %473 to ptr addrspace(3)
  %475 = ptrtoint ptr addrspace(3) %474 to i64
  %476 = trunc i64 %475 to i32
  %477 = tail call { i32, i32 } asm sideeffect "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {$0, $1}, [$2];", "=r,=r,r"(i32 %476)
  %478 = extractvalue { i32, i32 } %477, 0
  %479 = extractvalue { i32, i32 } %477, 1
  %480 = tail call contract { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %441, i32 %442, i32 %443, i32 %444, i32 %478, i32 %479, float %366, float %367, float %368, float %369)
  %481 = extractvalue { float, float, float, float } %480, 0
  %482 = extractvalue { float, float, float, float } %480, 1
  %483 = extractvalue { float, float, float, float } %480, 2
  %484 = extractvalue { float, float, float, float } %480, 3
  %485 = getelementptr inbounds nuw [40 x %struct.__half], ptr %446, i64 %80
  %486 = getelementptr inbounds nuw i8, ptr %485, i64 1920
  %487 = addrspacecast ptr %486 to ptr addrspace(3)
  %488 = ptrtoint ptr addrspace(3) %487 to i64
  %489 = trunc i64 %488 to i32
  %490 = tail call { i32, i32 } asm sideeffect "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {$0, $1}, [$2];", "=r,=r,r"(i32 %489)
  %491 = extractvalue { i32, i32 } %490, 0
  %492 = extractvalue { i32, i32 } %490, 1
  %493 = tail call contract { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %441, i32 %442, i32 %443, i32 %444, i32 %491, i32 %492, float %379, float %380, float %381, float %382)
  %494 = extractvalue { float, float, float, float } %493, 0
  %495 = extractvalue { float, float, float, float } %493, 1
  %496 = extractvalue { float, float, float, float } %493, 2
  %497 = extractvalue { float, float, float, float } %493, 3
  %498 = getelementptr inbounds nuw [40 x %struct.__half], ptr %446, i64 %81
  %499 = getelementptr inbounds nuw i8, ptr %498, i64 2560
  %500 = addrspacecast ptr %499 to ptr addrspace(3)
  %501 = ptrtoint ptr addrspace(3) %500 to i64
  %502 = trunc i64 %501 to i32
  %503 = tail call { i32, i32 } asm sideeffect "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {$0, $1}, [$2];", "=r,=r,r"(i32 %502)
  %504 = extractvalue { i32, i32 } %503, 0
  %505 = extractvalue { i32, i32 } %503, 1
  %506 = tail call contract { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %441, i32 %442, i32 %443, i32 %444, i32 %504, i32 %505, float %392, float %393, float %394, float %395)
  %507 = extractvalue { float, float, float, float } %506, 0
  %508 = extractvalue { float, float, float, float } %506, 1
  %509 = extractvalue { float, float, float, float } %506, 2
  %510 = extractvalue { float, float, float, float } %506, 3
  %511 = getelementptr inbounds nuw [40 x %struct.__half], ptr %446, i64 %82
  %512 = getelementptr inbounds nuw i8, ptr %511, i64 3200
  %513 = addrspacecast ptr %512 to ptr addrspace(3)
  %514 = ptrtoint ptr addrspace(3) %513 to i64
  %515 = trunc i64 %514 to i32
  %516 = tail call { i32, i32 } asm sideeffect "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {$0, $1}, [$2];", "=r,=r,r"(i32 %515)
  %517 = extractvalue { i32, i32 } %516, 0
  %518 = extractvalue { i32, i32 } %516, 1
  %519 = tail call contract { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %441, i32 %442, i32 %443, i32 %444, i32 %517, i32 %518, float %405, float %406, float %407, float %408)
  %520 = extractvalue { float, float, float, float } %519, 0
  %521 = extractvalue { float, float, float, float } %519, 1
  %522 = extractvalue { float, float, float, float } %519, 2
  %523 = extractvalue { float, float, float, float } %519, 3
  %524 = getelementptr inbounds nuw [40 x %struct.__half], ptr %446, i64 %83
  %525 = getelementptr inbounds nuw i8, ptr %524, i64 3840
  %526 = addrspacecast ptr %525 to ptr addrspace(3)
  %527 = ptrtoint ptr addrspace(3) %526 to i64
  %528 = trunc i64 %527 to i32
  %529 = tail call { i32, i32 } asm sideeffect "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {$0, $1}, [$2];", "=r,=r,r"(i32 %528)
  %530 = extractvalue { i32, i32 } %529, 0
  %531 = extractvalue { i32, i32 } %529, 1
  %532 = tail call contract { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %441, i32 %442, i32 %443, i32 %444, i32 %530, i32 %531, float %418, float %419, float %420, float %421)
  %533 = extractvalue { float, float, float, float } %532, 0
  %534 = extractvalue { float, float, float, float } %532, 1
  %535 = extractvalue { float, float, float, float } %532, 2
  %536 = extractvalue { float, float, float, float } %532, 3
  %537 = getelementptr inbounds nuw [40 x %struct.__half], ptr %446, i64 %84
  %538 = getelementptr inbounds nuw i8, ptr %537, i64 4480
  %539 = addrspacecast ptr %538 to ptr addrspace(3)
  %540 = ptrtoint ptr addrspace(3) %539 to i64
  %541 = trunc i64 %540 to i32
  %542 = tail call { i32, i32 } asm sideeffect "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {$0, $1}, [$2];", "=r,=r,r"(i32 %541)
  %543 = extractvalue { i32, i32 } %542, 0
  %544 = extractvalue { i32, i32 } %542, 1
  %545 = tail call contract { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"(i32 %441, i32 %442, i32 %443, i32 %444, i32 %543, i32 %544, float %431, float %432, float %433, float %434)
  %546 = extractvalue { float, float, float, float } %545, 0
  %547 = extractvalue { float, float, float, float } %545, 1
  %548 = extractvalue { float, float, float, float } %545, 2
  %549 = extractvalue { float, float, float, float } %545, 3
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %550 = icmp eq i32 %279, %56
  br i1 %550, label %89, label %244
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x()

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x()

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 1, -2147483648) i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()

; Function Attrs: convergent nocallback nounwind memory(inaccessiblemem: readwrite)
declare float @llvm.nvvm.shfl.sync.bfly.f32(i32, float, i32, i32)

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 65535) i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.y()

; Function Attrs: nocallback nounwind
declare void @llvm.nvvm.membar.gl()

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(none)
declare float @llvm.nvvm.ex2.approx.f32(float)

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.maxnum.f32(float, float)

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: write)
declare void @llvm.assume(i1 noundef)
