//===- main.cpp - Installed archives, from C++ ----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "attention.h"
#include "kvc/runtime.h"

#include <cstdio>

int main() {
  char text[256] = "";
  kvc_diag diag = KVC_DIAG_INIT(text);
  const kvc_module_table *table = nullptr;
  kvc_module *module = nullptr;
  const kvc_spec *spec = nullptr;
  kvc_spec_info info = {};
  info.struct_size = sizeof(info);
  if (attention_table(&diag, &table) ||
      kvc_module_create(table, &diag, &module) ||
      kvc_module_spec(module, &diag, &spec) ||
      kvc_spec_get_info(spec, &diag, &info)) {
    std::fprintf(stderr, "%s\n", text);
    return 1;
  }
  std::printf("%s: %d kernels, head_dim %d\n", info.name, table->num_kernels,
              static_cast<int>(info.head_dim));
  kvc_module_free(module);
}
