//===- Identity.h - What the rows of a file depend on -----------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SAVED_IDENTITY_H
#define KVC_SAVED_IDENTITY_H

#include "kvc/Base/Struct.h"
#include "kvc/Saved/File.h"

#include <string>

namespace kvc::saved {

/// A kvc_saved_identity of a caller's, read.
struct Identity {
  std::string model;
  std::vector<std::vector<uint8_t>> hashes; ///< By group: [layers][32].

  kvc_status read(const kvc_saved_identity *given,
                  const std::vector<Group> &groups, kvc_diag *diag);
};

} // namespace kvc::saved

#endif // KVC_SAVED_IDENTITY_H
