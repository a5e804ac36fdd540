//===- InputRows.h - Inputs of schemes as kernels read them -----*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_QUANTISE_INPUTROWS_H
#define KVC_QUANTISE_INPUTROWS_H

#include "kvc/Spec/SchemeInputs.h"

#include <span>

namespace kvc::quantise {

/// The rows of kvc/kernel_abi.h that `given` [heads, columns] becomes, or what
/// is wrong with it. Expects the default floating-point environment.
spec::Expected<std::vector<float>> kernelRows(const spec::Spec &spec,
                                              const spec::SchemeInput &input,
                                              std::span<const float> given);

} // namespace kvc::quantise

#endif // KVC_QUANTISE_INPUTROWS_H
