//===- Finding.cpp - What is wrong with a kernel --------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Check/Finding.h"

using namespace kvc::sim;

std::string_view kvc::sim::nameOf(Finding::Kind kind) {
  static constexpr std::string_view names[] = {
      "race", "init", "async",    "fma",    "bounds", "align",
      "free", "sync", "deadlock", "assert", "fault"};
  static_assert(std::size(names) == kFindingKinds);
  return names[static_cast<size_t>(kind)];
}

static Finding::Kind toldAs(Fault::Kind kind) {
  switch (kind) {
  case Fault::Kind::OutOfBounds:
  case Fault::Kind::ReadOnly:
    return Finding::Kind::Bounds;
  case Fault::Kind::UseAfterFree:
    return Finding::Kind::Free;
  case Fault::Kind::Misaligned:
    return Finding::Kind::Align;
  case Fault::Kind::DivergentSync:
  case Fault::Kind::DivergentBarrier:
    return Finding::Kind::Sync;
  case Fault::Kind::Deadlock:
    return Finding::Kind::Deadlock;
  case Fault::Kind::Trap:
  case Fault::Kind::Assertion:
    return Finding::Kind::Assert;
  case Fault::Kind::BadCall:
  case Fault::Kind::Unsupported:
  case Fault::Kind::Limit:
    break;
  }
  return Finding::Kind::Fault;
}

Finding kvc::sim::findingOf(const LaunchInfo &launch, const Fault &fault) {
  Finding finding{toldAs(fault.kind), fault.at, kNowhere, 1, fault.message, {}};
  if (fault.at != kNowhere) {
    finding.message = describePlace(launch, fault.at) + ": " + fault.message;
    finding.places.push_back(placeOf(launch, fault.at));
  }
  return finding;
}

std::string Finding::str() const {
  std::string text = std::string(nameOf(kind)) + ": " + message;
  if (count > 1)
    text += " (" + std::to_string(count) + " times)";
  return text;
}

std::string_view kvc::sim::nameOf(MemorySpace space) {
  static constexpr std::string_view names[] = {
      "no", "generic", "global", "shared", "constant", "local", "parameter"};
  return names[static_cast<size_t>(space)];
}

/// The opcode as it is written, from the text at an instruction's place.
static std::string_view opcodeAt(const Program &program, Position at) {
  std::string_view rest = *program.text;
  for (uint32_t line = 1; line < at.line; ++line) {
    const size_t end = rest.find('\n');
    if (end == std::string_view::npos)
      return "";
    rest.remove_prefix(end + 1);
  }
  if (at.column == 0 || at.column > rest.size())
    return "";
  rest.remove_prefix(at.column - 1);
  return rest.substr(0, rest.find_first_of(" \t\r\n;{["));
}

FindingPlace kvc::sim::placeOf(const LaunchInfo &launch, uint32_t at) {
  const Place &place = launch.program->places[at];
  if (place.location == 0)
    return {place.at.line, "", 0};
  const SourceLocation &location = launch.module->locations[place.location - 1];
  std::string file = "file " + std::to_string(location.file);
  for (const SourceFile &named : launch.module->files)
    if (named.number == location.file)
      file = named.path;
  return {place.at.line, file, location.line};
}

std::string kvc::sim::describePlace(const LaunchInfo &launch, uint32_t at) {
  const FindingPlace place = placeOf(launch, at);
  const std::string_view opcode =
      opcodeAt(*launch.program, launch.program->places[at].at);
  std::string text =
      "line " + std::to_string(place.line) + " (" + std::string(opcode) + ")";
  if (place.file.empty())
    return text;
  return text + " at " + place.file + ":" + std::to_string(place.fileLine);
}

static std::string triple(uint64_t index, const Extent3 &extent) {
  return "(" + std::to_string(index % extent.x) + ", " +
         std::to_string(index / extent.x % extent.y) + ", " +
         std::to_string(index / extent.x / extent.y) + ")";
}

std::string kvc::sim::describeThread(const LaunchInfo &launch, uint64_t block,
                                     uint32_t thread) {
  return "thread " + triple(thread, launch.block) + " of block " +
         triple(block, launch.grid);
}

std::string kvc::sim::describeOffset(const Program &program, MemorySpace space,
                                     uint64_t offset) {
  for (const MemoryObject &object : program.objects)
    if (object.space == space && offset >= object.offset &&
        (object.isDynamic || offset - object.offset < object.bytes))
      return "\"" + std::string(object.name) + "\" + " +
             std::to_string(offset - object.offset);
  return "offset " + std::to_string(offset);
}
