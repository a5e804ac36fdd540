// Programs for the PTX machine: what nvcc makes of CUDA C++, each compared with
// the same in C++ by nvcc_test.cpp.

#include <cuda_fp16.h>
#include <stdint.h>

extern "C" {

// Sums by shuffles, then through shared memory, one per block.
__global__ void reduce(const float *in, float *out, int n) {
  __shared__ float partial[32];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    sum += in[i];
  for (int by = 16; by > 0; by /= 2)
    sum += __shfl_xor_sync(0xFFFFFFFF, sum, by);
  if (threadIdx.x % 32 == 0)
    partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0;
    for (int by = 16; by > 0; by /= 2)
      sum += __shfl_xor_sync(0xFFFFFFFF, sum, by);
    if (threadIdx.x == 0)
      out[blockIdx.x] = sum;
  }
}

// Inclusive sums within each block.
__global__ void scan(const int *in, int *out) {
  __shared__ int sums[256];
  int value = in[blockIdx.x * 256 + threadIdx.x];
  sums[threadIdx.x] = value;
  for (int by = 1; by < 256; by *= 2) {
    __syncthreads();
    int left = threadIdx.x >= by ? sums[threadIdx.x - by] : 0;
    __syncthreads();
    sums[threadIdx.x] += left;
  }
  out[blockIdx.x * 256 + threadIdx.x] = sums[threadIdx.x];
}

__global__ void transpose(const float *in, float *out, int rows, int columns) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8)
    if (x < columns && y + i < rows)
      tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * columns + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8)
    if (x < rows && y + i < columns)
      out[(y + i) * rows + x] = tile[threadIdx.x][threadIdx.y + i];
}

__global__ void histogram(const unsigned char *in, unsigned *out, int n) {
  __shared__ unsigned bins[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    bins[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    atomicAdd(&bins[in[i]], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    atomicAdd(&out[i], bins[i]);
}

// The last block to arrive adds what all have left.
__device__ unsigned arrived = 0;
__global__ void reduceAll(const float *in, volatile float *partial, float *out,
                          int n) {
  __shared__ float sums[128];
  __shared__ bool isLast;
  float sum = 0;
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128)
    sum += in[i];
  sums[threadIdx.x] = sum;
  for (int by = 64; by > 0; by /= 2) {
    __syncthreads();
    if (threadIdx.x < by)
      sums[threadIdx.x] += sums[threadIdx.x + by];
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sums[0];
    __threadfence();
    isLast = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (isLast && threadIdx.x == 0) {
    float total = 0;
    for (int i = 0; i < gridDim.x; ++i)
      total += partial[i];
    *out = total;
  }
}

// One warp for each query head of a group; keys and values [tokens][heads][64].
__global__ void decode(const half *q, const half *k, const half *v, float *out,
                       int tokens, int heads, int group, float scale) {
  int head = blockIdx.x, query = head * group + threadIdx.y;
  int lane = threadIdx.x;
  float2 qs = __half22float2(((const half2 *)(q + query * 64))[lane]);
  float most = -INFINITY, sum = 0;
  float2 acc = make_float2(0, 0);
  for (int t = 0; t < tokens; ++t) {
    const half2 *row = (const half2 *)(k + (t * heads + head) * 64);
    float2 ks = __half22float2(row[lane]);
    float s = qs.x * ks.x + qs.y * ks.y;
    for (int by = 16; by > 0; by /= 2)
      s += __shfl_xor_sync(0xFFFFFFFF, s, by);
    s *= scale;
    float next = fmaxf(most, s), keep = exp2f(most - next), p = exp2f(s - next);
    float2 vs =
        __half22float2(((const half2 *)(v + (t * heads + head) * 64))[lane]);
    acc.x = acc.x * keep + p * vs.x;
    acc.y = acc.y * keep + p * vs.y;
    sum = sum * keep + p;
    most = next;
  }
  ((float2 *)(out + query * 64))[lane] = make_float2(acc.x / sum, acc.y / sum);
}

// c = a * b with a [m][k], b [n][k] in halves: 64 x 64 tiles of c, 4 warps,
// slices of 32 of k in two buffers that cp.async fills.
__device__ static uint32_t sharedAddress(const void *pointer) {
  return (uint32_t)__cvta_generic_to_shared(pointer);
}
__device__ static void fetch(half (*to)[40], const half *from, int stride) {
  for (int i = threadIdx.x; i < 64 * 4; i += 128)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     sharedAddress(&to[i / 4][i % 4 * 8])),
                 "l"(from + (i / 4) * stride + i % 4 * 8));
}
__global__ void gemm(const half *a, const half *b, float *c, int m, int n,
                     int k) {
  __shared__ __align__(16) half tileA[2][64][40], tileB[2][64][40];
  a += blockIdx.y * 64 * k;
  b += blockIdx.x * 64 * k;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float acc[8][4] = {};
  fetch(tileA[0], a, k);
  fetch(tileB[0], b, k);
  asm volatile("cp.async.commit_group;");
  for (int step = 0; step < k / 32; ++step) {
    int now = step % 2;
    if (step + 1 < k / 32) {
      fetch(tileA[1 - now], a + (step + 1) * 32, k);
      fetch(tileB[1 - now], b + (step + 1) * 32, k);
    }
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 1;");
    __syncthreads();
    for (int kk = 0; kk < 32; kk += 16) {
      uint32_t x[4];
      asm volatile(
          "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
          : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
          : "r"(sharedAddress(
              &tileA[now][warp * 16 + lane % 16][kk + lane / 16 * 8])));
      for (int j = 0; j < 8; ++j) {
        uint32_t y[2];
        asm volatile(
            "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
            : "=r"(y[0]), "=r"(y[1])
            : "r"(sharedAddress(
                &tileB[now][j * 8 + lane % 8][kk + lane / 8 % 2 * 8])));
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+f"(acc[j][0]), "+f"(acc[j][1]), "+f"(acc[j][2]), "+f"(acc[j][3])
            : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
      }
    }
    __syncthreads();
  }
  int row = blockIdx.y * 64 + warp * 16 + lane / 4;
  int column = blockIdx.x * 64 + lane % 4 * 2;
  for (int j = 0; j < 8; ++j)
    for (int i = 0; i < 4; ++i)
      c[(row + i / 2 * 8) * n + column + j * 8 + i % 2] = acc[j][i];
}
}
