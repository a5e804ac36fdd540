//===- EvalReport.cpp - What kvc eval prints ------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/EvalReport.h"

#include "kvc/Failure.h"
#include "kvc/Json.h"
#include "kvc/Plot.h"
#include "kvc/Table.h"

using namespace kvc;

std::string EvalReport::asText() const {
  Table table({{"spec", Align::Left},
               {"bits per\nvalue"},
               {"bytes per token\nand kv head"},
               {"x smaller\nthan f16"},
               {"error against\nf64"},
               {"worst\nhead"},
               {"error of\nscores"},
               {"KL divergence\nof weights"},
               {"us per\ndecode step"},
               {"x faster\nthan f16"}});
  for (const EvalRow &row : rows)
    table.add({onOneLine(row.name), fixed(row.bitsPerValue, 2),
               fixed(row.bytesPerToken, 1), times(row.smaller),
               significant(row.error),
               significant(row.worstError) + " (" +
                   std::to_string(row.worstHead) + ")",
               significant(row.scoreError), significant(row.divergence),
               fixed(row.stepUs, 1), times(row.f16StepUs / row.stepUs)});
  std::string text = rows.empty() ? "" : table.str();
  if (refused.empty())
    return text;
  Table reasons({{"not run", Align::Left}, {"", Align::Left}});
  for (const Refusal &each : refused)
    reasons.add({each.name, onOneLine(each.reason)});
  return text + (rows.empty() ? "" : "\n") + reasons.str();
}

std::string EvalReport::asJson() const {
  Json result = Json::array();
  for (const EvalRow &row : rows)
    result.push_back({{"name", row.name},
                      {"bits_per_value", row.bitsPerValue},
                      {"bits_per_value_with_raw_tokens", row.bitsHere},
                      {"bytes_per_token_and_kv_head", row.bytesPerToken},
                      {"times_smaller_than_f16", row.smaller},
                      {"relative_error", row.error},
                      {"worst_head", row.worstHead},
                      {"worst_head_relative_error", row.worstError},
                      {"score_relative_error", row.scoreError},
                      {"kl_divergence", row.divergence},
                      {"us_per_step", row.stepUs},
                      {"us_per_step_f16", row.f16StepUs},
                      {"times_faster_than_f16", row.f16StepUs / row.stepUs}});
  for (const Refusal &each : refused)
    result.push_back({{"name", each.name}, {"refused", each.reason}});
  return documentOf(result);
}

std::string EvalReport::asSvg() const {
  Plot plot{"Error of the attention's output over bits per value",
            "bits per value of these inputs, with all metadata and the tokens "
            "that stay raw",
            "||out - ref|| / ||ref||",
            {}};
  for (const EvalRow &row : rows)
    plot.points.push_back({row.name, row.bitsHere, row.error});
  return kvc::asSvg(plot);
}
