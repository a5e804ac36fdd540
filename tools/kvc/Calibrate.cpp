//===- Calibrate.cpp - kvc calibrate --------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Calibration.h"
#include "kvc/CommandLine.h"
#include "kvc/Commands.h"
#include "kvc/Inputs.h"
#include "kvc/Json.h"
#include "kvc/OutputFiles.h"
#include "kvc/Progress.h"
#include "kvc/SpecFile.h"
#include "kvc/Table.h"

#ifdef KVC_TOOLS_WITH_COMPILER
#include "kvc/Engine.h"
#endif

#include <algorithm>

using namespace kvc;
using spec::InputKind;

namespace {

struct CalibrateOptions {
  std::string spec, inputs, out, method = "search", pair;
  double percentile = 0; ///< 0: not given.
  int64_t threads = 1;
  bool json = false;
};

constexpr double kDefaultPercentile = 99.9;

ScaleMethod methodOf(const std::string &name) {
  return name == "amax"         ? ScaleMethod::Amax
         : name == "percentile" ? ScaleMethod::Percentile
                                : ScaleMethod::Search;
}

/// Which channels share a smoothing factor: those that the spec says rotate
/// together, or what --pair says of keys that come rotated already.
std::optional<spec::Rope> pairsOf(const CalibrateOptions &options,
                                  const spec::Spec &spec) {
  if (options.pair == "none")
    return std::nullopt;
  if (options.pair.empty())
    return spec.key.rope;
  spec::Rope rope = spec.key.rope.value_or(spec::Rope{});
  const bool inPairs = options.pair == "pairs";
  if (spec.key.rope && rope.pairs != inPairs)
    throw Failure("--pair: expected " +
                  std::string(rope.pairs ? "pairs" : "half") +
                  " as key.rope says, got " + options.pair);
  rope.pairs = inPairs;
  if (!spec.key.rope)
    rope.dims = spec.attention.headDim;
  return rope;
}

std::string shapeOf(const spec::SchemeInput &input) {
  return "[" + std::to_string(input.heads) + ", " +
         std::to_string(input.columns) + "]";
}

/// "0.85 .. 1", or the one number; shares that differ from block to block are
/// 0.
std::string rangeOf(std::vector<double> values, InputKind kind) {
  const bool isScale = kind == InputKind::Scale;
  const bool differ = isScale && std::erase(values, 0.0) > 0;
  if (values.empty())
    return differ ? "by block" : "";
  const auto [low, high] = std::ranges::minmax(values);
  std::string text = low == high
                         ? significant(low)
                         : significant(low) + " .. " + significant(high);
  return text + (differ ? ", by block" : "");
}

Json jsonOf(const CalibratedInput &input) {
  Json list = Json::array();
  for (double choice : input.choices)
    if (choice == 0 && input.input.kind == InputKind::Scale)
      list.push_back("by block");
    else
      list.push_back(choice);
  return list;
}

std::string asText(const Calibration &calibration) {
  Table table({{"input", Align::Left},
               {"shape", Align::Left},
               {"method", Align::Left},
               {"chosen", Align::Left},
               {"error of the\noutput before"},
               {"after"}});
  for (const CalibratedInput &each : calibration.inputs) {
    const CalibrationError &error =
        calibration.tensors[static_cast<size_t>(each.input.tensor)];
    table.add({each.input.name, shapeOf(each.input), each.method,
               rangeOf(each.choices, each.input.kind),
               significant(error.before), significant(error.after)});
  }
  table.add({"key and value", "", "", "", significant(calibration.all.before),
             significant(calibration.all.after)});
  return table.str();
}

std::string asJson(const Calibration &calibration) {
  Json inputs = Json::array();
  for (const CalibratedInput &each : calibration.inputs) {
    const CalibrationError &error =
        calibration.tensors[static_cast<size_t>(each.input.tensor)];
    Json item{{"name", each.input.name},
              {"shape", {each.input.heads, each.input.columns}},
              {"method", each.method}};
    if (!each.choices.empty())
      item[each.input.kind == InputKind::Smooth ? "alpha"
                                                : "share_of_largest"] =
          jsonOf(each);
    item["relative_error_before"] = error.before;
    item["relative_error_after"] = error.after;
    inputs.push_back(std::move(item));
  }
  const Json result{{"inputs", std::move(inputs)},
                    {"relative_error_before", calibration.all.before},
                    {"relative_error_after", calibration.all.after}};
  return documentOf(result);
}

std::string specJson(const std::string &path) {
  std::string text = readFile(path);
  const size_t first = text.find_first_not_of(" \t\r\n");
#ifdef KVC_TOOLS_WITH_COMPILER
  if (first != std::string::npos && text[first] != '{')
    return translateSpec(text, path, KVC_SPEC_JSON);
#else
  if (first != std::string::npos && text[first] != '{')
    throw Failure(path + ": cannot read, expected JSON (MLIR needs a kvc with "
                         "its compiler), got something else");
#endif
  return text;
}

void calibrate(const CalibrateOptions &options) {
  if (options.percentile != 0 && options.method != "percentile")
    failUse("--percentile: expected --method percentile with it, got " +
            options.method);
  OutputFiles files;
  files.protect("SPEC", options.spec);
  files.protect("--inputs", options.inputs);
  OutputFile &out = files.open("--out", options.out);
  const std::string json = specJson(options.spec);
  const SpecHandle handle = parseSpec(json, options.spec);
  const spec::Spec spec = *spec::parseSpec(json);
  const std::vector<spec::SchemeInput> wanted = spec::schemeInputs(spec);
  if (wanted.empty())
    throw Failure(options.spec +
                  ": needs no inputs, expected static scales, tables of "
                  "{\"bits\": b} or smooth in key or value, got none");
  const bool takesScales = std::ranges::any_of(
      wanted, [](const auto &input) { return input.kind == InputKind::Scale; });
  if (options.method != "search" && !takesScales)
    throw Failure("--method: expected a spec with static scales, got one "
                  "without");
  // What the same attention reads without those inputs.
  const SpecHandle twin = parseSpec(*twinOf(handle.get()), options.spec);
  const kvc_spec_info info = specInfoOf(handle.get());

  Progress progress("calibrate");
  const Threads threads(options.threads);
  CalibrationOptions settings;
  settings.method = methodOf(options.method);
  settings.percentile =
      options.percentile != 0 ? options.percentile : kDefaultPercentile;
  settings.pairs = pairsOf(options, spec);
  settings.threads = threads.loop();
  settings.onStep = [&](const std::string &what) { progress.begin(what); };
  progress.begin("reading " + options.inputs);
  const BatchInputs inputs = readInputs(options.inputs, twin.get());
  Calibration calibration;
  try {
    calibration = calibrate(spec, info, inputs, settings);
  } catch (const Failure &failure) {
    throw Failure(options.inputs + ": " + failure.what());
  }

  std::vector<safetensors::Tensor> tensors;
  for (const CalibratedInput &each : calibration.inputs)
    tensors.push_back(namedTensor(each.input.name, safetensors::DType::F32,
                                  {each.input.heads, each.input.columns},
                                  std::as_bytes(std::span(each.values))));
  out.write(tensors);
  print(options.json ? asJson(calibration) : asText(calibration));
  files.commit();
}

} // namespace

void kvc::addCalibrateCommand(CLI::App &app) {
  auto options = std::make_shared<CalibrateOptions>();
  CLI::App &command = addCommand(
      app, "calibrate",
      "Find static scales, smoothing factors and tables on real inputs.",
      [options] { calibrate(*options); },
      "Writes what the spec's schemes take beside k and v, f32, by the names "
      "that kvc run reads (key_scale, value_table, key_smooth, ..). Scales: "
      "amax "
      "gives the largest magnitude of a block the largest code, percentile a "
      "percentile of them, search the share of the largest that gives each kv "
      "head the least error of the attention's output. Smoothing factors are "
      "the channels' largest magnitudes to a power that is searched the same "
      "way; tables are weighted k-means. Errors are ||out - ref|| / ||ref|| "
      "with the one tensor quantised; before: amax, no smoothing, evenly "
      "spaced "
      "tables. Every token beyond segments.sink counts as quantised.");
  addFile(command, "SPEC", options->spec, "Spec file, JSON or MLIR.",
          Need::Required);
  addFile(command, "--inputs", options->inputs,
          "Safetensors file with q, k and v as kvc run reads them.",
          Need::Required);
  addFile(command, "--out", options->out, "Safetensors file to write.",
          Need::Required);
  addName(command, "--method", options->method,
          {"amax", "percentile", "search"},
          "How static scales are found; default search");
  addNumber(command, "--percentile", options->percentile, 0, 100,
            "Percentile of --method percentile; default 99.9.");
  addName(command, "--pair", options->pair, {"none", "half", "pairs"},
          "Key channels that RoPE rotates together share a smoothing factor, "
          "as folding it into weights needs; default what key.rope says");
  addInteger(command, "--threads", options->threads, 0, kMaxThreads,
             "Threads; default 1, 0: one per core.");
  addFlag(command, "--json", options->json, "Print JSON.");
}
