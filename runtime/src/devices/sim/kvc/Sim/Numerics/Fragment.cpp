//===- Fragment.cpp - Elements of matrices in a warp's registers ----------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Numerics/Fragment.h"

#include "kvc/Layout/Fragments.h"

#include <algorithm>
#include <cassert>

using namespace kvc;
using namespace kvc::sim;

/// The index in `dim` that position `number` of a digit list stands for.
static int64_t indexOf(const layout::Digits &digits, layout::Dim dim,
                       int64_t number) {
  int64_t index = 0;
  for (const layout::Digit &digit : digits) {
    if (digit.dim == dim)
      index += number % digit.count * digit.place;
    number /= digit.count;
  }
  return index;
}

FragmentMap::FragmentMap(const layout::RegisterLayout &layout, int bits,
                         DimStride first, DimStride second)
    : numRegisters(int(layout::extentOf(layout.reg))), bits(bits),
      perWord(int(layout::extentOf(layout.pack))) {
  assert(layout::extentOf(layout.lane) == kLanes && perWord * bits <= 32);
  for (int reg = 0; reg < numRegisters; ++reg)
    for (int lane = 0; lane < kLanes; ++lane)
      for (int element = 0; element < perWord; ++element) {
        int64_t place = 0;
        for (const DimStride &dim : {first, second})
          place += dim.stride * (indexOf(layout.reg, dim.dim, reg) +
                                 indexOf(layout.lane, dim.dim, lane) +
                                 indexOf(layout.pack, dim.dim, element));
        places.push_back(uint16_t(place));
      }
}

namespace {

template <int bits>
void gatherWords(const uint16_t *place, int registers,
                 const uint32_t *const *rows, uint32_t *array) {
  constexpr int perWord = 32 / bits;
  constexpr uint32_t mask = ~uint32_t(0) >> (32 - bits);
  for (int reg = 0; reg < registers; ++reg)
    for (int lane = 0; lane < kLanes; ++lane) {
      uint32_t word = rows[reg][lane];
      for (int element = 0; element < perWord; ++element)
        array[*place++] = word >> (element * bits) & mask;
    }
}

template <int bits>
void scatterWords(const uint16_t *place, int registers, const uint32_t *array,
                  uint32_t *const *rows) {
  constexpr int perWord = 32 / bits;
  for (int reg = 0; reg < registers; ++reg)
    for (int lane = 0; lane < kLanes; ++lane) {
      uint32_t word = 0;
      for (int element = 0; element < perWord; ++element)
        word |= array[*place++] << (element * bits);
      rows[reg][lane] = word;
    }
}

} // namespace

void FragmentMap::gather(const uint32_t *const *rows, uint32_t *array) const {
  switch (bits) {
  case 4:
    return gatherWords<4>(places.data(), numRegisters, rows, array);
  case 8:
    return gatherWords<8>(places.data(), numRegisters, rows, array);
  case 16:
    return gatherWords<16>(places.data(), numRegisters, rows, array);
  default:
    return gatherWords<32>(places.data(), numRegisters, rows, array);
  }
}

void FragmentMap::scatter(const uint32_t *array, uint32_t *const *rows) const {
  assert(bits >= 16 && "results have 16 or 32 bits");
  if (bits == 16)
    scatterWords<16>(places.data(), numRegisters, array, rows);
  else
    scatterWords<32>(places.data(), numRegisters, array, rows);
}

/// The layout of one 8x8 matrix: a 16-bit fragment's part of eight rows and
/// columns.
static layout::RegisterLayout matrixLayout() {
  using namespace kvc::layout;
  return withoutDigit(withoutDigit(mmaFragment(MmaOperand::A), bitOf('m', 3)),
                      bitOf('k', 3));
}

static MatrixPlaces placesOf(const layout::RegisterLayout &layout) {
  MatrixPlaces places{};
  for (int lane = 0; lane < kLanes; ++lane)
    for (int half = 0; half < 2; ++half)
      places[size_t(lane)][size_t(half)] = {
          uint8_t(indexOf(layout.lane, 'm', lane) +
                  indexOf(layout.pack, 'm', half)),
          uint8_t(indexOf(layout.lane, 'k', lane) +
                  indexOf(layout.pack, 'k', half))};
  return places;
}

const MatrixPlaces &kvc::sim::matrixPlaces(bool transposed) {
  static const MatrixPlaces plain = placesOf(matrixLayout());
  static const MatrixPlaces turned =
      placesOf(layout::movmatrix(matrixLayout()));
  return transposed ? turned : plain;
}

void kvc::sim::moveMatrix(uint32_t *d, const uint32_t *a) {
  const MatrixPlaces &plain = matrixPlaces(false), &turned = matrixPlaces(true);
  uint16_t matrix[8][8];
  for (int lane = 0; lane < kLanes; ++lane)
    for (int half = 0; half < 2; ++half) {
      MatrixPlace place = plain[size_t(lane)][size_t(half)];
      matrix[place.row][place.column] = uint16_t(a[lane] >> (16 * half));
    }
  for (int lane = 0; lane < kLanes; ++lane) {
    MatrixPlace low = turned[size_t(lane)][0], high = turned[size_t(lane)][1];
    d[lane] = uint32_t(matrix[low.row][low.column]) |
              uint32_t(matrix[high.row][high.column]) << 16;
  }
}
