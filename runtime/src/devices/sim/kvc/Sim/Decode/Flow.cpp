//===- Flow.cpp - Order and joins of a control flow graph -----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Decode/Flow.h"

#include <algorithm>

using namespace kvc::sim;

namespace {

/// The strongly connected components of a part of a graph, in topological
/// order; in each the first node is the one that a search from outside enters.
class Components {
public:
  Components(const FlowGraph &graph, std::vector<uint32_t> &region)
      : graph(graph), region(region), number(graph.size(), 0),
        low(graph.size(), 0), isOpen(graph.size(), false) {}

  /// Of the nodes whose region is `id`, without edges to `head`.
  std::vector<std::vector<uint32_t>> of(const std::vector<uint32_t> &nodes,
                                        uint32_t id, uint32_t head) {
    found.clear();
    next = 1;
    for (uint32_t node : nodes)
      number[node] = 0;
    for (uint32_t node : nodes)
      if (number[node] == 0)
        search(node, id, head);
    std::reverse(found.begin(), found.end());
    return std::move(found);
  }

private:
  struct Frame {
    uint32_t node;
    size_t edge;
  };

  void open(uint32_t node) {
    number[node] = low[node] = next++;
    isOpen[node] = true;
    stack.push_back(node);
    // The last successor first, so that the order found is close to the text's.
    frames.push_back({node, graph[node].size()});
  }

  void search(uint32_t root, uint32_t id, uint32_t head) {
    open(root);
    while (!frames.empty()) {
      Frame &frame = frames.back();
      const uint32_t node = frame.node;
      if (frame.edge > 0) {
        const uint32_t to = graph[node][--frame.edge];
        if (region[to] != id || to == head)
          continue;
        if (number[to] == 0)
          open(to);
        else if (isOpen[to])
          low[node] = std::min(low[node], number[to]);
        continue;
      }
      frames.pop_back();
      if (!frames.empty())
        low[frames.back().node] = std::min(low[frames.back().node], low[node]);
      if (low[node] == number[node])
        close(node);
    }
  }

  void close(uint32_t node) {
    std::vector<uint32_t> component;
    uint32_t member;
    do {
      member = stack.back();
      stack.pop_back();
      isOpen[member] = false;
      component.push_back(member);
    } while (member != node);
    // `node` was entered first.
    std::reverse(component.begin(), component.end());
    found.push_back(std::move(component));
  }

  const FlowGraph &graph;
  const std::vector<uint32_t> &region;
  std::vector<uint32_t> number, low;
  std::vector<bool> isOpen;
  std::vector<uint32_t> stack;
  std::vector<Frame> frames;
  std::vector<std::vector<uint32_t>> found;
  uint32_t next = 1;
};

/// What the entry reaches, the entry first.
std::vector<uint32_t> reachable(const FlowGraph &graph) {
  std::vector<uint32_t> nodes;
  std::vector<bool> isSeen(graph.size(), false);
  if (graph.empty())
    return nodes;
  nodes.push_back(0);
  isSeen[0] = true;
  for (size_t i = 0; i < nodes.size(); ++i)
    for (uint32_t to : graph[nodes[i]])
      if (!isSeen[to]) {
        isSeen[to] = true;
        nodes.push_back(to);
      }
  return nodes;
}

} // namespace

std::optional<FlowOrder> kvc::sim::orderOf(const FlowGraph &graph) {
  struct Task {
    std::vector<uint32_t> nodes; ///< A component that is not placed yet.
    uint32_t depth;
  };
  FlowOrder order;
  order.depths.assign(graph.size(), 0);
  std::vector<uint32_t> nodes = reachable(graph);
  if (nodes.empty())
    return order;
  // Which part of the graph a node is in while that is searched; 0: none.
  std::vector<uint32_t> region(graph.size(), 0);
  uint32_t regions = 0;
  Components components(graph, region);
  std::vector<Task> tasks; // The next one last.
  auto expand = [&](const std::vector<uint32_t> &part, uint32_t head,
                    uint32_t depth) {
    ++regions;
    for (uint32_t node : part)
      region[node] = regions;
    auto found = components.of(part, regions, head);
    while (!found.empty()) {
      tasks.push_back({std::move(found.back()), depth});
      found.pop_back();
    }
  };
  expand(nodes, kNoNode, 0);
  while (!tasks.empty()) {
    Task task = std::move(tasks.back());
    tasks.pop_back();
    const uint32_t head = task.nodes.front();
    const auto &edges = graph[head];
    const bool isLoop =
        task.nodes.size() > 1 ||
        std::find(edges.begin(), edges.end(), head) != edges.end();
    const uint32_t depth = task.depth + isLoop;
    if (depth > kMaxLoopDepth)
      return std::nullopt;
    order.nodes.push_back(head);
    order.depths[head] = depth;
    if (task.nodes.size() == 1)
      continue;
    task.nodes.erase(task.nodes.begin());
    region[head] = 0;
    expand(task.nodes, head, depth);
  }
  return order;
}

std::vector<uint32_t> kvc::sim::postDominatorsOf(const FlowGraph &graph,
                                                 const FlowOrder &order) {
  // One exit behind all others makes the reverse graph one of one entry.
  const auto exit = static_cast<uint32_t>(graph.size());
  std::vector<std::vector<uint32_t>> before(graph.size() + 1);
  std::vector<std::vector<uint32_t>> after(graph.size());
  for (uint32_t node : order.nodes)
    for (uint32_t to : graph[node]) {
      before[to].push_back(node);
      after[node].push_back(to);
    }

  // Numbers of the reverse graph in reverse postorder.
  std::vector<uint32_t> number(graph.size() + 1, kNoNode);
  std::vector<uint32_t> sequence; // Postorder.
  auto search = [&](uint32_t root) {
    std::vector<std::pair<uint32_t, size_t>> frames{{root, 0}};
    number[root] = 0; // Seen; the number comes last.
    while (!frames.empty()) {
      auto &[node, edge] = frames.back();
      if (edge < before[node].size()) {
        const uint32_t to = before[node][edge++];
        if (number[to] == kNoNode) {
          number[to] = 0;
          frames.push_back({to, 0});
        }
        continue;
      }
      sequence.push_back(node);
      frames.pop_back();
    }
  };
  number[exit] = 0;
  auto leave = [&](uint32_t node) {
    before[exit].push_back(node);
    after[node].push_back(exit);
    if (number[node] == kNoNode)
      search(node);
  };
  for (uint32_t node : order.nodes)
    if (graph[node].empty())
      leave(node);
  for (auto node = order.nodes.rbegin(); node != order.nodes.rend(); ++node)
    if (number[*node] == kNoNode)
      leave(*node);
  sequence.push_back(exit);
  for (uint32_t i = 0; i < sequence.size(); ++i)
    number[sequence[i]] = static_cast<uint32_t>(sequence.size()) - 1 - i;

  // Dominators of the reverse graph, by iteration until nothing changes.
  std::vector<uint32_t> meets(graph.size() + 1, kNoNode);
  meets[exit] = exit;
  auto intersect = [&](uint32_t a, uint32_t b) {
    while (a != b) {
      while (number[a] > number[b])
        a = meets[a];
      while (number[b] > number[a])
        b = meets[b];
    }
    return a;
  };
  for (bool changes = true; changes;) {
    changes = false;
    for (auto node = sequence.rbegin() + 1; node != sequence.rend(); ++node) {
      uint32_t best = kNoNode;
      for (uint32_t to : after[*node])
        if (meets[to] != kNoNode)
          best = best == kNoNode ? to : intersect(best, to);
      changes |= meets[*node] != best;
      meets[*node] = best;
    }
  }
  meets.pop_back();
  for (uint32_t &node : meets)
    if (node == exit)
      node = kNoNode;
  return meets;
}
