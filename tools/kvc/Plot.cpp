//===- Plot.cpp - Points on two axes, as SVG ------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Plot.h"

#include "kvc/Table.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <tuple>

using namespace kvc;

namespace {

constexpr double kWidth = 900, kHeight = 560;
constexpr double kLeft = 70, kRight = 110, kTop = 48, kBottom = 56;

std::string escaped(const std::string &text) {
  std::string out;
  for (char c : text)
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '"':
      out += "&quot;";
      break;
    default:
      // XML has no other control characters.
      out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  return out;
}

/// Where values lie in the picture.
struct Axes {
  double xMax = 1;
  int lowDecade = 0, highDecade = 1;

  explicit Axes(const std::vector<PlotPoint> &points) {
    double low = std::numeric_limits<double>::infinity(), high = 0;
    for (const PlotPoint &point : points) {
      xMax = std::max(xMax, std::ceil(point.x));
      if (point.y > 0) {
        low = std::min(low, point.y);
        high = std::max(high, point.y);
      }
    }
    if (high == 0)
      return;
    lowDecade = static_cast<int>(std::floor(std::log10(low)));
    highDecade =
        std::max(lowDecade + 1, static_cast<int>(std::ceil(std::log10(high))));
  }
  double atX(double x) const {
    return kLeft + x / xMax * (kWidth - kLeft - kRight);
  }
  double atDecade(double decade) const {
    return kHeight - kBottom -
           (decade - lowDecade) / (highDecade - lowDecade) *
               (kHeight - kTop - kBottom);
  }
  double atY(double y) const {
    return atDecade(y > 0 ? std::log10(y) : lowDecade);
  }
};

std::string line(double x1, double y1, double x2, double y2,
                 const char *style) {
  return "<line x1=\"" + fixed(x1, 1) + "\" y1=\"" + fixed(y1, 1) + "\" x2=\"" +
         fixed(x2, 1) + "\" y2=\"" + fixed(y2, 1) + "\" " + style + "/>\n";
}

std::string text(double x, double y, const char *style,
                 const std::string &content) {
  return "<text x=\"" + fixed(x, 1) + "\" y=\"" + fixed(y, 1) + "\" " + style +
         ">" + escaped(content) + "</text>\n";
}

std::string grid(const Axes &axes) {
  std::string out;
  constexpr const char *kLine = "stroke=\"#ddd\"";
  for (int decade = axes.lowDecade; decade <= axes.highDecade; ++decade) {
    const double y = axes.atDecade(decade);
    out += line(kLeft, y, kWidth - kRight, y, kLine);
    out += text(kLeft - 8, y + 4, "text-anchor=\"end\"",
                decade > -4 && decade < 4
                    ? fixed(std::pow(10.0, decade), std::max(0, -decade))
                    : "1e" + std::to_string(decade));
  }
  const double step = axes.xMax > 20 ? 4 : axes.xMax > 10 ? 2 : 1;
  for (double x = 0; x <= axes.xMax; x += step) {
    out += line(axes.atX(x), kTop, axes.atX(x), kHeight - kBottom, kLine);
    out += text(axes.atX(x), kHeight - kBottom + 18, "text-anchor=\"middle\"",
                fixed(x, 0));
  }
  return out;
}

} // namespace

std::vector<size_t> kvc::bestCurve(const std::vector<PlotPoint> &points) {
  std::vector<size_t> order(points.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::ranges::sort(order, {}, [&](size_t index) {
    return std::tuple(points[index].x, points[index].y, index);
  });
  std::vector<size_t> best;
  for (size_t index : order)
    if (best.empty() || points[index].y < points[best.back()].y)
      best.push_back(index);
  return best;
}

std::string kvc::asSvg(const Plot &plot) {
  const Axes axes(plot.points);
  std::string out =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " +
      fixed(kWidth, 0) + " " + fixed(kHeight, 0) +
      "\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
  out += text(kLeft, kTop - 20, "font-size=\"15\"", plot.title);
  out += grid(axes);
  out += text((kLeft + kWidth - kRight) / 2, kHeight - 14,
              "text-anchor=\"middle\"", plot.xTitle);
  out += "<g transform=\"translate(18 " + fixed(kHeight / 2, 1) +
         ") rotate(-90)\">" +
         text(0, 0, "text-anchor=\"middle\"", plot.yTitle) + "</g>\n";

  const std::vector<size_t> best = bestCurve(plot.points);
  out += "<polyline class=\"best\" fill=\"none\" stroke=\"#c33\" "
         "stroke-width=\"1.5\" points=\"";
  for (size_t index : best)
    out += fixed(axes.atX(plot.points[index].x), 1) + "," +
           fixed(axes.atY(plot.points[index].y), 1) + " ";
  out += "\"/>\n";
  for (size_t i = 0; i < plot.points.size(); ++i) {
    const PlotPoint &point = plot.points[i];
    const bool isBest = std::ranges::find(best, i) != best.end();
    const double x = axes.atX(point.x), y = axes.atY(point.y);
    out += "<circle cx=\"" + fixed(x, 1) + "\" cy=\"" + fixed(y, 1) +
           "\" r=\"4\" fill=\"" + (isBest ? "#c33" : "#468") + "\"/>\n";
    out += text(x + 7, y + 4, isBest ? "font-weight=\"bold\"" : "", point.name);
  }
  return out + "</svg>\n";
}
