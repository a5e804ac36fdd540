//===- StreamRead.h - How fast this machine reads memory --------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The yardstick of kvc bench: a loop that does nothing but read bytes in order,
// as one, two or four streams that lie apart and are read in turn.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_STREAMREAD_H
#define KVC_TOOLS_STREAMREAD_H

#include "kvc/threads.h"

#include <cstddef>
#include <span>

namespace kvc {

inline constexpr int kStreamCounts[] = {1, 2, 4};

/// Reads all of `bytes` with the widest vectors of this machine, each of
/// `numThreads` calls of `threads` (null: the calling thread alone) its own
/// part of them. Returns microseconds.
double readStreams(std::span<const std::byte> bytes, int streams,
                   int64_t numThreads, const kvc_parallel_for *threads);

} // namespace kvc

#endif // KVC_TOOLS_STREAMREAD_H
