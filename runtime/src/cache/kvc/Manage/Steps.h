//===- Steps.h - Which steps are in flight ----------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Steps are numbered from 1; 0 stands for what was done outside of any and is
// always done. A *fence* is a number of a step: it has passed when that step
// and all before it have retired.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_MANAGE_STEPS_H
#define KVC_MANAGE_STEPS_H

#include "kvc/manager.h"

#include <array>
#include <cstdint>

namespace kvc::manage {

class Steps {
public:
  enum class State : uint8_t { Retired, Begun, Ended };

  /// The step that is open, or 0.
  int64_t open() const { return openStep; }
  int64_t lastBegun() const { return last; }
  /// All steps up to this one have retired.
  int64_t retiredThrough() const { return through; }
  bool hasPassed(int64_t fence) const { return fence <= through; }
  bool isFull() const { return last - through >= KVC_MAX_STEPS; }
  /// Of any number.
  State state(int64_t step) const {
    return step > through && step <= last ? states[slot(step)] : State::Retired;
  }
  static size_t slot(int64_t step) { return size_t(step % KVC_MAX_STEPS); }

  int64_t begin() {
    states[slot(++last)] = State::Begun;
    return openStep = last;
  }
  void end(int64_t step) {
    states[slot(step)] = State::Ended;
    openStep = 0;
  }
  void retire(int64_t step) {
    states[slot(step)] = State::Retired;
    while (through < last && states[slot(through + 1)] == State::Retired)
      ++through;
  }

private:
  int64_t openStep = 0, last = 0, through = 0;
  std::array<State, KVC_MAX_STEPS> states{};
};

} // namespace kvc::manage

#endif // KVC_MANAGE_STEPS_H
