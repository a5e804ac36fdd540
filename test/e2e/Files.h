//===- Files.h - What kvc run wrote against the reference -------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_E2E_FILES_H
#define KVC_TEST_E2E_FILES_H

#include "kvc/Test/Dump.h"

#include <string>
#include <vector>

namespace kvc::test {

/// One line for each thing that is wrong in --output and --dump-cache.
std::vector<std::string>
wrongFiles(const spec::Spec &spec, const Inputs &inputs, const Answer &expected,
           const std::string &output, const std::string &dump);

} // namespace kvc::test

#endif // KVC_TEST_E2E_FILES_H
