//===- Capacity.h - The blocks that a sequence needs ------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The most blocks that a sequence holds at once while it grows, from the rules
// of its group (Groups.h) alone. Whatever depends on the length repeats with
// the page, for scale blocks divide pages: of equal positions in a page the
// later one never needs less. So the lengths of the last page say it all.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_MANAGE_CAPACITY_H
#define KVC_MANAGE_CAPACITY_H

#include "kvc/Manage/Groups.h"

#include <vector>

namespace kvc::manage {

/// The caller's list of groups, whose structs may be of another version.
kvc_status readGroups(const kvc_manager_options &options, kvc_diag *diag,
                      std::vector<kvc_layer_group> &groups);
/// "NAME: expected 0 to .., got .." of a count that no manager can have.
kvc_status checkCount(const char *name, int64_t count, kvc_diag *diag);
/// The options that say how sequences grow: flags and max_queries.
kvc_status checkGrowth(const kvc_manager_options &options, kvc_diag *diag);
/// What is wrong with a group whatever its blocks are.
kvc_status checkGroup(const kvc_layer_group &group, int64_t number,
                      kvc_diag *diag);

/// A sequence in a group that grows to `tokens` tokens, by appends of at most
/// group.queries rows.
int64_t mostBodyBlocks(const Group &group, int64_t tokens);
int64_t mostRawBlocks(const Group &group, int64_t tokens);

} // namespace kvc::manage

#endif // KVC_MANAGE_CAPACITY_H
