//===- LoadedModule.cpp - An object in this process -----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// ORC with its object linking layer, and nothing more of it: the objects are
// complete, so neither its compile layers nor a platform (constructors, thread
// locals, exceptions) has anything to do.
//
//===----------------------------------------------------------------------===//

#include "kvc/JIT/LoadedModule.h"

#include "kvc/Codegen/KernelTable.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/ExecutionEngine/Orc/TaskDispatch.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace kvc {

struct LoadedModule::State {
  explicit State(std::unique_ptr<orc::ExecutorProcessControl> control)
      : session(std::move(control)), layer(session) {
    session.setErrorReporter([this](Error error) {
      reported = joinErrors(std::move(reported), std::move(error));
    });
  }
  ~State() {
    consumeError(session.endSession());
    consumeError(std::move(reported));
  }

  /// The lookup's own error says only that it failed; the reason was reported.
  Error withReported(Error error) {
    Error reason = std::exchange(reported, Error::success());
    if (!reason)
      return error;
    consumeError(std::move(error));
    return reason;
  }

  orc::ExecutionSession session;
  orc::ObjectLinkingLayer layer;
  Error reported = Error::success();
};

LoadedModule::LoadedModule() = default;
LoadedModule::~LoadedModule() = default;

Expected<std::unique_ptr<LoadedModule>> LoadedModule::load(StringRef object,
                                                           bool asan) {
  auto control = orc::SelfExecutorProcessControl::Create(
      std::make_shared<orc::SymbolStringPool>(),
      std::make_unique<orc::InPlaceTaskDispatcher>());
  if (!control)
    return control.takeError();
  std::unique_ptr<LoadedModule> loaded(new LoadedModule());
  loaded->state = std::make_unique<State>(std::move(*control));
  State &state = *loaded->state;

  orc::JITDylib &dylib = state.session.createBareJITDylib("kvc");
  if (asan) {
    auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
        /*GlobalPrefix=*/'\0', [](const orc::SymbolStringPtr &name) {
          return (*name).starts_with("__asan_");
        });
    if (!process)
      return process.takeError();
    dylib.addGenerator(std::move(*process));
  }

  if (Error error = state.layer.add(
          dylib, MemoryBuffer::getMemBufferCopy(object, "kernels.o")))
    return state.withReported(std::move(error));
  auto symbol =
      state.session.lookup({&dylib}, state.session.intern(kTableSymbol));
  if (!symbol)
    return state.withReported(symbol.takeError());
  loaded->moduleTable = symbol->getAddress().toPtr<const kvc_module_table *>();
  return loaded;
}

} // namespace kvc
