/*===- main.c - Kernels of specs without names of their own -------*- C -*-===*\
|*
|* Part of kvc.
|*
\*===----------------------------------------------------------------------===*/

#include "none_int4.h"
#include "none_int8.h"
#include "same_int4.h"
#include "same_int8.h"

#include <stdio.h>
#include <string.h>

typedef kvc_status (*choose_table)(kvc_diag *diag,
                                   const kvc_module_table **table);

static int describe(const char *library, choose_table choose) {
  char text[256] = "";
  kvc_diag diag = KVC_DIAG_INIT(text);
  const kvc_module_table *table = NULL;
  if (choose(&diag, &table)) {
    fprintf(stderr, "%s\n", text);
    return 1;
  }
  printf("%s: %s, %s\n", library,
         strstr(table->spec_json, "\"int8\"") ? "8 bits" : "4 bits",
         strcmp(table->target, "portable") ? "best target" : "portable");
  return 0;
}

int main(void) {
  return describe("same_int8", same_int8_table) ||
         describe("same_int4", same_int4_table) ||
         describe("none_int8", none_int8_table) ||
         describe("none_int4", none_int4_table);
}
