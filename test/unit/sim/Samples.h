//===- Samples.h - Instructions made from the table -------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_SIM_SAMPLES_H
#define KVC_TEST_UNIT_SIM_SAMPLES_H

#include "kvc/Sim/Instructions/Table.h"

namespace kvc::test {

/// One instruction of a form, with valid operands.
struct Sample {
  std::string text; ///< Without a semicolon.
  std::string opcode;
  sim::Requirement needs;
  const sim::Form *form;
};

/// Of each form: with no optional word, then with each word in turn.
std::vector<Sample> allSamples();

/// Declarations of all registers and variables that samples name.
std::string sampleDeclarations(unsigned version);
std::string sampleVariables();

} // namespace kvc::test

#endif // KVC_TEST_UNIT_SIM_SAMPLES_H
