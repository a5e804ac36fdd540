//===- Curves.cpp - Lines on two logarithmic axes, as SVG -----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Curves.h"

#include "kvc/Table.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace kvc::curves {
namespace {

constexpr double kWidth = 900, kHeight = 560;
constexpr double kLeft = 70, kRight = 130, kTop = 48, kBottom = 56;
constexpr double kLineHeight = 14;
constexpr std::array kColours = {"#c33", "#36c", "#393", "#a3a",
                                 "#b70", "#088", "#666"};

/// Whole powers of 2 or 10 around all values.
struct Range {
  int low = 0, high = 1;

  Range(double least, double most) {
    if (least > most)
      return;
    low = static_cast<int>(std::floor(least));
    high = std::max(static_cast<int>(std::ceil(most)), low + 1);
  }
  double share(double at) const { return (at - low) / (high - low); }
};

std::string escaped(const std::string &text) {
  std::string out;
  for (char c : text)
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else
      out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  return out;
}

std::string text(double x, double y, const char *style,
                 const std::string &content) {
  return "<text x=\"" + fixed(x, 1) + "\" y=\"" + fixed(y, 1) + "\" " + style +
         ">" + escaped(content) + "</text>\n";
}

std::string line(double x1, double y1, double x2, double y2) {
  return "<line x1=\"" + fixed(x1, 1) + "\" y1=\"" + fixed(y1, 1) + "\" x2=\"" +
         fixed(x2, 1) + "\" y2=\"" + fixed(y2, 1) + "\" stroke=\"#ddd\"/>\n";
}

/// 1024 is 1k.
std::string nameOfPower(int power) {
  constexpr std::array kUnits = {"", "k", "M", "G"};
  const int unit = std::clamp(power / 10, 0, 3);
  return fixed(std::exp2(power - 10 * unit), 0) + kUnits[size_t(unit)];
}

struct Axes {
  Range x, y;

  double atX(double value) const {
    return kLeft + x.share(std::log2(value)) * (kWidth - kLeft - kRight);
  }
  double atY(double value) const {
    return kHeight - kBottom -
           y.share(std::log10(value)) * (kHeight - kTop - kBottom);
  }
};

Axes axesOf(const CurvePlot &plot) {
  double xLow = INFINITY, xHigh = -INFINITY, yLow = INFINITY, yHigh = -INFINITY;
  for (const Curve &curve : plot.curves)
    for (auto [x, y] : curve.points) {
      xLow = std::min(xLow, std::log2(x));
      xHigh = std::max(xHigh, std::log2(x));
      if (y > 0) {
        yLow = std::min(yLow, std::log10(y));
        yHigh = std::max(yHigh, std::log10(y));
      }
    }
  return {Range(xLow, xHigh), Range(yLow, yHigh)};
}

std::string grid(const Axes &axes) {
  std::string out;
  for (int power = axes.y.low; power <= axes.y.high; ++power) {
    const double y = axes.atY(std::pow(10.0, power));
    out += line(kLeft, y, kWidth - kRight, y);
    out += text(kLeft - 8, y + 4, "text-anchor=\"end\"",
                fixed(std::pow(10.0, power), 0));
  }
  for (int power = axes.x.low; power <= axes.x.high; ++power) {
    const double x = axes.atX(std::exp2(power));
    out += line(x, kTop, x, kHeight - kBottom);
    out += text(x, kHeight - kBottom + 18, "text-anchor=\"middle\"",
                nameOfPower(power));
  }
  return out;
}

} // namespace

static std::string draw(const CurvePlot &plot) {
  const Axes axes = axesOf(plot);
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
  struct Name {
    double x, y;
    size_t curve;
  };
  std::vector<Name> names;
  for (size_t i = 0; i < plot.curves.size(); ++i) {
    std::string points;
    Name name{0, 0, i};
    for (auto [x, y] : plot.curves[i].points)
      if (y > 0) {
        name.x = axes.atX(x);
        name.y = axes.atY(y);
        points += fixed(name.x, 1) + "," + fixed(name.y, 1) + " ";
      }
    if (points.empty())
      continue;
    names.push_back(name);
    out += std::string("<polyline fill=\"none\" stroke=\"") +
           kColours[i % kColours.size()] + "\" stroke-width=\"1.5\" points=\"" +
           points + "\"/>\n";
  }
  // From the top down, a line of text apart.
  std::ranges::sort(names, {}, &Name::y);
  double free = 0;
  for (const Name &name : names) {
    const double y = std::max(name.y + 4, free);
    free = y + kLineHeight;
    const std::string style = std::string("style=\"fill:") +
                              kColours[name.curve % kColours.size()] + "\"";
    out += text(name.x + 7, y, style.c_str(), plot.curves[name.curve].name);
  }
  return out + "</svg>\n";
}

} // namespace kvc::curves

std::string kvc::asSvg(const CurvePlot &plot) { return curves::draw(plot); }
