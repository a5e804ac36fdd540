//===- Rows.cpp - Which registers share rows ------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Decode/Rows.h"

#include <algorithm>
#include <bit>

using namespace kvc::sim;

namespace {

/// Bits of sets of registers above which registers share no rows: their
/// analysis would take more memory than it saves.
constexpr uint64_t kMaxSetBits = uint64_t(1) << 29;

/// A set of registers for each block, in one array.
class RegisterSets {
public:
  RegisterSets(size_t blocks, size_t registers)
      : words((registers + 63) / 64), bits(blocks * words, 0) {}

  uint64_t *of(size_t block) { return bits.data() + block * words; }
  bool has(size_t block, uint32_t id) {
    return of(block)[id / 64] >> (id % 64) & 1;
  }
  void add(size_t block, uint32_t id) {
    of(block)[id / 64] |= uint64_t(1) << (id % 64);
  }
  const size_t words;

private:
  std::vector<uint64_t> bits;
};

/// First and last place where a register is alive. An instruction is one place.
struct Life {
  uint32_t begin = kNowhere, end = 0;
  void include(uint32_t place) {
    begin = std::min(begin, place);
    end = std::max(end, place);
  }
};

class RowAssigner {
public:
  RowAssigner(const DecodedFunction &function, const std::vector<Block> &blocks,
              const std::vector<uint32_t> &order)
      : function(function), blocks(blocks), order(order) {}

  RowAssignment assign() {
    assignment.firstRow.assign(function.registers.size(), kNowhere);
    const uint64_t setBits =
        uint64_t(blocks.size()) * function.registers.size();
    if (setBits > kMaxSetBits)
      liveAlways();
    else
      findLives();
    return share();
  }

private:
  template <typename Each>
  void eachRegister(uint32_t instruction, Each each) {
    const Inst &inst = function.code[instruction];
    for (uint32_t i = 0; i < inst.slotCount; ++i) {
      const Slot slot = function.slots[inst.firstSlot + i];
      if (slot.file() == Slot::File::Register)
        each(slot.index(), slot.isWritten());
    }
  }

  void liveAlways() {
    lives.assign(function.registers.size(), {});
    for (uint32_t i = 0; i < function.code.size(); ++i)
      eachRegister(i, [&](uint32_t id, bool) {
        lives[id] = {0, static_cast<uint32_t>(function.code.size())};
      });
  }

  /// Where each register is alive, from the last block to the first until
  /// nothing changes.
  void findLives() {
    const size_t count = function.registers.size();
    RegisterSets reads(blocks.size(), count), writes(blocks.size(), count);
    RegisterSets alive(blocks.size(), count); // At a block's beginning.
    for (uint32_t block : order)
      for (uint32_t i = blocks[block].first; i < blocks[block].end; ++i) {
        eachRegister(i, [&](uint32_t id, bool isWritten) {
          if (!isWritten && !writes.has(block, id))
            reads.add(block, id);
        });
        // Lanes that a guard leaves out keep their value.
        if (function.code[i].guard == Inst().guard)
          eachRegister(i, [&](uint32_t id, bool isWritten) {
            if (isWritten)
              writes.add(block, id);
          });
      }
    std::vector<uint64_t> after(alive.words);
    auto join = [&](uint32_t block) {
      std::fill(after.begin(), after.end(), 0);
      for (uint32_t to : blocks[block].successors)
        for (size_t i = 0; i < alive.words; ++i)
          after[i] |= alive.of(to)[i];
    };
    for (bool changes = true; changes;) {
      changes = false;
      for (auto block = order.rbegin(); block != order.rend(); ++block) {
        join(*block);
        uint64_t *before = alive.of(*block);
        for (size_t i = 0; i < alive.words; ++i) {
          const uint64_t next =
              reads.of(*block)[i] | (after[i] & ~writes.of(*block)[i]);
          changes |= next != before[i];
          before[i] = next;
        }
      }
    }

    // Places count along the order.
    lives.assign(count, {});
    uint32_t place = 0;
    auto include = [&](const uint64_t *set, uint32_t at) {
      for (size_t word = 0; word < alive.words; ++word)
        for (uint64_t rest = set[word]; rest; rest &= rest - 1)
          lives[word * 64 + std::countr_zero(rest)].include(at);
    };
    for (uint32_t block : order) {
      include(alive.of(block), place);
      for (uint32_t i = blocks[block].first; i < blocks[block].end;
           ++i, ++place)
        eachRegister(i, [&](uint32_t id, bool) { lives[id].include(place); });
      join(block);
      include(after.data(), place - 1);
    }
    // What no way leads to has rows too, so that every slot means something.
    for (uint32_t i = 0; i < function.code.size(); ++i)
      eachRegister(i, [&](uint32_t id, bool) {
        if (lives[id].begin == kNowhere)
          lives[id].include(0);
      });
    // Whoever returns must still know where to.
    if (function.returnAddress != kNowhere) {
      lives[function.returnAddress].include(0);
      lives[function.returnAddress].include(place);
    }
    for (const auto *places : {&function.params, &function.results})
      for (const ParamPlace &entry : *places)
        if (entry.slot.file() == Slot::File::Register) {
          lives[entry.slot.index()].include(0);
          lives[entry.slot.index()].include(place);
        }
  }

  /// Gives rows to registers in the order in which their lives begin, those of
  /// 128 bits first, so that all are aligned.
  RowAssignment share() {
    for (unsigned rows : {4u, 2u, 1u}) {
      std::vector<uint32_t> ids;
      for (uint32_t id = 0; id < lives.size(); ++id)
        if (lives[id].begin != kNowhere &&
            function.registers[id].special == kNowhere &&
            rowsOf(function.registers[id].type) == rows)
          ids.push_back(id);
      std::sort(ids.begin(), ids.end(), [&](uint32_t a, uint32_t b) {
        return lives[a].begin != lives[b].begin
                   ? lives[a].begin < lives[b].begin
                   : a < b;
      });
      // Rows by the end of the life that has them, the earliest on top.
      std::vector<std::pair<uint32_t, uint32_t>> taken;
      for (uint32_t id : ids) {
        uint32_t row = assignment.rows;
        if (!taken.empty() && taken.front().first < lives[id].begin) {
          std::pop_heap(taken.begin(), taken.end(), std::greater<>());
          row = taken.back().second;
          taken.pop_back();
        } else {
          assignment.rows += rows;
        }
        assignment.firstRow[id] = row;
        taken.emplace_back(lives[id].end, row);
        std::push_heap(taken.begin(), taken.end(), std::greater<>());
      }
    }
    return std::move(assignment);
  }

  static unsigned rowsOf(Type type) {
    return bitsOf(type) <= 32 ? 1 : bitsOf(type) / 32;
  }

  const DecodedFunction &function;
  const std::vector<Block> &blocks;
  const std::vector<uint32_t> &order;
  std::vector<Life> lives;
  RowAssignment assignment;
};

} // namespace

RowAssignment kvc::sim::assignRows(const DecodedFunction &function,
                                   const std::vector<Block> &blocks,
                                   const std::vector<uint32_t> &order) {
  return RowAssigner(function, blocks, order).assign();
}
