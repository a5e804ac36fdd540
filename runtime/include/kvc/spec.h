/*===- spec.h - One attention over one cache ----------------------*- C -*-===*\
|*
|* Part of kvc.
|*
|* A kvc_spec is a parsed and verified spec file. It never changes, so any
|* number of threads may use it at once; strings that these calls hand out live
|* as long as it does. Nothing here needs a device or a compiler.
|*
\*===----------------------------------------------------------------------===*/

#ifndef KVC_SPEC_H_
#define KVC_SPEC_H_

#include "kvc/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kvc_spec kvc_spec;

/** Types of elements. */
typedef enum kvc_dtype KVC_ENUM_BASE {
  KVC_F32 = 0,
  KVC_F16 = 1,
  KVC_BF16 = 2,
  KVC_E8M0 = 3, /**< Scales only. */
  KVC_E4M3 = 4  /**< Scales only. */
} kvc_dtype;

/** The tensors of a cache. */
typedef enum kvc_tensor KVC_ENUM_BASE { KVC_KEY = 0, KVC_VALUE = 1 } kvc_tensor;

typedef enum kvc_layout_kind KVC_ENUM_BASE {
  KVC_CONTIGUOUS = 0,
  KVC_PAGED = 1,
  KVC_RING = 2
} kvc_layout_kind;

/** Parses the `size` bytes of a spec file at `text`. KVC_INVALID_DATA with the
 *  JSON path, what was expected and what was got. The caller frees `*spec`. */
KVC_API kvc_status kvc_spec_parse(const char *text, size_t size, kvc_diag *diag,
                                  kvc_spec **spec);
/** Frees the spec and the strings that it handed out. */
KVC_API kvc_status kvc_spec_free(kvc_spec *spec);

/** Canonical JSON: presets expanded, defaults left out, two-space indentation;
 *  zero-terminated. Parsing it gives an equal spec. */
KVC_API kvc_status kvc_spec_json(const kvc_spec *spec, const char **json);

/** SHA-256, as 64 lower-case hex digits, over what decides the bytes of a cache
 *  and over nothing else. Two specs of one hash can share a cache. */
KVC_API kvc_status kvc_layout_hash(const kvc_spec *spec, const char **hash);

/** Bytes of one page of `page` tokens (a power of two from 1 to 256, a multiple
 *  of scale.tokens), K and V together, whatever kind of layout the spec names.
 *  A function of the two arguments alone. */
KVC_API kvc_status kvc_page_bytes(const kvc_spec *spec, int64_t page,
                                  kvc_diag *diag, int64_t *bytes);

/** The same for one tensor: the least distance between its pages in memory that
 *  an engine lends (kvc_cache_options). */
KVC_API kvc_status kvc_page_slice_bytes(const kvc_spec *spec, kvc_tensor tensor,
                                        int64_t page, kvc_diag *diag,
                                        int64_t *bytes);

/** Whether kvc compiles and runs `spec`: `*reason` becomes null, as for every
 *  spec today, or names the property. Allocates nothing; under a microsecond.
 */
KVC_API kvc_status kvc_supports(const kvc_spec *spec, const char **reason);

/** What a caller needs to know in order to call. */
typedef struct kvc_spec_info {
  size_t struct_size;
  const char *name;
  int64_t q_heads, kv_heads, head_dim, value_dim;
  double scale;
  int32_t causal; /**< 1: "causal", 0: "none". */
  int64_t window; /**< 0: no window. */
  int64_t window_sinks;
  double softcap;          /**< 0: none. */
  int32_t alibi;           /**< 1: input alibi_slopes is needed. */
  int32_t sink_logits;     /**< 1: input sink_logits is needed. */
  int32_t value_is_key;    /**< 1: V is a slice of K, no v is read. */
  int64_t value_begin;     /**< First channel of that slice. */
  kvc_dtype query, output; /**< Element types of io. */
  int64_t sink, recent;    /**< Tokens of the raw segments. */
  kvc_layout_kind layout;
  int64_t page;        /**< Tokens of a page; 0 unless paged. */
  int64_t rope_dims;   /**< 0: keys are given as the scores want them. Else they
                            are given and stored before RoPE. */
  int64_t rope_offset; /**< The first channel that it rotates. */
  int32_t rope_pairs;  /**< 1: neighbouring channels, 0: the two halves. */
  double rope_theta;
} kvc_spec_info;

/** Fills `*info`, whose struct_size the caller has set. */
KVC_API kvc_status kvc_spec_get_info(const kvc_spec *spec, kvc_diag *diag,
                                     kvc_spec_info *info);

/** How K or V is coded. */
typedef struct kvc_tensor_info {
  size_t struct_size;
  int64_t channels;       /**< Per kv head. */
  int64_t num_parts;      /**< 0 for a value that is the key. */
  int64_t block_tokens;   /**< Of a scale block; 1 for raw and static ones. */
  int64_t blocks;         /**< Scale blocks per token and kv head, all parts. */
  double bytes_per_token; /**< Of one kv head; without the padding of pages. */
  int32_t lists_parts;    /**< 1: the spec has a list of parts, be it of one. */
} kvc_tensor_info;

/** Fills `*info`, whose struct_size the caller has set. */
KVC_API kvc_status kvc_spec_get_tensor(const kvc_spec *spec, kvc_tensor tensor,
                                       kvc_diag *diag, kvc_tensor_info *info);

/** How a range of channels is coded. */
typedef struct kvc_part_info {
  size_t struct_size;
  int64_t begin, end;    /**< Channels. */
  const char *codec;     /**< "int4", "f16", .. */
  int32_t bits;          /**< Of one code. */
  int32_t raw;           /**< 1: codes are floats of `raw_dtype`; no scales. */
  kvc_dtype raw_dtype;   /**< Raw only. */
  int32_t signed_codes;  /**< 1: canonical codes are i8 (symmetric integers). */
  int32_t has_zero;      /**< 1: blocks have a zero beside the scale. */
  int32_t static_scale;  /**< 1: scales are inputs and lie in no page. */
  kvc_dtype scale_dtype; /**< Of scales and zeros; not raw. */
  int64_t blocks;        /**< Scale blocks per token and kv head; 0 for raw. */
  int64_t outliers;      /**< Per token and kv head. */
} kvc_part_info;

/** The same for part `part` of num_parts, in the order of their channels. */
KVC_API kvc_status kvc_spec_get_part(const kvc_spec *spec, kvc_tensor tensor,
                                     int64_t part, kvc_diag *diag,
                                     kvc_part_info *info);

/** What an input of a scheme holds. */
typedef enum kvc_input_kind KVC_ENUM_BASE {
  KVC_INPUT_SCALE = 0, /**< Static scales, one per block. */
  KVC_INPUT_TABLE = 1, /**< Lookup tables. */
  KVC_INPUT_SMOOTH = 2 /**< What channels are divided by. */
} kvc_input_kind;

/** What a scheme takes beside k and v: f32 [kv_heads, columns], given when a
 *  cache is created. */
typedef struct kvc_input_info {
  size_t struct_size;
  const char *name; /**< "key_scale", "value1_table", "key_smooth", .. */
  kvc_input_kind kind;
  kvc_tensor tensor;
  int64_t part; /**< Of a scale or table; 0 for KVC_INPUT_SMOOTH. */
  int64_t kv_heads, columns;
} kvc_input_info;

/** How many inputs the schemes of `spec` take. */
KVC_API kvc_status kvc_spec_input_count(const kvc_spec *spec, int64_t *count);

/** Fills `*info`, whose struct_size the caller has set, for input `index`: the
 *  key's inputs come first. */
KVC_API kvc_status kvc_spec_get_input(const kvc_spec *spec, int64_t index,
                                      kvc_diag *diag, kvc_input_info *info);

/** A named scheme that specs refer to by "preset": NAME. Its strings live as
 *  long as the library. */
typedef struct kvc_preset_info {
  size_t struct_size;
  const char *name;
  const char *title;    /**< What it is, in a few words. */
  const char *source;   /**< Who describes it. */
  const char *good_for; /**< What one would take it for. */
  int32_t whole_spec;   /**< 1: sets more than a scheme; top level only. */
  const char *json;     /**< Its file: these texts and "scheme" or "spec". */
} kvc_preset_info;

/** How many presets there are. */
KVC_API kvc_status kvc_preset_count(int64_t *count);

/** Fills `*info`, whose struct_size the caller has set, for preset `index` in
 *  the order of their names. */
KVC_API kvc_status kvc_preset_get(int64_t index, kvc_diag *diag,
                                  kvc_preset_info *info);

#ifdef __cplusplus
}
#endif

#endif /* KVC_SPEC_H_ */
