//===- Files.cpp - What kvc run wrote against the reference ---------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Files.h"

#include "kvc/Test/Attention.h"

using namespace kvc;
using namespace kvc::test;

std::vector<std::string> test::wrongFiles(const spec::Spec &spec,
                                          const Inputs &inputs,
                                          const Answer &expected,
                                          const std::string &output,
                                          const std::string &dump) {
  const auto cache = safetensors::read(dump),
             result = safetensors::read(output);
  if (!cache || !result)
    return {(cache ? result : cache).error().str()};
  std::vector<std::string> wrong = compareDump(spec, inputs, expected, *cache);
  const auto compare = [&](const char *name, size_t count, auto check) {
    const safetensors::Tensor *tensor = result->find(name);
    const std::vector<float> values =
        tensor ? floatsOf(*tensor) : std::vector<float>();
    if (values.size() != count) {
      wrong.push_back(std::string(name) + ": expected " +
                      std::to_string(count) + " numbers, got " +
                      std::to_string(values.size()));
      return;
    }
    const BoundCheck checked =
        check(spec, expected.reference, inputs.cuQ,
              std::vector<double>(values.begin(), values.end()));
    if (!checked.ok())
      wrong.push_back(std::string(name) + ": " + std::to_string(checked.worst) +
                      " of the bound, " + checked.where);
  };
  compare("out", expected.reference.out.size(),
          [](auto &&...args) { return checkOut(args...); });
  compare("lse", expected.reference.lse.size(),
          [](auto &&...args) { return checkLse(args...); });
  return wrong;
}
