//===- CompileReport.cpp - What kvc compile has to say --------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/CompileReport.h"

#include "kvc/Json.h"
#include "kvc/Table.h"
#include "kvc/Timing.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <map>

using namespace kvc;

std::vector<kvc_artifact> CompileResult::list() const {
  std::vector<kvc_artifact> stages, others;
  for (const ArtifactsHandle &handle : artifacts) {
    const kvc_artifact *list = nullptr;
    int64_t count = 0;
    Diag().check(kvc_artifacts_list(handle.get(), &list, &count));
    for (int64_t i = 0; i < count; ++i)
      (list[i].kind == KVC_EMIT_MLIR ? stages : others).push_back(list[i]);
  }
  stages.insert(stages.end(), others.begin(), others.end());
  return stages;
}

std::span<const kvc_phase> CompileResult::phases() const {
  const kvc_phase *phases = nullptr;
  int64_t count = 0;
  Diag().check(kvc_artifacts_phases(artifacts.back().get(), &phases, &count));
  return {phases, static_cast<size_t>(count)};
}

namespace {

/// Reads a struct of an ELF file, wherever it lies; zeros beyond the end.
template <typename T>
T readAt(std::string_view bytes, uint64_t offset) {
  T value{};
  if (offset <= bytes.size() && bytes.size() - offset >= sizeof(T))
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

/// Code bytes of every function of an ELF64 object that the compiler made.
std::map<std::string, uint64_t> functionSizes(std::string_view object) {
  std::map<std::string, uint64_t> sizes;
  const auto header = readAt<Elf64_Ehdr>(object, 0);
  auto section = [&](uint64_t index) {
    return readAt<Elf64_Shdr>(object,
                              header.e_shoff + index * sizeof(Elf64_Shdr));
  };
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr symbols = section(i);
    if (symbols.sh_type != SHT_SYMTAB)
      continue;
    const Elf64_Shdr names = section(symbols.sh_link);
    for (uint64_t j = 0; j < symbols.sh_size / sizeof(Elf64_Sym); ++j) {
      const auto symbol =
          readAt<Elf64_Sym>(object, symbols.sh_offset + j * sizeof(Elf64_Sym));
      const uint64_t name = names.sh_offset + symbol.st_name;
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && name < object.size())
        sizes[std::string(object.substr(name, object.find('\0', name) -
                                                  name))] = symbol.st_size;
    }
  }
  return sizes;
}

std::string_view bytesOf(const kvc_artifact &artifact) {
  return {static_cast<const char *>(artifact.data), artifact.size};
}

/// The kernels of the manifest, each with its `code_bytes` where an object was
/// made.
Json kernelsOf(const CompileResult &result) {
  Json kernels = Json::array();
  std::map<std::string, uint64_t> sizes;
  for (const kvc_artifact &artifact : result.list()) {
    if (artifact.kind == KVC_EMIT_OBJ)
      sizes = functionSizes(bytesOf(artifact));
    if (artifact.kind != KVC_EMIT_MANIFEST)
      continue;
    const Json manifest = parseJson(bytesOf(artifact));
    for (Json kernel : manifest["kernels"]) {
      kernel.erase("parameters");
      kernels.push_back(std::move(kernel));
    }
  }
  // An entry point and the body that it calls.
  for (Json &kernel : kernels) {
    const std::string entry = "kvc_" + kernel["name"].get<std::string>();
    uint64_t bytes = 0;
    for (const auto &[name, size] : sizes)
      if (name == entry || name.starts_with(entry + "_"))
        bytes += size;
    if (bytes > 0)
      kernel["code_bytes"] = bytes;
  }
  return kernels;
}

std::string kernelTable(const CompileResult &result) {
  Table table({{"kernel", Align::Left},
               {"query rows\nof a tile"},
               {"keys of\na tile"},
               {"keys of\na split"},
               {"argument\nbytes"},
               {"code\nbytes"}});
  for (const Json &kernel : kernelsOf(result)) {
    auto cell = [&](const char *key) -> std::string {
      if (!kernel.contains(key) || kernel[key] == 0)
        return "-";
      return lineOf(kernel[key]);
    };
    table.add({kernel["name"].get<std::string>(), cell("tile_rows"),
               cell("tile_tokens"), cell("split_tokens"),
               cell("argument_bytes"), cell("code_bytes")});
  }
  return table.empty() ? "" : table.str() + "\n";
}

std::string phaseTable(const CompileResult &result) {
  Table table({{"phase", Align::Left}, {"ms"}});
  double total = 0;
  for (const kvc_phase &phase : result.phases()) {
    table.add({phase.name, fixed(phase.ms, 1)});
    total += phase.ms;
  }
  table.add({"together", fixed(total, 1)});
  table.add({"CPU time", fixed(result.cpuMs, 1)});
  return table.str();
}

/// What several kernels say alike is one line, "SPEC: decode, prefill: TEXT".
std::string remarkLines(const CompileResult &result) {
  std::vector<std::pair<std::string, std::string>> lines; ///< Text, kernels.
  for (const std::string &remark : result.remarks) {
    const size_t end = remark.find(": ");
    const std::string kernel = remark.substr(0, end),
                      text = remark.substr(end + 2);
    auto line =
        std::ranges::find(lines, text, &decltype(lines)::value_type::first);
    if (line == lines.end())
      lines.emplace_back(text, kernel);
    else if (!line->second.ends_with(kernel)) // Loops of one kernel agree.
      line->second += ", " + kernel;
  }
  std::string all;
  for (const auto &[text, kernels] : lines)
    all += result.spec + ": " + kernels + ": " + text + "\n";
  return all;
}

} // namespace

std::string kvc::reportText(std::span<const CompileResult> results,
                            bool remarks, bool report) {
  Table files({{"artefact", Align::Left}, {"bytes"}});
  std::string text;
  for (const CompileResult &result : results) {
    const std::vector<kvc_artifact> list = result.list();
    for (size_t i = 0; i < list.size(); ++i)
      files.add({result.paths[i], std::to_string(list[i].size)});
    if (remarks)
      text += "\n" + remarkLines(result);
    if (report)
      text += "\n" + result.spec + "\n\n" + kernelTable(result) +
              phaseTable(result);
  }
  return files.str() + text;
}

std::string kvc::reportJson(std::span<const CompileResult> results,
                            bool remarks, bool report) {
  Json all = Json::array();
  for (const CompileResult &result : results) {
    Json entry;
    entry["spec"] = result.spec;
    const std::vector<kvc_artifact> list = result.list();
    entry["artefacts"] = Json::array();
    for (size_t i = 0; i < list.size(); ++i)
      entry["artefacts"].push_back(
          {{"path", result.paths[i]}, {"bytes", list[i].size}});
    if (remarks)
      entry["remarks"] = result.remarks;
    if (report) {
      entry["kernels"] = kernelsOf(result);
      for (const kvc_phase &phase : result.phases())
        entry["compile_phases_ms"][phase.name] = rounded(phase.ms);
      entry["compile_cpu_ms"] = rounded(result.cpuMs);
    }
    all.push_back(std::move(entry));
  }
  return documentOf(all);
}
