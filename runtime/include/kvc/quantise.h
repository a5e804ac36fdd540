/*===- quantise.h - What a cache does to numbers ------------------*- C -*-===*\
|*
|* Part of kvc.
|*
|* The rounding of a spec's scheme as a function of arrays: what keys or values
|* read as once they have been through a cache, to the bit, without a cache, a
|* kernel or a compiler. For quantisation-aware training and for calibration.
|*
|* In training, the forward pass replaces k and v by what these functions give;
|* the backward pass lets gradients through unchanged (the straight-through
|* estimator): the scales follow the data.
|*
\*===----------------------------------------------------------------------===*/

#ifndef KVC_QUANTISE_H_
#define KVC_QUANTISE_H_

#include "kvc/cache.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How one tensor of a spec is coded. Never changes, so any number of threads
 *  may use it at once. */
typedef struct kvc_quantiser kvc_quantiser;

typedef struct kvc_quantiser_options {
  size_t struct_size;
  const kvc_spec *spec; /**< Any valid spec, kvc_supports or not; copied. */
  kvc_tensor tensor;    /**< KVC_VALUE of a value that is the key is refused. */
  /** Each input of the spec's schemes once (kvc_spec_get_input), those of the
   *  other tensor too, in any order; copied. */
  const kvc_scheme_values *inputs;
  int64_t num_inputs;
} kvc_quantiser_options;

/** KVC_INVALID_DATA with name and index where a number among the inputs is out
 *  of range. The caller frees `*quantiser`. */
KVC_API kvc_status kvc_quantiser_create(const kvc_quantiser_options *options,
                                        kvc_diag *diag,
                                        kvc_quantiser **quantiser);
KVC_API kvc_status kvc_quantiser_free(kvc_quantiser *quantiser);

/** Numbers [tokens, kv_heads, channels] in f32; channels are dense. */
typedef struct kvc_f32_rows {
  float *data;          /**< Not written where it is a source. */
  int64_t token_stride; /**< Elements; 0: kv_heads * channels. */
  int64_t head_stride;  /**< Elements; 0: channels. */
} kvc_f32_rows;

/** Converts `source` to io.query, quantises it and writes what it reads as to
 *  `target`: keys before RoPE, as they are given. All tokens are quantised,
 *  whatever the spec's raw segments are; their number is a multiple of the
 *  tensor's block_tokens (kvc_tensor_info), the first begins a block. `target`
 *  is `source` with the same strides, or does not overlap it; rows of one
 *  array do not overlap. NaN or infinity is KVC_INVALID_DATA with its index,
 *  and nothing is written. Allocates nothing; results depend on nothing but
 *  the arguments, not on the floating-point environment either. */
KVC_API kvc_status kvc_quantise_dequantise(const kvc_quantiser *quantiser,
                                           const kvc_f32_rows *source,
                                           int64_t tokens, kvc_diag *diag,
                                           const kvc_f32_rows *target);

#ifdef __cplusplus
}
#endif

#endif /* KVC_QUANTISE_H_ */
