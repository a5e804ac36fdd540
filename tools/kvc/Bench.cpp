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
#include "kvc/Progress.h"
#include "kvc/Table.h"
#include "kvc/Targets.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstring>
#include <optional>

using namespace kvc;

namespace {

struct BenchOptions {
  std::vector<std::string> specs;
  std::string device = "host", cpu = "host";
  std::vector<int64_t> contexts{8192}, batches{1}, threads{1};
  bool json = false;
};

struct Row {
  std::string spec, target;
  int64_t context, batch, threads;
  double bytes;
  Measurement measured;

  double gbs() const { return bytes * 1e-3 / measured.stepUs.median; }
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

std::string asText(const std::vector<Row> &rows) {
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
  return table.str() +
         "Medians, +- half of the distance between the "
         "quartiles; " +
         rows.front().target + ", cold.\n";
}

nlohmann::ordered_json asJson(const Quartiles &quartiles) {
  return {{"low", quartiles.low},
          {"median", quartiles.median},
          {"high", quartiles.high}};
}

std::string asJson(const std::vector<Row> &rows) {
  nlohmann::ordered_json result = nlohmann::ordered_json::array();
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
                      {"repetitions", row.measured.repetitions}});
  return result.dump(2) + "\n";
}

void bench(const BenchOptions &options) {
  checkDevice(options.device);
  Progress progress("bench");
  const CompilerHandle compiler = createCompiler();
  const kvc_compile_options compile = compileOptionsFor(options.cpu);
  // Everything that can be wrong is found before the first measurement.
  std::vector<Engine> engines;
  std::vector<std::optional<Engine>> twins;
  for (const std::string &path : options.specs) {
    progress.begin("compiling " + path);
    engines.emplace_back(compiler.get(), readFile(path), path, compile);
    std::optional<std::string> text = twinOf(engines.back().spec());
    twins.emplace_back();
    if (text)
      twins.back().emplace(compiler.get(), *text, path + " in f16", compile);
  }

  const size_t cold = coldBytes();
  for (size_t i = 0; i < engines.size(); ++i)
    for (int64_t context : options.contexts)
      for (int64_t batch : options.batches) {
        ColdCache::sequencesFor(engines[i], context, batch, cold);
        if (twins[i])
          ColdCache::sequencesFor(*twins[i], context, batch, cold);
      }

  const size_t all = options.specs.size() * options.contexts.size() *
                     options.batches.size() * options.threads.size();
  ReadMemory memory;
  std::vector<Row> rows;
  for (size_t i = 0; i < engines.size(); ++i)
    for (int64_t context : options.contexts)
      for (int64_t batch : options.batches) {
        const Engine &engine = engines[i];
        progress.begin(rows.size(), all,
                       options.specs[i] + ", " + std::to_string(context) +
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
               measure(ours, theirs ? &*theirs : nullptr, read, threads)});
        }
      }
  print(options.json ? asJson(rows) : asText(rows));
}

} // namespace

void kvc::addBenchCommand(CLI::App &app) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App *command = app.add_subcommand(
      "bench",
      "Time decode steps against the machine's read bandwidth and f16.");
  addFiles(*command, "SPEC", options->specs, "Spec files, JSON or MLIR.")
      ->required();
  addDevice(*command, options->device);
  addIntegers(*command, "--context", options->contexts, 1, kMaxTokens,
              "Keys of every sequence; default 8192.");
  addIntegers(*command, "--batch", options->batches, 1, 65536,
              "Sequences of a step; default 1.");
  addIntegers(*command, "--threads", options->threads, 0, kMaxThreads,
              "Threads; default 1, 0: one per core.");
  addName(*command, "--cpu", options->cpu, targetNames(),
          "Instruction set to compile for; default host");
  addFlag(*command, "--json", options->json, "Print JSON.");
  command->callback([options] { bench(*options); });
}
