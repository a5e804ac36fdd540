//===- page_layout_test.cpp - The bytes of caches -------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Support.h"
#include "kvc/Layout/PageLayout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>

using namespace kvc::layout;
using namespace kvc::test;
namespace spec = kvc::spec;
using spec::LayoutKind;
using spec::Order;
using spec::Tensor;

namespace {

struct Options {
  int64_t heads = 2, headDim = 128, valueDim = 128;
  unsigned bits = 4; ///< 32 and 16 are raw.
  int64_t block = spec::kAll;
  spec::DType scale = spec::DType::F16;
  spec::Zero zero = spec::Zero::Min;
  LayoutKind kind = LayoutKind::Paged;
  int64_t page = 64;
  Order order = Order::Auto;
  bool interleaved = false;
  int64_t blockTokens = 1;
};

spec::Scheme scheme(const Options &options, int64_t channels) {
  spec::PartScheme part;
  part.end = channels;
  part.codec.bits = options.bits;
  if (options.bits >= 16) {
    part.codec.raw = options.bits == 32 ? spec::DType::F32 : spec::DType::F16;
  } else {
    part.codec.kind = spec::CodecKind::Int;
    part.scale.emplace();
    part.scale->tokens = options.blockTokens;
    part.scale->channels = options.block;
    part.scale->dtype = options.scale;
    part.zero = options.zero;
  }
  spec::Scheme scheme;
  scheme.parts.push_back(part);
  return scheme;
}

spec::Spec make(const Options &options) {
  spec::Spec result;
  result.attention.qHeads = result.attention.kvHeads = options.heads;
  result.attention.headDim = options.headDim;
  result.attention.valueDim = options.valueDim;
  result.key = scheme(options, options.headDim);
  result.value = scheme(options, options.valueDim);
  result.layout = {options.kind,
                   options.kind == LayoutKind::Paged ? options.page : 0,
                   options.order, options.interleaved};
  return result;
}

std::string order(const spec::Spec &spec, Tensor tensor, RegionKind kind,
                  TargetFamily family = TargetFamily::Host) {
  return str(pageLayout(spec, tensor, family).region(kind).storage.addr);
}

int64_t roundUp(int64_t bytes) { return (bytes + 15) / 16 * 16; }

/// First bit of an element as a kernel computes it.
int64_t bitOfElement(const Region &region, const RegionStrides &strides,
                     int64_t pageTokens, int64_t token, int64_t head,
                     int64_t inner) {
  char dim = region.kind == RegionKind::Codes ? 'c' : 'b';
  int64_t inPage =
      bitAddressOf(region.storage, {{'t', token % pageTokens}, {dim, inner}});
  return (strides.offset + token / pageTokens * strides.pageStride +
          head * strides.headStride) *
             8 +
         inPage;
}

/// Every element of a tensor has bits of its own, inside its bytes.
void expectBijection(const spec::Spec &spec, Tensor tensor, TargetFamily family,
                     int64_t pages) {
  PageLayout layout = pageLayout(spec, tensor, family);
  int64_t tokens = layout.pageTokens * pages;
  TensorStrides strides = tensorStrides(spec, tensor, family, tokens);
  ASSERT_EQ(strides.regions.size(), layout.regions.size());
  const spec::PartScheme &part = spec::schemeOf(spec, tensor)->parts[0];
  bool isPaged = spec.layout.kind == LayoutKind::Paged;
  int64_t bytes =
      isPaged ? (pages - 1) * strides.regions[0].pageStride + strides.bytes
              : strides.bytes;
  if (isPaged && spec.layout.interleaved && tensor == Tensor::Value)
    bytes += pageLayout(spec, Tensor::Key, family).bytes;
  ASSERT_EQ(strides.bytes % 16, 0);
  int64_t end = 0, n = part.scale ? part.scale->tokens : 1;
  for (size_t i = 0; i < layout.regions.size(); ++i) {
    const Region &region = layout.regions[i];
    const RegionStrides &stride = strides.regions[i];
    bool isCodes = region.kind == RegionKind::Codes;
    ASSERT_EQ(stride.offset % 16, 0);
    ASSERT_GE(stride.offset, end) << "regions ascend and do not overlap";
    // Elements begin at multiples of their width, so distinct ones are
    // disjoint.
    int64_t width = region.storage.width, aligned = 0, elements = 0;
    std::vector<bool> used(size_t(bytes * 8 / width), false);
    for (int64_t token = 0; token < tokens; token += isCodes ? 1 : n)
      for (int64_t head = 0; head < spec.attention.kvHeads; ++head)
        for (int64_t inner = 0;
             inner < (isCodes ? part.channels() : part.blocks());
             ++inner, ++elements) {
          int64_t bit = bitOfElement(region, stride, layout.pageTokens, token,
                                     head, inner);
          aligned += bit % width == 0 && bit >= stride.offset * 8;
          used.at(size_t(bit / width)) = true;
          if (!isPaged || token < layout.pageTokens)
            end = std::max(end, (bit + width + 7) / 8);
        }
    ASSERT_EQ(aligned, elements);
    ASSERT_EQ(std::count(used.begin(), used.end(), true), elements)
        << "two elements in one place";
  }
}

TEST(PageLayout, HostAutoOrders) {
  Options options;
  auto codes = [&](Tensor tensor) {
    return order(make(options), tensor, RegionKind::Codes);
  };
  EXPECT_EQ(codes(Tensor::Key), "c1 c2 c0 t0 t1 t2 t3 c3 c4 c5 c6 t4 t5 h0");
  EXPECT_EQ(codes(Tensor::Value), "t1 t2 t0 c0 c1 c2 c3 t3 t4 t5 c4 c5 c6 h0");
  EXPECT_EQ(order(make(options), Tensor::Key, RegionKind::Scales),
            "t0 t1 t2 t3 t4 t5 h0");
  options.bits = 8;
  EXPECT_EQ(codes(Tensor::Key), "c1 c0 t0 t1 t2 t3 c2 c3 c4 c5 c6 t4 t5 h0");
  EXPECT_EQ(codes(Tensor::Value), "t1 t0 c0 c1 c2 c3 t2 t3 t4 t5 c4 c5 c6 h0");
  options.block = 32;
  EXPECT_EQ(order(make(options), Tensor::Value, RegionKind::Zeros),
            "t0 t1 t2 t3 t4 t5 b0 b1 h0");
  options.bits = 16;
  options.heads = 3;
  options.valueDim = 72;
  EXPECT_EQ(codes(Tensor::Key),
            "t0 t1 t2 t3 c0 c1 c2 c3 c4 c5 c6 t4 t5 h[1:3]");
  EXPECT_EQ(codes(Tensor::Value), "c0 c1 c2 t0 t1 t2 t3 t4 t5 c[8:9] h[1:3]");
  EXPECT_FALSE(pageLayout(make(options), Tensor::Key, TargetFamily::Host)
                   .has(RegionKind::Scales));
  // Below a fragment of tokens rows are stored.
  options.page = 8;
  EXPECT_EQ(codes(Tensor::Key), "c0 c1 c2 c3 c4 c5 c6 h[1:3] t0 t1 t2");
  options.page = 16;
  EXPECT_EQ(codes(Tensor::Key), "t0 t1 t2 t3 c0 c1 c2 c3 c4 c5 c6 h[1:3]");
}

TEST(PageLayout, WordsOfCodesHoldOneDimOrRowsAreStored) {
  // 24 channels have three binary digits, a word of 2-bit codes four places.
  Options options;
  options.bits = 2;
  options.headDim = 24;
  EXPECT_EQ(order(make(options), Tensor::Key, RegionKind::Codes),
            "c0 c1 c2 c[8:3] t0 t1 t2 t3 t4 t5 h0");
  options.headDim = 48;
  EXPECT_EQ(order(make(options), Tensor::Key, RegionKind::Codes),
            "c1 c2 c3 c0 t0 t1 t2 t3 c[16:3] t4 t5 h0");
}

/// Everything of a token and head lies together, head after head, token after
/// token.
TEST(PageLayout, RecordsOfTokens) {
  Options options;
  options.heads = 3;
  options.headDim = 40;
  options.order = Order::Token;
  spec::Spec spec = make(options);
  const spec::PartScheme &part = spec.key.parts[0];
  int64_t codes = 40 * part.codec.bits / 8,
          record =
              codes + 2 * part.blocks() * spec::bitsOf(part.scale->dtype) / 8;
  PageLayout page = pageLayout(spec, Tensor::Key, TargetFamily::Host);
  ASSERT_EQ(page.regions.size(), 3u);
  EXPECT_EQ(page.bytes, roundUp(record * 3 * options.page));
  EXPECT_EQ(page.region(RegionKind::Codes).offset, 0);
  EXPECT_EQ(page.region(RegionKind::Scales).offset, codes);
  EXPECT_EQ(page.region(RegionKind::Scales).storage.steps,
            (std::vector<Step>{{{'h', 1, 3}, record},
                               {{'t', 1, options.page}, record * 3}}));
  TensorStrides strides =
      tensorStrides(spec, Tensor::Key, TargetFamily::Host, 0);
  for (const RegionStrides &region : strides.regions)
    EXPECT_EQ(region.headStride, record);
}

/// Blocks of 32 codes behind their scale and zero; a byte holds a code of each
/// half, and fifth bits lie apart.
TEST(PageLayout, RecordsOfBlocks) {
  Options options;
  options.bits = 5;
  options.block = 32;
  options.heads = 1;
  options.headDim = options.valueDim = 64;
  options.order = Order::Ggml;
  spec::Spec spec = make(options);
  PageLayout page = pageLayout(spec, Tensor::Key, TargetFamily::Host);
  auto text = [&](RegionKind kind) {
    const Region &region = page.region(kind);
    return std::to_string(region.offset) + ": " + str(region.storage);
  };
  EXPECT_EQ(text(RegionKind::Scales), "0: + b0 * 24 + t[1:64] * 48");
  EXPECT_EQ(text(RegionKind::Zeros), "2: + b0 * 24 + t[1:64] * 48");
  EXPECT_EQ(text(RegionKind::HighCodes),
            "4: c0 c1 c2 c3 c4 + c5 * 24 + t[1:64] * 48");
  EXPECT_EQ(text(RegionKind::Codes),
            "8: c4 c0 c1 c2 c3 + c5 * 24 + t[1:64] * 48");
  EXPECT_EQ(page.regions.front().kind, RegionKind::Codes);
}

/// Rows that end inside of a byte are filled up to it.
TEST(PageLayout, PartsHaveRegionsOfTheirOwn) {
  Options options;
  options.heads = 2;
  options.order = Order::Nhd;
  spec::Spec spec = make(options);
  spec.key.explicitParts = true;
  spec.key.parts.push_back(spec.key.parts[0]);
  spec.key.parts[0].end = spec.key.parts[1].begin = 3;
  spec.key.parts[0].codec.bits = 5;
  spec.key.parts[0].scale->channels = spec::kAll;
  PageLayout page = pageLayout(spec, Tensor::Key, TargetFamily::Host);
  ASSERT_EQ(page.regions.size(), 6u);
  EXPECT_EQ(page.regions[3].part, 1u);
  EXPECT_EQ(str(page.region(RegionKind::Codes, 0).storage),
            "c[1:3] + h0 * 2 + t[1:64] * 4");
  EXPECT_EQ(page.region(RegionKind::Scales, 0).offset,
            roundUp(4 * options.page));
}

TEST(PageLayout, AutoDependsOnlyOnTheCache) {
  Options options;
  spec::Spec a = make(options), b = a;
  b.io = {spec::DType::F32, spec::DType::BF16};
  b.attention.qHeads *= 8;
  b.attention.window = 100;
  for (Tensor tensor : {Tensor::Key, Tensor::Value})
    EXPECT_EQ(order(a, tensor, RegionKind::Codes),
              order(b, tensor, RegionKind::Codes));
}

TEST(PageLayout, RowOrders) {
  Options options{.block = 32, .page = 4, .order = Order::Nhd};
  EXPECT_EQ(order(make(options), Tensor::Key, RegionKind::Codes),
            "c0 c1 c2 c3 c4 c5 c6 h0 t0 t1");
  EXPECT_EQ(order(make(options), Tensor::Key, RegionKind::Scales),
            "b0 b1 h0 t0 t1");
  options.order = Order::Hnd;
  EXPECT_EQ(order(make(options), Tensor::Key, RegionKind::Codes),
            "c0 c1 c2 c3 c4 c5 c6 t0 t1 h0");
  EXPECT_EQ(order(make(options), Tensor::Key, RegionKind::Scales),
            "b0 b1 t0 t1 h0");
  options.kind = LayoutKind::Contiguous;
  EXPECT_EQ(order(make(options), Tensor::Key, RegionKind::Codes),
            "c0 c1 c2 c3 c4 c5 c6 t0 t1 t2 t3 t4 t5");
  EXPECT_EQ(order(make(options), Tensor::Key, RegionKind::Scales),
            "b0 b1 t0 t1 t2 t3 t4 t5");
}

TEST(PageLayout, ContiguousAutoHasMetadataInRows) {
  Options options{.block = 32, .kind = LayoutKind::Contiguous};
  EXPECT_EQ(order(make(options), Tensor::Key, RegionKind::Codes),
            "c1 c2 c0 t0 t1 t2 t3 c3 c4 c5 c6 t4 t5 h0");
  EXPECT_EQ(order(make(options), Tensor::Key, RegionKind::Scales),
            "b0 b1 h0 t0 t1 t2 t3 t4 t5");
  EXPECT_EQ(pageLayout(make(options), Tensor::Key, TargetFamily::Host).bytes,
            0);
}

TEST(PageLayout, NvptxIsFragmentMajor) {
  Options options;
  auto codes = [&](Tensor tensor) {
    return order(make(options), tensor, RegionKind::Codes, TargetFamily::Nvptx);
  };
  EXPECT_EQ(codes(Tensor::Key), "c3 t3 c0 c4 c5 c1 c2 t0 t1 t2 c6 t4 t5 h0");
  EXPECT_EQ(codes(Tensor::Value), "c3 t3 t0 t4 t5 t1 t2 c0 c1 c2 c4 c5 c6 h0");
  // Each token's own factors: every eighth token of 32 rows together.
  EXPECT_EQ(order(make(options), Tensor::Key, RegionKind::Scales,
                  TargetFamily::Nvptx),
            "t3 t4 t0 t1 t2 t5 h0");
  options.bits = 16;
  EXPECT_EQ(codes(Tensor::Key), "c0 t3 c3 c1 c2 t0 t1 t2 c4 c5 c6 t4 t5 h0");
  options.bits = 32; // A 16-byte load is two pairs.
  EXPECT_EQ(codes(Tensor::Key), "c0 t3 c1 c2 t0 t1 t2 c3 c4 c5 c6 t4 t5 h0");
  options.headDim = 72; // No multiple of the fragment: rows.
  EXPECT_EQ(codes(Tensor::Key), "c0 c1 c2 c[8:9] h0 t0 t1 t2 t3 t4 t5");
}

TEST(PageLayout, RowBytesFollowTheDocument) {
  std::mt19937 random(3);
  auto pick = [&](std::initializer_list<int64_t> values) {
    return *(values.begin() + random() % values.size());
  };
  for (int round = 0; round < 300; ++round) {
    Options options;
    options.heads = pick({1, 2, 3, 8});
    options.headDim = 8 * pick({2, 3, 5, 9, 10, 12, 16, 72});
    options.valueDim = 8 * pick({2, 3, 5, 9, 10, 12, 16, 72});
    options.bits = unsigned(pick({2, 3, 4, 5, 6, 7, 8, 16, 32}));
    options.block = pick({spec::kAll, 8});
    options.scale = pick({0, 1}) ? spec::DType::F32 : spec::DType::BF16;
    options.zero = pick({0, 1}) ? spec::Zero::Code : spec::Zero::None;
    options.kind = pick({0, 1}) ? LayoutKind::Paged : LayoutKind::Contiguous;
    options.page = pick({1, 2, 8, 64, 256});
    options.order = pick({0, 1}) ? Order::Nhd : Order::Hnd;
    options.blockTokens =
        pick({1, options.kind == LayoutKind::Paged ? options.page : 32});
    options.interleaved = options.kind == LayoutKind::Paged &&
                          options.headDim == options.valueDim && pick({0, 1});
    spec::Spec spec = make(options);
    bool isPaged = options.kind == LayoutKind::Paged,
         isNhd = options.order == Order::Nhd;
    int64_t capacity = 192,
            run = isPaged ? options.page : capacity; // Tokens of one page.

    int64_t slices[2];
    for (int side = 0; side < 2; ++side) {
      int64_t channels = side ? options.valueDim : options.headDim;
      Tensor tensor = side ? Tensor::Value : Tensor::Key;
      PageLayout layout = pageLayout(spec, tensor, TargetFamily::Host);
      TensorStrides strides =
          tensorStrides(spec, tensor, TargetFamily::Host, capacity);
      bool isRaw = options.bits >= 16;
      ASSERT_EQ(layout.regions.size(), isRaw                              ? 1u
                                       : options.zero == spec::Zero::None ? 2u
                                                                          : 3u);
      int64_t otherPage =
          options.interleaved
              ? pageLayout(spec, side ? Tensor::Key : Tensor::Value,
                           TargetFamily::Host)
                    .bytes
              : 0;
      int64_t begin = side ? otherPage : 0;
      for (size_t i = 0; i < layout.regions.size(); ++i) {
        bool isCodes = i == 0;
        int64_t n = isCodes ? 1 : options.blockTokens;
        int64_t rowElements = isCodes ? channels
                              : options.block == spec::kAll
                                  ? 1
                                  : channels / options.block;
        int64_t width = isCodes                             ? options.bits
                        : options.scale == spec::DType::F32 ? 32
                                                            : 16;
        int64_t rowBytes = rowElements * width / 8, rows = run / n;
        ASSERT_EQ(layout.regions[i].storage.width, unsigned(width));
        for (int sample = 0; sample < 40; ++sample) {
          int64_t page = isPaged ? int64_t(random() % 3) : 0;
          int64_t token = int64_t(random()) % run,
                  head = int64_t(random()) % options.heads,
                  inner = int64_t(random()) % rowElements;
          int64_t row = isNhd ? token / n * options.heads + head
                              : head * rows + token / n;
          int64_t pageStride = isPaged ? strides.bytes + otherPage : 0;
          int64_t expected =
              (page * pageStride + begin + row * rowBytes) * 8 + inner * width;
          int64_t got =
              bitOfElement(layout.regions[i], strides.regions[i],
                           layout.pageTokens, page * run + token, head, inner);
          ASSERT_EQ(got, expected) << "round " << round << " region " << i
                                   << " token " << token << " head " << head;
        }
        begin += roundUp(rowBytes * rows * options.heads);
      }
      slices[side] = strides.bytes;
      ASSERT_EQ(strides.bytes, begin - (side ? otherPage : 0));
    }
    if (isPaged)
      EXPECT_EQ(pageBytes(spec, TargetFamily::Host), slices[0] + slices[1]);
  }
}

TEST(PageLayout, AddressesAreABijection) {
  std::mt19937 random(11);
  for (int round = 0; round < 40; ++round) {
    Options options;
    auto pick = [&](auto... values) {
      int64_t all[] = {int64_t(values)...};
      return all[random() % sizeof...(values)];
    };
    options.heads = pick(1, 2, 3);
    options.bits = unsigned(pick(2, 4, 8, 16, 32));
    options.block = pick(spec::kAll, 8);
    options.scale = pick(0, 1) ? spec::DType::F32 : spec::DType::F16;
    options.kind = pick(0, 1) ? LayoutKind::Paged : LayoutKind::Contiguous;
    options.page = int64_t(1) << random() % 9;
    options.order =
        Order(pick(Order::Nhd, Order::Hnd, Order::Auto, Order::Auto));
    options.interleaved = options.kind == LayoutKind::Paged && pick(0, 1);
    spec::Spec spec = make(options);
    TargetFamily family =
        pick(0, 0, 1) ? TargetFamily::Nvptx : TargetFamily::Host;
    for (Tensor tensor : {Tensor::Key, Tensor::Value})
      ASSERT_NO_FATAL_FAILURE(expectBijection(spec, tensor, family, 2))
          << "round " << round << " head_dim " << options.headDim << " bits "
          << options.bits << " page " << options.page;
  }
}

TEST(PageLayout, EveryHeadDimIsDense) {
  // Orders hold no padding: each digit of each dim is there exactly once.
  for (int64_t channels = 16; channels <= 576; channels += 8)
    for (int64_t page = 1; page <= 256; page *= 2)
      for (unsigned bits : {2u, 4u, 8u, 16u, 32u})
        for (TargetFamily family : {TargetFamily::Host, TargetFamily::Nvptx}) {
          spec::Spec spec = make({.heads = 5,
                                  .headDim = channels,
                                  .valueDim = channels,
                                  .bits = bits,
                                  .page = page});
          for (Tensor tensor : {Tensor::Key, Tensor::Value}) {
            PageLayout layout = pageLayout(spec, tensor, family);
            const Digits &addr = layout.region(RegionKind::Codes).storage.addr;
            ASSERT_TRUE(coversOnce(addr, 't', page) &&
                        coversOnce(addr, 'c', channels) &&
                        coversOnce(addr, 'h', 5))
                << str(addr);
            ASSERT_EQ(extentOf(addr), page * channels * 5);
            ASSERT_EQ(layout.bytes % 16, 0);
          }
        }
}

TEST(PageLayout, InterleavedPagesShareOneMemory) {
  spec::Spec spec = make({.order = Order::Hnd, .interleaved = true});
  PageLayout key = pageLayout(spec, Tensor::Key, TargetFamily::Host);
  TensorStrides k = tensorStrides(spec, Tensor::Key, TargetFamily::Host, 0),
                v = tensorStrides(spec, Tensor::Value, TargetFamily::Host, 0);
  EXPECT_EQ(k.bytes, key.bytes);
  EXPECT_EQ(k.regions[0].offset, 0);
  EXPECT_EQ(v.regions[0].offset, key.bytes);
  for (size_t i = 0; i < k.regions.size(); ++i) {
    EXPECT_EQ(k.regions[i].pageStride, k.bytes + v.bytes);
    EXPECT_EQ(v.regions[i].pageStride, k.bytes + v.bytes);
  }
}

TEST(PageLayout, Table) {
  spec::Spec spec = make({.block = 32, .order = Order::Hnd});
  spec.value->parts[0].zero = spec::Zero::None;
  EXPECT_EQ(
      layoutTable(spec, TargetFamily::Host),
      "| tensor | region | bits | offset | order |\n"
      "|---|---|---|---|---|\n"
      "| key | codes | 4 | 0 | c0 c1 c2 c3 c4 c5 c6 t0 t1 t2 t3 t4 t5 h0 |\n"
      "| key | scales | 16 | 8192 | b0 b1 t0 t1 t2 t3 t4 t5 h0 |\n"
      "| key | zeros | 16 | 9216 | b0 b1 t0 t1 t2 t3 t4 t5 h0 |\n"
      "| value | codes | 4 | 0 | c0 c1 c2 c3 c4 c5 c6 t0 t1 t2 t3 t4 t5 h0 |\n"
      "| value | scales | 16 | 8192 | b0 b1 t0 t1 t2 t3 t4 t5 h0 |\n");
}

TEST(PageLayout, ReadmeShowsTheDerivedOrders) {
  std::ifstream file(KVC_TEST_DATA "/../../runtime/src/layout/README.md");
  std::stringstream text;
  text << file.rdbuf();
  ASSERT_FALSE(text.str().empty());
  for (TargetFamily family : {TargetFamily::Host, TargetFamily::Nvptx})
    for (unsigned bits : {32u, 16u, 8u, 4u, 2u}) {
      spec::Spec spec = make({.heads = 1, .bits = bits});
      std::string row =
          std::string("| ") +
          (family == TargetFamily::Host ? "host" : "nvptx") + " | " +
          std::to_string(bits) + " | " +
          order(spec, Tensor::Key, RegionKind::Codes, family) + " | " +
          order(spec, Tensor::Value, RegionKind::Codes, family) + " |";
      EXPECT_NE(text.str().find(row), std::string::npos) << row;
    }
}

TEST(PageLayout, ValueThatIsTheKeyHasNoBytes) {
  spec::Spec spec = make({});
  spec.value.reset();
  spec.attention.valueIsKey = {0, 64};
  EXPECT_TRUE(
      pageLayout(spec, Tensor::Value, TargetFamily::Host).regions.empty());
  EXPECT_EQ(pageBytes(spec, TargetFamily::Host),
            pageLayout(spec, Tensor::Key, TargetFamily::Host).bytes);
}

TEST(PageLayout, StaticScalesLieInNoPage) {
  spec::Spec spec = make({.zero = spec::Zero::None});
  spec.key.parts[0].scale->isStatic = true;
  spec.key.parts[0].scale->tokens = spec::kAll;
  PageLayout layout = pageLayout(spec, Tensor::Key, TargetFamily::Host);
  EXPECT_EQ(layout.regions.size(), 1u);
  EXPECT_EQ(layout.bytes, 64 * 2 * 128 / 2);
}

} // namespace
