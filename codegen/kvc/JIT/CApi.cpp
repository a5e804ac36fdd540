//===- CApi.cpp - kvc/jit.h over the compiler -----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/jit.h"

#include "kvc/Codegen/Pipelines.h"
#include "kvc/Compiler/Compiler.h"
#include "kvc/Compiler/Status.h"
#include "kvc/JIT/DeviceModule.h"
#include "kvc/JIT/LoadedModule.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <mutex>

using namespace kvc;

//===----------------------------------------------------------------------===//
// Handles
//===----------------------------------------------------------------------===//

struct kvc_compiler {
  std::mutex mutex;
  Compiler compiler;
};

struct kvc_jit_module {
  std::unique_ptr<LoadedModule> loaded; ///< Of hosts,
  std::unique_ptr<DeviceModule> device; ///< or of GPUs.
  std::vector<kvc_phase> phases;
};

struct kvc_artifacts {
  explicit kvc_artifacts(EmitResult result) : owned(std::move(result)) {
    for (const Artifact &artifact : owned.artifacts)
      list.push_back({artifact.kind, artifact.name.c_str(),
                      artifact.data.c_str(), artifact.data.size()});
  }
  EmitResult owned;
  std::vector<kvc_artifact> list;
};

//===----------------------------------------------------------------------===//
// The border
//===----------------------------------------------------------------------===//

static kvc_status report(kvc_diag *diag, kvc_status status,
                         llvm::StringRef message) {
  if (!diag || diag->struct_size < sizeof(kvc_diag))
    return status;
  diag->length = message.size();
  if (diag->message && diag->capacity > 0) {
    size_t copied = std::min(message.size(), diag->capacity - 1);
    std::memcpy(diag->message, message.data(), copied);
    diag->message[copied] = '\0';
  }
  return status;
}

/// Runs `body`, which returns an llvm::Error, and turns whatever goes wrong
/// into a status. The messages of exceptions are static: memory may be short.
template <typename Body>
static kvc_status guarded(kvc_diag *diag, Body body) noexcept {
  try {
    llvm::Error error = body();
    if (!error)
      return KVC_OK;
    auto [status, message] = takeStatus(std::move(error));
    return report(diag, status, message);
  } catch (const std::bad_alloc &) {
    return report(diag, KVC_FAILED, "memory: expected more, got none");
  } catch (...) {
    return report(diag, KVC_FAILED, "compiler: an unexpected exception");
  }
}

static llvm::Error missing(llvm::StringRef what) {
  return makeError(KVC_INVALID_ARGUMENT,
                   what + ": expected a pointer, got null");
}

/// The caller's struct as this library knows it: what it lacks is zero, what it
/// has beyond must be.
template <typename T>
static llvm::Error readStruct(llvm::StringRef what, const T *given, T &out) {
  std::memset(&out, 0, sizeof(T));
  if (!given)
    return llvm::Error::success();
  size_t size = given->struct_size;
  // No version of any struct is longer: what says so has never been set.
  constexpr size_t longest = 4096;
  if (size < sizeof(size_t) || size > longest)
    return makeError(KVC_INVALID_ARGUMENT,
                     what +
                         ".struct_size: expected sizeof of the struct, got " +
                         llvm::Twine(size));
  const char *bytes = reinterpret_cast<const char *>(given);
  for (size_t i = sizeof(T); i < size; ++i)
    if (bytes[i] != 0)
      return makeError(KVC_UNSUPPORTED,
                       what + ": has a field at byte " + llvm::Twine(i) +
                           " that this version of kvc does not know");
  std::memcpy(&out, given, std::min(size, sizeof(T)));
  return llvm::Error::success();
}

/// Shows the caller a list that stays the library's.
template <typename T>
static kvc_status lend(const std::vector<T> &all, const T **list,
                       int64_t *count) {
  if (!list || !count)
    return KVC_INVALID_ARGUMENT;
  *list = all.data();
  *count = static_cast<int64_t>(all.size());
  return KVC_OK;
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

static llvm::Error checkRange(llvm::StringRef name, int64_t value, int64_t low,
                              int64_t high) {
  if (value == 0 || (value >= low && value <= high))
    return llvm::Error::success();
  return makeError(KVC_INVALID_ARGUMENT,
                   "options." + name + ": expected 0 or " + llvm::Twine(low) +
                       ".." + llvm::Twine(high) + ", got " +
                       llvm::Twine(value));
}

static llvm::Error readOptions(const kvc_compile_options *given,
                               CompileOptions &options,
                               DiagnosticCatcher::RemarkFunction &remark) {
  kvc_compile_options raw;
  if (llvm::Error error = readStruct("options", given, raw))
    return error;
  constexpr int64_t longest = std::numeric_limits<int32_t>::max();
  struct {
    llvm::StringLiteral name;
    int64_t value, low, high;
  } ranges[] = {{"decode_rows", raw.decode_rows, 1, 128},
                {"prefill_rows", raw.prefill_rows, 1, 128},
                {"tile_tokens", raw.tile_tokens, 16, 256},
                {"split_tokens", raw.split_tokens, 16, longest},
                {"prefill_split_tokens", raw.prefill_split_tokens, 16, longest},
                {"prefetch_bytes", raw.prefetch_bytes, -1, int64_t(1) << 24},
                {"prefetch_pages", raw.prefetch_pages, -1, int64_t(1) << 16},
                {"asan", raw.asan, 0, 1},
                {"verify", raw.verify, 0, 1}};
  for (const auto &range : ranges)
    if (llvm::Error error =
            checkRange(range.name, range.value, range.low, range.high))
      return error;
  if (raw.tile_tokens & (raw.tile_tokens - 1))
    return makeError(KVC_INVALID_ARGUMENT,
                     "options.tile_tokens: expected a power of two, got " +
                         llvm::Twine(raw.tile_tokens));

  // Where the compiler chooses the tiles, it says so of the ones it chose.
  const int64_t tile = std::max<int64_t>(raw.tile_tokens, 16);
  for (int64_t split : {raw.split_tokens, raw.prefill_split_tokens})
    if (split % tile != 0)
      return makeError(KVC_INVALID_ARGUMENT,
                       "options: expected split_tokens that are multiples of " +
                           llvm::Twine(tile) + ", got " + llvm::Twine(split));

  llvm::Expected<Target> target = parseTarget(raw.target ? raw.target : "host");
  if (!target)
    return withStatus(KVC_INVALID_ARGUMENT, target.takeError());
  options.target = std::move(*target);
  if (raw.kernels)
    for (llvm::StringRef kernel : llvm::split(raw.kernels, ','))
      options.kernels.push_back(kernel.str());
  options.decodeRows = raw.decode_rows;
  options.prefillRows = raw.prefill_rows;
  options.tileTokens = raw.tile_tokens;
  options.splitTokens = raw.split_tokens;
  options.prefillSplitTokens = raw.prefill_split_tokens;
  options.prefetchBytes = raw.prefetch_bytes;
  options.prefetchPages = raw.prefetch_pages;
  options.asan = raw.asan;
  options.verify = raw.verify;
  options.remarks = raw.remark;
  if (raw.remark)
    remark = [function = raw.remark, user = raw.remark_user](
                 const std::string &text) { function(user, text.c_str()); };
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Compiler
//===----------------------------------------------------------------------===//

kvc_status kvc_compiler_create(kvc_diag *diag, kvc_compiler **compiler) {
  return guarded(diag, [&]() -> llvm::Error {
    if (!compiler)
      return missing("compiler");
    *compiler = new kvc_compiler();
    return llvm::Error::success();
  });
}

kvc_status kvc_compiler_free(kvc_compiler *compiler) {
  delete compiler;
  return KVC_OK;
}

kvc_status kvc_target_names(const kvc_named **names, int64_t *count) {
  static const std::vector<kvc_named> all = [] {
    std::vector<kvc_named> list;
    for (const TargetName &target : targetNames())
      list.push_back({target.name.data(), target.summary.data()});
    return list;
  }();
  return lend(all, names, count);
}

kvc_status kvc_stage_names(const kvc_named **names, int64_t *count) {
  static const std::vector<kvc_named> all = [] {
    std::vector<kvc_named> list;
    for (const Stage &stage : hostStages())
      list.push_back({stage.name.data(), stage.summary.data()});
    return list;
  }();
  return lend(all, names, count);
}

//===----------------------------------------------------------------------===//
// Kernels in this process
//===----------------------------------------------------------------------===//

kvc_status kvc_compile_jit(kvc_compiler *compiler, const char *spec,
                           size_t size, const kvc_compile_options *given,
                           kvc_diag *diag, kvc_jit_module **module) {
  return guarded(diag, [&]() -> llvm::Error {
    if (!compiler || !spec || !module)
      return missing(!compiler ? "compiler" : !spec ? "spec" : "module");
    CompileOptions options;
    DiagnosticCatcher::RemarkFunction remark;
    if (llvm::Error error = readOptions(given, options, remark))
      return error;
    // A GPU's code is only held here, for a device to load.
    if (!options.target.warps)
      if (llvm::Error error = checkRunsHere(options.target))
        return withStatus(KVC_UNSUPPORTED, std::move(error));

    std::lock_guard<std::mutex> lock(compiler->mutex);
    llvm::Expected<EmitResult> result = compiler->compiler.emit(
        llvm::StringRef(spec, size), options,
        {options.target.warps ? KVC_EMIT_PTX : KVC_EMIT_OBJ, nullptr},
        std::move(remark));
    if (!result)
      return result.takeError();
    if (options.target.warps) {
      auto made = std::make_unique<kvc_jit_module>();
      made->device = std::make_unique<DeviceModule>(
          std::move(result->table), std::move(result->artifacts.front().data));
      made->phases = std::move(result->phases);
      *module = made.release();
      return llvm::Error::success();
    }
    auto start = std::chrono::steady_clock::now();
    auto loaded =
        LoadedModule::load(result->artifacts.front().data, options.asan);
    if (!loaded)
      return loaded.takeError();
    auto made = std::make_unique<kvc_jit_module>();
    made->loaded = std::move(*loaded);
    made->phases = std::move(result->phases);
    std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start;
    made->phases.push_back({"load", elapsed.count()});
    *module = made.release();
    return llvm::Error::success();
  });
}

kvc_status kvc_jit_module_free(kvc_jit_module *module) {
  delete module;
  return KVC_OK;
}

kvc_status kvc_jit_module_table(const kvc_jit_module *module,
                                const kvc_module_table **table) {
  if (!module || !table)
    return KVC_INVALID_ARGUMENT;
  *table = module->device ? &module->device->table() : &module->loaded->table();
  return KVC_OK;
}

kvc_status kvc_jit_module_phases(const kvc_jit_module *module,
                                 const kvc_phase **phases, int64_t *count) {
  return module ? lend(module->phases, phases, count) : KVC_INVALID_ARGUMENT;
}

//===----------------------------------------------------------------------===//
// Artefacts
//===----------------------------------------------------------------------===//

static llvm::Error readRequest(uint32_t emit, const char *stage,
                               EmitRequest &request) {
  constexpr uint32_t kAll = KVC_EMIT_OBJ | KVC_EMIT_ASM | KVC_EMIT_LLVM |
                            KVC_EMIT_MLIR | KVC_EMIT_MANIFEST | KVC_EMIT_PTX;
  if (emit == 0 || (emit & ~kAll))
    return makeError(KVC_INVALID_ARGUMENT,
                     "emit: expected KVC_EMIT_* values, got " +
                         llvm::Twine(emit));
  request.kinds = emit;
  if (!stage)
    return llvm::Error::success();
  request.mlirStage = findHostStage(stage);
  if (request.mlirStage)
    return llvm::Error::success();
  std::vector<llvm::StringRef> names;
  for (const Stage &each : hostStages())
    names.push_back(each.name);
  return makeError(KVC_INVALID_ARGUMENT, "stage: expected one of " +
                                             llvm::join(names, ", ") +
                                             "; got \"" + stage + "\"");
}

kvc_status kvc_compile_artifacts(kvc_compiler *compiler, const char *spec,
                                 size_t size, const kvc_compile_options *given,
                                 uint32_t emit, const char *stage,
                                 kvc_diag *diag, kvc_artifacts **artifacts) {
  return guarded(diag, [&]() -> llvm::Error {
    if (!compiler || !spec || !artifacts)
      return missing(!compiler ? "compiler" : !spec ? "spec" : "artifacts");
    CompileOptions options;
    DiagnosticCatcher::RemarkFunction remark;
    EmitRequest request;
    if (llvm::Error error = readOptions(given, options, remark))
      return error;
    if (llvm::Error error = readRequest(emit, stage, request))
      return error;

    std::lock_guard<std::mutex> lock(compiler->mutex);
    llvm::Expected<EmitResult> result = compiler->compiler.emit(
        llvm::StringRef(spec, size), options, request, std::move(remark));
    if (!result)
      return result.takeError();
    *artifacts = new kvc_artifacts(std::move(*result));
    return llvm::Error::success();
  });
}

kvc_status kvc_artifacts_free(kvc_artifacts *artifacts) {
  delete artifacts;
  return KVC_OK;
}

kvc_status kvc_artifacts_list(const kvc_artifacts *artifacts,
                              const kvc_artifact **list, int64_t *count) {
  return artifacts ? lend(artifacts->list, list, count) : KVC_INVALID_ARGUMENT;
}

kvc_status kvc_artifacts_phases(const kvc_artifacts *artifacts,
                                const kvc_phase **phases, int64_t *count) {
  return artifacts ? lend(artifacts->owned.phases, phases, count)
                   : KVC_INVALID_ARGUMENT;
}

//===----------------------------------------------------------------------===//
// Specs as text
//===----------------------------------------------------------------------===//

kvc_status kvc_translate(kvc_compiler *compiler, const char *spec, size_t size,
                         kvc_spec_format format, kvc_diag *diag,
                         kvc_artifacts **text) {
  return guarded(diag, [&]() -> llvm::Error {
    if (!compiler || !spec || !text)
      return missing(!compiler ? "compiler" : !spec ? "spec" : "text");
    if (format != KVC_SPEC_JSON && format != KVC_SPEC_MLIR)
      return makeError(KVC_INVALID_ARGUMENT,
                       "format: expected KVC_SPEC_JSON or KVC_SPEC_MLIR, got " +
                           llvm::Twine(static_cast<int>(format)));
    std::lock_guard<std::mutex> lock(compiler->mutex);
    llvm::Expected<Artifact> artifact =
        compiler->compiler.translate(llvm::StringRef(spec, size), format);
    if (!artifact)
      return artifact.takeError();
    EmitResult result;
    result.artifacts.push_back(std::move(*artifact));
    *text = new kvc_artifacts(std::move(result));
    return llvm::Error::success();
  });
}

kvc_status kvc_split_spec(kvc_compiler *compiler, const char *spec, size_t size,
                          kvc_diag *diag, kvc_artifacts **parts) {
  return guarded(diag, [&]() -> llvm::Error {
    if (!compiler || !spec || !parts)
      return missing(!compiler ? "compiler" : !spec ? "spec" : "parts");
    std::lock_guard<std::mutex> lock(compiler->mutex);
    llvm::Expected<std::vector<Artifact>> split =
        compiler->compiler.split(llvm::StringRef(spec, size));
    if (!split)
      return split.takeError();
    EmitResult result;
    result.artifacts = std::move(*split);
    *parts = new kvc_artifacts(std::move(result));
    return llvm::Error::success();
  });
}
