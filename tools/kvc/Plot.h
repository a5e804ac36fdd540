//===- Plot.h - Points on two axes, as SVG ----------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_PLOT_H
#define KVC_TOOLS_PLOT_H

#include <string>
#include <vector>

namespace kvc {

struct PlotPoint {
  std::string name;
  double x = 0; ///< >= 0, finite.
  double y = 0; ///< Finite; what is not above 0 lies on the lower edge.
};

struct Plot {
  std::string title, xTitle, yTitle;
  std::vector<PlotPoint> points;
};

/// The points that no other one beats: less y than every one of no more x, in
/// the order of x.
std::vector<size_t> bestCurve(const std::vector<PlotPoint> &points);

/// x in equal steps, y as its logarithm; every point with its name, the best
/// curve as a line.
std::string asSvg(const Plot &plot);

} // namespace kvc

#endif // KVC_TOOLS_PLOT_H
