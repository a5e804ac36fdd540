//===- Lock.h - Probes beside one mutator -----------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_MANAGE_LOCK_H
#define KVC_MANAGE_LOCK_H

#include <mutex>
#include <shared_mutex>

namespace kvc::manage {

/// Many probes or one mutator, in the order in which they come: the standard
/// one alone lets probes that never pause keep a mutator out for ever.
class Lock {
public:
  void lock() {
    const std::lock_guard turn(gate);
    inner.lock();
  }
  void unlock() { inner.unlock(); }
  void lock_shared() {
    const std::lock_guard turn(gate);
    inner.lock_shared();
  }
  void unlock_shared() { inner.unlock_shared(); }

private:
  std::mutex gate;
  std::shared_mutex inner;
};

} // namespace kvc::manage

#endif // KVC_MANAGE_LOCK_H
