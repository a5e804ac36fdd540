//===- Mbarrier.cpp - The barrier objects of shared memory ----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Machine/Mbarrier.h"

#include "kvc/Sim/Machine/Access.h"
#include "kvc/Sim/Machine/Scheduler.h"

#include <bit>

using namespace kvc::sim;

//===----------------------------------------------------------------------===//
// The object
//===----------------------------------------------------------------------===//

/// Bits from the lowest on: 20 pending, 20 expected, 21 bytes, phase, valid.
Mbarrier Mbarrier::fromWord(uint64_t word) {
  Mbarrier result;
  result.pending = uint32_t(word) & kMostArrivals;
  result.expected = uint32_t(word >> 20) & kMostArrivals;
  result.bytes = int32_t(uint32_t(word >> 40) << 11) >> 11;
  result.phase = word >> 61 & 1;
  result.isValid = word >> 62 == 1;
  return result;
}

uint64_t Mbarrier::word() const {
  return uint64_t(pending) | uint64_t(expected) << 20 |
         uint64_t(uint32_t(bytes) & 0x1FFFFF) << 40 | uint64_t(phase) << 61 |
         uint64_t(isValid) << 62;
}

Mbarrier Mbarrier::read(const uint8_t *at) {
  uint64_t word;
  std::memcpy(&word, at, sizeof(word));
  return fromWord(word);
}

void Mbarrier::write(uint8_t *at) const {
  const uint64_t bits = word();
  std::memcpy(at, &bits, sizeof(bits));
}

bool Mbarrier::complete() {
  if (pending != 0 || bytes != 0)
    return false;
  phase = !phase;
  pending = expected;
  return true;
}

//===----------------------------------------------------------------------===//
// Copies that arrive
//===----------------------------------------------------------------------===//

namespace {

/// Puts the object back, begins its next phase if it may, and tells so.
void settle(BlockState &block, LaunchState &launch, Mbarrier &object,
            uint8_t *at) {
  const bool isComplete = object.complete();
  object.write(at);
  if (isComplete)
    launch.vainWaits = 0;
  if (isComplete && launch.observer)
    launch.observer->onMbarrierPhase(block.number,
                                     uint64_t(at - block.shared.data()));
}

void deliver(BlockState &block, LaunchState &launch,
             const PendingArrival &arrival) {
  uint8_t *at = block.shared.data() + arrival.mbarrier;
  Mbarrier object = Mbarrier::read(at);
  if (arrival.isBulk) {
    arrival.copy.finish();
    object.bytes -= int32_t(arrival.copy.bytes);
  } else {
    block.warps[arrival.warp].copies[arrival.lane].finishUntil(arrival.number);
    object.pending -= object.pending > 0;
  }
  settle(block, launch, object, at);
}

} // namespace

void kvc::sim::finishArrivals(BlockState &block, LaunchState &launch,
                              uint64_t offset) {
  for (size_t i = 0; i < block.arrivals.size();) {
    if (block.arrivals[i].mbarrier != offset) {
      ++i;
      continue;
    }
    const PendingArrival arrival = block.arrivals[i];
    block.arrivals.erase(block.arrivals.begin() + std::ptrdiff_t(i));
    deliver(block, launch, arrival);
  }
}

void kvc::sim::finishArrivals(BlockState &block) {
  for (const PendingArrival &arrival : block.arrivals)
    if (arrival.isBulk)
      arrival.copy.finish();
  block.arrivals.clear();
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

namespace {

enum class Operation : uint8_t {
  Init,
  Invalidate,
  ExpectTx,
  CompleteTx,
  Arrive,
  ArriveDrop
};

struct MbarrierForm {
  AccessForm access;
  Operation op = Operation::Arrive;
  bool expects = false; ///< arrive.expect_tx: the operand is bytes.
  bool hasState = false, hasCount = false;
  bool isParity = false;
};

void tell(Warp &warp, MbarrierEvent::Kind kind, LaneMask lanes,
          const Resolved &resolved, bool isAsync = false) {
  if (!warp.launch->observer || lanes == 0)
    return;
  uint64_t offsets[kLanes] = {};
  eachLane(lanes, [&](unsigned lane) {
    offsets[lane] = uint64_t(resolved.host[lane] - warp.block->shared.data());
  });
  MbarrierEvent event;
  event.kind = kind;
  event.lanes = lanes;
  event.offsets = offsets;
  event.isAsync = isAsync;
  warp.launch->observer->onMbarrier(warp.info, warp.at(), event);
}

bool failObject(Warp &warp, unsigned lane, const std::string &expected,
                const std::string &got) {
  warp.fault(Fault::Kind::Unsupported, LaneMask(1) << lane,
             "mbarrier: expected " + expected + ", got " + got + ", in " +
                 warp.nameOfLane(lane));
  return false;
}

bool isInitialised(Warp &warp, unsigned lane, const Mbarrier &object) {
  return object.isValid ||
         failObject(warp, lane, "an object that was initialised",
                    "one that was not");
}

/// One lane's operation on one object. False after a fault.
bool operate(Warp &warp, const MbarrierForm &form, unsigned lane,
             uint32_t operand, Mbarrier &object) {
  if (form.op == Operation::Init) {
    if (operand == 0 || operand > Mbarrier::kMostArrivals)
      return failObject(warp, lane, "a count from 1 to 2^20-1",
                        std::to_string(operand));
    object = {operand, operand, 0, false, true};
    return true;
  }
  if (!isInitialised(warp, lane, object))
    return false;
  uint32_t arrivals = 0;
  int64_t bytes = object.bytes;
  switch (form.op) {
  case Operation::Invalidate:
    object = {};
    return true;
  case Operation::ExpectTx:
    bytes += operand;
    break;
  case Operation::CompleteTx:
    bytes -= operand;
    break;
  default:
    arrivals = form.expects || !form.hasCount ? 1 : operand;
    bytes += form.expects ? operand : 0;
    break;
  }
  if (bytes > Mbarrier::kMostBytes || bytes < -Mbarrier::kMostBytes)
    return failObject(warp, lane, "at most 2^20-1 bytes on their way",
                      std::to_string(bytes));
  if (arrivals > object.pending)
    return failObject(warp, lane,
                      "at most the " + std::to_string(object.pending) +
                          " arrivals that its phase needs",
                      std::to_string(arrivals));
  object.bytes = int32_t(bytes);
  object.pending -= arrivals;
  if (form.op == Operation::ArriveDrop)
    object.expected -= arrivals;
  return true;
}

/// [state,] address, offset [, operand]
void runMbarrier(Warp &warp, const Step &step, LaneMask lanes) {
  const auto &form = formOf<MbarrierForm>(step);
  const uint32_t *o = step.operands;
  const uint32_t first = form.hasState ? 1 : 0;
  Resolved resolved;
  if (!resolve(warp, form.access, o[first], lanes, resolved))
    return;
  const uint32_t *operand = form.hasCount ? warp.row(o[first + 2]) : nullptr;
  LaneMask done = 0;
  bool goes = true;
  const bool arrives =
      form.op == Operation::Arrive || form.op == Operation::ArriveDrop;
  if (form.op == Operation::Init || form.op == Operation::Invalidate)
    tell(warp,
         form.op == Operation::Init ? MbarrierEvent::Kind::Init
                                    : MbarrierEvent::Kind::Invalidate,
         lanes, resolved);
  if (form.expects || form.op == Operation::ExpectTx)
    tell(warp, MbarrierEvent::Kind::ExpectTx, lanes, resolved);
  if (arrives)
    tell(warp, MbarrierEvent::Kind::Arrive, lanes, resolved);
  eachLane(lanes, [&](unsigned lane) {
    if (!goes)
      return;
    uint8_t *at = resolved.host[lane];
    Mbarrier object = Mbarrier::read(at);
    const uint64_t before = object.word();
    goes = operate(warp, form, lane, operand ? operand[lane] : 1, object);
    if (!goes)
      return;
    done |= LaneMask(1) << lane;
    if (form.op == Operation::Init || form.op == Operation::Invalidate ||
        form.op == Operation::ExpectTx)
      object.write(at);
    else
      settle(*warp.block, *warp.launch, object, at);
    if (form.hasState && o[0] != kNoOperand)
      warp.wide(o[0])[lane] = before;
  });
}

/// p, address, offset, state or parity: whether the phase is complete.
void runMbarrierTest(Warp &warp, const Step &step, LaneMask lanes) {
  const auto &form = formOf<MbarrierForm>(step);
  const uint32_t *o = step.operands;
  Resolved resolved;
  if (!resolve(warp, form.access, o[1], lanes, resolved))
    return;
  LaneMask complete = 0;
  bool goes = true;
  eachLane(lanes, [&](unsigned lane) {
    if (!goes)
      return;
    finishArrivals(*warp.block, *warp.launch,
                   uint64_t(resolved.host[lane] - warp.block->shared.data()));
    const Mbarrier object = Mbarrier::read(resolved.host[lane]);
    goes = object.isValid ||
           failObject(warp, lane, "an object that was initialised",
                      "one that was not");
    const bool asked = form.isParity
                           ? (warp.row(o[3])[lane] & 1) != 0
                           : Mbarrier::fromWord(warp.wide(o[3])[lane]).phase;
    complete |= LaneMask(object.phase != asked) << lane;
  });
  if (!goes)
    return;
  tell(warp, MbarrierEvent::Kind::Observe, complete & lanes, resolved);
  warp.setPredicate(o[0], complete, lanes);
  if ((lanes & ~complete) != 0) {
    ++warp.launch->vainWaits;
    warp.signal = Signal::Yield;
  }
}

void runMbarrierCount(Warp &warp, const Step &step, LaneMask lanes) {
  uint32_t *to = warp.row(step.operands[0]);
  const uint64_t *state = warp.wide(step.operands[1]);
  eachLane(lanes, [&](unsigned lane) {
    to[lane] = Mbarrier::fromWord(state[lane]).pending;
  });
}

/// cp.async.mbarrier.arrive: an arrival once the lane's copies have arrived.
void runAsyncArrive(Warp &warp, const Step &step, LaneMask lanes) {
  const auto &form = formOf<MbarrierForm>(step);
  Resolved resolved;
  if (!resolve(warp, form.access, step.operands[0], lanes, resolved))
    return;
  tell(warp, MbarrierEvent::Kind::Arrive, lanes, resolved, true);
  if (warp.copies.empty())
    warp.copies.resize(kLanes);
  bool goes = true;
  eachLane(lanes, [&](unsigned lane) {
    if (!goes)
      return;
    uint8_t *at = resolved.host[lane];
    Mbarrier object = Mbarrier::read(at);
    goes = isInitialised(warp, lane, object);
    if (goes && !form.expects) {
      // Without .noinc it adds to the phase what it takes away later.
      goes = object.pending < Mbarrier::kMostArrivals ||
             failObject(warp, lane, "at most 2^20-1 arrivals", "one more");
      ++object.pending;
      object.write(at);
    }
    if (!goes)
      return;
    PendingArrival arrival;
    arrival.mbarrier = uint64_t(at - warp.block->shared.data());
    arrival.warp = warp.number;
    arrival.lane = lane;
    arrival.number = warp.copies[lane].issued;
    warp.block->arrivals.push_back(arrival);
  });
}

MbarrierForm formFor(const Binding &binding, size_t address) {
  MbarrierForm form;
  form.access = accessFormOf(binding, address, MemoryAccess::Kind::Mbarrier, 8);
  return form;
}

bool bindOperation(Binding &binding) {
  const bool drops = binding.has(Word::ArriveDrop);
  const bool arrives = drops || binding.has(Word::Arrive);
  MbarrierForm form = formFor(binding, arrives ? 1 : 0);
  form.hasState = arrives;
  form.expects = arrives && binding.has(Word::ExpectTx);
  form.op = drops                         ? Operation::ArriveDrop
            : arrives                     ? Operation::Arrive
            : binding.has(Word::Init)     ? Operation::Init
            : binding.has(Word::Inval)    ? Operation::Invalidate
            : binding.has(Word::ExpectTx) ? Operation::ExpectTx
                                          : Operation::CompleteTx;
  form.hasCount = !binding.isNothing(arrives ? 3 : 2);
  return binding.to(runMbarrier, form);
}

} // namespace

bool kvc::sim::bindMbarriers(Binding &binding) {
  switch (binding.family()) {
  case Family::Mbarrier:
    return bindOperation(binding);
  case Family::MbarrierTest: {
    MbarrierForm form = formFor(binding, 1);
    form.isParity = binding.has(Word::Parity);
    return binding.to(runMbarrierTest, form);
  }
  case Family::MbarrierCount:
    return binding.to(runMbarrierCount);
  case Family::CpAsyncArrive: {
    MbarrierForm form = formFor(binding, 0);
    form.expects = binding.has(Word::Noinc);
    return binding.to(runAsyncArrive, form);
  }
  default:
    return false;
  }
}
