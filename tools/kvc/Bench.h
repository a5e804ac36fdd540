//===- Bench.h - What kvc bench times, wherever it runs ---------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_BENCH_H
#define KVC_TOOLS_BENCH_H

#include "kvc/Engine.h"
#include "kvc/Json.h"
#include "kvc/PresetSpecs.h"
#include "kvc/Timing.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kvc {

struct BenchOptions {
  std::vector<std::string> specs;
  std::string device = "host", cpu;
  std::vector<int64_t> contexts{8192}, batches{1}, threads;
  std::string svg;
  bool presets = false, json = false;
};

/// A spec, compiled, and the same attention over a cache without codes.
struct BenchEngine {
  std::string place; ///< What messages call it.
  Engine engine;
  std::optional<Engine> twin; ///< Absent where the spec is its own.
};

struct BenchEngines {
  std::vector<BenchEngine> all;
  std::vector<Refusal> refused; ///< Presets that do not run.
};

enum class Twins : uint8_t { None, Compiled };

/// Specs that were given, then all presets if they were asked for. `check` says
/// of each engine what else would fail later, before anything is measured.
BenchEngines compileAll(const BenchOptions &options,
                        const kvc_compile_options &compile,
                        const kvc_device *device, Twins twins,
                        const std::function<void(const Engine &)> &check);

/// "median +- half of the distance between the quartiles", times `factor`.
std::string spread(const Quartiles &quartiles, double factor, int digits);

/// With names: "low", "median", "high".
Json asJson(const Quartiles &quartiles);

/// kvc bench on a device with memory of its own.
void benchOnDevice(const BenchOptions &options);

} // namespace kvc

#endif // KVC_TOOLS_BENCH_H
