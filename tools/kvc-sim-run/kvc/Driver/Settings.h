//===- Settings.h - What the environment says -------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DRIVER_SETTINGS_H
#define KVC_DRIVER_SETTINGS_H

#include "kvc/Sim/Count/Devices.h"
#include "kvc/Sim/Machine/Machine.h"

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace kvc::driver {

struct Settings {
  Settings();

  const sim::DeviceModel *device;
  uint64_t memoryBytes;
  bool checks = false, counts = false, log = false;
  uint64_t seed = 0, threads = 1, maxSteps = 0;
  sim::MmaMode mma;
  /// How long operations that nobody waits for are held back; none: for ever.
  std::optional<std::chrono::milliseconds> hold =
      std::chrono::milliseconds(200);
  std::string countsFile, findingsFile;
};

/// One variable of the environment, and the option of kvc-sim-run that sets it.
struct Setting {
  const char *variable, *option;
  const char *value; ///< What it takes, for help; null: the option is a flag.
  const char *help;
  /// False, with what was expected, if the text is no value of it.
  bool (*set)(Settings &, const std::string &text, std::string &expected);
};
std::span<const Setting> allSettings();

/// Reads all of them. What is wrong, if something is.
std::optional<std::string>
readSettings(Settings &settings,
             const std::function<const char *(const char *)> &variable);

} // namespace kvc::driver

#endif // KVC_DRIVER_SETTINGS_H
