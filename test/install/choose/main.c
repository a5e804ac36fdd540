/*===- main.c - Which kernels a machine gets ----------------------*- C -*-===*\
|*
|* Part of kvc.
|*
|* The source that kvc_add_kernel makes, on machines that this program invents.
|*
\*===----------------------------------------------------------------------===*/

#include "chosen.h"
#include "machine.h"

#include <stdio.h>
#include <string.h>

static const char *machine; /* What it has, each between blanks. */

int machine_supports(const char *feature) {
  char word[64];
  snprintf(word, sizeof(word), " %s ", feature);
  return strstr(machine, word) != NULL;
}

const kvc_module_table table_v3, table_v4, table_vnni;

static int failures;

static void expect(int condition, const char *what) {
  if (condition)
    return;
  ++failures;
  fprintf(stderr, "machine \"%s\": expected %s\n", machine, what);
}

static const kvc_module_table *choose(const char *features) {
  const kvc_module_table *table = NULL;
  machine = features;
  expect(chosen_table(NULL, &table) == KVC_OK, "a table");
  return table;
}

int main(void) {
  expect(choose(" avx2 fma ") == &table_v3, "v3");
  expect(choose(" avx2 fma avx512vnni ") == &table_v3, "v3: VNNI alone");
  expect(choose(" avx2 fma avx512f ") == &table_v4, "v4");
  expect(choose(" avx2 fma avx512f avx512vnni ") == &table_vnni, "v4+vnni");

  char text[512] = "";
  kvc_diag diag = KVC_DIAG_INIT(text);
  const kvc_module_table *table = &table_v3;
  const char *message = "chosen: expected a machine of level x86-64-v4+vnni, "
                        "x86-64-v4, x86-64-v3; got one below";
  machine = " avx2 "; /* without fma */
  expect(chosen_table(&diag, &table) == KVC_UNSUPPORTED, "a refusal");
  expect(table == &table_v3, "no table written");
  expect(strcmp(text, message) == 0, message);
  expect(diag.length == strlen(message), "the message's length");

  char small[8];
  kvc_diag cut = KVC_DIAG_INIT(small);
  expect(chosen_table(&cut, &table) == KVC_UNSUPPORTED, "a refusal");
  expect(strcmp(small, "chosen:") == 0, "a message that is cut");
  expect(cut.length == strlen(message), "the whole message's length");
  expect(chosen_table(NULL, &table) == KVC_UNSUPPORTED, "a refusal");
  expect(chosen_table(&diag, NULL) == KVC_INVALID_ARGUMENT, "a pointer");

  /* A diagnostic of nobody's: its fields mean nothing. */
  kvc_diag unmade = {0, (char *)1, 1, 7};
  expect(chosen_table(&unmade, &table) == KVC_UNSUPPORTED, "a refusal");
  expect(unmade.length == 7, "no write to what is no diagnostic");
  return failures != 0;
}
