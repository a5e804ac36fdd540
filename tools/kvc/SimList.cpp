//===- SimList.cpp - What a PTX module holds and needs --------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/SimList.h"

#include "kvc/CommandLine.h"
#include "kvc/Json.h"
#include "kvc/SimArguments.h"
#include "kvc/Table.h"

#include <map>

using namespace kvc;

namespace {

/// How often each class of instructions stands in a program.
std::map<std::string, uint64_t> classesOf(const sim::Program &program) {
  std::map<std::string, uint64_t> counts;
  for (const sim::Inst &inst : program.code)
    ++counts[std::string(nameOf(program.modifiersOf(inst).form->kind))];
  return counts;
}

} // namespace

std::string kvc::simList(sim::LoadedModule &module, bool asJson) {
  Json kernels = Json::array();
  Table table({{"kernel", Align::Left},
               {"instructions"},
               {"shared"},
               {"local"},
               {"parameters", Align::Left},
               {"classes", Align::Left}});
  std::string missing;
  for (std::string_view name : module.kernels()) {
    Json entry;
    entry["name"] = name;
    std::vector<std::string> params;
    for (const sim::KernelParam &param : paramsOf(module.module(), name)) {
      params.push_back(paramText(param));
      entry["parameters"].push_back({{"name", param.name},
                                     {"type", sim::nameOf(param.type)},
                                     {"offset", param.offset},
                                     {"bytes", param.bytes}});
    }
    const std::optional<sim::Error> error = whatIsMissing(module, name);
    auto program = module.program(name);
    if (program) {
      const auto counts = classesOf(**program);
      entry["instructions"] = (*program)->code.size();
      entry["shared_bytes"] = (*program)->sharedBytes;
      entry["local_bytes"] = (*program)->localBytes;
      entry["classes"] = counts;
      std::vector<std::string> classes;
      for (const auto &[kind, count] : counts)
        classes.push_back(kind + " " + std::to_string(count));
      table.add({std::string(name), std::to_string((*program)->code.size()),
                 std::to_string((*program)->sharedBytes),
                 std::to_string((*program)->localBytes), join(params),
                 join(classes)});
    }
    if (error) {
      entry["missing"] = error->str();
      missing += std::string(name) + " does not run: " + error->str() + "\n";
    }
    kernels.push_back(std::move(entry));
  }
  if (asJson) {
    Json json;
    json["version"] = module.module().target.version;
    json["target"] = module.module().target.name.text;
    json["kernels"] = std::move(kernels);
    return documentOf(json);
  }
  return "target " + module.module().target.str() + "\n" +
         (table.empty() ? "" : table.str()) + missing;
}
