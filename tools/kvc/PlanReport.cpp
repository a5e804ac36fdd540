//===- PlanReport.cpp - What kvc plan prints ------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/PlanReport.h"

#include "kvc/Curves.h"
#include "kvc/Failure.h"
#include "kvc/Json.h"
#include "kvc/SpecFile.h"
#include "kvc/Table.h"

#include <array>

using namespace kvc;

namespace {

std::string bytesText(double bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < kUnits.size(); ++unit)
    bytes /= 1024;
  return fixed(bytes, unit == 0 ? 0 : 2) + " " + kUnits[unit];
}

std::string modelText(const ModelConfig &model) {
  std::string text = model.type + ": " + std::to_string(model.layers()) +
                     " layers, " + std::to_string(model.qHeads) +
                     " query heads over ";
  if (model.latent)
    text += "latents of " + std::to_string(model.headDim) + " channels, " +
            std::to_string(model.latent) + " of them the value";
  else
    text += std::to_string(model.kvHeads) + " kv heads of " +
            std::to_string(model.headDim) + " channels";
  return text + ", " + nameOf(model.query) + "\n";
}

double wasteShare(const kvc_memory_plan &plan) {
  return plan.sequence_bytes > 0
             ? 100 * plan.waste_bytes / double(plan.sequence_bytes)
             : 0;
}

std::string usersText(const PlannedScheme &scheme) {
  return std::to_string(scheme.plan ? scheme.plan->sequences : 0);
}

} // namespace

std::string PlanReport::asText() const {
  std::string text = model ? modelText(*model) : "";
  text += bytesText(double(memory)) + " for the cache, appends of up to " +
          std::to_string(append) + (append == 1 ? " token\n" : " tokens\n");
  Table groups({{"scheme", Align::Left},
                {"group"},
                {"layers"},
                {"window"},
                {"page"},
                {"bits per\nvalue"},
                {"bytes per\ntoken"},
                {"bytes of\na block"},
                {"context"},
                {"blocks"},
                {"bytes of\na raw block"},
                {"raw\nblocks"},
                {"bytes of\na sequence"}});
  for (const PlannedScheme &scheme : schemes)
    for (size_t g = 0; g < scheme.groups.size(); ++g) {
      const PlannedGroup &group = scheme.groups[g];
      groups.add({g ? "" : onOneLine(scheme.name), std::to_string(g),
                  std::to_string(group.layers),
                  group.window ? std::to_string(group.window) : "-",
                  std::to_string(group.page), fixed(group.bitsPerValue, 2),
                  fixed(group.memory.token_bytes, 0),
                  std::to_string(group.memory.block_bytes),
                  std::to_string(scheme.context),
                  std::to_string(group.memory.blocks),
                  std::to_string(group.memory.raw_block_bytes),
                  std::to_string(group.memory.raw_blocks),
                  std::to_string(group.memory.bytes)});
    }
  text += "\n" + groups.str();

  Table users({{"scheme", Align::Left},
               {"bytes per\ntoken"},
               {"x smaller"},
               {"context"},
               {"users"},
               {"a sequence"},
               {"all pools"},
               {"waste"},
               {"fits", Align::Left}});
  const double first = schemes.empty() ? 0 : schemes.front().tokenBytes;
  for (const PlannedScheme &scheme : schemes) {
    const auto &plan = scheme.plan;
    users.add({onOneLine(scheme.name), fixed(scheme.tokenBytes, 0),
               times(first / scheme.tokenBytes), std::to_string(scheme.context),
               usersText(scheme),
               plan ? bytesText(double(plan->sequence_bytes)) : "-",
               plan ? bytesText(double(plan->bytes)) : "-",
               plan ? fixed(wasteShare(*plan), 1) + " %" : "-",
               scheme.fits ? "yes" : "no"});
  }
  text += "\n" + users.str();
  if (model && model->maxTokens && !schemes.empty() &&
      schemes.front().context > model->maxTokens)
    text += "a context of " + std::to_string(schemes.front().context) +
            " is beyond the model's max_position_embeddings, " +
            std::to_string(model->maxTokens) + "\n";

  std::vector<Table::Column> columns{{"users of\ncontext"}};
  for (const PlannedScheme &scheme : schemes)
    columns.push_back({onOneLine(scheme.name)});
  Table curve(columns);
  for (size_t i = 0; !schemes.empty() && i < schemes.front().curve.size();
       ++i) {
    std::vector<std::string> cells{
        std::to_string(schemes.front().curve[i].first)};
    for (const PlannedScheme &scheme : schemes)
      cells.push_back(std::to_string(scheme.curve[i].second));
    curve.add(cells);
  }
  text += "\n" + curve.str();
  for (const auto &[name, reason] : refused)
    text += "not " + onOneLine(name) + ": " + onOneLine(reason) + "\n";
  return text;
}

std::string PlanReport::asJson() const {
  Json result = Json::object();
  if (model)
    result["model"] = {{"type", model->type},
                       {"layers", model->layers()},
                       {"q_heads", model->qHeads},
                       {"kv_heads", model->kvHeads},
                       {"head_dim", model->headDim},
                       {"latent", model->latent},
                       {"max_tokens", model->maxTokens},
                       {"query", nameOf(model->query)}};
  result["memory"] = memory;
  result["append"] = append;
  result["schemes"] = Json::array();
  for (const PlannedScheme &scheme : schemes) {
    Json item{{"name", scheme.name},
              {"bytes_per_token", scheme.tokenBytes},
              {"context", scheme.context},
              {"users", scheme.plan ? scheme.plan->sequences : 0},
              {"fits", scheme.fits}};
    if (scheme.plan) {
      item["sequence_bytes"] = scheme.plan->sequence_bytes;
      item["bytes"] = scheme.plan->bytes;
      item["waste_bytes"] = scheme.plan->waste_bytes;
    }
    item["groups"] = Json::array();
    for (const PlannedGroup &group : scheme.groups)
      item["groups"].push_back(
          {{"layers", group.layers},
           {"window", group.window},
           {"page", group.page},
           {"bits_per_value", group.bitsPerValue},
           {"bytes_per_token", group.memory.token_bytes},
           {"block_bytes", group.memory.block_bytes},
           {"blocks", group.memory.blocks},
           {"raw_block_bytes", group.memory.raw_block_bytes},
           {"raw_blocks", group.memory.raw_blocks},
           {"bytes", group.memory.bytes}});
    item["curve"] = Json::array();
    for (auto [context, count] : scheme.curve)
      item["curve"].push_back({{"context", context}, {"users", count}});
    result["schemes"].push_back(std::move(item));
  }
  result["refused"] = Json::array();
  for (const auto &[name, reason] : refused)
    result["refused"].push_back({{"name", name}, {"reason", reason}});
  return documentOf(result);
}

std::string PlanReport::asSvg() const {
  CurvePlot plot;
  plot.title = "Users in " + bytesText(double(memory)) +
               (model ? " of cache, " + model->type : " of cache");
  plot.xTitle = "tokens of context";
  plot.yTitle = "users";
  for (const PlannedScheme &scheme : schemes) {
    Curve &curve = plot.curves.emplace_back();
    curve.name = scheme.name;
    for (auto [context, count] : scheme.curve)
      curve.points.emplace_back(double(context), double(count));
  }
  return kvc::asSvg(plot);
}
