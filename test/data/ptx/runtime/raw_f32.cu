//===- raw_f32.cu - Kernels over raw f32 pages, for tests of the runtime --===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// One warp does one item of kernel_abi.h, channel by channel, the plain way:
// what is tested is who calls it. raw_f32.ptx is made of it by
//
//   clang-22 -x cuda --cuda-device-only --cuda-gpu-arch=sm_80 -nocudainc
//     -nocudalib -O1 -I runtime/include -S -o raw_f32.ptx raw_f32.cu
//
// for 4 query heads, 2 kv heads, 16 and 24 channels, pages of 16 tokens (or, in
// one run of memory, 64), order "nhd", causal.
//
//===----------------------------------------------------------------------===//

#include "kvc/kernel_abi.h"

#define KERNEL extern "C" __attribute__((global))
#define DEVICE static __attribute__((device))

constexpr int kGroup = 2, kHeads = 2, kHeadDim = 16, kValueDim = 24;
constexpr float kLog2E = 1.44269504f, kLn2 = 0.693147181f, kScale = 0.25f;

DEVICE int lane() { return __nvvm_read_ptx_sreg_tid_x(); }

template <typename T>
DEVICE const T &itemOf(const void *items) {
  return static_cast<const T *>(items)[__nvvm_read_ptx_sreg_ctaid_x()];
}

DEVICE float *at(const kvc_cache_view &cache, int region, int channels,
                 int64_t head, int64_t token, int64_t channel) {
  const int64_t tokens = cache.page_table ? 16 : 64;
  const int64_t slot = token / tokens;
  const int64_t page = cache.page_table ? cache.page_table[slot] : slot;
  const kvc_region &of = cache.regions[region];
  uint8_t *row = of.base + page * of.page_stride + head * of.head_stride +
                 token % tokens * kHeads * channels * 4;
  return reinterpret_cast<float *>(row) + channel;
}

KERNEL void append_raw(const void *items) {
  const kvc_append_args &args = itemOf<kvc_append_args>(items);
  for (int64_t token = args.token_begin; token < args.token_end; ++token) {
    const int64_t row = token - args.token_begin;
    const float *key = static_cast<const float *>(args.key) +
                       row * args.key_token_stride +
                       args.kv_head * args.key_head_stride;
    const float *value = static_cast<const float *>(args.value) +
                         row * args.value_token_stride +
                         args.kv_head * args.value_head_stride;
    if (lane() < kHeadDim)
      *at(args.cache, 0, kHeadDim, args.kv_head, token, lane()) = key[lane()];
    if (lane() < kValueDim)
      *at(args.cache, 1, kValueDim, args.kv_head, token, lane()) =
          value[lane()];
  }
}

DEVICE void attend(const kvc_attend_args &args) {
  for (int64_t row = args.row_begin; row < args.row_end; ++row) {
    const int64_t query = row / kGroup;
    const int64_t position = args.length - args.num_queries + query;
    const float *q =
        static_cast<const float *>(args.query) +
        query * args.query_token_stride +
        (args.kv_head * kGroup + row % kGroup) * args.query_head_stride;
    float most = -__builtin_inff(), sum = 0, out = 0;
    for (int64_t key = args.key_begin; key < args.key_end && key <= position;
         ++key) {
      float score = 0;
      for (int c = 0; c < kHeadDim; ++c)
        score += q[c] * *at(args.cache, 0, kHeadDim, args.kv_head, key, c);
      score *= kScale;
      const float next = score > most ? score : most;
      const float old = __nvvm_ex2_approx_f((most - next) * kLog2E);
      const float p = __nvvm_ex2_approx_f((score - next) * kLog2E);
      most = next;
      sum = sum * old + p;
      if (lane() < kValueDim)
        out = out * old +
              p * *at(args.cache, 1, kValueDim, args.kv_head, key, lane());
    }
    const int64_t to = row - args.row_begin;
    if (lane() < kValueDim)
      args.partial_out[to * kValueDim + lane()] = sum > 0 ? out / sum : 0;
    if (lane() == 0)
      args.partial_lse[to] =
          sum > 0 ? most + __nvvm_lg2_approx_f(sum) * kLn2 : -__builtin_inff();
  }
}

KERNEL void decode_raw(const void *items) {
  attend(itemOf<kvc_attend_args>(items));
}
KERNEL void prefill_raw(const void *items) {
  attend(itemOf<kvc_attend_args>(items));
}

KERNEL void merge_raw(const void *items) {
  const kvc_merge_args &args = itemOf<kvc_merge_args>(items);
  for (int64_t row = args.row_begin; row < args.row_end; ++row) {
    const int64_t from = row - args.row_begin;
    float most = -__builtin_inff(), sum = 0, out = 0;
    for (int64_t i = 0; i < args.num_splits; ++i) {
      const float lse =
          args.partial_lse[i * args.partial_lse_split_stride + from];
      if (lse == -__builtin_inff())
        continue;
      const float next = lse > most ? lse : most;
      const float old = __nvvm_ex2_approx_f((most - next) * kLog2E);
      const float p = __nvvm_ex2_approx_f((lse - next) * kLog2E);
      most = next;
      sum = sum * old + p;
      if (lane() < kValueDim)
        out =
            out * old + p * args.partial_out[i * args.partial_out_split_stride +
                                             from * kValueDim + lane()];
    }
    const int64_t query = row / kGroup;
    const int64_t head = args.kv_head * kGroup + row % kGroup;
    float *to = static_cast<float *>(args.out) + query * args.out_token_stride +
                head * args.out_head_stride;
    if (lane() < kValueDim)
      to[lane()] = sum > 0 ? out / sum : 0;
    if (lane() == 0)
      args.lse[query * args.lse_token_stride + head * args.lse_head_stride] =
          sum > 0 ? most + __nvvm_lg2_approx_f(sum) * kLn2 : -__builtin_inff();
  }
}

KERNEL void unpack_raw(const void *items) {
  struct Args {
    kvc_unpack_args first;
    kvc_unpack_part key, value;
  };
  const Args &args = itemOf<Args>(items);
  for (int64_t token = args.first.token_begin; token < args.first.token_end;
       ++token) {
    const int64_t row = token - args.first.token_begin;
    if (lane() < kHeadDim)
      args.key.values[row * kHeadDim + lane()] =
          *at(args.first.cache, 0, kHeadDim, args.first.kv_head, token, lane());
    if (lane() < kValueDim)
      args.value.values[row * kValueDim + lane()] = *at(
          args.first.cache, 1, kValueDim, args.first.kv_head, token, lane());
  }
}
