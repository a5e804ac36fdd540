/*===- smoke.c - The C API from C ---------------------------------*- C -*-===*\
|*
|* Part of kvc.
|*
|* One call of each kind through the shared library, with nothing but the public
|* headers: a spec, a cache, an append with a module of two kernels, a failure.
|*
\*===----------------------------------------------------------------------===*/

#include "kvc/runtime.h"

#include <stdio.h>
#include <string.h>

#define SPEC                                                                   \
  "{\"kvc\": 1, \"name\": \"smoke\", \"attention\": {\"q_heads\": 1, "         \
  "\"kv_heads\": 1, \"head_dim\": 16}, \"io\": {\"query\": \"f32\"}, "         \
  "\"key\": {\"codec\": \"f32\"}, \"value\": {\"codec\": \"f32\"}, "           \
  "\"layout\": {\"kind\": \"paged\", \"page\": 4, \"order\": \"nhd\"}}"

static int failures = 0;

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) {                                                        \
      printf("smoke.c:%d: %s\n", __LINE__, #condition);                        \
      ++failures;                                                              \
    }                                                                          \
  } while (0)

static int64_t appended = 0;

static void append(const void *args) {
  const kvc_append_args *append = (const kvc_append_args *)args;
  appended += append->token_end - append->token_begin;
}

static void nothing(const void *args) { (void)args; }

static void run(kvc_spec *spec) {
  char text[256] = "";
  kvc_diag diag = KVC_DIAG_INIT(text);
  const char *hash = NULL;
  CHECK(kvc_layout_hash(spec, &hash) == KVC_OK && strlen(hash) == 64);

  kvc_kernel_info kernels[] = {
      {"append", append, 0, 0, 0, "", 0, 0, 0, 0, 0},
      {"decode", nothing, 4, 16, 64, "", 0, 0, 0, 0, 0},
      {"merge", nothing, 0, 0, 0, "", 0, 0, 0, 0, 0}};
  kvc_module_table table = {
      KVC_KERNEL_ABI_VERSION, 3, SPEC, hash, "smoke", kernels, "", 0, 0};
  kvc_module *module = NULL;
  CHECK(kvc_module_create(&table, &diag, &module) == KVC_OK);

  kvc_cache_options options = {0};
  options.struct_size = sizeof(options);
  options.spec = spec;
  options.capacity_tokens = 64;
  kvc_cache *cache = NULL;
  CHECK(kvc_cache_create(&options, &diag, &cache) == KVC_OK);

  kvc_sequence sequence = 0;
  CHECK(kvc_cache_create_sequence(cache, &diag, &sequence) == KVC_OK);
  int64_t tokens = 3;
  kvc_append_request request = {sizeof(request), 1, &sequence, &tokens};
  CHECK(kvc_cache_append(cache, &request, &diag) == KVC_OK);

  kvc_thread_pool *pool = NULL;
  kvc_parallel_for loop = {0};
  CHECK(kvc_thread_pool_create(2, NULL, 0, &diag, &pool) == KVC_OK);
  CHECK(kvc_thread_pool_loop(pool, &diag, &loop) == KVC_OK);

  float rows[3 * 16] = {0}, out[3 * 16] = {0};
  int32_t start[] = {0, 3};
  kvc_batch batch = {0};
  batch.struct_size = sizeof(batch);
  batch.cache = cache;
  batch.num_sequences = 1;
  batch.token_start = start;
  batch.sequences = &sequence;
  batch.query.data = batch.key.data = batch.value.data = rows;
  CHECK(kvc_run_append(module, &batch, &loop, &diag) == KVC_OK);
  CHECK(appended == 3);

  int32_t queries = 3, length = 3;
  kvc_plan_options bounds = {sizeof(bounds), module,  1,
                             &queries,       &length, NULL};
  kvc_plan *plan = NULL;
  CHECK(kvc_plan_create(&bounds, &diag, &plan) == KVC_OK);
  kvc_out_rows output = {out, 0, 0};
  CHECK(kvc_run_attend(plan, &batch, &loop, &diag, &output, NULL) == KVC_OK);
  CHECK(kvc_cache_commit(cache, sequence, 3, &diag) == KVC_OK);

  CHECK(kvc_cache_free_sequence(cache, sequence, &diag) == KVC_OK);
  CHECK(kvc_cache_free_sequence(cache, sequence, &diag) == KVC_STALE);
  CHECK(strstr(text, "sequence: expected") != NULL && diag.length > 0);

  CHECK(kvc_plan_free(plan) == KVC_OK);
  CHECK(kvc_thread_pool_free(pool) == KVC_OK);
  CHECK(kvc_cache_free(cache) == KVC_OK);
  CHECK(kvc_module_free(module) == KVC_OK);
}

int main(void) {
  kvc_spec *spec = NULL;
  CHECK(kvc_spec_parse(SPEC, strlen(SPEC), NULL, &spec) == KVC_OK);
  CHECK(kvc_spec_parse("[", 1, NULL, &spec) == KVC_INVALID_DATA);
  if (spec)
    run(spec);
  CHECK(kvc_spec_free(spec) == KVC_OK);
  return failures != 0;
}
