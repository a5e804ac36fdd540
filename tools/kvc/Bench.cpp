//===- Bench.cpp - kvc bench ----------------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Decode steps against the machine's read bandwidth and against f16. All three
// are measured in one process in turn, so that whatever else the machine does
// meets them alike, and cold: each finds nothing of its data in any cache.
//
//===----------------------------------------------------------------------===//

#include "kvc/Bench.h"
#include "kvc/BenchCase.h"
#include "kvc/CommandLine.h"
#include "kvc/Commands.h"
#include "kvc/Json.h"
#include "kvc/OutputFiles.h"
#include "kvc/Plot.h"
#include "kvc/Progress.h"
#include "kvc/Table.h"
#include "kvc/Targets.h"

#include <cstring>
#include <optional>

using namespace kvc;

namespace {

/// The attention that presets are timed over, and that of presets whose value
/// is a slice of their key, which many query heads share.
constexpr AttentionShape kPresetShape{8, 8, 128, 128, KVC_F16};
constexpr AttentionShape kSharedShape{128, 1, 0, 0, KVC_BF16};

/// What is timed.
struct TimedSpec {
  std::string place; ///< What messages call it.
  std::string text;
};

struct BenchRow {
  std::string spec, target;
  int64_t context, batch, threads;
  double bytes;
  Measurement measured;

  double gbs() const { return bytes * 1e-3 / measured.stepUs.median; }
  bool isSlower() const { return measured.overF16.median < 1; }

  std::string operands; ///< What the decode kernel multiplies.
};

/// The memory that streaming reads run over, written once so that it is there.
class ReadMemory {
public:
  std::span<const std::byte> ofBytes(size_t bytes) {
    if (!memory || memory->bytes().size() < bytes) {
      memory.emplace(bytes);
      std::memset(memory->bytes().data(), 1, bytes);
    }
    return memory->bytes();
  }

private:
  std::optional<MappedMemory> memory;
};

std::string asText(const std::vector<BenchRow> &rows,
                   const std::vector<Refusal> &refused) {
  Table table({{"spec", Align::Left},
               {"context"},
               {"batch"},
               {"threads"},
               {"MB per\nstep"},
               {"us per\nstep"},
               {"GB/s"},
               {"machine\nreads GB/s"},
               {"% of read\nbandwidth"},
               {"x over\nf16"}});
  for (const BenchRow &row : rows)
    table.add({onOneLine(row.spec), std::to_string(row.context),
               std::to_string(row.batch), std::to_string(row.threads),
               fixed(row.bytes * 1e-6, 2), fixed(row.measured.stepUs.median, 1),
               fixed(row.gbs(), 2), fixed(row.measured.readGBs, 2),
               spread(row.measured.shareOfRead, 100, 0),
               spread(row.measured.overF16, 1, 2)});
  std::string text;
  if (!rows.empty())
    text = table.str() +
           "Medians, +- half of the distance between the quartiles; " +
           rows.front().target + ", cold.\n";
  Table notes({{"", Align::Left}, {"", Align::Left}});
  for (const BenchRow &row : rows)
    if (row.isSlower())
      notes.add(
          {onOneLine(row.spec),
           "slower than f16: its decode kernel multiplies " + row.operands});
  for (const Refusal &each : refused)
    notes.add({each.name, "not run: " + onOneLine(each.reason)});
  return text + (notes.empty() ? "" : notes.str());
}

std::string asJson(const std::vector<BenchRow> &rows,
                   const std::vector<Refusal> &refused) {
  Json result = Json::array();
  for (const BenchRow &row : rows)
    result.push_back({{"name", row.spec},
                      {"target", row.target},
                      {"context", row.context},
                      {"batch", row.batch},
                      {"threads", row.threads},
                      {"bytes_per_step", row.bytes},
                      {"us_per_step", asJson(row.measured.stepUs)},
                      {"gb_per_s", row.gbs()},
                      {"read_gb_per_s", row.measured.readGBs},
                      {"read_streams", row.measured.streams},
                      {"share_of_read", asJson(row.measured.shareOfRead)},
                      {"times_over_f16", asJson(row.measured.overF16)},
                      {"repetitions", row.measured.repetitions},
                      {"decode_operands", row.operands}});
  for (const Refusal &each : refused)
    result.push_back({{"name", each.name}, {"refused", each.reason}});
  return documentOf(result);
}

/// A point for every row; names say what differs between rows of a spec.
std::string asSvg(const std::vector<BenchRow> &rows,
                  const BenchOptions &options, bool differsInThreads) {
  Plot plot{"Time of a decode step over the bytes that it reads",
            "MB per step",
            "us per step",
            {}};
  for (const BenchRow &row : rows) {
    std::string name = row.spec;
    if (options.contexts.size() > 1)
      name += ", " + std::to_string(row.context) + " tokens";
    if (options.batches.size() > 1)
      name += " x " + std::to_string(row.batch);
    if (differsInThreads)
      name += ", " + std::to_string(row.threads) + " threads";
    plot.points.push_back({name, row.bytes * 1e-6, row.measured.stepUs.median});
  }
  return kvc::asSvg(plot);
}

/// Specs that were given, then all presets if they were asked for.
std::vector<TimedSpec> candidatesOf(const BenchOptions &options) {
  std::vector<TimedSpec> candidates;
  for (const std::string &path : options.specs)
    candidates.push_back({path, readFile(path)});
  if (!options.presets)
    return candidates;
  for (const kvc_preset_info &preset : allPresets()) {
    const std::string text = specOfPreset(preset, kPresetShape);
    const SpecHandle spec = parseSpec(text, preset.name);
    const bool isShared = specInfoOf(spec.get()).value_is_key != 0;
    candidates.push_back(
        {preset.name, isShared ? specOfPreset(preset, kSharedShape) : text});
  }
  return candidates;
}

std::string decodeOperands(const Engine &engine) {
  for (const kvc_kernel_info &kernel : engine.kernels())
    if (std::string_view(kernel.name) == "decode")
      return kernel.operands;
  return "";
}

void benchOnHost(const BenchOptions &options) {
  OutputFiles files;
  for (const std::string &path : options.specs)
    files.protect("SPEC", path);
  OutputFile *svg =
      options.svg.empty() ? nullptr : &files.open("--svg", options.svg);
  const std::string target = options.cpu.empty() ? "host" : options.cpu;
  const size_t cold = coldBytes();
  const BenchEngines engines =
      compileAll(options, compileOptionsFor(target), nullptr, Twins::Compiled,
                 [&](const Engine &engine) {
                   for (int64_t context : options.contexts)
                     for (int64_t batch : options.batches)
                       ColdCache::sequencesFor(engine, context, batch, cold);
                 });
  const std::vector<int64_t> threadCounts =
      options.threads.empty() ? std::vector<int64_t>{1} : options.threads;
  const size_t all = engines.all.size() * options.contexts.size() *
                     options.batches.size() * threadCounts.size();
  Progress progress("bench");
  ReadMemory memory;
  std::vector<BenchRow> rows;
  for (const auto &[place, engine, twin] : engines.all)
    for (int64_t context : options.contexts)
      for (int64_t batch : options.batches) {
        progress.begin(rows.size(), all,
                       place + ", " + std::to_string(context) + " tokens x " +
                           std::to_string(batch));
        ColdCache ours(engine, context, batch, cold);
        std::optional<ColdCache> theirs;
        if (twin)
          theirs.emplace(*twin, context, batch, cold);
        const auto read = memory.ofBytes(
            std::max(cold, static_cast<size_t>(ours.bytesPerStep())));
        for (int64_t count : threadCounts) {
          const Threads threads(count);
          rows.push_back(
              {engine.info().name, engine.table().target, context, batch,
               threads.count(), ours.bytesPerStep(),
               measure(ours, theirs ? &*theirs : nullptr, read, threads),
               decodeOperands(engine)});
        }
      }
  if (svg)
    svg->write(asSvg(rows, options, threadCounts.size() > 1));
  print(options.json ? asJson(rows, engines.refused)
                     : asText(rows, engines.refused));
  files.commit();
}

void bench(const BenchOptions &options) {
  if (options.specs.empty() && !options.presets)
    failUse("SPEC: expected specs or --presets, got neither");
  if (options.device == "host")
    return benchOnHost(options);
  const std::string got =
      "expected it with --device host, got --device " + options.device;
  if (!options.cpu.empty())
    failUse("--cpu: " + got);
  if (!options.threads.empty())
    failUse("--threads: " + got);
  if (!options.svg.empty())
    failUse("--svg: " + got);
  benchOnDevice(options);
}

} // namespace

Json kvc::asJson(const Quartiles &quartiles) {
  return {{"low", quartiles.low},
          {"median", quartiles.median},
          {"high", quartiles.high}};
}

std::string kvc::spread(const Quartiles &quartiles, double factor, int digits) {
  return fixed(quartiles.median * factor, digits) + " +-" +
         fixed((quartiles.high - quartiles.low) / 2 * factor, digits);
}

BenchEngines kvc::compileAll(const BenchOptions &options,
                             const kvc_compile_options &compile,
                             const kvc_device *device, Twins twins,
                             const std::function<void(const Engine &)> &check) {
  Progress progress("bench");
  const CompilerHandle compiler = createCompiler();
  BenchEngines engines;
  for (const TimedSpec &candidate : candidatesOf(options)) {
    progress.begin("compiling " + candidate.place);
    // A preset that does not run, or needs inputs, is listed with its reason.
    const bool isPreset =
        engines.all.size() + engines.refused.size() >= options.specs.size();
    try {
      Engine engine(compiler.get(), candidate.text, candidate.place, compile,
                    device);
      std::optional<Engine> twin;
      if (std::optional<std::string> text = twinOf(engine.spec());
          text && twins == Twins::Compiled)
        twin.emplace(compiler.get(),
                     joinSpec({*text, engine.table().score}, candidate.place),
                     candidate.place + " unquantised", compile, device);
      check(engine);
      if (twin)
        check(*twin);
      engines.all.push_back(
          {candidate.place, std::move(engine), std::move(twin)});
    } catch (const Failure &failure) {
      if (!isPreset)
        throw;
      engines.refused.push_back(
          {candidate.place, withoutPlace(failure.what(), candidate.place)});
    }
  }
  if (engines.all.empty())
    failAll(engines.refused);
  return engines;
}

void kvc::addBenchCommand(CLI::App &app) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App &command = addCommand(
      app, "bench",
      "Time decode steps against the machine's read bandwidth and f16.",
      [options] { bench(*options); });
  addFiles(command, "SPEC", options->specs, "Spec files, JSON or MLIR.");
  addFlag(command, "--presets", options->presets,
          "Time all presets too, over 8/8 heads of 128 channels; those whose "
          "value is their key over 128/1 heads of bf16.");
  addDevice(command, options->device,
            "host, the default; cuda, cuda:N: timed by events beside copies of "
            "the device; sim, a simulated H100: counted, not timed.");
  addIntegers(command, "--context", options->contexts, 1, kMaxTokens,
              "Keys of every sequence; default 8192.");
  addIntegers(command, "--batch", options->batches, 1, 65536,
              "Sequences of a step; default 1.");
  addIntegers(command, "--threads", options->threads, 0, kMaxThreads,
              "Threads of the host; default 1, 0: one per core.");
  addName(command, "--cpu", options->cpu, cpuNames(),
          "Instruction set to compile for; default host");
  addFile(command, "--svg", options->svg,
          "Draw the time of a step over the bytes that it reads.");
  addFlag(command, "--json", options->json, "Print JSON.");
}
