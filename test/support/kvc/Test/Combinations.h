//===- Combinations.h - Every three options together ------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Specs in which any three levels of codec, zero, block, extra, transform,
// segments, layout, variant, head_dim, group, query type and kind of batch
// meet, those that SPEC.md forbids too. The rules are written down here once
// more, from the specification.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_COMBINATIONS_H
#define KVC_TEST_COMBINATIONS_H

#include "kvc/Test/Covering.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kvc::test {

class Combination {
public:
  explicit Combination(const Row &row);

  /// The level of a property.
  const std::string &of(std::string_view property) const;
  /// "codec=int4, zero=min, ..", for people.
  std::string levels() const;

  /// What it says, as a spec of that name.
  std::string text(const std::string &name) const;
  /// The rules of the specification that it breaks.
  std::set<std::string> broken() const;

private:
  bool is(std::string_view property, std::string_view level) const {
    return of(property) == level;
  }
  bool isRaw() const;
  bool isInt() const { return of("codec").starts_with("int"); }
  bool isLut() const { return of("codec").starts_with("lut"); }
  bool isStatic() const { return of("block").starts_with("all"); }
  bool isGgml() const;
  bool hasOutliers() const;
  bool hasValue() const { return !of("variant").starts_with("value"); }
  int recentTokens() const;
  int blockTokens() const;
  int blockChannels() const; ///< 0: all.
  size_t rotation() const;   ///< 0: none.
  std::string attentionText() const;
  std::string schemeText(bool isKey) const;
  std::string layoutText() const;
  void findBrokenOfScheme(std::set<std::string> &rules) const;

  Row row;
  int channels, width; ///< Of the tensor, and of the part with the codec.
};

/// What rows of combinations choose from.
std::span<const Property> combinationProperties();
/// Combinations of any three levels, valid or not.
std::vector<Combination> anyCombinations();
/// Combinations of any three levels that fit.
std::vector<Combination> validCombinations();

} // namespace kvc::test

#endif // KVC_TEST_COMBINATIONS_H
