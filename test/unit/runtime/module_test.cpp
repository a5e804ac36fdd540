//===- module_test.cpp - Kernel tables ------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "FakeModule.h"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <functional>

using namespace kvc::test;

namespace {

bool contains(const Message &message, const std::string &text) {
  return std::string(message.text).find(text) != std::string::npos;
}

/// Tries a changed copy of a good table.
kvc_status
create(const FakeModule &good, Message &message,
       const std::function<void(kvc_module_table &,
                                std::vector<kvc_kernel_info> &)> &change) {
  kvc_module_table table = const_cast<FakeModule &>(good).table();
  std::vector<kvc_kernel_info> kernels(table.kernels,
                                       table.kernels + table.num_kernels);
  table.kernels = kernels.data();
  change(table, kernels);
  kvc_module *module = nullptr;
  kvc_status status = kvc_module_create(&table, message.get(), &module);
  EXPECT_EQ(status == KVC_OK, module != nullptr);
  kvc_module_free(module);
  return status;
}

} // namespace

TEST(Module, GivesItsSpecAndTable) {
  FakeModule fake((SpecText()));
  const kvc_spec *spec = nullptr;
  ASSERT_EQ(kvc_module_spec(fake.get(), nullptr, &spec), KVC_OK);
  const char *given = nullptr, *parsed = nullptr;
  kvc_spec_json(fake.spec(), &given);
  kvc_spec_json(spec, &parsed);
  EXPECT_STREQ(given, parsed);
  const kvc_module_table *table = nullptr;
  ASSERT_EQ(kvc_module_get_table(fake.get(), nullptr, &table), KVC_OK);
  EXPECT_EQ(table, &fake.table());
  EXPECT_EQ(kvc_module_spec(nullptr, nullptr, &spec), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_module_get_table(fake.get(), nullptr, nullptr),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_module_free(nullptr), KVC_OK);
}

TEST(Module, RefusesWhatContradictsItself) {
  FakeModule fake((SpecText()));
  using Table = kvc_module_table;
  using Kernels = std::vector<kvc_kernel_info>;
  struct Case {
    const char *what;
    kvc_status status;
    std::function<void(Table &, Kernels &)> change;
  } cases[] = {
      {"abi_version: expected 2, got 3", KVC_UNSUPPORTED,
       [](Table &table, Kernels &) { table.abi_version = 3; }},
      {"num_kernels", KVC_INVALID_DATA,
       [](Table &table, Kernels &) { table.num_kernels = -1; }},
      {"num_kernels", KVC_INVALID_DATA,
       [](Table &table, Kernels &) { table.kernels = nullptr; }},
      {"spec_json: expected a text", KVC_INVALID_DATA,
       [](Table &table, Kernels &) { table.spec_json = nullptr; }},
      {"layout_hash: expected a text", KVC_INVALID_DATA,
       [](Table &table, Kernels &) { table.layout_hash = nullptr; }},
      {"spec_json: $", KVC_INVALID_DATA,
       [](Table &table, Kernels &) { table.spec_json = "{}"; }},
      {"layout_hash: expected", KVC_UNSUPPORTED,
       [](Table &table, Kernels &) { table.layout_hash = "0000"; }},
      {"expected a kernel's name", KVC_INVALID_DATA,
       [](Table &, Kernels &kernels) { kernels[1].name = nullptr; }},
      {"expected a kernel's function", KVC_INVALID_DATA,
       [](Table &, Kernels &kernels) { kernels[1].function = nullptr; }},
      {"expected one kernel \"merge\"", KVC_INVALID_DATA,
       [](Table &, Kernels &kernels) { kernels[2].name = "merge"; }},
      {"module.decode: expected tiles", KVC_INVALID_DATA,
       [](Table &, Kernels &kernels) { kernels[0].tile_rows = 0; }},
      {"module.prefill: expected tiles", KVC_INVALID_DATA,
       [](Table &, Kernels &kernels) { kernels[1].tile_tokens = 1 << 21; }},
      {"module.decode.split_tokens: expected a multiple of 16, at most "
       "2147483647, got 24",
       KVC_INVALID_DATA,
       [](Table &, Kernels &kernels) { kernels[0].split_tokens = 24; }},
      {"at most 2147483647, got 2147483648", KVC_INVALID_DATA,
       [](Table &, Kernels &kernels) {
         kernels[1].split_tokens = int64_t(1) << 31;
       }},
      {"at most 2147483647, got 9223372036854775792", KVC_INVALID_DATA,
       [](Table &, Kernels &kernels) {
         kernels[0].split_tokens = INT64_MAX - 15;
       }},
      {"module.decode.workspace_bytes: expected 0, got 64", KVC_INVALID_DATA,
       [](Table &, Kernels &kernels) { kernels[0].workspace_bytes = 64; }},
      {"module.append.workspace_bytes: expected 0 or more, got -1",
       KVC_INVALID_DATA,
       [](Table &, Kernels &kernels) {
         for (kvc_kernel_info &kernel : kernels)
           kernel.workspace_bytes =
               -(kernel.name == std::string_view("append"));
       }},
  };
  for (const Case &test : cases) {
    Message message;
    EXPECT_EQ(create(fake, message, test.change), test.status) << test.what;
    EXPECT_TRUE(contains(message, test.what)) << message.text;
  }
  Message message;
  EXPECT_EQ(create(fake, message, [](Table &, Kernels &) {}), KVC_OK);
  EXPECT_EQ(
      create(fake, message,
             [](Table &, Kernels &kernels) { kernels[0].name = "other"; }),
      KVC_OK)
      << "kernels of other names are somebody else's";
  EXPECT_EQ(kvc_module_create(nullptr, message.get(), nullptr),
            KVC_INVALID_ARGUMENT);
}

TEST(Module, PlansNeedTheirKernels) {
  FakeModule fake((SpecText()));
  struct {
    std::vector<int> kernels;
    const char *missing;
  } cases[] = {{{2, 3, 4}, "\"decode\""}, {{0, 1, 2, 4}, "\"merge\""}};
  for (auto &test : cases) {
    std::vector<kvc_kernel_info> kernels;
    for (int index : test.kernels)
      kernels.push_back(fake.table().kernels[index]);
    kvc_module_table table = fake.table();
    table.kernels = kernels.data();
    table.num_kernels = int32_t(kernels.size());
    kvc_module *module = nullptr;
    ASSERT_EQ(kvc_module_create(&table, nullptr, &module), KVC_OK);
    ModulePtr owner(module);
    kvc_plan_options options = {sizeof(options), module,  0,
                                nullptr,         nullptr, nullptr};
    kvc_plan *plan = nullptr;
    Message message;
    EXPECT_EQ(kvc_plan_create(&options, message.get(), &plan), KVC_UNSUPPORTED);
    EXPECT_TRUE(contains(message, test.missing)) << message.text;
  }
}

TEST(Module, OpensASharedObject) {
  void *library = dlopen(KVC_OPENED_MODULE, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  auto *table = static_cast<kvc_module_table *>(dlsym(library, "kvc_module"));
  ASSERT_NE(table, nullptr);
  SpecPtr spec = parse(table->spec_json);
  kvc_layout_hash(spec.get(), &table->layout_hash);

  Message message;
  kvc_module *module = nullptr;
  ASSERT_EQ(kvc_module_open(KVC_OPENED_MODULE, nullptr, message.get(), &module),
            KVC_OK)
      << message.text;
  ModulePtr owner(module);
  const kvc_module_table *opened = nullptr;
  kvc_module_get_table(module, nullptr, &opened);
  EXPECT_EQ(opened, table);

  module = nullptr;
  EXPECT_EQ(kvc_module_open(KVC_OPENED_MODULE, "other_version", message.get(),
                            &module),
            KVC_UNSUPPORTED);
  EXPECT_TRUE(contains(message, "abi_version")) << message.text;
  EXPECT_EQ(
      kvc_module_open(KVC_OPENED_MODULE, "no_table", message.get(), &module),
      KVC_INVALID_DATA);
  EXPECT_TRUE(contains(message, "no_table")) << message.text;
  EXPECT_EQ(kvc_module_open("no_such_file.so", nullptr, message.get(), &module),
            KVC_FAILED);
  EXPECT_TRUE(contains(message, "no_such_file.so")) << message.text;
  EXPECT_EQ(kvc_module_open("", nullptr, message.get(), &module),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(module, nullptr);
  dlclose(library);
}
