//===- Expect.h - What a run must have stored and computed ------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_E2E_EXPECT_H
#define KVC_TEST_E2E_EXPECT_H

#include "Session.h"

#include <string>
#include <vector>

namespace kvc::test {

/// One line for each of codes, scales, zeros and values of K and V that is not
/// the reference's to the bit, and for each page with other bytes than the
/// documented ones.
std::vector<std::string> wrongStored(const spec::Spec &spec,
                                     const Session &session,
                                     const Engine &engine,
                                     const Answer &expected);

/// One line for each of out and lse that is beyond its bound, and one for gaps
/// between rows that were written to.
std::vector<std::string> wrongAttended(const spec::Spec &spec,
                                       const Inputs &inputs,
                                       const Attended &attended,
                                       const Answer &expected);

} // namespace kvc::test

#endif // KVC_TEST_E2E_EXPECT_H
