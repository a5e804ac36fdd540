/*===- main.c - The installed runtime, without a compiler ---------*- C -*-===*\
|*
|* Part of kvc.
|*
\*===----------------------------------------------------------------------===*/

#include <kvc/runtime.h>

#include <stdio.h>
#include <string.h>

static const char text[] =
    "{\"kvc\": 1, \"name\": \"x\", \"io\": {\"query\": \"f16\"},"
    " \"attention\": {\"q_heads\": 8, \"kv_heads\": 2, \"head_dim\": 64},"
    " \"key\": {\"codec\": \"f16\"}, \"value\": {\"codec\": \"f16\"}}";

int main(void) {
  char message[256] = "";
  kvc_diag diag = KVC_DIAG_INIT(message);
  kvc_spec *spec;
  int64_t bytes;
  if (kvc_spec_parse(text, strlen(text), &diag, &spec) ||
      kvc_page_bytes(spec, 16, &diag, &bytes))
    return fprintf(stderr, "%s\n", message), 1;
  printf("%d bytes\n", (int)bytes);
  kvc_spec_free(spec);
  return 0;
}
