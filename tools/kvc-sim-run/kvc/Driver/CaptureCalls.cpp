//===- CaptureCalls.cpp - Graphs from streams -----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Driver/Driver.h"

#include <algorithm>
#include <set>

using namespace kvc::driver;

using Guard = std::lock_guard<std::mutex>;

CUresult calls::streamBeginCapture(CUstream stream) {
  return streamBeginCaptureInMode(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUresult calls::streamBeginCaptureInMode(CUstream handle,
                                         CUstreamCaptureMode mode) {
  Driver &driver = *theDriver();
  const Guard guard(driver.lock);
  const std::shared_ptr<Stream> stream = streamOf(driver, handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  if (stream->isLegacy)
    return because(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the legacy stream");
  if (stream->capture)
    return because(CUDA_ERROR_ILLEGAL_STATE, "the stream captures already");
  auto capture = std::make_shared<Capture>();
  capture->graph = std::make_shared<Graph>();
  capture->origin = stream.get();
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->number = ++driver.captures;
  capture->joined = {stream};
  stream->capture = capture;
  stream->captureAfter.clear();
  driver.activeCaptures.push_back(capture);
  return CUDA_SUCCESS;
}

/// Whether the origin follows all that other streams recorded.
static bool isJoined(const Capture &capture) {
  std::set<const Node *> before;
  std::vector<const Node *> left;
  for (const auto &node : capture.origin->captureAfter)
    left.push_back(node.get());
  while (!left.empty()) {
    const Node *node = left.back();
    left.pop_back();
    if (!before.insert(node).second)
      continue;
    for (const auto &each : node->after)
      left.push_back(each.get());
  }
  for (const auto &stream : capture.joined)
    for (const auto &node : stream->captureAfter)
      if (!before.contains(node.get()))
        return false;
  return true;
}

CUresult calls::streamEndCapture(CUstream handle, CUgraph *graph) {
  Driver &driver = *theDriver();
  if (!graph)
    return CUDA_ERROR_INVALID_VALUE;
  *graph = nullptr;
  const Guard guard(driver.lock);
  const std::shared_ptr<Stream> stream = streamOf(driver, handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  const std::shared_ptr<Capture> capture = stream->capture;
  if (!capture)
    return because(CUDA_ERROR_ILLEGAL_STATE, "the stream does not capture");
  if (capture->origin != stream.get())
    return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
      capture->thread != std::this_thread::get_id())
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  const CUresult result =
      capture->isInvalid   ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
      : isJoined(*capture) ? CUDA_SUCCESS
                           : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  const std::shared_ptr<Graph> made = std::move(capture->graph);
  for (const auto &each : capture->joined) {
    each->capture.reset();
    each->captureAfter.clear();
  }
  capture->joined.clear();
  std::erase(driver.activeCaptures, capture);
  if (result != CUDA_SUCCESS) {
    for (const auto &node : made->nodes)
      driver.registry.remove(*node);
    return result;
  }
  *graph = handleOf<CUgraph>(*driver.registry.add(made));
  return CUDA_SUCCESS;
}

CUresult calls::streamIsCapturing(CUstream stream,
                                  CUstreamCaptureStatus *status) {
  return streamGetCaptureInfo(stream, status, nullptr);
}

CUresult calls::streamGetCaptureInfo(CUstream handle,
                                     CUstreamCaptureStatus *status,
                                     cuuint64_t *id) {
  Driver &driver = *theDriver();
  const Guard guard(driver.lock);
  const std::shared_ptr<Stream> stream = streamOf(driver, handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!status)
    return CUDA_ERROR_INVALID_VALUE;
  *status = !stream->capture             ? CU_STREAM_CAPTURE_STATUS_NONE
            : stream->capture->isInvalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                         : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  if (id && stream->capture)
    *id = stream->capture->number;
  return CUDA_SUCCESS;
}

CUresult calls::streamGetCaptureGraph(CUstream stream,
                                      CUstreamCaptureStatus *status,
                                      cuuint64_t *id, CUgraph *graph,
                                      const CUgraphNode **nodes,
                                      size_t *count) {
  if (graph || nodes || count)
    return refuse("cuStreamGetCaptureInfo of the graph of a capture");
  return streamGetCaptureInfo(stream, status, id);
}

CUresult calls::streamGetCaptureEdges(CUstream stream,
                                      CUstreamCaptureStatus *status,
                                      cuuint64_t *id, CUgraph *graph,
                                      const CUgraphNode **nodes,
                                      const CUgraphEdgeData **edges,
                                      size_t *count) {
  if (edges)
    return refuse("cuStreamGetCaptureInfo of the edges of a capture");
  return streamGetCaptureGraph(stream, status, id, graph, nodes, count);
}

CUresult calls::threadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
  static thread_local CUstreamCaptureMode ofThread =
      CU_STREAM_CAPTURE_MODE_GLOBAL;
  if (!mode)
    return CUDA_ERROR_INVALID_VALUE;
  std::swap(*mode, ofThread);
  return CUDA_SUCCESS;
}
