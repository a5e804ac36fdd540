//===- page_layout_test.cpp - Two computations of a page ------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// The layout library, which kernels address memory by, must put every code,
// scale and zero where PackedBytes.h finds it, which was written from the
// specification's sentences.
//
//===----------------------------------------------------------------------===//

#include "kvc/Layout/PageLayout.h"

#include "Specs.h"
#include "kvc/Test/Inputs.h"
#include "kvc/Test/PackedBytes.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace kvc;
using namespace kvc::test;
using layout::RegionKind;

namespace {

struct PageCase {
  const char *name;
  std::string scheme;
  std::string order;
  int64_t page;
};

std::string ints(int bits, const std::string &channels, const char *zero) {
  return "'codec': 'int" + std::to_string(bits) +
         "', 'scale': {'tokens': 1, 'channels': " + channels +
         ", 'dtype': 'f16'}, 'zero': '" + zero + "'";
}

class Pages : public testing::TestWithParam<PageCase> {};

/// `width` bits of `bytes` from bit `at`, lowest first.
uint64_t bitsAt(const std::vector<uint8_t> &bytes, int64_t at, unsigned width) {
  uint64_t result = 0;
  for (unsigned bit = 0; bit < width; ++bit, ++at)
    result |= uint64_t(bytes[size_t(at / 8)] >> at % 8 & 1) << bit;
  return result;
}

TEST_P(Pages, AgreeOnEveryElement) {
  const PageCase &test = GetParam();
  spec::Spec spec = parsed(
      "'q_heads': 3, 'kv_heads': 3, 'head_dim': 48", test.scheme, test.scheme,
      "'layout': {'kind': 'paged', 'page': " + std::to_string(test.page) +
          ", 'order': '" + test.order + "'}");
  Lengths lengths[] = {{1, test.page}};
  Inputs inputs = randomInputs(spec, lengths, InputMode::Normal, 11);
  Answer all = answer(spec, inputs);

  for (spec::Tensor tensor : {spec::Tensor::Key, spec::Tensor::Value}) {
    const TensorData &data = tensor == spec::Tensor::Key ? all.k : all.v;
    PackedBytes expected = packedPage(
        spec, tensor, data, bodyRows(spec, tensor, inputs.cuKv, 0), 0);
    layout::PageLayout page =
        layout::pageLayout(spec, tensor, layout::TargetFamily::Host);
    ASSERT_EQ(page.bytes, (int64_t(expected.bytes.size()) + 15) / 16 * 16);

    // Every element of every region, once: its record in canonical order must
    // be the bits at its address.
    spec::Spec token = spec;
    token.layout = {spec::LayoutKind::Contiguous, 0, spec::Order::Token, false};
    for (int64_t t = 0; t < test.page; ++t)
      for (int64_t h = 0; h < 3; ++h) {
        std::vector<uint8_t> record = packedRecord(token, tensor, data, t, h);
        int64_t at = 0;
        for (const layout::Region &region : page.regions) {
          bool codes = region.kind == RegionKind::Codes;
          int64_t count = codes ? 48 : data.parts[0].blocks;
          for (int64_t i = 0; i < count; ++i) {
            int64_t address = layout::bitAddressOf(
                region.storage, {{'t', t}, {'h', h}, {codes ? 'c' : 'b', i}});
            unsigned width = region.storage.width;
            ASSERT_EQ(
                bitsAt(expected.bytes, region.offset * 8 + address, width),
                bitsAt(record, at, width))
                << "region " << int(region.kind) << ", token " << t << ", head "
                << h << ", element " << i;
            at += width;
          }
        }
        ASSERT_EQ(at, int64_t(record.size()) * 8);
      }
  }
}

std::vector<PageCase> pageCases() {
  std::vector<PageCase> cases;
  for (const char *order : {"nhd", "hnd", "token"})
    for (int64_t page : {1, 2, 16, 64}) {
      cases.push_back({"f16", "'codec': 'f16'", order, page});
      cases.push_back({"f32", "'codec': 'f32'", order, page});
      cases.push_back({"int8", ints(8, "'all'", "none"), order, page});
      cases.push_back({"int8code", ints(8, "16", "code"), order, page});
      cases.push_back({"int4min", ints(4, "'all'", "min"), order, page});
      cases.push_back({"int4g8", ints(4, "8", "min"), order, page});
    }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, Pages, testing::ValuesIn(pageCases()),
                         [](const auto &info) {
                           return std::string(info.param.name) + "_" +
                                  info.param.order + "_" +
                                  std::to_string(info.param.page);
                         });

} // namespace
