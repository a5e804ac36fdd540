/*===- readme_lines.c - The C of README.md, as a stranger copies it -------===*
|*
|* Part of kvc.
|*
\*===----------------------------------------------------------------------===*/

#include "kvc/jit.h"
#include "kvc/runtime.h"

void kvc_readme_lines(kvc_compiler *compiler, const char *text, size_t size,
                      kvc_cache *cache, kvc_append_request request,
                      kvc_plan *plan, kvc_batch batch,
                      const kvc_parallel_for *threads, kvc_sequence sequence,
                      int64_t new_tokens, kvc_out_rows out, kvc_out_rows lse);

void kvc_readme_lines(kvc_compiler *compiler, const char *text, size_t size,
                      kvc_cache *cache, kvc_append_request request,
                      kvc_plan *plan, kvc_batch batch,
                      const kvc_parallel_for *threads, kvc_sequence sequence,
                      int64_t new_tokens, kvc_out_rows out, kvc_out_rows lse) {
  kvc_diag diag = {0};
  kvc_jit_module *jit;
  const kvc_module_table *table;
  kvc_module *module;
#include "readme_lines.inc"
}
