//===- table_test.cpp - The table of instructions is sound ----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "PtxText.h"
#include "Samples.h"

#include "kvc/Sim/Instructions/SpecialRegisters.h"

#include <algorithm>
#include <set>

using namespace kvc::sim;
using namespace kvc::test;

namespace {

TEST(TableTest, EveryFormIsWholeAndEveryWordKnown) {
  std::set<Family> families;
  std::set<Word> words;
  for (const Form &form : allForms()) {
    const std::string where =
        std::string(form.name) + " " + std::string(form.modifiers);
    families.insert(form.family);
    size_t types = 0;
    for (const Element &element : form.elements) {
      EXPECT_FALSE(element.choices.empty()) << where;
      bool isType = false;
      for (const Choice &choice : element.choices) {
        EXPECT_TRUE(choice.word != Word::None || choice.type != Type::None)
            << where << ": " << choice.text;
        isType |= choice.type != Type::None;
        words.insert(choice.word);
      }
      types += isType;
    }
    EXPECT_LE(types, 4u) << where;
    int optional = 0;
    for (const OperandForm &operand : form.operands) {
      optional += operand.isOptional;
      EXPECT_LT(operand.typeIndex, int(types)) << where;
      const bool isTyped = operand.role == Role::Destination ||
                           operand.role == Role::Source ||
                           operand.role == Role::RegisterSource;
      EXPECT_EQ(isTyped, operand.typeIndex >= 0 || operand.type != Type::None)
          << where;
      EXPECT_EQ(operand.role == Role::Special,
                form.kind == Class::Control &&
                    (form.family == Family::Bra || form.family == Family::Brx ||
                     form.family == Family::Call))
          << where;
      EXPECT_EQ(operand.role == Role::Integer, !operand.integers.empty())
          << where;
    }
    EXPECT_LE(optional, 1) << where;
  }
  EXPECT_EQ(families.size(), kFamilies);
  words.erase(Word::None);
  size_t count = 0;
  while (!nameOf(Word(count + 1)).empty() && wordNamed(nameOf(Word(count + 1))))
    if (++count == words.size())
      break;
  EXPECT_EQ(words.size(), count) << "a word of Words.def that no form has";
}

TEST(TableTest, NoFormHasATypeAndAWordInOnePlace) {
  for (const Form &form : allForms())
    for (const Element &element : form.elements)
      for (const Choice &choice : element.choices)
        EXPECT_EQ(choice.type == Type::None,
                  element.choices[0].type == Type::None)
            << form.name << " " << form.modifiers;
}

Match only(const Expected<std::vector<Match>> &matches) {
  EXPECT_TRUE(bool(matches)) << matches.error().str();
  EXPECT_EQ(matches->size(), 1u);
  return matches->front();
}

TEST(TableTest, AnOpcodeFindsItsForm) {
  auto found = matchOpcode("fma.rn.ftz.f32", {1, 1});
  const Match &fma = only(found);
  EXPECT_EQ(fma.modifiers.form->family, Family::Fma);
  EXPECT_EQ(fma.modifiers.form->kind, Class::Fma);
  EXPECT_EQ(fma.modifiers.words, (std::vector{Word::Rn, Word::Ftz}));
  EXPECT_EQ(fma.modifiers.types[0], Type::F32);
  EXPECT_TRUE(fma.modifiers.has(Word::Ftz));
  EXPECT_FALSE(fma.modifiers.has(Word::Sat));
  EXPECT_EQ(fma.modifiers.firstOf({Word::Rz, Word::Rn}), Word::Rn);
  EXPECT_EQ(fma.modifiers.vector(), 1u);
}

TEST(TableTest, ModifiersStandInAnyOrderTypesInTheirs) {
  auto inOrder = matchOpcode("cvt.rzi.ftz.sat.s32.f32", {1, 1});
  auto mixed = matchOpcode("cvt.s32.sat.f32.ftz.rzi", {1, 1});
  EXPECT_EQ(only(inOrder).modifiers.words, only(mixed).modifiers.words);
  EXPECT_EQ(only(inOrder).modifiers.types, only(mixed).modifiers.types);
  EXPECT_EQ(only(mixed).modifiers.types[0], Type::S32);
  EXPECT_EQ(only(matchOpcode("cvt.sat.u16.s8", {1, 1})).modifiers.types[0],
            Type::U16);
  EXPECT_FALSE(bool(matchOpcode(
      "mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32", {1, 1})));
  EXPECT_FALSE(bool(matchOpcode("cp.async.ca.global.shared", {1, 1})));
  auto load = matchOpcode("ld.v4.global.u32.L2::128B.nc", {1, 1});
  EXPECT_EQ(only(load).modifiers.form->family, Family::LdNc);
  EXPECT_EQ(only(load).modifiers.vector(), 4u);
}

TEST(TableTest, RequirementsAddUp) {
  auto found = matchOpcode("atom.acq_rel.cluster.shared::cta.add.u32", {1, 1});
  const Match &match = only(found);
  EXPECT_EQ(match.needs, (Requirement{78, 90, false}));
  EXPECT_EQ(match.needs.str(), "PTX 7.8 and sm_90");
  EXPECT_EQ(match.needsAt, 13u);
  EXPECT_EQ(requirementOf("80/90a"), (Requirement{80, 90, true}));
  EXPECT_EQ(requirementOf("80/90a").str(), "PTX 8.0 and sm_90a");
  EXPECT_EQ(requirementOf("65/0").str(), "PTX 6.5");
  EXPECT_EQ(requirementOf("").str(), "");
}

TEST(TableTest, TargetsOfOneArchitectureMeetWhatNeedsThem) {
  Target target;
  target.version = 80;
  target.sm = 90;
  EXPECT_FALSE(requirementOf("80/90a").isMetBy(target));
  target.specific = true;
  EXPECT_TRUE(requirementOf("80/90a").isMetBy(target));
  EXPECT_TRUE(requirementOf("70/80").isMetBy(target));
  EXPECT_FALSE(requirementOf("81/80").isMetBy(target));
}

struct Wrong {
  const char *opcode, *error;
};

TEST(TableTest, UnknownNamesAndModifiersAreErrors) {
  const Wrong wrongs[] = {
      {"foo", "7:3: instruction: expected PTX, got \"foo\""},
      {"FMA.rn.f32", "7:3: instruction: expected PTX, got \"FMA\""},
      {"wgmma.fence.sync.aligned",
       "7:3: wgmma: expected an instruction that this machine has, got one for "
       "matrices of warp groups"},
      {"tex.2d.v4.f32.s32", "7:3: tex: expected an instruction that this "
                            "machine has, got one for textures"},
      {"fma", "7:6: fma: expected one of .rn, .rz, .rm, .rp, got no modifier"},
      {"fma.f32",
       "7:10: fma.f32: expected one of .rn, .rz, .rm, .rp, got no modifier"},
      {"fma.rn.ftz.f32x", "7:14: fma.rn.ftz: expected one of .sat, .f32, "
                          ".f32x2, .f16, .f16x2, .relu, got \".f32x\""},
      {"fma.rn.rz.f32",
       "7:10: fma.rn: expected one of .ftz, .sat, .f32, "
       ".f32x2, .f64, .f16, .f16x2, .relu, .bf16, .bf16x2, .oob, got "
       "\".rz\""},
      {"ret.f32", "7:7: ret: expected .uni, got \".f32\""},
      {"exit.uni", "7:8: exit: expected no more modifiers, got \".uni\""},
      {"popc.b32.b32",
       "7:12: popc.b32: expected no more modifiers, got \".b32\""},
      {"mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32",
       "7:33: mma.sync.aligned.m16n8k16.row: expected one of .col, .f16, .f32, "
       ".bf16, .e4m3, .e5m2, .f64, .satfinite, .s32, .u8, .s8, got \".row\""},
  };
  for (const Wrong &wrong : wrongs) {
    auto matches = matchOpcode(wrong.opcode, {7, 3});
    ASSERT_FALSE(bool(matches)) << wrong.opcode;
    EXPECT_EQ(matches.error().str(), wrong.error);
  }
}

TEST(TableTest, SpecialRegisters) {
  EXPECT_EQ(specialNamed("%tid.y")->component, 1u);
  EXPECT_EQ(specialNamed("%tid")->component, std::nullopt);
  EXPECT_EQ(specialNamed("%laneid")->component, 0u);
  EXPECT_EQ(specialNamed("%envreg31")->component, 31u);
  EXPECT_EQ(specialNamed("%clock64")->info->id, SpecialRegister::Clock64);
  EXPECT_EQ(specialNamed("%clock")->info->id, SpecialRegister::Clock);
  EXPECT_TRUE(specialNamed("%clock_hi")->info->changes);
  for (const char *name : {"%tid.q", "%tid.", "%tid.xy", "%laneid.x", "%envreg",
                           "%envreg32", "%envreg01", "%nothing", "%tidx", ""})
    EXPECT_FALSE(specialNamed(name)) << name;
  EXPECT_EQ(infoOf(SpecialRegister::ClusterCtarank).name, "%cluster_ctarank");
}

} // namespace
