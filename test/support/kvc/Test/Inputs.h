//===- Inputs.h - The tensors that kvc run takes ----------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Inputs of one spec, from a file or from a seed. q, k and v are held after the
// conversion to io.query, which is where SPEC.md section 2 starts.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_INPUTS_H
#define KVC_TEST_INPUTS_H

#include "kvc/Safetensors.h"
#include "kvc/Spec/SchemeInputs.h"
#include "kvc/Test/Attention.h"
#include "kvc/Test/Quantise.h"

#include <string>

namespace kvc::test {

struct Inputs {
  std::vector<float> q; ///< [total_q][q_heads][head_dim]
  std::vector<float> k; ///< [total_kv][kv_heads][head_dim]
  std::vector<float> v; ///< [total_kv][kv_heads][value_dim]; or empty.
  std::vector<int64_t> cuQ, cuKv;
  std::vector<float> slopes, sinks; ///< [q_heads]; empty if not taken.
  SchemeInputs key, value;
};

/// Values of an input of a scheme, [heads, columns].
const std::vector<float> &valuesOf(const spec::SchemeInput &input,
                                   const Inputs &inputs);

/// Takes what `spec` needs from a file; a missing or misshapen tensor is an
/// error that says which.
safetensors::Expected<Inputs> loadInputs(const spec::Spec &spec,
                                         const safetensors::File &file);

/// Writes inputs as `kvc run --inputs` takes them, q, k and v in io.query.
std::optional<safetensors::Error> saveInputs(const spec::Spec &spec,
                                             const Inputs &inputs,
                                             const std::string &path);

/// The elements of a float or integer tensor.
std::vector<float> floatsOf(const safetensors::Tensor &tensor);
std::vector<int64_t> integersOf(const safetensors::Tensor &tensor);

//===----------------------------------------------------------------------===//
// Random ones
//===----------------------------------------------------------------------===//

/// What the values look like. All but Normal are hard on some kernel.
enum class InputMode : uint8_t {
  Normal,         ///< Unit variance.
  AllEqual,       ///< One value in all of q, one in k, one in v.
  HugeLogit,      ///< Normal, and one key per sequence that takes all weight.
  LargestCodes,   ///< Constant q and k, so that every code is the largest.
  Zeros,          ///< Zeros of both signs, and a few values between them.
  ConstantRows,   ///< One value per token and head in k and v; q is normal.
  Subnormals,     ///< io.query's smallest numbers, or 1e-37 if it has them.
  OutlierChannels ///< A few channels of q, k and v a hundred times the others.
};
inline constexpr InputMode kInputModes[] = {
    InputMode::Normal,       InputMode::AllEqual,       InputMode::HugeLogit,
    InputMode::LargestCodes, InputMode::Zeros,          InputMode::ConstantRows,
    InputMode::Subnormals,   InputMode::OutlierChannels};
std::string_view nameOf(InputMode mode);

/// Queries and keys of one sequence.
struct Lengths {
  int64_t queries = 0, keys = 0;
};

/// Inputs of `spec`, a function of the arguments alone on every machine.
/// Scales, tables, smoothing factors, slopes and sinks come where the spec
/// takes them.
Inputs randomInputs(const spec::Spec &spec, std::span<const Lengths> lengths,
                    InputMode mode, uint64_t seed);

/// A generator that is the same everywhere (the standard distributions differ
/// between libraries).
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next();
  /// In [0, bound), bound > 0.
  int64_t below(int64_t bound) { return int64_t(next() % uint64_t(bound)); }
  /// In [0, 1).
  double uniform() { return double(next() >> 11) * 0x1p-53; }
  /// Nearly normal, unit variance: the sum of twelve uniforms.
  double normal();

private:
  uint64_t state;
};

//===----------------------------------------------------------------------===//
// From inputs to the answer
//===----------------------------------------------------------------------===//

/// What a cache holds after `inputs`, and what attention over it gives.
struct Answer {
  TensorData k;
  TensorData v; ///< With value_is_key: x alone, the slice of K's.
  Reference reference;
};
Answer answer(const spec::Spec &spec, const Inputs &inputs,
              const ScoreRegion &score = {});

} // namespace kvc::test

#endif // KVC_TEST_INPUTS_H
