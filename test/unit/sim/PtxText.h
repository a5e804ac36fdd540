//===- PtxText.h - Modules for tests ----------------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_SIM_PTXTEXT_H
#define KVC_TEST_UNIT_SIM_PTXTEXT_H

#include "kvc/Sim/Syntax/Parser.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

namespace kvc::test {

/// Three lines that every module begins with; what follows begins on line 4.
inline std::string header(std::string_view version = "8.0",
                          std::string_view target = "sm_80") {
  return ".version " + std::string(version) + "\n.target " +
         std::string(target) + "\n.address_size 64\n";
}

/// A kernel of that body, which begins on line 5.
inline std::string kernel(std::string_view body, std::string_view params = "") {
  return ".visible .entry k(" + std::string(params) + ") {\n" +
         std::string(body) + "\n}\n";
}

/// A file of test/data/ptx.
inline std::string ptxFile(const std::string &name) {
  std::ifstream file(KVC_TEST_DATA "/ptx/" + name);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Reads a text that must be a module; the caller's test fails if it is none.
inline sim::Module parsed(const std::string &text) {
  sim::Expected<sim::Module> module = sim::parseModule(text);
  if (module)
    return std::move(*module);
  ADD_FAILURE() << module.error().str() << "\n" << text;
  return {};
}

/// "LINE:COLUMN: message" of a text that is no module.
inline std::string errorOf(const std::string &text) {
  sim::Expected<sim::Module> module = sim::parseModule(text);
  if (!module)
    return module.error().str();
  ADD_FAILURE() << "no error in\n" << text;
  return "";
}

} // namespace kvc::test

#endif // KVC_TEST_UNIT_SIM_PTXTEXT_H
