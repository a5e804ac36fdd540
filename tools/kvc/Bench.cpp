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

#include "kvc/BenchCase.h"
#include "kvc/CommandLine.h"
#include "kvc/Commands.h"
#include "kvc/Json.h"
#include "kvc/OutputFiles.h"
#include "kvc/Plot.h"
#include "kvc/PresetSpecs.h"
#include "kvc/Progress.h"
#include "kvc/Table.h"
#include "kvc/Targets.h"

#include <cstring>
#include <optional>

using namespace kvc;

namespace {

struct BenchOptions {
  std::vector<std::string> specs;
  std::string device = "host", cpu = "host";
  std::vector<int64_t> contexts{8192}, batches{1}, threads{1};
  std::string svg;
  bool presets = false, json = false;
};

/// The attention that presets are timed over, and that of presets whose value
/// is a slice of their key, which many query heads share.
constexpr AttentionShape kPresetShape{8, 8, 128, 128, KVC_F16};
constexpr AttentionShape kSharedShape{128, 1, 0, 0, KVC_BF16};

/// What is timed.
struct Candidate {
  std::string place; ///< What messages call it.
  std::string text;
};

struct Row {
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

std::string spread(const Quartiles &quartiles, double factor, int digits) {
  return fixed(quartiles.median * factor, digits) + " +-" +
         fixed((quartiles.high - quartiles.low) / 2 * factor, digits);
}

std::string asText(const std::vector<Row> &rows,
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
  for (const Row &row : rows)
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
  for (const Row &row : rows)
    if (row.isSlower())
      notes.add(
          {onOneLine(row.spec),
           "slower than f16: its decode kernel multiplies " + row.operands});
  for (const Refusal &each : refused)
    notes.add({each.name, "not run: " + onOneLine(each.reason)});
  return text + (notes.empty() ? "" : notes.str());
}

Json asJson(const Quartiles &quartiles) {
  return {{"low", quartiles.low},
          {"median", quartiles.median},
          {"high", quartiles.high}};
}

std::string asJson(const std::vector<Row> &rows,
                   const std::vector<Refusal> &refused) {
  Json result = Json::array();
  for (const Row &row : rows)
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
std::string asSvg(const std::vector<Row> &rows, const BenchOptions &options) {
  Plot plot{"Time of a decode step over the bytes that it reads",
            "MB per step",
            "us per step",
            {}};
  for (const Row &row : rows) {
    std::string name = row.spec;
    if (options.contexts.size() > 1)
      name += ", " + std::to_string(row.context) + " tokens";
    if (options.batches.size() > 1)
      name += " x " + std::to_string(row.batch);
    if (options.threads.size() > 1)
      name += ", " + std::to_string(row.threads) + " threads";
    plot.points.push_back({name, row.bytes * 1e-6, row.measured.stepUs.median});
  }
  return kvc::asSvg(plot);
}

/// Specs that were given, then all presets if they were asked for.
std::vector<Candidate> candidatesOf(const BenchOptions &options) {
  std::vector<Candidate> candidates;
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
  const kvc_module_table &table = engine.table();
  for (int64_t i = 0; i < table.num_kernels; ++i)
    if (std::string_view(table.kernels[i].name) == "decode")
      return table.kernels[i].operands;
  return "";
}

void bench(const BenchOptions &options) {
  if (options.specs.empty() && !options.presets)
    failUse("SPEC: expected specs or --presets, got neither");
  checkDevice(options.device);
  OutputFiles files;
  for (const std::string &path : options.specs)
    files.protect("SPEC", path);
  OutputFile *svg =
      options.svg.empty() ? nullptr : &files.open("--svg", options.svg);
  Progress progress("bench");
  const CompilerHandle compiler = createCompiler();
  const kvc_compile_options compile = compileOptionsFor(options.cpu);
  // Everything that can be wrong is found before the first measurement.
  const size_t cold = coldBytes();
  std::vector<Engine> engines;
  std::vector<std::optional<Engine>> twins;
  std::vector<std::string> names;
  std::vector<Refusal> refused;
  for (const Candidate &candidate : candidatesOf(options)) {
    progress.begin("compiling " + candidate.place);
    // A preset that does not run, or needs inputs, is listed with its reason.
    const bool isPreset = names.size() + refused.size() >= options.specs.size();
    try {
      Engine engine(compiler.get(), candidate.text, candidate.place, compile);
      std::optional<Engine> twin;
      if (std::optional<std::string> text = twinOf(engine.spec()))
        twin.emplace(compiler.get(),
                     joinSpec({*text, engine.table().score}, candidate.place),
                     candidate.place + " unquantised", compile);
      for (int64_t context : options.contexts)
        for (int64_t batch : options.batches) {
          ColdCache::sequencesFor(engine, context, batch, cold);
          if (twin)
            ColdCache::sequencesFor(*twin, context, batch, cold);
        }
      engines.push_back(std::move(engine));
      twins.push_back(std::move(twin));
      names.push_back(candidate.place);
    } catch (const Failure &failure) {
      if (!isPreset)
        throw;
      refused.push_back(
          {candidate.place, withoutPlace(failure.what(), candidate.place)});
    }
  }

  if (engines.empty())
    failAll(refused);
  const size_t all = engines.size() * options.contexts.size() *
                     options.batches.size() * options.threads.size();
  ReadMemory memory;
  std::vector<Row> rows;
  for (size_t i = 0; i < engines.size(); ++i)
    for (int64_t context : options.contexts)
      for (int64_t batch : options.batches) {
        const Engine &engine = engines[i];
        progress.begin(rows.size(), all,
                       names[i] + ", " + std::to_string(context) +
                           " tokens x " + std::to_string(batch));
        ColdCache ours(engine, context, batch, cold);
        std::optional<ColdCache> theirs;
        if (twins[i])
          theirs.emplace(*twins[i], context, batch, cold);
        const auto read = memory.ofBytes(
            std::max(cold, static_cast<size_t>(ours.bytesPerStep())));
        for (int64_t count : options.threads) {
          const Threads threads(count);
          rows.push_back(
              {engine.info().name, engine.table().target, context, batch,
               threads.count(), ours.bytesPerStep(),
               measure(ours, theirs ? &*theirs : nullptr, read, threads),
               decodeOperands(engine)});
        }
      }
  if (svg)
    svg->write(asSvg(rows, options));
  print(options.json ? asJson(rows, refused) : asText(rows, refused));
  files.commit();
}

} // namespace

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
            "host, the default. sim, cuda and cuda:N are known and refused: "
            "they are not timed yet.");
  addIntegers(command, "--context", options->contexts, 1, kMaxTokens,
              "Keys of every sequence; default 8192.");
  addIntegers(command, "--batch", options->batches, 1, 65536,
              "Sequences of a step; default 1.");
  addIntegers(command, "--threads", options->threads, 0, kMaxThreads,
              "Threads; default 1, 0: one per core.");
  addName(command, "--cpu", options->cpu, cpuNames(),
          "Instruction set to compile for; default host");
  addFile(command, "--svg", options->svg,
          "Draw the time of a step over the bytes that it reads.");
  addFlag(command, "--json", options->json, "Print JSON.");
}
