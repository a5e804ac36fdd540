//===- Queue.cpp - Operations of a device, and when they run --------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Driver/Queue.h"

#include <algorithm>

using namespace kvc::driver;

OpId Queue::submit(std::shared_ptr<Failure> failure, Work work,
                   const std::vector<OpId> &after) {
  const Lock lock(mutex);
  if (stopping)
    return 0;
  const OpId id = next++;
  Operation operation{std::move(failure),
                      std::move(work),
                      {},
                      std::chrono::steady_clock::now()};
  for (OpId each : after)
    if (pending.contains(each))
      operation.after.push_back(each);
  const bool isEager = operation.work.isEager;
  pending.emplace(id, std::move(operation));
  held.insert(id);
  if (isEager)
    releaseLocked(id);
  if (!thread.joinable())
    thread = std::thread([this] { loop(); });
  changed.notify_one();
  return id;
}

bool Queue::isDone(OpId id) {
  const Lock lock(mutex);
  return !pending.contains(id);
}

void Queue::release(OpId id) {
  const Lock lock(mutex);
  releaseLocked(id);
}

void Queue::releaseLocked(OpId id) {
  std::vector<OpId> left{id};
  while (!left.empty()) {
    const OpId at = left.back();
    left.pop_back();
    if (held.erase(at) == 0)
      continue;
    released.insert(at);
    const std::vector<OpId> &after = pending.at(at).after;
    left.insert(left.end(), after.begin(), after.end());
  }
  changed.notify_one();
}

void Queue::wait(OpId id) {
  Lock lock(mutex);
  waitLocked(lock, id);
}

void Queue::waitLocked(Lock &lock, OpId id) {
  releaseLocked(id);
  done.wait(lock, [&] { return stopping || !pending.contains(id); });
}

void Queue::waitAll(const Failure &failure) {
  Lock lock(mutex);
  std::vector<OpId> all;
  for (const auto &[id, operation] : pending)
    if (operation.failure.get() == &failure)
      all.push_back(id);
  for (OpId id : all)
    waitLocked(lock, id);
}

void Queue::throttle() {
  Lock lock(mutex);
  while (pending.size() > kMostPending && !stopping) {
    const size_t before = pending.size();
    if (!held.empty())
      releaseLocked(*held.begin());
    done.wait(lock, [&] { return stopping || pending.size() < before; });
  }
}

bool Queue::isWorker() const {
  return worker.load() == std::this_thread::get_id();
}

size_t Queue::stop() {
  size_t left = 0;
  {
    const Lock lock(mutex);
    stopping = true;
    left = held.size();
  }
  changed.notify_one();
  done.notify_all();
  if (isWorker())
    thread.detach();
  else if (thread.joinable())
    thread.join();
  return left;
}

std::optional<OpId> Queue::pick() {
  if (released.empty())
    return std::nullopt;
  // What the first one follows has a smaller number, was released before it,
  // and so is done.
  if (options.seed == 0)
    return *released.begin();
  constexpr size_t most = 64;
  std::vector<OpId> ready;
  for (OpId id : released) {
    const std::vector<OpId> &after = pending.at(id).after;
    if (std::none_of(after.begin(), after.end(),
                     [&](OpId each) { return pending.contains(each); }))
      ready.push_back(id);
    if (ready.size() == most)
      break;
  }
  return ready[random() % ready.size()];
}

void Queue::runOne(Lock &lock, OpId id) {
  released.erase(id);
  // Others add to the map meanwhile.
  Work work = std::move(pending.at(id).work);
  const std::shared_ptr<Failure> failure = pending.at(id).failure;
  lock.unlock();
  const CUresult before = failure->result.load();
  if (before != CUDA_SUCCESS) {
    if (work.onFailure)
      work.onFailure(before);
  } else if (work.run) {
    CUresult result = CUDA_SUCCESS;
    try {
      result = work.run();
    } catch (const std::bad_alloc &) {
      result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (result != CUDA_SUCCESS)
      failure->result.store(result);
  }
  work = {};
  lock.lock();
  pending.erase(id);
  done.notify_all();
}

void Queue::loop() {
  worker.store(std::this_thread::get_id());
  Lock lock(mutex);
  while (!stopping) {
    if (const std::optional<OpId> id = pick()) {
      runOne(lock, *id);
      continue;
    }
    if (held.empty() || !options.hold) {
      changed.wait(lock);
      continue;
    }
    const OpId oldest = *held.begin();
    const auto until = pending.at(oldest).since + *options.hold;
    if (changed.wait_until(lock, until) == std::cv_status::timeout &&
        held.contains(oldest))
      releaseLocked(oldest);
  }
}
