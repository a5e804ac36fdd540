//===- Eval.cpp - kvc eval ------------------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// What a scheme costs and what it saves, on real keys and values: one row per
// spec with its bytes, its error against f64 attention over the unquantised
// inputs, what its keys do to the scores and to the weights, and the time of a
// decode step beside that of an f16 cache.
//
//===----------------------------------------------------------------------===//

#include "kvc/CommandLine.h"
#include "kvc/Commands.h"
#include "kvc/Decode.h"
#include "kvc/EvalReport.h"
#include "kvc/Inputs.h"
#include "kvc/OutputFiles.h"
#include "kvc/PresetSpecs.h"
#include "kvc/Progress.h"
#include "kvc/Reference.h"
#include "kvc/Targets.h"
#include "kvc/Timing.h"

#include <algorithm>
#include <cmath>
#include <optional>

using namespace kvc;

namespace {

/// Timed steps of each cache; the first ones warm up and are not counted.
constexpr int kSteps = 101;
constexpr int kWarmUpSteps = 5;

struct EvalOptions {
  std::vector<std::string> specs, inputs;
  std::string presets, schemeInputs, svg;
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

/// What is evaluated.
struct Candidate {
  std::string place; ///< What messages call it.
  std::string text;
  /// One of many that nobody asked for by its file: what stands against it is
  /// listed instead of ending the command.
  bool isPreset = false;
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
              const kvc_parallel_for *threads, EvalRow &row) {
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

/// Sums over all files of what keys do to scores and weights.
struct ScoreSums {
  double error = 0, norm = 0, divergence = 0;
  int64_t rows = 0; ///< Queries times heads.

  void add(const ScoreDifferences &differences) {
    for (size_t head = 0; head < differences.errors.size(); ++head) {
      error += differences.errors[head];
      norm += differences.norms[head];
      divergence += differences.divergences[head];
    }
    rows +=
        differences.queries * static_cast<int64_t>(differences.errors.size());
  }
  double relative() const { return norm > 0 ? std::sqrt(error / norm) : 0; }
  double divergencePerRow() const {
    return rows > 0 ? divergence / static_cast<double>(rows) : 0;
  }
};

/// Bits of the stored tokens of these inputs, those that stay raw included.
struct BitSums {
  double bits = 0, values = 0;

  void add(const Engine &engine, const BatchInputs &inputs) {
    const kvc_spec_info &info = engine.info();
    for (kvc_tensor which : {KVC_KEY, KVC_VALUE}) {
      const kvc_tensor_info tensor = engine.tensor(which);
      if (tensor.num_parts == 0)
        continue;
      for (int64_t i = 0; i < inputs.batch(); ++i) {
        const int64_t length = inputs.keyStarts[i + 1] - inputs.keyStarts[i];
        const int64_t coded =
            std::max<int64_t>(0, length - info.sink - info.recent) /
            tensor.block_tokens * tensor.block_tokens;
        bits += 8 * static_cast<double>(coded) * tensor.bytes_per_token +
                8 * static_cast<double>((length - coded) * tensor.channels *
                                        bytesOf(info.query));
        values += static_cast<double>(length * tensor.channels);
      }
    }
  }
};

/// Throws where a file has no query that sees a key.
LastQueries requireQueries(const std::string &file, const BatchInputs &inputs,
                           const kvc_spec_info &spec) {
  LastQueries last = lastQueriesOf(inputs, spec);
  if (last.sequences.empty())
    throw Failure(file + ": has no query with a key, expected at least one");
  return last;
}

/// What is wrong with the files whatever a spec says of schemes, so that it is
/// said once.
void checkInputs(const EvalOptions &options, const AttentionShape &shape) {
  const SpecHandle raw = parseSpec(rawSpecOf(shape), options.inputs.front());
  for (const std::string &file : options.inputs)
    requireQueries(file, readInputs(file, raw.get()), specInfoOf(raw.get()));
  if (!options.schemeInputs.empty())
    if (auto file = safetensors::read(options.schemeInputs); !file)
      throw Failure(file.error().str());
}

EvalRow evaluate(const EvalOptions &options, kvc_compiler *compiler,
                 const Candidate &candidate, const Threads &threads) {
  const kvc_compile_options compile = compileOptionsFor(options.cpu);
  const Engine engine(compiler, candidate.text, candidate.place, compile);
  if (*engine.table().score)
    throw Failure(candidate.place +
                  ": score region: expected a spec without one, for errors are "
                  "those of the spec's own attention, got a region");
  std::optional<Engine> twin;
  if (std::optional<std::string> text = twinOf(engine.spec()))
    twin.emplace(compiler, *text, candidate.place + " in f16", compile);

  const kvc_spec_info &info = engine.info();
  EvalRow row;
  row.name = info.name;
  row.bytesPerToken = engine.bytesPerToken();
  row.bitsPerValue = bitsPerValue(engine.spec());
  row.smaller = 16 / row.bitsPerValue;
  ErrorSums sums(info.q_heads);
  ScoreSums scores;
  BitSums bits;
  for (const std::string &file : options.inputs) {
    const BatchInputs inputs =
        readInputs(file, engine.spec(), options.schemeInputs);
    const LastQueries last = requireQueries(file, inputs, info);
    Contestant ours(engine, inputs, last, threads.loop());
    addErrors(
        engine, inputs,
        engine.attend(inputs, ours.memory(), ours.sequences(), threads.loop()),
        threads.loop(), sums);
    scores.add(compareScores(info, inputs,
                             engine
                                 .dump(ours.memory(), ours.sequences(), inputs,
                                       KVC_KEY, threads.loop())
                                 .values,
                             threads.loop()));
    bits.add(engine, inputs);
    addTimes(engine, twin ? &*twin : nullptr, inputs, ours, threads.loop(),
             row);
  }
  const auto files = static_cast<double>(options.inputs.size());
  row.stepUs /= files;
  row.f16StepUs /= files;
  row.bitsHere = bits.bits / bits.values;
  row.error = sums.relative();
  std::tie(row.worstHead, row.worstError) = sums.worst();
  row.scoreError = scores.relative();
  row.divergence = scores.divergencePerRow();
  return row;
}

/// Specs and files of presets that were given, presets that were named; without
/// any of them all presets.
std::vector<Candidate> candidatesOf(const EvalOptions &options) {
  std::vector<Candidate> candidates;
  std::optional<AttentionShape> shape;
  auto ofInputs = [&] {
    if (!shape) {
      shape = shapeOfInputs(options.inputs.front());
      checkInputs(options, *shape);
    }
    return *shape;
  };
  for (const std::string &path : options.specs) {
    std::string text = readFile(path);
    if (isPresetFile(text))
      text = specOfPresetFile(path, text, ofInputs());
    candidates.push_back({path, std::move(text)});
  }
  std::vector<std::string> names;
  if (!options.presets.empty())
    names = parseList("--preset", options.presets);
  const std::vector<kvc_preset_info> presets = allPresets();
  std::vector<std::string> known;
  known.reserve(presets.size());
  for (const kvc_preset_info &preset : presets)
    known.push_back(preset.name);
  if (candidates.empty() && names.empty())
    names = known;
  for (const std::string &name : names) {
    parseName("--preset", name, known);
    const auto preset = std::ranges::find(known, name) - known.begin();
    candidates.push_back(
        {name, specOfPreset(presets[preset], ofInputs()), true});
  }
  return candidates;
}

void eval(const EvalOptions &options) {
  OutputFiles files;
  for (const std::string &path : options.specs)
    files.protect("SPEC", path);
  for (const std::string &path : options.inputs)
    files.protect("--inputs", path);
  if (!options.schemeInputs.empty())
    files.protect("--static", options.schemeInputs);
  OutputFile *svg =
      options.svg.empty() ? nullptr : &files.open("--svg", options.svg);
  const std::vector<Candidate> candidates = candidatesOf(options);
  const CompilerHandle compiler = createCompiler();
  const Threads threads(options.threads);
  Progress progress("eval");
  EvalReport report;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Candidate &candidate = candidates[i];
    progress.begin(i, candidates.size(), candidate.place);
    try {
      report.rows.push_back(
          evaluate(options, compiler.get(), candidate, threads));
    } catch (const Failure &failure) {
      if (!candidate.isPreset)
        throw;
      report.refused.push_back(
          {candidate.place, withoutPlace(failure.what(), candidate.place)});
    }
  }
  if (report.rows.empty())
    failAll(report.refused);
  if (svg)
    svg->write(report.asSvg());
  print(options.json ? report.asJson() : report.asText());
  files.commit();
}

} // namespace

void kvc::addEvalCommand(CLI::App &app) {
  auto options = std::make_shared<EvalOptions>();
  CLI::App &command = addCommand(
      app, "eval", "Compare specs on real inputs: bytes, error, time.",
      [options] { eval(*options); });
  addFiles(command, "SPEC", options->specs,
           "Spec files, JSON or MLIR, or files of presets; without any, and "
           "without --preset, all presets.");
  addFiles(command, "--inputs", options->inputs,
           "Safetensors files as kvc run reads them; errors and times "
           "are over all of them.",
           Need::Required);
  addFile(command, "--static", options->schemeInputs,
          "File of what the schemes take beside k and v, as kvc calibrate "
          "writes it; default: each of --inputs.");
  addText(command, "--preset", options->presets, "NAME,..",
          "Presets, as kvc presets lists them; their attention is that of the "
          "inputs.");
  addFile(command, "--svg", options->svg,
          "Draw the error over the bits per value.");
  addName(command, "--cpu", options->cpu, cpuNames(),
          "Instruction set to compile for; default host");
  addInteger(command, "--threads", options->threads, 0, kMaxThreads,
             "Threads; default 1, 0: one per core.");
  addFlag(command, "--json", options->json, "Print JSON.");
}
