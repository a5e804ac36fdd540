// A decode of attention by tensor cores, for the speed of the PTX machine: a
// block of 4 warps takes one kv head and one part of its tokens. Queries of the
// head's group fill 16 rows; keys and values are [tokens][heads][128] in
// halves, in tiles of 16 tokens that cp.async brings, one per warp. Writes the
// sums of each warp, not yet divided, with the largest score and the divisor.

#include <cuda_fp16.h>
#include <stdint.h>

constexpr int kDim = 128, kTokens = 16, kStride = kDim + 8;

__device__ static uint32_t sharedAddress(const void *pointer) {
  return (uint32_t)__cvta_generic_to_shared(pointer);
}

__device__ static void multiply(float (&d)[4], const uint32_t (&a)[4],
                                uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

template <bool transposed>
__device__ static void loadMatrices(uint32_t (&b)[4], const half *row) {
  if (transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 "
                 "{%0, %1, %2, %3}, [%4];"
                 : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3])
                 : "r"(sharedAddress(row)));
  else
    asm volatile(
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
        : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3])
        : "r"(sharedAddress(row)));
}

__device__ static uint32_t pack(float low, float high) {
  half2 both = __floats2half2_rn(low, high);
  return *(uint32_t *)&both;
}

extern "C" __global__ __launch_bounds__(128) void decodeMma(
    const half *q, const half *k, const half *v, float *out, float *stats,
    int tokens, int heads, int group, float scale) {
  __shared__ __align__(16) half keys[4][kTokens][kStride];
  __shared__ __align__(16) half values[4][kTokens][kStride];
  const int head = blockIdx.x, parts = gridDim.y * 4;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int part = blockIdx.y * 4 + warp, row = lane / 4, pair = lane % 4 * 2;

  uint32_t query[8][4];
  for (int i = 0; i < 8; ++i)
    for (int r = 0; r < 4; ++r) {
      const int at = row + r % 2 * 8;
      query[i][r] = at < group
                        ? *(const uint32_t *)(q + (head * group + at) * kDim +
                                              i * 16 + r / 2 * 8 + pair)
                        : 0;
    }
  float acc[16][4] = {}, most[2] = {-1e30f, -1e30f}, sum[2] = {};

  for (int begin = part * kTokens; begin < tokens; begin += parts * kTokens) {
    for (int i = lane; i < kTokens * 16; i += 32) {
      const size_t from =
          ((size_t)(begin + i / 16) * heads + head) * kDim + i % 16 * 8;
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                       sharedAddress(&keys[warp][i / 16][i % 16 * 8])),
                   "l"(k + from));
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                       sharedAddress(&values[warp][i / 16][i % 16 * 8])),
                   "l"(v + from));
    }
    asm volatile("cp.async.wait_all;");
    __syncwarp();

    float score[2][4] = {};
    for (int i = 0; i < 8; ++i) {
      uint32_t b[4];
      loadMatrices<false>(
          b, &keys[warp][lane % 8 + lane / 16 * 8][i * 16 + lane / 8 % 2 * 8]);
      multiply(score[0], query[i], b[0], b[1]);
      multiply(score[1], query[i], b[2], b[3]);
    }
    uint32_t weights[4];
    for (int half = 0; half < 2; ++half) {
      float next = most[half];
      for (int n = 0; n < 2; ++n)
        for (int j = 0; j < 2; ++j) {
          score[n][half * 2 + j] *= scale;
          next = fmaxf(next, score[n][half * 2 + j]);
        }
      for (int by = 1; by < 4; by *= 2)
        next = fmaxf(next, __shfl_xor_sync(0xFFFFFFFF, next, by));
      const float keep = exp2f(most[half] - next);
      most[half] = next;
      sum[half] *= keep;
      for (int i = 0; i < 16; ++i)
        for (int j = 0; j < 2; ++j)
          acc[i][half * 2 + j] *= keep;
      for (int n = 0; n < 2; ++n) {
        const float a = exp2f(score[n][half * 2] - next);
        const float b = exp2f(score[n][half * 2 + 1] - next);
        sum[half] += a + b;
        weights[n * 2 + half] = pack(a, b);
      }
    }
    for (int i = 0; i < 8; ++i) {
      uint32_t b[4];
      loadMatrices<true>(b, &values[warp][lane % 16][i * 16 + lane / 16 * 8]);
      multiply(acc[i * 2], weights, b[0], b[1]);
      multiply(acc[i * 2 + 1], weights, b[2], b[3]);
    }
    __syncwarp();
  }

  for (int half = 0; half < 2; ++half) {
    for (int by = 1; by < 4; by *= 2)
      sum[half] += __shfl_xor_sync(0xFFFFFFFF, sum[half], by);
    const int at = row + half * 8;
    if (at >= group)
      continue;
    const size_t to = (size_t)part * heads * group + head * group + at;
    for (int i = 0; i < 16; ++i)
      *(float2 *)(out + to * kDim + i * 8 + pair) =
          make_float2(acc[i][half * 2], acc[i][half * 2 + 1]);
    if (pair == 0) {
      stats[to * 2] = most[half];
      stats[to * 2 + 1] = sum[half];
    }
  }
}
