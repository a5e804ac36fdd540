//===- Contraction.h - Products and sums that may become one ----*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The ISA lets an assembler make one fma of a mul and the add or sub of its
// product where neither names a rounding; ptxas does. A kernel whose results
// must not depend on that is run both ways.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_CHECK_CONTRACTION_H
#define KVC_SIM_CHECK_CONTRACTION_H

#include "kvc/Sim/Syntax/Syntax.h"

#include <string>

namespace kvc::sim {

struct Contraction {
  std::string text;           ///< Of the module, lines as before.
  std::vector<Position> sums; ///< Of each add and sub that became an fma.
};

/// Makes an fma of every pair that has no label and no call in between.
/// A sum of two products takes in the first, or the second.
Contraction contractionOf(const Module &module, bool takesSecond = false);

} // namespace kvc::sim

#endif // KVC_SIM_CHECK_CONTRACTION_H
