/*===- main.c - Compile a spec at run time, then use it -----------*- C -*-===*\
|*
|* Part of kvc.
|*
|* The cache as a dictionary: the key of token t points along channel t, its
|* value is 10 t. A query along channel 3 finds token 3.
|*
\*===----------------------------------------------------------------------===*/

#include "kvc/jit.h"
#include "kvc/runtime.h"

#include <stdio.h>

enum { TOKENS = 6, DIM = 32 };

static float q[TOKENS][DIM], k[TOKENS][DIM], v[TOKENS][DIM], out[TOKENS][DIM];

int main(int argc, char **argv) {
  char spec[4096], text[512] = "";
  kvc_diag diag = KVC_DIAG_INIT(text);
  if (argc != 2)
    return fprintf(stderr, "usage: jit SPEC\n"), 2;
  FILE *file = fopen(argv[1], "rb");
  size_t size = file ? fread(spec, 1, sizeof(spec), file) : 0;
  if (file)
    fclose(file);
  if (size == 0 || size == sizeof(spec))
    return fprintf(stderr, "%s: expected a file of 1 to 4095 bytes\n", argv[1]),
           1;

  /* Text becomes kernels in this process. The compiler may go afterwards. */
  kvc_compiler *compiler;
  kvc_jit_module *code;
  const kvc_module_table *table;
  kvc_module *module;
  if (kvc_compiler_create(&diag, &compiler) ||
      kvc_compile_jit(compiler, spec, size, NULL, &diag, &code) ||
      kvc_compiler_free(compiler) || kvc_jit_module_table(code, &table) ||
      kvc_module_create(table, &diag, &module))
    return fprintf(stderr, "%s\n", text), 1;

  /* What the spec wants of the arrays above. */
  kvc_cache_options memory = {sizeof(memory), .capacity_tokens = TOKENS};
  kvc_spec_info info = {.struct_size = sizeof(info)};
  if (kvc_module_spec(module, &diag, &memory.spec) ||
      kvc_spec_get_info(memory.spec, &diag, &info))
    return fprintf(stderr, "%s\n", text), 1;
  if (info.q_heads != 1 || info.head_dim != DIM || info.value_dim != DIM ||
      info.query != KVC_F32 || info.output != KVC_F32)
    return fprintf(stderr, "%s: expected one head of %d channels in f32\n",
                   argv[1], DIM),
           1;

  for (int t = 0; t < TOKENS; ++t) {
    k[t][t] = 10;
    q[t][3] = 10;
    for (int c = 0; c < DIM; ++c)
      v[t][c] = 10.f * (float)t;
  }

  /* A cache, room in it, then append and attend. */
  kvc_cache *cache;
  kvc_plan *plan;
  kvc_sequence sequence;
  int64_t added = TOKENS;
  int32_t rows[] = {0, TOKENS}, most = TOKENS;
  kvc_plan_options bounds = {sizeof(bounds), module, 1, &most, &most, NULL};
  kvc_append_request request = {sizeof(request), 1, &sequence, &added};
  kvc_out_rows result = {.data = out};
  if (kvc_cache_create(&memory, &diag, &cache) ||
      kvc_cache_create_sequence(cache, &diag, &sequence) ||
      kvc_plan_create(&bounds, &diag, &plan) ||
      kvc_cache_append(cache, &request, &diag))
    return fprintf(stderr, "%s\n", text), 1;
  kvc_batch batch = {sizeof(batch),          cache,
                     .num_sequences = 1,     .token_start = rows,
                     .sequences = &sequence, .query = {.data = q},
                     .key = {.data = k},     .value = {.data = v}};
  if (kvc_run(plan, &batch, NULL, &diag, &result, NULL) ||
      kvc_cache_commit(cache, sequence, added, &diag))
    return fprintf(stderr, "%s\n", text), 1;
  for (int t = 0; t < TOKENS; ++t)
    printf("after token %d channel 3 finds %.2f\n", t, out[t][0]);

  kvc_plan_free(plan);
  kvc_cache_free(cache);
  kvc_module_free(module);
  kvc_jit_module_free(code);
  return 0;
}
