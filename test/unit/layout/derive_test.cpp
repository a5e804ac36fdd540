//===- derive_test.cpp - Derived storage orders ---------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Support.h"
#include "kvc/Layout/Derive.h"
#include "kvc/Layout/Fragments.h"
#include "kvc/Layout/PageLayout.h"
#include "kvc/Layout/Tile.h"

#include <gtest/gtest.h>

#include <random>

using namespace kvc::layout;
using namespace kvc::test;
using kvc::spec::Codec;
using kvc::spec::CodecKind;
using kvc::spec::Tensor;

namespace {

RegisterLayout keyOperand(int64_t tokens, int64_t channels,
                          unsigned bits = 16) {
  return *tile(
      rename(mmaFragment(MmaOperand::A, bits), {{'m', 't'}, {'k', 'c'}}),
      {{'c', channels}, {'t', tokens}});
}
RegisterLayout valueOperand(int64_t tokens, int64_t channels,
                            unsigned bits = 16) {
  return *tile(
      rename(mmaFragment(MmaOperand::A, bits), {{'m', 'c'}, {'k', 't'}}),
      {{'t', tokens}, {'c', channels}});
}

std::string derived(const RegisterLayout &operand, CodeForm form, unsigned bits,
                    ElementForm element, DeriveOptions options) {
  options.bits = bits;
  auto roles = conversionRoles(form, bits, element);
  if (!roles)
    return "no conversion";
  auto storage = deriveStorage(operand, *roles, options);
  return storage ? str(storage->addr) : "nothing";
}

TEST(Derive, FragmentMajorKeys) {
  RegisterLayout k = keyOperand(64, 128);
  DeriveOptions options{.contracted = "c"};
  EXPECT_EQ(derived(k, CodeForm::Integer, 4, ElementForm::F16, options),
            "c3 t3 c0 c4 c5 c1 c2 t0 t1 t2 c6 t4 t5");
  EXPECT_EQ(derived(k, CodeForm::Integer, 2, ElementForm::F16, options),
            "c3 c4 t3 c0 c5 c6 c1 c2 t0 t1 t2 t4 t5");
  EXPECT_EQ(derived(k, CodeForm::Float, 8, ElementForm::F16, options),
            "c0 t3 c3 c4 c1 c2 t0 t1 t2 c5 c6 t4 t5");
  EXPECT_EQ(derived(k, CodeForm::Float, 16, ElementForm::F16, options),
            "c0 t3 c3 c1 c2 t0 t1 t2 c4 c5 c6 t4 t5");
  EXPECT_EQ(derived(k, CodeForm::Integer, 8, ElementForm::F16, options),
            "t3 c0 c3 c4 c1 c2 t0 t1 t2 c5 c6 t4 t5");
}

TEST(Derive, FragmentMajorValues) {
  RegisterLayout v = valueOperand(64, 128);
  DeriveOptions options{.contracted = "t"};
  EXPECT_EQ(derived(v, CodeForm::Integer, 4, ElementForm::F16, options),
            "t3 c3 t0 t4 t5 t1 t2 c0 c1 c2 c4 c5 c6");
  EXPECT_EQ(derived(v, CodeForm::Integer, 2, ElementForm::F16, options),
            "t3 t4 c3 t0 t5 c4 t1 t2 c0 c1 c2 c5 c6");
  EXPECT_EQ(derived(v, CodeForm::Float, 8, ElementForm::F16, options),
            "t0 c3 t3 t4 t1 t2 c0 c1 c2 t5 c4 c5 c6");
  EXPECT_EQ(derived(v, CodeForm::Float, 16, ElementForm::F16, options),
            "t0 c3 t3 t1 t2 c0 c1 c2 t4 t5 c4 c5 c6");
}

TEST(Derive, TokensThatShareNoByte) {
  DeriveOptions keys{.contracted = "c", .separate = "t"},
      values{.contracted = "t", .separate = "t"};
  EXPECT_EQ(
      derived(keyOperand(64, 128), CodeForm::Integer, 4, ElementForm::F16, keys)
          .substr(0, 8),
      "c3 t3 c0");
  EXPECT_EQ(derived(valueOperand(64, 128), CodeForm::Integer, 4,
                    ElementForm::F16, values)
                .substr(0, 8),
            "c3 t3 t0");
  EXPECT_EQ(derived(valueOperand(64, 128), CodeForm::Integer, 2,
                    ElementForm::F16, values)
                .substr(0, 11),
            "c3 c4 t3 t0");
  // Pages of 16 tokens still give full 16-byte loads.
  EXPECT_EQ(derived(valueOperand(16, 128), CodeForm::Integer, 4,
                    ElementForm::F16, values),
            "c3 t3 t0 c4 c5 t1 t2 c0 c1 c2 c6");
  for (unsigned bits : {4u, 2u})
    for (bool isKey : {true, false}) {
      auto storage = deriveStorage(
          isKey ? keyOperand(64, 128) : valueOperand(64, 128),
          *conversionRoles(CodeForm::Integer, bits, ElementForm::F16),
          {.bits = bits, .contracted = isKey ? "c" : "t", .separate = "t"});
      ASSERT_TRUE(storage);
      for (unsigned i = 0; 8u >> i > bits; ++i)
        EXPECT_NE(storage->addr[i].dim, 't');
    }
}

TEST(Derive, Metadata) {
  RegisterLayout s =
      *tile(rename(mmaFragment(MmaOperand::C), {{'m', 't'}, {'n', 'q'}}),
            {{'t', 64}});
  auto storage = deriveStorage(sliceLayout(s, "t"), {}, {.bits = 32});
  ASSERT_TRUE(storage);
  EXPECT_EQ(str(storage->addr), "t3 t4 t0 t1 t2 t5");
}

TEST(Derive, TailOfEight) {
  // m16n8k8 lacks k3; with a shift a token digit takes its place, no padding.
  RegisterLayout k = *tile(
      withoutDigit(rename(mmaFragment(MmaOperand::A), {{'m', 't'}, {'k', 'c'}}),
                   bitOf('c', 3)),
      {{'t', 64}});
  auto storage = deriveStorage(
      k, *conversionRoles(CodeForm::Integer, 4, ElementForm::BF16),
      {.bits = 4, .contracted = "c"});
  ASSERT_TRUE(storage);
  EXPECT_TRUE(coversOnce(storage->addr, 't', 64) &&
              coversOnce(storage->addr, 'c', 8));
  EXPECT_EQ(extentOf(storage->addr), 64 * 8);
  // No contracted digit is left to carry a weight.
  EXPECT_EQ(
      derived(k, CodeForm::Integer, 4, ElementForm::F16, {.contracted = "c"}),
      "nothing");
  RegisterLayout v = *tile(
      withoutDigit(rename(mmaFragment(MmaOperand::A), {{'m', 'c'}, {'k', 't'}}),
                   bitOf('c', 3)),
      {{'t', 64}});
  EXPECT_EQ(
      derived(v, CodeForm::Integer, 4, ElementForm::F16, {.contracted = "t"}),
      "t3 t4 t0 t5 t1 t2 c0 c1 c2");
}

TEST(Derive, RefusesWhatDoesNotFit) {
  RegisterLayout f32 =
      *tile(simdFragment(digits("t0 t1 t2 t3")), {{'c', 16}, {'t', 16}});
  EXPECT_FALSE(deriveStorage(f32, {{Role::Kind::Pack, 0}}, {}))
      << "nothing is packed";
  RegisterLayout small = simdFragment(digits("t0 t1 t2 t3"), digits("c0"));
  EXPECT_FALSE(
      deriveStorage(small, {{Role::Kind::Reg}, {Role::Kind::Pack, 0}}, {}))
      << "no register digit";
  EXPECT_FALSE(
      deriveStorage(small, {{Role::Kind::Pack, 0}, {Role::Kind::Pack, 0}}, {}))
      << "c0 twice";
  EXPECT_FALSE(deriveStorage(registers("pack t0 | reg c0 | lane c1"),
                             {{Role::Kind::Pack, 0}, {Role::Kind::Reg}},
                             {.bits = 4, .separate = "t"}))
      << "t0 would share a byte";
  EXPECT_FALSE(conversionRoles(CodeForm::Integer, 7, ElementForm::I16));
}

TEST(Derive, LoadsDeliverTheOperand) {
  // Codes -> the order's bytes -> 16-byte loads of each lane -> fields of
  // words: what each field must be is what the operand wants there.
  struct Case {
    unsigned bits;
    ElementForm element;
  };
  for (Case c : {Case{4, ElementForm::F16},
                 {2, ElementForm::F16},
                 {4, ElementForm::BF16},
                 {8, ElementForm::F16}})
    for (bool isKey : {true, false})
      for (Dims separate : {"", "t"}) {
        RegisterLayout operand =
            isKey ? keyOperand(64, 128) : valueOperand(64, 128);
        std::vector<Role> roles =
            *conversionRoles(CodeForm::Integer, c.bits, c.element);
        Storage storage = *deriveStorage(operand, roles,
                                         {.bits = c.bits,
                                          .contracted = isKey ? "c" : "t",
                                          .separate = separate});
        size_t positions = roles.size();
        int64_t fields = int64_t(1) << positions;
        ASSERT_EQ(fields * c.bits, 32);
        forEachElement(operand, [&](int64_t lane, int64_t reg, int64_t pack,
                                    const Index &index) {
          int64_t address =
              addressOf(storage, {{'t', index['t']}, {'c', index['c']}});
          // The lane's own number is the digits above the vector of four words.
          ASSERT_EQ(address / (4 * fields) % 32, lane);
          // Both elements of a register come from one mask of one word.
          int64_t field = address % fields;
          ASSERT_EQ(field >> (positions - 1), pack);
          int64_t number = reg;
          for (const Digit &digit : operand.reg) {
            for (size_t i = 0, stride = 1; i < storage.addr.size();
                 stride *= size_t(storage.addr[i++].count))
              if (storage.addr[i] == digit)
                ASSERT_EQ(address / int64_t(stride) % digit.count,
                          number % digit.count);
            number /= digit.count;
          }
        });
      }
}

//===----------------------------------------------------------------------===//
// The host
//===----------------------------------------------------------------------===//

Codec raw() { return {}; }
Codec integer(unsigned bits) { return {CodecKind::Int, bits, {}, {}}; }

std::string hostOrder(const Codec &codec, Tensor tensor, int64_t channels,
                      int64_t tokens) {
  auto operand =
      dotOperand(codec, tensor, channels, tokens, TargetFamily::Host);
  if (!operand)
    return "no operand";
  auto storage = operand->storage();
  return storage ? str(storage->addr) : "nothing";
}

TEST(Derive, HostKeys) {
  EXPECT_EQ(hostOrder(raw(), Tensor::Key, 128, 64),
            "t0 t1 t2 t3 c0 c1 c2 c3 c4 c5 c6 t4 t5");
  EXPECT_EQ(hostOrder(integer(8), Tensor::Key, 128, 64),
            "c1 c0 t0 t1 t2 t3 c2 c3 c4 c5 c6 t4 t5");
  EXPECT_EQ(hostOrder(integer(4), Tensor::Key, 128, 64),
            "c1 c2 c0 t0 t1 t2 t3 c3 c4 c5 c6 t4 t5");
  EXPECT_EQ(hostOrder(integer(2), Tensor::Key, 128, 64),
            "c1 c2 c3 c0 t0 t1 t2 t3 c4 c5 c6 t4 t5");
  EXPECT_EQ(hostOrder(raw(), Tensor::Key, 80, 16),
            "t0 t1 t2 t3 c0 c1 c2 c3 c[16:5]");
  EXPECT_EQ(hostOrder(integer(4), Tensor::Key, 72, 32),
            "c1 c2 c0 t0 t1 t2 t3 c[8:9] t4");
}

TEST(Derive, HostValues) {
  EXPECT_EQ(hostOrder(raw(), Tensor::Value, 128, 64),
            "c0 c1 c2 c3 t0 t1 t2 t3 t4 t5 c4 c5 c6");
  EXPECT_EQ(hostOrder(integer(8), Tensor::Value, 128, 64),
            "t1 t0 c0 c1 c2 c3 t2 t3 t4 t5 c4 c5 c6");
  EXPECT_EQ(hostOrder(integer(4), Tensor::Value, 128, 64),
            "t1 t2 t0 c0 c1 c2 c3 t3 t4 t5 c4 c5 c6");
  EXPECT_EQ(hostOrder(raw(), Tensor::Value, 72, 64),
            "c0 c1 c2 t0 t1 t2 t3 t4 t5 c[8:9]");
  EXPECT_EQ(hostOrder(integer(8), Tensor::Value, 72, 64),
            "t1 t0 c0 c1 c2 t2 t3 t4 t5 c[8:9]");
  EXPECT_EQ(hostOrder(integer(4), Tensor::Value, 80, 16),
            "t1 t2 t0 c0 c1 c2 c3 t3 c[16:5]");
  EXPECT_EQ(hostOrder(integer(4), Tensor::Value, 576, 16),
            "t1 t2 t0 c0 c1 c2 c3 t3 c4 c5 c[64:9]");
}

TEST(Derive, HostWordsHoldPairsOfTheContractedDim) {
  // (word >> bits * f) & mask is elements 2f and 2f + 1, 16 bits apart.
  for (unsigned bits : {8u, 4u, 2u})
    for (bool isKey : {true, false}) {
      Storage storage =
          *dotOperand(integer(bits), isKey ? Tensor::Key : Tensor::Value, 128,
                      64, TargetFamily::Host)
               ->storage();
      char contracted = isKey ? 'c' : 't';
      int64_t perWord = 32 / bits;
      for (int64_t element = 0; element < perWord; ++element) {
        int64_t bit = addressOf(storage, {{contracted, element}}) * bits;
        EXPECT_EQ(bit, element / 2 * bits + element % 2 * 16);
      }
    }
}

} // namespace
