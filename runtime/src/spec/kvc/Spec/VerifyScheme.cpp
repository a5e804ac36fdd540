//===- VerifyScheme.cpp - Which options combine with which ----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Spec/Parse.h"

#include <algorithm>
#include <bit>

using namespace kvc::spec;

/// f16, bf16 or f32: the scale types that a zero can share.
static bool isElement(DType type) {
  return !nameIn(kElementNames, type).empty();
}

static std::string all(int64_t value) {
  return value == kAll ? "\"all\"" : std::to_string(value);
}

namespace {

/// The rules of one part: codec, scale and options against each other.
class PartVerifier {
public:
  PartVerifier(const PartScheme &part, const std::string &path,
               Diagnosis &diagnosis)
      : part(part), path(path), diagnosis(diagnosis) {}

  bool verify() {
    return (!part.scale || (scaleBlock() && scaleRound() && scaleFloor())) &&
           zero() && clip() && estimate() && codesFrom() && rounding() &&
           rotate() && outliers();
  }

private:
  bool fail(const char *key, const char *rule, std::string message) {
    return diagnosis.fail(path + "." + key, rule, std::move(message));
  }

  /// A dynamic scale in f16, bf16 or f32.
  bool hasPlainScale() const {
    return part.scale && !part.scale->isStatic && isElement(part.scale->dtype);
  }
  std::string scaleName() const {
    if (!part.scale)
      return "no scale";
    return std::string(part.scale->isStatic ? "static " : "dynamic ") +
           std::string(nameOf(part.scale->dtype));
  }
  std::string codec() const { return "codec " + quote(codecName(part.codec)); }

  bool scaleBlock() {
    const Scale &scale = *part.scale;
    if (scale.isStatic && scale.tokens != kAll)
      return fail("scale.tokens", "K9",
                  "static scale of some tokens, expected \"all\", got " +
                      all(scale.tokens));
    if (!scale.isStatic && scale.tokens == kAll)
      return fail("scale.tokens", "K9",
                  "dynamic scale of all tokens, expected an integer (\"all\" "
                  "needs \"static\": true), got \"all\"");
    if (scale.channels != kAll && part.channels() != 0 &&
        part.channels() % scale.channels != 0)
      return fail(
          "scale.channels", "K10",
          "scale block does not divide the channels, expected a divisor of " +
              std::to_string(part.channels()) + ", got " +
              std::to_string(scale.channels));
    if (scale.isStatic && part.zero != Zero::None)
      return fail("zero", "K12",
                  "zero with a static scale, expected \"none\", got " +
                      zeroName());
    return true;
  }

  bool scaleRound() {
    const Scale &scale = *part.scale;
    if (scale.dtype == DType::E8M0)
      return true;
    if (scale.round == ScaleRound::Down)
      return fail("scale.round", "K13",
                  "scale.round \"down\", expected \"up\" or none with dtype " +
                      quote(nameOf(scale.dtype)) + ", got \"down\"");
    if (scale.round == ScaleRound::Up &&
        (part.zero != Zero::None || part.estimate == Estimate::Signed))
      return fail("scale.round", "K14",
                  "scale.round \"up\", expected zero \"none\" and estimate not "
                  "\"signed\" with it, got zero " +
                      zeroName() + " and estimate " +
                      quote(nameIn(kEstimateNames, part.estimate)));
    return true;
  }

  bool scaleFloor() {
    const Scale &scale = *part.scale;
    if (!scale.floor)
      return true;
    if (scale.isStatic || scale.dtype == DType::E8M0)
      return fail("scale.floor", "K16",
                  "scale.floor, expected a dynamic scale in f16, bf16, f32 or "
                  "e4m3 with it, got " +
                      scaleName());
    if (part.estimate == Estimate::Signed || part.codesFrom == CodesFrom::Exact)
      return fail("scale.floor", "K16",
                  "scale.floor, expected estimate not \"signed\" and "
                  "codes_from \"stored\" with it, got estimate " +
                      quote(nameIn(kEstimateNames, part.estimate)) +
                      " and codes_from " +
                      quote(nameIn(kCodesFromNames, part.codesFrom)));
    return true;
  }

  std::string zeroName() const { return quote(nameIn(kZeroNames, part.zero)); }

  bool zero() {
    if (part.zero == Zero::None)
      return true;
    bool mid = part.zero == Zero::Mid;
    const char *rule = mid ? "K20" : "K19";
    if (mid ? part.codec.kind != CodecKind::Lut : !part.codec.isInt())
      return fail("zero", rule,
                  "zero " + zeroName() + ", expected " +
                      (mid ? "codec \"lut\"" : "an integer codec") +
                      " with it, got " + codec());
    if (!hasPlainScale())
      return fail(
          "zero", rule,
          "zero " + zeroName() +
              ", expected a dynamic scale in f16, bf16 or f32 with it, got " +
              scaleName());
    return true;
  }

  bool clip() {
    if (part.clip != 1 && part.scale && part.scale->isStatic)
      return fail("clip", "K22",
                  "clip with a static scale, expected none, got " +
                      std::to_string(part.clip));
    return true;
  }

  bool estimate() {
    switch (part.estimate) {
    case Estimate::Amax:
      return true;
    case Estimate::Signed:
      if (part.codec.isInt() && part.zero == Zero::None && hasPlainScale())
        return true;
      return fail("estimate", "K23",
                  "estimate \"signed\", expected an integer codec, zero "
                  "\"none\" and a dynamic scale in f16, bf16 or "
                  "f32 with it, got " +
                      codec() + ", zero " + zeroName() + " and " + scaleName());
    case Estimate::Rms:
      if (part.codec.kind == CodecKind::Lut && part.zero == Zero::None &&
          part.scale && !part.scale->isStatic)
        return true;
      return fail("estimate", "K24",
                  "estimate \"rms\", expected codec \"lut\", zero \"none\" and "
                  "a dynamic scale with it, got " +
                      codec() + ", zero " + zeroName() + " and " + scaleName());
    }
    return true;
  }

  bool codesFrom() {
    if (part.codesFrom == CodesFrom::Stored)
      return true;
    if (hasPlainScale() && (part.zero == Zero::None || part.zero == Zero::Min))
      return true;
    return fail("codes_from", "K25",
                "codes_from \"exact\", expected zero \"none\" or \"min\" and a "
                "dynamic scale in f16, bf16 or f32 with "
                "it, got zero " +
                    zeroName() + " and " + scaleName());
  }

  bool rounding() {
    if (part.round == Round::Even || part.codec.isInt())
      return true;
    return fail("round", "K26",
                "round " + quote(nameIn(kRoundNames, part.round)) +
                    ", expected \"even\" with " + codec() +
                    " (others need an integer codec), got " +
                    quote(nameIn(kRoundNames, part.round)));
  }

  bool rotate() {
    if (part.rotate == 0)
      return true;
    if (std::has_single_bit(uint64_t(part.rotate)) &&
        part.channels() % part.rotate == 0)
      return true;
    std::string channels =
        part.channels()
            ? " that divides " + std::to_string(part.channels()) + " channels"
            : "";
    return fail("rotate", "K28",
                "rotate block, expected a power of two" + channels + ", got " +
                    std::to_string(part.rotate));
  }

  bool outliers() {
    if (part.outliers == 0 || part.channels() == 0 ||
        part.outliers < part.channels())
      return true;
    return fail("outliers", "K29",
                "outliers, expected 1 to " +
                    std::to_string(part.channels() - 1) + " of " +
                    std::to_string(part.channels()) + " channels, got " +
                    std::to_string(part.outliers));
  }

  const PartScheme &part;
  const std::string &path;
  Diagnosis &diagnosis;
};

} // namespace

bool kvc::spec::verifyPart(const PartScheme &part, const std::string &path,
                           Diagnosis &diagnosis) {
  return PartVerifier(part, path, diagnosis).verify();
}

static int64_t tokensOf(const PartScheme &part) {
  return part.scale && part.scale->tokens != kAll ? part.scale->tokens : 1;
}

static bool verifyRope(const Scheme &scheme, const std::string &path,
                       int64_t channels, Diagnosis &diagnosis) {
  const Rope &rope = *scheme.rope;
  if (rope.dims % 2 != 0)
    return diagnosis.fail(path + ".dims", "K35",
                          "odd rope dims, expected an even number, got " +
                              std::to_string(rope.dims));
  if (channels != 0 && rope.offset + rope.dims > channels)
    return diagnosis.fail(
        path + (rope.dims > channels ? ".dims" : ".offset"), "K36",
        "rope beyond the head, expected offset + dims <= head_dim " +
            std::to_string(channels) + ", got " + std::to_string(rope.offset) +
            " + " + std::to_string(rope.dims));
  for (const PartScheme &part : scheme.parts)
    if (part.rotate != 0)
      return diagnosis.fail(
          path, "K38",
          "rope with rotate, expected one of them, got rotate " +
              std::to_string(part.rotate));
  return true;
}

bool kvc::spec::verifyScheme(const Scheme &scheme, const std::string &path,
                             int64_t channels, Diagnosis &diagnosis) {
  auto pathOf = [&](size_t i) {
    return scheme.explicitParts ? joinPath(path + ".parts", i) : path;
  };

  if (scheme.explicitParts) {
    int64_t next = 0;
    for (size_t i = 0; i < scheme.parts.size(); ++i) {
      const PartScheme &part = scheme.parts[i];
      if (part.begin != next)
        return diagnosis.fail(
            pathOf(i) + ".channels", "K31",
            "parts with a gap or overlap, expected a part from channel " +
                std::to_string(next) + ", got [" + std::to_string(part.begin) +
                ", " + std::to_string(part.end) + ")");
      next = part.end;
    }
    if (channels != 0 && next != channels)
      return diagnosis.fail(path + ".parts", "K31",
                            "parts do not cover the channels, expected [0, " +
                                std::to_string(channels) + "), got [0, " +
                                std::to_string(next) + ")");
  }

  int64_t n = 1;
  for (size_t i = 0; i < scheme.parts.size(); ++i) {
    if (!verifyPart(scheme.parts[i], pathOf(i), diagnosis))
      return false;
    n = std::max(n, tokensOf(scheme.parts[i]));
  }
  for (size_t i = 0; i < scheme.parts.size(); ++i)
    if (int64_t tokens = tokensOf(scheme.parts[i]); tokens != 1 && tokens != n)
      return diagnosis.fail(
          pathOf(i) + ".scale.tokens", "K32",
          "parts disagree on tokens, expected 1 or the largest, " +
              std::to_string(n) + ", got " + std::to_string(tokens));

  return !scheme.rope ||
         verifyRope(scheme, path + ".rope", channels, diagnosis);
}
