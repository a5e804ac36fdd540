//===- Memory.cpp - The memory of a device --------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Machine/Memory.h"

#include "kvc/Sim/Machine/Observer.h"
#include "kvc/Sim/Syntax/Types.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace kvc::sim;

std::string kvc::sim::hex(uint64_t value) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "0x%llx",
                static_cast<unsigned long long>(value));
  return buffer;
}

uint64_t Memory::allocate(uint64_t bytes, std::string name) {
  if (bytes > kMaxAllocationBytes)
    return 0;
  auto *data =
      static_cast<uint8_t *>(std::calloc(std::max<uint64_t>(bytes, 1), 1));
  if (!data)
    return 0;
  const uint64_t address = next;
  next = alignedTo(address + bytes + kAllocationGap, kAllocationAlign);
  insert({address, bytes, std::move(name), {data, std::free}});
  return address;
}

bool Memory::lend(void *data, uint64_t bytes, std::string name) {
  const auto address = reinterpret_cast<uintptr_t>(data);
  if (bytes == 0 || bytes > kMaxAllocationBytes)
    return false;
  // What overlaps. The host uses addresses again: there may be freed entries.
  auto overlaps = [&](const Allocation &entry) {
    return entry.address < address + bytes &&
           address < entry.address + entry.bytes;
  };
  for (const Allocation &entry : all)
    if (overlaps(entry) && !entry.isFreed())
      return false;
  std::erase_if(all, overlaps);
  insert({address,
          bytes,
          std::move(name),
          {static_cast<uint8_t *>(data), [](void *) {}}});
  if (observer)
    observer->onHostWrite(address, bytes);
  return true;
}

void Memory::insert(Allocation entry) {
  const auto at = std::upper_bound(all.begin(), all.end(), entry.address,
                                   [](uint64_t from, const Allocation &each) {
                                     return from < each.address;
                                   });
  const Allocation &placed = *all.insert(at, std::move(entry));
  if (observer)
    observer->onAllocate(placed.address, placed.bytes, placed.name);
}

bool Memory::free(uint64_t address) {
  const Allocation *found = nearest(address);
  if (!found || found->address != address || found->isFreed())
    return false;
  all[size_t(found - all.data())].storage.reset();
  if (observer)
    observer->onFree(address);
  return true;
}

const Allocation *Memory::nearest(uint64_t address) const {
  auto after = std::upper_bound(
      all.begin(), all.end(), address,
      [](uint64_t at, const Allocation &entry) { return at < entry.address; });
  return after == all.begin() ? nullptr : &*std::prev(after);
}

const Allocation *Memory::find(uint64_t address, uint64_t bytes) const {
  const Allocation *found = nearest(address);
  return found && !found->isFreed() && found->holds(address, bytes) ? found
                                                                    : nullptr;
}

bool Memory::write(uint64_t address, const void *from, uint64_t bytes) {
  const Allocation *found = find(address, bytes);
  if (!found)
    return false;
  if (bytes > 0)
    std::memcpy(found->data() + (address - found->address), from, bytes);
  if (observer)
    observer->onHostWrite(address, bytes);
  return true;
}

bool Memory::fill(uint64_t address, uint8_t value, uint64_t bytes) {
  const Allocation *found = find(address, bytes);
  if (!found)
    return false;
  std::memset(found->data() + (address - found->address), value, bytes);
  if (observer)
    observer->onHostWrite(address, bytes);
  return true;
}

bool Memory::read(uint64_t address, void *to, uint64_t bytes) const {
  const Allocation *found = find(address, bytes);
  if (!found)
    return false;
  if (bytes > 0)
    std::memcpy(to, found->data() + (address - found->address), bytes);
  return true;
}

std::string Memory::describe(uint64_t address, uint64_t bytes) const {
  std::string text = std::to_string(bytes) + " bytes at " + hex(address);
  const Allocation *before = nearest(address);
  auto name = [](const Allocation &entry) {
    return "\"" + entry.name + "\" (" + std::to_string(entry.bytes) + " bytes)";
  };
  if (before && before->isFreed() && before->holds(address, 1))
    return text + ", in " + name(*before) + ", which was freed";
  if (before && before->holds(address, 1))
    return text + ", the last " +
           std::to_string(address + bytes - before->address - before->bytes) +
           " beyond the end of " + name(*before);
  // Whichever end is nearer.
  const size_t next = before ? size_t(before - all.data()) + 1 : 0;
  const Allocation *after = next < all.size() ? &all[next] : nullptr;
  const uint64_t beyond =
      before ? address - before->address - before->bytes : UINT64_MAX;
  const uint64_t ahead = after ? after->address - address : UINT64_MAX;
  if (before && beyond <= ahead)
    return text + ", " + std::to_string(beyond) + " bytes beyond the end of " +
           name(*before);
  if (after)
    return text + ", " + std::to_string(ahead) + " bytes before " +
           name(*after);
  return text + ", where nothing is allocated";
}
