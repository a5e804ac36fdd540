//===- Calibration.cpp - Inputs of schemes from real activations ----------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Calibration.h"

#include "kvc/HeadCalibration.h"
#include "kvc/Quantise/TensorQuantiser.h"
#include "kvc/Reference.h"
#include "kvc/Table.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace kvc;
using spec::InputKind;
using spec::SchemeInput;
using spec::Tensor;

namespace {

/// Steps of a coarse search over 0 .. 1 and of the finer one around its result.
constexpr int kCoarseSteps = 10;
constexpr double kFineStep = 0.025;
constexpr double kLeastShare = 0.3;

using Arrays = std::vector<std::vector<float>>; ///< Of schemeInputs(spec).

/// Tokens [begin, end) of a batch that are quantised.
struct Body {
  int64_t begin, end;
};

Values asValues(const std::vector<float> &values) {
  Values result{KVC_F32, std::vector<std::byte>(values.size() * 4)};
  std::memcpy(result.bytes.data(), values.data(), result.bytes.size());
  return result;
}

/// What is given, and what quantised keys and values do to the output.
class Judge {
public:
  Judge(const spec::Spec &spec, const kvc_spec_info &info,
        const BatchInputs &inputs, const kvc_parallel_for *threads)
      : spec(spec), info(info), inputs(inputs), threads(threads),
        rows{inputs.k.toF32(),
             info.value_is_key ? std::vector<float>() : inputs.v.toF32()},
        reference(attendInF64(info, inputs, threads)),
        squaredNorm(squaresPerHead(reference.out)) {}

  const std::vector<float> &rowsOf(Tensor tensor) const {
    return rows[static_cast<size_t>(tensor)];
  }

  /// What a cache would hand back; recent tokens count as quantised.
  std::vector<float> quantised(Tensor tensor, const Arrays &arrays) const {
    std::vector<const float *> pointers;
    for (const std::vector<float> &array : arrays)
      pointers.push_back(array.data());
    const quantise::TensorQuantiser quantiser(spec, tensor, pointers);
    std::vector<float> result = rowsOf(tensor);
    const int64_t stride = quantiser.heads() * quantiser.channels();
    for (const Body &body : bodies(quantiser.blockTokens()))
      for (int64_t t = body.begin; t < body.end; t += quantiser.blockTokens())
        for (int64_t head = 0; head < quantiser.heads(); ++head)
          quantiser.roundTrip(
              head, {result.data() + t * stride + head * quantiser.channels(),
                     stride});
    return result;
  }

  std::vector<Body> bodies(int64_t n) const {
    std::vector<Body> result;
    for (int64_t i = 0; i < inputs.batch(); ++i) {
      const int64_t begin = inputs.keyStarts[i] + spec.segments.sink;
      const int64_t end = begin + (inputs.keyStarts[i + 1] - begin) / n * n;
      if (end > begin)
        result.push_back({begin, end});
    }
    return result;
  }

  /// Per kv head, with these in place of the keys or of the values.
  std::vector<double> squaredErrors(const std::vector<float> *keys,
                                    const std::vector<float> *values) const {
    BatchInputs changed = inputs;
    if (keys)
      changed.k = asValues(*keys);
    if (values)
      changed.v = asValues(*values);
    std::vector<double> out = attendInF64(info, changed, threads).out;
    for (size_t i = 0; i < out.size(); ++i)
      out[i] -= reference.out[i];
    return squaresPerHead(out);
  }

  double relative(const std::vector<double> &squaredErrors) const {
    double error = 0, norm = 0;
    for (size_t head = 0; head < squaredErrors.size(); ++head) {
      error += squaredErrors[head];
      norm += squaredNorm[head];
    }
    return norm > 0 ? std::sqrt(error / norm) : error > 0 ? INFINITY : 0;
  }

  /// What a squared error of a key costs where it is coded: [tokens][heads]
  /// [channels].
  std::vector<double>
  keyWeights(const std::vector<std::vector<float>> &smooth) const;
  std::vector<double>
  valueWeights(const std::vector<std::vector<float>> &smooth) const;

  const spec::Spec &spec;
  const kvc_spec_info &info;
  const BatchInputs &inputs;

private:
  std::vector<double> squaresPerHead(const std::vector<double> &out) const {
    std::vector<double> result(info.kv_heads);
    const int64_t group = info.q_heads / info.kv_heads;
    for (size_t i = 0; i < out.size(); ++i)
      result[i / info.value_dim % info.q_heads / group] += out[i] * out[i];
    return result;
  }

  const kvc_parallel_for *threads;
  std::vector<float> rows[2];
  ReferenceOutputs reference;
  std::vector<double> squaredNorm;
};

/// A vector on which keys or values are projected, in the basis of the codes:
/// times the smoothing factors, then rotated.
void intoCodeBasis(const spec::Scheme &scheme, const std::vector<float> &smooth,
                   float *row) {
  for (const spec::PartScheme &part : scheme.parts) {
    float *channels = row + part.begin;
    if (part.smooth)
      for (int64_t c = 0; c < part.channels(); ++c)
        channels[c] *= smooth[part.begin + c];
    if (part.rotate)
      quantise::rotateBlocks(channels, part.channels(), part.rotate);
  }
}

std::vector<double>
Judge::keyWeights(const std::vector<std::vector<float>> &smooth) const {
  const spec::Scheme &scheme = spec.key;
  std::vector<float> queries = inputs.q.toF32();
  // Keys before RoPE take the smoothing behind the rotation back by their
  // position, and have no other rotation.
  if (!scheme.rope)
    for (int64_t row = 0; row < inputs.queries() * info.q_heads; ++row)
      intoCodeBasis(scheme,
                    smooth[row % info.q_heads / (info.q_heads / info.kv_heads)],
                    queries.data() + row * info.head_dim);
  std::vector<double> weights = sensitivitiesOf(info, inputs, queries).keys;
  if (!scheme.rope)
    return weights;
  for (size_t i = 0; i < weights.size(); ++i) {
    const std::vector<float> &factors =
        smooth[i / info.head_dim % info.kv_heads];
    if (!factors.empty())
      weights[i] *= double(factors[i % info.head_dim]) *
                    double(factors[i % info.head_dim]);
  }
  return weights;
}

std::vector<double>
Judge::valueWeights(const std::vector<std::vector<float>> &smooth) const {
  const std::vector<double> tokens =
      sensitivitiesOf(info, inputs, inputs.q.toF32()).values;
  // Output channel i sees factor_i times row i of the rotation: a channel of
  // codes counts with the sum of their squares.
  std::vector<std::vector<double>> perChannel;
  for (const std::vector<float> &factors : smooth) {
    std::vector<double> &sums = perChannel.emplace_back(info.value_dim, 0.0);
    std::vector<float> unit(info.value_dim);
    for (int64_t i = 0; i < info.value_dim; ++i) {
      std::ranges::fill(unit, 0.0F);
      unit[i] = 1;
      intoCodeBasis(*spec.value, factors, unit.data());
      for (int64_t c = 0; c < info.value_dim; ++c)
        sums[c] += double(unit[c]) * double(unit[c]);
    }
  }
  std::vector<double> weights;
  for (size_t place = 0; place < tokens.size(); ++place)
    for (double sum : perChannel[place % info.kv_heads])
      weights.push_back(tokens[place] * sum);
  return weights;
}

/// Finds the inputs of one tensor.
class TensorCalibrator {
public:
  TensorCalibrator(const Judge &judge, Tensor tensor,
                   const CalibrationOptions &options)
      : judge(judge), tensor(tensor), options(options),
        scheme(*spec::schemeOf(judge.spec, tensor)),
        channels(spec::channelsOf(judge.spec, tensor)),
        numHeads(judge.info.kv_heads), wanted(spec::schemeInputs(judge.spec)) {
    const std::vector<float> &rows = judge.rowsOf(tensor);
    for (int64_t head = 0; head < numHeads; ++head) {
      std::vector<float> mine;
      for (const Body &body : judge.bodies(scheme.blockTokens()))
        for (int64_t t = body.begin; t < body.end; ++t) {
          const float *row = rows.data() + (t * numHeads + head) * channels;
          mine.insert(mine.end(), row, row + channels);
        }
      heads.emplace_back(scheme, std::move(mine), channels);
    }
    for (const SchemeInput &input : wanted) {
      if (input.tensor != tensor)
        continue;
      takesScale |= input.kind == InputKind::Scale;
      takesTable |= input.kind == InputKind::Table;
      takesSmooth |= input.kind == InputKind::Smooth;
    }
  }

  /// `all` holds arrays of all inputs; those of this tensor are filled.
  void run(Arrays &naive, Arrays &all, CalibrationError &error) {
    std::vector<Choice> choices(numHeads);
    step("as it stands");
    std::vector<double> before = consider(choices);
    copyInto(naive, tried);
    error.before = judge.relative(before);
    error.after = error.before;
    copyInto(all, tried);
    if (!takesScale && !takesTable && !takesSmooth)
      return;

    for (Choice &choice : choices) {
      choice.byPercentile = options.method == ScaleMethod::Percentile;
      choice.clusters = takesTable;
    }
    best = choices;
    least = consider(choices);
    bestInputs = tried;
    if (takesSmooth)
      searchOver(&Choice::alpha, 0, "smoothing");
    if (takesScale && options.method == ScaleMethod::Search) {
      searchOver(&Choice::share, kLeastShare, "share of the largest");
      step("share of the largest by block");
      choices = best;
      for (Choice &choice : choices)
        choice.share = 0;
      keepBetter(choices);
    }
    copyInto(all, bestInputs);
    error.after = judge.relative(least);
  }

  std::string methodOf(const SchemeInput &input) const {
    switch (input.kind) {
    case InputKind::Table:
      return "weighted k-means";
    case InputKind::Smooth:
      return "alpha search";
    case InputKind::Scale:
      break;
    }
    return options.method == ScaleMethod::Amax ? "amax"
           : options.method == ScaleMethod::Percentile
               ? "percentile " + significant(options.percentile)
               : "clip search";
  }

  std::vector<double> choicesOf(const SchemeInput &input) const {
    std::vector<double> result;
    if (input.kind != InputKind::Table)
      for (const Choice &choice : best)
        result.push_back(input.kind == InputKind::Smooth ? choice.alpha
                                                         : choice.share);
    return result;
  }

private:
  void step(const std::string &what) const {
    if (options.onStep)
      options.onStep((tensor == Tensor::Key ? "key, " : "value, ") + what);
  }

  /// The squared errors of choices, whose inputs are then in `tried`.
  std::vector<double> consider(const std::vector<Choice> &choices) {
    std::vector<std::vector<float>> smooth(numHeads);
    for (int64_t head = 0; head < numHeads; ++head)
      if (takesSmooth)
        smooth[head] = heads[head].smoothing(choices[head].alpha,
                                             tensor == Tensor::Key
                                                 ? options.pairs
                                                 : std::optional<spec::Rope>());
    std::vector<double> weights;
    if (std::ranges::any_of(choices, [](const Choice &choice) {
          return choice.clusters || choice.share == 0;
        }))
      weights = tensor == Tensor::Key ? judge.keyWeights(smooth)
                                      : judge.valueWeights(smooth);
    tried.clear();
    for (int64_t head = 0; head < numHeads; ++head)
      tried.push_back(heads[head].derive(choices[head], options.percentile,
                                         smooth[head],
                                         weightsOf(weights, head)));
    Arrays arrays(wanted.size());
    copyInto(arrays, tried);
    const std::vector<float> read = judge.quantised(tensor, arrays);
    return tensor == Tensor::Key ? judge.squaredErrors(&read, nullptr)
                                 : judge.squaredErrors(nullptr, &read);
  }

  /// One head's rows that are quantised of [tokens][heads][channels].
  std::vector<double> weightsOf(const std::vector<double> &weights,
                                int64_t head) const {
    std::vector<double> mine;
    if (weights.empty())
      return mine;
    for (const Body &body : judge.bodies(scheme.blockTokens()))
      for (int64_t t = body.begin; t < body.end; ++t) {
        const double *row = weights.data() + (t * numHeads + head) * channels;
        mine.insert(mine.end(), row, row + channels);
      }
    return mine;
  }

  void keepBetter(const std::vector<Choice> &choices) {
    const std::vector<double> errors = consider(choices);
    for (int64_t head = 0; head < numHeads; ++head)
      if (errors[head] < least[head]) {
        least[head] = errors[head];
        best[head] = choices[head];
        bestInputs[head] = tried[head];
      }
  }

  /// Coarsely from `low` to 1, then finely around what each head likes.
  void searchOver(double Choice::*field, double low, const std::string &what) {
    for (int i = 0; i <= kCoarseSteps; ++i) {
      const double value = low + (1 - low) * i / kCoarseSteps;
      step(what + " " + fixed(value, 3));
      std::vector<Choice> choices = best;
      for (Choice &choice : choices)
        choice.*field = value;
      keepBetter(choices);
    }
    const std::vector<Choice> coarse = best;
    for (int i : {-2, -1, 1, 2}) {
      step(what + ", finer");
      std::vector<Choice> choices = coarse;
      for (Choice &choice : choices)
        choice.*field = std::clamp(choice.*field + i * kFineStep, low, 1.0);
      keepBetter(choices);
    }
  }

  void copyInto(Arrays &arrays, const std::vector<HeadInputs> &inputs) const {
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i].tensor != tensor)
        continue;
      arrays[i].clear();
      for (const HeadInputs &head : inputs) {
        const std::vector<float> &row = wanted[i].kind == InputKind::Smooth
                                            ? head.smooth
                                        : wanted[i].kind == InputKind::Scale
                                            ? head.parts[wanted[i].part].scale
                                            : head.parts[wanted[i].part].table;
        arrays[i].insert(arrays[i].end(), row.begin(), row.end());
      }
    }
  }

  const Judge &judge;
  Tensor tensor;
  const CalibrationOptions &options;
  const spec::Scheme &scheme;
  int64_t channels, numHeads;
  std::vector<SchemeInput> wanted;
  std::vector<HeadRows> heads;
  bool takesScale = false, takesTable = false, takesSmooth = false;
  std::vector<HeadInputs> tried, bestInputs;
  std::vector<Choice> best;
  std::vector<double> least;
};

/// Whether some query sees a key, and some token is quantised.
void check(const Judge &judge) {
  bool hasQuery = false;
  for (int64_t i = 0; i < judge.inputs.batch(); ++i)
    hasQuery |= judge.inputs.queryStarts[i] < judge.inputs.queryStarts[i + 1] &&
                judge.inputs.keyStarts[i] < judge.inputs.keyStarts[i + 1];
  if (!hasQuery)
    throw Failure("has no query with a key, expected at least one");
  for (Tensor tensor : {Tensor::Key, Tensor::Value})
    if (const spec::Scheme *scheme = spec::schemeOf(judge.spec, tensor))
      if (judge.bodies(scheme->blockTokens()).empty())
        throw Failure("has no sequence longer than segments.sink (" +
                      std::to_string(judge.spec.segments.sink) +
                      ") by a block of " +
                      std::to_string(scheme->blockTokens()) +
                      " tokens, expected at least one");
}

} // namespace

Calibration kvc::calibrate(const spec::Spec &spec, const kvc_spec_info &info,
                           const BatchInputs &inputs,
                           const CalibrationOptions &options) {
  const Judge judge(spec, info, inputs, options.threads);
  check(judge);
  const std::vector<SchemeInput> wanted = spec::schemeInputs(spec);
  Arrays naive(wanted.size()), found(wanted.size());
  Calibration result;
  for (const SchemeInput &input : wanted)
    result.inputs.push_back({input, {}, "", {}});
  for (Tensor tensor : {Tensor::Key, Tensor::Value}) {
    if (!spec::schemeOf(spec, tensor))
      continue;
    TensorCalibrator calibrator(judge, tensor, options);
    calibrator.run(naive, found, result.tensors[static_cast<size_t>(tensor)]);
    for (CalibratedInput &each : result.inputs)
      if (each.input.tensor == tensor) {
        each.method = calibrator.methodOf(each.input);
        each.choices = calibrator.choicesOf(each.input);
      }
  }
  for (size_t i = 0; i < wanted.size(); ++i)
    result.inputs[i].values = found[i];
  auto errorOfAll = [&](const Arrays &arrays) {
    const std::vector<float> keys = judge.quantised(Tensor::Key, arrays);
    if (!spec.value)
      return judge.relative(judge.squaredErrors(&keys, nullptr));
    const std::vector<float> values = judge.quantised(Tensor::Value, arrays);
    return judge.relative(judge.squaredErrors(&keys, &values));
  };
  result.all = {errorOfAll(naive), errorOfAll(found)};
  return result;
}
