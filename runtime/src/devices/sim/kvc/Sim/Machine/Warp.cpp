//===- Warp.cpp - 32 lanes that run together ------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Machine/Warp.h"

#include "kvc/Sim/Machine/State.h"

#include <algorithm>
#include <bit>

using namespace kvc::sim;

/// Blocks that a part may begin before another one that could run gets a turn.
static constexpr uint64_t kTurns = uint64_t(1) << 13;

const Inst &Warp::inst() const { return launch->kernel->program.code[at()]; }

std::string Warp::nameOfLane(unsigned lane) const {
  const Extent3 size = launch->options->block, grid = launch->options->grid;
  const uint64_t thread = uint64_t(number) * kLanes + lane;
  auto triple = [](uint64_t index, const Extent3 &extent) {
    return "(" + std::to_string(index % extent.x) + ", " +
           std::to_string(index / extent.x % extent.y) + ", " +
           std::to_string(index / extent.x / extent.y) + ")";
  };
  return "thread " + triple(thread, size) + " of block " +
         triple(block->number, grid);
}

void Warp::fault(Fault::Kind kind, LaneMask lanes, std::string message) {
  Fault fault;
  fault.kind = kind;
  fault.block = block->number;
  fault.warp = number;
  fault.lanes = lanes;
  fault.at = at();
  fault.message = std::move(message);
  launch->fault = std::move(fault);
  signal = Signal::Fault;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Where a part is, from the kernel's call down to its instruction. Its lanes
/// may have come by different calls; the first one counts.
std::vector<uint32_t> Warp::placesOf(const Part &part) const {
  const Program &program = launch->kernel->program;
  const auto lane = static_cast<unsigned>(std::countr_zero(part.lanes));
  std::vector<uint32_t> places{part.pc};
  for (;;) {
    const uint32_t function =
        program.blocks[program.blockOf[places.back()]].function;
    const Slot slot = program.functions[function].returnAddress;
    if (slot.isNothing())
      break;
    places.push_back(row(slot.index())[lane] - 1);
  }
  std::reverse(places.begin(), places.end());
  return places;
}

bool Warp::comesBefore(const Part &a, const Part &b) const {
  const Program &program = launch->kernel->program;
  auto blockOf = [&](uint32_t pc) -> const Block & {
    return program.blocks[program.blockOf[pc]];
  };
  auto isBefore = [&](uint32_t p, uint32_t q) {
    const uint32_t rankP = blockOf(p).rank, rankQ = blockOf(q).rank;
    return rankP != rankQ ? rankP < rankQ : p < q;
  };
  if (blockOf(a.pc).function == 0 && blockOf(b.pc).function == 0)
    return isBefore(a.pc, b.pc);
  const std::vector<uint32_t> placesA = placesOf(a), placesB = placesOf(b);
  for (size_t i = 0; i < std::min(placesA.size(), placesB.size()); ++i) {
    // Different functions called from one place: by their order.
    const uint32_t p = placesA[i], q = placesB[i];
    if (blockOf(p).function != blockOf(q).function)
      return blockOf(p).function < blockOf(q).function;
    if (p != q)
      return isBefore(p, q);
  }
  return placesA.size() < placesB.size();
}

/// Whether what a part waits for is there.
bool Warp::canGo(const Part &part) const {
  if (part.wait == Wait::Nothing)
    return true;
  if (part.wait == Wait::Barrier)
    return false;
  LaneMask here = 0;
  for (const Part &other : parts)
    if (other.wait == part.wait && other.members == part.members &&
        (other.pc == part.pc || part.wait == Wait::WarpSync))
      here |= other.lanes;
  return (part.members & live & ~here) == 0;
}

bool Warp::isReady() const {
  if (active != 0)
    return true;
  return std::any_of(parts.begin(), parts.end(),
                     [&](const Part &part) { return canGo(part); });
}

/// Chooses the part that runs next; false if all wait.
bool Warp::pick() {
  if (active != 0)
    parts.push_back({pc, active});
  active = 0;
  // Who has what it waited for waits no more.
  std::vector<size_t> free;
  for (size_t i = 0; i < parts.size(); ++i)
    if (parts[i].wait != Wait::Nothing && canGo(parts[i]))
      free.push_back(i);
  for (size_t i : free)
    if (parts[i].wait == Wait::WarpSync) {
      // The instruction itself need not run again.
      if (launch->observer)
        launch->observer->onWarpSync(info, parts[i].pc,
                                     parts[i].members & live);
      ++parts[i].pc;
    }
  for (size_t i : free)
    parts[i].wait = Wait::Nothing;
  for (size_t i = 0; i < parts.size(); ++i)
    for (size_t j = i + 1; j < parts.size();)
      if (parts[i].wait == Wait::Nothing && parts[j].wait == Wait::Nothing &&
          parts[i].pc == parts[j].pc) {
        parts[i].lanes |= parts[j].lanes;
        parts.erase(parts.begin() + std::ptrdiff_t(j));
      } else {
        ++j;
      }
  size_t best = parts.size(), ready = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].wait != Wait::Nothing)
      continue;
    ++ready;
    if (best == parts.size() || comesBefore(parts[i], parts[best]))
      best = i;
  }
  if (best == parts.size())
    return false;
  // Now and then whoever comes first lets the others go on: they may hold what
  // it waits for. New parts are put at the end, so that each gets a turn.
  turns = ready > 1 ? turns + 1 : 0;
  if (turns / kTurns % 2 == 1)
    for (size_t i = 0; i < parts.size(); ++i)
      if (parts[i].wait == Wait::Nothing && i != best) {
        best = i;
        break;
      }
  pc = parts[best].pc;
  active = parts[best].lanes;
  parts.erase(parts.begin() + std::ptrdiff_t(best));
  mustPick = false;
  return true;
}

bool Warp::gather(LaneMask lanes, LaneMask members, Wait wait) {
  if ((members & live & ~lanes) == 0)
    return true;
  parts.push_back({at(), lanes, wait, members});
  active &= ~lanes;
  signal = Signal::Empty;
  return false;
}

/// Lanes come to an instruction that some of their warp may still be away from.
/// False if they wait; then it has not begun.
bool Warp::arrive(LaneMask lanes) {
  LaneMask members = live;
  if (current->members != kNoOperand) {
    members = 0;
    const uint32_t *masks = row(current->members);
    eachLane(lanes, [&](unsigned lane) { members |= masks[lane]; });
  }
  return gather(lanes, members);
}

bool Warp::gatherMembers(uint32_t operand, LaneMask lanes, Wait wait) {
  const uint32_t *masks = row(operand);
  LaneMask members = 0, outside = 0;
  eachLane(lanes, [&](unsigned lane) {
    members |= masks[lane];
    outside |= masks[lane] & LaneMask(1) << lane ? 0 : LaneMask(1) << lane;
  });
  if (outside != 0) {
    const auto lane = static_cast<unsigned>(std::countr_zero(outside));
    fault(Fault::Kind::DivergentSync, outside,
          std::string(launch->kernel->program.modifiersOf(inst()).form->name) +
              ": expected a member mask that has the lane, got " +
              hex(masks[lane]) + " in lane " + std::to_string(lane) + ", " +
              nameOfLane(lane));
    return false;
  }
  if (!gather(lanes, members, wait))
    return false;
  if (launch->observer)
    launch->observer->onWarpSync(info, at(), members & live);
  return true;
}

void Warp::waitAtBarrier(LaneMask lanes, uint32_t id) {
  parts.push_back({pc, lanes, Wait::Barrier, id});
  active &= ~lanes;
  signal = Signal::Empty;
}

void Warp::release(uint32_t id) {
  for (Part &part : parts)
    if (part.wait == Wait::Barrier && part.members == id)
      part.wait = Wait::Nothing;
  mustPick = true;
}

//===----------------------------------------------------------------------===//
// Flow
//===----------------------------------------------------------------------===//

void Warp::branch(LaneMask taken, uint32_t target) {
  const LaneMask stay = active & ~taken;
  if (stay != 0) {
    parts.push_back({pc, stay});
    active = taken;
    if (launch->observer)
      launch->observer->onDivergence(info, at());
  }
  pc = target;
}

void Warp::exitLanes(LaneMask lanes) {
  for (auto *queues : {&copies, &bulkCopies})
    if (!queues->empty())
      eachLane(lanes, [&](unsigned lane) {
        CopyQueue &queue = (*queues)[lane];
        queue.finishUntil(queue.issued);
      });
  live &= ~lanes;
  active &= ~lanes;
  info.live = live;
  block->liveThreads -= uint32_t(std::popcount(lanes));
  mustPick = true;
  if (active == 0)
    signal = Signal::Empty;
  block->checkBarriers(*launch);
}

void Warp::copyPlace(const ParamPlace &from, const ParamPlace &to,
                     LaneMask lanes) const {
  auto encoded = [](Slot slot) {
    return slot.file() == Slot::File::Constant ? slot.index() | kConstantFile
                                               : slot.index();
  };
  const uint64_t frame = launch->kernel->program.localBytes;
  auto local = [&](unsigned lane, uint64_t offset) {
    return block->local.data() + (uint64_t(number) * kLanes + lane) * frame +
           offset;
  };
  if (!from.slot.isNothing() && from.slot.file() == Slot::File::Predicate) {
    const uint32_t negated = from.slot.isNegated() ? kNegated : 0;
    setPredicate(to.slot.index(), predicate(from.slot.index() | negated),
                 lanes);
    return;
  }
  auto bytesOf = [&](const ParamPlace &place, unsigned lane) -> uint8_t * {
    if (place.slot.isNothing())
      return local(lane, place.offset);
    auto *first = reinterpret_cast<uint8_t *>(row(encoded(place.slot)));
    return first + size_t(lane) * 4 * place.slot.rows();
  };
  eachLane(lanes, [&](unsigned lane) {
    uint8_t *target = bytesOf(to, lane);
    // A narrow register's row has zeros above its value.
    if (!to.slot.isNothing())
      std::memset(target, 0, size_t(4) * to.slot.rows());
    std::memmove(target, bytesOf(from, lane), std::min(from.bytes, to.bytes));
  });
}

void Warp::enter(uint32_t index, const CallSite &site, LaneMask lanes) {
  const ProgramFunction &function = launch->kernel->program.functions[index];
  for (size_t i = 0; i < function.params.size(); ++i)
    copyPlace(site.arguments[i], function.params[i], lanes);
  uint32_t *back = row(function.returnAddress.index());
  eachLane(lanes, [&](unsigned lane) { back[lane] = at() + 1; });
}

void Warp::call(const CallSite &site, LaneMask lanes) {
  const Program &program = launch->kernel->program;
  if (const LaneMask stay = active & ~lanes) {
    parts.push_back({pc, stay});
    active = lanes;
  }
  if (site.pointer.isNothing()) {
    enter(site.function, site, lanes);
    pc = program.functions[site.function].first;
    return;
  }
  // Lanes by the function that they call.
  const auto *pointers = reinterpret_cast<const uint64_t *>(
      row(site.pointer.file() == Slot::File::Constant
              ? site.pointer.index() | kConstantFile
              : site.pointer.index()));
  LaneMask rest = lanes;
  while (rest != 0) {
    const uint64_t pointer = pointers[std::countr_zero(rest)];
    LaneMask same = 0;
    eachLane(rest, [&](unsigned lane) {
      if (pointers[lane] == pointer)
        same |= LaneMask(1) << lane;
    });
    uint32_t target = kNowhere;
    for (uint32_t candidate : site.candidates)
      if (kFunctionWindow +
              uint64_t(program.functions[candidate].indexInModule) *
                  kFunctionBytes ==
          pointer)
        target = candidate;
    if (target == kNowhere)
      return fault(Fault::Kind::BadCall, same,
                   "call: expected the address of a function with these "
                   "parameters, got " +
                       hex(pointer) + ", in " +
                       nameOfLane(unsigned(std::countr_zero(same))));
    enter(target, site, same);
    rest &= ~same;
    if (rest != 0) {
      parts.push_back({program.functions[target].first, same});
    } else {
      pc = program.functions[target].first;
      active = same;
    }
  }
  mustPick = true;
}

/// ret: lanes go on behind their calls, or end with the kernel.
void Warp::giveBack(LaneMask lanes) {
  const Program &program = launch->kernel->program;
  const uint32_t index = program.blocks[program.blockOf[at()]].function;
  if (index == 0)
    return exitLanes(lanes);
  const ProgramFunction &function = program.functions[index];
  const uint32_t *back = row(function.returnAddress.index());
  const LaneMask stay = active & ~lanes;
  LaneMask rest = lanes;
  while (rest != 0) {
    const uint32_t to = back[std::countr_zero(rest)];
    LaneMask same = 0;
    eachLane(rest, [&](unsigned lane) {
      if (back[lane] == to)
        same |= LaneMask(1) << lane;
    });
    const CallSite &site = program.calls[program.code[to - 1].target];
    for (size_t i = 0; i < function.results.size(); ++i)
      copyPlace(function.results[i], site.results[i], same);
    parts.push_back({to, same});
    rest &= ~same;
  }
  active = stay;
  mustPick = true;
  if (active == 0)
    signal = Signal::Empty;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// A clock that counts this warp's steps.
void Warp::setClocks() const {
  for (const SpecialRow &special : launch->kernel->program.specials) {
    if (!infoOf(special.id).changes)
      continue;
    const bool isHigh = special.id == SpecialRegister::ClockHi ||
                        special.id == SpecialRegister::GlobaltimerHi;
    const uint64_t now = isHigh ? stepsRun >> 32 : stepsRun;
    if (special.slot.bits() == 64)
      std::fill_n(wide(special.slot.index()), kLanes, now);
    else
      std::fill_n(row(special.slot.index()), kLanes, uint32_t(now));
  }
}

bool Warp::run(uint64_t budget) {
  signal = Signal::None;
  if (active == 0 && !pick())
    return false;
  const uint64_t before = stepsRun;
  Observer *observer = launch->observer;
  for (; budget > 0; --budget) {
    current = steps + pc;
    if ((current->startsBlock | mustPick) && !parts.empty()) [[unlikely]] {
      pick();
      current = steps + pc;
    }
    LaneMask lanes = active & predicate(current->guard);
    if (current->gathers && lanes != live && lanes != 0 && !arrive(lanes))
        [[unlikely]] {
      signal = Signal::None;
      lanes = 0;
      if (active == 0) {
        if (!pick())
          break;
        continue;
      }
    }
    ++pc;
    ++stepsRun;
    if (current->readsChanging) [[unlikely]]
      setClocks();
    if (observer) [[unlikely]]
      observer->onStep(info, at(), active, lanes);
    if (lanes == 0)
      continue;
    current->run(*this, *current, lanes);
    if (signal == Signal::None) [[likely]]
      continue;
    if (signal == Signal::Fault)
      break;
    const bool yields = signal == Signal::Yield;
    signal = Signal::None;
    if (active == 0 && !pick())
      break;
    if (yields) {
      // Another part of this warp may be what it waits for.
      turns += parts.empty() ? 0 : kTurns / 4;
      break;
    }
  }
  launch->steps += stepsRun - before;
  return true;
}
