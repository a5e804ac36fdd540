//===- StreamCalls.cpp - Streams and events -------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Driver/Driver.h"

#include <algorithm>

using namespace kvc::driver;

using Guard = std::lock_guard<std::mutex>;

static constexpr int kGreatestPriority = -5;

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

CUresult calls::streamCreateWithPriority(CUstream *made, unsigned int flags,
                                         int priority) {
  if (!made || flags > CU_STREAM_NON_BLOCKING)
    return CUDA_ERROR_INVALID_VALUE;
  Driver &driver = *theDriver();
  const Guard guard(driver.lock);
  auto stream = driver.registry.make<Stream>();
  stream->context = heldContext().get();
  stream->flags = flags;
  stream->isBlocking = flags != CU_STREAM_NON_BLOCKING;
  stream->priority = std::clamp(priority, kGreatestPriority, 0);
  heldContext()->streams.push_back(stream);
  *made = handleOf<CUstream>(*stream);
  return CUDA_SUCCESS;
}

CUresult calls::streamCreate(CUstream *stream, unsigned int flags) {
  return streamCreateWithPriority(stream, flags, 0);
}

CUresult calls::streamDestroy(CUstream handle) {
  Driver &driver = *theDriver();
  const Guard guard(driver.lock);
  const auto stream = driver.registry.find<Stream>(handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capture)
    stream->capture->isInvalid = true;
  // What it has to do is done, and the legacy stream follows it still.
  driver.queue.release(stream->last);
  if (stream->isBlocking)
    stream->context->legacy->alsoAfter.push_back(stream->last);
  std::erase(stream->context->streams, stream);
  driver.registry.remove(*stream);
  return CUDA_SUCCESS;
}

/// What waiting for a stream waits for.
static CUresult workOf(Driver &driver, CUstream handle,
                       std::vector<OpId> &operations) {
  const Guard guard(driver.lock);
  const std::shared_ptr<Stream> stream = streamOf(driver, handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  if (const CUresult result = checkCapture(driver, stream.get()))
    return result;
  operations =
      stream->isLegacy ? followed(*stream) : std::vector<OpId>{stream->last};
  return CUDA_SUCCESS;
}

CUresult calls::streamQuery(CUstream stream) {
  Driver &driver = *theDriver();
  std::vector<OpId> operations;
  if (const CUresult result = workOf(driver, stream, operations))
    return result;
  bool isDone = true;
  for (OpId id : operations) {
    isDone &= driver.queue.isDone(id);
    driver.queue.release(id);
  }
  return isDone ? heldContext()->failure->result.load() : CUDA_ERROR_NOT_READY;
}

CUresult calls::streamSynchronize(CUstream stream) {
  Driver &driver = *theDriver();
  std::vector<OpId> operations;
  if (const CUresult result = workOf(driver, stream, operations))
    return result;
  for (OpId id : operations)
    driver.queue.wait(id);
  return heldContext()->failure->result.load();
}

template <typename T, typename F>
static CUresult tell(CUstream handle, T *value, F of) {
  Driver &driver = *theDriver();
  const Guard guard(driver.lock);
  const std::shared_ptr<Stream> stream = streamOf(driver, handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!value)
    return CUDA_ERROR_INVALID_VALUE;
  *value = of(*stream);
  return CUDA_SUCCESS;
}

CUresult calls::streamGetPriority(CUstream stream, int *priority) {
  return tell(stream, priority, [](const Stream &of) { return of.priority; });
}
CUresult calls::streamGetFlags(CUstream stream, unsigned int *flags) {
  return tell(stream, flags, [](const Stream &of) { return of.flags; });
}
CUresult calls::streamGetCtx(CUstream stream, CUcontext *context) {
  return tell(stream, context, [](const Stream &of) {
    return handleOf<CUcontext>(*of.context);
  });
}
CUresult calls::streamGetId(CUstream stream, unsigned long long *id) {
  return tell(stream, id, [](const Stream &of) { return of.number; });
}
CUresult calls::streamGetDevice(CUstream stream, CUdevice *device) {
  return tell(stream, device, [](const Stream &) { return 0; });
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

static std::shared_ptr<Event> find(Driver &driver, CUevent handle) {
  return driver.registry.find<Event>(handle);
}

CUresult calls::eventCreate(CUevent *made, unsigned int flags) {
  constexpr unsigned known =
      CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
  if (!made || (flags & ~known) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (flags & CU_EVENT_INTERPROCESS)
    return refuse("cuEventCreate of an event for other processes");
  Driver &driver = *theDriver();
  const Guard guard(driver.lock);
  auto event = driver.registry.make<Event>();
  event->flags = flags;
  *made = handleOf<CUevent>(*event);
  return CUDA_SUCCESS;
}

CUresult calls::eventDestroy(CUevent handle) {
  Driver &driver = *theDriver();
  const Guard guard(driver.lock);
  const std::shared_ptr<Event> event = find(driver, handle);
  if (!event)
    return CUDA_ERROR_INVALID_HANDLE;
  driver.registry.remove(*event);
  return CUDA_SUCCESS;
}

CUresult calls::eventRecord(CUevent handle, CUstream streamHandle) {
  Driver &driver = *theDriver();
  std::shared_ptr<Event> event;
  {
    const Guard guard(driver.lock);
    event = find(driver, handle);
    const std::shared_ptr<Stream> stream = streamOf(driver, streamHandle);
    if (!event || !stream)
      return CUDA_ERROR_INVALID_HANDLE;
    event->capture = stream->capture;
    event->captureAfter = stream->captureAfter;
    if (stream->capture) {
      event->record.reset();
      return CUDA_SUCCESS;
    }
  }
  auto record = std::make_shared<Record>();
  Work work;
  work.run = [record] {
    record->time = std::chrono::steady_clock::now();
    return CUDA_SUCCESS;
  };
  OpId id = 0;
  const CUresult result = enqueue(
      driver, streamHandle, CU_GRAPH_NODE_TYPE_EMPTY, std::move(work), &id);
  const Guard guard(driver.lock);
  event->record = record;
  event->operation = id;
  return result;
}

CUresult calls::eventRecordWithFlags(CUevent event, CUstream stream,
                                     unsigned int flags) {
  if (flags != 0)
    return refuse("cuEventRecordWithFlags with flags");
  return eventRecord(event, stream);
}

/// Of an event that no capture has.
static CUresult operationOf(Driver &driver, CUevent handle, OpId &id) {
  const Guard guard(driver.lock);
  const std::shared_ptr<Event> event = find(driver, handle);
  if (!event)
    return CUDA_ERROR_INVALID_HANDLE;
  if (event->capture) {
    event->capture->isInvalid = true;
    return CUDA_ERROR_CAPTURED_EVENT;
  }
  id = event->operation;
  return CUDA_SUCCESS;
}

CUresult calls::eventQuery(CUevent event) {
  Driver &driver = *theDriver();
  OpId id = 0;
  if (const CUresult result = operationOf(driver, event, id))
    return result;
  const bool isDone = driver.queue.isDone(id);
  driver.queue.release(id);
  return isDone ? heldContext()->failure->result.load() : CUDA_ERROR_NOT_READY;
}

CUresult calls::eventSynchronize(CUevent event) {
  Driver &driver = *theDriver();
  OpId id = 0;
  if (const CUresult result = operationOf(driver, event, id))
    return result;
  return waitFor(driver, *heldContext(), id);
}

CUresult calls::eventElapsedTime(float *milliseconds, CUevent beginHandle,
                                 CUevent endHandle) {
  Driver &driver = *theDriver();
  if (!milliseconds)
    return CUDA_ERROR_INVALID_VALUE;
  const Guard guard(driver.lock);
  const std::shared_ptr<Event> begin = find(driver, beginHandle);
  const std::shared_ptr<Event> end = find(driver, endHandle);
  for (const auto &event : {begin, end})
    if (!event || !event->record || (event->flags & CU_EVENT_DISABLE_TIMING))
      return CUDA_ERROR_INVALID_HANDLE;
  for (const auto &event : {begin, end})
    if (!driver.queue.isDone(event->operation))
      return CUDA_ERROR_NOT_READY;
  const std::chrono::duration<float, std::milli> time =
      end->record->time - begin->record->time;
  *milliseconds = time.count();
  return CUDA_SUCCESS;
}

/// Within captures: the stream joins, or goes on after the event too.
static CUresult waitInCapture(Stream &stream, std::shared_ptr<Stream> self,
                              const Event &event) {
  if (!event.capture) {
    stream.capture->isInvalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  }
  if (stream.capture && stream.capture != event.capture)
    return CUDA_ERROR_STREAM_CAPTURE_MERGE;
  if (event.capture->isInvalid)
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (!stream.capture) {
    if (stream.isLegacy)
      return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    stream.capture = event.capture;
    stream.captureAfter.clear();
    event.capture->joined.push_back(std::move(self));
  }
  for (const auto &node : event.captureAfter)
    if (std::find(stream.captureAfter.begin(), stream.captureAfter.end(),
                  node) == stream.captureAfter.end())
      stream.captureAfter.push_back(node);
  return CUDA_SUCCESS;
}

CUresult calls::streamWaitEvent(CUstream handle, CUevent eventHandle,
                                unsigned int flags) {
  Driver &driver = *theDriver();
  if (flags != 0)
    return refuse("cuStreamWaitEvent with flags");
  {
    const Guard guard(driver.lock);
    const std::shared_ptr<Stream> stream = streamOf(driver, handle);
    const std::shared_ptr<Event> event = find(driver, eventHandle);
    if (!stream || !event)
      return CUDA_ERROR_INVALID_HANDLE;
    if (event->capture && !event->capture->graph)
      return because(CUDA_ERROR_CAPTURED_EVENT, "its capture has ended");
    if (stream->capture || event->capture)
      return waitInCapture(*stream, stream, *event);
    stream->alsoAfter.push_back(event->operation);
  }
  return enqueue(driver, handle, CU_GRAPH_NODE_TYPE_EMPTY, {});
}
