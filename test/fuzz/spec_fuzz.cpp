//===- spec_fuzz.cpp - Any bytes as a spec --------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Whatever the bytes, the parser returns a spec or an error that says where;
// a spec has a canonical form that reads back to it.
//
//===----------------------------------------------------------------------===//

#include "kvc/Spec/Spec.h"

#include <cstdio>
#include <cstdlib>

using namespace kvc::spec;

static void require(bool condition, const char *what) {
  if (condition)
    return;
  std::fprintf(stderr, "spec_fuzz: %s\n", what);
  std::abort();
}

static void requireError(const Error &error) {
  require(!error.path.empty() && error.path.front() == '$',
          "an error without a path");
  require(!error.rule.empty(), "an error without a rule");
  require(error.message.find("expected ") != std::string::npos &&
              error.message.find("got ") != std::string::npos,
          "an error without expected and got");
  require(error.message.find('\n') == std::string::npos,
          "a message of several lines");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);

  for (const char *section :
       {"attention", "io", "scheme", "segments", "layout"})
    if (std::optional<Error> error = checkSection(section, text))
      requireError(*error);

  Expected<Spec> spec = parseSpec(text);
  if (!spec) {
    requireError(spec.error());
    return 0;
  }
  std::string printed = printSpec(*spec);
  Expected<Spec> again = parseSpec(printed);
  require(bool(again), "a canonical form that does not parse");
  require(*again == *spec, "a canonical form that means something else");
  require(printSpec(*again) == printed, "a canonical form that changes");
  Expected<Spec> compact = parseSpec(printSpecCompact(*spec));
  require(bool(compact) && *compact == *spec, "a compact form that differs");
  require(layoutHash(*spec) == layoutHash(*again), "a hash that changes");
  return 0;
}
