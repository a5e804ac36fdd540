//===- Run.cpp - kvc run --------------------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/CacheDump.h"
#include "kvc/CommandLine.h"
#include "kvc/Commands.h"
#include "kvc/Engine.h"
#include "kvc/Inputs.h"
#include "kvc/Json.h"
#include "kvc/OutputFiles.h"
#include "kvc/Progress.h"
#include "kvc/RunDevice.h"
#include "kvc/Targets.h"
#include "kvc/Timing.h"

#include <limits>

using namespace kvc;

namespace {

struct RunOptions {
  std::string spec, inputs, schemeInputs, output, device = "host", dumpCache,
                                                  stats, fastMath, cpu;
  int64_t appendChunk = 0, threads = 0;
  bool poison = false, json = false;
};

Json statsOf(const Engine &engine, const BatchInputs &inputs,
             const Outputs &outputs, const kvc_cache *cache,
             std::span<const kvc_sequence> sequences, double compileCpuMs,
             double appendUs, int64_t threads) {
  const double perToken =
      engine.bytesPerToken() * static_cast<double>(engine.info().kv_heads);
  // Every sequence with a query is read once, by all of its queries.
  double bytesRead = 0;
  for (int64_t i = 0; i < inputs.batch(); ++i)
    if (inputs.queryStarts[i] != inputs.queryStarts[i + 1])
      bytesRead += engine.bytesRead(
          cache, sequences[i], inputs.keyStarts[i + 1] - inputs.keyStarts[i],
          inputs.queryStarts[i + 1] - inputs.queryStarts[i]);

  Json stats;
  stats["name"] = engine.info().name;
  stats["target"] = engine.table().target;
  for (int32_t i = 0; i < engine.table().num_kernels; ++i)
    if (const kvc_kernel_info &kernel = engine.table().kernels[i];
        *kernel.operands)
      stats["operand_types"][kernel.name] = kernel.operands;
  stats["threads"] = threads;
  stats["sequences"] = inputs.batch();
  stats["queries"] = inputs.queries();
  stats["keys"] = inputs.keys();
  stats["bytes_per_token_and_kv_head"] = engine.bytesPerToken();
  stats["bytes_per_token"] = perToken;
  stats["bytes_read"] = bytesRead;
  stats["append_us"] = appendUs;
  stats["us_per_step"] = outputs.microseconds;
  stats["compile_ms"] = rounded(engine.compileMs());
  stats["compile_cpu_ms"] = rounded(compileCpuMs);
  for (const kvc_phase &phase : engine.phases())
    stats["compile_phases_ms"][phase.name] = rounded(phase.ms);
  return stats;
}

void run(const RunOptions &options) {
  if (options.device != "host" && !options.cpu.empty())
    failUse("--cpu: expected it with --device host, got --device " +
            inQuotes(options.device));
  OutputFiles files;
  files.protect("SPEC", options.spec);
  files.protect("--inputs", options.inputs);
  if (!options.schemeInputs.empty())
    files.protect("--static", options.schemeInputs);
  OutputFile &output = files.open("--output", options.output);
  OutputFile *dumpFile = options.dumpCache.empty()
                             ? nullptr
                             : &files.open("--dump-cache", options.dumpCache);
  OutputFile *statsFile =
      options.stats.empty() ? nullptr : &files.open("--stats", options.stats);

  Progress progress("run");
  progress.begin("compiling " + options.spec);
  const Threads threads(options.threads);
  const RunDevice device(options.device, threads.count());
  const CompilerHandle compiler = createCompiler();
  const std::string target =
      options.cpu.empty() ? device.target() : options.cpu;
  const std::string text = readFile(options.spec);
  const ThreadStopwatch compiling;
  const Engine engine(compiler.get(), text, options.spec,
                      compileOptionsFor(target), device.get());
  const double compileCpuMs = compiling.milliseconds();
  progress.begin("reading " + options.inputs);
  const BatchInputs inputs =
      readInputs(options.inputs, engine.spec(), options.schemeInputs,
                 device.get() ? NonFinite::Kept : NonFinite::Refused);
  const CacheHandle cache = engine.createCache(inputs, options.poison);
  std::vector<kvc_sequence> sequences;
  progress.begin("appending " + std::to_string(inputs.keys()) + " tokens");
  const double appendUs = engine.append(
      inputs, cache.get(), options.appendChunk, threads.loop(), sequences);
  progress.begin("attending with " + std::to_string(inputs.queries()) +
                 " queries");
  const Outputs outputs =
      engine.attend(inputs, cache.get(), sequences, threads.loop());

  progress.begin("writing " + options.output);
  const kvc_spec_info &info = engine.info();
  const safetensors::Tensor results[] = {
      namedTensor("out", fileTypeOf(info.output),
                  {inputs.queries(), info.q_heads, info.value_dim},
                  outputs.out.bytes),
      namedTensor("lse", safetensors::DType::F32,
                  {inputs.queries(), info.q_heads},
                  std::as_bytes(std::span(outputs.lse)))};
  output.write(results);
  if (dumpFile) {
    CacheDump dump(engine, inputs, cache.get(), sequences);
    dump.add("k", KVC_KEY, threads.loop());
    dump.add("v", KVC_VALUE, threads.loop());
    dumpFile->write(dump.tensors());
  }
  const Json stats = statsOf(engine, inputs, outputs, cache.get(), sequences,
                             compileCpuMs, appendUs, threads.count());
  if (statsFile)
    statsFile->write(documentOf(stats));

  // A failure to print must leave no output either.
  if (options.json) {
    print(documentOf(stats));
  } else {
    char text[160];
    std::snprintf(text, sizeof(text),
                  ": %lld queries over %lld keys in %.1f us, append %.1f us, "
                  "compile %.1f ms\n",
                  static_cast<long long>(inputs.queries()),
                  static_cast<long long>(inputs.keys()), outputs.microseconds,
                  appendUs, engine.compileMs());
    print(info.name + std::string(text));
  }
  files.commit();
}

} // namespace

void kvc::addRunCommand(CLI::App &app) {
  auto options = std::make_shared<RunOptions>();
  CLI::App &command = addCommand(
      app, "run", "Append keys and values to a cache, then let queries attend.",
      [options] { run(*options); });
  addFile(command, "SPEC", options->spec, "Spec file, JSON or MLIR.",
          Need::Required);
  addFile(command, "--inputs", options->inputs,
          "Safetensors with q, k, v, cu_seqlens_q, cu_seqlens_kv and "
          "what else the spec asks for.",
          Need::Required);
  addFile(command, "--static", options->schemeInputs,
          "File of what the schemes take beside k and v, as kvc calibrate "
          "writes it; default: --inputs.");
  addFile(command, "--output", options->output,
          "Gets out and lse (safetensors).", Need::Required);
  addDevice(command, options->device,
            "host, the default; sim, a simulated H100; cuda, cuda:N");
  addInteger(command, "--append-chunk", options->appendChunk, 1,
             std::numeric_limits<int64_t>::max(),
             "Append at most N tokens of every sequence per call; default: all "
             "at once.");
  addFile(command, "--dump-cache", options->dumpCache,
          "Gets the cache in canonical form (safetensors).");
  addFile(command, "--stats", options->stats,
          "Gets bytes, times and the compile time (JSON).");
  addName(command, "--fast-math", options->fastMath, {"q8"},
          "Allow weights of one byte in dots of codes; no kernel uses them "
          "yet, --stats says what is used");
  addName(command, "--cpu", options->cpu, cpuNames(),
          "Instruction set to compile for, on the host; default host");
  addInteger(command, "--threads", options->threads, 0, kMaxThreads,
             "Threads; 0, the default: one per core.");
  addFlag(command, "--poison", options->poison,
          "Fill fresh cache memory with 0xFF.");
  addFlag(command, "--json", options->json, "Print the statistics as JSON.");
}
