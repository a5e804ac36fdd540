//===- Derive.cpp - Storage orders from operand layouts -------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Layout/Derive.h"

#include <algorithm>
#include <bit>

namespace kvc::layout {

namespace {

struct CodeConversion {
  CodeForm form;
  unsigned bits;
  ElementForm element;
  /// Roles of the code positions as text, lowest first.
  std::string_view roles;
};

/// One line per conversion. Codes that become pairs of 16-bit elements lie 16
/// bits apart, so that one mask of a (shifted) word gives the pair.
constexpr CodeConversion kCodeConversions[] = {
    {CodeForm::Float, 32, ElementForm::Lane32, ""},
    {CodeForm::Float, 16, ElementForm::Lane32, ""},
    // Neighbouring bytes are widened together.
    {CodeForm::Float, 8, ElementForm::Lane32, ""},
    {CodeForm::Integer, 8, ElementForm::I16, "reg pack0"},
    {CodeForm::Integer, 4, ElementForm::I16, "reg reg pack0"},
    {CodeForm::Integer, 2, ElementForm::I16, "reg reg reg pack0"},
    // What is looked up may be integers: the same words serve those.
    {CodeForm::Float, 4, ElementForm::I16, "reg reg pack0"},
    {CodeForm::Float, 2, ElementForm::I16, "reg reg reg pack0"},
    {CodeForm::Float, 32, ElementForm::F16, ""},
    {CodeForm::Float, 16, ElementForm::F16, "pack0"},
    {CodeForm::Float, 16, ElementForm::BF16, "pack0"},
    // A conversion instruction takes neighbouring bytes.
    {CodeForm::Float, 8, ElementForm::F16, "pack0 reg"},
    // x & 0x00ff00ff, then the same of x >> 8.
    {CodeForm::Integer, 8, ElementForm::F16, "reg pack0"},
    // x & 0x000f000f and x & 0x00f000f0 (16 times too large), then of x >> 8.
    {CodeForm::Integer, 4, ElementForm::F16, "weight reg pack0"},
    {CodeForm::Integer, 2, ElementForm::F16, "weight weight reg pack0"},
    // Seven bits of mantissa leave no room for a weight: every field is
    // shifted.
    {CodeForm::Integer, 8, ElementForm::BF16, "reg pack0"},
    {CodeForm::Integer, 4, ElementForm::BF16, "reg reg pack0"},
    {CodeForm::Integer, 2, ElementForm::BF16, "reg reg reg pack0"},
    {CodeForm::Integer, 8, ElementForm::S8, "pack0 pack1"},
    {CodeForm::Integer, 4, ElementForm::S8, "reg pack0 pack1"},
};

std::vector<Role> parseRoles(std::string_view text) {
  std::vector<Role> roles;
  while (!text.empty()) {
    size_t end = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word == "reg")
      roles.push_back({Role::Kind::Reg});
    else if (word == "weight")
      roles.push_back({Role::Kind::Weight});
    else
      roles.push_back({Role::Kind::Pack, unsigned(word.back() - '0')});
  }
  return roles;
}

} // namespace

std::optional<std::vector<Role>> conversionRoles(CodeForm form, unsigned bits,
                                                 ElementForm element) {
  for (const CodeConversion &row : kCodeConversions)
    if (row.form == form && row.bits == bits && row.element == element)
      return parseRoles(row.roles);
  return std::nullopt;
}

std::optional<Storage> deriveStorage(const RegisterLayout &operand,
                                     const std::vector<Role> &roles,
                                     const DeriveOptions &options) {
  Digits addr, reg = operand.reg;
  std::vector<bool> packed(operand.pack.size(), false);
  // Positions below a byte; larger codes share none.
  size_t inByte =
      options.bits < 8 ? size_t(std::countr_zero(8 / options.bits)) : 0;

  for (size_t position = 0; position < roles.size(); ++position) {
    const Role &role = roles[position];
    auto sharesByte = [&](const Digit &digit) {
      return position < inByte && contains(options.separate, digit);
    };
    if (role.kind == Role::Kind::Pack) {
      if (role.index >= packed.size() || packed[role.index] ||
          sharesByte(operand.pack[role.index]))
        return std::nullopt;
      packed[role.index] = true;
      addr.push_back(operand.pack[role.index]);
      continue;
    }
    bool wantsContracted =
        role.kind == Role::Kind::Weight && options.separate.empty();
    auto found = std::find_if(reg.begin(), reg.end(), [&](const Digit &digit) {
      return digit.count == 2 && !sharesByte(digit) &&
             (!wantsContracted || contains(options.contracted, digit));
    });
    if (found == reg.end())
      return std::nullopt;
    addr.push_back(*found);
    reg.erase(found);
  }
  for (size_t i = 0; i < packed.size(); ++i)
    if (!packed[i])
      addr.push_back(operand.pack[i]);

  // The operand's own register order decides what shares a load: its fragment's
  // registers, then the copies of the dim that was tiled first. Odd digits
  // cannot be part of a vector.
  for (unsigned taken = 0; taken < options.vectorBits; ++taken) {
    auto found = std::find_if(reg.begin(), reg.end(), [](const Digit &digit) {
      return digit.count == 2;
    });
    if (found == reg.end())
      break;
    addr.push_back(*found);
    reg.erase(found);
  }
  for (const Digits *space : {&operand.lane, &operand.warp})
    std::copy_if(space->begin(), space->end(), std::back_inserter(addr),
                 [](const Digit &digit) { return !digit.isReplicated(); });
  addr.insert(addr.end(), reg.begin(), reg.end());
  return Storage{std::move(addr), options.bits};
}

} // namespace kvc::layout
