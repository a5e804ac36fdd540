//===- WarpOperand.h - What a warp loads as an operand ----------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_ANALYSIS_WARPOPERAND_H
#define KVC_ANALYSIS_WARPOPERAND_H

#include "kvc/Spec/Spec.h"

namespace kvc {

/// Whether the codes of a part are words of a cache that a lane widens to
/// operands of a product. All others are read one by one and dequantised.
bool isWordOperand(const spec::Spec &spec, const spec::PartScheme &part);

} // namespace kvc

#endif // KVC_ANALYSIS_WARPOPERAND_H
