//===- DefaultFloats.h - Nobody's floating-point settings -------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_BASE_DEFAULTFLOATS_H
#define KVC_BASE_DEFAULTFLOATS_H

#include <cfenv>

namespace kvc {

/// Default floating-point settings while it lives: what is stored depends on no
/// caller's.
class DefaultFloats {
public:
  DefaultFloats() {
    std::fegetenv(&saved);
    std::fesetenv(FE_DFL_ENV);
  }
  DefaultFloats(const DefaultFloats &) = delete;
  DefaultFloats &operator=(const DefaultFloats &) = delete;
  ~DefaultFloats() { std::fesetenv(&saved); }

private:
  std::fenv_t saved{};
};

} // namespace kvc

#endif // KVC_BASE_DEFAULTFLOATS_H
