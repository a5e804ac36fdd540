//===- Options.h - What a compilation may choose ----------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CODEGEN_OPTIONS_H
#define KVC_CODEGEN_OPTIONS_H

#include "kvc/Codegen/Target.h"
#include <cstdint>
#include <string>
#include <vector>

namespace kvc {

/// Everything beside the spec that decides the code of its kernels. 0 is the
/// default of every number.
struct CompileOptions {
  Target target;
  std::vector<std::string> kernels; ///< Kinds to make; empty: all.
  int64_t decodeRows = 0, prefillRows = 0;
  int64_t tileTokens = 0, splitTokens = 0, prefillSplitTokens = 0;
  /// How far ahead of its loads a kernel prefetches codes; 0: what the target
  /// says, -1: not at all.
  int64_t prefetchBytes = 0, prefetchPages = 0;
  bool asan = false;
  bool remarks = false; ///< Have passes explain their choices; changes no code.
  bool verify = false;  ///< Verify the IR between passes; changes no code.
};

} // namespace kvc

#endif // KVC_CODEGEN_OPTIONS_H
