//===- Fragment.h - Elements of matrices in a warp's registers --*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Tables made from the layout algebra (kvc/Layout/Fragments.h), which says what
// the instructions want once for the whole project.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_NUMERICS_FRAGMENT_H
#define KVC_SIM_NUMERICS_FRAGMENT_H

#include "kvc/Layout/Layout.h"
#include "kvc/Sim/Numerics/Row.h"

#include <array>
#include <cstdint>
#include <vector>

namespace kvc::sim {

/// A dim of a matrix and the distance between its neighbours in an array.
struct DimStride {
  layout::Dim dim;
  int stride;
};

/// The array places of a fragment's elements: registers of a warp, their lanes,
/// the elements of a word from the lowest bits on.
class FragmentMap {
public:
  FragmentMap() = default;
  FragmentMap(const layout::RegisterLayout &layout, int bits, DimStride first,
              DimStride second);

  int registers() const { return numRegisters; }
  int elementBits() const { return bits; }
  int elementsPerWord() const { return perWord; }
  int placeOf(int reg, int lane, int element) const {
    return places[size_t((reg * kLanes + lane) * perWord + element)];
  }

  /// Spreads rows of registers over an array, one element a word.
  void gather(const uint32_t *const *rows, uint32_t *array) const;
  /// Packs an array's elements, of 16 or 32 bits, into rows.
  void scatter(const uint32_t *array, uint32_t *const *rows) const;

private:
  int numRegisters = 0, bits = 0, perWord = 0;
  std::vector<uint16_t> places;
};

/// An element of an 8x8 matrix of 16-bit elements.
struct MatrixPlace {
  uint8_t row, column;
};
/// What a lane's register holds of such a matrix: [lane][half].
using MatrixPlaces = std::array<std::array<MatrixPlace, 2>, kLanes>;

/// What ldmatrix puts into registers and stmatrix takes from them, by itself or
/// with .trans; row r of matrix i lies at the address that lane 8 * i + r
/// gives.
const MatrixPlaces &matrixPlaces(bool transposed);

/// movmatrix: the register of an 8x8 matrix, transposed. d may be a.
void moveMatrix(uint32_t *d, const uint32_t *a);

} // namespace kvc::sim

#endif // KVC_SIM_NUMERICS_FRAGMENT_H
