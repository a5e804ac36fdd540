//===- Exports.cpp - The symbols of the library ---------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Every call is Calls.def's function with the same things before and after it:
// what it needs is there, errors of the context stick, no exception leaves, the
// log names it.
//
//===----------------------------------------------------------------------===//

#include "kvc/Driver/Exports.h"

#include "kvc/Driver/Api.h"
#include "kvc/Driver/Driver.h"

#include <array>
#include <cstdio>
#include <string>

using namespace kvc;
using namespace kvc::driver;

#define KVC_EXPORT extern "C" __attribute__((visibility("default")))

static thread_local std::string reason;

CUresult kvc::driver::because(CUresult result, const std::string &text) {
  reason = text;
  return result;
}

CUresult kvc::driver::refuse(const std::string &what) {
  sayOnce(what + ": expected a call that the simulator has, got one that it "
                 "has not (CUDA_ERROR_NOT_SUPPORTED)");
  return because(CUDA_ERROR_NOT_SUPPORTED, what);
}

const char *kvc::driver::nameOf(CUresult result) {
  switch (result) {
#define KVC_ERROR(NAME, VALUE, TEXT)                                           \
  case NAME:                                                                   \
    return #NAME;
#include "kvc/Driver/Errors.def"
#undef KVC_ERROR
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Before and after
//===----------------------------------------------------------------------===//

static CUresult check(Needs needs) {
  Driver *driver = theDriver();
  if (needs == Needs::Nothing)
    return CUDA_SUCCESS;
  if (!driver)
    return because(CUDA_ERROR_NOT_INITIALIZED, "cuInit was not called");
  if (driver->queue.isWorker())
    return because(CUDA_ERROR_NOT_PERMITTED, "in a host function");
  if (needs == Needs::Driver)
    return CUDA_SUCCESS;
  const std::shared_ptr<Context> &context = heldContext() = currentContext();
  if (!context)
    return because(CUDA_ERROR_INVALID_CONTEXT, "no current context");
  const CUresult failure = context->failure->result.load();
  return failure == CUDA_SUCCESS
             ? CUDA_SUCCESS
             : because(failure, "the context failed before");
}

/// An argument of a call, for the log. One type for all of them, so that what
/// all calls share is compiled once and not for each signature.
struct Argument {
  enum Kind { Struct, Pointer, Address, Signed, Unsigned } kind = Struct;
  uint64_t bits = 0;
};

template <typename T>
static Argument argumentOf(const T &value) {
  if constexpr (std::is_class_v<T>)
    return {};
  else if constexpr (std::is_pointer_v<T>)
    return {Argument::Pointer, reinterpret_cast<uintptr_t>(value)};
  else if constexpr (std::is_same_v<T, CUdeviceptr>)
    return {Argument::Address, value};
  else if constexpr (std::is_enum_v<T> || std::is_unsigned_v<T>)
    return {Argument::Unsigned, static_cast<uint64_t>(value)};
  else {
    static_assert(std::is_integral_v<T>);
    return {Argument::Signed, static_cast<uint64_t>(value)};
  }
}

static std::string textOf(const Argument &argument) {
  switch (argument.kind) {
  case Argument::Struct:
    return "{..}";
  case Argument::Pointer: {
    char text[24];
    std::snprintf(text, sizeof(text), "%p",
                  reinterpret_cast<void *>(argument.bits));
    return text;
  }
  case Argument::Address:
    return sim::hex(argument.bits);
  case Argument::Signed:
    return std::to_string(static_cast<int64_t>(argument.bits));
  case Argument::Unsigned:
    break;
  }
  return std::to_string(argument.bits);
}

struct Call {
  const char *symbol;
  Needs needs;
  bool ofThread;
};

static void log(const Call &call, CUresult result,
                std::span<const Argument> arguments) {
  const Driver *driver = theDriver();
  if (!driver || !driver->settings.log)
    return;
  std::string text = call.symbol;
  const char *separator = "(";
  for (const Argument &argument : arguments) {
    text += separator + textOf(argument);
    separator = ", ";
  }
  const char *name = nameOf(result);
  say(text + (arguments.empty() ? "()" : ")") + " = " + (name ? name : "?") +
      (reason.empty() ? "" : ": " + reason));
}

/// `body` is called with `state` if the call may be made.
static CUresult enter(const Call &call, std::span<const Argument> arguments,
                      CUresult (*body)(const void *), const void *state) {
  reason.clear();
  CUresult result = check(call.needs);
  if (result == CUDA_SUCCESS) {
    const bool before = isPerThread();
    isPerThread() = call.ofThread;
    try {
      result = body(state);
    } catch (const std::bad_alloc &) {
      result = CUDA_ERROR_OUT_OF_MEMORY;
    } catch (const std::length_error &) {
      result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    isPerThread() = before;
  }
  heldContext().reset();
  log(call, result, arguments);
  return result;
}

template <typename... A, typename... B>
static CUresult enter(const Call &call, CUresult (*function)(A...), B... args) {
  const std::array<Argument, sizeof...(B)> arguments = {argumentOf(args)...};
  const auto body = [&] { return function(args...); };
  return enter(
      call, arguments,
      [](const void *state) {
        return (*static_cast<const decltype(body) *>(state))();
      },
      &body);
}

//===----------------------------------------------------------------------===//
// The symbols
//===----------------------------------------------------------------------===//

#define KVC_DEFINE(SYMBOL, NEEDS, OF_THREAD, IMPL, ...)                        \
  KVC_EXPORT CUresult SYMBOL(KVC_PARAMS(__VA_ARGS__)) {                        \
    return enter({#SYMBOL, Needs::NEEDS, OF_THREAD},                           \
                 &calls::IMPL KVC_ARGS(__VA_ARGS__));                          \
  }
#define KVC_TWIN_None(...)
#define KVC_TWIN_Ptsz(SYMBOL, ...) KVC_DEFINE(SYMBOL##_ptsz, __VA_ARGS__)
#define KVC_TWIN_Ptds(SYMBOL, ...) KVC_DEFINE(SYMBOL##_ptds, __VA_ARGS__)
#define KVC_CALL(SYMBOL, BASE, VERSION, NEEDS, THREADS, IMPL, ...)             \
  KVC_DEFINE(SYMBOL, NEEDS, false, IMPL __VA_OPT__(, ) __VA_ARGS__)            \
  KVC_TWIN_##THREADS(SYMBOL, NEEDS, true, IMPL __VA_OPT__(, ) __VA_ARGS__)
#include "kvc/Driver/Calls.def"
#undef KVC_CALL

// Whatever a caller passes, it clears it away itself.
#define KVC_MISSING(SYMBOL)                                                    \
  KVC_EXPORT CUresult SYMBOL() { return refuse(#SYMBOL); }
#include "kvc/Driver/Missing.def"
#undef KVC_MISSING

//===----------------------------------------------------------------------===//
// By name
//===----------------------------------------------------------------------===//

#define KVC_ENTRY(FUNCTION) reinterpret_cast<void *>(&FUNCTION)
#define KVC_TWIN_OF_None(SYMBOL) nullptr
#define KVC_TWIN_OF_Ptsz(SYMBOL) KVC_ENTRY(SYMBOL##_ptsz)
#define KVC_TWIN_OF_Ptds(SYMBOL) KVC_ENTRY(SYMBOL##_ptds)

std::span<const Exported> kvc::driver::allCalls() {
  static const Exported all[] = {
#define KVC_CALL(SYMBOL, BASE, VERSION, NEEDS, THREADS, IMPL, ...)             \
  {#BASE, VERSION, KVC_ENTRY(SYMBOL), KVC_TWIN_OF_##THREADS(SYMBOL)},
#include "kvc/Driver/Calls.def"
#undef KVC_CALL
  };
  return all;
}

std::span<const Exported> kvc::driver::missingCalls() {
  static const Exported all[] = {
#define KVC_MISSING(SYMBOL) {#SYMBOL, 0, KVC_ENTRY(SYMBOL), nullptr},
#include "kvc/Driver/Missing.def"
#undef KVC_MISSING
  };
  return all;
}
