//===- StoredCodes.h - Codes as they are stored and as they meet -*- C++ -*-==//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_ANALYSIS_STOREDCODES_H
#define KVC_ANALYSIS_STOREDCODES_H

#include "kvc/Spec/Spec.h"

namespace kvc {

/// The middle of the codes of an integer codec that are not negative.
inline int64_t middleOfCodes(const spec::Codec &codec) {
  return int64_t(1) << (codec.bits - 1);
}

/// What codes are stored above those that products see, which are centred.
/// Symmetric ones of 8 bits are stored signed; patterns of floats and indices
/// of tables are not centred.
inline int64_t storedCentre(const spec::PartScheme &part) {
  const bool isSigned = part.codec.bits == 8 && part.zero == spec::Zero::None;
  return part.codec.isInt() && !isSigned ? middleOfCodes(part.codec) : 0;
}

/// Channels of a tensor that a dot over a slice of them takes at once: blocks
/// have products of their own if they are multiples of it.
inline int64_t channelsOfLanes(int64_t channels) {
  return channels % 16 == 0 ? 16 : 8;
}

} // namespace kvc

#endif // KVC_ANALYSIS_STOREDCODES_H
