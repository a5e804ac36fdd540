//===- Supports.cpp - What compiles and runs ------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The one list of valid specs that the compiler refuses: none. Engines may ask
// on a hot path.
//
//===----------------------------------------------------------------------===//

#include "kvc/Spec/Spec.h"

const char *kvc::spec::unsupportedReason(const Spec & /*spec*/) {
  return nullptr;
}
