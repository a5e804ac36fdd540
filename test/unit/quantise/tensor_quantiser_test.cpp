//===- tensor_quantiser_test.cpp - The quantiser against the reference ----===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Whatever a scheme says, x' has the bits of the reference of test/support,
// which shares no code with the library.
//
//===----------------------------------------------------------------------===//

#include "kvc/Quantise/TensorQuantiser.h"

#include "Schemes.h"

#include "kvc/Test/Conformance.h"

#include <bit>
#include <gtest/gtest.h>

using namespace kvc;
using namespace kvc::test;

namespace {

/// The arrays of schemeInputs(spec).
std::vector<const float *> arraysOf(const spec::Spec &spec,
                                    const Inputs &inputs) {
  std::vector<const float *> arrays;
  for (const spec::SchemeInput &input : spec::schemeInputs(spec)) {
    const SchemeInputs &of =
        input.tensor == spec::Tensor::Key ? inputs.key : inputs.value;
    arrays.push_back(input.kind == spec::InputKind::Smooth ? of.smooth.data()
                     : input.kind == spec::InputKind::Scale
                         ? of.parts[input.part].scale.data()
                         : of.parts[input.part].table.data());
  }
  return arrays;
}

/// Compares x' of every quantised row of one tensor.
void compare(const spec::Spec &spec, const Inputs &inputs,
             spec::Tensor tensor) {
  const bool isKey = tensor == spec::Tensor::Key;
  const spec::Scheme &scheme = *spec::schemeOf(spec, tensor);
  const quantise::TensorQuantiser quantiser(spec, tensor,
                                            arraysOf(spec, inputs));
  const int64_t heads = quantiser.heads(), channels = quantiser.channels(),
                n = quantiser.blockTokens();
  const std::vector<float> &given = isKey ? inputs.k : inputs.v;
  const TensorData expected =
      test::quantise(scheme, spec.segments, heads, channels, given, inputs.cuKv,
                     isKey ? inputs.key : inputs.value);
  std::vector<float> x = given;
  for (size_t s = 0; s + 1 < inputs.cuKv.size(); ++s) {
    const Body body =
        bodyOf(scheme, spec.segments, inputs.cuKv[s + 1] - inputs.cuKv[s]);
    for (int64_t t = inputs.cuKv[s] + body.begin; t < inputs.cuKv[s] + body.end;
         t += n)
      for (int64_t head = 0; head < heads; ++head)
        quantiser.roundTrip(
            head, {x.data() + (t * heads + head) * channels, heads * channels});
  }
  ASSERT_EQ(x.size(), expected.x.size());
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(std::bit_cast<uint32_t>(x[i]),
              std::bit_cast<uint32_t>(expected.x[i]))
        << "element " << i << " of " << given[i] << " gives " << x[i]
        << ", expected " << expected.x[i];
}

void compare(const spec::Spec &spec, const Inputs &inputs) {
  compare(spec, inputs, spec::Tensor::Key);
  if (spec.value)
    compare(spec, inputs, spec::Tensor::Value);
}

TEST(TensorQuantiser, AgreesWithTheReferenceOnRandomSchemes) {
  Random random(3);
  const Lengths lengths[] = {{0, 21}, {0, 0}, {0, 32}};
  int valid = 0;
  for (int i = 0; i < 8000; ++i) {
    const std::string text = randomSpec(random);
    const spec::Expected<spec::Spec> spec = spec::parseSpec(text);
    if (!spec)
      continue;
    ++valid;
    const InputMode mode = kInputModes[random.below(std::size(kInputModes))];
    SCOPED_TRACE(text + " on " + std::string(nameOf(mode)));
    compare(*spec, randomInputs(*spec, lengths, mode, random.next()));
    if (HasFatalFailure())
      return;
  }
  EXPECT_GT(valid, 500);
}

class ConformanceInputs : public testing::TestWithParam<std::string> {};
const std::string kFolder = std::string(KVC_TEST_DATA) + "/conformance";

TEST_P(ConformanceInputs, AreQuantisedLikeTheReference) {
  const safetensors::Expected<ConformanceCase> test =
      loadConformanceCase(kFolder, GetParam());
  ASSERT_TRUE(test) << test.error().str();
  const spec::Expected<spec::Spec> spec = spec::parseSpec(test->specText);
  ASSERT_TRUE(spec) << spec.error().str();
  const safetensors::Expected<Inputs> inputs = loadInputs(*spec, test->inputs);
  ASSERT_TRUE(inputs) << inputs.error().str();
  compare(*spec, *inputs);
}

INSTANTIATE_TEST_SUITE_P(All, ConformanceInputs,
                         testing::ValuesIn(conformanceNames(kFolder)),
                         [](const auto &each) {
                           std::string name = each.param;
                           for (char &c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c)))
                               c = '_';
                           return name;
                         });

} // namespace
