//===- Eval.cpp - kvc eval ------------------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// What a scheme costs and what it saves, on real keys and values: one row per
// spec with its bytes, its error against f64 attention over the unquantised
// inputs, and the time of a decode step beside that of an f16 cache.
//
//===----------------------------------------------------------------------===//

#include "kvc/CommandLine.h"
#include "kvc/Commands.h"
#include "kvc/Decode.h"
#include "kvc/Inputs.h"
#include "kvc/Progress.h"
#include "kvc/Reference.h"
#include "kvc/Table.h"
#include "kvc/Targets.h"
#include "kvc/Timing.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <optional>

using namespace kvc;

namespace {

/// Timed steps of each cache; the first ones warm up and are not counted.
constexpr int kSteps = 101;
constexpr int kWarmUpSteps = 5;

struct EvalOptions {
  std::vector<std::string> specs, inputs;
  std::string cpu = "host";
  int64_t threads = 1;
  bool json = false;
};

/// Squared norms of errors and of right answers, together and per query head.
struct ErrorSums {
  explicit ErrorSums(int64_t heads) : errors(heads), norms(heads) {}

  void add(int64_t head, double out, double reference) {
    errors[head] += (out - reference) * (out - reference);
    norms[head] += reference * reference;
  }
  double relative() const {
    double error = 0, norm = 0;
    for (size_t head = 0; head < errors.size(); ++head) {
      error += errors[head];
      norm += norms[head];
    }
    return ratio(error, norm);
  }
  /// The head with the largest relative error, and that error.
  std::pair<int64_t, double> worst() const {
    std::pair<int64_t, double> result{0, -1};
    for (size_t head = 0; head < errors.size(); ++head)
      if (double each = ratio(errors[head], norms[head]); each > result.second)
        result = {static_cast<int64_t>(head), each};
    return result;
  }

private:
  static double ratio(double error, double norm) {
    return norm > 0 ? std::sqrt(error / norm) : error > 0 ? INFINITY : 0;
  }
  std::vector<double> errors, norms;
};

/// The row of one spec.
struct Row {
  std::string name;
  double bitsPerValue = 0, bytesPerToken = 0, smaller = 0;
  double error = 0, worstError = 0;
  int64_t worstHead = 0;
  double stepUs = 0, f16StepUs = 0;
};

/// The last query of every sequence that has one, for timing.
struct LastQueries {
  std::vector<int64_t> sequences;
  std::vector<int32_t> lengths;
  Values query;
};

LastQueries lastQueriesOf(const BatchInputs &inputs,
                          const kvc_spec_info &spec) {
  LastQueries last;
  last.query.dtype = inputs.q.dtype;
  const int64_t row = spec.q_heads * spec.head_dim * bytesOf(inputs.q.dtype);
  for (int64_t i = 0; i < inputs.batch(); ++i) {
    if (inputs.queryStarts[i] == inputs.queryStarts[i + 1] ||
        inputs.keyStarts[i] == inputs.keyStarts[i + 1])
      continue;
    last.sequences.push_back(i);
    last.lengths.push_back(inputs.keyStarts[i + 1] - inputs.keyStarts[i]);
    auto begin = inputs.q.bytes.begin() + (inputs.queryStarts[i + 1] - 1) * row;
    last.query.bytes.insert(last.query.bytes.end(), begin, begin + row);
  }
  return last;
}

/// A filled cache and the decode step over it.
class Contestant {
public:
  Contestant(const Engine &engine, const BatchInputs &inputs,
             const LastQueries &last, const kvc_parallel_for *threads)
      : threads(threads), cache(engine.createCache(inputs, false)),
        step(engine, last.lengths, last.query, inputs.alibiSlopes,
             inputs.sinkLogits) {
    engine.append(inputs, cache.get(), 0, threads, all);
    for (int64_t index : last.sequences)
      decoded.push_back(all[index]);
  }
  double run() { return step.run(cache.get(), decoded, threads); }
  kvc_cache *memory() const { return cache.get(); }
  std::span<const kvc_sequence> sequences() const { return all; }

private:
  const kvc_parallel_for *threads;
  CacheHandle cache;
  DecodeStep step;
  std::vector<kvc_sequence> all, decoded;
};

void addErrors(const Engine &engine, const BatchInputs &inputs,
               const Outputs &outputs, const kvc_parallel_for *threads,
               ErrorSums &sums) {
  const kvc_spec_info &info = engine.info();
  const ReferenceOutputs reference = attendInF64(info, inputs, threads);
  const std::vector<float> out = outputs.out.toF32();
  for (size_t i = 0; i < out.size(); ++i)
    sums.add(static_cast<int64_t>(i) / info.value_dim % info.q_heads, out[i],
             reference.out[i]);
}

/// Adds the median times of a step over one file.
void addTimes(const Engine &engine, const Engine *twin,
              const BatchInputs &inputs, Contestant &ours,
              const kvc_parallel_for *threads, Row &row) {
  const LastQueries last = lastQueriesOf(inputs, engine.info());
  std::optional<Contestant> theirs;
  if (twin)
    theirs.emplace(*twin, inputs, last, threads);
  std::vector<double> times, twinTimes;
  for (int i = -kWarmUpSteps; i < kSteps; ++i) {
    const double us = ours.run(), twinUs = theirs ? theirs->run() : us;
    if (i < 0)
      continue;
    times.push_back(us);
    twinTimes.push_back(twinUs);
  }
  row.stepUs += quartilesOf(times).median;
  row.f16StepUs += quartilesOf(twinTimes).median;
}

Row evaluate(const EvalOptions &options, kvc_compiler *compiler,
             const std::string &path, const Threads &threads) {
  const kvc_compile_options compile = compileOptionsFor(options.cpu);
  const Engine engine(compiler, readFile(path), path, compile);
  std::optional<Engine> twin;
  if (std::optional<std::string> text = twinOf(engine.spec()))
    twin.emplace(compiler, *text, path + " in f16", compile);

  const kvc_spec_info &info = engine.info();
  const double values = static_cast<double>(
      info.head_dim + (info.value_is_key ? 0 : info.value_dim));
  Row row;
  row.name = info.name;
  row.bytesPerToken = engine.bytesPerToken();
  row.bitsPerValue = 8 * row.bytesPerToken / values;
  row.smaller = 2 * values / row.bytesPerToken;
  ErrorSums sums(info.q_heads);
  for (const std::string &file : options.inputs) {
    const BatchInputs inputs = readInputs(file, info);
    const LastQueries last = lastQueriesOf(inputs, info);
    if (last.sequences.empty())
      throw Failure(file + ": has no query with a key, expected at least one");
    Contestant ours(engine, inputs, last, threads.loop());
    addErrors(
        engine, inputs,
        engine.attend(inputs, ours.memory(), ours.sequences(), threads.loop()),
        threads.loop(), sums);
    addTimes(engine, twin ? &*twin : nullptr, inputs, ours, threads.loop(),
             row);
  }
  const auto files = static_cast<double>(options.inputs.size());
  row.stepUs /= files;
  row.f16StepUs /= files;
  row.error = sums.relative();
  std::tie(row.worstHead, row.worstError) = sums.worst();
  return row;
}

std::string asText(const std::vector<Row> &rows) {
  Table table({{"spec", Align::Left},
               {"bits per\nvalue"},
               {"bytes per token\nand kv head"},
               {"x smaller\nthan f16"},
               {"error against\nf64"},
               {"worst\nhead"},
               {"us per\ndecode step"},
               {"x faster\nthan f16"}});
  for (const Row &row : rows)
    table.add({onOneLine(row.name), fixed(row.bitsPerValue, 2),
               fixed(row.bytesPerToken, 1), times(row.smaller),
               significant(row.error), significant(row.worstError),
               fixed(row.stepUs, 1), times(row.f16StepUs / row.stepUs)});
  return table.str();
}

std::string asJson(const std::vector<Row> &rows) {
  nlohmann::ordered_json result = nlohmann::ordered_json::array();
  for (const Row &row : rows)
    result.push_back({{"name", row.name},
                      {"bits_per_value", row.bitsPerValue},
                      {"bytes_per_token_and_kv_head", row.bytesPerToken},
                      {"times_smaller_than_f16", row.smaller},
                      {"relative_error", row.error},
                      {"worst_head", row.worstHead},
                      {"worst_head_relative_error", row.worstError},
                      {"us_per_step", row.stepUs},
                      {"us_per_step_f16", row.f16StepUs},
                      {"times_faster_than_f16", row.f16StepUs / row.stepUs}});
  return result.dump(2) + "\n";
}

void eval(const EvalOptions &options) {
  const CompilerHandle compiler = createCompiler();
  const Threads threads(options.threads);
  Progress progress("eval");
  std::vector<Row> rows;
  for (const std::string &path : options.specs) {
    progress.begin(rows.size(), options.specs.size(), path);
    rows.push_back(evaluate(options, compiler.get(), path, threads));
  }
  print(options.json ? asJson(rows) : asText(rows));
}

} // namespace

void kvc::addEvalCommand(CLI::App &app) {
  auto options = std::make_shared<EvalOptions>();
  CLI::App *command = app.add_subcommand(
      "eval", "Compare specs on real inputs: bytes, error, time.");
  addFiles(*command, "SPEC", options->specs, "Spec files, JSON or MLIR.")
      ->required();
  addFiles(*command, "--inputs", options->inputs,
           "Safetensors files as kvc run reads them; errors and times "
           "are over all of them.")
      ->required();
  addName(*command, "--cpu", options->cpu, targetNames(),
          "Instruction set to compile for; default host");
  addInteger(*command, "--threads", options->threads, 0, kMaxThreads,
             "Threads; default 1, 0: one per core.");
  addFlag(*command, "--json", options->json, "Print JSON.");
  command->callback([options] { eval(*options); });
}
