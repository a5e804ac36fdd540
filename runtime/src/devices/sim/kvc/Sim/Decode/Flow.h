//===- Flow.h - Order and joins of a control flow graph ---------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_DECODE_FLOW_H
#define KVC_SIM_DECODE_FLOW_H

#include <cstdint>
#include <optional>
#include <vector>

namespace kvc::sim {

/// Nodes by number; 0 is the entry.
using FlowGraph = std::vector<std::vector<uint32_t>>;

inline constexpr uint32_t kNoNode = UINT32_MAX;
/// Loops inside of loops.
inline constexpr unsigned kMaxLoopDepth = 256;

struct FlowOrder {
  /// Nodes that the entry reaches, topologically but for edges back to the head
  /// of a loop; a loop and each loop inside of it are contiguous.
  std::vector<uint32_t> nodes;
  std::vector<uint32_t> depths; ///< Of every node: loops around it.
};

/// Nothing where loops nest too deeply.
std::optional<FlowOrder> orderOf(const FlowGraph &graph);

/// For each node the first one that all ways from it to a node without
/// successors pass; kNoNode where there is none. A loop without an exit is left
/// by its last node, for this purpose.
std::vector<uint32_t> postDominatorsOf(const FlowGraph &graph,
                                       const FlowOrder &order);

} // namespace kvc::sim

#endif // KVC_SIM_DECODE_FLOW_H
