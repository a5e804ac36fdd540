//===- flow_test.cpp - Orders, joins and rows of any graph ----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Programs.h"

#include "kvc/Sim/Decode/Flow.h"

#include <algorithm>
#include <map>
#include <random>

using namespace kvc::sim;
using namespace kvc::test;

namespace {

FlowGraph randomGraph(std::mt19937 &random, unsigned nodes) {
  FlowGraph graph(nodes);
  for (auto &edges : graph)
    for (unsigned i = random() % 3; i > 0; --i) {
      const uint32_t to = random() % nodes;
      if (std::find(edges.begin(), edges.end(), to) == edges.end())
        edges.push_back(to);
    }
  return graph;
}

/// What `from` reaches without passing `without`.
std::vector<bool> reached(const FlowGraph &graph, uint32_t from,
                          uint32_t without = kNoNode) {
  std::vector<bool> isSeen(graph.size(), false);
  std::vector<uint32_t> stack;
  if (from != without) {
    isSeen[from] = true;
    stack.push_back(from);
  }
  while (!stack.empty()) {
    const uint32_t node = stack.back();
    stack.pop_back();
    for (uint32_t to : graph[node])
      if (to != without && !isSeen[to]) {
        isSeen[to] = true;
        stack.push_back(to);
      }
  }
  return isSeen;
}

TEST(FlowTest, TheOrderIsTopologicalAndLoopsContiguous) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const FlowGraph graph = randomGraph(random, 1 + random() % 12);
    const std::optional<FlowOrder> order = orderOf(graph);
    ASSERT_TRUE(order);
    const std::vector<bool> isReached = reached(graph, 0);
    ASSERT_EQ(order->nodes.size(),
              size_t(std::count(isReached.begin(), isReached.end(), true)));
    EXPECT_EQ(order->nodes.front(), 0u);
    std::vector<uint32_t> rank(graph.size(), kNoNode);
    for (uint32_t i = 0; i < order->nodes.size(); ++i)
      rank[order->nodes[i]] = i;
    std::vector<std::vector<bool>> reach;
    for (uint32_t node = 0; node < graph.size(); ++node)
      reach.push_back(reached(graph, node));
    for (uint32_t node : order->nodes)
      for (uint32_t to : graph[node]) {
        // An edge back goes to the head of a loop around it.
        if (rank[to] <= rank[node]) {
          EXPECT_TRUE(reach[to][node]);
          continue;
        }
      }
    // Nodes that reach each other are not parted by others.
    for (uint32_t a : order->nodes)
      for (uint32_t b : order->nodes)
        if (rank[a] < rank[b] && reach[a][b] && reach[b][a])
          for (uint32_t i = rank[a]; i <= rank[b]; ++i) {
            const uint32_t between = order->nodes[i];
            EXPECT_TRUE(reach[a][between] && reach[between][a]);
          }
  }
}

TEST(FlowTest, NodesOutsideOfLoopsHaveNoDepth) {
  // 0 -> 1 <-> 2, 2 -> 3 with a loop of its own, 1 -> 4
  const FlowGraph graph = {{1}, {2, 4}, {1, 3}, {3, 2}, {}};
  const std::optional<FlowOrder> order = orderOf(graph);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->depths, (std::vector<uint32_t>{0, 1, 2, 3, 0}));
  EXPECT_EQ(order->nodes, (std::vector<uint32_t>{0, 1, 2, 3, 4}));
}

TEST(FlowTest, PostDominatorsAreWhatAllWaysPass) {
  std::mt19937 random(2);
  for (int round = 0; round < 2000; ++round) {
    const FlowGraph graph = randomGraph(random, 1 + random() % 10);
    const std::optional<FlowOrder> order = orderOf(graph);
    ASSERT_TRUE(order);
    const std::vector<uint32_t> meets = postDominatorsOf(graph, *order);
    auto leaves = [&](const std::vector<bool> &isSeen) {
      for (uint32_t node = 0; node < graph.size(); ++node)
        if (isSeen[node] && graph[node].empty())
          return true;
      return false;
    };
    // Nodes from which every way ends: there the definition holds as it is.
    std::vector<bool> isFinite(graph.size());
    for (uint32_t node = 0; node < graph.size(); ++node) {
      const std::vector<bool> from = reached(graph, node);
      isFinite[node] = true;
      for (uint32_t other = 0; other < graph.size(); ++other)
        if (from[other] && !leaves(reached(graph, other)))
          isFinite[node] = false;
    }
    for (uint32_t node : order->nodes) {
      if (!isFinite[node])
        continue;
      auto passes = [&](uint32_t other) {
        return other != node && reached(graph, node)[other] &&
               !leaves(reached(graph, node, other));
      };
      if (meets[node] == kNoNode) {
        for (uint32_t other = 0; other < graph.size(); ++other)
          EXPECT_FALSE(passes(other)) << node << " " << other;
        continue;
      }
      EXPECT_TRUE(passes(meets[node]));
      // The first of them: every other comes behind it.
      for (uint32_t other = 0; other < graph.size(); ++other)
        if (other != meets[node] && passes(other))
          EXPECT_FALSE(reached(graph, node, meets[node])[other]);
    }
  }
}

TEST(FlowTest, LongChainsNeedNoStack) {
  FlowGraph graph(200000);
  for (uint32_t i = 0; i + 1 < graph.size(); ++i)
    graph[i].push_back(i + 1);
  const std::optional<FlowOrder> order = orderOf(graph);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->nodes.size(), graph.size());
  EXPECT_EQ(postDominatorsOf(graph, *order)[0], 1u);
}

TEST(FlowTest, AnEmptyGraphHasNoOrder) {
  EXPECT_TRUE(orderOf({})->nodes.empty());
}

/// A kernel of random instructions and branches over few registers.
std::string randomKernel(std::mt19937 &random) {
  const unsigned blocks = 1 + random() % 8;
  std::string body = ".reg .b32 %r<12>; .reg .b64 %d<6>; .reg .pred %p<3>;\n";
  auto reg = [&] { return "%r" + std::to_string(random() % 12); };
  auto wide = [&] { return "%d" + std::to_string(random() % 6); };
  for (unsigned block = 0; block < blocks; ++block) {
    body += "L" + std::to_string(block) + ":\n";
    for (unsigned i = random() % 6; i > 0; --i) {
      if (random() % 4 == 0)
        body += "@%p0 ";
      if (random() % 3)
        body += "add.u32 " + reg() + ", " + reg() + ", " + reg() + ";\n";
      else if (random() % 2)
        body += "mov.b64 {" + reg() + ", " + reg() + "}, " + wide() + ";\n";
      else
        body += "mov.b64 " + wide() + ", {" + reg() + ", " + reg() + "};\n";
    }
    if (random() % 3)
      body += std::string(random() % 2 ? "@%p1 " : "") + "bra L" +
              std::to_string(random() % blocks) + ";\n";
  }
  return header() + kernel(body);
}

TEST(FlowTest, RowsKeepWhatRegistersHold) {
  std::mt19937 random(3);
  uint64_t reads = 0;
  for (int round = 0; round < 500; ++round) {
    const std::string text = randomKernel(random);
    const Program program = decoded(text);
    for (int way = 0; way < 8; ++way) {
      // One thread's way: values are numbers that rise with each write. A
      // register that was never written has what its rows held first: 0.
      std::map<std::string_view, uint64_t> registers;
      std::vector<uint64_t> rows(program.registerRows, 0);
      uint64_t value = 0;
      uint32_t block = 0;
      for (int step = 0; step < 60; ++step) {
        const Block &here = program.blocks[block];
        for (uint32_t i = here.first; i < here.end; ++i) {
          const Inst &inst = program.code[i];
          const bool isRun = inst.guard == Inst().guard || random() % 2;
          const auto slots = program.slotsOf(inst);
          for (size_t s = 0; s < slots.size() && isRun; ++s) {
            if (slots[s].file() != Slot::File::Register || slots[s].isWritten())
              continue;
            const std::string_view name = program.slotNames[inst.firstSlot + s];
            for (unsigned r = 0; r < slots[s].rows(); ++r)
              ASSERT_EQ(rows[slots[s].index() + r], registers[name])
                  << name << " in\n"
                  << text;
            ++reads;
          }
          for (size_t s = 0; s < slots.size() && isRun; ++s) {
            if (slots[s].file() != Slot::File::Register ||
                !slots[s].isWritten())
              continue;
            registers[program.slotNames[inst.firstSlot + s]] = ++value;
            for (unsigned r = 0; r < slots[s].rows(); ++r)
              rows[slots[s].index() + r] = value;
          }
        }
        if (here.successors.empty())
          break;
        block = here.successors[random() % here.successors.size()];
      }
    }
  }
  EXPECT_GT(reads, 10000u);
}

} // namespace
