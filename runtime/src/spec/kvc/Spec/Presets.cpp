//===- Presets.cpp - Named schemes ----------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Spec/Presets.h"

#include "kvc/Spec/Parse.h"

#include <algorithm>
#include <bit>

using namespace kvc::spec;

using Kind = JsonValue::Kind;

//===----------------------------------------------------------------------===//
// Trees
//===----------------------------------------------------------------------===//

static JsonValue *find(JsonValue &object, std::string_view key) {
  for (JsonMember &member : object.members)
    if (member.key == key)
      return &member.value;
  return nullptr;
}

static void erase(JsonValue &object, std::string_view key) {
  std::erase_if(object.members,
                [&](const JsonMember &member) { return member.key == key; });
}

/// Sets what `over` says in `base`. Objects merge key by key, all else replaces
/// what was there; a rope is one thing and replaces, too.
static void putOver(JsonValue &base, JsonValue over) {
  for (JsonMember &member : over.members) {
    JsonValue *old = find(base, member.key);
    if (!old)
      base.members.push_back(std::move(member));
    else if (old->kind == Kind::Object && member.value.kind == Kind::Object &&
             member.key != "rope")
      putOver(*old, std::move(member.value));
    else
      *old = std::move(member.value);
  }
}

static JsonValue integerOf(int64_t value) {
  JsonValue result;
  result.kind = Kind::Integer;
  result.integer = value;
  result.number = static_cast<double>(value);
  result.text = std::to_string(value);
  return result;
}

/// Puts numbers for the words by which a preset says what depends on the number
/// of channels.
static void resolveChannels(JsonValue &value, int64_t channels) {
  for (JsonValue &item : value.items)
    resolveChannels(item, channels);
  for (JsonMember &member : value.members)
    resolveChannels(member.value, channels);
  if (value.kind != Kind::String)
    return;
  if (value.text == "channels")
    value = integerOf(channels);
  else if (value.text == "channels.power_of_two")
    value = integerOf(int64_t(1) << std::countr_zero(uint64_t(channels)));
  else if (value.text == "channels.one_percent")
    value = integerOf(std::max<int64_t>(1, channels / 100));
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

const Preset *kvc::spec::findPreset(std::string_view name) {
  for (const Preset &preset : presets())
    if (preset.name == name)
      return &preset;
  return nullptr;
}

static std::vector<std::string_view> namesOf(bool withTop) {
  std::vector<std::string_view> names;
  for (const Preset &preset : presets())
    if (withTop || !preset.top)
      names.push_back(preset.name);
  return names;
}

/// The preset that `value` names. Inside a scheme only those that are one.
static const Preset *readName(const JsonValue &value, const std::string &path,
                              bool atTop, const Preset *own,
                              Diagnosis &diagnosis) {
  if (value.kind != Kind::String) {
    diagnosis.fail(path, "J10",
                   "wrong type, expected the name of a preset, got " +
                       value.str());
    return nullptr;
  }
  const Preset *preset =
      own && value.text == own->name ? own : findPreset(value.text);
  if (preset && (atTop || !preset->top))
    return preset;
  const std::vector<std::string_view> names = namesOf(atTop);
  if (preset)
    diagnosis.fail(path, "P3",
                   "preset of a whole spec inside a scheme, expected it at the "
                   "top level, or here " +
                       listed(names) + ", got " + value.str());
  else
    diagnosis.fail(path, "P2",
                   "unknown preset, expected " + listed(names) + ", got " +
                       value.str() + suggestion(value.text, names));
  return nullptr;
}

Expected<Preset> kvc::spec::readPresetFile(const PresetFile &file) {
  Expected<JsonValue> document = readJson(file.json);
  if (!document)
    return document.error();
  Diagnosis diagnosis;
  ObjectReader object(*document, "$", diagnosis);
  std::string text;
  if (!object.open({"title", "source", "good_for", "scheme", "spec"}) ||
      !object.string("title", text) || !object.string("source", text) ||
      !object.string("good_for", text))
    return *diagnosis.error;
  const JsonValue *scheme = object.find("scheme"), *spec = object.find("spec");
  if (!scheme == !spec)
    return Error{"$", "P5",
                 std::string("preset file, expected either \"scheme\" or "
                             "\"spec\", got ") +
                     (scheme ? "both" : "none")};
  if (spec) {
    ObjectReader sections(*spec, "$.spec", diagnosis);
    sections.open({"attention", "key", "value", "segments", "layout"});
  } else {
    // Its keys are looked at where it stands.
    if (scheme->kind != Kind::Object)
      object.fail("scheme", "J10",
                  "wrong type, expected an object, got " + scheme->str());
  }
  if (diagnosis.error)
    return *diagnosis.error;
  return Preset{file.name.c_str(), "", "", "", spec != nullptr,
                file.json.c_str()};
}

/// What a preset's file says under "scheme" or "spec". It has been read before,
/// by the build or by readPresetFile.
static JsonValue contentOf(const Preset &preset) {
  Expected<JsonValue> file = readJson(preset.json);
  return file ? std::move(*find(*file, preset.top ? "spec" : "scheme"))
              : JsonValue();
}

//===----------------------------------------------------------------------===//
// Schemes
//===----------------------------------------------------------------------===//

/// A number that is not valid is left to the reader, which looks at it before
/// it looks at what depends on it.
static int64_t channelsOr(const JsonValue *value, int64_t otherwise) {
  bool valid = value && value->kind == Kind::Integer && value->fits &&
               value->integer >= 1 && value->integer <= kMaxChannels;
  return valid ? value->integer : otherwise;
}

static int64_t channelsOfPart(JsonValue &part) {
  const JsonValue *range = find(part, "channels");
  if (!range || range->kind != Kind::List || range->items.size() != 2)
    return kMaxChannels;
  const JsonValue &begin = range->items[0], &end = range->items[1];
  return channelsOr(&end, kMaxChannels) - channelsOr(&begin, 0);
}

bool kvc::spec::expandSchemePresets(JsonValue &scheme, const std::string &path,
                                    int64_t channels, PresetContext &context,
                                    Diagnosis &diagnosis) {
  if (scheme.kind != Kind::Object)
    return true;
  // A preset beside parts is left, and refused like any other key there.
  for (int depth = 0; !find(scheme, "parts"); ++depth) {
    const JsonValue *name = find(scheme, "preset");
    if (!name)
      return true;
    const Preset *preset =
        readName(*name, path + ".preset", false, context.own, diagnosis);
    if (!preset)
      return false;
    // A file's own preset may be another one with changes.
    if (depth == 2)
      return diagnosis.fail(
          path + ".preset", "P6",
          "presets that name each other, expected a scheme, got " +
              quote(preset->name));
    context.expanded.emplace_back(path, preset->name);
    JsonValue content = contentOf(*preset);
    resolveChannels(content, channels == 0 ? kMaxChannels : channels);
    erase(scheme, "preset");
    putOver(content, std::move(scheme));
    scheme = std::move(content);
  }
  std::vector<JsonValue> &parts = find(scheme, "parts")->items;
  for (size_t i = 0; i < parts.size(); ++i)
    if (!find(parts[i], "parts") &&
        !expandSchemePresets(parts[i], joinPath(path + ".parts", i),
                             std::max<int64_t>(1, channelsOfPart(parts[i])),
                             context, diagnosis))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Specs
//===----------------------------------------------------------------------===//

/// Whether a scheme of the document replaces the preset's wholly.
static bool standsAlone(JsonValue &scheme) {
  return scheme.kind != Kind::Object || find(scheme, "preset") ||
         find(scheme, "parts");
}

static int64_t channelsOfTensor(JsonValue &document, bool value) {
  JsonValue *attention = find(document, "attention");
  if (!attention)
    return kMaxChannels;
  int64_t channels = channelsOr(find(*attention, "head_dim"), kMaxChannels);
  return value ? channelsOr(find(*attention, "value_dim"), channels) : channels;
}

/// Puts the preset at the top under the sections of the document.
static bool expandTop(JsonValue &document, PresetContext &context,
                      Diagnosis &diagnosis) {
  JsonValue *name = find(document, "preset");
  if (!name)
    return true;
  const Preset *preset =
      readName(*name, "$.preset", true, context.own, diagnosis);
  if (!preset)
    return false;
  erase(document, "preset");

  JsonValue content = contentOf(*preset);
  if (!preset->top) {
    JsonValue scheme = std::move(content);
    content = JsonValue();
    content.kind = Kind::Object;
    content.members.push_back({"key", scheme});
    content.members.push_back({"value", std::move(scheme)});
  }
  // The channels first: the schemes depend on them.
  for (bool schemes : {false, true})
    for (JsonMember &section : content.members) {
      const bool isValue = section.key == "value";
      if ((section.key == "key" || isValue) != schemes)
        continue;
      JsonValue *attention = find(document, "attention");
      if (isValue && attention && find(*attention, "value_is_key")) {
        if (!preset->top)
          continue;
        return diagnosis.fail(
            "$.preset", "P4",
            "preset that sets value beside attention.value_is_key, expected " +
                listed(namesOf(false)) + ", got " + quote(preset->name));
      }
      context.expanded.emplace_back("$." + section.key, preset->name);
      if (schemes)
        resolveChannels(section.value, channelsOfTensor(document, isValue));
      JsonValue *own = find(document, section.key);
      if (!own) {
        document.members.push_back(std::move(section));
        continue;
      }
      if (schemes ? standsAlone(*own) : own->kind != Kind::Object) {
        context.expanded.pop_back();
        continue;
      }
      putOver(section.value, std::move(*own));
      *own = std::move(section.value);
    }
  return true;
}

bool kvc::spec::expandPresets(JsonValue &document, PresetContext &context,
                              Diagnosis &diagnosis) {
  if (!expandTop(document, context, diagnosis))
    return false;
  for (const char *tensor : {"key", "value"})
    if (JsonValue *scheme = find(document, tensor))
      if (!expandSchemePresets(*scheme, joinPath("$", tensor),
                               channelsOfTensor(document, *tensor == 'v'),
                               context, diagnosis))
        return false;
  return true;
}

void kvc::spec::addPresetNote(const PresetContext &context, Error &error) {
  for (const auto &[path, name] : context.expanded)
    if (error.path.starts_with(path)) {
      error.message += " (with preset " + quote(name) + ")";
      return;
    }
}
