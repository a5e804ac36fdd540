//===- Report.cpp - Counts as text, JSON and beside the source ------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Count/Report.h"

#include <cstdio>
#include <map>

using namespace kvc::sim;

namespace {

std::string number(uint64_t value) { return std::to_string(value); }

std::string fraction(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%.3f", value);
  return buffer;
}

std::string ratio(uint64_t over, uint64_t under) {
  return under == 0 ? "-" : fraction(double(over) / double(under));
}

/// A line of the text: what, its number, and a remark.
void addLine(std::string &text, std::string_view what, std::string_view value,
             std::string_view remark = "") {
  char buffer[128];
  std::snprintf(buffer, sizeof(buffer), "%-26.*s %16.*s", int(what.size()),
                what.data(), int(value.size()), value.data());
  text += buffer;
  if (!remark.empty())
    text += "  " + std::string(remark);
  text += '\n';
}

void addAccess(std::string &text, const std::string &what,
               const AccessCounts &counts) {
  if (counts.requests == 0)
    return;
  addLine(text, what + " requests", number(counts.requests));
  addLine(text, what + " bytes", number(counts.bytes));
  addLine(text, what + " sectors", number(counts.sectors),
          ratio(counts.sectors, counts.requests) + " a request, " +
              ratio(counts.bytes, counts.sectors * kSectorBytes) +
              " of their bytes asked for");
}

std::string jsonString(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (code < 0x20 || code >= 0x7F) {
      char buffer[8];
      std::snprintf(buffer, sizeof(buffer), "\\u%04x", code);
      result += buffer;
    } else {
      result += c;
    }
  }
  return result + "\"";
}

/// Members of one JSON object.
class JsonObject {
public:
  void add(std::string_view key, uint64_t value) { addRaw(key, number(value)); }
  void addText(std::string_view key, std::string_view value) {
    addRaw(key, jsonString(value));
  }
  void addRaw(std::string_view key, const std::string &value) {
    members += (members.empty() ? "" : ", ") + jsonString(key) + ": " + value;
  }
  std::string str() const { return "{" + members + "}"; }

private:
  std::string members;
};

std::string jsonOf(const AccessCounts &counts) {
  JsonObject object;
  object.add("requests", counts.requests);
  object.add("bytes", counts.bytes);
  object.add("sectors", counts.sectors);
  return object.str();
}

std::string jsonOfShared(const AccessCounts &counts) {
  JsonObject object;
  object.add("requests", counts.requests);
  object.add("bytes", counts.bytes);
  object.add("wavefronts", counts.wavefronts);
  object.add("ideal_wavefronts", counts.idealWavefronts);
  return object.str();
}

std::string jsonOf(const Extent3 &extent) {
  return "[" + number(extent.x) + ", " + number(extent.y) + ", " +
         number(extent.z) + "]";
}

/// Sums of instructions by their line of PTX.
std::map<uint32_t, InstructionCounts> byLine(const Counts &counts) {
  std::map<uint32_t, InstructionCounts> lines;
  for (size_t i = 0; i < counts.instructions.size(); ++i)
    lines[counts.launch.program->places[i].at.line] += counts.instructions[i];
  return lines;
}

/// The file and line that .loc names for the first instruction of each line.
std::map<uint32_t, std::string> sourcesOf(const Counts &counts) {
  std::map<uint32_t, std::string> sources;
  const Module &module = *counts.launch.module;
  for (const Place &place : counts.launch.program->places) {
    if (place.location == 0)
      continue;
    const SourceLocation &location = module.locations[place.location - 1];
    std::string file = number(location.file);
    for (const SourceFile &named : module.files)
      if (named.number == location.file)
        file = named.path;
    sources.emplace(place.at.line, file + ":" + number(location.line));
  }
  return sources;
}

} // namespace

std::string kvc::sim::countsAsText(const Counts &counts,
                                   const std::optional<PtxasReport> &ptxas) {
  std::string text;
  addLine(text, "warp instructions", number(counts.issued),
          number(counts.issuedLessMoves()) + " less moves");
  for (size_t i = 0; i < kGroups; ++i)
    addLine(text, "  " + std::string(nameOf(Group(i))),
            number(counts.byGroup[i]), ratio(counts.byGroup[i], counts.issued));
  addLine(text, "lanes at work", ratio(counts.lanes, counts.issued),
          "of 32, on average");
  addLine(text, "guarded off", number(counts.skipped));
  addLine(text, "divergent branches", number(counts.divergences));
  addAccess(text, "global read", counts.globalReads);
  addAccess(text, "global write", counts.globalWrites);
  addAccess(text, "global atomic", counts.globalAtomics);
  addLine(text, "unique bytes read", number(counts.uniqueBytesRead));
  addLine(text, "unique bytes written", number(counts.uniqueBytesWritten));
  addLine(text, "unique sectors", number(counts.uniqueSectors),
          number(counts.uniqueSectors * kSectorBytes) +
              " bytes, which memory moves at least");
  if (counts.shared.requests > 0) {
    addLine(text, "shared requests", number(counts.shared.requests));
    addLine(text, "shared bytes", number(counts.shared.bytes));
    addLine(text, "shared wavefronts", number(counts.shared.wavefronts),
            number(counts.shared.wavefronts - counts.shared.idealWavefronts) +
                " by bank conflicts");
  }
  if (counts.local.requests > 0)
    addLine(text, "local bytes", number(counts.local.bytes));
  if (counts.asyncBytes > 0)
    addLine(text, "bytes copied beside", number(counts.asyncBytes));
  addLine(text, "barriers of blocks", number(counts.barriers));
  addLine(text, "barriers of warps", number(counts.warpBarriers));
  addLine(text, "shared bytes of a block", number(counts.launch.sharedBytes));
  addLine(text, "registers of a thread",
          ptxas ? number(ptxas->registers) : "unknown",
          ptxas ? "" : "without the output of ptxas -v");
  text +=
      "\ndevice    blocks/SM  warps/SM  limited by     issue share, at least\n";
  for (const DeviceModel &device : allDevices()) {
    std::string blocks = "unknown", warps = "unknown", limit = "unknown";
    if (ptxas) {
      const Occupancy occupancy =
          occupancyOf(device, counts.launch, ptxas->registers);
      blocks = number(occupancy.blocks);
      warps = number(occupancy.warps) + "/" + number(device.warps);
      limit = occupancy.limitedBy;
    }
    const std::optional<double> share = issueShareOf(device, counts);
    char buffer[128];
    std::snprintf(buffer, sizeof(buffer), "%-9s %9s %9s  %-14s %s\n",
                  std::string(device.name).c_str(), blocks.c_str(),
                  warps.c_str(), limit.c_str(),
                  share ? fraction(*share).c_str() : "no memory is touched");
    text += buffer;
  }
  return text;
}

std::string kvc::sim::countsAsJson(const Counts &counts,
                                   const std::optional<PtxasReport> &ptxas) {
  JsonObject root;
  root.addText("kernel", counts.launch.program->name);
  root.addRaw("grid", jsonOf(counts.launch.grid));
  root.addRaw("block", jsonOf(counts.launch.block));
  root.add("warp_instructions", counts.issued);
  root.add("warp_instructions_less_moves", counts.issuedLessMoves());
  root.add("lane_instructions", counts.lanes);
  root.add("guarded_off", counts.skipped);
  // Moves are the first group; devices execute them as they do alu.
  for (size_t i = 1; i < kGroups; ++i)
    root.add(nameOf(Group(i)),
             counts.byGroup[i] + (Group(i) == Group::Alu
                                      ? counts.byGroup[size_t(Group::Move)]
                                      : 0));
  root.add("moves", counts.byGroup[size_t(Group::Move)]);
  root.add("atomics", counts.atomics);
  root.add("barrier_warp_instructions", counts.barrierInstructions);
  root.add("global_load_sectors", counts.globalReads.sectors);
  root.add("global_store_sectors", counts.globalWrites.sectors);
  root.add("unique_global_sectors", counts.uniqueSectors);
  root.add("shared_requests", counts.shared.requests);
  root.add("shared_wavefronts", counts.shared.wavefronts);
  JsonObject classes;
  for (size_t i = 0; i < kClasses; ++i)
    classes.add(nameOf(Class(i)), counts.byClass[i]);
  root.addRaw("by_class", classes.str());
  root.add("divergent_branches", counts.divergences);
  root.addRaw("global_reads", jsonOf(counts.globalReads));
  root.addRaw("global_writes", jsonOf(counts.globalWrites));
  root.addRaw("global_atomics", jsonOf(counts.globalAtomics));
  root.addRaw("shared", jsonOfShared(counts.shared));
  root.add("local_bytes", counts.local.bytes);
  root.add("async_bytes", counts.asyncBytes);
  root.add("unique_bytes_read", counts.uniqueBytesRead);
  root.add("unique_bytes_written", counts.uniqueBytesWritten);
  root.add("block_barriers", counts.barriers);
  root.add("warp_barriers", counts.warpBarriers);
  root.add("shared_bytes_of_block", counts.launch.sharedBytes);
  root.addRaw("registers", ptxas ? number(ptxas->registers) : "null");
  std::string devices;
  for (const DeviceModel &device : allDevices()) {
    JsonObject object;
    object.addText("name", device.name);
    if (ptxas) {
      const Occupancy occupancy =
          occupancyOf(device, counts.launch, ptxas->registers);
      object.add("blocks_per_sm", occupancy.blocks);
      object.add("warps_per_sm", occupancy.warps);
      object.addText("limited_by", occupancy.limitedBy);
    }
    const std::optional<double> share = issueShareOf(device, counts);
    object.addRaw("issue_share_bound", share ? fraction(*share) : "null");
    devices += (devices.empty() ? "" : ", ") + object.str();
  }
  root.addRaw("devices", "[" + devices + "]");
  const std::map<uint32_t, std::string> sources = sourcesOf(counts);
  std::string lines;
  for (const auto &[line, here] : byLine(counts)) {
    JsonObject object;
    object.add("line", line);
    if (const auto source = sources.find(line); source != sources.end())
      object.addText("source", source->second);
    object.add("warp_instructions", here.issued);
    object.add("lane_instructions", here.lanes);
    object.add("divergent_branches", here.divergences);
    if (here.global.requests > 0)
      object.addRaw("global", jsonOf(here.global));
    if (here.shared.requests > 0)
      object.addRaw("shared", jsonOfShared(here.shared));
    lines += (lines.empty() ? "" : ", ") + object.str();
  }
  root.addRaw("lines", "[" + lines + "]");
  return root.str() + "\n";
}

std::string kvc::sim::annotatedListing(const Counts &counts) {
  const Program &program = *counts.launch.program;
  const std::map<uint32_t, InstructionCounts> lines = byLine(counts);
  std::string listing =
      "      issued  lanes   sectors/request  wavefronts  line\n";
  std::string_view rest = *program.text;
  const uint32_t first = lines.empty() ? 0 : lines.begin()->first;
  const uint32_t last = lines.empty() ? 0 : lines.rbegin()->first;
  for (uint32_t line = 1; line <= last && !rest.empty(); ++line) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view text = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line < first)
      continue;
    char buffer[96];
    const auto found = lines.find(line);
    if (found == lines.end()) {
      std::snprintf(buffer, sizeof(buffer), "%48s%6u  ", "", line);
    } else {
      const InstructionCounts &here = found->second;
      const std::string sectors =
          here.global.requests > 0
              ? ratio(here.global.sectors, here.global.requests)
              : "";
      const std::string wavefronts =
          here.shared.requests > 0 ? number(here.shared.wavefronts) : "";
      std::snprintf(buffer, sizeof(buffer), "%12llu %6s %17s %10s%6u  ",
                    static_cast<unsigned long long>(here.issued),
                    here.issued == 0
                        ? "-"
                        : fraction(double(here.lanes) / double(here.issued))
                              .substr(0, 5)
                              .c_str(),
                    sectors.c_str(), wavefronts.c_str(), line);
    }
    listing += buffer;
    listing += text;
    listing += '\n';
  }
  return listing;
}
