//===- Schemes.h - Random schemes -------------------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_QUANTISE_SCHEMES_H
#define KVC_TEST_UNIT_QUANTISE_SCHEMES_H

#include "kvc/Test/Inputs.h"

namespace kvc::test {

/// The text of a spec whose options are drawn one by one; most are valid.
/// Two kv heads, 64 channels of K and 48 of V.
std::string randomSpec(Random &random);

} // namespace kvc::test

#endif // KVC_TEST_UNIT_QUANTISE_SCHEMES_H
