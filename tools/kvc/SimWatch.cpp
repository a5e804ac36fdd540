//===- SimWatch.cpp - What kvc sim tells of a launch ----------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/SimWatch.h"

#include "kvc/CommandLine.h"
#include "kvc/Json.h"
#include "kvc/SpecFile.h"

using namespace kvc;

using FindingKind = sim::Finding::Kind;

namespace {

struct Check {
  const char *name;
  sim::FindingKinds kinds;
};

constexpr Check kChecks[] = {
    {"race", {FindingKind::Race}},
    {"init", {FindingKind::Init}},
    {"bounds", {FindingKind::Bounds, FindingKind::Align, FindingKind::Free}},
    {"sync", {FindingKind::Sync}},
    {"async", {FindingKind::Async}},
    {"fma", {FindingKind::Fma}},
};

} // namespace

void kvc::addChecks(const std::string &text, sim::FindingKinds &kinds) {
  std::vector<std::string> names;
  for (const Check &check : kChecks)
    names.emplace_back(check.name);
  for (const std::string &item : parseList("--check", text)) {
    parseName("--check", item, names);
    for (const Check &check : kChecks)
      if (item == check.name)
        kinds.add(check.kinds);
  }
}

std::string kvc::allChecks() {
  std::string text;
  for (const Check &check : kChecks)
    text += std::string(text.empty() ? "" : ",") + check.name;
  return text;
}

SimWatch::SimWatch(const SimWatchOptions &options)
    : options(options), checker(options.checks) {
  if (options.counts || options.listing)
    all.add(counter);
  // The machine finds the others by itself.
  hasChecker = tells(FindingKind::Race) || tells(FindingKind::Init) ||
               tells(FindingKind::Async);
  if (hasChecker)
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

std::vector<sim::Finding> SimWatch::allFindings() const {
  std::vector<sim::Finding> found = checker.findings();
  found.insert(found.end(), others.begin(), others.end());
  return found;
}

std::string SimWatch::findingsText() const {
  std::string text;
  for (const sim::Finding &finding : allFindings())
    text += finding.str() + "\n";
  return text;
}

std::string SimWatch::text(std::string_view kernel) const {
  std::string text;
  if (options.counts)
    text += "\n" + sim::countsAsText(counter.counts(), ptxas(kernel));
  if (options.listing)
    text += "\n" + sim::annotatedListing(counter.counts());
  const bool isAsked = tells(FindingKind::Bounds) || tells(FindingKind::Sync) ||
                       tells(FindingKind::Fma) || hasChecker;
  if (isAsked || findings() > 0)
    text += "\n" + findingsText() + std::to_string(findings()) +
            (findings() == 1 ? " finding\n" : " findings\n");
  return text;
}

void SimWatch::addTo(Json &json, std::string_view kernel) const {
  json["reports"] = Json::array();
  for (const sim::Finding &finding : allFindings()) {
    Json places = Json::array();
    for (const sim::FindingPlace &place : finding.places) {
      Json entry = {{"line", place.line}};
      if (!place.file.empty())
        entry["source"] = {{"file", place.file}, {"line", place.fileLine}};
      places.push_back(std::move(entry));
    }
    json["reports"].push_back({{"kind", sim::nameOf(finding.kind)},
                               {"message", finding.message},
                               {"count", finding.count},
                               {"places", std::move(places)}});
  }
  if (options.counts)
    json["counts"] =
        parseJson(sim::countsAsJson(counter.counts(), ptxas(kernel)));
  if (options.listing)
    json["listing"] = sim::annotatedListing(counter.counts());
}
