//===- Compile.cpp - kvc compile ------------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/CommandLine.h"
#include "kvc/Commands.h"
#include "kvc/CompileReport.h"
#include "kvc/Json.h"
#include "kvc/OutputFiles.h"
#include "kvc/Progress.h"
#include "kvc/Ptxas.h"
#include "kvc/Sim/Count/Devices.h"
#include "kvc/Targets.h"
#include "kvc/Timing.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

using namespace kvc;

namespace {

struct CompileOptions {
  std::vector<std::string> specs;
  std::string target, out;
  std::optional<uint32_t> kinds;   ///< Absent: code for the target.
  std::vector<std::string> stages; ///< In their order; empty: the last.
  bool remarks = false, report = false, json = false;
};

uint32_t parseKinds(const std::string &text) {
  static constexpr struct {
    const char *name;
    uint32_t kind;
  } kinds[] = {{"obj", KVC_EMIT_OBJ},   {"asm", KVC_EMIT_ASM},
               {"llvm", KVC_EMIT_LLVM}, {"ptx", KVC_EMIT_PTX},
               {"cubin", kEmitCubin},   {"mlir", KVC_EMIT_MLIR}};
  uint32_t result = 0;
  for (const std::string &item : parseList("--emit", text)) {
    auto kind = std::ranges::find(
        kinds, item, [](const auto &each) { return std::string(each.name); });
    if (kind != std::end(kinds))
      result |= kind->kind;
    else
      failUse("--emit: expected obj, asm, llvm, mlir, ptx or cubin; got " +
              inQuotes(item));
  }
  return result;
}

std::vector<std::string> parseStages(const std::string &text) {
  std::vector<std::string> known = stageNames();
  if (text == "all")
    return known;
  const std::vector<std::string> given = parseList("--stage", text);
  for (const std::string &stage : given)
    if (std::ranges::find(known, stage) == known.end())
      failUse("--stage: expected all, or some of " + join(known) + "; got " +
              inQuotes(text));
  std::vector<std::string> stages;
  for (const std::string &stage : known)
    if (std::ranges::find(given, stage) != given.end())
      stages.push_back(stage);
  return stages;
}

/// Assembles the PTX of a result; its manifest then names the cubin, and says
/// what registers take.
void addCubin(const CompileOptions &options, CompileResult &result) {
  const std::string_view ptx = result.ptx();
  Assembled assembled = assemble(findPtxas(), ptx, options.target, result.spec);
  OwnArtifact cubin{kEmitCubin, "", std::move(assembled.cubin)},
      manifest{KVC_EMIT_MANIFEST, "", ""};
  for (const kvc_artifact &artifact : result.list()) {
    if (artifact.kind != KVC_EMIT_MANIFEST)
      continue;
    manifest.name = artifact.name;
    cubin.name = std::filesystem::path(manifest.name)
                     .replace_extension("cubin")
                     .string();
    Json json =
        parseJson({static_cast<const char *>(artifact.data), artifact.size});
    json["code"] = cubin.name;
    for (Json &kernel : json["kernels"])
      if (const auto told = sim::readPtxas(
              assembled.log, kernel["symbol"].get<std::string>())) {
        kernel["registers"] = told->registers;
        kernel["spill_bytes"] = told->spillStoreBytes + told->spillLoadBytes;
      }
    manifest.data = documentOf(json);
  }
  result.own = {std::move(cubin), std::move(manifest)};
}

/// One spec through the compiler, once per stage that is printed; the last run
/// goes furthest, makes everything else and has the remarks.
void compileSpec(const CompileOptions &options, kvc_compiler *compiler,
                 const std::string &path, CompileResult &result) {
  Diag diag;
  kvc_compile_options compile = compileOptionsFor(options.target);
  const std::string text = readFile(path);
  // Whatever a program can load has a manifest beside it.
  uint32_t kinds = *options.kinds & ~kEmitCubin;
  if (*options.kinds & kEmitCubin)
    kinds |= KVC_EMIT_PTX;
  result.hidden = kinds & ~*options.kinds & KVC_EMIT_PTX;
  if (kinds & ~uint32_t(KVC_EMIT_MLIR))
    kinds |= KVC_EMIT_MANIFEST;
  const size_t runs = std::max<size_t>(options.stages.size(), 1);
  for (size_t i = 0; i < runs; ++i) {
    const bool isLast = i + 1 == runs;
    if (isLast && options.remarks) {
      compile.remark_user = &result;
      compile.remark = [](void *user, const char *remark) {
        static_cast<CompileResult *>(user)->remarks.push_back(remark);
      };
    }
    kvc_artifacts *made = nullptr;
    const ThreadStopwatch compiling;
    diag.check(kvc_compile_artifacts(
                   compiler, text.data(), text.size(), &compile,
                   isLast ? kinds : uint32_t(KVC_EMIT_MLIR),
                   options.stages.empty() ? nullptr : options.stages[i].c_str(),
                   diag, &made),
               path);
    result.cpuMs = compiling.milliseconds();
    result.artifacts.emplace_back(made);
  }
  result.spec = path;
  if (*options.kinds & kEmitCubin)
    addCubin(options, result);
}

/// Artefacts are called after their specs.
void checkNames(const std::vector<CompileResult> &results) {
  std::map<std::string, std::string> specOfName;
  for (const CompileResult &result : results)
    for (const kvc_artifact &artifact : result.list()) {
      auto [entry, isNew] = specOfName.emplace(artifact.name, result.spec);
      if (!isNew)
        throw Failure(result.spec +
                      ": $.name: expected a name of its own, got "
                      "that of " +
                      entry->second + ", whose " + inQuotes(artifact.name) +
                      " it would overwrite");
    }
}

/// Code of a host is machine code, that of a GPU PTX.
void checkKinds(const CompileOptions &options) {
  const uint32_t kinds = options.kinds.value_or(0);
  if (!options.stages.empty() && !(kinds & KVC_EMIT_MLIR))
    failUse("--stage: expected it with --emit mlir, got no mlir in --emit");
  if (options.target.starts_with("sm_")) {
    if (kinds & (KVC_EMIT_OBJ | KVC_EMIT_ASM))
      failUse("--emit: expected ptx, cubin, llvm or mlir for target " +
              options.target + ", got " +
              (kinds & KVC_EMIT_OBJ ? "obj" : "asm"));
  } else if (kinds & (KVC_EMIT_PTX | kEmitCubin)) {
    failUse("--emit: expected obj, asm, llvm or mlir for target " +
            options.target + ", got " +
            (kinds & KVC_EMIT_PTX ? "ptx" : "cubin"));
  }
  // What is missing is found before anything is compiled.
  if (kinds & kEmitCubin)
    findPtxas();
}

void compile(const CompileOptions &options) {
  checkKinds(options);
  // Folders are removed after the files in them.
  std::optional<OutputFolder> folder;
  OutputFiles files;
  for (const std::string &spec : options.specs)
    files.protect("SPEC " + inQuotes(spec), spec);
  const CompilerHandle compiler = createCompiler();
  std::vector<CompileResult> results(options.specs.size());
  Progress progress("compile");
  for (size_t i = 0; i < options.specs.size(); ++i) {
    progress.begin(i, options.specs.size(), options.specs[i]);
    compileSpec(options, compiler.get(), options.specs[i], results[i]);
  }
  checkNames(results);

  folder.emplace(options.out);
  for (CompileResult &result : results)
    for (const kvc_artifact &artifact : result.list()) {
      const std::string path = *folder / artifact.name;
      files
          .open("artefact " + inQuotes(artifact.name) + " of " + result.spec,
                path)
          .write(std::string_view(static_cast<const char *>(artifact.data),
                                  artifact.size));
      result.paths.push_back(path);
    }
  print(options.json ? reportJson(results, options.remarks, options.report)
                     : reportText(results, options.remarks, options.report));
  files.commit();
  folder->keep();
}

} // namespace

void kvc::addCompileCommand(CLI::App &app) {
  auto options = std::make_shared<CompileOptions>();
  CLI::App &command = addCommand(
      app, "compile", "Compile specs to objects, assembly or any level of IR.",
      [options] {
        if (!options->kinds)
          options->kinds = isGPU(options->target) ? KVC_EMIT_PTX : KVC_EMIT_OBJ;
        compile(*options);
      });
  addFiles(command, "SPEC", options->specs, "Spec files, JSON or MLIR.",
           Need::Required);
  addName(command, "--target", options->target, targetNames(),
          "What to compile for", Need::Required);
  addFolder(command, "--out", options->out,
            "Folder for the artefacts; made if it does not exist.",
            Need::Required);
  addParsed(
      command, "--emit",
      [options](const std::string &text) { options->kinds = parseKinds(text); },
      "KIND,..",
      "obj (the default), asm, llvm, mlir; for GPUs ptx (the default), cubin "
      "(through ptxas, where that is installed), llvm, mlir. All but mlir come "
      "with a manifest (JSON).");
  addParsed(
      command, "--stage",
      [options](const std::string &text) {
        options->stages = parseStages(text);
      },
      "NAME,..",
      "Print MLIR after these stages, or after all: " + join(stageNames()) +
          ". Default: the last.");
  addFlag(command, "--remarks", options->remarks,
          "Say what the compiler chose, and why.");
  addFlag(command, "--report", options->report,
          "Show kernels, their sizes, the time of every phase and the CPU time "
          "of all, printing included.");
  addFlag(command, "--json", options->json, "Print all of this as JSON.");
}
