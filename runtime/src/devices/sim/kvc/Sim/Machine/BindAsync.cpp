//===- BindAsync.cpp - Copies that run beside the program -----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Addresses are checked when a copy is issued. Its destination is then filled
// with kPoison, and the data comes when somebody waits for it and no earlier:
// a program that does not wait computes something else, at all times.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Machine/Access.h"
#include "kvc/Sim/Machine/Mbarrier.h"

#include <algorithm>
#include <bit>

using namespace kvc::sim;

void PendingCopy::finish() const {
  std::memcpy(to, from, sourceBytes);
  std::memset(to + sourceBytes, 0, bytes - sourceBytes);
}

void CopyQueue::add(PendingCopy copy) {
  copy.group = closed;
  copy.number = issued++;
  copies.push_back(copy);
}

void CopyQueue::waitFor(uint32_t groups) {
  const uint64_t keep = closed > groups ? closed - groups : 0;
  auto end = copies.begin();
  for (; end != copies.end() && end->group < keep; ++end)
    end->finish();
  copies.erase(copies.begin(), end);
}

void CopyQueue::finishUntil(uint64_t number) {
  auto end = copies.begin();
  for (; end != copies.end() && end->number < number; ++end)
    end->finish();
  copies.erase(copies.begin(), end);
}

namespace {

struct CopyForm {
  AccessForm to, from;
  uint32_t bytes = 0; ///< 0: of each lane, by an operand.
  /// cp.async: how many bytes are read, or a predicate that says none.
  bool hasSize = false, hasIgnore = false;
  bool hasMbarrier = false;
  AccessForm mbarrier;
};

CopyQueue &queueOf(std::vector<CopyQueue> &queues, unsigned lane) {
  if (queues.empty())
    queues.resize(kLanes);
  return queues[lane];
}

/// Resolves addresses of lanes whose sizes differ.
bool resolveSizes(Warp &warp, AccessForm form, uint32_t base, LaneMask lanes,
                  const uint32_t *sizes, Resolved &resolved) {
  std::fill(std::begin(resolved.host), std::end(resolved.host), nullptr);
  while (lanes != 0) {
    form.bytes = sizes[std::countr_zero(lanes)];
    LaneMask same = 0;
    eachLane(lanes, [&](unsigned lane) {
      same |= sizes[lane] == form.bytes ? LaneMask(1) << lane : 0;
    });
    lanes &= ~same;
    Resolved part;
    // Nothing is read: any address will do.
    if (form.bytes != 0 && !resolve(warp, form, base, same, part))
      return false;
    eachLane(same, [&](unsigned lane) {
      resolved.host[lane] = form.bytes ? part.host[lane] : nullptr;
      resolved.addresses[lane] = form.bytes ? part.addresses[lane] : 0;
    });
  }
  return true;
}

void tell(Warp &warp, const CopyForm &form, bool isBulk, LaneMask lanes,
          const Resolved &to, const Resolved &from, const uint32_t *bytes,
          const uint32_t *sourceBytes, std::optional<uint64_t> mbarrier) {
  if (!warp.launch->observer)
    return;
  AsyncCopy copy;
  copy.isBulk = isBulk;
  copy.lanes = lanes;
  copy.from = form.from.space;
  copy.to = form.to.space;
  copy.sources = from.addresses;
  copy.destinations = to.addresses;
  copy.bytes = bytes;
  copy.sourceBytes = sourceBytes;
  copy.mbarrier = mbarrier;
  warp.launch->observer->onAsyncCopy(warp.info, warp.at(), copy);
}

/// to, offset, from, offset, bytes, size or ignore
void runCopy(Warp &warp, const Step &step, LaneMask lanes) {
  const auto &form = formOf<CopyForm>(step);
  const uint32_t *o = step.operands;
  uint32_t bytes[kLanes], sourceBytes[kLanes];
  const LaneMask ignored = form.hasIgnore ? warp.predicate(o[5]) : 0;
  const uint32_t *sizes = form.hasSize ? warp.row(o[5]) : nullptr;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    bytes[lane] = form.bytes;
    sourceBytes[lane] = ignored >> lane & 1 ? 0
                        : sizes             ? sizes[lane]
                                            : form.bytes;
  }
  LaneMask tooLarge = 0;
  eachLane(lanes, [&](unsigned lane) {
    tooLarge |= LaneMask(sourceBytes[lane] > form.bytes) << lane;
  });
  if (tooLarge != 0) {
    const auto lane = unsigned(std::countr_zero(tooLarge));
    warp.fault(Fault::Kind::Unsupported, tooLarge,
               "cp.async: expected at most the " + std::to_string(form.bytes) +
                   " bytes that it copies, got a source of " +
                   std::to_string(sourceBytes[lane]) + ", in " +
                   warp.nameOfLane(lane));
    return;
  }
  Resolved to, from;
  if (!resolve(warp, form.to, o[0], lanes, to) ||
      !resolveSizes(warp, form.from, o[2], lanes, sourceBytes, from))
    return;
  tell(warp, form, false, lanes, to, from, bytes, sourceBytes, std::nullopt);
  eachLane(lanes, [&](unsigned lane) {
    std::memset(to.host[lane], kPoison, form.bytes);
    queueOf(warp.copies, lane)
        .add({to.host[lane], from.host[lane] ? from.host[lane] : to.host[lane],
              form.bytes, sourceBytes[lane]});
  });
}

/// to, offset, from, offset, bytes [, mbarrier, offset]
void runBulkCopy(Warp &warp, const Step &step, LaneMask lanes) {
  const auto &form = formOf<CopyForm>(step);
  const uint32_t *o = step.operands;
  const uint32_t *bytes = warp.row(o[4]);
  Resolved to, from, mbarrier;
  LaneMask wrong = 0;
  eachLane(lanes, [&](unsigned lane) {
    wrong |= bytes[lane] % 16 != 0 ? LaneMask(1) << lane : 0;
  });
  if (wrong != 0) {
    const auto lane = static_cast<unsigned>(std::countr_zero(wrong));
    return warp.fault(Fault::Kind::Misaligned, wrong,
                      "cp.async.bulk: expected a multiple of 16 bytes, got " +
                          std::to_string(bytes[lane]) + ", in " +
                          warp.nameOfLane(lane));
  }
  if (!resolveSizes(warp, form.to, o[0], lanes, bytes, to) ||
      !resolveSizes(warp, form.from, o[2], lanes, bytes, from))
    return;
  if (form.hasMbarrier && !resolve(warp, form.mbarrier, o[5], lanes, mbarrier))
    return;
  eachLane(lanes, [&](unsigned lane) {
    std::optional<uint64_t> offset;
    if (form.hasMbarrier)
      offset = uint64_t(mbarrier.host[lane] - warp.block->shared.data());
    tell(warp, form, true, LaneMask(1) << lane, to, from, bytes, bytes, offset);
    PendingCopy copy{to.host[lane], from.host[lane], bytes[lane], bytes[lane]};
    if (bytes[lane] == 0)
      return;
    std::memset(copy.to, kPoison, copy.bytes);
    if (!offset) {
      queueOf(warp.bulkCopies, lane).add(copy);
      return;
    }
    PendingArrival arrival;
    arrival.mbarrier = *offset;
    arrival.copy = copy;
    arrival.warp = warp.number;
    arrival.lane = lane;
    arrival.isBulk = true;
    warp.block->arrivals.push_back(arrival);
  });
}

template <bool isBulk>
void runCommit(Warp &warp, const Step &, LaneMask lanes) {
  eachLane(lanes, [&](unsigned lane) {
    ++queueOf(isBulk ? warp.bulkCopies : warp.copies, lane).closed;
  });
}

/// Waits until no more than so many groups are on their way.
template <bool isBulk>
void runWait(Warp &warp, const Step &step, LaneMask lanes) {
  eachLane(lanes, [&](unsigned lane) {
    queueOf(isBulk ? warp.bulkCopies : warp.copies, lane)
        .waitFor(formOf<uint32_t>(step));
  });
}

void runWaitAll(Warp &warp, const Step &, LaneMask lanes) {
  eachLane(lanes, [&](unsigned lane) {
    CopyQueue &queue = queueOf(warp.copies, lane);
    queue.finishUntil(queue.issued);
  });
}

bool bindCopy(Binding &binding) {
  CopyForm form;
  form.bytes = uint32_t(binding.immediate(4));
  form.to = accessFormOf(binding, 0, MemoryAccess::Kind::Write, form.bytes);
  form.from = accessFormOf(binding, 2, MemoryAccess::Kind::Read, form.bytes);
  form.from.space = MemorySpace::Global;
  form.to.isTold = form.from.isTold = false;
  if (!binding.isNothing(5)) {
    form.hasIgnore = binding.slots[5].file() == Slot::File::Predicate;
    form.hasSize = !form.hasIgnore;
  }
  return binding.to(runCopy, form);
}

bool bindBulkCopy(Binding &binding) {
  CopyForm form;
  form.to = accessFormOf(binding, 0, MemoryAccess::Kind::Write, 16);
  form.from = accessFormOf(binding, 2, MemoryAccess::Kind::Read, 16);
  const bool toGlobal = binding.has(Word::BulkGroup);
  const bool isShared =
      binding.has(Word::SharedCluster) && binding.has(Word::SharedCta);
  form.to.space = toGlobal ? MemorySpace::Global : MemorySpace::Shared;
  form.from.space =
      toGlobal || isShared ? MemorySpace::Shared : MemorySpace::Global;
  form.to.isTold = form.from.isTold = false;
  form.hasMbarrier = !toGlobal;
  if (form.hasMbarrier) {
    form.mbarrier = accessFormOf(binding, 5, MemoryAccess::Kind::Mbarrier, 8);
    form.mbarrier.space = MemorySpace::Shared;
  }
  return binding.to(runBulkCopy, form);
}

} // namespace

bool kvc::sim::bindAsync(Binding &binding) {
  switch (binding.family()) {
  case Family::CpAsync:
    return bindCopy(binding);
  case Family::CpAsyncCommit:
    return binding.to(runCommit<false>);
  case Family::CpAsyncWait:
    if (binding.has(Word::WaitAll))
      return binding.to(runWaitAll);
    return binding.to(runWait<false>, uint32_t(binding.immediate(0)));
  case Family::CpBulk:
    // A mask of the cluster's blocks can name no other than this one.
    return bindBulkCopy(binding);
  case Family::CpBulkPrefetch:
    return binding.to(runNothing);
  case Family::CpBulkCommit:
    return binding.to(runCommit<true>);
  case Family::CpBulkWait:
    return binding.to(runWait<true>, uint32_t(binding.immediate(0)));
  default:
    return false;
  }
}
