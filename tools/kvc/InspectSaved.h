//===- InspectSaved.h - What a saved sequence holds -------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_INSPECTSAVED_H
#define KVC_TOOLS_INSPECTSAVED_H

#include "kvc/Failure.h"
#include "kvc/saved.h"

#include <memory>
#include <string>
#include <vector>

namespace kvc {

struct SavedDeleter {
  void operator()(kvc_saved *saved) const { kvc_saved_free(saved); }
};
using SavedHandle = std::unique_ptr<kvc_saved, SavedDeleter>;

/// Whether a file begins as saved sequences do.
bool looksLikeSaved(const std::string &path);
/// Opens and verifies a file.
SavedHandle openSaved(const std::string &path);
kvc_saved_info infoOf(const kvc_saved *saved);
std::vector<kvc_saved_group> groupsOf(const kvc_saved *saved);

/// What the file is: version, model, tokens, layer groups.
std::string inspectSaved(const kvc_saved *saved, bool json);
/// What its bytes are spent on.
std::string savedStats(const kvc_saved *saved, bool json);

} // namespace kvc

#endif // KVC_TOOLS_INSPECTSAVED_H
