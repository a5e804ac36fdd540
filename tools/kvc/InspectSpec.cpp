//===- InspectSpec.cpp - What a spec says ---------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/InspectSpec.h"

#include "kvc/CommandLine.h"
#include "kvc/Json.h"
#include "kvc/Layout/PageLayout.h"
#include "kvc/SpecFile.h"
#include "kvc/Table.h"

#include <algorithm>

using namespace kvc;

namespace {

/// One region of a page as the layout library computes it.
struct RegionRow {
  std::string tensor, kind, order;
  unsigned bits = 0;
  int64_t offset = 0;
};

/// Everything that is printed, in either form.
struct Summary {
  std::string json, hash;
  std::string score; ///< Text of the score region; "" without one.
  kvc_spec_info info;
  kvc_tensor_info tensors[2];
  int64_t pageTokens = 0, pageBytes = 0;
  std::vector<RegionRow> regions;
};

Summary summarise(const kvc_spec *spec) {
  Summary summary{};
  const char *text = nullptr;
  Diag().check(kvc_spec_json(spec, &text));
  summary.json = text;
  Diag().check(kvc_layout_hash(spec, &text));
  summary.hash = text;
  summary.info = specInfoOf(spec);
  for (kvc_tensor tensor : {KVC_KEY, KVC_VALUE})
    summary.tensors[tensor] = tensorInfoOf(spec, tensor);
  auto parsed = spec::parseSpec(summary.json);
  if (!parsed)
    throw Failure(parsed.error().str());
  for (spec::Tensor tensor : {spec::Tensor::Key, spec::Tensor::Value}) {
    const layout::PageLayout page =
        layout::pageLayout(*parsed, tensor, layout::TargetFamily::Host);
    if (!page.regions.empty())
      summary.pageTokens = page.pageTokens;
    const spec::Scheme *scheme = spec::schemeOf(*parsed, tensor);
    for (const layout::Region &region : page.regions)
      summary.regions.push_back(
          {(tensor == spec::Tensor::Key ? "key" : "value") +
               (scheme->parts.size() > 1 ? std::to_string(region.part)
                                         : std::string()),
           std::string(layout::nameOf(region.kind)),
           layout::str(region.storage), region.storage.width, region.offset});
  }
  summary.pageBytes = layout::pageBytes(*parsed, layout::TargetFamily::Host);
  return summary;
}

std::string schemeText(const kvc_spec *spec, kvc_tensor tensor) {
  const kvc_tensor_info info = tensorInfoOf(spec, tensor);
  std::string text;
  for (int64_t i = 0; i < info.num_parts; ++i) {
    const kvc_part_info part = partInfoOf(spec, tensor, i);
    text += (i ? ", " : "") + std::string(part.codec);
    if (part.raw)
      continue;
    text += part.static_scale ? " static" : "";
    text += std::string(", ") + nameOf(part.scale_dtype) + " scale" +
            (part.has_zero ? " and zero" : "") + " per " +
            std::to_string(info.block_tokens) +
            (info.block_tokens == 1 ? " token x " : " tokens x ") +
            std::to_string((part.end - part.begin) / part.blocks) + " channels";
    if (part.outliers)
      text += ", " + std::to_string(part.outliers) + " outliers";
  }
  return text.empty() ? "a slice of the key" : text;
}

std::string attentionText(const kvc_spec_info &info) {
  std::string text = std::to_string(info.q_heads) + " query heads over " +
                     std::to_string(info.kv_heads) + " kv heads, head_dim " +
                     std::to_string(info.head_dim);
  if (info.value_dim != info.head_dim)
    text += ", value_dim " + std::to_string(info.value_dim);
  text += ", scale " + significant(info.scale);
  text += info.causal ? ", causal" : ", no mask";
  if (info.window)
    text += ", window " + std::to_string(info.window);
  if (info.window_sinks)
    text += " with " + std::to_string(info.window_sinks) + " visible sinks";
  if (info.softcap != 0)
    text += ", softcap " + significant(info.softcap);
  if (info.alibi)
    text += ", ALiBi";
  if (info.sink_logits)
    text += ", sink logits";
  return text;
}

/// One operation stands on each line between the first and the last.
std::string scoreText(const std::string &score) {
  const auto lines = std::ranges::count(score, '\n');
  return "a region of " + std::to_string(lines - 1) +
         (lines == 2 ? " operation" : " operations");
}

std::string layoutText(const kvc_spec_info &info) {
  switch (info.layout) {
  case KVC_CONTIGUOUS:
    return "contiguous, in pages of 64 tokens";
  case KVC_PAGED:
    return "pages of " + std::to_string(info.page) + " tokens";
  case KVC_RING:
    return "ring";
  }
  return "";
}

std::string asText(const kvc_spec *spec, const Summary &summary) {
  const kvc_spec_info &info = summary.info;
  auto bytesText = [&](double perHead) {
    return significant(perHead) + " per token and kv head, " +
           significant(perHead * static_cast<double>(info.kv_heads)) +
           " per token";
  };
  Table facts({{"", Align::Left}, {"", Align::Left}});
  facts.add({"name", onOneLine(info.name)});
  facts.add({"attention", attentionText(info)});
  if (!summary.score.empty())
    facts.add({"score", scoreText(summary.score)});
  facts.add({"io", std::string(nameOf(info.query)) + " queries, " +
                       nameOf(info.output) + " output"});
  facts.add({"key", schemeText(spec, KVC_KEY)});
  facts.add({"value", schemeText(spec, KVC_VALUE)});
  if (info.sink || info.recent)
    facts.add({"segments", "the first " + std::to_string(info.sink) +
                               " and the last " + std::to_string(info.recent) +
                               " tokens raw"});
  facts.add({"layout", layoutText(info)});
  facts.add({"bytes", bytesText(summary.tensors[KVC_KEY].bytes_per_token +
                                summary.tensors[KVC_VALUE].bytes_per_token)});
  facts.add({"page", std::to_string(summary.pageBytes) + " bytes for " +
                         std::to_string(summary.pageTokens) +
                         " tokens of K and V"});
  facts.add({"layout hash", summary.hash});
  std::string text = facts.str();
  text.erase(0, text.find_first_not_of('\n'));
  if (summary.regions.empty())
    return text;
  Table regions({{"tensor", Align::Left},
                 {"region", Align::Left},
                 {"bits"},
                 {"offset"},
                 {"order of the index bits, lowest first", Align::Left}});
  for (const RegionRow &row : summary.regions)
    regions.add({row.tensor, row.kind, std::to_string(row.bits),
                 std::to_string(row.offset), row.order});
  return text + "\n" + regions.str() +
         "t token, c channel, b channel block, h kv head; c[16:5] is "
         "(channel / 16) % 5\n";
}

std::string asJson(const Summary &summary) {
  Json result;
  result["kind"] = "spec";
  result["name"] = summary.info.name;
  result["spec"] = parseJson(summary.json);
  if (!summary.score.empty())
    result["score"] = summary.score;
  result["layout_hash"] = summary.hash;
  const double perHead = summary.tensors[KVC_KEY].bytes_per_token +
                         summary.tensors[KVC_VALUE].bytes_per_token;
  result["bytes_per_token_and_kv_head"] = perHead;
  result["bytes_per_token"] =
      perHead * static_cast<double>(summary.info.kv_heads);
  result["page_tokens"] = summary.pageTokens;
  result["page_bytes"] = summary.pageBytes;
  result["regions"] = Json::array();
  for (const RegionRow &row : summary.regions)
    result["regions"].push_back({{"tensor", row.tensor},
                                 {"kind", row.kind},
                                 {"bits", row.bits},
                                 {"offset", row.offset},
                                 {"order", row.order}});
  return documentOf(result);
}

} // namespace

std::string kvc::inspectSpec(const kvc_spec *spec, const std::string &score,
                             bool json) {
  Summary summary = summarise(spec);
  summary.score = score;
  return json ? asJson(summary) : asText(spec, summary);
}
