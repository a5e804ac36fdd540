//===- InspectSaved.cpp - What a saved sequence holds ---------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/InspectSaved.h"

#include "kvc/CommandLine.h"
#include "kvc/Json.h"
#include "kvc/SpecFile.h"
#include "kvc/Table.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

using namespace kvc;

bool kvc::looksLikeSaved(const std::string &path) {
  constexpr std::string_view kBegin = "kvc saved cache\n";
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return false;
  std::string begin(kBegin.size(), 0);
  std::ifstream file(path, std::ios::binary);
  return file.read(begin.data(), std::streamsize(begin.size())) &&
         begin == kBegin;
}

SavedHandle kvc::openSaved(const std::string &path) {
  Diag diag;
  kvc_saved *saved = nullptr;
  const kvc_status status = kvc_saved_open(path.c_str(), diag, &saved);
  // The system's own messages name the file already.
  diag.check(status, status == KVC_FAILED ? "" : path);
  return SavedHandle(saved);
}

kvc_saved_info kvc::infoOf(const kvc_saved *saved) {
  kvc_saved_info info = {};
  info.struct_size = sizeof(info);
  Diag diag;
  diag.check(kvc_saved_get_info(saved, diag, &info));
  return info;
}

std::vector<kvc_saved_group> kvc::groupsOf(const kvc_saved *saved) {
  std::vector<kvc_saved_group> groups(
      static_cast<size_t>(infoOf(saved).groups));
  for (size_t g = 0; g < groups.size(); ++g) {
    groups[g].struct_size = sizeof(groups[g]);
    Diag diag;
    diag.check(kvc_saved_get_group(saved, int64_t(g), diag, &groups[g]));
  }
  return groups;
}

//===----------------------------------------------------------------------===//
// What it is
//===----------------------------------------------------------------------===//

static std::string hashOf(const kvc_spec *spec) {
  const char *hash = "";
  Diag().check(kvc_layout_hash(spec, &hash));
  return hash;
}

static std::string hexOf(const uint8_t *bytes, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    for (unsigned digit : {bytes[i] >> 4, bytes[i] & 15})
      text += "0123456789abcdef"[digit];
  return text;
}

/// The first tokens and how many more there are.
static std::string tokensText(const kvc_saved_info &info) {
  constexpr int64_t kShown = 8;
  std::string text;
  for (int64_t i = 0; i < std::min(info.num_tokens, kShown); ++i)
    text += (i ? " " : "") + std::to_string(info.tokens[i]);
  return info.num_tokens > kShown ? text + " .." : text;
}

static std::string inspectAsText(const kvc_saved_info &info,
                                 const std::vector<kvc_saved_group> &groups) {
  Table head({{"saved sequence", Align::Left}, {"", Align::Left}});
  head.add({"version", std::to_string(info.version)});
  head.add({"model", onOneLine(info.model)});
  head.add(
      {"tokens", std::to_string(info.num_tokens) + ": " + tokensText(info)});
  head.add({"bytes", std::to_string(info.bytes)});
  Table table({{"group"},
               {"spec", Align::Left},
               {"layout hash", Align::Left},
               {"layers"},
               {"page"},
               {"K coded\nup to"},
               {"V coded\nup to"},
               {"body\nblocks"},
               {"raw\nblocks"},
               {"behind the\nwindow"}});
  for (size_t g = 0; g < groups.size(); ++g) {
    const kvc_saved_group &group = groups[g];
    const kvc_spec_info spec = specInfoOf(group.spec);
    table.add({std::to_string(g), onOneLine(spec.name),
               hashOf(group.spec).substr(0, 12), std::to_string(group.layers),
               std::to_string(spec.page), std::to_string(group.key_coded_end),
               std::to_string(group.value_coded_end),
               std::to_string(group.blocks), std::to_string(group.raw_blocks),
               std::to_string(group.freed_blocks)});
  }
  return head.str() + "\n" + table.str();
}

std::string kvc::inspectSaved(const kvc_saved *saved, bool json) {
  const kvc_saved_info info = infoOf(saved);
  const std::vector<kvc_saved_group> groups = groupsOf(saved);
  if (!json)
    return inspectAsText(info, groups);
  Json result{{"kind", "saved"},
              {"version", info.version},
              {"model", info.model},
              {"bytes", info.bytes},
              {"tokens", std::vector<int32_t>(info.tokens,
                                              info.tokens + info.num_tokens)},
              {"groups", Json::array()}};
  for (const kvc_saved_group &group : groups) {
    const kvc_spec_info spec = specInfoOf(group.spec);
    Json hashes = Json::array();
    for (int64_t layer = 0; layer < group.layers; ++layer)
      hashes.push_back(hexOf(group.input_hashes + 32 * layer, 32));
    result["groups"].push_back({{"spec", spec.name},
                                {"layout_hash", hashOf(group.spec)},
                                {"layers", group.layers},
                                {"page", spec.page},
                                {"key_coded_end", group.key_coded_end},
                                {"value_coded_end", group.value_coded_end},
                                {"blocks", group.blocks},
                                {"raw_blocks", group.raw_blocks},
                                {"block_bytes", group.block_bytes},
                                {"raw_block_bytes", group.raw_block_bytes},
                                {"freed_blocks", group.freed_blocks},
                                {"input_hashes", hashes}});
  }
  return documentOf(result);
}

//===----------------------------------------------------------------------===//
// What its bytes are spent on
//===----------------------------------------------------------------------===//

std::string kvc::savedStats(const kvc_saved *saved, bool json) {
  const kvc_saved_info info = infoOf(saved);
  int64_t body = 0, raw = 0;
  Table table({{"group"},
               {"spec", Align::Left},
               {"blocks"},
               {"bytes of\na block"},
               {"bytes"},
               {"raw\nblocks"},
               {"bytes of\na raw block"},
               {"bytes"}});
  Json list = Json::array();
  const std::vector<kvc_saved_group> groups = groupsOf(saved);
  for (size_t g = 0; g < groups.size(); ++g) {
    const kvc_saved_group &group = groups[g];
    const int64_t bodyBytes = group.blocks * group.block_bytes;
    const int64_t rawBytes = group.raw_blocks * group.raw_block_bytes;
    body += bodyBytes;
    raw += rawBytes;
    const kvc_spec_info spec = specInfoOf(group.spec);
    table.add({std::to_string(g), onOneLine(spec.name),
               std::to_string(group.blocks), std::to_string(group.block_bytes),
               std::to_string(bodyBytes), std::to_string(group.raw_blocks),
               std::to_string(group.raw_block_bytes),
               std::to_string(rawBytes)});
    list.push_back(
        {{"spec", spec.name}, {"bytes", bodyBytes}, {"raw_bytes", rawBytes}});
  }
  const int64_t tokens = info.num_tokens;
  const double perToken = tokens ? double(body + raw) / double(tokens) : 0;
  if (json)
    return documentOf({{"bytes", info.bytes},
                       {"block_bytes", body},
                       {"raw_block_bytes", raw},
                       {"head_bytes", info.bytes - body - raw},
                       {"tokens", tokens},
                       {"bytes_per_token", perToken},
                       {"groups", list}});
  return table.str() + std::to_string(tokens) + " tokens, " +
         significant(perToken) + " bytes per token; " +
         std::to_string(info.bytes) + " bytes: " + std::to_string(body) +
         " of codes, " + std::to_string(raw) + " of raw rows, " +
         std::to_string(info.bytes - body - raw) + " of head\n";
}
