//===- Fragments.cpp - Layouts of instruction operands --------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Layout/Fragments.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace kvc::layout {

RegisterLayout mmaFragment(MmaOperand operand, unsigned bits) {
  assert((bits == 32 || bits == 16 || bits == 8 || bits == 4) &&
         "no such mma.sync operand");
  if (operand == MmaOperand::C)
    return {{},
            {bitOf('n', 0), bitOf('m', 3)},
            {bitOf('n', 1), bitOf('n', 2), bitOf('m', 0), bitOf('m', 1),
             bitOf('m', 2)},
            {}};
  // The k digits fill a register, then the lanes of a group of four, then the
  // last register digit; the groups are rows of A and columns of B.
  unsigned packed = unsigned(std::countr_zero(32 / bits));
  Dim row = operand == MmaOperand::A ? 'm' : 'n';
  RegisterLayout layout;
  for (unsigned i = 0; i < packed; ++i)
    layout.pack.push_back(bitOf('k', i));
  layout.lane = {bitOf('k', packed), bitOf('k', packed + 1), bitOf(row, 0),
                 bitOf(row, 1), bitOf(row, 2)};
  if (operand == MmaOperand::A)
    layout.reg.push_back(bitOf('m', 3));
  layout.reg.push_back(bitOf('k', packed + 2));
  return layout;
}

RegisterLayout simdFragment(Digits lane, Digits pack) {
  return {std::move(pack), {}, std::move(lane), {}};
}

RegisterLayout withoutDigit(RegisterLayout layout, const Digit &digit) {
  for (Digits *space : {&layout.pack, &layout.reg, &layout.lane, &layout.warp})
    std::erase(*space, digit);
  return layout;
}

RegisterLayout rename(RegisterLayout layout,
                      std::initializer_list<std::pair<Dim, Dim>> names) {
  for (Digits *space : {&layout.pack, &layout.reg, &layout.lane, &layout.warp})
    for (Digit &digit : *space) {
      auto found =
          std::find_if(names.begin(), names.end(), [&](const auto &name) {
            return name.first == digit.dim;
          });
      if (found != names.end())
        digit.dim = found->second;
    }
  return layout;
}

bool canMovmatrix(const RegisterLayout &layout) {
  return layout.pack.size() == 1 && layout.lane.size() == kWarpLaneBits &&
         std::none_of(layout.lane.begin(), layout.lane.end(),
                      [](const Digit &digit) { return digit.isReplicated(); });
}

RegisterLayout movmatrix(RegisterLayout layout) {
  assert(canMovmatrix(layout) &&
         "movmatrix turns 16-bit elements of a whole warp");
  Digits six = {layout.pack[0]};
  six.insert(six.end(), layout.lane.begin(), layout.lane.end());
  std::rotate(six.begin(), six.begin() + 3, six.end());
  layout.pack = {six[0]};
  layout.lane.assign(six.begin() + 1, six.end());
  return layout;
}

LdmatrixForm ldmatrixForm(const Storage &storage,
                          const RegisterLayout &operand) {
  // A unit is 16 bits, so narrower elements bring their lowest digits along.
  if (storage.width > 16 || operand.lane.size() != kWarpLaneBits)
    return LdmatrixForm::None;
  size_t inRow = size_t(std::countr_zero(128 / storage.width));
  if (storage.addr.size() < inRow)
    return LdmatrixForm::None;
  Digits row(storage.addr.begin(), storage.addr.begin() + ptrdiff_t(inRow));
  Digits plain = operand.pack;
  plain.insert(plain.end(), operand.lane.begin(), operand.lane.begin() + 2);
  if (row == plain)
    return LdmatrixForm::Plain;
  Digits transposed(operand.lane.begin() + 2, operand.lane.end());
  return storage.width == 16 && row == transposed ? LdmatrixForm::Transposed
                                                  : LdmatrixForm::None;
}

} // namespace kvc::layout
