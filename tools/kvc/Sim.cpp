//===- Sim.cpp - kvc sim --------------------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/CommandLine.h"
#include "kvc/Commands.h"
#include "kvc/Json.h"
#include "kvc/OutputFiles.h"
#include "kvc/Progress.h"
#include "kvc/SimArguments.h"
#include "kvc/SimList.h"
#include "kvc/SimWatch.h"
#include "kvc/SpecFile.h"
#include "kvc/Table.h"

#include "kvc/Sim/Check/Contraction.h"

#include <algorithm>
#include <chrono>
#include <deque>

using namespace kvc;

namespace {

struct SimOptions {
  std::string file, kernel, grid = "1", block = "32", mma, output;
  std::string sfu = "exact";
  std::vector<std::string> arguments;
  int64_t shared = 0, seed = 0, threads = 1, limit = 0;
  bool list = false, json = false;
  SimWatchOptions watch;
};

/// FILE:LINE:COLUMN: message
Failure failureAt(const std::string &file, sim::Position at,
                  const std::string &message) {
  if (at.line == 0)
    return Failure(file + ": " + message);
  return Failure(file + ":" + std::to_string(at.line) + ":" +
                 std::to_string(at.column) + ": " + message);
}

/// The kernel that is meant, if there is one to mean.
std::string kernelOf(const SimOptions &options,
                     const sim::LoadedModule &module) {
  std::vector<std::string> names;
  for (std::string_view name : module.kernels())
    names.emplace_back(name);
  if (names.empty())
    throw Failure(options.file + ": expected a kernel, got none");
  if (options.kernel.empty()) {
    if (names.size() > 1)
      failUse("--kernel: expected one of " + join(names) + "; got none");
    return names.front();
  }
  return parseName("--kernel", options.kernel, names);
}

sim::MmaMode mmaOf(const std::string &text) {
  sim::MmaMode mode;
  mode.isChain = text == "chain";
  if (text.empty() || mode.isChain)
    return mode;
  std::vector<std::string> names{"chain"};
  for (const sim::TensorCore &core : sim::tensorCores())
    for (std::string_view name : core.names)
      if (!name.empty())
        names.emplace_back(name);
  mode.core = sim::tensorCoreNamed(parseName("--mma", text, names));
  return mode;
}

sim::LaunchOptions launchOptions(const SimOptions &options) {
  sim::LaunchOptions launch;
  launch.grid = parseExtent("--grid", options.grid);
  launch.block = parseExtent("--block", options.block);
  launch.dynamicShared = uint64_t(options.shared);
  launch.mma = mmaOf(options.mma);
  launch.approx.perturb = options.sfu == "perturb";
  launch.approx.seed = uint64_t(options.seed);
  launch.seed = uint64_t(options.seed);
  launch.threads = unsigned(options.threads);
  launch.maxSteps = uint64_t(options.limit);
  return launch;
}

std::string extentText(const sim::Extent3 &extent) {
  return std::to_string(extent.x) + "x" + std::to_string(extent.y) + "x" +
         std::to_string(extent.z);
}

std::string report(const std::string &kernel, const sim::LaunchOptions &launch,
                   const sim::LaunchResult &result, const SimArguments &given,
                   double seconds, const SimWatch &watch, bool asJson) {
  if (asJson) {
    Json json;
    json["kernel"] = kernel;
    json["grid"] = {launch.grid.x, launch.grid.y, launch.grid.z};
    json["block"] = {launch.block.x, launch.block.y, launch.block.z};
    json["warp_instructions"] = result.steps;
    json["seconds"] = seconds;
    json["printed"] = result.printed;
    json["buffers"] = Json::array();
    for (const SimBuffer &buffer : given.buffers)
      json["buffers"].push_back({{"name", buffer.name()},
                                 {"parameter", buffer.param},
                                 {"dtype", safetensors::nameOf(buffer.dtype)},
                                 {"elements", buffer.elements}});
    watch.addTo(json, kernel);
    return documentOf(json);
  }
  Table table({{"kernel", Align::Left},
               {"grid"},
               {"block"},
               {"warp instructions"},
               {"seconds"},
               {"millions/s"}});
  table.add({kernel, extentText(launch.grid), extentText(launch.block),
             std::to_string(result.steps), fixed(seconds, 3),
             fixed(double(result.steps) / seconds * 1e-6, 1)});
  return result.printed + table.str() + watch.text(kernel);
}

/// Runs the kernel again with products and sums that ptxas may make one, and
/// tells of the first memory that then differs. Whether it does.
bool changesWith(const sim::Contraction &contraction, const SimOptions &options,
                 const std::string &kernel, sim::LaunchOptions launch,
                 const SimArguments &given, const sim::Memory &memory,
                 SimWatch &watch) {
  sim::Memory other;
  auto loaded = sim::LoadedModule::load(contraction.text, other);
  if (!loaded)
    throw failureAt(options.file, loaded.error().at, loaded.error().message);
  const SimArguments again = simArguments(
      options.arguments, sim::paramsOf((*loaded)->module(), kernel), other);
  launch.params = again.params;
  launch.observer = nullptr;
  const sim::LaunchResult result = sim::launch(**loaded, kernel, other, launch);
  if (result.fault)
    throw failureAt(options.file, result.at,
                    "with fma: " + result.fault->message);
  for (size_t i = 0; i < given.buffers.size(); ++i) {
    const SimBuffer &buffer = given.buffers[i];
    const uint64_t bytes = memory.find(buffer.address, 0)->bytes;
    const auto *before = memory.find(buffer.address, 0)->data();
    const auto *after = other.find(again.buffers[i].address, 0)->data();
    const auto [one, two] = std::mismatch(before, before + bytes, after);
    if (one == before + bytes)
      continue;
    sim::Finding finding;
    finding.kind = sim::Finding::Kind::Fma;
    finding.message =
        "line " + std::to_string(contraction.sums.front().line) +
        (contraction.sums.size() == 1
             ? ""
             : " and " + std::to_string(contraction.sums.size() - 1) +
                   " more") +
        ": a device may make fma of these sums and their products, and then "
        "byte " +
        std::to_string(one - before) + " of \"" + buffer.param + "\" differs";
    for (const sim::Position &sum : contraction.sums)
      finding.places.push_back({sum.line, "", 0});
    watch.add(std::move(finding));
    return true;
  }
  return false;
}

/// Both ways: of a sum of two products either may go into the fma.
void checkContraction(const SimOptions &options, const std::string &kernel,
                      const sim::Module &module,
                      const sim::LaunchOptions &launch,
                      const SimArguments &given, const sim::Memory &memory,
                      SimWatch &watch) {
  const sim::Contraction first = sim::contractionOf(module);
  if (first.sums.empty() ||
      changesWith(first, options, kernel, launch, given, memory, watch))
    return;
  const sim::Contraction second =
      sim::contractionOf(module, /*takesSecond=*/true);
  if (second.text != first.text)
    changesWith(second, options, kernel, launch, given, memory, watch);
}

/// What the arguments say comes back, flat.
void writeBuffers(const SimArguments &given, const sim::Memory &memory,
                  OutputFile &file) {
  std::vector<safetensors::Tensor> tensors;
  std::deque<std::vector<std::byte>> bytes;
  for (const SimBuffer &buffer : given.buffers) {
    if (!buffer.isReturned)
      continue;
    safetensors::Tensor tensor{
        buffer.name(), buffer.dtype, {buffer.elements}, {}};
    bytes.emplace_back(
        size_t(buffer.elements * safetensors::bytesOf(buffer.dtype)));
    memory.read(buffer.address, bytes.back().data(), bytes.back().size());
    tensor.data = bytes.back();
    tensors.push_back(std::move(tensor));
  }
  file.write(tensors);
}

/// A fault that was looked for is a finding; any other one is a failure.
void takeFault(const SimOptions &options, const std::string &kernel,
               sim::LoadedModule &module, const sim::LaunchOptions &launch,
               const sim::LaunchResult &result, SimWatch &watch) {
  const auto program = module.program(kernel);
  sim::LaunchInfo info;
  info.module = &module.module();
  info.program = program ? *program : nullptr;
  info.grid = launch.grid;
  info.block = launch.block;
  if (info.program) {
    sim::Finding finding = sim::findingOf(info, *result.fault);
    if (watch.tells(finding.kind)) {
      if (!watch.isChecked())
        watch.add(std::move(finding));
      return;
    }
  }
  if (!options.json)
    print(result.printed + watch.findingsText());
  throw failureAt(options.file, result.at, result.fault->message);
}

void simulate(const SimOptions &options) {
  SimWatch watch(options.watch);
  sim::Memory memory;
  memory.setObserver(watch.observer());
  auto loaded = sim::LoadedModule::load(readFile(options.file), memory);
  if (!loaded)
    throw failureAt(options.file, loaded.error().at, loaded.error().message);
  sim::LoadedModule &module = **loaded;
  if (options.list)
    return print(simList(module, options.json));

  OutputFiles files;
  files.protect("MODULE", options.file);
  for (const std::string &file : filesOf(options.arguments))
    files.protect("--arg", file);
  if (!options.watch.ptxas.empty())
    files.protect("--ptxas", options.watch.ptxas);
  OutputFile *output = nullptr;
  if (!options.output.empty())
    output = &files.open("--output", options.output);
  const std::string kernel = kernelOf(options, module);
  sim::LaunchOptions launch = launchOptions(options);
  const SimArguments given = simArguments(
      options.arguments, sim::paramsOf(module.module(), kernel), memory);
  launch.params = given.params;
  launch.observer = watch.observer();
  Progress progress("sim");
  progress.begin("run " + kernel);
  uint64_t told = 0;
  launch.progress = [&](uint64_t done, uint64_t all) {
    // Every twentieth part.
    if (done / ((all + 19) / 20) == told)
      return;
    told = done / ((all + 19) / 20);
    progress.begin("run " + kernel + ": " + std::to_string(done) + " of " +
                   std::to_string(all) + " blocks");
  };
  const auto begin = std::chrono::steady_clock::now();
  const sim::LaunchResult result = sim::launch(module, kernel, memory, launch);
  const std::chrono::duration<double> time =
      std::chrono::steady_clock::now() - begin;
  if (result.fault)
    takeFault(options, kernel, module, launch, result, watch);
  else if (watch.tells(sim::Finding::Kind::Fma))
    checkContraction(options, kernel, module.module(), launch, given, memory,
                     watch);
  if (output)
    writeBuffers(given, memory, *output);
  print(
      report(kernel, launch, result, given, time.count(), watch, options.json));
  files.commit();
  if (watch.findings() > 0)
    throw Failure(options.file + ": expected a kernel without findings, got " +
                  std::to_string(watch.findings()));
}

} // namespace

void kvc::addSimCommand(CLI::App &app) {
  auto options = std::make_shared<SimOptions>();
  CLI::App &command =
      addCommand(app, "sim", "Run a kernel of a PTX module on a simulated GPU.",
                 [options] { simulate(*options); });
  addFile(command, "MODULE", options->file, "A PTX module.", Need::Required);
  addFlag(command, "--list", options->list,
          "List the kernels and what they need, run none.");
  addText(command, "--kernel", options->kernel, "NAME",
          "The kernel; needed where the module has several.");
  addText(command, "--grid", options->grid, "X[,Y[,Z]]", "Blocks.");
  addText(command, "--block", options->block, "X[,Y[,Z]]",
          "Threads of a block.");
  addInteger(command, "--shared", options->shared, 0, int64_t(1) << 30,
             "Bytes of dynamic shared memory.");
  addTexts(command, "--arg", options->arguments, "ARG..",
           "One for each parameter, in order: i32:5, f32:1.5 or a number of "
           "the parameter's type, bytes:HEX, IN.safetensors:NAME, "
           "inout:IN.safetensors:NAME, out:f32[1024], zeros:f32[1024], "
           "random:f32[1024] or random:7:f32[1024], other values by a seed of "
           "their own, which is not --seed.");
  addFile(command, "--output", options->output,
          "Write inout, out, zeros and random memory here, as safetensors: "
          "argN, N the argument's number from 0.");
  addText(command, "--mma", options->mma, "NAME",
          "How mma adds: a device, or chain for a chain of fma. "
          "Default: the device of the module's target.");
  addName(command, "--sfu", options->sfu, {"exact", "perturb"},
          "Approximate functions: rounded correctly, or as wrong as the ISA "
          "allows.");
  addInteger(command, "--seed", options->seed, 0, INT64_MAX,
             "Of the order of warps, and of perturb; 0 is one by one.");
  addInteger(command, "--threads", options->threads, 1, kMaxThreads,
             "Of this machine, where blocks may run beside each other.");
  addInteger(command, "--limit", options->limit, 0, INT64_MAX,
             "Warp instructions after which to give up; 0: none.");
  addFlag(command, "--count", options->watch.counts,
          "Count instructions, memory traffic, bank conflicts, divergence.");
  addFlag(command, "--listing", options->watch.listing,
          "Print the kernel's lines with counts before them.");
  addFile(command, "--ptxas", options->watch.ptxas,
          "The output of ptxas -v, for occupancy.");
  addParsedOr(
      command, "--check", allChecks(),
      [options](const std::string &text) {
        addChecks(text, options->watch.checks);
      },
      "LIST",
      "What to look for, default all: " + allChecks() +
          ". Findings exit with 1.");
  addFlag(command, "--json", options->json, "Print JSON.");
}
