//===- types_test.cpp - Which registers an operand takes ------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Syntax/Types.h"

#include <gtest/gtest.h>

using namespace kvc::sim;

namespace {

TEST(TypesTest, NamesReadBack) {
  int count = 0;
  for (int i = 1; i < 256 && !nameOf(Type(i)).empty(); ++i, ++count) {
    EXPECT_EQ(typeNamed(nameOf(Type(i))), Type(i)) << nameOf(Type(i));
    if (Type(i) == Type::UE8M0x2)
      break;
  }
  EXPECT_GT(count, 20);
  EXPECT_FALSE(typeNamed("f33"));
  EXPECT_FALSE(typeNamed(""));
}

TEST(TypesTest, UntypedBitsFitEverythingOfTheirSize) {
  for (Type type : {Type::U32, Type::S32, Type::F32, Type::F16x2, Type::BF16x2,
                    Type::TF32, Type::U16x2}) {
    EXPECT_TRUE(fits(type, Type::B32)) << nameOf(type);
    EXPECT_FALSE(fits(type, Type::B64)) << nameOf(type);
    EXPECT_FALSE(fits(type, Type::B16)) << nameOf(type);
  }
  EXPECT_TRUE(fits(Type::B32, Type::F32));
  EXPECT_FALSE(fits(Type::B1, Type::Pred));
}

TEST(TypesTest, IntegersOfBothSignsFitEachOther) {
  EXPECT_TRUE(fits(Type::U32, Type::S32));
  EXPECT_TRUE(fits(Type::S64, Type::U64));
  EXPECT_FALSE(fits(Type::S16x2, Type::U32));
  EXPECT_FALSE(fits(Type::U32, Type::F32));
}

TEST(TypesTest, FloatsFitThemselves) {
  EXPECT_TRUE(fits(Type::F32, Type::F32));
  EXPECT_TRUE(fits(Type::F16x2, Type::F16x2));
  EXPECT_FALSE(fits(Type::F32, Type::U32));
  EXPECT_FALSE(fits(Type::F16x2, Type::F32));
  EXPECT_FALSE(fits(Type::BF16, Type::F16));
}

TEST(TypesTest, WiderRegistersHoldExtendedIntegersOnly) {
  EXPECT_TRUE(fitsWider(Type::U8, Type::B32));
  EXPECT_TRUE(fitsWider(Type::S8, Type::U64));
  EXPECT_TRUE(fitsWider(Type::F32, Type::B64));
  EXPECT_TRUE(fitsWider(Type::F32, Type::F32));
  EXPECT_TRUE(fitsWider(Type::B8, Type::F32));
  EXPECT_FALSE(fitsWider(Type::U8, Type::F32));
  EXPECT_FALSE(fitsWider(Type::F32, Type::F64));
  EXPECT_FALSE(fitsWider(Type::U64, Type::B32));
}

} // namespace
