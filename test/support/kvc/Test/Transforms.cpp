//===- Transforms.cpp - Rotation, smoothing, RoPE -------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Test/Transforms.h"

#include <cmath>

using namespace kvc;

void kvc::test::hadamard(std::span<float> row, int64_t n) {
  float norm = float(1.0 / std::sqrt(double(n)));
  for (size_t base = 0; base < row.size(); base += size_t(n)) {
    std::span<float> block = row.subspan(base, size_t(n));
    for (size_t h = 1; h < size_t(n); h *= 2)
      for (size_t i = 0; i < size_t(n); ++i)
        if ((i & h) == 0) {
          float a = block[i], b = block[i + h];
          block[i] = a + b;
          block[i + h] = a - b;
        }
    for (float &x : block)
      x = x * norm;
  }
}

float kvc::test::ropeFrequency(const spec::Rope &rope, int64_t i) {
  return float(std::pow(rope.theta, -2.0 * double(i) / double(rope.dims)));
}

void kvc::test::applyRope(const spec::Rope &rope, int64_t position,
                          std::span<double> row) {
  for (int64_t i = 0; i < rope.dims / 2; ++i) {
    float angle = float(position) * ropeFrequency(rope, i);
    double cosine = std::cos(double(angle)), sine = std::sin(double(angle));
    int64_t first = rope.pairs ? 2 * i : i;
    int64_t second = rope.pairs ? 2 * i + 1 : i + rope.dims / 2;
    double &a = row[size_t(rope.offset + first)];
    double &b = row[size_t(rope.offset + second)];
    double rotatedA = a * cosine - b * sine;
    double rotatedB = b * cosine + a * sine;
    a = rotatedA;
    b = rotatedB;
  }
}
