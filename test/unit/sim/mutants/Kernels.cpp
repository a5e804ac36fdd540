//===- Kernels.cpp - Correct kernels to be broken -------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "../PtxText.h"

#include <bit>

using namespace kvc::sim;
using namespace kvc::test;

namespace {

using Words = std::vector<uint32_t>;

/// Small numbers without a pattern.
Words randomWords(size_t count) {
  Words words;
  uint32_t state = 12345;
  for (size_t i = 0; i < count; ++i) {
    state = state * 1664525 + 1013904223;
    words.push_back(state >> 20);
  }
  return words;
}

/// Each word is added to one of `count`.
template <typename Place>
Words sumsBy(const Words &input, size_t count, Place placeOf) {
  Words output(count, 0);
  for (size_t i = 0; i < input.size(); ++i)
    output[placeOf(i)] += input[i];
  return output;
}

Words sums(const Words &input) {
  return sumsBy(input, 2, [](size_t i) { return i / 128; });
}

Words transpose(const Words &input) {
  Words output(128);
  for (size_t i = 0; i < 128; ++i)
    output[i] = input[i / 64 * 64 + i % 8 * 8 + i / 8 % 8];
  return output;
}

Words pipeline(const Words &input) {
  return sumsBy(input, 64, [](size_t i) { return i % 64 ^ 33; });
}

Words lastBlock(const Words &input) {
  return sumsBy(input, 1, [](size_t) { return 0; });
}

Words relay(const Words &input) {
  Words output(64);
  for (size_t i = 0; i < 64; ++i)
    output[i] = 3 * input[i ^ 33];
  return output;
}

Words handOver(const Words &input) {
  return sumsBy(input, 32, [](size_t i) { return i % 32 ^ 5; });
}

Words warps(const Words &input) {
  auto at = [&](size_t i) { return i < input.size() ? input[i] : 0; };
  auto swapped = [&](size_t i) { return i < 50 ? at(i ^ 1) : 0; };
  Words output(64);
  for (size_t i = 0; i < 64; ++i)
    output[i] = swapped(i ^ 8) + swapped(i ^ 24) + at(i);
  return output;
}

Words halves(const Words &input) {
  Words output(2, 0);
  for (size_t i = 0; i < input.size(); ++i)
    if (i % 32 < 16)
      output[i / 32] += input[i];
  return output;
}

Words histogram(const Words &input) {
  Words output(64, 0);
  for (uint32_t word : input)
    ++output[word % 64];
  return output;
}

uint32_t halfOf(int value) {
  // Whole numbers below 2048.
  if (value == 0)
    return 0;
  const auto width = unsigned(std::bit_width(unsigned(value)));
  return (width + 14) << 10 | ((unsigned(value) << (11 - width)) & 0x3FF);
}

/// Of two matrices, A by rows, then B by columns; odd so that none is zero.
int factor(size_t i) { return int(i * 7 % 13) + 1; }

/// Two halves a word.
Words factors() {
  Words words;
  for (size_t i = 0; i < 128 + 64; ++i)
    words.push_back(halfOf(factor(2 * i)) | halfOf(factor(2 * i + 1)) << 16);
  return words;
}

Words product(const Words &) {
  Words output;
  for (size_t row = 0; row < 16; ++row)
    for (size_t column = 0; column < 8; ++column) {
      int sum = 0;
      for (size_t k = 0; k < 16; ++k)
        sum += factor(row * 16 + k) * factor(256 + column * 16 + k);
      output.push_back(std::bit_cast<uint32_t>(float(sum)));
    }
  return output;
}

} // namespace

std::vector<MutantKernel> kvc::test::mutantKernels() {
  std::vector<MutantKernel> kernels = {
      {"sums", "", {2}, {128}, randomWords(250), 2, sums},
      {"transpose", "", {1}, {64}, randomWords(128), 128, transpose},
      {"pipeline", "", {1}, {64}, randomWords(64 * 5), 64, pipeline},
      {"last_block", "", {4}, {32}, randomWords(128), 1, lastBlock},
      {"relay", "", {2}, {64}, randomWords(64), 64, relay},
      {"warps", "", {1}, {64}, randomWords(50), 64, warps},
      {"halves", "", {1}, {64}, randomWords(45), 2, halves},
      {"histogram", "", {2}, {64}, randomWords(128), 64, histogram},
      {"product", "", {1}, {32}, factors(), 128, product},
      {"hand_over", "", {1}, {64}, randomWords(96), 32, handOver},
  };
  for (MutantKernel &kernel : kernels)
    kernel.text = ptxFile("mutants/" + kernel.name + ".ptx");
  return kernels;
}
