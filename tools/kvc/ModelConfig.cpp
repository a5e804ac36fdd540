//===- ModelConfig.cpp - The attention of a published model ---------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/ModelConfig.h"

#include "kvc/CommandLine.h"
#include "kvc/Json.h"

#include <algorithm>
#include <optional>

using namespace kvc;

namespace {

/// Which layers have a window.
enum class Windows : uint8_t {
  None,
  All,       ///< Where sliding_window is not null.
  Late,      ///< With use_sliding_window those from max_window_layers on.
  Alternate, ///< Every second one, the first too.
  Pattern    ///< All but each sliding_window_pattern-th.
};

/// As many kv heads as query heads.
constexpr int64_t kAsQueryHeads = -1;

struct ModelType {
  const char *name;
  Windows windows;
  bool hasLatents = false;
  /// Where the field is absent; 0: it has to be there.
  int64_t qHeads = 0, kvHeads = 0, headDim = 0;
};

constexpr ModelType kModelTypes[] = {
    {"llama", Windows::None, false, 0, kAsQueryHeads},
    {"mistral", Windows::All},
    {"mixtral", Windows::All},
    {"qwen2", Windows::Late},
    {"qwen2_moe", Windows::Late},
    {"qwen3", Windows::Late},
    {"qwen3_moe", Windows::Late},
    {"gemma2", Windows::Alternate},
    {"gemma3", Windows::Pattern, false, 8, 4, 256},
    {"gemma3_text", Windows::Pattern, false, 8, 4, 256},
    {"phi3", Windows::All},
    {"deepseek_v2", Windows::None, true},
    {"deepseek_v3", Windows::None, true},
    {"gpt_oss", Windows::Alternate},
};

/// Gemma 3's configuration class has this where the file has nothing.
constexpr int64_t kGemmaPattern = 6;
/// No field of a model comes near.
constexpr int64_t kLargestField = 1 << 30;

class ConfigReader {
public:
  ConfigReader(Json config, std::string place)
      : config(std::move(config)), place(std::move(place)) {}

  [[noreturn]] void fail(const std::string &message) const {
    throw Failure(place + ": " + message);
  }
  /// Null counts as absent, as it does for the model's own code.
  const Json *find(const char *name) const {
    const auto field = config.find(name);
    return field == config.end() || field->is_null() ? nullptr : &*field;
  }
  bool isNull(const char *name) const {
    const auto field = config.find(name);
    return field != config.end() && field->is_null();
  }
  std::optional<int64_t> integer(const char *name, int64_t least = 1) const {
    const Json *field = find(name);
    if (!field)
      return std::nullopt;
    const bool isSmall = field->is_number_integer() &&
                         field->get<double>() >= double(least) &&
                         field->get<double>() <= double(kLargestField);
    if (!isSmall)
      fail(std::string(name) + ": expected an integer from " +
           std::to_string(least) + " to " + std::to_string(kLargestField) +
           ", got " + inQuotes(lineOf(*field)));
    return field->get<int64_t>();
  }
  int64_t required(const char *name, int64_t otherwise = 0,
                   int64_t least = 1) const {
    const std::optional<int64_t> value = integer(name, least);
    if (!value && otherwise == 0)
      fail(std::string(name) + ": expected an integer, got nothing");
    return value.value_or(otherwise);
  }
  std::string text(const char *name) const {
    const Json *field = find(name);
    if (!field)
      return "";
    if (!field->is_string())
      fail(std::string(name) + ": expected a string, got " +
           inQuotes(lineOf(*field)));
    return field->get<std::string>();
  }
  bool flag(const char *name) const {
    const Json *field = find(name);
    if (field && !field->is_boolean())
      fail(std::string(name) + ": expected true or false, got " +
           inQuotes(lineOf(*field)));
    return field && field->get<bool>();
  }

private:
  Json config;
  std::string place;
};

const ModelType &modelTypeOf(const ConfigReader &reader,
                             const std::string &name) {
  const auto type = std::ranges::find_if(
      kModelTypes, [&](const ModelType &each) { return name == each.name; });
  if (type != std::end(kModelTypes))
    return *type;
  std::vector<std::string> known;
  for (const ModelType &each : kModelTypes)
    known.emplace_back(each.name);
  reader.fail("model_type: expected one of " + join(known) + "; got " +
              (name.empty() ? "nothing" : inQuotes(name)));
}

kvc_dtype queryTypeOf(const ConfigReader &reader) {
  std::string name = reader.text("torch_dtype");
  if (name.empty())
    name = reader.text("dtype");
  if (name.empty() || name == "bfloat16")
    return KVC_BF16;
  if (name == "float16")
    return KVC_F16;
  if (name == "float32")
    return KVC_F32;
  reader.fail("torch_dtype: expected bfloat16, float16 or float32, got " +
              inQuotes(name));
}

/// Whether each layer has a window, as `layer_types` lists them.
std::vector<bool> listedWindows(const ConfigReader &reader, const Json &types,
                                int64_t layers) {
  if (!types.is_array() || int64_t(types.size()) != layers)
    reader.fail("layer_types: expected a list of num_hidden_layers (" +
                std::to_string(layers) + ") names, got " +
                (types.is_array() ? std::to_string(types.size())
                                  : std::string("no list")));
  std::vector<bool> result;
  for (const Json &type : types) {
    const bool isWindow = type == "sliding_attention";
    if (!isWindow && type != "full_attention")
      reader.fail("layer_types[" + std::to_string(result.size()) +
                  "]: expected full_attention or sliding_attention, got " +
                  inQuotes(lineOf(type)));
    result.push_back(isWindow);
  }
  return result;
}

/// The same from the rule of the model's type.
std::vector<bool> ruledWindows(const ConfigReader &reader,
                               const ModelType &type, int64_t layers) {
  const int64_t first =
      type.windows == Windows::Late && reader.flag("use_sliding_window")
          ? reader.required("max_window_layers", 0, /*least=*/0)
          : layers;
  const int64_t pattern =
      type.windows == Windows::Pattern
          ? reader.required("sliding_window_pattern", kGemmaPattern)
          : 1;
  std::vector<bool> result;
  for (int64_t layer = 0; layer < layers; ++layer)
    switch (type.windows) {
    case Windows::None:
      result.push_back(false);
      break;
    case Windows::All:
      result.push_back(reader.find("sliding_window") != nullptr);
      break;
    case Windows::Late:
      result.push_back(layer >= first);
      break;
    case Windows::Alternate:
      result.push_back(layer % 2 == 0);
      break;
    case Windows::Pattern:
      result.push_back((layer + 1) % pattern != 0);
      break;
    }
  return result;
}

/// Whether the file's windows are in use, whichever layers have them.
bool usesWindows(const ConfigReader &reader, const ModelType &type) {
  return !reader.isNull("sliding_window") &&
         (type.windows != Windows::Late || reader.flag("use_sliding_window"));
}

std::vector<ModelLayers> layerGroupsOf(const ConfigReader &reader,
                                       const ModelType &type) {
  const int64_t layers = reader.required("num_hidden_layers");
  constexpr int64_t kMostLayers = 65536;
  if (layers > kMostLayers)
    reader.fail("num_hidden_layers: expected at most " +
                std::to_string(kMostLayers) + ", got " +
                std::to_string(layers));
  const Json *types = reader.find("layer_types");
  const std::vector<bool> windows = types && type.windows != Windows::None
                                        ? listedWindows(reader, *types, layers)
                                        : ruledWindows(reader, type, layers);
  const int64_t count =
      usesWindows(reader, type) ? std::ranges::count(windows, true) : 0;
  std::vector<ModelLayers> groups;
  if (count < layers)
    groups.push_back({layers - count, 0});
  if (count > 0)
    groups.push_back({count, reader.required("sliding_window")});
  return groups;
}

} // namespace

int64_t ModelConfig::layers() const {
  int64_t all = 0;
  for (const ModelLayers &group : groups)
    all += group.layers;
  return all;
}

ModelConfig kvc::parseModelConfig(const std::string &text,
                                  const std::string &place) {
  Json file = parseJson(text);
  if (const std::string error = jsonErrorOf(text); !error.empty())
    throw Failure(place + ": expected JSON, got none: " + error);
  if (!file.is_object())
    throw Failure(place + ": expected a config.json of a model, a JSON object, "
                          "got something else");
  ModelConfig model;
  {
    const ConfigReader whole(file, place);
    model.type = whole.text("model_type");
    modelTypeOf(whole, model.type);
  }
  // Models that see too keep what is said of text by itself.
  Json own = file;
  if (const auto part = file.find("text_config");
      part != file.end() && part->is_object()) {
    own = *part;
    if (!own.contains("torch_dtype") && !own.contains("dtype"))
      for (const char *name : {"torch_dtype", "dtype"})
        if (file.contains(name))
          own[name] = file[name];
  }
  const ConfigReader reader(own, place);
  const ModelType &type = modelTypeOf(reader, model.type);
  model.groups = layerGroupsOf(reader, type);
  model.qHeads = reader.required("num_attention_heads", type.qHeads);
  model.maxTokens = reader.integer("max_position_embeddings").value_or(0);
  model.query = queryTypeOf(reader);
  if (type.hasLatents) {
    model.kvHeads = 1;
    model.latent = reader.required("kv_lora_rank");
    model.headDim = model.latent + reader.required("qk_rope_head_dim");
    return model;
  }
  model.kvHeads = reader.required("num_key_value_heads",
                                  type.kvHeads == kAsQueryHeads ? model.qHeads
                                                                : type.kvHeads);
  if (const auto headDim = reader.integer("head_dim")) {
    model.headDim = *headDim;
  } else if (type.headDim) {
    model.headDim = type.headDim;
  } else {
    const int64_t hidden = reader.required("hidden_size");
    if (hidden % model.qHeads != 0)
      reader.fail("hidden_size: expected a multiple of num_attention_heads (" +
                  std::to_string(model.qHeads) + "), got " +
                  std::to_string(hidden));
    model.headDim = hidden / model.qHeads;
  }
  return model;
}
