//===- Program.h - A kernel, decoded ----------------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// One kernel with every function that it may call, names resolved, in flat
// arrays. README.md says how a machine executes it; in short:
//
// * A warp has one file of rows, each 32 lanes of 32 bits. A register of 8, 16
//   or 32 bits is one row, one of 64 bits two rows that together are 32 lanes
//   of 64 bits, one of 128 bits four rows. Special registers that a program
//   reads are rows too. Nothing recurses, so each function has rows of its own
//   above those of its callers.
// * Predicates are words of 32 bits, one bit a lane, in a file of their own;
//   words 0 and 1 are constant false and true.
// * Constants are rows of a second file that all warps share.
// * An instruction's operands are a range of one pool of slots, in the order of
//   its form in Instructions.def: what is there always has the same place.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_DECODE_PROGRAM_H
#define KVC_SIM_DECODE_PROGRAM_H

#include "kvc/Sim/Instructions/SpecialRegisters.h"

#include <limits>

namespace kvc::sim {

inline constexpr uint32_t kNowhere = std::numeric_limits<uint32_t>::max();

/// One operand, or part of one.
///
/// A destination or source is one slot, a vector one per element, a pair two,
/// an address two: base and offset. An optional operand that is not there is a
/// slot of nothing.
class Slot {
public:
  enum class File : uint8_t {
    Nothing,   ///< Not there, or ignored: `_`.
    Register,  ///< index: the first row.
    Constant,  ///< index: the first row of the file of constants.
    Predicate, ///< index: the word.
    Immediate  ///< index: into Program::immediates.
  };

  Slot() = default;
  Slot(File file, unsigned bits, uint32_t index, bool isWritten = false,
       bool isNegated = false)
      : packed(uint32_t(file) << 29 | uint32_t(isNegated) << 28 |
               uint32_t(isWritten) << 27 | codeOf(bits) << 24 | index) {}

  File file() const { return static_cast<File>(packed >> 29); }
  uint32_t index() const { return packed & kMaxIndex; }
  bool isNegated() const { return packed >> 28 & 1; }
  bool isWritten() const { return packed >> 27 & 1; }
  bool isNothing() const { return file() == File::Nothing; }
  /// Of the register as it is declared: 8 to 128. A narrow one's row holds its
  /// value with zeros above.
  unsigned bits() const { return 8u << (packed >> 24 & 7); }
  unsigned rows() const { return bits() <= 32 ? 1 : bits() / 32; }
  Slot at(uint32_t index) const {
    Slot slot = *this;
    slot.packed = (packed & ~kMaxIndex) | index;
    return slot;
  }
  bool operator==(const Slot &) const = default;

  static constexpr uint32_t kMaxIndex = (1u << 24) - 1;

private:
  static constexpr uint32_t codeOf(unsigned bits) {
    return bits == 8     ? 0
           : bits == 16  ? 1
           : bits == 64  ? 3
           : bits == 128 ? 4
                         : 2;
  }
  uint32_t packed = 0;
};
static_assert(sizeof(Slot) == 4);

/// Words of the file of predicates that never change.
inline constexpr uint32_t kFalse = 0, kTrue = 1;

/// Where an access goes. Its address is an offset in that space, but for
/// Generic and Global.
enum class MemorySpace : uint8_t {
  None,
  Generic,
  Global,
  Shared,
  Const,
  Local, ///< Of a thread; parameters of functions are there too.
  Params ///< Of the kernel.
};

struct Inst {
  Family family = Family::Ret;
  MemorySpace space = MemorySpace::None; ///< Of its (first) address.
  bool readsChanging = false;            ///< A special register that changes.
  uint8_t slotCount = 0;
  uint32_t firstSlot = 0; ///< In Program::slots.
  uint32_t modifiers = 0; ///< In Program::modifiers.
  Slot guard{Slot::File::Predicate, 32, kTrue};
  /// bra: the instruction; brx: in Program::switches; call: in Program::calls.
  uint32_t target = kNowhere;
};

/// Where an instruction stands in the text.
struct Place {
  Position at;
  uint32_t location = 0; ///< 1 + index into Module::locations; 0: none.
};

/// The value of rows in the file of constants.
struct ConstantRow {
  enum class Kind : uint8_t {
    Bits,    ///< `bits`.
    Global,  ///< Address of a variable of the module, plus `bits`.
    Function ///< Address of a function of the module.
  };
  Kind kind = Kind::Bits;
  uint8_t width = 32; ///< Bits: 32 or 64.
  uint32_t row = 0;
  uint32_t index = 0; ///< Of the variable or function in its module.
  uint64_t bits = 0;
};

struct SpecialRow {
  SpecialRegister id;
  unsigned component = 0; ///< x, y, z, w.
  Slot slot;              ///< A register, or a predicate.
};

/// An object in memory that a program names.
struct MemoryObject {
  std::string_view name;
  MemorySpace space;
  uint64_t offset = 0, bytes = 0, align = 1;
  bool isDynamic = false; ///< Shared memory that the launch sizes.
};

struct Block {
  uint32_t first = 0, end = 0; ///< Instructions.
  uint32_t function = 0;       ///< In Program::functions.
  /// The order in which a warp's parts run: lower first. Topological, but for
  /// edges back to a loop's head; loops are contiguous.
  uint32_t rank = 0;
  uint32_t loopDepth = 0;
  /// The block where paths from here meet again; kNowhere: at the function's
  /// end.
  uint32_t meets = kNowhere;
  std::vector<uint32_t> successors;
};

/// Where a parameter, an argument or a result lies: in a slot, or in local
/// memory if that is nothing.
struct ParamPlace {
  Slot slot;
  uint64_t offset = 0, bytes = 0;
};

enum class Builtin : uint8_t { None, Vprintf, AssertFail, Malloc, Free };
std::string_view nameOf(Builtin builtin);

struct CallSite {
  uint32_t function = kNowhere; ///< In Program::functions.
  Builtin builtin = Builtin::None;
  Slot pointer; ///< Of an indirect call.
  /// Of an indirect call: functions that may be meant.
  std::vector<uint32_t> candidates;
  /// In the order of the called function's own.
  std::vector<ParamPlace> arguments, results;
};

/// The targets of a brx.
struct Switch {
  std::vector<uint32_t> targets;
};

struct ProgramFunction {
  std::string_view name;
  uint32_t indexInModule = 0;
  uint32_t first = 0, end = 0;           ///< Instructions.
  uint32_t firstBlock = 0, endBlock = 0; ///< The first is the entry.
  /// The row that holds where each lane returns to; none in the kernel.
  Slot returnAddress;
  std::vector<ParamPlace> params, results; ///< Not of the kernel.
};

struct Program {
  std::shared_ptr<const std::string> text; ///< That the names point into.
  std::string_view name;

  std::vector<Inst> code;
  std::vector<Place> places;     ///< Of each instruction.
  std::vector<uint32_t> blockOf; ///< Each instruction.
  std::vector<Slot> slots;
  /// Of each slot the register's name; empty if it is none.
  std::vector<std::string_view> slotNames;
  std::vector<Modifiers> modifiers;
  std::vector<int64_t> immediates;
  std::vector<ConstantRow> constants;
  std::vector<Block> blocks;
  std::vector<ProgramFunction> functions; ///< The kernel first.
  std::vector<CallSite> calls;
  std::vector<Switch> switches;
  std::vector<SpecialRow> specials;
  std::vector<MemoryObject> objects;

  uint32_t registerRows = 0, constantRows = 0, predicates = 2;
  uint64_t sharedBytes = 0; ///< Static.
  uint64_t dynamicSharedOffset = 0;
  uint64_t localBytes = 0; ///< Of a thread.
  uint64_t paramBytes = 0; ///< Of the kernel.

  const Modifiers &modifiersOf(const Inst &inst) const {
    return modifiers[inst.modifiers];
  }
  std::span<const Slot> slotsOf(const Inst &inst) const {
    return {slots.data() + inst.firstSlot, inst.slotCount};
  }
};

} // namespace kvc::sim

#endif // KVC_SIM_DECODE_PROGRAM_H
