//===- Rows.h - A caller's input or output of a run -------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_E2E_ROWS_H
#define KVC_TEST_E2E_ROWS_H

#include "Guard.h"
#include "kvc/Spec/Spec.h"
#include "kvc/runtime.h"

#include <span>
#include <vector>

namespace kvc::test {

/// How the caller's q, k, v, out and lse lie in memory.
enum class RowOrder : uint8_t {
  Dense,    ///< [token][head][channel], strides left out.
  Padded,   ///< The same with gaps behind rows and tokens.
  HeadMajor ///< [head][token][channel].
};

/// [tokens][heads][channels] of f32, f16 or bf16 in guarded memory.
class Rows {
public:
  Rows(int64_t tokens, int64_t heads, int64_t channels, spec::DType type,
       RowOrder order);

  /// Sets token `token` from [heads][channels], converted to the type.
  void setToken(int64_t token, std::span<const float> values);
  /// All elements, [tokens][heads][channels].
  std::vector<double> values() const;
  /// Is every byte that is in no row as it was made?
  bool gapsAreUntouched() const;

  kvc_rows in() const { return {buffer.data(), givenToken, givenHead}; }
  kvc_out_rows out() const { return {buffer.data(), givenToken, givenHead}; }
  std::span<const uint8_t> bytes() const { return buffer.bytes(); }

private:
  int64_t at(int64_t token, int64_t head) const {
    return (token * tokenStride + head * headStride) * width;
  }

  int64_t tokens, heads, channels;
  spec::DType type;
  int64_t width; ///< Bytes of an element.
  int64_t tokenStride, headStride;
  int64_t givenToken, givenHead; ///< As said to the API: 0 where dense.
  GuardedBuffer buffer;
};

} // namespace kvc::test

#endif // KVC_TEST_E2E_ROWS_H
