//===- Builtins.cpp - Functions that the device has itself ----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Machine/Builtins.h"

#include "kvc/Sim/Machine/Access.h"

#include <algorithm>
#include <bit>
#include <cctype>

using namespace kvc::sim;

namespace {

/// Bytes of a string or of arguments that are read at most.
constexpr uint64_t kMaxText = 64 * 1024;
/// Bytes that a block may print; what follows is dropped, as a device does.
constexpr size_t kMaxPrinted = size_t(1) << 20;
/// Characters that one conversion may be wide.
constexpr int kMaxWidth = 1024;

/// One lane's call.
class BuiltinCall {
public:
  BuiltinCall(Warp &warp, const CallSite &site, unsigned lane)
      : warp(warp), site(site), lane(lane) {}

  uint64_t argument(size_t number) const {
    const ParamPlace &place = site.arguments[number];
    uint64_t value = 0;
    std::memcpy(&value, bytesOf(place),
                size_t(std::min<uint64_t>(place.bytes, sizeof(value))));
    return value;
  }

  void setResult(uint64_t value) const {
    if (site.results.empty())
      return;
    const ParamPlace &place = site.results[0];
    std::memcpy(bytesOf(place), &value,
                size_t(std::min<uint64_t>(place.bytes, sizeof(value))));
  }

  /// One value at a generic address.
  template <typename T>
  bool read(uint64_t address, T &value) const {
    AccessForm form;
    form.space = MemorySpace::Generic;
    form.bytes = sizeof(T);
    form.align = 1;
    form.isWide = true;
    // A call is no access: it has no operands that observers could look at.
    form.isTold = false;
    alignas(64) uint64_t bases[kLanes];
    std::fill_n(bases, kLanes, address);
    Resolved resolved;
    // The operand is no row of the warp's: lend it as a file of its own.
    uint32_t *constants = warp.files[1];
    warp.files[1] = reinterpret_cast<uint32_t *>(bases);
    const bool ok =
        resolve(warp, form, kConstantFile, LaneMask(1) << lane, resolved);
    warp.files[1] = constants;
    if (ok)
      std::memcpy(&value, resolved.host[lane], sizeof(T));
    return ok;
  }

  /// A string that ends with 0.
  bool readText(uint64_t address, std::string &text) const {
    for (uint64_t i = 0; i < kMaxText; ++i) {
      char character = 0;
      if (!read(address + i, character))
        return false;
      if (character == 0)
        return true;
      text += character;
    }
    return true;
  }

private:
  uint8_t *bytesOf(const ParamPlace &place) const {
    const uint64_t frame = warp.launch->kernel->program.localBytes;
    if (place.slot.isNothing())
      return warp.block->local.data() +
             (uint64_t(warp.number) * kLanes + lane) * frame + place.offset;
    const uint32_t file =
        place.slot.file() == Slot::File::Constant ? kConstantFile : 0;
    return reinterpret_cast<uint8_t *>(warp.row(place.slot.index() | file)) +
           size_t(lane) * 4 * place.slot.rows();
  }

  Warp &warp;
  const CallSite &site;
  unsigned lane;
};

/// vprintf's format with arguments that lie one behind the other, each aligned
/// to its size.
class Printer {
public:
  Printer(const BuiltinCall &call, uint64_t arguments)
      : call(call), next(arguments) {}

  /// False after a fault.
  bool print(const std::string &format, std::string &out) {
    for (size_t i = 0; i < format.size();) {
      if (format[i] != '%') {
        out += format[i++];
        continue;
      }
      const size_t begin = i++;
      std::string spec = "%";
      while (i < format.size() && std::strchr("-+ #0", format[i]) && format[i])
        spec += format[i++];
      if (!number(format, i, spec))
        return false;
      if (i < format.size() && format[i] == '.') {
        spec += format[i++];
        if (!number(format, i, spec))
          return false;
      }
      unsigned longs = 0;
      while (i < format.size() && std::strchr("hljztL", format[i]) && format[i])
        longs += format[i++] == 'h' ? 0 : 1;
      if (i >= format.size()) {
        out += format.substr(begin);
        return true;
      }
      if (!convert(format[i++], spec, longs > 0, out))
        return false;
    }
    return true;
  }

  int conversions = 0;

private:
  template <typename T>
  bool take(T &value) {
    next = (next + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    next += sizeof(T);
    ++conversions;
    return call.read(next - sizeof(T), value);
  }

  /// A width or precision: digits, or `*`.
  bool number(const std::string &format, size_t &i, std::string &spec) {
    int value = 0;
    bool isGiven = false;
    if (i < format.size() && format[i] == '*') {
      ++i;
      isGiven = true;
      if (!take(value))
        return false;
      --conversions;
    }
    for (; i < format.size() &&
           std::isdigit(static_cast<unsigned char>(format[i]));
         ++i) {
      value = std::min(kMaxWidth, value * 10 + (format[i] - '0'));
      isGiven = true;
    }
    if (isGiven)
      spec += std::to_string(std::clamp(value, -kMaxWidth, kMaxWidth));
    return true;
  }

  bool convert(char kind, std::string spec, bool isLong, std::string &out) {
    char buffer[kMaxWidth + 512];
    buffer[0] = 0;
    auto add = [&](auto value) {
      std::snprintf(buffer, sizeof(buffer), spec.c_str(), value);
      out += buffer;
      return true;
    };
    switch (kind) {
    case '%':
      out += '%';
      return true;
    case 'd':
    case 'i': {
      long long value = 0;
      int narrow = 0;
      if (isLong ? !take(value) : !take(narrow))
        return false;
      spec += "lld";
      return add(isLong ? value : static_cast<long long>(narrow));
    }
    case 'u':
    case 'x':
    case 'X':
    case 'o': {
      unsigned long long value = 0;
      unsigned narrow = 0;
      if (isLong ? !take(value) : !take(narrow))
        return false;
      spec += std::string("ll") + kind;
      return add(isLong ? value : static_cast<unsigned long long>(narrow));
    }
    case 'c': {
      int value = 0;
      spec += kind;
      return take(value) && add(value);
    }
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A': {
      double value = 0;
      spec += kind;
      return take(value) && add(value);
    }
    case 'p': {
      unsigned long long value = 0;
      spec = "0x%llx";
      return take(value) && add(value);
    }
    case 's': {
      uint64_t address = 0;
      std::string text;
      if (!take(address) || !call.readText(address, text))
        return false;
      spec += kind;
      return add(text.c_str());
    }
    default:
      out += spec + kind;
      return true;
    }
  }

  const BuiltinCall &call;
  uint64_t next;
};

bool callIn(Warp &warp, const CallSite &site, unsigned lane) {
  const BuiltinCall call(warp, site, lane);
  Memory &memory = *warp.launch->memory;
  switch (site.builtin) {
  case Builtin::Vprintf: {
    std::string format, text;
    Printer printer(call, call.argument(1));
    if (!call.readText(call.argument(0), format) ||
        !printer.print(format, text))
      return false;
    if (warp.block->printed.size() + text.size() <= kMaxPrinted)
      warp.block->printed += text;
    call.setResult(uint64_t(printer.conversions));
    return true;
  }
  case Builtin::AssertFail: {
    std::string message, file, function;
    if (!call.readText(call.argument(0), message) ||
        !call.readText(call.argument(1), file) ||
        !call.readText(call.argument(3), function))
      return false;
    warp.fault(Fault::Kind::Assertion, LaneMask(1) << lane,
               "assertion: expected " + message + " in " + function + " at " +
                   file + ":" + std::to_string(call.argument(2)) +
                   ", got none, in " + warp.nameOfLane(lane));
    return false;
  }
  case Builtin::Malloc:
    call.setResult(call.argument(0) == 0
                       ? 0
                       : memory.allocate(call.argument(0), "malloc"));
    return true;
  case Builtin::Free:
    if (call.argument(0) != 0 && !memory.free(call.argument(0))) {
      warp.fault(Fault::Kind::UseAfterFree, LaneMask(1) << lane,
                 "free: expected what malloc gave, got " +
                     hex(call.argument(0)) + ", in " + warp.nameOfLane(lane));
      return false;
    }
    for (Touched &entry : warp.launch->lastTouched)
      entry = {};
    return true;
  case Builtin::None:
    break;
  }
  return true;
}

} // namespace

void kvc::sim::callBuiltin(Warp &warp, const CallSite &site, LaneMask lanes) {
  bool goes = true;
  eachLane(lanes,
           [&](unsigned lane) { goes = goes && callIn(warp, site, lane); });
}
