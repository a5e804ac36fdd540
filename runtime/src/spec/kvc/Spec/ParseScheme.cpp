//===- ParseScheme.cpp - Reading how a tensor is coded --------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Spec/Parse.h"

using namespace kvc::spec;

using Kind = JsonValue::Kind;

static bool readTable(const JsonValue &value, const std::string &path,
                      Codec &codec, Diagnosis &diagnosis) {
  if (value.kind == Kind::Object) {
    ObjectReader object(value, path, diagnosis);
    constexpr IntegerRange range{2, 4};
    int64_t bits = 0;
    if (!object.open({"bits"}) || !object.require("bits", range.str()) ||
        !object.integer("bits", range, "K6", bits))
      return false;
    codec.bits = static_cast<unsigned>(bits);
    return true;
  }
  if (value.kind != Kind::List)
    return diagnosis.fail(path, "J10",
                          "wrong type, expected a list of 4, 8 or 16 numbers "
                          "or {\"bits\": b}, got " +
                              value.str());
  switch (value.items.size()) {
  case 4:
    codec.bits = 2;
    break;
  case 8:
    codec.bits = 3;
    break;
  case 16:
    codec.bits = 4;
    break;
  default:
    return diagnosis.fail(
        path, "K3",
        "wrong length, expected a list of 4, 8 or 16 numbers, got " +
            value.str());
  }
  bool allZero = true;
  for (size_t i = 0; i < value.items.size(); ++i) {
    double entry = 0;
    if (!readNumber(value.items[i], joinPath(path, i), NumberRange::Finite,
                    "K4", entry, diagnosis))
      return false;
    codec.table.push_back(roundToF32(entry));
    allZero &= codec.table.back() == 0;
  }
  if (allZero)
    return diagnosis.fail(
        path, "K5",
        "table of zeros, expected an entry that is not 0 in f32, got none");
  return true;
}

/// n or "all".
static bool readCount(ObjectReader &object, std::string_view key,
                      IntegerRange range, const char *rule, int64_t &out) {
  const JsonValue &value = *object.find(key);
  std::string expected =
      ", expected " + range.str() + " or \"all\", got " + value.str();
  if (value.kind == Kind::String) {
    if (value.text != "all")
      return object.fail(key, rule, "unknown value" + expected);
    out = kAll;
    return true;
  }
  if (value.kind != Kind::Integer)
    return object.fail(key, "J10", "wrong type" + expected);
  if (!value.fits || !range.contains(value.integer))
    return object.fail(key, rule, "out of range" + expected);
  out = value.integer;
  return true;
}

static bool readScale(const JsonValue &value, const std::string &path,
                      Scale &out, Diagnosis &diagnosis) {
  ObjectReader object(value, path, diagnosis);
  constexpr IntegerRange tokens{1, kMaxTokens}, channels{1, kMaxChannels};
  if (!object.open({"tokens", "channels", "dtype", "static", "round", "floor",
                    "global"}) ||
      !object.require("tokens", tokens.str() + " or \"all\"") ||
      !readCount(object, "tokens", tokens, "K8", out.tokens) ||
      !object.require("channels", channels.str() + " or \"all\"") ||
      !readCount(object, "channels", channels, "K10", out.channels) ||
      !object.require("dtype",
                      "\"f16\", \"bf16\", \"f32\", \"e8m0\" or \"e4m3\"") ||
      !object.named("dtype", kScaleTypeNames, "K11", out.dtype) ||
      !object.boolean("static", out.isStatic))
    return false;

  out.round = out.dtype == DType::E8M0 ? ScaleRound::Down : ScaleRound::Nearest;
  double floor = 0;
  if (!object.named("round", kScaleRoundNames, "K13", out.round) ||
      !object.number("floor", NumberRange::Positive, "K15", floor) ||
      !object.number("global", NumberRange::Positive, "K17", out.global))
    return false;
  if (object.has("floor"))
    out.floor = floor;
  if (object.has("global") && out.dtype != DType::E4M3)
    return object.fail(
        "global", "K18",
        "global without dtype \"e4m3\", expected no global, got dtype " +
            quote(nameOf(out.dtype)));
  return true;
}

static bool readCodec(ObjectReader &object, Codec &out, Diagnosis &diagnosis) {
  // An entry compares by its place in the table.
  Named<size_t> names[std::size(kCodecNames)];
  for (size_t i = 0; i < std::size(kCodecNames); ++i)
    names[i] = {kCodecNames[i].name, i};
  size_t index = 0;
  if (!object.require("codec", "a codec, parts or a preset") ||
      !object.named("codec", names, "K1", index))
    return false;
  const CodecEntry &entry = kCodecNames[index].value;
  out.kind = entry.kind;
  out.bits = entry.bits;
  out.raw = entry.raw;

  const JsonValue *table = object.find("table");
  if (out.kind != CodecKind::Lut) {
    if (!table)
      return true;
    return object.fail(
        "table", "K2",
        "table without codec \"lut\", expected no table, got codec " +
            quote(names[index].name));
  }
  if (!table)
    return object.fail("table", "K2",
                       "codec \"lut\" without a table, expected a list or "
                       "{\"bits\": b}, got nothing");
  return readTable(*table, object.at("table"), out, diagnosis);
}

/// The keys of a scheme, or of an entry of `parts`, that say how channels are
/// coded.
static bool readPart(ObjectReader &object, PartScheme &out,
                     Diagnosis &diagnosis) {
  if (!readCodec(object, out.codec, diagnosis))
    return false;

  if (out.codec.isRaw()) {
    for (const char *key :
         {"clip", "estimate", "codes_from", "round", "outliers"})
      if (const JsonValue *value = object.find(key))
        return object.fail(key, "K27",
                           std::string(key) +
                               " with a raw codec, expected no " + key +
                               ", got " + value->str());
    if (object.has("scale"))
      return object.fail(
          "scale", "K7",
          "scale with a raw codec, expected no scale, got codec " +
              quote(codecName(out.codec)));
  } else {
    if (!object.has("scale"))
      return object.fail("scale", "K7",
                         "missing key, expected a scale with codec " +
                             quote(codecName(out.codec)) + ", got nothing");
    Scale scale;
    if (!readScale(*object.find("scale"), object.at("scale"), scale, diagnosis))
      return false;
    out.scale = scale;
  }

  return object.named("zero", kZeroNames, "K19", out.zero) &&
         object.number("clip", NumberRange::UnitInterval, "K21", out.clip) &&
         object.named("estimate", kEstimateNames, "K23", out.estimate) &&
         object.named("codes_from", kCodesFromNames, "K25", out.codesFrom) &&
         object.named("round", kRoundNames, "K26", out.round) &&
         object.integer("rotate", {1, kMaxChannels}, "K28", out.rotate) &&
         object.boolean("smooth", out.smooth) &&
         object.integer("outliers", {1, kMaxChannels - 1}, "K29", out.outliers);
}

static bool readParts(const JsonValue &value, const std::string &path,
                      int64_t channels, Scheme &out, Diagnosis &diagnosis) {
  if (value.kind != Kind::List)
    return diagnosis.fail(path, "J10",
                          "wrong type, expected a list of parts, got " +
                              value.str());
  if (value.items.empty())
    return diagnosis.fail(path, "K30",
                          "no parts, expected at least one, got an empty list");
  for (size_t i = 0; i < value.items.size(); ++i) {
    ObjectReader object(value.items[i], joinPath(path, i), diagnosis);
    if (!object.open({"channels", "preset", "codec", "table", "scale", "zero",
                      "clip", "estimate", "codes_from", "round", "rotate",
                      "smooth", "outliers", "parts", "rope"}))
      return false;
    if (object.has("parts"))
      return object.fail(
          "parts", "K30",
          "nested parts, expected one level, got parts inside a part");
    if (object.has("rope"))
      return object.fail(
          "rope", "K33",
          "rope inside a part, expected it beside parts, got it in part " +
              std::to_string(i));
    std::array<int64_t, 2> range{};
    if (!object.require("channels", "a list [begin, end)") ||
        !readChannelRange(*object.find("channels"), object.at("channels"),
                          channels ? channels : kMaxChannels, "K31", range,
                          diagnosis))
      return false;
    PartScheme part;
    part.begin = range[0];
    part.end = range[1];
    if (!readPart(object, part, diagnosis))
      return false;
    out.parts.push_back(std::move(part));
  }
  return true;
}

static bool readRope(const JsonValue &value, const std::string &path, Rope &out,
                     Diagnosis &diagnosis) {
  ObjectReader object(value, path, diagnosis);
  constexpr IntegerRange dims{2, kMaxChannels};
  return object.open({"style", "dims", "offset", "theta"}) &&
         object.require("style", "\"half\" or \"pairs\"") &&
         object.named("style", kRopeStyleNames, "K34", out.pairs) &&
         object.require("dims", dims.str()) &&
         object.integer("dims", dims, "K35", out.dims) &&
         object.integer("offset", {0, kMaxChannels - 2}, "K36", out.offset) &&
         object.number("theta", NumberRange::Positive, "K37", out.theta);
}

bool kvc::spec::readScheme(const JsonValue &value, const std::string &path,
                           SchemeOwner owner, int64_t channels, Scheme &out,
                           Diagnosis &diagnosis) {
  ObjectReader object(value, path, diagnosis);
  if (!object.open({"preset", "codec", "table", "scale", "zero", "clip",
                    "estimate", "codes_from", "round", "rotate", "smooth",
                    "outliers", "parts", "rope"}))
    return false;

  if (const JsonValue *rope = object.find("rope")) {
    if (owner == SchemeOwner::Value)
      return object.fail("rope", "K33",
                         "rope in value, expected it in key only, got " +
                             rope->str());
    Rope read;
    if (!readRope(*rope, object.at("rope"), read, diagnosis))
      return false;
    out.rope = read;
  }

  if (const JsonValue *parts = object.find("parts")) {
    for (const JsonMember &member : value.members)
      if (member.key != "parts" && member.key != "rope")
        return object.fail(member.key, "K30",
                           member.key +
                               " beside parts, expected only rope there, got " +
                               member.value.str());
    out.explicitParts = true;
    return readParts(*parts, object.at("parts"), channels, out, diagnosis);
  }

  PartScheme part;
  part.end = channels;
  if (!readPart(object, part, diagnosis))
    return false;
  out.parts.push_back(std::move(part));
  return true;
}
