//===- SimWatch.cpp - What kvc sim tells of a launch ----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/SimWatch.h"

#include "kvc/Failure.h"
#include "kvc/Json.h"
#include "kvc/SpecFile.h"

using namespace kvc;

SimWatch::SimWatch(const SimWatchOptions &options) : options(options) {
  if (options.counts || options.listing)
    all.add(counter);
  if (options.checks)
    all.add(checker);
  if (!options.ptxas.empty())
    ptxasOutput = readFile(options.ptxas);
}

std::optional<sim::PtxasReport> SimWatch::ptxas(std::string_view kernel) const {
  if (options.ptxas.empty())
    return std::nullopt;
  std::optional<sim::PtxasReport> report = sim::readPtxas(ptxasOutput, kernel);
  if (!report)
    throw Failure(options.ptxas + ": expected what ptxas -v says of \"" +
                  std::string(kernel) + "\", got nothing of it");
  return report;
}

std::string SimWatch::findingsText() const {
  std::string text;
  for (const sim::Finding &finding : checker.findings())
    text += finding.str() + "\n";
  for (const auto &[kind, message] : others)
    text.append(kind).append(": ").append(message).append("\n");
  return text;
}

std::string SimWatch::text(std::string_view kernel) const {
  std::string text;
  if (options.counts)
    text += "\n" + sim::countsAsText(counter.counts(), ptxas(kernel));
  if (options.listing)
    text += "\n" + sim::annotatedListing(counter.counts());
  if (options.checks)
    text += "\n" + findingsText() + std::to_string(findings()) +
            (findings() == 1 ? " finding\n" : " findings\n");
  return text;
}

void SimWatch::addTo(Json &json, std::string_view kernel) const {
  if (options.counts)
    json["counts"] =
        parseJson(sim::countsAsJson(counter.counts(), ptxas(kernel)));
  if (options.listing)
    json["listing"] = sim::annotatedListing(counter.counts());
  if (!options.checks)
    return;
  json["findings"] = Json::array();
  for (const sim::Finding &finding : checker.findings())
    json["findings"].push_back({{"kind", sim::nameOf(finding.kind)},
                                {"message", finding.message},
                                {"count", finding.count}});
  for (const auto &[kind, message] : others)
    json["findings"].push_back(
        {{"kind", kind}, {"message", message}, {"count", 1}});
}
