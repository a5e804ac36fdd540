/*===- jit.h - The compiler, as a library -------------------------*- C -*-===*\
|*
|* Part of kvc.
|*
|* A spec becomes kernels: in this process (kvc_compile_jit) or as artefacts for
|* later (kvc_compile_artifacts). The `kvc` tool has no other way in.
|*
|*   kvc_compiler *compiler;
|*   kvc_jit_module *jit;
|*   const kvc_module_table *table;
|*   kvc_compiler_create(&diag, &compiler);
|*   kvc_compile_jit(compiler, text, size, NULL, &diag, &jit);
|*   kvc_jit_module_table(jit, &table);     // then kvc_module_create(table, ..)
|*
|* The rules of status.h hold. Beyond them:
|*  - A spec is the bytes of a spec file: JSON, or MLIR with one
|*    kvc.attention_spec; the first non-blank byte `{` tells them apart. MLIR
|*    may carry a score region (dialects/README.md); artefacts are then called
|*    SPEC_HASH instead of SPEC, HASH 8 digits of the region's hash.
|*  - A kvc_compiler does one thing at a time: its calls may come from any
|*    thread, and wait for each other. Compile in parallel with several
|*    compilers; they share only LLVM's list of targets.
|*  - What a compiler made does not need it any more.
|*  - Equal input, options and library version give equal artefacts, on any
|*    machine where the target is named (not "host").
|*  - LLVM ends the process when memory runs out.
|*
\*===----------------------------------------------------------------------===*/

#ifndef KVC_JIT_H_
#define KVC_JIT_H_

#include "kvc/kernel_abi.h"
#include "kvc/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/*--- Compiler -------------------------------------------------------------*/

typedef struct kvc_compiler kvc_compiler;

/** Takes a few milliseconds; keep it while there are specs to compile. The
 *  caller frees `*compiler`. */
KVC_API kvc_status kvc_compiler_create(kvc_diag *diag, kvc_compiler **compiler);
/** Not beside another call on `compiler`. */
KVC_API kvc_status kvc_compiler_free(kvc_compiler *compiler);

/** A thing with a name that options may say, and one line about it. */
typedef struct kvc_named {
  const char *name;
  const char *summary;
} kvc_named;

/** Targets of code generation, "host" first. Lives as long as the process. */
KVC_API kvc_status kvc_target_names(const kvc_named **names, int64_t *count);

/** Stages of compilation in their order. Lives as long as the process. */
KVC_API kvc_status kvc_stage_names(const kvc_named **names, int64_t *count);

/*--- Options --------------------------------------------------------------*/

/** Receives one optimisation remark, "KERNEL: text", zero-terminated and valid
 *  for the call only. Called on the compiling thread; must not call the
 *  compiler. */
typedef void (*kvc_remark_fn)(void *user, const char *remark);

/** Zero is the default of every field; a null pointer to options means all of
 *  them. Numbers out of their range are KVC_INVALID_ARGUMENT. */
typedef struct kvc_compile_options {
  size_t struct_size;
  /** A name of kvc_target_names; null: "host". */
  const char *target;
  /** Kernels to make, "decode,append"; null: all. */
  const char *kernels;
  /** Query rows of a tile of "decode" and "merge", and of "prefill", 1..128. */
  int64_t decode_rows, prefill_rows;
  /** Keys of a tile, a power of two from 16 to 256. */
  int64_t tile_tokens;
  /** Keys of a split of "decode" and of "prefill", multiples of tile_tokens. */
  int64_t split_tokens, prefill_split_tokens;
  /** How far ahead kernels prefetch codes; -1: not at all. */
  int64_t prefetch_bytes, prefetch_pages;
  /** 1: instrument kernels for AddressSanitizer, which must be part of the
   *  process that runs them. */
  int32_t asan;
  /** 1: verify the IR between passes. */
  int32_t verify;
  /** Null: no remarks are made. */
  kvc_remark_fn remark;
  void *remark_user;
} kvc_compile_options;

/** How long a phase of one compilation took: "parse", the stages by their
 *  names, "translate", "optimise", "emit", "load". */
typedef struct kvc_phase {
  const char *name; /**< Lives as long as the process. */
  double ms;
} kvc_phase;

/*--- Kernels in this process ----------------------------------------------*/

/** Kernels in executable memory. Never changes. */
typedef struct kvc_jit_module kvc_jit_module;

/** Compiles and loads.
 *  KVC_INVALID_DATA for a wrong spec, KVC_UNSUPPORTED for a target that this
 *  machine does not run. The caller frees `*module`. */
KVC_API kvc_status kvc_compile_jit(kvc_compiler *compiler, const char *spec,
                                   size_t size,
                                   const kvc_compile_options *options,
                                   kvc_diag *diag, kvc_jit_module **module);

/** Unmaps the kernels: none may be running, none may run again. */
KVC_API kvc_status kvc_jit_module_free(kvc_jit_module *module);

/** The table of the kernels; lives as long as `module`. */
KVC_API kvc_status kvc_jit_module_table(const kvc_jit_module *module,
                                        const kvc_module_table **table);

/** The phases in their order; live as long as `module`. */
KVC_API kvc_status kvc_jit_module_phases(const kvc_jit_module *module,
                                         const kvc_phase **phases,
                                         int64_t *count);

/*--- Artefacts ------------------------------------------------------------*/

/** Kinds of artefacts, to be combined by `|`. */
enum {
  KVC_EMIT_OBJ = 1,       /**< SPEC.TARGET.o: exports kvc_module_table only. */
  KVC_EMIT_ASM = 2,       /**< SPEC.TARGET.s */
  KVC_EMIT_LLVM = 4,      /**< SPEC.TARGET.ll, after optimisation. */
  KVC_EMIT_MLIR = 8,      /**< SPEC.TARGET.STAGE.mlir */
  KVC_EMIT_MANIFEST = 16, /**< SPEC.TARGET.json: what a program must know. */
  KVC_EMIT_PTX = 32       /**< SPEC.TARGET.ptx; of GPUs, which have neither
                               objects nor assembly. With KVC_EMIT_MLIR it has
                               .loc lines of that text. */
};

typedef struct kvc_artifact {
  uint32_t kind;
  const char *name; /**< File name without a folder. */
  const void *data; /**< Followed by a zero byte that `size` does not count. */
  size_t size;
} kvc_artifact;

/** A list of artefacts. Never changes. */
typedef struct kvc_artifacts kvc_artifacts;

/** Compiles without loading. `emit` says which kinds; `stage`, a name of
 *  kvc_stage_names, is the stage after which MLIR is printed (null: the last),
 *  and with KVC_EMIT_MLIR alone nothing after it runs. The caller frees
 *  `*artifacts`. */
KVC_API kvc_status kvc_compile_artifacts(kvc_compiler *compiler,
                                         const char *spec, size_t size,
                                         const kvc_compile_options *options,
                                         uint32_t emit, const char *stage,
                                         kvc_diag *diag,
                                         kvc_artifacts **artifacts);
KVC_API kvc_status kvc_artifacts_free(kvc_artifacts *artifacts);

/** The list, in the order of the kinds; lives as long as `artifacts`. */
KVC_API kvc_status kvc_artifacts_list(const kvc_artifacts *artifacts,
                                      const kvc_artifact **list,
                                      int64_t *count);

/** The phases in their order; live as long as `artifacts`. */
KVC_API kvc_status kvc_artifacts_phases(const kvc_artifacts *artifacts,
                                        const kvc_phase **phases,
                                        int64_t *count);

/*--- Specs as text --------------------------------------------------------*/

typedef enum kvc_spec_format KVC_ENUM_BASE {
  KVC_SPEC_JSON = 0,
  KVC_SPEC_MLIR = 1
} kvc_spec_format;

/** Prints a spec in its canonical form; translating that again changes nothing.
 *  One artefact, SPEC.json or SPEC.mlir, of kind 0. A score region has no form
 *  in JSON: KVC_UNSUPPORTED. The caller frees it. */
KVC_API kvc_status kvc_translate(kvc_compiler *compiler, const char *spec,
                                 size_t size, kvc_spec_format format,
                                 kvc_diag *diag, kvc_artifacts **text);

/** What JSON can say of a spec, SPEC.json, and if it has a score region the
 *  text of that, SPEC.score.mlir: one artefact or two, of kind 0. Caches, bytes
 *  and inputs depend on the first alone. The caller frees them. */
KVC_API kvc_status kvc_split_spec(kvc_compiler *compiler, const char *spec,
                                  size_t size, kvc_diag *diag,
                                  kvc_artifacts **parts);

#ifdef __cplusplus
}
#endif

#endif /* KVC_JIT_H_ */
