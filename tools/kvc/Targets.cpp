//===- Targets.cpp - Names that the compiler knows ------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Targets.h"

#include "kvc/Failure.h"
#include "kvc/jit.h"

using namespace kvc;

static std::vector<std::string> namesFrom(kvc_status (*list)(const kvc_named **,
                                                             int64_t *)) {
  const kvc_named *names = nullptr;
  int64_t count = 0;
  Diag().check(list(&names, &count));
  std::vector<std::string> result;
  result.reserve(count);
  for (int64_t i = 0; i < count; ++i)
    result.push_back(names[i].name);
  return result;
}

std::vector<std::string> kvc::targetNames() {
  return namesFrom(kvc_target_names);
}

std::vector<std::string> kvc::cpuNames() {
  std::vector<std::string> names = targetNames();
  std::erase_if(names, [](const std::string &name) { return isGPU(name); });
  return names;
}

bool kvc::isGPU(const std::string &target) { return target.starts_with("sm_"); }

std::vector<std::string> kvc::stageNames() {
  return namesFrom(kvc_stage_names);
}
