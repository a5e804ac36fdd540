//===- UndefinedMemory.cpp - Which bits of memory were never written ------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Check/UndefinedMemory.h"

#include <cstdio>

using namespace kvc::sim;

void GlobalShadow::allocate(uint64_t address, uint64_t bytes,
                            std::string name) {
  objects.insert_or_assign(address, Object{std::move(name), ByteShadow(bytes)});
  last = nullptr;
}

void GlobalShadow::free(uint64_t address) {
  objects.erase(address);
  last = nullptr;
}

GlobalShadow::Object *GlobalShadow::find(uint64_t address, uint64_t &offset) {
  if (!last || address - lastAddress >= last->shadow.size()) {
    auto next = objects.upper_bound(address);
    if (next == objects.begin())
      return nullptr;
    --next;
    if (address - next->first >= next->second.shadow.size())
      return nullptr;
    lastAddress = next->first;
    last = &next->second;
  }
  offset = address - lastAddress;
  return last;
}

void GlobalShadow::define(uint64_t address, uint64_t bytes) {
  uint64_t offset = 0;
  if (Object *object = find(address, offset))
    object->shadow.define(offset, bytes);
}

std::string GlobalShadow::describe(uint64_t address) {
  uint64_t offset = 0;
  if (const Object *object = find(address, offset))
    return "\"" + object->name + "\" + " + std::to_string(offset);
  char buffer[24];
  std::snprintf(buffer, sizeof(buffer), "0x%llx",
                static_cast<unsigned long long>(address));
  return buffer;
}
