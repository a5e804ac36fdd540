//===- Rows.h - The caller's inputs and outputs -----------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_RUN_ROWS_H
#define KVC_RUN_ROWS_H

#include "kvc/Run/Module.h"
#include "kvc/runtime.h"

namespace kvc {

/// A tensor [tokens, heads, channels] with its strides filled in.
struct Rows {
  const char *name = "";
  char *data = nullptr;
  spec::DType dtype = spec::DType::F32;
  int64_t heads = 0, channels = 0;
  int64_t tokenStride = 0, headStride = 0; ///< Elements.

  char *token(int64_t index) const {
    return data + index * tokenStride * bytesOf(dtype);
  }
};

/// Checks an input or output of `tokens` tokens; `rows` holds what is known of
/// it (name, dtype, heads, channels) and gets the rest.
kvc_status resolveRows(const void *data, int64_t tokenStride,
                       int64_t headStride, int64_t tokens, kvc_diag *diag,
                       Rows &rows);

/// KVC_INVALID_DATA at the first NaN or infinity of tokens [begin, end).
kvc_status checkRows(const Rows &rows, int64_t begin, int64_t end,
                     kvc_diag *diag);

/// The same for one f32 per head, of which -inf may be allowed.
kvc_status checkPerHead(const char *name, const float *data, int64_t heads,
                        bool allowsMinusInfinity, kvc_diag *diag);

} // namespace kvc

#endif // KVC_RUN_ROWS_H
