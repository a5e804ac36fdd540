//===- BindMatrices.cpp - Products and moves of matrices ------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Machine/Access.h"
#include "kvc/Sim/Machine/PlainMma.h"
#include "kvc/Sim/Numerics/Fragment.h"
#include "kvc/Sim/Numerics/Mma.h"

using namespace kvc::sim;

namespace {

/// Every lane takes part; false while others are on their way.
bool gatherAll(Warp &warp, LaneMask lanes) {
  if (!warp.gather(lanes, warp.live))
    return false;
  if (warp.live != kAllLanes) {
    warp.fault(Fault::Kind::DivergentSync, lanes,
               "warp: expected all 32 lanes at an instruction on matrices, got "
               "lanes " +
                   hex(warp.live));
    return false;
  }
  if (warp.launch->observer)
    warp.launch->observer->onWarpSync(warp.info, warp.at(), warp.live);
  return true;
}

//===----------------------------------------------------------------------===//
// ldmatrix, stmatrix, movmatrix
//===----------------------------------------------------------------------===//

struct MatrixForm {
  AccessForm access;
  uint32_t matrices = 1;
  bool transposed = false;
};

/// Lanes of the rows that `matrices` have.
LaneMask lanesOfRows(uint32_t matrices) {
  return matrices == 4 ? kAllLanes : (LaneMask(1) << matrices * 8) - 1;
}

/// {d, ..}, address
void runLoadMatrix(Warp &warp, const Step &step, LaneMask lanes) {
  const auto &form = formOf<MatrixForm>(step);
  if (!gatherAll(warp, lanes))
    return;
  Resolved rows;
  if (!resolve(warp, form.access, step.operands[form.matrices],
               lanesOfRows(form.matrices), rows))
    return;
  const MatrixPlaces &places = matrixPlaces(form.transposed);
  for (uint32_t i = 0; i < form.matrices; ++i) {
    uint32_t *to = warp.row(step.operands[i]);
    for (int lane = 0; lane < kLanes; ++lane) {
      uint16_t halves[2];
      for (int half = 0; half < 2; ++half) {
        const MatrixPlace place = places[size_t(lane)][size_t(half)];
        std::memcpy(&halves[half],
                    rows.host[i * 8 + place.row] + place.column * 2, 2);
      }
      to[lane] = uint32_t(halves[1]) << 16 | halves[0];
    }
  }
}

/// address, {s, ..}
void runStoreMatrix(Warp &warp, const Step &step, LaneMask lanes) {
  const auto &form = formOf<MatrixForm>(step);
  if (!gatherAll(warp, lanes))
    return;
  Resolved rows;
  if (!resolve(warp, form.access, step.operands[0], lanesOfRows(form.matrices),
               rows))
    return;
  const MatrixPlaces &places = matrixPlaces(form.transposed);
  for (uint32_t i = 0; i < form.matrices; ++i) {
    const uint32_t *from = warp.row(step.operands[2 + i]);
    for (int lane = 0; lane < kLanes; ++lane)
      for (int half = 0; half < 2; ++half) {
        const MatrixPlace place = places[size_t(lane)][size_t(half)];
        const auto value = static_cast<uint16_t>(from[lane] >> (16 * half));
        std::memcpy(rows.host[i * 8 + place.row] + place.column * 2, &value, 2);
      }
  }
}

void runMoveMatrix(Warp &warp, const Step &step, LaneMask lanes) {
  if (gatherAll(warp, lanes))
    moveMatrix(warp.row(step.operands[0]), warp.row(step.operands[1]));
}

bool bindMatrix(Binding &binding) {
  const bool isLoad = binding.family() == Family::LdMatrix;
  MatrixForm form;
  form.matrices = binding.has(Word::X4) ? 4 : binding.has(Word::X2) ? 2 : 1;
  form.transposed = binding.has(Word::Trans);
  form.access = accessFormOf(
      binding, isLoad ? form.matrices : 0,
      isLoad ? MemoryAccess::Kind::Read : MemoryAccess::Kind::Write, 16);
  return binding.to(isLoad ? runLoadMatrix : runStoreMatrix, form);
}

//===----------------------------------------------------------------------===//
// mma
//===----------------------------------------------------------------------===//

/// Most registers that an operand has.
constexpr int kMostRegisters = 4;

/// d, a, b, c: each as many rows as its fragment has.
void runMma(Warp &warp, const Step &step, LaneMask lanes) {
  const Mma &mma = formOf<Mma>(step);
  if (!gatherAll(warp, lanes))
    return;
  const uint32_t *o = step.operands;
  alignas(64) uint32_t unused[kMostRegisters][kLanes];
  uint32_t *d[kMostRegisters];
  const uint32_t *a[kMostRegisters], *b[kMostRegisters], *c[kMostRegisters];
  const int countC = mma.registersOfC();
  for (int i = 0; i < countC; ++i, ++o)
    d[i] = *o == kNoOperand ? unused[i] : warp.row(*o);
  for (int i = 0; i < mma.registersOfA(); ++i)
    a[i] = warp.row(*o++);
  for (int i = 0; i < mma.registersOfB(); ++i)
    b[i] = warp.row(*o++);
  for (int i = 0; i < countC; ++i)
    c[i] = warp.row(*o++);
  mma(d, a, b, c);
}

std::optional<int> depthOf(const Modifiers &modifiers) {
  switch (modifiers.firstOf({Word::M16n8k4, Word::M16n8k8, Word::M16n8k16,
                             Word::M16n8k32, Word::M16n8k64})) {
  case Word::M16n8k4:
    return 4;
  case Word::M16n8k8:
    return 8;
  case Word::M16n8k16:
    return 16;
  case Word::M16n8k32:
    return 32;
  case Word::M16n8k64:
    return 64;
  default:
    return std::nullopt;
  }
}

void runPlainMma(Warp &warp, const Step &step, LaneMask lanes) {
  if (gatherAll(warp, lanes))
    formOf<PlainMma>(step)(warp, step.operands);
}

bool bindMma(Binding &binding) {
  const std::optional<int> k = depthOf(binding.modifiers);
  const Type type = binding.type(1);
  if (!k || type == Type::F64 || type == Type::B1)
    return binding.toIf(runPlainMma, PlainMma::create(binding.modifiers));
  const MmaForm form{*k, binding.type(1), binding.type(2), binding.type(0),
                     binding.has(Word::Satfinite)};
  const MmaMode &mode = binding.kernel.mma;
  return binding.toIf(runMma,
                      Mma::create(form, mode.isChain ? nullptr : mode.core,
                                  binding.kernel.level));
}

} // namespace

bool kvc::sim::bindMatrices(Binding &binding) {
  switch (binding.family()) {
  case Family::LdMatrix:
  case Family::StMatrix:
    binding.gatherAll();
    return bindMatrix(binding);
  case Family::MovMatrix:
    binding.gatherAll();
    return binding.to(runMoveMatrix);
  case Family::Mma:
    binding.gatherAll();
    return bindMma(binding);
  default:
    return false;
  }
}
