//===- Access.cpp - From lanes' addresses to the host's memory ------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Machine/Access.h"

#include <bit>

using namespace kvc::sim;

static MemoryOrder orderOf(const Modifiers &modifiers) {
  switch (modifiers.firstOf({Word::Volatile, Word::Relaxed, Word::Acquire,
                             Word::Release, Word::AcqRel})) {
  case Word::Volatile:
    return MemoryOrder::Volatile;
  case Word::Relaxed:
    return MemoryOrder::Relaxed;
  case Word::Acquire:
    return MemoryOrder::Acquire;
  case Word::Release:
    return MemoryOrder::Release;
  case Word::AcqRel:
    return MemoryOrder::AcqRel;
  default:
    return MemoryOrder::Weak;
  }
}

static MemoryScope scopeOf(const Modifiers &modifiers) {
  switch (modifiers.firstOf({Word::Cta, Word::Cluster, Word::Gpu, Word::Sys})) {
  case Word::Cta:
    return MemoryScope::Cta;
  case Word::Cluster:
    return MemoryScope::Cluster;
  case Word::Gpu:
    return MemoryScope::Gpu;
  case Word::Sys:
    return MemoryScope::System;
  default:
    return MemoryScope::None;
  }
}

AccessForm kvc::sim::accessFormOf(const Binding &binding, size_t slot,
                                  MemoryAccess::Kind kind, uint32_t bytes) {
  AccessForm form;
  form.space = binding.inst.space;
  form.kind = kind;
  form.order = orderOf(binding.modifiers);
  form.scope = scopeOf(binding.modifiers);
  form.bytes = form.align = bytes;
  form.isWide = binding.slots[slot].bits() == 64;
  form.offset = binding.immediate(slot + 1);
  return form;
}

/// Of lanes that do not take part the offset may be anything.
static uint8_t *hostAt(uint8_t *data, uint64_t offset) {
  return reinterpret_cast<uint8_t *>(reinterpret_cast<uintptr_t>(data) +
                                     offset);
}

static const char *spaceName(MemorySpace space) {
  static constexpr const char *names[] = {
      "", "generic", "global", "shared", "const", "local", "parameter"};
  return names[static_cast<size_t>(space)];
}

/// Says what is wrong with the first of the lanes.
static bool failAt(Warp &warp, Fault::Kind kind, const AccessForm &form,
                   MemorySpace space, LaneMask lanes, uint64_t address,
                   const std::string &expected, const std::string &got) {
  const Modifiers &modifiers =
      warp.launch->kernel->program.modifiersOf(warp.inst());
  warp.fault(kind, lanes,
             std::string(modifiers.form->name) + ": expected " + expected +
                 ", got " + got + ", in " +
                 warp.nameOfLane(unsigned(std::countr_zero(lanes))));
  warp.launch->fault->space = space;
  warp.launch->fault->address = address;
  warp.launch->fault->bytes = form.bytes;
  return false;
}

static bool failGlobal(Warp &warp, const AccessForm &form, LaneMask lanes,
                       uint64_t address) {
  const Memory &memory = *warp.launch->memory;
  const Allocation *near = memory.nearest(address);
  const bool isFreed = near && near->isFreed() && near->holds(address, 1);
  return failAt(
      warp, isFreed ? Fault::Kind::UseAfterFree : Fault::Kind::OutOfBounds,
      form, MemorySpace::Global, lanes, address, "memory that is allocated",
      memory.describe(address, form.bytes));
}

/// Which named object of a space is nearest to an offset that is outside.
static std::string describeOffset(const Warp &warp, MemorySpace space,
                                  uint64_t offset, uint32_t bytes,
                                  uint64_t size) {
  std::string text =
      std::to_string(bytes) + " bytes at offset " +
      (offset > uint64_t(1) << 32 ? hex(offset) : std::to_string(offset)) +
      " of " + std::to_string(size) + " bytes of " + spaceName(space) +
      " memory";
  const MemoryObject *last = nullptr;
  for (const MemoryObject &object : warp.launch->kernel->program.objects)
    if (object.space == space && object.offset <= offset &&
        (!last || object.offset >= last->offset))
      last = &object;
  if (last)
    text += ", behind the beginning of \"" + std::string(last->name) + "\"";
  return text;
}

/// Memory that is one array for each block or lane.
static bool resolveArray(Warp &warp, const AccessForm &form, MemorySpace space,
                         uint8_t *data, uint64_t size, uint64_t laneStride,
                         uint64_t window, LaneMask lanes, Resolved &resolved) {
  LaneMask outside = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const uint64_t offset = resolved.addresses[lane] - window;
    const bool isOutside = offset > size || form.bytes > size - offset;
    outside |= LaneMask(isOutside) << lane;
    resolved.host[lane] = hostAt(data, lane * laneStride + offset);
  }
  outside &= lanes;
  if (outside == 0)
    return true;
  const uint64_t offset =
      resolved.addresses[std::countr_zero(outside)] - window;
  return failAt(warp, Fault::Kind::OutOfBounds, form, space, outside, offset,
                "an address inside",
                describeOffset(warp, space, offset, form.bytes, size));
}

static bool resolveGlobal(Warp &warp, const AccessForm &form, LaneMask lanes,
                          Resolved &resolved) {
  Touched &last = warp.launch->lastTouched[warp.at()];
  for (int attempt = 0;; ++attempt) {
    const uint64_t begin = last.address, room = last.bytes - form.bytes;
    const bool fits = last.bytes >= form.bytes;
    LaneMask outside = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const uint64_t offset = resolved.addresses[lane] - begin;
      outside |= LaneMask(offset > room) << lane;
      resolved.host[lane] = hostAt(last.data, offset);
    }
    outside = fits ? outside & lanes : lanes;
    if (outside == 0)
      return true;
    if (attempt > 0)
      break;
    const Allocation *found = warp.launch->memory->find(
        resolved.addresses[std::countr_zero(outside)], form.bytes);
    if (!found)
      return failGlobal(warp, form, outside,
                        resolved.addresses[std::countr_zero(outside)]);
    last = {found->address, found->bytes, found->data()};
  }
  // Lanes in several allocations.
  LaneMask wrong = 0;
  eachLane(lanes, [&](unsigned lane) {
    const uint64_t address = resolved.addresses[lane];
    const Allocation *found = warp.launch->memory->find(address, form.bytes);
    if (found)
      resolved.host[lane] = found->data() + (address - found->address);
    else
      wrong |= LaneMask(1) << lane;
  });
  return wrong == 0 || failGlobal(warp, form, wrong,
                                  resolved.addresses[std::countr_zero(wrong)]);
}

static bool checkAlignment(Warp &warp, const AccessForm &form,
                           MemorySpace space, LaneMask lanes,
                           const Resolved &resolved) {
  LaneMask wrong = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    wrong |= LaneMask((resolved.addresses[lane] & (form.align - 1)) != 0)
             << lane;
  wrong &= lanes;
  if (wrong == 0)
    return true;
  const uint64_t address = resolved.addresses[std::countr_zero(wrong)];
  return failAt(warp, Fault::Kind::Misaligned, form, space, wrong, address,
                "an address that is a multiple of " +
                    std::to_string(form.align),
                hex(address));
}

bool kvc::sim::resolveIn(Warp &warp, const AccessForm &form, MemorySpace space,
                         LaneMask lanes, Resolved &resolved) {
  if (!checkAlignment(warp, form, space, lanes, resolved))
    return false;
  LaunchState &launch = *warp.launch;
  const bool isWrite = form.kind != MemoryAccess::Kind::Read &&
                       form.kind != MemoryAccess::Kind::Prefetch;
  if (isWrite && (space == MemorySpace::Const || space == MemorySpace::Params))
    return failAt(warp, Fault::Kind::ReadOnly, form, space, lanes,
                  resolved.addresses[std::countr_zero(lanes)],
                  "an address that can be written",
                  std::string("one in ") + spaceName(space) + " memory");
  bool ok = true;
  switch (space) {
  case MemorySpace::Shared:
    ok = resolveArray(warp, form, space, warp.block->shared.data(),
                      launch.sharedBytes, 0, 0, lanes, resolved);
    break;
  case MemorySpace::Local: {
    const uint64_t frame = launch.kernel->program.localBytes;
    ok = resolveArray(warp, form, space,
                      warp.block->local.data() +
                          uint64_t(warp.number) * kLanes * frame,
                      frame, frame, 0, lanes, resolved);
    break;
  }
  case MemorySpace::Const:
    // Nobody writes these two.
    ok = resolveArray(
        warp, form, space, const_cast<uint8_t *>(launch.constants->data()),
        launch.constants->size(), 0, kConstWindow, lanes, resolved);
    break;
  case MemorySpace::Params:
    ok = resolveArray(warp, form, space,
                      const_cast<uint8_t *>(launch.options->params.data()),
                      launch.options->params.size(), 0, 0, lanes, resolved);
    break;
  default:
    ok = resolveGlobal(warp, form, lanes, resolved);
    break;
  }
  if (ok && launch.observer && form.isTold) [[unlikely]] {
    MemoryAccess access;
    access.kind = form.kind;
    access.space = space;
    access.order = form.order;
    access.scope = form.scope;
    access.lanes = lanes;
    access.bytes = form.bytes;
    access.addresses = resolved.addresses;
    launch.observer->onAccess(warp.info, warp.at(), access);
  }
  return ok;
}

/// The space of a generic address, and its beginning there.
static std::pair<MemorySpace, uint64_t> spaceOfGeneric(uint64_t address) {
  switch ((address - kSharedWindow) / kWindowBytes) {
  case 0:
    return {MemorySpace::Shared, kSharedWindow};
  case 1:
    return {MemorySpace::Local, kLocalWindow};
  case 2:
    return {MemorySpace::Const, 0};
  case 3:
    return {MemorySpace::Params, kParamWindow};
  default:
    return {MemorySpace::Global, 0};
  }
}

/// Lanes of a generic access, by the spaces that they name.
static bool resolveGeneric(Warp &warp, const AccessForm &form, LaneMask lanes,
                           Resolved &resolved) {
  LaneMask rest = lanes;
  while (rest != 0) {
    const auto [space, window] =
        spaceOfGeneric(resolved.addresses[std::countr_zero(rest)]);
    Resolved part;
    LaneMask same = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      part.addresses[lane] = resolved.addresses[lane] - window;
      same |= LaneMask(spaceOfGeneric(resolved.addresses[lane]).first == space)
              << lane;
    }
    same &= rest;
    if (!resolveIn(warp, form, space, same, part))
      return false;
    eachLane(same,
             [&](unsigned lane) { resolved.host[lane] = part.host[lane]; });
    rest &= ~same;
  }
  return true;
}

bool kvc::sim::resolve(Warp &warp, const AccessForm &form, uint32_t base,
                       LaneMask lanes, Resolved &resolved) {
  const auto offset = static_cast<uint64_t>(form.offset);
  const bool isConst = form.space == MemorySpace::Const;
  const uint64_t added = isConst ? offset + kConstWindow : offset;
  if (form.isWide) {
    const uint64_t *bases = warp.wide(base);
    for (int lane = 0; lane < kLanes; ++lane)
      resolved.addresses[lane] = bases[lane] + added;
  } else {
    const uint32_t *bases = warp.row(base);
    for (int lane = 0; lane < kLanes; ++lane)
      resolved.addresses[lane] = bases[lane] + added;
  }
  if (form.space == MemorySpace::Generic)
    return resolveGeneric(warp, form, lanes, resolved);
  return resolveIn(warp, form, form.space, lanes, resolved);
}
