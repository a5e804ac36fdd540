//===- LoadedModule.h - An object in this process ---------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_JIT_LOADEDMODULE_H
#define KVC_JIT_LOADEDMODULE_H

#include "kvc/kernel_abi.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace kvc {

/// An ahead-of-time object linked into this process. Loading starts no thread,
/// prints nothing and resolves no symbol of the process but AddressSanitizer's.
class LoadedModule {
public:
  /// `asan`: the object was instrumented; this process must contain the
  /// run-time library of AddressSanitizer.
  static llvm::Expected<std::unique_ptr<LoadedModule>>
  load(llvm::StringRef object, bool asan);
  ~LoadedModule();

  /// Lives as long as this.
  const kvc_module_table &table() const { return *moduleTable; }

private:
  LoadedModule();
  struct State;
  std::unique_ptr<State> state;
  const kvc_module_table *moduleTable = nullptr;
};

} // namespace kvc

#endif // KVC_JIT_LOADEDMODULE_H
