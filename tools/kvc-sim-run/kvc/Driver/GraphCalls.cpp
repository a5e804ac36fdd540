//===- GraphCalls.cpp - Graphs --------------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A launch of a graph is its operations, each after those that it has to
// follow, and one more after all of them.
//
//===----------------------------------------------------------------------===//

#include "kvc/Driver/Driver.h"

#include <algorithm>

using namespace kvc::driver;

using Guard = std::lock_guard<std::mutex>;
using Step = GraphExec::Step;

/// Chains of nodes that hold each other may be longer than the stack.
Graph::~Graph() {
  for (const auto &node : nodes)
    node->after.clear();
}

//===----------------------------------------------------------------------===//
// Making graphs
//===----------------------------------------------------------------------===//

CUresult calls::graphCreate(CUgraph *graph, unsigned int flags) {
  if (!graph || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  Driver &driver = *theDriver();
  const Guard guard(driver.lock);
  *graph = handleOf<CUgraph>(*driver.registry.make<Graph>());
  return CUDA_SUCCESS;
}

CUresult calls::graphDestroy(CUgraph handle) {
  Driver &driver = *theDriver();
  const Guard guard(driver.lock);
  const auto graph = driver.registry.find<Graph>(handle);
  if (!graph)
    return CUDA_ERROR_INVALID_HANDLE;
  for (const auto &node : graph->nodes)
    driver.registry.remove(*node);
  driver.registry.remove(*graph);
  return CUDA_SUCCESS;
}

/// A copy with nodes of its own.
static std::shared_ptr<Graph> copyOf(Driver &driver, const Graph &graph) {
  auto copy = std::make_shared<Graph>();
  std::map<const Node *, std::shared_ptr<Node>> copies;
  for (const auto &node : graph.nodes) {
    auto made = driver.registry.make<Node>();
    made->type = node->type;
    made->graph = copy;
    made->work = node->work;
    made->child = node->child;
    copies[node.get()] = made;
    copy->nodes.push_back(made);
  }
  for (const auto &node : graph.nodes)
    for (const auto &each : node->after)
      copies[node.get()]->after.push_back(copies[each.get()]);
  return copy;
}

CUresult calls::graphClone(CUgraph *clone, CUgraph handle) {
  Driver &driver = *theDriver();
  const Guard guard(driver.lock);
  const auto graph = driver.registry.find<Graph>(handle);
  if (!clone || !graph)
    return CUDA_ERROR_INVALID_VALUE;
  *clone = handleOf<CUgraph>(*driver.registry.add(copyOf(driver, *graph)));
  return CUDA_SUCCESS;
}

static CUresult addNode(CUgraphNode *made, CUgraph handle,
                        const CUgraphNode *after, size_t count,
                        CUgraphNodeType type, Work work,
                        CUgraph childHandle = nullptr) {
  Driver &driver = *theDriver();
  const Guard guard(driver.lock);
  const auto graph = driver.registry.find<Graph>(handle);
  if (!made || !graph || (count > 0 && !after))
    return CUDA_ERROR_INVALID_VALUE;
  std::vector<std::shared_ptr<Node>> nodes;
  for (size_t i = 0; i < count; ++i) {
    nodes.push_back(driver.registry.find<Node>(after[i]));
    if (!nodes.back() || nodes.back()->graph.lock() != graph)
      return because(CUDA_ERROR_INVALID_VALUE, "a node of another graph");
  }
  std::shared_ptr<Graph> child;
  if (childHandle) {
    const auto found = driver.registry.find<Graph>(childHandle);
    if (!found)
      return CUDA_ERROR_INVALID_VALUE;
    child = copyOf(driver, *found);
  }
  auto node = driver.registry.make<Node>();
  node->type = type;
  node->graph = graph;
  node->work = std::move(work);
  node->child = std::move(child);
  node->after = std::move(nodes);
  graph->nodes.push_back(node);
  *made = handleOf<CUgraphNode>(*node);
  return CUDA_SUCCESS;
}

static CUresult prepareKernel(const CUDA_KERNEL_NODE_PARAMS *params,
                              Work &work) {
  if (!params)
    return CUDA_ERROR_INVALID_VALUE;
  Driver &driver = *theDriver();
  std::shared_ptr<Function> function;
  {
    const Guard guard(driver.lock);
    function = params->func ? functionOf(driver, params->func)
                            : functionOf(driver, params->kern);
  }
  const CUlaunchConfig config{params->gridDimX,
                              params->gridDimY,
                              params->gridDimZ,
                              params->blockDimX,
                              params->blockDimY,
                              params->blockDimZ,
                              params->sharedMemBytes,
                              nullptr,
                              nullptr,
                              0};
  return prepareLaunch(driver, function, config, params->kernelParams,
                       params->extra, work);
}

CUresult calls::graphAddKernelNode(CUgraphNode *node, CUgraph graph,
                                   const CUgraphNode *after, size_t count,
                                   const CUDA_KERNEL_NODE_PARAMS *params) {
  Work work;
  if (const CUresult result = prepareKernel(params, work))
    return result;
  return addNode(node, graph, after, count, CU_GRAPH_NODE_TYPE_KERNEL,
                 std::move(work));
}

CUresult calls::graphAddEmptyNode(CUgraphNode *node, CUgraph graph,
                                  const CUgraphNode *after, size_t count) {
  return addNode(node, graph, after, count, CU_GRAPH_NODE_TYPE_EMPTY, {});
}

CUresult calls::graphAddHostNode(CUgraphNode *node, CUgraph graph,
                                 const CUgraphNode *after, size_t count,
                                 const CUDA_HOST_NODE_PARAMS *params) {
  if (!params || !params->fn)
    return CUDA_ERROR_INVALID_VALUE;
  Work work;
  work.isEager = true;
  work.run = [function = params->fn, data = params->userData] {
    function(data);
    return CUDA_SUCCESS;
  };
  return addNode(node, graph, after, count, CU_GRAPH_NODE_TYPE_HOST,
                 std::move(work));
}

CUresult calls::graphAddMemsetNode(CUgraphNode *node, CUgraph graph,
                                   const CUgraphNode *after, size_t count,
                                   const CUDA_MEMSET_NODE_PARAMS *params,
                                   CUcontext) {
  if (!params)
    return CUDA_ERROR_INVALID_VALUE;
  Work work;
  if (const CUresult result =
          prepareFill(*theDriver(),
                      {params->dst, params->pitch, params->value,
                       params->elementSize, params->width, params->height},
                      work))
    return result;
  return addNode(node, graph, after, count, CU_GRAPH_NODE_TYPE_MEMSET,
                 std::move(work));
}

CUresult calls::graphAddMemcpyNode(CUgraphNode *node, CUgraph graph,
                                   const CUgraphNode *after, size_t count,
                                   const CUDA_MEMCPY3D *params, CUcontext) {
  if (!params)
    return CUDA_ERROR_INVALID_VALUE;
  Work work;
  bool waits = false;
  if (const CUresult result =
          prepareCopy(*theDriver(), *params, work, waits, true))
    return result;
  return addNode(node, graph, after, count, CU_GRAPH_NODE_TYPE_MEMCPY,
                 std::move(work));
}

CUresult calls::graphAddChildGraphNode(CUgraphNode *node, CUgraph graph,
                                       const CUgraphNode *after, size_t count,
                                       CUgraph child) {
  if (!child)
    return CUDA_ERROR_INVALID_VALUE;
  return addNode(node, graph, after, count, CU_GRAPH_NODE_TYPE_GRAPH, {},
                 child);
}

CUresult calls::graphAddDependencies(CUgraph handle, const CUgraphNode *from,
                                     const CUgraphNode *to, size_t count) {
  Driver &driver = *theDriver();
  const Guard guard(driver.lock);
  const auto graph = driver.registry.find<Graph>(handle);
  if (!graph || (count > 0 && (!from || !to)))
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i) {
    const auto before = driver.registry.find<Node>(from[i]);
    const auto after = driver.registry.find<Node>(to[i]);
    if (!before || !after || before->graph.lock() != graph ||
        after->graph.lock() != graph)
      return CUDA_ERROR_INVALID_VALUE;
    after->after.push_back(before);
  }
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Looking at them
//===----------------------------------------------------------------------===//

/// Fills as many as there is room for; the rest with null, as the driver does.
static CUresult listNodes(CUgraph handle, CUgraphNode *nodes, size_t *count,
                          bool onlyRoots) {
  Driver &driver = *theDriver();
  const Guard guard(driver.lock);
  const auto graph = driver.registry.find<Graph>(handle);
  if (!graph || !count)
    return CUDA_ERROR_INVALID_VALUE;
  std::vector<CUgraphNode> all;
  for (const auto &node : graph->nodes)
    if (!onlyRoots || node->after.empty())
      all.push_back(handleOf<CUgraphNode>(*node));
  if (nodes)
    for (size_t i = 0; i < *count; ++i)
      nodes[i] = i < all.size() ? all[i] : nullptr;
  *count = nodes ? std::min(*count, all.size()) : all.size();
  return CUDA_SUCCESS;
}

CUresult calls::graphGetNodes(CUgraph graph, CUgraphNode *nodes,
                              size_t *count) {
  return listNodes(graph, nodes, count, false);
}

CUresult calls::graphGetRootNodes(CUgraph graph, CUgraphNode *nodes,
                                  size_t *count) {
  return listNodes(graph, nodes, count, true);
}

CUresult calls::graphNodeGetType(CUgraphNode handle, CUgraphNodeType *type) {
  Driver &driver = *theDriver();
  const Guard guard(driver.lock);
  const auto node = driver.registry.find<Node>(handle);
  if (!node || !type)
    return CUDA_ERROR_INVALID_VALUE;
  *type = node->type;
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Launching them
//===----------------------------------------------------------------------===//

/// Appends the graph's nodes as steps, each after those that it follows, its
/// roots after `after`. False if the nodes wait for each other in a circle.
static bool addSteps(const Graph &graph, const std::vector<size_t> &after,
                     std::vector<Step> &steps) {
  std::map<const Node *, size_t> left; ///< How many each still waits for.
  std::map<const Node *, std::vector<const Node *>> followers;
  std::vector<const Node *> ready;
  for (const auto &node : graph.nodes) {
    left[node.get()] = node->after.size();
    for (const auto &each : node->after)
      followers[each.get()].push_back(node.get());
    if (node->after.empty())
      ready.push_back(node.get());
  }
  std::map<const Node *, size_t> stepOf;
  for (size_t next = 0; next < ready.size(); ++next) {
    const Node &node = *ready[next];
    std::vector<size_t> follows =
        node.after.empty() ? after : std::vector<size_t>();
    for (const auto &each : node.after)
      follows.push_back(stepOf.at(each.get()));
    if (node.child) {
      const size_t first = steps.size();
      if (!addSteps(*node.child, follows, steps))
        return false;
      for (size_t i = first; i < steps.size(); ++i)
        follows.push_back(i);
    }
    stepOf[&node] = steps.size();
    steps.push_back({node.type, node.number, node.work, std::move(follows)});
    for (const Node *each : followers[&node])
      if (--left[each] == 0)
        ready.push_back(each);
  }
  return ready.size() == graph.nodes.size();
}

CUresult calls::graphInstantiateWithFlags(CUgraphExec *made, CUgraph handle,
                                          unsigned long long) {
  Driver &driver = *theDriver();
  const Guard guard(driver.lock);
  const auto graph = driver.registry.find<Graph>(handle);
  if (!made || !graph)
    return CUDA_ERROR_INVALID_VALUE;
  std::vector<Step> steps;
  if (!addSteps(*graph, {}, steps))
    return because(CUDA_ERROR_INVALID_VALUE, "nodes in a circle");
  auto exec = driver.registry.make<GraphExec>();
  exec->steps = std::move(steps);
  *made = handleOf<CUgraphExec>(*exec);
  return CUDA_SUCCESS;
}

CUresult calls::graphInstantiate(CUgraphExec *exec, CUgraph graph,
                                 CUgraphNode *errorNode, char *log,
                                 size_t bytes) {
  if (errorNode)
    *errorNode = nullptr;
  if (log && bytes > 0)
    log[0] = 0;
  return graphInstantiateWithFlags(exec, graph, 0);
}

CUresult
calls::graphInstantiateWithParams(CUgraphExec *exec, CUgraph graph,
                                  CUDA_GRAPH_INSTANTIATE_PARAMS *params) {
  if (!params)
    return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = graphInstantiateWithFlags(exec, graph, params->flags);
  params->hErrNode_out = nullptr;
  params->result_out = result == CUDA_SUCCESS
                           ? CUDA_GRAPH_INSTANTIATE_SUCCESS
                           : CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
  return result;
}

static std::shared_ptr<GraphExec> find(Driver &driver, CUgraphExec handle) {
  return driver.registry.find<GraphExec>(handle);
}

CUresult calls::graphUpload(CUgraphExec handle, CUstream stream) {
  Driver &driver = *theDriver();
  const Guard guard(driver.lock);
  return find(driver, handle) && streamOf(driver, stream)
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_VALUE;
}

/// A graph launched into a capture is nodes of the other graph.
static void capture(Driver &driver, const GraphExec &exec, Stream &stream) {
  std::vector<std::shared_ptr<Node>> nodes;
  for (const Step &step : exec.steps) {
    auto node = driver.registry.make<Node>();
    node->type = step.type;
    node->graph = stream.capture->graph;
    node->work = step.work;
    node->after = step.after.empty() ? stream.captureAfter
                                     : std::vector<std::shared_ptr<Node>>();
    for (size_t each : step.after)
      node->after.push_back(nodes[each]);
    nodes.push_back(node);
    stream.capture->graph->nodes.push_back(node);
  }
  if (!nodes.empty())
    stream.captureAfter = std::move(nodes);
}

CUresult calls::graphLaunch(CUgraphExec handle, CUstream streamHandle) {
  Driver &driver = *theDriver();
  {
    const Guard guard(driver.lock);
    const auto exec = find(driver, handle);
    const std::shared_ptr<Stream> stream = streamOf(driver, streamHandle);
    if (!exec || !stream)
      return CUDA_ERROR_INVALID_HANDLE;
    if (stream->capture) {
      capture(driver, *exec, *stream);
      return CUDA_SUCCESS;
    }
    std::vector<OpId> first = followed(*stream);
    first.push_back(exec->last);
    std::vector<OpId> operations;
    for (const Step &step : exec->steps) {
      std::vector<OpId> after =
          step.after.empty() ? first : std::vector<OpId>();
      for (size_t each : step.after)
        after.push_back(operations[each]);
      operations.push_back(
          driver.queue.submit(stream->context->failure, step.work, after));
    }
    exec->last = operations.empty() ? exec->last : operations.back();
    // What comes next in the stream follows all.
    stream->alsoAfter.insert(stream->alsoAfter.end(), operations.begin(),
                             operations.end());
  }
  OpId id = 0;
  const CUresult result =
      enqueue(driver, streamHandle, CU_GRAPH_NODE_TYPE_EMPTY, {}, &id);
  const Guard guard(driver.lock);
  if (const auto exec = find(driver, handle))
    exec->last = id;
  return result;
}

CUresult calls::graphExecDestroy(CUgraphExec handle) {
  Driver &driver = *theDriver();
  const Guard guard(driver.lock);
  const auto exec = find(driver, handle);
  if (!exec)
    return CUDA_ERROR_INVALID_HANDLE;
  driver.registry.remove(*exec);
  return CUDA_SUCCESS;
}

CUresult calls::graphExecUpdate(CUgraphExec handle, CUgraph graphHandle,
                                CUgraphExecUpdateResultInfo *info) {
  Driver &driver = *theDriver();
  const Guard guard(driver.lock);
  const auto exec = find(driver, handle);
  const auto graph = driver.registry.find<Graph>(graphHandle);
  if (!exec || !graph)
    return CUDA_ERROR_INVALID_VALUE;
  std::vector<Step> steps;
  CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
  if (!addSteps(*graph, {}, steps) || steps.size() != exec->steps.size())
    result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  for (size_t i = 0; result == CU_GRAPH_EXEC_UPDATE_SUCCESS && i < steps.size();
       ++i) {
    if (steps[i].after != exec->steps[i].after)
      result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    else if (steps[i].type != exec->steps[i].type)
      result = CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
  }
  if (info)
    *info = {result, nullptr, nullptr};
  if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
    return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  // Nodes keep the numbers of the graph that it was made from.
  for (size_t i = 0; i < steps.size(); ++i)
    exec->steps[i].work = std::move(steps[i].work);
  return CUDA_SUCCESS;
}

CUresult
calls::graphExecKernelNodeSetParams(CUgraphExec handle, CUgraphNode node,
                                    const CUDA_KERNEL_NODE_PARAMS *params) {
  Work work;
  if (const CUresult result = prepareKernel(params, work))
    return result;
  Driver &driver = *theDriver();
  const Guard guard(driver.lock);
  const auto exec = find(driver, handle);
  if (!exec)
    return CUDA_ERROR_INVALID_VALUE;
  for (Step &step : exec->steps)
    if (step.node == reinterpret_cast<uintptr_t>(node) &&
        step.type == CU_GRAPH_NODE_TYPE_KERNEL) {
      step.work = std::move(work);
      return CUDA_SUCCESS;
    }
  return because(CUDA_ERROR_INVALID_VALUE, "no kernel of this graph");
}
