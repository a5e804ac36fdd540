//===- Clocks.cpp - What threads know of each other -----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Check/Clocks.h"

#include <algorithm>
#include <bit>

using namespace kvc::sim;

static void join(std::map<uint32_t, Time> &to,
                 const std::map<uint32_t, Time> &from) {
  for (const auto &[thread, time] : from) {
    Time &mine = to[thread];
    mine = std::max(mine, time);
  }
}

void BlockKnowledge::join(const BlockKnowledge &other) {
  floor = std::max(floor, other.floor);
  ::join(threads, other.threads);
  ::join(copies, other.copies);
}

Time BlockKnowledge::of(uint32_t thread) const {
  const auto found = threads.find(thread);
  return found == threads.end() ? floor : std::max(floor, found->second);
}

bool BlockKnowledge::covers(const BlockKnowledge &other) const {
  return floor >= other.floor &&
         std::all_of(other.threads.begin(), other.threads.end(),
                     [&](const auto &entry) {
                       return entry.second <= of(entry.first);
                     }) &&
         std::all_of(
             other.copies.begin(), other.copies.end(), [&](const auto &entry) {
               const auto found = copies.find(entry.first);
               return found != copies.end() && entry.second <= found->second;
             });
}

void kvc::sim::join(GridKnowledge &to, const GridKnowledge &from) {
  for (const auto &[block, knowledge] : from)
    to[block].join(knowledge);
}

static void join(ThreadTimes &to, const ThreadTimes &from) {
  if (to.size() < from.size())
    to.resize(from.size(), 0);
  for (size_t i = 0; i < from.size(); ++i)
    to[i] = std::max(to[i], from[i]);
}

static void join(Fences &to, const Fences &from) {
  for (const auto &[thread, fence] : from) {
    FencePointer &mine = to[thread];
    if (!mine || mine->time < fence->time)
      mine = fence;
  }
}

void FencesByScope::join(const FencesByScope &other) {
  ::join(here, other.here);
  ::join(wide, other.wide);
}

void FenceHalves::join(const FenceHalves &other) {
  fenced.join(other.fenced);
  heard.join(other.heard);
}

template <typename T>
static T &made(std::unique_ptr<T> &pointer) {
  if (!pointer)
    pointer = std::make_unique<T>();
  return *pointer;
}

void Message::join(const Message &other) {
  ::join(times, other.times);
  kvc::sim::join(grid, other.grid);
  fenced.join(other.fenced);
  halves.join(other.halves);
  ::join(proxied, other.proxied);
}

BlockClocks::BlockClocks(uint64_t block, uint32_t threads)
    : number(block), count(threads), warps(threads), states(threads) {}

Time BlockClocks::known(uint32_t thread, uint32_t other) const {
  Time result = floorTime;
  if (other >= count)
    result = copies.empty() ? 0 : copies[other - count];
  else if (thread / kLanes == other / kLanes)
    result = std::max(result, warps[thread][other % kLanes]);
  if (const auto &times = states[thread].times; times && other < times->size())
    result = std::max(result, (*times)[other]);
  return result;
}

uint32_t BlockClocks::timesKnown(uint32_t thread) const {
  const auto &times = states[thread].times;
  return !copies.empty() || (times && times->size() > count) ? 2 * count
                                                             : count;
}

bool BlockClocks::knows(uint32_t thread, uint32_t other, Time at) const {
  return thread == other || at <= known(thread, other);
}

bool BlockClocks::knows(uint32_t thread, uint64_t block, uint32_t other,
                        Time at) const {
  for (const GridKnowledge *knowledge : {&grid, &states[thread].grid}) {
    const auto found = knowledge->find(block);
    if (found != knowledge->end() && at <= found->second.of(other))
      return true;
  }
  return false;
}

void BlockClocks::syncWarp(uint32_t warp, LaneMask members) {
  const uint32_t first = warp * kLanes;
  std::array<Time, kLanes> joined{};
  ThreadTimes times;
  GridKnowledge heard;
  FenceHalves shared;
  ThreadTimes seen;
  for (LaneMask rest = members; rest != 0; rest &= rest - 1) {
    const uint32_t thread = first + uint32_t(std::countr_zero(rest));
    if (thread >= count)
      continue;
    for (size_t lane = 0; lane < kLanes; ++lane)
      joined[lane] = std::max(joined[lane], warps[thread][lane]);
    joined[thread % kLanes] = time;
    if (states[thread].times)
      ::join(times, *states[thread].times);
    kvc::sim::join(heard, states[thread].grid);
    if (states[thread].halves)
      shared.join(*states[thread].halves);
    ::join(seen, states[thread].proxied);
  }
  for (LaneMask rest = members; rest != 0; rest &= rest - 1) {
    const uint32_t thread = first + uint32_t(std::countr_zero(rest));
    if (thread >= count)
      continue;
    warps[thread] = joined;
    if (!times.empty())
      states[thread].times = std::make_unique<ThreadTimes>(times);
    if (!heard.empty())
      states[thread].grid = heard;
    if (!shared.isEmpty())
      made(states[thread].halves) = shared;
    states[thread].proxied = seen;
  }
  ++time;
}

void BlockClocks::syncBlock() {
  floorTime = time++;
  for (Thread &state : states) {
    kvc::sim::join(grid, state.grid);
    state.grid.clear();
    if (state.times && state.times->size() > count)
      ::join(copies, {state.times->begin() + count, state.times->end()});
    state.times.reset();
    if (state.halves)
      halves.join(*state.halves);
    state.halves.reset();
    ::join(proxied, state.proxied);
    state.proxied.clear();
  }
  shareFences();
  // What all know by now is no longer half told.
  for (Fences *heard : {&halves.heard.here, &halves.heard.wide})
    std::erase_if(*heard, [&](const auto &entry) {
      return std::all_of(entry.second->grid.begin(), entry.second->grid.end(),
                         [&](const auto &told) {
                           if (told.first == number)
                             return true;
                           const auto known = grid.find(told.first);
                           return known != grid.end() &&
                                  known->second.covers(told.second);
                         });
    });
}

/// Makes one of what the block's threads knew at their fences: any of them may
/// tell it to many.
void BlockClocks::shareFences() {
  for (Fences *fences : {&halves.fenced.here, &halves.fenced.wide}) {
    if (fences->size() < 2)
      continue;
    auto all = std::make_shared<FenceKnowledge>();
    all->time = floorTime;
    for (const auto &entry : *fences)
      kvc::sim::join(all->grid, entry.second->grid);
    *fences = {{{number, count}, std::move(all)}};
  }
}

/// Of each thread of the block, with `own` for the thread itself.
ThreadTimes BlockClocks::timesOf(uint32_t thread, Time own) const {
  ThreadTimes times(timesKnown(thread));
  for (uint32_t other = 0; other < times.size(); ++other)
    times[other] = known(thread, other);
  times[thread] = own;
  return times;
}

/// The same for threads of other blocks.
GridKnowledge BlockClocks::gridOf(uint32_t thread, Time own) const {
  GridKnowledge all = grid;
  kvc::sim::join(all, states[thread].grid);
  BlockKnowledge &here = all[number];
  here.floor = floorTime;
  if (states[thread].times) {
    for (uint32_t other = 0; other < count; ++other)
      if (known(thread, other) > floorTime)
        here.threads[other] = known(thread, other);
  } else {
    const uint32_t first = thread / kLanes * kLanes;
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      if (warps[thread][lane] > floorTime)
        here.threads[first + lane] = warps[thread][lane];
  }
  here.threads[thread] = own;
  for (uint32_t other = count; other < timesKnown(thread); ++other)
    if (known(thread, other) > 0)
      here.copies[other - count] = known(thread, other);
  return all;
}

FencesByScope BlockClocks::fencesOf(uint32_t thread, bool isWide) const {
  FencesByScope fences = halves.fenced;
  if (const auto &mine = states[thread].halves)
    fences.join(mine->fenced);
  if (!isWide)
    fences.wide.clear();
  return fences;
}

Message BlockClocks::release(uint32_t thread) {
  Message message;
  message.times = timesOf(thread, time);
  message.grid = gridOf(thread, time);
  if (states[thread].halves)
    message.halves = *states[thread].halves;
  message.proxied = states[thread].proxied;
  ++time;
  return message;
}

Time BlockClocks::arrive(uint32_t thread, Message &message) {
  if (message.times.size() < size_t(2) * count)
    message.times.resize(size_t(2) * count, 0);
  message.times[count + thread] = time;
  return time++;
}

void BlockClocks::acquire(uint32_t thread, const Message &message) {
  if (message.isEmpty())
    return;
  heardAny = true;
  Thread &state = states[thread];
  auto timesFor = [&](size_t size) -> ThreadTimes & {
    if (!state.times)
      state.times = std::make_unique<ThreadTimes>(count, 0);
    if (state.times->size() < size)
      state.times->resize(size, 0);
    return *state.times;
  };
  if (!message.times.empty())
    ::join(timesFor(count), message.times);
  kvc::sim::join(state.grid, message.grid);
  if (!message.halves.isEmpty())
    made(state.halves).join(message.halves);
  hearFenced(thread, message);
  ::join(state.proxied, message.proxied);
  // What others tell of this block belongs to the times of its threads.
  const auto own = state.grid.find(number);
  if (own == state.grid.end())
    return;
  const BlockKnowledge &told = own->second;
  ThreadTimes &times = timesFor(told.copies.empty() ? count : 2 * count);
  for (uint32_t other = 0; other < count; ++other)
    times[other] = std::max(times[other], told.of(other));
  for (const auto &[other, at] : told.copies)
    times[count + other] = std::max(times[count + other], at);
  state.grid.erase(own);
}

void BlockClocks::fence(uint32_t thread, const FenceKind &kind) {
  Thread &state = states[thread];
  Message heard;
  // Fences of the block alone order nothing with others.
  auto takeHere = [&](const GridKnowledge &from) {
    if (const auto here = from.find(number); here != from.end())
      heard.grid[number].join(here->second);
  };
  auto takeShared = [&](const FencesByScope &from) {
    for (const auto &entry : from.here)
      takeHere(entry.second->grid);
    for (const auto &entry : from.wide)
      kind.isWide ? kvc::sim::join(heard.grid, entry.second->grid)
                  : takeHere(entry.second->grid);
  };
  if (kind.acquires && state.own) {
    GridKnowledge &own = state.own->heard;
    if (kind.isWide) {
      kvc::sim::join(heard.grid, own);
      own.clear();
    } else {
      takeHere(own);
      own.erase(number);
    }
  }
  if (kind.isSequential) {
    takeShared(halves.heard);
    if (state.halves) {
      takeShared(state.halves->heard);
      if (kind.isWide)
        state.halves->heard = {};
    }
  }
  acquire(thread, heard);
  if (!kind.releases)
    return;
  auto now = std::make_shared<FenceKnowledge>();
  now->time = time;
  // What was known at an earlier fence is known at this one.
  now->grid = gridOf(thread, time++);
  made(state.own).here = now;
  if (kind.isWide)
    state.own->wide = now;
  if (!kind.isSequential)
    return;
  FencesByScope &fenced = made(state.halves).fenced;
  fenced.here[{number, thread}] = now;
  if (kind.isWide)
    fenced.wide[{number, thread}] = std::move(now);
}

Message BlockClocks::relaxedRelease(uint32_t thread, bool isWide) const {
  Message message;
  message.fenced = fencesOf(thread, isWide);
  message.proxied = states[thread].proxied;
  const auto &own = states[thread].own;
  if (!own || !own->here)
    return message;
  const BlockKnowledge &here = own->here->grid.at(number);
  message.times.resize(here.copies.empty() ? count : 2 * count);
  for (uint32_t other = 0; other < count; ++other)
    message.times[other] = here.of(other);
  for (const auto &[other, at] : here.copies)
    message.times[count + other] = at;
  if (isWide && own->wide)
    message.grid = own->wide->grid;
  return message;
}

void BlockClocks::relaxedAcquire(uint32_t thread, const Message &message) {
  if (message.isEmpty())
    return;
  hearFenced(thread, message);
  ::join(states[thread].proxied, message.proxied);
  if (message.times.empty() && message.grid.empty())
    return;
  GridKnowledge &heard = made(states[thread].own).heard;
  kvc::sim::join(heard, message.grid);
  if (message.times.empty())
    return;
  BlockKnowledge &here = heard[number];
  for (uint32_t other = 0; other < count; ++other)
    if (message.times[other] > std::max(floorTime, here.of(other)))
      here.threads[other] = message.times[other];
  for (uint32_t other = count; other < message.times.size(); ++other)
    if (message.times[other] > 0)
      here.copies[other - count] =
          std::max(here.copies[other - count], message.times[other]);
}

/// Waits for a fence.sc, of this thread or of one behind a barrier.
void BlockClocks::hearFenced(uint32_t thread, const Message &message) {
  if (!message.fenced.isEmpty())
    made(states[thread].halves).heard.join(message.fenced);
}

void BlockClocks::fenceProxy(uint32_t thread) {
  ::join(states[thread].proxied, timesOf(thread, time++));
}

bool BlockClocks::isProxied(uint32_t thread, uint32_t other, Time at) const {
  const ThreadTimes &mine = states[thread].proxied;
  return (other < proxied.size() && at <= proxied[other]) ||
         (other < mine.size() && at <= mine[other]);
}
