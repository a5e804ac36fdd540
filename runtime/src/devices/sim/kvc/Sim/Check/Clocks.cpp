//===- Clocks.cpp - What threads know of each other -----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Check/Clocks.h"

#include <algorithm>
#include <bit>

using namespace kvc::sim;

void BlockKnowledge::join(const BlockKnowledge &other) {
  floor = std::max(floor, other.floor);
  for (const auto &[thread, time] : other.threads) {
    Time &mine = threads[thread];
    mine = std::max(mine, time);
  }
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

bool FenceHalves::isEmpty() const {
  return fenced.isEmpty() && fencedWide.empty() && heard.empty();
}

void FenceHalves::join(const FenceHalves &other) {
  fenced.join(other.fenced);
  kvc::sim::join(fencedWide, other.fencedWide);
  kvc::sim::join(heard, other.heard);
}

void Message::join(const Message &other) {
  ::join(times, other.times);
  kvc::sim::join(grid, other.grid);
  halves.join(other.halves);
}

BlockClocks::BlockClocks(uint64_t block, uint32_t threads)
    : number(block), count(threads), warps(threads), states(threads) {}

Time BlockClocks::known(uint32_t thread, uint32_t other) const {
  Time result = floorTime;
  if (other < count && thread / kLanes == other / kLanes)
    result = std::max(result, warps[thread][other % kLanes]);
  if (const auto &times = states[thread].times; times && other < times->size())
    result = std::max(result, (*times)[other]);
  return result;
}

FenceHalves &BlockClocks::halvesOf(uint32_t thread) {
  std::unique_ptr<FenceHalves> &halves = states[thread].halves;
  if (!halves)
    halves = std::make_unique<FenceHalves>();
  return *halves;
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
      halvesOf(thread) = shared;
  }
  ++time;
}

void BlockClocks::syncBlock() {
  floorTime = time++;
  for (Thread &state : states) {
    kvc::sim::join(grid, state.grid);
    state.grid.clear();
    state.times.reset();
    if (state.halves)
      halves.join(*state.halves);
    state.halves.reset();
  }
  // What all know by now is no longer half told.
  std::erase_if(halves.heard, [&](const auto &entry) {
    if (entry.first == number)
      return true;
    const auto known = grid.find(entry.first);
    return known != grid.end() && known->second.covers(entry.second);
  });
}

/// Of each thread of the block, with `own` for the thread itself.
ThreadTimes BlockClocks::timesOf(uint32_t thread, Time own) const {
  ThreadTimes times(count);
  if (states[thread].times)
    times.resize(states[thread].times->size());
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
    for (uint32_t other = 0; other < states[thread].times->size(); ++other)
      if (known(thread, other) > floorTime)
        here.threads[other] = known(thread, other);
  } else {
    const uint32_t first = thread / kLanes * kLanes;
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      if (warps[thread][lane] > floorTime)
        here.threads[first + lane] = warps[thread][lane];
  }
  here.threads[thread] = own;
  return all;
}

Message BlockClocks::release(uint32_t thread) {
  Message message{timesOf(thread, time), gridOf(thread, time)};
  if (states[thread].halves)
    message.halves = *states[thread].halves;
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
  if (!message.times.empty()) {
    if (!state.times)
      state.times = std::make_unique<ThreadTimes>(count, 0);
    ::join(*state.times, message.times);
  }
  kvc::sim::join(state.grid, message.grid);
  if (!message.halves.isEmpty())
    halvesOf(thread).join(message.halves);
  // What others tell of this block belongs to the times of its threads.
  const auto own = state.grid.find(number);
  if (own == state.grid.end())
    return;
  if (!state.times)
    state.times = std::make_unique<ThreadTimes>(count, 0);
  if (own->second.end() > count)
    state.times->resize(size_t(2) * count, 0);
  for (uint32_t other = 0; other < state.times->size(); ++other) {
    Time &time = (*state.times)[other];
    time = std::max(time, own->second.of(other));
  }
  state.grid.erase(own);
}

void BlockClocks::fence(uint32_t thread, bool isWide) {
  Message heard;
  auto take = [&](GridKnowledge &from) {
    // Fences of the block alone order nothing with others.
    if (isWide)
      kvc::sim::join(heard.grid, from);
    else if (const auto own = from.find(number); own != from.end())
      heard.grid[number].join(own->second);
  };
  take(halves.heard);
  if (states[thread].halves) {
    GridKnowledge &mine = states[thread].halves->heard;
    take(mine);
    isWide ? mine.clear() : void(mine.erase(number));
  }
  acquire(thread, heard);
  // What was known at an earlier fence is known at this one.
  GridKnowledge now = gridOf(thread, time);
  FenceHalves &mine = halvesOf(thread);
  mine.fenced = now[number];
  if (isWide)
    mine.fencedWide = std::move(now);
  ++time;
}

Message BlockClocks::relaxedRelease(uint32_t thread, bool isWide) const {
  Message message;
  BlockKnowledge fenced = halves.fenced;
  if (const auto &mine = states[thread].halves)
    fenced.join(mine->fenced);
  if (fenced.isEmpty())
    return message;
  message.times.resize(fenced.end() > count ? size_t(2) * count : count);
  for (uint32_t other = 0; other < message.times.size(); ++other)
    message.times[other] = fenced.of(other);
  if (!isWide)
    return message;
  message.grid = halves.fencedWide;
  if (const auto &mine = states[thread].halves)
    kvc::sim::join(message.grid, mine->fencedWide);
  return message;
}

void BlockClocks::relaxedAcquire(uint32_t thread, const Message &message) {
  if (message.isEmpty())
    return;
  GridKnowledge &heard = halvesOf(thread).heard;
  kvc::sim::join(heard, message.grid);
  if (message.times.empty())
    return;
  BlockKnowledge &here = heard[number];
  for (uint32_t other = 0; other < message.times.size(); ++other)
    if (message.times[other] > std::max(floorTime, here.of(other)))
      here.threads[other] = message.times[other];
}
