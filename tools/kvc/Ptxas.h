//===- Ptxas.h - NVIDIA's assembler, where it is installed ------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_PTXAS_H
#define KVC_TOOLS_PTXAS_H

#include <string>
#include <string_view>

namespace kvc {

/// What KVC_PTXAS names; without it the ptxas of PATH, or else that of
/// /usr/local/cuda/bin; a failure that says where it was looked for.
std::string findPtxas();

struct Assembled {
  std::string cubin;
  std::string log; ///< Of `ptxas -v`: registers and spills of each kernel.
};

/// Machine code of a text for `target`, "sm_90". `place` is what messages call
/// it.
Assembled assemble(const std::string &ptxas, std::string_view ptx,
                   const std::string &target, const std::string &place);

} // namespace kvc

#endif // KVC_TOOLS_PTXAS_H
