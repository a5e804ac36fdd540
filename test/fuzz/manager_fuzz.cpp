//===- manager_fuzz.cpp - Any bytes as calls of a manager -----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The first two bytes say which manager, each four that follow an operation;
// whatever the calls, the manager does what its model does.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace kvc::test;
  if (size < 2)
    return 0;
  const Setting setting = randomSetting(data[0] + 256u * data[1]);
  Machine machine(setting);
  if (!machine.isUsable())
    return 0;
  const Operations operations = operationsOf(data + 2, size - 2);
  if (machine.run(operations) && machine.finish())
    return 0;
  std::fprintf(stderr, "manager_fuzz: %s\n%s", machine.fault().c_str(),
               asTest(setting, operations).c_str());
  std::abort();
}
