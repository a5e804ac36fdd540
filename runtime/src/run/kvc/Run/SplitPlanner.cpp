//===- SplitPlanner.cpp - How long the ranges of keys are -----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Run/SplitPlanner.h"

#include "kvc/Base/Checked.h"

#include <algorithm>
#include <map>

using namespace kvc;

namespace {

/// Sequences of equal length, in tiles; the longest first.
struct Group {
  int64_t tiles, items;
};

std::vector<Group> groupsOf(const SplitShape &shape) {
  std::vector<Group> groups;
  for (const SplitShape::Sequences &each : shape.sequences)
    if (each.keys > 0 && each.items > 0)
      groups.push_back({divideCeil(each.keys, shape.tileTokens), each.items});
  std::sort(groups.begin(), groups.end(),
            [](const Group &a, const Group &b) { return a.tiles > b.tiles; });
  std::vector<Group> merged;
  for (const Group &each : groups)
    if (!merged.empty() && merged.back().tiles == each.tiles)
      merged.back().items += each.items;
    else
      merged.push_back(each);
  return merged;
}

/// When the blocks that are busy now will be free: how many at which time.
class Slots {
public:
  explicit Slots(int64_t count) : free{{0.0, count}} {}

  /// Begins `count` items of one cost, each on the block that is free first.
  void add(double cost, int64_t count) {
    while (count > 0) {
      const auto [time, slots] = *free.begin();
      // All of them at once, round after round, while they stay the first.
      int64_t taken = std::min(slots, count), rounds = 1;
      if (free.size() == 1 && count > slots) {
        rounds = count / slots;
        taken = slots;
      }
      free.erase(free.begin());
      if (taken < slots)
        free[time] += slots - taken;
      free[time + cost * double(rounds)] += taken;
      count -= taken * rounds;
    }
  }
  double end() const { return free.rbegin()->first; }

private:
  std::map<double, int64_t> free;
};

double costOf(const SplitShape &shape, const std::vector<Group> &groups,
              int64_t split) {
  auto item = [&](int64_t tiles) {
    return double(kStartBytes) + double(tiles) * double(shape.tileBytes) +
           double(shape.partialBytes);
  };
  int64_t whole = 0;
  double all = 0;
  std::vector<Group> rests;
  for (const Group &each : groups) {
    const int64_t ranges = each.tiles / split;
    whole += ranges * each.items;
    if (const int64_t rest = each.tiles % split; rest > 0)
      rests.push_back({rest, each.items});
    all += double(divideCeil(each.tiles, split)) * double(each.items);
  }
  std::sort(rests.begin(), rests.end(),
            [](const Group &a, const Group &b) { return a.tiles > b.tiles; });
  Slots slots(shape.slots);
  slots.add(item(split), whole);
  for (const Group &each : rests)
    slots.add(item(each.tiles), each.items);
  return slots.end() + double(kStartBytes) +
         all * double(shape.partialBytes) / double(shape.slots);
}

/// What no schedule of these ranges is below: the mean load of a slot, and the
/// longest item.
double lowerBound(const SplitShape &shape, const std::vector<Group> &groups,
                  int64_t split) {
  double tiles = 0, items = 0;
  for (const Group &each : groups) {
    tiles += double(each.tiles) * double(each.items);
    items += double(divideCeil(each.tiles, split)) * double(each.items);
  }
  const double ofItem = double(kStartBytes) + double(shape.partialBytes);
  const double mean =
      (items * ofItem + tiles * double(shape.tileBytes)) / double(shape.slots);
  const double longest =
      ofItem +
      double(std::min(split, groups.front().tiles)) * double(shape.tileBytes);
  return std::max(mean, longest) + double(kStartBytes) +
         items * double(shape.partialBytes) / double(shape.slots);
}

/// Lengths of ranges that are looked at: all of them, or every nth.
constexpr int64_t kMaxCandidates = 4096;

} // namespace

double kvc::splitCost(const SplitShape &shape, int64_t splitTokens) {
  return costOf(shape, groupsOf(shape), splitTokens / shape.tileTokens);
}

int64_t kvc::chooseSplit(const SplitShape &shape) {
  const std::vector<Group> groups = groupsOf(shape);
  if (groups.empty())
    return shape.tileTokens;
  const int64_t longest = groups.front().tiles;
  const int64_t step = divideCeil(longest, kMaxCandidates);
  int64_t best = longest;
  double least = costOf(shape, groups, best);
  // Of equal costs the longest, which has the fewest items.
  for (int64_t split = longest - 1; split > 0; split -= step) {
    if (lowerBound(shape, groups, split) >= least)
      continue;
    if (const double cost = costOf(shape, groups, split); cost < least) {
      least = cost;
      best = split;
    }
  }
  return best * shape.tileTokens;
}
