//===- Plot.cpp - Points on two axes, as SVG ------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Plot.h"

#include "kvc/Table.h"

#include <algorithm>
#include <cmath>
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

/// The steps of the axis of y: 1, 2 and 5 times a power of ten, by number.
double valueOfStep(int step) {
  constexpr double kMantissas[] = {1, 2, 5};
  const int decade = static_cast<int>(std::floor(step / 3.0));
  return kMantissas[step - 3 * decade] * std::pow(10.0, decade);
}

std::string nameOfStep(int step) {
  const int decade = static_cast<int>(std::floor(step / 3.0));
  if (decade > -5 && decade < 5)
    return fixed(valueOfStep(step), std::max(0, -decade));
  return fixed(valueOfStep(step - 3 * decade), 0) + "e" +
         std::to_string(decade);
}

/// The last step at or below `y` > 0.
int stepBelow(double y) {
  int step = 3 * static_cast<int>(std::floor(std::log10(y))) - 1;
  while (valueOfStep(step + 1) <= y)
    ++step;
  return step;
}

/// Where values lie in the picture.
struct Axes {
  double xMin = 0, xMax = 1;
  int lowStep = -3, highStep = 0;

  explicit Axes(const std::vector<PlotPoint> &points) {
    if (points.empty())
      return;
    constexpr double kNone = std::numeric_limits<double>::infinity();
    double low = kNone, high = 0;
    xMin = kNone;
    for (const PlotPoint &point : points) {
      xMin = std::min(xMin, std::floor(point.x));
      xMax = std::max(xMax, std::ceil(point.x));
      if (point.y > 0) {
        low = std::min(low, point.y);
        high = std::max(high, point.y);
      }
    }
    xMax = std::max(xMax, xMin + 1);
    if (high == 0)
      return;
    lowStep = stepBelow(low);
    highStep = stepBelow(high) + 1;
  }
  double atX(double x) const {
    return kLeft + (x - xMin) / (xMax - xMin) * (kWidth - kLeft - kRight);
  }
  double atY(double y) const {
    const double low = std::log10(valueOfStep(lowStep)),
                 high = std::log10(valueOfStep(highStep));
    const double at = y > 0 ? std::log10(y) : low;
    return kHeight - kBottom -
           (at - low) / (high - low) * (kHeight - kTop - kBottom);
  }
};

/// Finds places for names where they cover no other name and no point.
class Labels {
public:
  struct Place {
    double x, y; ///< Of the text's baseline.
    bool toTheLeft;
  };

  void block(double x, double y) {
    taken.push_back({x - 4, y - 4, x + 4, y + 4});
  }

  Place place(double x, double y, size_t characters) {
    const double width = 7.2 * static_cast<double>(characters);
    Place first{x + 7, y + 4, false};
    for (double dy : {4.0, -7.0, 15.0, -18.0, 26.0, -29.0, 37.0})
      for (bool left : {false, true}) {
        const Place candidate{x + (left ? -7 : 7), y + dy, left};
        const Box box{left ? candidate.x - width : candidate.x, candidate.y - 9,
                      left ? candidate.x : candidate.x + width,
                      candidate.y + 2};
        if (std::ranges::any_of(
                taken, [&](const Box &other) { return meet(box, other); }))
          continue;
        taken.push_back(box);
        return candidate;
      }
    return first;
  }

private:
  struct Box {
    double left, top, right, bottom;
  };
  static bool meet(const Box &a, const Box &b) {
    return a.left < b.right && b.left < a.right && a.top < b.bottom &&
           b.top < a.bottom;
  }
  std::vector<Box> taken;
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
  for (int step = axes.lowStep; step <= axes.highStep; ++step) {
    const double y = axes.atY(valueOfStep(step));
    out += line(kLeft, y, kWidth - kRight, y, kLine);
    out += text(kLeft - 8, y + 4, "text-anchor=\"end\"", nameOfStep(step));
  }
  const double range = axes.xMax - axes.xMin;
  const double spacing = range > 20 ? 4 : range > 10 ? 2 : 1;
  const int lines = static_cast<int>(range / spacing) + 1;
  for (int number = 0; number < lines; ++number) {
    const double x = axes.xMin + number * spacing;
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
  // Names on the curve choose their places first.
  std::vector<size_t> order = best;
  for (size_t i = 0; i < plot.points.size(); ++i)
    if (std::ranges::find(best, i) == best.end())
      order.push_back(i);
  Labels labels;
  for (const PlotPoint &point : plot.points)
    labels.block(axes.atX(point.x), axes.atY(point.y));
  for (size_t i = 0; i < order.size(); ++i) {
    const PlotPoint &point = plot.points[order[i]];
    const bool isBest = i < best.size();
    const double x = axes.atX(point.x), y = axes.atY(point.y);
    out += "<circle cx=\"" + fixed(x, 1) + "\" cy=\"" + fixed(y, 1) +
           "\" r=\"4\" fill=\"" + (isBest ? "#c33" : "#468") + "\"/>\n";
    const Labels::Place place = labels.place(x, y, point.name.size());
    const std::string style =
        std::string(isBest ? "font-weight=\"bold\"" : "") +
        (place.toTheLeft ? " text-anchor=\"end\"" : "");
    out += text(place.x, place.y, style.c_str(), point.name);
  }
  return out + "</svg>\n";
}
