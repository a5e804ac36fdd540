//===- Parse.cpp - Reading a spec -----------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Spec/Parse.h"
#include "kvc/Spec/Presets.h"

using namespace kvc::spec;

using Kind = JsonValue::Kind;

bool kvc::spec::readAttention(const JsonValue &value, const std::string &path,
                              Attention &out, Diagnosis &diagnosis) {
  ObjectReader object(value, path, diagnosis);
  constexpr IntegerRange heads{1, 65536}, channels{kMinChannels, kMaxChannels};
  if (!object.open({"q_heads", "kv_heads", "head_dim", "value_dim", "scale",
                    "mask", "window", "window_sinks", "softcap", "alibi",
                    "sink_logits", "value_is_key"}) ||
      !object.require("q_heads", heads.str()) ||
      !object.integer("q_heads", heads, "A1", out.qHeads) ||
      !object.require("kv_heads", heads.str()) ||
      !object.integer("kv_heads", heads, "A1", out.kvHeads) ||
      !object.require("head_dim", channels.str()) ||
      !object.integer("head_dim", channels, "A4", out.headDim))
    return false;

  if (const JsonValue *slice = object.find("value_is_key")) {
    std::array<int64_t, 2> range{0, out.headDim};
    if (slice->kind == Kind::String) {
      if (slice->text != "all")
        return object.fail(
            "value_is_key", "A13",
            "unknown value, expected \"all\" or a list [begin, end), got " +
                slice->str());
    } else if (slice->kind != Kind::List) {
      return object.fail(
          "value_is_key", "J10",
          "wrong type, expected \"all\" or a list [begin, end), got " +
              slice->str());
    } else if (!readChannelRange(*slice, object.at("value_is_key"), out.headDim,
                                 "A13", range, diagnosis)) {
      return false;
    }
    out.valueIsKey = range;
  }
  out.valueDim = out.valueIsKey ? (*out.valueIsKey)[1] - (*out.valueIsKey)[0]
                                : out.headDim;
  out.scale = out.defaultScale();

  int64_t window = 0;
  double softcap = 0;
  if (!object.integer("value_dim", channels, "A5", out.valueDim) ||
      !object.number("scale", NumberRange::Positive, "A6", out.scale) ||
      !object.named("mask", kMaskNames, "A7", out.causal) ||
      !object.integer("window", {1, kMaxTokens}, "A8", window) ||
      !object.integer("window_sinks", {0, kMaxTokens}, "A10",
                      out.windowSinks) ||
      !object.number("softcap", NumberRange::Positive, "A12", softcap) ||
      !object.boolean("alibi", out.alibi) ||
      !object.boolean("sink_logits", out.sinkLogits))
    return false;
  if (object.has("window"))
    out.window = window;
  if (object.has("softcap"))
    out.softcap = softcap;
  return true;
}

bool kvc::spec::readIO(const JsonValue &value, const std::string &path, IO &out,
                       Diagnosis &diagnosis) {
  ObjectReader object(value, path, diagnosis);
  if (!object.open({"query", "output"}) ||
      !object.require("query", "\"f16\", \"bf16\" or \"f32\"") ||
      !object.named("query", kElementNames, "I1", out.query))
    return false;
  out.output = out.query;
  return object.named("output", kElementNames, "I2", out.output);
}

bool kvc::spec::readSegments(const JsonValue &value, const std::string &path,
                             Segments &out, Diagnosis &diagnosis) {
  ObjectReader object(value, path, diagnosis);
  constexpr IntegerRange tokens{0, kMaxTokens};
  return object.open({"sink", "recent"}) &&
         object.integer("sink", tokens, "G1", out.sink) &&
         object.integer("recent", tokens, "G1", out.recent);
}

bool kvc::spec::readLayout(const JsonValue &value, const std::string &path,
                           Layout &out, Diagnosis &diagnosis) {
  ObjectReader object(value, path, diagnosis);
  if (!object.open({"kind", "page", "order", "interleaved"}) ||
      !object.named("kind", kLayoutKindNames, "L1", out.kind))
    return false;
  const char *pages = "a power of two from 1 to 256";
  if (out.kind == LayoutKind::Paged) {
    if (!object.require("page", pages))
      return false;
  } else if (const JsonValue *page = object.find("page")) {
    return object.fail("page", "L2",
                       "page without kind \"paged\", expected no page, got " +
                           page->str());
  }
  return object.integer("page", {1, 256}, "L3", out.page) &&
         object.named("order", kOrderNames, "L6", out.order) &&
         object.boolean("interleaved", out.interleaved);
}

/// Expands the document's presets in place.
static bool readSpec(JsonValue &document, Spec &out, PresetContext &presets,
                     Diagnosis &diagnosis) {
  ObjectReader object(document, "$", diagnosis);
  if (!object.open({"kvc", "name", "preset", "attention", "io", "key", "value",
                    "segments", "layout"}))
    return false;

  // The version first: what the other keys mean depends on it.
  int64_t version = 0;
  if (!object.require("kvc", "the version, 1") ||
      !object.integer("kvc", {1, 1}, "J11", version) ||
      !object.string("name", out.name) ||
      !expandPresets(document, presets, diagnosis))
    return false;

  if (!object.require("attention", "an object") ||
      !readAttention(*object.find("attention"), "$.attention", out.attention,
                     diagnosis) ||
      !verifyAttention(out.attention, "$.attention", diagnosis) ||
      !object.require("io", "an object") ||
      !readIO(*object.find("io"), "$.io", out.io, diagnosis))
    return false;

  int64_t channels = out.attention.headDim;
  if (!object.require("key", "a scheme") ||
      !readScheme(*object.find("key"), "$.key", SchemeOwner::Key, channels,
                  out.key, diagnosis) ||
      !verifyScheme(out.key, "$.key", channels, diagnosis))
    return false;

  if (out.attention.valueIsKey) {
    if (const JsonValue *value = object.find("value"))
      return object.fail(
          "value", "A15",
          "value beside attention.value_is_key, expected no value, got " +
              value->str());
  } else {
    channels = out.attention.valueDim;
    Scheme value;
    if (!object.require("value", "a scheme") ||
        !readScheme(*object.find("value"), "$.value", SchemeOwner::Value,
                    channels, value, diagnosis) ||
        !verifyScheme(value, "$.value", channels, diagnosis))
      return false;
    out.value = std::move(value);
  }

  if (const JsonValue *segments = object.find("segments"))
    if (!readSegments(*segments, "$.segments", out.segments, diagnosis))
      return false;
  if (const JsonValue *layout = object.find("layout"))
    if (!readLayout(*layout, "$.layout", out.layout, diagnosis))
      return false;
  return verifyLayout(out.layout, "$.layout", diagnosis) &&
         verifySections(out, diagnosis);
}

static Expected<Spec> parse(std::string_view json, const Preset *own) {
  Expected<JsonValue> document = readJson(json);
  if (!document)
    return document.error();
  Spec spec;
  PresetContext presets{own, {}};
  Diagnosis diagnosis;
  if (readSpec(*document, spec, presets, diagnosis))
    return spec;
  addPresetNote(presets, *diagnosis.error);
  return *diagnosis.error;
}

Expected<Spec> kvc::spec::parseSpec(std::string_view json) {
  return parse(json, nullptr);
}

Expected<Spec> kvc::spec::parseSpec(std::string_view json,
                                    const PresetFile &file) {
  Expected<Preset> own = readPresetFile(file);
  if (!own)
    return own.error();
  return parse(json, &*own);
}

std::optional<Error> kvc::spec::checkSection(std::string_view section,
                                             std::string_view json) {
  Expected<JsonValue> document = readJson(json);
  if (!document)
    return document.error();

  Diagnosis diagnosis;
  if (section == "attention") {
    Attention attention;
    if (readAttention(*document, "$", attention, diagnosis))
      verifyAttention(attention, "$", diagnosis);
  } else if (section == "io") {
    IO io;
    readIO(*document, "$", io, diagnosis);
  } else if (section == "scheme") {
    Scheme scheme;
    PresetContext presets;
    if (expandSchemePresets(*document, "$", 0, presets, diagnosis) &&
        readScheme(*document, "$", SchemeOwner::Any, 0, scheme, diagnosis))
      verifyScheme(scheme, "$", 0, diagnosis);
  } else if (section == "segments") {
    Segments segments;
    readSegments(*document, "$", segments, diagnosis);
  } else if (section == "layout") {
    Layout layout;
    if (readLayout(*document, "$", layout, diagnosis))
      verifyLayout(layout, "$", diagnosis);
  } else {
    const std::vector<std::string_view> sections{"attention", "io", "scheme",
                                                 "segments", "layout"};
    diagnosis.fail("$", "J8",
                   "unknown section, expected " + listed(sections) + ", got " +
                       quote(section) + suggestion(section, sections));
  }
  return diagnosis.error;
}
