//===- Specs.h - Specs for tests, as JSON -----------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_SUPPORT_SPECS_H
#define KVC_TEST_UNIT_SUPPORT_SPECS_H

#include "kvc/Spec/Spec.h"

#include <gtest/gtest.h>
#include <string>

namespace kvc::test {

/// A spec with these sections; a failure of the test if it is refused. Single
/// quotes stand for double ones.
inline spec::Spec parsed(const std::string &attention, const std::string &key,
                         const std::string &value, const std::string &more = "",
                         const std::string &query = "f16") {
  std::string text = "{'kvc': 1, 'name': 'test', 'attention': {" + attention +
                     "}, 'io': {'query': '" + query + "'}, 'key': {" + key +
                     "}";
  if (!value.empty())
    text += ", 'value': {" + value + "}";
  if (!more.empty())
    text += ", " + more;
  text += "}";
  for (char &c : text)
    if (c == '\'')
      c = '"';
  spec::Expected<spec::Spec> result = spec::parseSpec(text);
  if (!result) {
    ADD_FAILURE() << result.error().str() << "\n" << text;
    return {};
  }
  return *result;
}

} // namespace kvc::test

#endif // KVC_TEST_UNIT_SUPPORT_SPECS_H
