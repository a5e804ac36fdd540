//===- Plan.cpp - kvc plan ------------------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// How many users of what context a memory holds, for schemes over a model's
// layers or for specs as they are: kvc/planning.h from the command line.
//
//===----------------------------------------------------------------------===//

#include "kvc/CommandLine.h"
#include "kvc/Commands.h"
#include "kvc/Json.h"
#include "kvc/ModelConfig.h"
#include "kvc/OutputFiles.h"
#include "kvc/PlanReport.h"
#include "kvc/PresetSpecs.h"

#include <algorithm>
#include <optional>

using namespace kvc;

namespace {

constexpr int64_t kDefaultContext = 8192;
constexpr int64_t kFirstContext = 1024;
/// Of curves where a model does not say how far it goes.
constexpr int64_t kLastContext = 131072;
constexpr int64_t kMostPage = 256;

struct PlanOptions {
  std::vector<std::string> specs;
  std::string model, presets, svg;
  int64_t memory = 0, context = 0, users = 0;
  int64_t page = 64, append = 256, layers = 1;
  bool json = false;
};

/// "40GiB", "80GB" or a number of bytes.
int64_t parseBytes(const std::string &text) {
  constexpr int64_t kMost = int64_t(1) << 60;
  struct Unit {
    const char *name;
    int64_t bytes;
  };
  constexpr Unit kUnits[] = {{"KiB", int64_t(1) << 10},
                             {"MiB", int64_t(1) << 20},
                             {"GiB", int64_t(1) << 30},
                             {"TiB", int64_t(1) << 40},
                             {"KB", 1000},
                             {"MB", 1000000},
                             {"GB", 1000000000},
                             {"TB", 1000000000000}};
  for (const Unit &unit : kUnits)
    if (text.ends_with(unit.name))
      return unit.bytes *
             parseInteger(
                 "--memory",
                 text.substr(0, text.size() - 2 - (unit.name[1] == 'i')), 1,
                 kMost / unit.bytes);
  if (!text.empty() && (text.back() < '0' || text.back() > '9'))
    failUse("--memory: expected bytes, with KiB, MiB, GiB, TiB, KB, MB, GB or "
            "TB behind them or nothing, got " +
            inQuotes(text));
  return parseInteger("--memory", text, 1, kMost);
}

/// What is planned: one cache for all layers of a model.
struct NamedScheme {
  std::string name;
  Json spec; ///< key, value and whatever else it says beside the attention.
  /// One of many that nobody asked for by its file: what stands against it is
  /// listed instead of ending the command.
  bool isPreset = false;
};

Json canonicalOf(const kvc_spec *spec) {
  const char *text = nullptr;
  Diag().check(kvc_spec_json(spec, &text));
  return parseJson(text);
}

/// In pages, of its own size or the given one.
void makePaged(Json &spec, int64_t page) {
  Json &layout = spec["layout"];
  if (!layout.is_object() || layout.value("kind", "") != "paged")
    layout["page"] = page;
  layout["kind"] = "paged";
}

std::vector<NamedScheme> schemesOf(const PlanOptions &options,
                                   const ModelConfig &model) {
  const Json raw{{"codec", nameOf(model.query)}};
  std::vector<NamedScheme> schemes{{nameOf(model.query), Json{{"key", raw}}}};
  if (model.latent == 0)
    schemes.front().spec["value"] = raw;
  std::vector<std::string> known;
  for (const kvc_preset_info &preset : allPresets())
    known.emplace_back(preset.name);
  std::string names = options.presets;
  if (names.empty() && options.specs.empty())
    names = model.latent ? "fp8,int8,int4" : "fp8,int8,k8v4,int4,kivi2";
  if (!names.empty())
    for (const std::string &name : parseList("--preset", names)) {
      parseName("--preset", name, known);
      schemes.push_back({name, Json{{"preset", name}}, true});
    }
  for (const std::string &path : options.specs) {
    const SpecHandle spec = parseSpec(readFile(path), path);
    Json said = canonicalOf(spec.get());
    for (const char *other : {"kvc", "attention", "io"})
      said.erase(other);
    schemes.push_back({specInfoOf(spec.get()).name, said});
    schemes.back().spec.erase("name");
  }
  return schemes;
}

std::string specOver(const ModelConfig &model, const ModelLayers &layers,
                     const NamedScheme &scheme, int64_t page) {
  Json spec{{"kvc", 1}, {"name", scheme.name}};
  Json attention{{"q_heads", model.qHeads},
                 {"kv_heads", model.kvHeads},
                 {"head_dim", model.headDim}};
  if (model.latent)
    attention["value_is_key"] = Json::array({0, model.latent});
  if (layers.window)
    attention["window"] = layers.window;
  spec["attention"] = attention;
  spec["io"] = {{"query", nameOf(model.query)}};
  spec.update(scheme.spec);
  makePaged(spec, page);
  return lineOf(spec);
}

/// Groups of layers with their specs, and the options of a manager of them.
class PlannedCache {
public:
  PlannedCache(int64_t append, std::string place)
      : append(append), place(std::move(place)) {}

  void add(const std::string &spec, int64_t layers) {
    specs.push_back(parseSpec(spec, place));
    groups.push_back(
        {sizeof(kvc_layer_group), specs.back().get(), layers, 0, 0});
  }
  kvc_manager_options options() const {
    kvc_manager_options made{};
    made.struct_size = sizeof(made);
    made.groups = groups.data();
    made.num_groups = int64_t(groups.size());
    made.flags = KVC_MANAGER_FREE_WINDOW;
    made.max_queries = append;
    return made;
  }
  kvc_group_memory memory(int64_t group, int64_t tokens) const {
    Diag diag;
    kvc_group_memory result{};
    result.struct_size = sizeof(result);
    const kvc_manager_options made = options();
    diag.check(kvc_memory_for(&made, group, tokens, diag, &result), place);
    return result;
  }
  /// Nothing where the memory is too small.
  std::optional<kvc_memory_plan> plan(int64_t bytes, int64_t tokens,
                                      int64_t sequences) const {
    Diag diag;
    kvc_memory_plan result{};
    result.struct_size = sizeof(result);
    const kvc_manager_options made = options();
    const kvc_memory_request request{sizeof(request), bytes, tokens, sequences};
    const kvc_status status =
        kvc_plan_memory(&made, &request, diag, &result, nullptr, nullptr);
    if (status == KVC_OUT_OF_BLOCKS)
      return std::nullopt;
    diag.check(status, place);
    return result;
  }
  const kvc_spec *spec(size_t group) const { return specs[group].get(); }
  int64_t layers(size_t group) const { return groups[group].layers; }
  size_t size() const { return groups.size(); }

private:
  int64_t append;
  std::string place;
  std::vector<SpecHandle> specs;
  std::vector<kvc_layer_group> groups;
};

PlannedCache cacheOver(const ModelConfig &model, const NamedScheme &scheme,
                       const PlanOptions &options) {
  auto make = [&](bool isAgreed) {
    PlannedCache cache(options.append, scheme.name);
    int64_t most = 0;
    for (const ModelLayers &layers : model.groups)
      most = std::max(most, layers.layers);
    for (const ModelLayers &layers : model.groups) {
      const int64_t times = most / layers.layers;
      const bool divides = most % layers.layers == 0 &&
                           (times & (times - 1)) == 0 &&
                           options.page * times <= kMostPage;
      cache.add(
          specOver(model, layers, scheme,
                   isAgreed && divides ? options.page * times : options.page),
          layers.layers);
    }
    return cache;
  };
  PlannedCache cache = make(true);
  // Longer pages are for groups that then share a pool.
  for (size_t g = 1; g < cache.size(); ++g)
    if (cache.memory(int64_t(g), 1).block_bytes !=
        cache.memory(0, 1).block_bytes)
      return make(false);
  return cache;
}

/// What is said of a cache, for the user's context and users.
PlannedScheme planned(const std::string &name, const PlannedCache &cache,
                      const PlanOptions &options,
                      const std::vector<int64_t> &contexts, int64_t longest) {
  PlannedScheme result;
  result.name = name;
  int64_t tokens = options.context;
  const bool isAsked = options.context && options.users;
  auto plan =
      cache.plan(isAsked ? 0 : options.memory, options.context, options.users);
  // What the user asks for stands, also beyond the model's longest context.
  if (plan && longest && options.context == 0 && plan->tokens > longest)
    plan = cache.plan(options.memory, longest, options.users);
  if (plan) {
    tokens = plan->tokens;
    result.plan = *plan;
    result.fits = plan->bytes <= options.memory;
  }
  result.context = tokens;
  for (size_t g = 0; g < cache.size(); ++g) {
    const kvc_spec_info info = specInfoOf(cache.spec(g));
    const kvc_group_memory memory = cache.memory(int64_t(g), tokens);
    result.tokenBytes += memory.token_bytes;
    result.groups.push_back({cache.layers(g), info.window, info.page,
                             bitsPerValue(cache.spec(g)), memory});
  }
  for (int64_t context : contexts) {
    const auto there = cache.plan(options.memory, context, 0);
    result.curve.emplace_back(context, there ? there->sequences : 0);
  }
  return result;
}

std::vector<int64_t> contextsUpTo(int64_t longest) {
  std::vector<int64_t> contexts;
  for (int64_t context = kFirstContext; context <= longest; context *= 2)
    contexts.push_back(context);
  if (contexts.empty() || contexts.back() != longest)
    contexts.push_back(longest);
  return contexts;
}

void plan(PlanOptions options) {
  if (options.model.empty() && options.specs.empty())
    failUse("command line: expected SPEC or --model, got neither");
  if (options.memory == 0)
    failUse("--memory: expected a value, got none");
  if (options.model.empty() && !options.presets.empty())
    failUse("--preset: expected with --model, got none");
  if (!options.model.empty() && options.layers != 1)
    failUse("--layers: expected without --model, which says them, got both");
  OutputFiles files;
  for (const std::string &path : options.specs)
    files.protect("SPEC", path);
  if (!options.model.empty())
    files.protect("--model", options.model);
  OutputFile *svg =
      options.svg.empty() ? nullptr : &files.open("--svg", options.svg);

  PlanReport report;
  int64_t longest = 0;
  std::optional<ModelConfig> model;
  if (!options.model.empty()) {
    model = parseModelConfig(readFile(options.model), options.model);
    longest = model->maxTokens;
    report.model = *model;
  }
  if (options.context == 0 && options.users == 0)
    options.context =
        longest ? std::min(longest, kDefaultContext) : kDefaultContext;
  report.memory = options.memory;
  report.append = options.append;
  const std::vector<int64_t> contexts =
      contextsUpTo(std::max(longest ? longest : kLastContext, options.context));

  std::vector<Refusal> refused;
  if (model) {
    for (const NamedScheme &scheme : schemesOf(options, *model))
      try {
        report.schemes.push_back(planned(scheme.name,
                                         cacheOver(*model, scheme, options),
                                         options, contexts, longest));
      } catch (const Failure &failure) {
        if (!scheme.isPreset)
          throw;
        refused.push_back(
            {scheme.name, withoutPlace(failure.what(), scheme.name)});
      }
  } else {
    for (const std::string &path : options.specs) {
      const SpecHandle given = parseSpec(readFile(path), path);
      Json spec = canonicalOf(given.get());
      makePaged(spec, options.page);
      PlannedCache cache(options.append, path);
      cache.add(lineOf(spec), options.layers);
      report.schemes.push_back(planned(specInfoOf(given.get()).name, cache,
                                       options, contexts, longest));
    }
  }
  for (const Refusal &each : refused)
    report.refused.emplace_back(each.name, each.reason);
  if (svg)
    svg->write(report.asSvg());
  print(options.json ? report.asJson() : report.asText());
  files.commit();
}

} // namespace

void kvc::addPlanCommand(CLI::App &app) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App &command = addCommand(
      app, "plan", "Say how many users of what context a memory holds.",
      [options] { plan(*options); },
      "Without --context and --users, users of 8192 tokens; with one of them, "
      "as much as fits of the other; with both, the bytes that they need. A "
      "sequence counts with the most blocks that it holds while it grows by "
      "appends of --append tokens; layers with a window keep what it shows.");
  addFiles(command, "SPEC", options->specs,
           "Spec files: with --model schemes over its attention, else caches "
           "of their own.");
  addFile(command, "--model", options->model,
          "A model's config.json, as Hugging Face has them.");
  addText(command, "--preset", options->presets, "NAME,..",
          "Presets, as kvc presets lists them, over the model's attention.");
  addParsed(
      command, "--memory",
      [options](const std::string &text) {
        options->memory = parseBytes(text);
      },
      "BYTES", "Memory for the cache: bytes, or 40GiB, 80GB.");
  addInteger(command, "--context", options->context, 1, kMaxTokens,
             "Tokens of each sequence.");
  addInteger(command, "--users", options->users, 1, kMaxTokens,
             "Sequences at once.");
  addInteger(command, "--append", options->append, 1, kMaxTokens,
             "The most tokens of a sequence that one call appends and that "
             "attend in it; default 256.");
  addInteger(
      command, "--page", options->page, 1, kMostPage,
      "Tokens of a page where a spec has none; default 64. Groups of "
      "fewer layers get longer pages where blocks then are of one size.");
  addInteger(command, "--layers", options->layers, 1, 65536,
             "Layers of each spec, without --model; default 1.");
  addFile(command, "--svg", options->svg, "Draw users over context.");
  addFlag(command, "--json", options->json, "Print JSON.");
}
