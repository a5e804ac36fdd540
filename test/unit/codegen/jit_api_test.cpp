//===- jit_api_test.cpp - The public C API of the compiler ----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/jit.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr const char *kSpec = R"json({
  "kvc": 1,
  "name": "tiny",
  "attention": {"q_heads": 4, "kv_heads": 2, "head_dim": 32},
  "io": {"query": "f16"},
  "key": {"codec": "int4", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}, "zero": "min"},
  "value": {"codec": "int8", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}}
})json";

class JitApi : public testing::Test {
protected:
  JitApi() { EXPECT_EQ(kvc_compiler_create(&diag, &compiler), KVC_OK); }
  ~JitApi() override { kvc_compiler_free(compiler); }

  kvc_status translate(const std::string &text, kvc_spec_format format,
                       std::string &out) {
    kvc_artifacts *artifacts = nullptr;
    kvc_status status = kvc_translate(compiler, text.data(), text.size(),
                                      format, &diag, &artifacts);
    if (status != KVC_OK)
      return status;
    const kvc_artifact *list = nullptr;
    int64_t count = 0;
    EXPECT_EQ(kvc_artifacts_list(artifacts, &list, &count), KVC_OK);
    EXPECT_EQ(count, 1);
    name = list[0].name;
    out.assign(static_cast<const char *>(list[0].data), list[0].size);
    kvc_artifacts_free(artifacts);
    return status;
  }

  kvc_status artifacts(const kvc_compile_options *options, uint32_t emit,
                       const char *stage) {
    kvc_artifacts *made = nullptr;
    kvc_status status =
        kvc_compile_artifacts(compiler, kSpec, std::strlen(kSpec), options,
                              emit, stage, &diag, &made);
    EXPECT_EQ(made != nullptr, status == KVC_OK);
    names.clear();
    texts.clear();
    if (status != KVC_OK)
      return status;
    const kvc_artifact *list = nullptr;
    int64_t count = 0;
    EXPECT_EQ(kvc_artifacts_list(made, &list, &count), KVC_OK);
    for (int64_t i = 0; i < count; ++i) {
      names.push_back(list[i].name);
      texts.emplace_back(static_cast<const char *>(list[i].data), list[i].size);
      EXPECT_EQ(static_cast<const char *>(list[i].data)[list[i].size], '\0');
    }
    kvc_artifacts_free(made);
    return status;
  }

  kvc_compiler *compiler = nullptr;
  char message[512] = "";
  kvc_diag diag = KVC_DIAG_INIT(message);
  std::string name;
  std::vector<std::string> names, texts;
};

TEST_F(JitApi, TranslateIsAFixedPoint) {
  std::string json, mlir, again;
  ASSERT_EQ(translate(kSpec, KVC_SPEC_JSON, json), KVC_OK) << message;
  EXPECT_EQ(name, "tiny.json");
  ASSERT_EQ(translate(json, KVC_SPEC_MLIR, mlir), KVC_OK) << message;
  EXPECT_EQ(name, "tiny.mlir");
  EXPECT_NE(mlir.find("kvc.attention_spec @tiny"), std::string::npos) << mlir;
  ASSERT_EQ(translate(mlir, KVC_SPEC_MLIR, again), KVC_OK) << message;
  EXPECT_EQ(again, mlir);
  ASSERT_EQ(translate(mlir, KVC_SPEC_JSON, again), KVC_OK) << message;
  EXPECT_EQ(again, json);
  ASSERT_EQ(translate(json, KVC_SPEC_JSON, again), KVC_OK) << message;
  EXPECT_EQ(again, json);
}

// A GPU's kernels are a table with their code; nothing runs here.
TEST_F(JitApi, TablesOfDevices) {
  kvc_compile_options options = {};
  options.struct_size = sizeof(options);
  options.target = "sm_80";
  options.kernels = "append,merge";
  kvc_jit_module *module = nullptr;
  ASSERT_EQ(kvc_compile_jit(compiler, kSpec, std::strlen(kSpec), &options,
                            &diag, &module),
            KVC_OK)
      << message;
  const kvc_module_table *table = nullptr;
  ASSERT_EQ(kvc_jit_module_table(module, &table), KVC_OK);
  EXPECT_EQ(table->abi_version, KVC_KERNEL_ABI_VERSION);
  EXPECT_STREQ(table->target, "sm_80");
  ASSERT_EQ(table->num_kernels, 2);
  const std::string code(static_cast<const char *>(table->code));
  EXPECT_EQ(table->code_bytes, int64_t(code.size()) + 1);
  for (int32_t i = 0; i < table->num_kernels; ++i) {
    const kvc_kernel_info &kernel = table->kernels[i];
    EXPECT_EQ(kernel.symbol, kernel.name + std::string("_tiny"));
    EXPECT_EQ(kernel.function, nullptr);
    EXPECT_EQ(kernel.threads, 32);
    EXPECT_NE(code.find(".entry " + std::string(kernel.symbol) + "("),
              std::string::npos);
  }
  kvc_jit_module_free(module);
}

TEST_F(JitApi, WrongSpecsNameTheirPlace) {
  struct {
    std::string text;
    const char *expected;
  } cases[] = {
      {"", "$"},
      {"   \n", "$"},
      {"{\"kvc\": 2}", "$.kvc"},
      {"kvc.attention_spec", "1:"},
      {"# A page\n", "expected a spec, JSON that begins with \"{\" or MLIR"},
      {"module {\n  func.func @f() { return }\n}",
       "expected a module with one kvc.attention_spec and nothing else"},
      {"module {}", "got 0 operations"},
      {std::string(100000, '['), "brackets nested too deeply"},
      {"#a = #kvc.spec<name = \"x\">", "1:"},
      {std::string("\xEF\xBB\xBF{}"), "$"},
  };
  for (const auto &each : cases) {
    std::string out;
    EXPECT_EQ(translate(each.text, KVC_SPEC_JSON, out), KVC_INVALID_DATA)
        << each.text.substr(0, 80);
    EXPECT_NE(std::string(message).find(each.expected), std::string::npos)
        << message;
    EXPECT_EQ(std::strlen(message), std::min(diag.length, sizeof(message) - 1));
  }
}

TEST_F(JitApi, LeavesADiagnosticWithoutSizeAlone) {
  kvc_diag unmade = {};
  unmade.message = message;
  unmade.capacity = sizeof(message);
  unmade.length = 7;
  std::strcpy(message, "as it was");
  EXPECT_EQ(kvc_compiler_create(&unmade, nullptr), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(unmade.length, 7u);
  EXPECT_STREQ(message, "as it was");
}

TEST_F(JitApi, ListsStagesAndTargets) {
  const kvc_named *names = nullptr;
  int64_t count = 0;
  ASSERT_EQ(kvc_stage_names(&names, &count), KVC_OK);
  ASSERT_GT(count, 1);
  EXPECT_STREQ(names[0].name, "kernels");
  EXPECT_STREQ(names[count - 1].name, "llvm");
  ASSERT_EQ(kvc_target_names(&names, &count), KVC_OK);
  ASSERT_EQ(count, 12);
  EXPECT_STREQ(names[0].name, "host");
}

TEST_F(JitApi, PrintsEveryStage) {
  const kvc_named *stages = nullptr;
  int64_t count = 0;
  ASSERT_EQ(kvc_stage_names(&stages, &count), KVC_OK);
  kvc_compile_options options = {};
  options.struct_size = sizeof(options);
  options.target = "x86-64-v3";
  options.verify = 1;
  for (int64_t i = 0; i < count; ++i) {
    ASSERT_EQ(artifacts(&options, KVC_EMIT_MLIR, stages[i].name), KVC_OK)
        << stages[i].name << ": " << message;
    ASSERT_EQ(names.size(), 1u);
    EXPECT_EQ(names[0],
              std::string("tiny.x86-64-v3.") + stages[i].name + ".mlir");
    EXPECT_NE(texts[0].find("kvc.kernel = \"decode\""), std::string::npos)
        << texts[0];
  }
}

TEST_F(JitApi, RefusesWrongArguments) {
  kvc_compile_options options = {};
  options.struct_size = sizeof(options);
  auto refused = [&](kvc_status expected, const char *part,
                     uint32_t emit = KVC_EMIT_MLIR,
                     const char *stage = "kernels") {
    EXPECT_EQ(artifacts(&options, emit, stage), expected) << part;
    EXPECT_NE(std::string(message).find(part), std::string::npos) << message;
    options = {};
    options.struct_size = sizeof(options);
  };
  options.target = "sm_79";
  refused(KVC_INVALID_ARGUMENT, "target: expected one of host, x86-64,");
  options.tile_tokens = 48;
  refused(KVC_INVALID_ARGUMENT,
          "options.tile_tokens: expected a power of two, got 48");
  options.tile_tokens = 64;
  options.split_tokens = 96;
  refused(KVC_INVALID_ARGUMENT, "split_tokens", KVC_EMIT_MLIR, "schedule");
  options.decode_rows = 129;
  refused(KVC_INVALID_ARGUMENT,
          "options.decode_rows: expected 0 or 1..128, got 129");
  options.asan = 2;
  refused(KVC_INVALID_ARGUMENT, "options.asan");
  options.kernels = "decode,encode";
  refused(KVC_INVALID_ARGUMENT, "got \"encode\"");
  options.struct_size = 3;
  refused(KVC_INVALID_ARGUMENT, "options.struct_size");
  options.struct_size = SIZE_MAX; // as where it was never set
  refused(KVC_INVALID_ARGUMENT, "options.struct_size");
  refused(KVC_INVALID_ARGUMENT, "emit: expected", 0);
  refused(KVC_INVALID_ARGUMENT, "emit: expected", 1u << 20);
  refused(KVC_INVALID_ARGUMENT, "stage: expected one of kernels, schedule,",
          KVC_EMIT_MLIR, "nowhere");

  kvc_jit_module *module = nullptr;
  EXPECT_EQ(kvc_compile_jit(nullptr, kSpec, 1, nullptr, &diag, &module),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_compile_jit(compiler, nullptr, 0, nullptr, &diag, &module),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_compile_jit(compiler, kSpec, 1, nullptr, &diag, nullptr),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_compile_jit(compiler, "{", 1, nullptr, nullptr, &module),
            KVC_INVALID_DATA);
  EXPECT_EQ(module, nullptr);
  EXPECT_EQ(kvc_jit_module_free(nullptr), KVC_OK);
  EXPECT_EQ(kvc_artifacts_free(nullptr), KVC_OK);
  EXPECT_EQ(kvc_compiler_free(nullptr), KVC_OK);
}

TEST_F(JitApi, StructsOfOtherVersions) {
  // A caller of an older header: fields that it lacks are their defaults.
  kvc_compile_options options = {};
  options.struct_size = offsetof(kvc_compile_options, asan);
  options.asan = 77;
  EXPECT_EQ(artifacts(&options, KVC_EMIT_MLIR, "kernels"), KVC_OK) << message;

  // A newer one may pass fields unknown here as long as they are zero.
  struct {
    kvc_compile_options known;
    int64_t unknown;
  } newer = {};
  newer.known.struct_size = sizeof(newer);
  EXPECT_EQ(artifacts(&newer.known, KVC_EMIT_MLIR, "kernels"), KVC_OK)
      << message;
  newer.unknown = 1;
  EXPECT_EQ(artifacts(&newer.known, KVC_EMIT_MLIR, "kernels"), KVC_UNSUPPORTED);
}

TEST_F(JitApi, ShortMessageBuffers) {
  char small[8];
  std::memset(small, 'x', sizeof(small));
  kvc_diag short_diag = KVC_DIAG_INIT(small);
  kvc_artifacts *out = nullptr;
  EXPECT_EQ(kvc_translate(compiler, "{", 1, KVC_SPEC_JSON, &short_diag, &out),
            KVC_INVALID_DATA);
  EXPECT_EQ(std::strlen(small), 7u);
  EXPECT_GT(short_diag.length, 7u);

  // One of a header without these fields is left alone.
  kvc_diag old = {sizeof(size_t), small, sizeof(small), 99};
  std::memset(small, 'x', sizeof(small));
  EXPECT_EQ(kvc_translate(compiler, "{", 1, KVC_SPEC_JSON, &old, &out),
            KVC_INVALID_DATA);
  EXPECT_EQ(small[0], 'x');
  EXPECT_EQ(old.length, 99u);
}

TEST_F(JitApi, SplitsWhatJSONCanSayFromTheScoreRegion) {
  std::string json, mlir, again;
  ASSERT_EQ(translate(kSpec, KVC_SPEC_JSON, json), KVC_OK);
  ASSERT_EQ(translate(kSpec, KVC_SPEC_MLIR, mlir), KVC_OK);
  const std::string region =
      "score(%score: f32, %a: i32, %b: i32, %c: i32, %d: i32) {\n"
      "  kvc.yield %score : f32\n}";
  const std::string scored = mlir.insert(
      mlir.find('\n', mlir.rfind("kvc.attention_spec")), " " + region);
  auto split = [&](const std::string &text) {
    std::vector<std::pair<std::string, std::string>> parts;
    kvc_artifacts *made = nullptr;
    EXPECT_EQ(kvc_split_spec(compiler, text.data(), text.size(), &diag, &made),
              KVC_OK)
        << message;
    const kvc_artifact *list = nullptr;
    int64_t count = 0;
    EXPECT_EQ(kvc_artifacts_list(made, &list, &count), KVC_OK);
    for (int64_t i = 0; i < count; ++i)
      parts.emplace_back(
          list[i].name,
          std::string(static_cast<const char *>(list[i].data), list[i].size));
    kvc_artifacts_free(made);
    return parts;
  };
  using Parts = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(split(kSpec), (Parts{{"tiny.json", json}}));
  EXPECT_EQ(split(scored),
            (Parts{{"tiny.json", json},
                   {"tiny.score.mlir",
                    "score(%arg0: f32, %arg1: i32, %arg2: i32, %arg3: i32, "
                    "%arg4: i32) {\n  kvc.yield %arg0 : f32\n}"}}));
  EXPECT_EQ(translate(scored, KVC_SPEC_JSON, again), KVC_UNSUPPORTED);

  kvc_artifacts *made = nullptr;
  EXPECT_EQ(kvc_split_spec(nullptr, kSpec, 1, &diag, &made),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_split_spec(compiler, nullptr, 0, &diag, &made),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_split_spec(compiler, kSpec, 1, &diag, nullptr),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(kvc_split_spec(compiler, "{", 1, &diag, &made), KVC_INVALID_DATA);
  EXPECT_EQ(made, nullptr);
}

TEST_F(JitApi, RemarksNameTheirKernel) {
  std::vector<std::string> remarks;
  kvc_compile_options options = {};
  options.struct_size = sizeof(options);
  options.kernels = "decode";
  options.remark_user = &remarks;
  options.remark = [](void *user, const char *remark) {
    static_cast<std::vector<std::string> *>(user)->push_back(remark);
  };
  ASSERT_EQ(artifacts(&options, KVC_EMIT_MLIR, "layouts"), KVC_OK) << message;
  for (const std::string &remark : remarks)
    EXPECT_EQ(remark.rfind("decode: ", 0), 0u) << remark;
  // Every pass that chooses says so.
  for (const char *choice :
       {"tile_rows: ", "tile_tokens: ", "split_tokens: ", "key scale [t]: ",
        "key product: ", "key codes: ", "key operand: "})
    EXPECT_TRUE(std::any_of(
        remarks.begin(), remarks.end(),
        [&](const std::string &remark) {
          return remark.rfind(std::string("decode: ") + choice, 0) == 0;
        }))
        << choice;
}

TEST_F(JitApi, EmitsEveryKindInOrder) {
  kvc_compile_options options = {};
  options.struct_size = sizeof(options);
  options.target = "x86-64-v4+vnni";
  options.kernels = "append,merge";
  ASSERT_EQ(artifacts(&options, 31, nullptr), KVC_OK) << message;
  std::vector<std::string> expected = {
      "tiny.x86-64-v4+vnni.o", "tiny.x86-64-v4+vnni.s",
      "tiny.x86-64-v4+vnni.ll", "tiny.x86-64-v4+vnni.llvm.mlir",
      "tiny.x86-64-v4+vnni.json"};
  EXPECT_EQ(names, expected);
  EXPECT_EQ(texts[0].substr(1, 3), "ELF");
  EXPECT_NE(texts[1].find("kvc_module_tiny_x86_64_v4_vnni"), std::string::npos);
  EXPECT_EQ(texts[2].find("@kvc_decode"), std::string::npos);
  // The parameters' bytes are those of the C structs.
  EXPECT_NE(texts[4].find("\"argument_bytes\": " +
                          std::to_string(sizeof(kvc_append_args))),
            std::string::npos)
      << texts[4];
  EXPECT_NE(texts[4].find("\"argument_bytes\": " +
                          std::to_string(sizeof(kvc_merge_args))),
            std::string::npos)
      << texts[4];

  std::vector<std::string> first = texts;
  ASSERT_EQ(artifacts(&options, 31, nullptr), KVC_OK) << message;
  EXPECT_EQ(texts, first) << "compilation is not deterministic";
}

#if !defined(__SANITIZE_ADDRESS__) && !__has_feature(address_sanitizer)
TEST_F(JitApi, InstrumentedKernelsNeedTheirRuntime) {
  kvc_compile_options options = {};
  options.struct_size = sizeof(options);
  options.kernels = "merge";
  options.asan = 1;
  kvc_jit_module *module = nullptr;
  EXPECT_EQ(kvc_compile_jit(compiler, kSpec, std::strlen(kSpec), &options,
                            &diag, &module),
            KVC_FAILED);
  EXPECT_NE(std::string(message).find("__asan_"), std::string::npos) << message;
}
#endif

TEST_F(JitApi, CallsFromSeveralThreadsWaitForEachOther) {
  std::vector<std::thread> threads;
  std::vector<kvc_status> statuses(4, KVC_FAILED);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < 20; ++round) {
        kvc_artifacts *out = nullptr;
        statuses[i] = kvc_translate(compiler, kSpec, std::strlen(kSpec),
                                    KVC_SPEC_MLIR, nullptr, &out);
        kvc_artifacts_free(out);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(statuses, std::vector<kvc_status>(4, KVC_OK));
}

} // namespace
