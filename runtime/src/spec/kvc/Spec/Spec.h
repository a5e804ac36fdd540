//===- Spec.h - One attention over one cache, as data -----------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The meaning of a spec file as plain structs, its one parser, its one verifier
// and its canonical form. JSON files, MLIR attributes, the C API and the tests
// all go through here; nothing else in the project reads a spec.
//
// The structs hold what was said with every default filled in, so readers never
// ask "was it given?". Canonical printing leaves defaults out again. A member
// means what SPEC.md says of the key of that name.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SPEC_SPEC_H
#define KVC_SPEC_SPEC_H

#include "kvc/Spec/ValueOrError.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvc::spec {

/// "all" in `scale.tokens` and `scale.channels`.
inline constexpr int64_t kAll = 0;

/// Element types of queries, outputs, scales and raw codecs.
enum class DType : uint8_t { F32, F16, BF16, E8M0, E4M3 };

/// How one stored code is coded. `Int` covers every width from 8 to 2 bits.
enum class CodecKind : uint8_t { Raw, Int, FP8E4M3, FP8E5M2, FP4E2M1, Lut };

struct Codec {
  CodecKind kind = CodecKind::Raw;
  unsigned bits = 16;       ///< Stored bits of one code.
  DType raw = DType::F16;   ///< Raw only: F32, F16 or BF16.
  std::vector<float> table; ///< Lut only: 2^bits entries; empty: given per kv
                            ///< head as an input.

  bool isRaw() const { return kind == CodecKind::Raw; }
  bool isInt() const { return kind == CodecKind::Int; }
  /// Stored as bit patterns of a small float.
  bool isFloatCode() const {
    return kind == CodecKind::FP8E4M3 || kind == CodecKind::FP8E5M2 ||
           kind == CodecKind::FP4E2M1;
  }
  /// A lookup table that is given per kv head.
  bool takesTable() const { return kind == CodecKind::Lut && table.empty(); }
  /// codec_max of SPEC.md: the largest magnitude of a code, that of symmetric
  /// integers. A table must be known.
  double largest() const;
  bool operator==(const Codec &) const = default;
};

/// A small float: a sign, then exponent, then mantissa. Every pattern up to
/// `largestCode` is finite.
struct FloatFormat {
  int exponentBits, mantissaBits, bias;
  unsigned largestCode; ///< The pattern of the largest finite value.
  double largest;       ///< That value.
};
inline constexpr FloatFormat kFP8E4M3{4, 3, 7, 0x7e, 448},
    kFP8E5M2{5, 2, 15, 0x7b, 57344}, kFP4E2M1{2, 1, 1, 0x7, 6};
/// The format of a float codec that is not raw.
const FloatFormat &formatOf(CodecKind kind);

/// What a code is read with beside its scale s: nothing, m in s * u + m, or z
/// in s * (u - z). `Mid` is m of a lookup table.
enum class Zero : uint8_t { None, Min, Code, Mid };
/// What a scale is derived from.
enum class Estimate : uint8_t { Amax, Signed, Rms };
/// Whether codes come from the scale that is stored or from the one before it
/// was rounded to its dtype.
enum class CodesFrom : uint8_t { Stored, Exact };
/// Of halves, to an integer code.
enum class Round : uint8_t { Even, Away, Up };
/// Of a scale to its dtype; `Down` and `Up` give powers of two.
enum class ScaleRound : uint8_t { Nearest, Down, Up };

/// The block of one sequence and one kv head that shares a scale: `tokens` x
/// `channels`, either of which may be kAll.
struct Scale {
  int64_t tokens = 1;
  int64_t channels = kAll;
  DType dtype = DType::F16;
  bool isStatic = false; ///< Given as an input, not found from the values.
  ScaleRound round = ScaleRound::Nearest; ///< E8M0: Down (its default) or Up.
  std::optional<double> floor;            ///< The least quotient.
  double global = 1.0;                    ///< E4M3 only: times what is stored.

  bool operator==(const Scale &) const = default;
};

struct Rope {
  bool pairs = false; ///< false: "half", true: "pairs".
  /// Channels [offset, offset + dims) rotate.
  int64_t dims = 0, offset = 0;
  double theta = 10000.0;
  bool operator==(const Rope &) const = default;
};

/// How a range of channels of one tensor is coded.
struct PartScheme {
  int64_t begin = 0, end = 0; ///< Channels [begin, end) of the tensor.
  Codec codec;
  std::optional<Scale> scale; ///< Absent for raw codecs.
  Zero zero = Zero::None;
  double clip = 1.0; ///< Times what `estimate` finds.
  Estimate estimate = Estimate::Amax;
  CodesFrom codesFrom = CodesFrom::Stored;
  Round round = Round::Even;
  int64_t rotate = 0;   ///< Block of the Walsh-Hadamard transform; 0: none.
  bool smooth = false;  ///< Stored divided by an input, per channel.
  int64_t outliers = 0; ///< Channels per token and head kept as f16.

  int64_t channels() const { return end - begin; }
  bool hasStaticScale() const { return scale && scale->isStatic; }
  /// Channels that share a scale (kAll resolved); channels() for raw codecs.
  int64_t blockChannels() const;
  /// Scale blocks per token and head; 0 for raw codecs.
  int64_t blocks() const;
  /// The same, but 0 where scales are static and lie in no page.
  int64_t dynamicBlocks() const { return hasStaticScale() ? 0 : blocks(); }
  bool operator==(const PartScheme &) const = default;
};

/// How one tensor (K or V) is coded: one part unless `parts` was given.
struct Scheme {
  std::vector<PartScheme> parts;
  bool explicitParts = false; ///< `parts` was given, even if with one entry.
  std::optional<Rope> rope;   ///< Keys only.

  /// The tensor's n: tokens of a scale block; 1 for raw and static schemes.
  int64_t blockTokens() const;
  bool isRaw() const;
  bool operator==(const Scheme &) const = default;
};

struct Attention {
  int64_t qHeads = 0, kvHeads = 0;
  int64_t headDim = 0, valueDim = 0; ///< Channels of q and k; of v and out.
  double scale = 0;                  ///< Of q.k, before everything else.
  bool causal = true;
  std::optional<int64_t> window; ///< Keys that a query sees, its own included.
  int64_t windowSinks = 0;       ///< First keys, seen beyond the window.
  std::optional<double> softcap;
  bool alibi = false, sinkLogits = false; ///< Each with an input per q head.
  /// V is channels [begin, end) of the dequantised K.
  std::optional<std::array<int64_t, 2>> valueIsKey;

  /// Query heads per kv head.
  int64_t group() const { return qHeads / kvHeads; }
  /// 1/sqrt(headDim), rounded once: what `scale` is when it is not given.
  double defaultScale() const;
  bool operator==(const Attention &) const = default;
};

struct IO {
  DType query = DType::F16, output = DType::F16;
  bool operator==(const IO &) const = default;
};

/// The first and the last tokens of a sequence that are kept as given.
struct Segments {
  int64_t sink = 0, recent = 0;
  bool operator==(const Segments &) const = default;
};

enum class LayoutKind : uint8_t { Contiguous, Paged, Ring };
enum class Order : uint8_t { Nhd, Hnd, Auto, Ggml, Token };

struct Layout {
  LayoutKind kind = LayoutKind::Contiguous;
  int64_t page = 0; ///< Tokens of a page; paged only.
  Order order = Order::Auto;
  bool interleaved = false;
  bool operator==(const Layout &) const = default;
};

struct Spec {
  std::string name;
  Attention attention;
  IO io;
  Scheme key;
  std::optional<Scheme> value; ///< Absent with valueIsKey.
  Segments segments;
  Layout layout;
  bool operator==(const Spec &) const = default;
};

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// What is wrong with a spec, where and what was expected.
struct Error {
  std::string path; ///< JSON path, "$.key.scale.dtype"; "$" for the document.
  std::string rule; ///< Number of the violated rule, "K7"; see README.md here.
  std::string message; ///< "what, expected X, got Y", no full stop.

  /// "PATH: MESSAGE [RULE]".
  std::string str() const;
};

/// Either a value or the first error found.
template <typename T>
using Expected = ValueOrError<T, Error>;

/// Parses and verifies one spec file. Strict: SPEC.md, section 1. Never throws,
/// whatever the bytes.
Expected<Spec> parseSpec(std::string_view json);

/// What is wrong with one section on its own, or nothing: `section` is
/// "attention", "io", "scheme", "segments" or "layout", `json` its object.
/// Rules that need other sections are left to parseSpec; paths start at the
/// section.
std::optional<Error> checkSection(std::string_view section,
                                  std::string_view json);

/// Canonical JSON: keys in the documentation's order, two-space indentation,
/// presets expanded, defaults left out, floats in the shortest form that reads
/// back to the same f64. printSpec(parseSpec(x)) is a fixed point. Ends with a
/// newline.
std::string printSpec(const Spec &spec);

/// The same on one line and without the newline, for hashing and for
/// attributes.
std::string printSpecCompact(const Spec &spec);

//===----------------------------------------------------------------------===//
// Asking
//===----------------------------------------------------------------------===//

/// The tensors of a cache.
enum class Tensor : uint8_t { Key, Value };

/// The scheme of a tensor, or null for a value that is the key.
const Scheme *schemeOf(const Spec &spec, Tensor tensor);
/// Channels per head of a tensor.
int64_t channelsOf(const Spec &spec, Tensor tensor);

/// SHA-256 (lower-case hex) over the fields that decide the bytes of a cache
/// and nothing else: kv heads, channels, schemes, io.query, segments, layout.
std::string layoutHash(const Spec &spec);

/// Bits of one element.
unsigned bitsOf(DType type);
std::string_view nameOf(DType type);
std::string codecName(const Codec &codec);

} // namespace kvc::spec

#endif // KVC_SPEC_SPEC_H
