//===- Driver.cpp - The state behind the calls ----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Driver/Driver.h"

#include <pthread.h>

#include <algorithm>
#include <cstdlib>

using namespace kvc::driver;

using Guard = std::lock_guard<std::mutex>;

Driver::Driver(const Settings &settings)
    : settings(settings), device(this->settings),
      queue({settings.hold, settings.seed}) {
  pool = registry.make<MemoryPool>();
}

//===----------------------------------------------------------------------===//
// From cuInit to the end
//===----------------------------------------------------------------------===//

static std::atomic<Driver *> instance = nullptr;
static std::atomic<bool> isOver = false;

/// The operations that are left are not done: nothing waited for them.
static void endDriver() {
  // A child of the program may have none, or have begun again.
  Driver *driver = instance.load();
  if (!driver || isOver.exchange(true))
    return;
  const size_t left = driver->queue.stop();
  if (left > 0)
    say(std::to_string(left) +
        (left == 1 ? " operation was" : " operations were") +
        " never waited for and did not run");
  driver->device.reports.finish();
}

/// The child has neither the queue's thread nor locks in a known state.
static void forgetDriver() { instance = nullptr; }

Driver *kvc::driver::theDriver() {
  return isOver.load() ? nullptr : instance.load();
}

CUresult kvc::driver::startDriver() {
  static std::mutex &mutex = *new std::mutex;
  const Guard guard(mutex);
  if (isOver.load())
    return CUDA_ERROR_DEINITIALIZED;
  if (instance.load())
    return CUDA_SUCCESS;
  Settings settings;
  if (auto error = readSettings(
          settings, [](const char *name) { return std::getenv(name); })) {
    sayOnce(*error);
    return CUDA_ERROR_INVALID_VALUE;
  }
  // Never destroyed: other threads may be in a call when the program ends.
  instance = new Driver(settings);
  std::atexit(endDriver);
  pthread_atfork(nullptr, nullptr, forgetDriver);
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

std::vector<CUcontext> &kvc::driver::contextStack() {
  static thread_local std::vector<CUcontext> stack;
  return stack;
}

bool &kvc::driver::isPerThread() {
  static thread_local bool value = false;
  return value;
}

std::shared_ptr<Context> &kvc::driver::heldContext() {
  static thread_local std::shared_ptr<Context> context;
  return context;
}

std::shared_ptr<Context> kvc::driver::currentContext() {
  Driver *driver = theDriver();
  if (!driver || contextStack().empty())
    return nullptr;
  const Guard guard(driver->lock);
  return driver->registry.find<Context>(contextStack().back());
}

std::shared_ptr<Context> Driver::makeContext(unsigned flags) {
  auto context = registry.make<Context>();
  context->flags = flags;
  context->legacy = registry.make<Stream>();
  context->legacy->context = context.get();
  context->legacy->isLegacy = true;
  return context;
}

void Driver::unload(Module &module) {
  device.unload(module);
  const Guard guard(lock);
  for (const auto &[name, function] : module.functions)
    registry.remove(*function);
  registry.remove(module);
}

void Driver::destroyContext(const std::shared_ptr<Context> &context) {
  queue.waitAll(*context->failure);
  std::vector<std::weak_ptr<Module>> modules;
  {
    const Guard guard(lock);
    modules.swap(context->modules);
  }
  for (const auto &each : modules)
    if (const std::shared_ptr<Module> module = each.lock())
      unload(*module);
  {
    const Guard guard(lock);
    std::erase_if(activeCaptures, [&](const std::shared_ptr<Capture> &each) {
      if (each->origin->context != context.get())
        return false;
      for (const auto &stream : each->joined)
        stream->capture.reset();
      return true;
    });
    registry.remove(*context);
    registry.remove(*context->legacy);
    for (const auto &stream : context->streams)
      registry.remove(*stream);
    for (const auto &[thread, stream] : context->ofThreads)
      registry.remove(*stream);
  }
  device.freeAll(context.get());
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

std::shared_ptr<Stream> kvc::driver::streamOf(Driver &driver, CUstream handle) {
  const bool ofThread =
      handle == CU_STREAM_PER_THREAD || (handle == nullptr && isPerThread());
  if (handle != nullptr && handle != CU_STREAM_LEGACY && !ofThread)
    return driver.registry.find<Stream>(handle);
  const auto context =
      contextStack().empty()
          ? nullptr
          : driver.registry.find<Context>(contextStack().back());
  if (!context || !ofThread)
    return context ? context->legacy : nullptr;
  std::shared_ptr<Stream> &own = context->ofThreads[std::this_thread::get_id()];
  if (!own) {
    own = driver.registry.make<Stream>();
    own->context = context.get();
  }
  return own;
}

std::vector<OpId> kvc::driver::followed(const Stream &stream) {
  std::vector<OpId> after = stream.alsoAfter;
  after.push_back(stream.last);
  if (stream.isLegacy) {
    for (const auto &each : stream.context->streams)
      if (each->isBlocking)
        after.push_back(each->last);
    for (const auto &[thread, each] : stream.context->ofThreads)
      after.push_back(each->last);
  } else if (stream.isBlocking) {
    after.push_back(stream.context->legacy->last);
  }
  return after;
}

CUresult kvc::driver::enqueue(Driver &driver, CUstream handle,
                              CUgraphNodeType type, Work work, OpId *made) {
  OpId id = 0;
  std::shared_ptr<Context> context;
  {
    const Guard guard(driver.lock);
    const std::shared_ptr<Stream> stream = streamOf(driver, handle);
    if (!stream)
      return because(CUDA_ERROR_INVALID_HANDLE, "no such stream");
    if (stream->capture) {
      if (stream->capture->isInvalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
      auto node = driver.registry.make<Node>();
      node->type = type;
      node->graph = stream->capture->graph;
      node->work = std::move(work);
      node->after = stream->captureAfter;
      stream->capture->graph->nodes.push_back(node);
      stream->captureAfter = {node};
      return CUDA_SUCCESS;
    }
    if (stream->isLegacy && !driver.activeCaptures.empty()) {
      // It would wait for the blocking streams, one of which captures.
      for (const auto &capture : driver.activeCaptures)
        for (const auto &each : capture->joined)
          if (each->context == stream->context && each->isBlocking) {
            capture->isInvalid = true;
            return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
          }
    }
    context =
        driver.registry.find<Context>(handleOf<CUcontext>(*stream->context));
    id = driver.queue.submit(context->failure, std::move(work),
                             followed(*stream));
    stream->last = id;
    stream->alsoAfter.clear();
  }
  if (made)
    *made = id;
  if (driver.settings.hold && driver.settings.hold->count() == 0)
    return waitFor(driver, *context, id);
  driver.queue.throttle();
  return CUDA_SUCCESS;
}

CUresult kvc::driver::perform(Driver &driver, CUstream handle,
                              CUgraphNodeType type, Work work) {
  std::shared_ptr<Context> context;
  {
    const Guard guard(driver.lock);
    const std::shared_ptr<Stream> stream = streamOf(driver, handle);
    if (!stream)
      return because(CUDA_ERROR_INVALID_HANDLE, "no such stream");
    if (const CUresult result = checkCapture(driver, stream.get()))
      return result;
    context =
        driver.registry.find<Context>(handleOf<CUcontext>(*stream->context));
  }
  OpId id = 0;
  if (const CUresult result =
          enqueue(driver, handle, type, std::move(work), &id))
    return result;
  return waitFor(driver, *context, id);
}

CUresult kvc::driver::waitFor(Driver &driver, const Context &context, OpId id) {
  driver.queue.wait(id);
  return context.failure->result.load();
}

CUresult kvc::driver::checkCapture(Driver &driver, const Stream *stream) {
  if (stream && stream->capture) {
    stream->capture->isInvalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  for (const auto &capture : driver.activeCaptures) {
    const bool isForbidden =
        capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL ||
        (capture->mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL &&
         capture->thread == std::this_thread::get_id());
    if (!stream && isForbidden) {
      capture->isInvalid = true;
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
  }
  return CUDA_SUCCESS;
}
