//===- plot_test.cpp - Points as SVG --------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Plot.h"

#include <gtest/gtest.h>
#include <set>

using namespace kvc;

namespace {

TEST(BestCurve, IsWhatNoOtherPointBeats) {
  const std::vector<PlotPoint> points = {
      {"beaten", 5, 0.5}, {"first", 2, 0.9},   {"equal x", 4, 0.3},
      {"second", 4, 0.2}, {"equal y", 6, 0.2}, {"last", 8, 0.01},
      {"twin", 8, 0.01}};
  EXPECT_EQ(bestCurve(points), (std::vector<size_t>{1, 3, 5}));
  EXPECT_TRUE(bestCurve({}).empty());
}

/// Number of non-overlapping occurrences.
size_t countOf(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + part.size()))
    ++count;
  return count;
}

TEST(Svg, HasEveryPointItsNameAndTheCurve) {
  const Plot plot{
      "a <title>",
      "bits & more",
      "error",
      {{"one", 2.5, 0.5}, {"two \"x\"", 8, 0.002}, {"bad", 9, 1.5}}};
  const std::string svg = asSvg(plot);
  EXPECT_EQ(svg.find("<svg xmlns=\"http://www.w3.org/2000/svg\""), 0u);
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_EQ(countOf(svg, "<circle "), 3u);
  EXPECT_EQ(countOf(svg, "font-weight=\"bold\""), 2u);
  EXPECT_NE(svg.find(">a &lt;title></text>"), std::string::npos);
  EXPECT_NE(svg.find(">bits &amp; more</text>"), std::string::npos);
  EXPECT_NE(svg.find(">two &quot;x&quot;</text>"), std::string::npos);
  // Two points; steps from 0.002 to 2.
  const size_t curve = svg.find("<polyline class=\"best\"");
  ASSERT_NE(curve, std::string::npos);
  EXPECT_EQ(countOf(svg.substr(curve, svg.find("/>", curve) - curve), ","), 2u);
  for (const char *label : {">0.002<", ">0.005<", ">0.1<", ">1<", ">2<", ">9<"})
    EXPECT_NE(svg.find(label), std::string::npos) << label;
}

TEST(Svg, NamesDoNotCoverEachOther) {
  // The same place six times: every name gets a line of its own or a side.
  Plot plot{"t", "x", "y", {}};
  for (const char *name : {"aaaa", "bbbb", "cccc", "dddd", "eeee", "ffff"})
    plot.points.push_back({name, 4, 0.1});
  plot.points.push_back({"far", 8, 1});
  const std::string svg = asSvg(plot);
  std::set<std::string> places;
  for (const PlotPoint &point : plot.points) {
    const size_t end = svg.find(">" + point.name + "</text>");
    ASSERT_NE(end, std::string::npos) << point.name;
    const size_t begin = svg.rfind("<text ", end);
    const std::string tag = svg.substr(begin, end - begin);
    const bool left = tag.find("text-anchor") != std::string::npos;
    places.insert(tag.substr(0, tag.find('"', tag.find("y=\"") + 3)) +
                  (left ? "left" : "right"));
  }
  EXPECT_EQ(places.size(), plot.points.size());
}

TEST(Svg, TakesWhatHasNoLogarithm) {
  const std::string svg =
      asSvg(Plot{"t", "x", "y", {{"exact", 16, 0}, {"other", 4, 0.3}}});
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  EXPECT_EQ(countOf(svg, "<circle "), 2u);
  EXPECT_EQ(countOf(asSvg(Plot{"t", "x", "y", {}}), "<circle "), 0u);
  EXPECT_EQ(asSvg(Plot{"t", "x", "y", {{"only", 0, 0}}}).find("nan"),
            std::string::npos);
}

} // namespace
