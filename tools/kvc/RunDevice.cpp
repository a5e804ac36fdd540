//===- RunDevice.cpp - The device that --device names ---------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/RunDevice.h"

#include "kvc/CommandLine.h"
#include "kvc/Failure.h"
#include "kvc/Targets.h"
#include "kvc/cuda.h"

#include <algorithm>
#include <charconv>

using namespace kvc;

/// N of a target "sm_N"; 0 of others.
static int capabilityOf(const std::string &target) {
  int capability = 0;
  if (target.starts_with("sm_"))
    std::from_chars(target.data() + 3, target.data() + target.size(),
                    capability);
  return capability;
}

// What the first constructor has made is freed if the second one fails.
RunDevice::RunDevice(const std::string &name, int64_t threads,
                     std::vector<LaunchCounts> *launches)
    : RunDevice() {
  if (name == "host")
    return;
  const std::vector<std::string> targets = targetNames();
  if (std::ranges::none_of(targets, capabilityOf))
    throw Failure("--device: expected host, since this build's compiler has no "
                  "target sm_N, got " +
                  inQuotes(name));
  Diag message;
  if (name == "sim") {
    kvc_sim_options options = {};
    options.struct_size = sizeof(options);
    options.threads = static_cast<int32_t>(threads);
    options.user = launches;
    if (launches)
      options.count = [](void *user, const kvc_sim_counts *counts) {
        static_cast<std::vector<LaunchCounts> *>(user)->push_back(
            {counts->kernel, *counts});
      };
    message.check(kvc_sim_device_create(&options, message, &device),
                  "--device");
    free = kvc_sim_device_free;
  } else {
    kvc_cuda_options options = {};
    options.struct_size = sizeof(options);
    if (const size_t colon = name.find(':'); colon != std::string::npos)
      std::from_chars(name.data() + colon + 1, name.data() + name.size(),
                      options.ordinal);
    message.check(kvc_cuda_device_create(&options, message, &device),
                  "--device");
    free = kvc_cuda_device_free;
  }
  kvc_device_info info = {};
  info.struct_size = sizeof(info);
  message.check(device->get_info(device->self, message, &info), "--device");
  int best = 0;
  for (const std::string &target : targets)
    if (const int capability = capabilityOf(target);
        capability <= info.capability && capability > best) {
      best = capability;
      targetName = target;
    }
  if (best == 0)
    throw Failure("--device: expected compute capability 8.0 or more, got " +
                  std::to_string(info.capability / 10) + "." +
                  std::to_string(info.capability % 10) + " of " + info.name);
}

RunDevice::~RunDevice() {
  if (device)
    free(device);
}
