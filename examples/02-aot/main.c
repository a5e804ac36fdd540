/*===- main.c - Attention with kernels compiled ahead of time -----*- C -*-===*\
|*
|* Part of kvc.
|*
|* What an engine does: a prompt of five tokens in one step, then three tokens,
|* one a step. All keys are equal, and the value of token t is t in every
|* channel, so what a query sees is the average of 0 .. its own position.
|*
\*===----------------------------------------------------------------------===*/

#include "kernels.h" /* made by kvc_add_kernel */
#include "kvc/runtime.h"

#include <stdio.h>

enum { Q_HEADS = 8, KV_HEADS = 2, DIM = 64, PROMPT = 5, LENGTH = 8 };

static float q[PROMPT][Q_HEADS * DIM], out[PROMPT][Q_HEADS * DIM];
static float k[PROMPT][KV_HEADS * DIM], v[PROMPT][KV_HEADS * DIM];

int main(void) {
  char text[512] = "";
  kvc_diag diag = KVC_DIAG_INIT(text);
  const kvc_module_table *table;
  kvc_module *module = NULL;
  kvc_cache *cache = NULL;
  kvc_plan *plan = NULL;
  kvc_sequence sequence;
  int32_t most_queries = PROMPT, most_keys = LENGTH;
  kvc_cache_options memory = {.struct_size = sizeof(memory),
                              .capacity_tokens = LENGTH};
  kvc_plan_options bounds = {.struct_size = sizeof(bounds),
                             .num_sequences = 1,
                             .queries = &most_queries,
                             .lengths = &most_keys};

  /* Once per model: kernels for this machine, memory, a plan. */
  if (kernels_table(&diag, &table) ||
      kvc_module_create(table, &diag, &module) ||
      kvc_module_spec(module, &diag, &memory.spec) ||
      kvc_cache_create(&memory, &diag, &cache) ||
      kvc_cache_create_sequence(cache, &diag, &sequence))
    return fprintf(stderr, "%s\n", text), 1;
  bounds.module = module;
  if (kvc_plan_create(&bounds, &diag, &plan))
    return fprintf(stderr, "%s\n", text), 1;

  for (int32_t t = 0; t < PROMPT; ++t)
    for (int32_t i = 0; i < Q_HEADS * DIM; ++i)
      q[t][i] = 1;

  /* Once per step: reserve rows, write and attend, commit. */
  for (int32_t length = 0; length < LENGTH;) {
    const int32_t count = length == 0 ? PROMPT : 1;
    const int32_t rows[] = {0, count};
    const int64_t added = count;
    kvc_append_request request = {sizeof(request), 1, &sequence, &added};
    kvc_batch batch = {.struct_size = sizeof(batch),
                       .cache = cache,
                       .num_sequences = 1,
                       .token_start = rows,
                       .sequences = &sequence,
                       .query = {.data = q},
                       .key = {.data = k},
                       .value = {.data = v}};
    kvc_out_rows result = {.data = out};
    for (int32_t t = 0; t < count; ++t)
      for (int32_t i = 0; i < KV_HEADS * DIM; ++i) {
        k[t][i] = 1;
        v[t][i] = (float)(length + t);
      }
    if (kvc_cache_append(cache, &request, &diag) ||
        kvc_run(plan, &batch, NULL, &diag, &result, NULL) ||
        kvc_cache_commit(cache, sequence, added, &diag))
      return fprintf(stderr, "%s\n", text), 1;
    for (int32_t t = 0; t < count; ++t, ++length)
      printf("token %d reads %.2f\n", length, out[t][0]);
  }

  kvc_plan_free(plan);
  kvc_cache_free(cache);
  kvc_module_free(module);
  return 0;
}
