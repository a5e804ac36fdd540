//===- Curves.h - Lines on two logarithmic axes, as SVG ---------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_CURVES_H
#define KVC_TOOLS_CURVES_H

#include <string>
#include <utility>
#include <vector>

namespace kvc {

struct Curve {
  std::string name;
  /// In the order of x; points whose y is not above 0 are left out.
  std::vector<std::pair<double, double>> points;
};

struct CurvePlot {
  std::string title, xTitle, yTitle;
  std::vector<Curve> curves;
};

/// x as powers of two, y as powers of ten; every curve with its name at its
/// end.
std::string asSvg(const CurvePlot &plot);

} // namespace kvc

#endif // KVC_TOOLS_CURVES_H
