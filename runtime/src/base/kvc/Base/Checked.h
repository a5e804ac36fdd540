//===- Checked.h - 64-bit sums that cannot wrap -----------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_BASE_CHECKED_H
#define KVC_BASE_CHECKED_H

#include <cstdint>
#include <limits>

namespace kvc {

/// Tokens of one sequence, rows of a batch, pages of a cache: whatever an int32
/// of a table or of kernel_abi.h has to hold.
inline constexpr int64_t kMaxInt32 = std::numeric_limits<int32_t>::max();

/// A number that remembers whether a sum or product on the way to it wrapped.
class Checked {
public:
  constexpr Checked(int64_t value) : value(value) {}

  friend constexpr Checked operator+(Checked a, Checked b) {
    Checked sum(0);
    sum.wrapped = __builtin_add_overflow(a.value, b.value, &sum.value) ||
                  a.wrapped || b.wrapped;
    return sum;
  }
  friend constexpr Checked operator*(Checked a, Checked b) {
    Checked product(0);
    product.wrapped =
        __builtin_mul_overflow(a.value, b.value, &product.value) || a.wrapped ||
        b.wrapped;
    return product;
  }

  constexpr bool isValid() const { return !wrapped; }
  /// The exact number; meaningless unless isValid().
  constexpr int64_t get() const { return value; }
  /// The exact number or, where it wrapped, the largest one.
  constexpr int64_t saturated() const {
    return wrapped ? std::numeric_limits<int64_t>::max() : value;
  }

private:
  int64_t value;
  bool wrapped = false;
};

constexpr int64_t divideCeil(int64_t value, int64_t by) {
  return value / by + (value % by != 0);
}
constexpr int64_t roundDown(int64_t value, int64_t to) {
  return value / to * to;
}

} // namespace kvc

#endif // KVC_BASE_CHECKED_H
