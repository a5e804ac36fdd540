//===- StreamRead.cpp - How fast this machine reads memory ----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/StreamRead.h"

#include "kvc/Timing.h"

#include <atomic>
#include <cstdint>
#include <cstring>

using namespace kvc;

namespace {

/// Four cache lines of one stream, summed into four accumulators so that no add
/// waits for the last one.
constexpr size_t kStep = 256;
using Vector = uint64_t __attribute__((vector_size(64)));

/// The sum of the bytes' words. Inlined into one function per instruction set,
/// which decides how wide its vectors are.
template <int Streams>
[[gnu::always_inline]] inline uint64_t sumStreams(const std::byte *bytes,
                                                  size_t size) {
  const size_t part = size / Streams / kStep * kStep;
  Vector sums[4] = {};
  for (size_t at = 0; at < part; at += kStep)
    for (int stream = 0; stream < Streams; ++stream)
      for (int line = 0; line < 4; ++line) {
        Vector value;
        std::memcpy(&value, bytes + stream * part + at + line * sizeof(Vector),
                    sizeof(Vector));
        sums[line] += value;
      }
  uint64_t total = 0;
  for (const Vector &sum : sums)
    for (int lane = 0; lane < 8; ++lane)
      total += sum[lane];
  for (size_t at = part * Streams; at < size; ++at)
    total += static_cast<uint8_t>(bytes[at]);
  return total;
}

[[gnu::always_inline]] inline uint64_t sumOf(const std::byte *bytes,
                                             size_t size, int streams) {
  switch (streams) {
  case 1:
    return sumStreams<1>(bytes, size);
  case 2:
    return sumStreams<2>(bytes, size);
  default:
    return sumStreams<4>(bytes, size);
  }
}

using SumFunction = uint64_t (*)(const std::byte *, size_t, int);

uint64_t sumBaseline(const std::byte *bytes, size_t size, int streams) {
  return sumOf(bytes, size, streams);
}

#ifdef __x86_64__
__attribute__((target("avx2"))) uint64_t sumAVX2(const std::byte *bytes,
                                                 size_t size, int streams) {
  return sumOf(bytes, size, streams);
}
__attribute__((target("avx512f"))) uint64_t sumAVX512(const std::byte *bytes,
                                                      size_t size,
                                                      int streams) {
  return sumOf(bytes, size, streams);
}
#endif

SumFunction widestSum() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f"))
    return sumAVX512;
  if (__builtin_cpu_supports("avx2"))
    return sumAVX2;
#endif
  return sumBaseline;
}

struct Task {
  std::span<const std::byte> bytes;
  int streams;
  int64_t parts;
  SumFunction sum;
};

/// Keeps the reads from being optimised away.
std::atomic<uint64_t> sink;

void readPart(void *context, int64_t index) {
  const Task &task = *static_cast<const Task *>(context);
  const size_t part = task.bytes.size() / task.parts;
  const size_t begin = index * part;
  const size_t end = index + 1 == task.parts ? task.bytes.size() : begin + part;
  sink.fetch_add(task.sum(task.bytes.data() + begin, end - begin, task.streams),
                 std::memory_order_relaxed);
}

} // namespace

double kvc::readStreams(std::span<const std::byte> bytes, int streams,
                        int64_t numThreads, const kvc_parallel_for *threads) {
  static const SumFunction sum = widestSum();
  Task task{bytes, streams, threads ? numThreads : 1, sum};
  const Stopwatch watch;
  if (threads)
    threads->run(threads->user, task.parts, readPart, &task);
  else
    readPart(&task, 0);
  return watch.microseconds();
}
