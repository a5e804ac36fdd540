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

void Message::join(const Message &other) {
  ::join(times, other.times);
  kvc::sim::join(grid, other.grid);
}

BlockClocks::BlockClocks(uint64_t block, uint32_t threads)
    : number(block), count(threads), warps(threads), states(threads) {}

Time BlockClocks::known(uint32_t thread, uint32_t other) const {
  Time result = floorTime;
  if (thread / kLanes == other / kLanes)
    result = std::max(result, warps[thread][other % kLanes]);
  if (states[thread].times)
    result = std::max(result, (*states[thread].times)[other]);
  return result;
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
  }
  ++time;
}

void BlockClocks::syncBlock() {
  floorTime = time++;
  for (Thread &state : states) {
    kvc::sim::join(grid, state.grid);
    state.grid.clear();
    state.times.reset();
  }
}

/// Of each thread of the block, with `own` for the thread itself.
ThreadTimes BlockClocks::timesOf(uint32_t thread, Time own) const {
  ThreadTimes times(count);
  for (uint32_t other = 0; other < count; ++other)
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
  return all;
}

Message BlockClocks::release(uint32_t thread) {
  Message message{timesOf(thread, time), gridOf(thread, time)};
  ++time;
  return message;
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
  // What others tell of this block belongs to the times of its threads.
  const auto own = state.grid.find(number);
  if (own == state.grid.end())
    return;
  if (!state.times)
    state.times = std::make_unique<ThreadTimes>(count, 0);
  for (uint32_t other = 0; other < count; ++other) {
    Time &time = (*state.times)[other];
    time = std::max(time, own->second.of(other));
  }
  state.grid.erase(own);
}

void BlockClocks::fence(uint32_t thread, bool isWide) {
  Thread &state = states[thread];
  state.fenced[0] = time;
  if (isWide)
    state.fenced[1] = time;
  if (state.hasHeard) {
    Message heard = std::move(state.heard);
    // Fences of the block alone order nothing with others.
    if (!isWide)
      std::erase_if(heard.grid,
                    [&](const auto &entry) { return entry.first != number; });
    state.heard = {};
    state.hasHeard = false;
    acquire(thread, heard);
  }
  ++time;
}

Message BlockClocks::relaxedRelease(uint32_t thread, bool isWide) const {
  const Thread &state = states[thread];
  Message message;
  if (state.fenced[0] == 0)
    return message;
  message.times = timesOf(thread, state.fenced[0]);
  if (isWide && state.fenced[1] != 0)
    message.grid = gridOf(thread, state.fenced[1]);
  return message;
}

void BlockClocks::relaxedAcquire(uint32_t thread, const Message &message) {
  if (message.isEmpty())
    return;
  states[thread].heard.join(message);
  states[thread].hasHeard = true;
}
