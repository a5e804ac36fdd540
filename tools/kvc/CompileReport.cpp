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
      if (!(list[i].kind & hidden) &&
          std::ranges::none_of(own, [&](const OwnArtifact &each) {
            return each.name == list[i].name;
          }))
        (list[i].kind == KVC_EMIT_MLIR ? stages : others).push_back(list[i]);
  }
  for (const OwnArtifact &each : own)
    others.push_back(
        {each.kind, each.name.c_str(), each.data.data(), each.data.size()});
  stages.insert(stages.end(), others.begin(), others.end());
  return stages;
}

std::span<const kvc_phase> CompileResult::phases() const {
  const kvc_phase *phases = nullptr;
  int64_t count = 0;
  Diag().check(kvc_artifacts_phases(artifacts.back().get(), &phases, &count));
  return {phases, static_cast<size_t>(count)};
}

std::string_view CompileResult::ptx() const {
  for (const ArtifactsHandle &handle : artifacts) {
    const kvc_artifact *list = nullptr;
    int64_t count = 0;
    Diag().check(kvc_artifacts_list(handle.get(), &list, &count));
    for (int64_t i = 0; i < count; ++i)
      if (list[i].kind == KVC_EMIT_PTX)
        return {static_cast<const char *>(list[i].data), list[i].size};
  }
  return {};
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

std::string_view textOf(const kvc_artifact &artifact) {
  return {static_cast<const char *>(artifact.data), artifact.size};
}

/// Bytes of the text of a kernel in a module of PTX: from its entry to the end
/// of its body.
uint64_t ptxBytes(std::string_view module, const std::string &symbol) {
  const size_t begin = module.find(".entry " + symbol + "(");
  if (begin == std::string_view::npos)
    return 0;
  const size_t end = module.find("\n}\n", begin);
  return std::min(end, module.size() - 3) + 3 - begin;
}

/// The kernels of the manifest, each with its `code_bytes` where an object was
/// made, and `ptx_bytes` where PTX was.
Json kernelsOf(const CompileResult &result) {
  Json kernels = Json::array();
  std::map<std::string, uint64_t> sizes;
  for (const kvc_artifact &artifact : result.list()) {
    if (artifact.kind == KVC_EMIT_OBJ)
      sizes = functionSizes(textOf(artifact));
    if (artifact.kind != KVC_EMIT_MANIFEST)
      continue;
    const Json manifest = parseJson(textOf(artifact));
    for (Json kernel : manifest["kernels"]) {
      kernel.erase("parameters");
      kernels.push_back(std::move(kernel));
    }
  }
  // PTX may be no artefact itself, but what the cubin was made of.
  for (Json &kernel : kernels)
    if (kernel.contains("symbol"))
      if (const std::string_view text = result.ptx(); !text.empty())
        kernel["ptx_bytes"] =
            ptxBytes(text, kernel["symbol"].get<std::string>());
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
  std::vector<Table::Column> columns = {{"kernel", Align::Left},
                                        {"query rows\nof a tile"},
                                        {"keys of\na tile"},
                                        {"keys of\na split"},
                                        {"argument\nbytes"}};
  const bool isGPU = !result.ptx().empty();
  std::vector<const char *> sizes = {"code_bytes"};
  if (isGPU)
    sizes = {"ptx_bytes", "registers", "spill_bytes"};
  for (const char *title :
       isGPU ? std::vector<const char *>{"PTX\nbytes", "registers",
                                         "spilled\nbytes"}
             : std::vector<const char *>{"code\nbytes"})
    columns.push_back({title});
  Table table(columns);
  for (const Json &kernel : kernelsOf(result)) {
    auto cell = [&](const char *key) -> std::string {
      if (!kernel.contains(key) || kernel[key] == 0)
        return "-";
      return lineOf(kernel[key]);
    };
    std::vector<std::string> cells = {
        kernel["name"].get<std::string>(), cell("tile_rows"),
        cell("tile_tokens"), cell("split_tokens"), cell("argument_bytes")};
    for (const char *size : sizes)
      // Without ptxas neither registers nor spills are known.
      cells.push_back(size == std::string_view("spill_bytes") &&
                              kernel.contains(size)
                          ? lineOf(kernel[size])
                          : cell(size));
    table.add(std::move(cells));
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
