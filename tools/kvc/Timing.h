//===- Timing.h - Measured times and what is said of them -------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_TIMING_H
#define KVC_TOOLS_TIMING_H

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <ctime>
#include <functional>
#include <span>
#include <vector>

namespace kvc {

/// Milliseconds to a thousandth, for documents: no clock tells more.
inline double rounded(double milliseconds) {
  return std::round(milliseconds * 1e3) / 1e3;
}

/// Time since it was made.
class Stopwatch {
public:
  double microseconds() const {
    return std::chrono::duration<double, std::micro>(Clock::now() - start)
        .count();
  }
  double seconds() const { return microseconds() * 1e-6; }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
};

/// Time that this thread has worked since it was made, on a busy machine less
/// than has passed.
class ThreadStopwatch {
public:
  double milliseconds() const { return now() - start; }

private:
  static double now() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 +
           static_cast<double>(time.tv_nsec) * 1e-6;
  }
  double start = now();
};

/// The middle half of some measurements. None of its members means anything
/// where nothing was measured.
struct Quartiles {
  double low = 0, median = 0, high = 0;
};

inline Quartiles quartilesOf(std::vector<double> values) {
  if (values.empty())
    return {};
  std::sort(values.begin(), values.end());
  auto at = [&](double fraction) {
    double place = fraction * static_cast<double>(values.size() - 1);
    auto below = static_cast<size_t>(place);
    size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (place - static_cast<double>(below)) *
                               (values[above] - values[below]);
  };
  return {at(0.25), at(0.5), at(0.75)};
}

/// How often and how long to measure.
struct Repetitions {
  size_t least = 11;  ///< However long each takes.
  size_t most = 201;  ///< However short.
  double seconds = 1; ///< None begins after that, but for `least`.
};

/// What each part said, in rounds that run all of them in turn, so that what
/// else the machine does meets all alike. A round before them is not kept: it
/// fetches code and tables. All results are of one length.
inline std::vector<std::vector<double>>
timesInTurn(std::span<const std::function<double()>> parts,
            const Repetitions &repetitions) {
  for (const auto &part : parts)
    part();
  std::vector<std::vector<double>> times(parts.size());
  const Stopwatch watch;
  for (size_t i = 0; i < repetitions.most; ++i) {
    if (i >= repetitions.least && watch.seconds() > repetitions.seconds)
      break;
    for (size_t part = 0; part < parts.size(); ++part)
      times[part].push_back(parts[part]());
  }
  return times;
}

} // namespace kvc

#endif // KVC_TOOLS_TIMING_H
