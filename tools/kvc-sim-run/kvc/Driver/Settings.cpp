//===- Settings.cpp - What the environment says ---------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Driver/Settings.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>

using namespace kvc;
using namespace kvc::driver;

/// Half of the host's memory, but no more than any of the devices has.
static uint64_t defaultMemory() {
  const auto pages = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES));
  const auto bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return std::min<uint64_t>(pages * bytes / 2, uint64_t(80) << 30);
}

Settings::Settings()
    : device(sim::deviceNamed("H100")), memoryBytes(defaultMemory()) {}

static std::optional<uint64_t> numberOf(const std::string &text) {
  uint64_t value = 0;
  const char *end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stop != end)
    return std::nullopt;
  return value;
}

static bool setNumber(uint64_t &to, uint64_t least, uint64_t most,
                      const std::string &text, std::string &expected) {
  const std::optional<uint64_t> value = numberOf(text);
  expected =
      "a number from " + std::to_string(least) + " to " + std::to_string(most);
  if (!value || *value < least || *value > most)
    return false;
  to = *value;
  return true;
}

static bool setFlag(bool &to, const std::string &text, std::string &expected) {
  expected = "0 or 1";
  to = text == "1";
  return text == "0" || text == "1";
}

static bool setDevice(Settings &to, const std::string &text,
                      std::string &expected) {
  expected = "one of";
  for (const sim::DeviceModel &each : sim::allDevices())
    expected +=
        std::string(expected == "one of" ? " " : ", ") + std::string(each.name);
  to.device = sim::deviceNamed(text);
  return to.device != nullptr;
}

static bool setMemory(Settings &to, const std::string &text,
                      std::string &expected) {
  expected = "bytes, with K, M or G behind the number where it counts those, "
             "at most 1024G";
  const size_t unit = std::min(text.find_last_of("KMG"), text.size());
  const std::optional<uint64_t> value = numberOf(text.substr(0, unit));
  if (!value || unit + 1 < text.size())
    return false;
  const int shift = unit == text.size() ? 0
                    : text[unit] == 'K' ? 10
                    : text[unit] == 'M' ? 20
                                        : 30;
  if (*value == 0 || *value > (sim::kMaxAllocationBytes >> shift))
    return false;
  to.memoryBytes = *value << shift;
  return true;
}

static bool setMma(Settings &to, const std::string &text,
                   std::string &expected) {
  expected = "chain or one of";
  for (const sim::TensorCore &core : sim::tensorCores())
    for (std::string_view name : core.names)
      if (!name.empty())
        expected += " " + std::string(name);
  to.mma.isChain = text == "chain";
  to.mma.core = sim::tensorCoreNamed(text);
  return to.mma.isChain || to.mma.core;
}

static bool setHold(Settings &to, const std::string &text,
                    std::string &expected) {
  to.hold.reset();
  if (text == "forever")
    return true;
  uint64_t value = 0;
  const bool isNumber = setNumber(value, 0, 3600000, text, expected);
  expected += ", or forever";
  to.hold = std::chrono::milliseconds(value);
  return isNumber;
}

static bool setFile(std::string &to, const std::string &text,
                    std::string &expected) {
  expected = "a file";
  to = text;
  return !text.empty();
}

std::span<const Setting> kvc::driver::allSettings() {
  using Text = const std::string &;
  static constexpr Setting all[] = {
      {"KVC_SIM_DEVICE", "--device", "NAME",
       "The device that is simulated; default H100.", setDevice},
      {"KVC_SIM_MEMORY", "--memory", "BYTES",
       "Its memory, like 512M or 4G; default half of this machine's, at most "
       "80G.",
       setMemory},
      {"KVC_SIM_CHECK", "--check", nullptr,
       "Look for races, values that were never set, missing waits.",
       [](Settings &to, Text text, std::string &expected) {
         return setFlag(to.checks, text, expected);
       }},
      {"KVC_SIM_COUNT", "--count", nullptr,
       "Count what kernels do; a table at the end.",
       [](Settings &to, Text text, std::string &expected) {
         return setFlag(to.counts, text, expected);
       }},
      {"KVC_SIM_COUNT_FILE", "--count-file", "FILE",
       "Append the counts of every launch there, as JSON.",
       [](Settings &to, Text text, std::string &expected) {
         return setFile(to.countsFile, text, expected);
       }},
      {"KVC_SIM_FINDINGS", "--findings", "FILE",
       "Append what --check finds there.",
       [](Settings &to, Text text, std::string &expected) {
         return setFile(to.findingsFile, text, expected);
       }},
      {"KVC_SIM_SEED", "--seed", "N",
       "Another order of warps and of streams; default 0, one by one.",
       [](Settings &to, Text text, std::string &expected) {
         return setNumber(to.seed, 0, INT64_MAX, text, expected);
       }},
      {"KVC_SIM_THREADS", "--threads", "N",
       "Of this machine, for blocks that may run beside each other; default 1.",
       [](Settings &to, Text text, std::string &expected) {
         return setNumber(to.threads, 1, 1024, text, expected);
       }},
      {"KVC_SIM_LIMIT", "--limit", "N",
       "Warp instructions after which a launch is given up; default none.",
       [](Settings &to, Text text, std::string &expected) {
         return setNumber(to.maxSteps, 0, INT64_MAX, text, expected);
       }},
      {"KVC_SIM_MMA", "--mma", "NAME",
       "How mma adds: a device, or chain; default as the device.", setMma},
      {"KVC_SIM_HOLD", "--hold", "MS",
       "Milliseconds for which operations that nobody waits for are held back, "
       "or forever; 0 runs each at once; default 200.",
       setHold},
      {"KVC_SIM_LOG", "--log", nullptr, "Name every call and its result.",
       [](Settings &to, Text text, std::string &expected) {
         return setFlag(to.log, text, expected);
       }},
  };
  return all;
}

std::optional<std::string> kvc::driver::readSettings(
    Settings &settings,
    const std::function<const char *(const char *)> &variable) {
  for (const Setting &each : allSettings()) {
    const char *text = variable(each.variable);
    std::string expected;
    if (text && !each.set(settings, text, expected))
      return std::string(each.variable) + ": expected " + expected +
             ", got \"" + text + "\"";
  }
  return std::nullopt;
}
