//===- Rows.h - Which registers share rows ----------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Compilers write PTX with thousands of registers, of which few are alive at a
// time. Registers whose lives do not meet share rows, so that a warp's file
// stays in a cache. A register that a path reads before it writes it is alive
// from the function's beginning: no other writes its row before that read.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_DECODE_ROWS_H
#define KVC_SIM_DECODE_ROWS_H

#include "kvc/Sim/Decode/ProgramBuilder.h"

namespace kvc::sim {

struct RowAssignment {
  std::vector<uint32_t> firstRow; ///< Of each virtual register.
  uint32_t rows = 0;
};

/// `blocks` are the function's, numbered from 0, instructions too; `order` is
/// that of Flow.h. Special registers get no rows here.
RowAssignment assignRows(const DecodedFunction &function,
                         const std::vector<Block> &blocks,
                         const std::vector<uint32_t> &order);

} // namespace kvc::sim

#endif // KVC_SIM_DECODE_ROWS_H
