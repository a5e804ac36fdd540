//===- Bytes.h - What a scheme costs ----------------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SPEC_BYTES_H
#define KVC_SPEC_BYTES_H

#include "kvc/Spec/Spec.h"

namespace kvc::spec {

/// Codes, scales, zeros and outliers of one token and kv head, without the
/// padding of pages; a scale of several tokens counts to each in part.
double bytesPerToken(const Scheme &scheme);

} // namespace kvc::spec

#endif // KVC_SPEC_BYTES_H
