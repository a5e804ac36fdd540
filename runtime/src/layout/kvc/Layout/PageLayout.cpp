//===- PageLayout.cpp - The bytes of a cache ------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Layout/PageLayout.h"

#include "kvc/Layout/Fragments.h"
#include "kvc/Layout/Tile.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace kvc::layout {

using spec::LayoutKind;
using spec::Order;
using spec::Tensor;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

namespace {

/// "auto" needs pages that hold a whole fragment; shorter ones are rows.
constexpr int64_t kMinFragmentTokens = 16;

CodeForm formOf(const spec::Codec &codec) {
  return codec.isInt() ? CodeForm::Integer : CodeForm::Float;
}

ElementForm elementOf(const spec::Codec &codec, TargetFamily family) {
  if (family == TargetFamily::Nvptx)
    return ElementForm::F16;
  bool isLookedUp = codec.bits < 8;
  return codec.isInt() || isLookedUp ? ElementForm::I16 : ElementForm::Lane32;
}

std::optional<std::vector<Role>> rolesOf(const spec::Codec &codec,
                                         TargetFamily family) {
  return conversionRoles(formOf(codec), codec.bits, elementOf(codec, family));
}

/// The host's lanes hold the free dim. Integer codes become pairs of i16 that
/// are neighbours in the contracted dim, floats are one f32 per lane.
std::optional<RegisterLayout> hostOperand(ElementForm element, Dim contracted,
                                          int64_t depth, Dim free,
                                          int64_t width) {
  int64_t lanes = width % 16 == 0 ? 16 : 8;
  Digits pack;
  if (element == ElementForm::I16)
    pack = {bitOf(contracted, 0)};
  return tile(simdFragment(digitsOf(free, lanes), std::move(pack)),
              {{contracted, depth}, {free, width}});
}

/// K and V are the A operand of mma.sync; as B only register names differ.
std::optional<RegisterLayout> nvptxOperand(Dim contracted, int64_t depth,
                                           Dim free, int64_t width) {
  return tile(
      rename(mmaFragment(MmaOperand::A), {{'m', free}, {'k', contracted}}),
      {{contracted, depth}, {free, width}});
}

/// Register digits that fill a load of 16 bytes above the code positions.
unsigned vectorBitsOf(const DotOperand &operand) {
  size_t positions = std::max(operand.roles.size(), operand.layout.pack.size());
  unsigned load = unsigned(std::countr_zero(128 / operand.options.bits));
  return load > positions ? load - unsigned(positions) : 0;
}

} // namespace

std::optional<DotOperand> dotOperand(const spec::Codec &codec, Tensor tensor,
                                     int64_t channels, int64_t tokens,
                                     TargetFamily family) {
  bool isKey = tensor == Tensor::Key;
  Dim contracted = isKey ? 'c' : 't', free = isKey ? 't' : 'c';
  int64_t depth = isKey ? channels : tokens, width = isKey ? tokens : channels;
  bool isHost = family == TargetFamily::Host;

  DotOperand operand;
  operand.element = elementOf(codec, family);
  std::optional<std::vector<Role>> roles = rolesOf(codec, family);
  std::optional<RegisterLayout> layout =
      isHost ? hostOperand(operand.element, contracted, depth, free, width)
             : nvptxOperand(contracted, depth, free, width);
  if (!roles || !layout)
    return std::nullopt;
  operand.roles = *std::move(roles);
  operand.layout = *std::move(layout);
  operand.options = {.bits = codec.bits,
                     .contracted = isKey ? "c" : "t",
                     .vectorBits = 0,
                     .separate = ""};
  if (!isHost) {
    operand.options.vectorBits = vectorBitsOf(operand);
    // Threads append different tokens at the same time.
    operand.options.separate = "t";
  }
  return operand;
}

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

namespace {

int64_t align(int64_t bytes) {
  return (bytes + kRegionAlignment - 1) / kRegionAlignment * kRegionAlignment;
}

/// Where a region keeps its heads: `inner` digits, then heads, then `outer`
/// ones.
struct RegionOrder {
  RegionKind kind;
  unsigned part;
  unsigned width; ///< Bits of an element.
  Digits inner, outer;
  /// Rows that do not fill bytes, and what lies in records: digits of inner and
  /// outer that are steps instead.
  // NOLINTNEXTLINE(readability-redundant-member-init)
  std::vector<Step> innerSteps = {}, outerSteps = {};
  int64_t offset = 0;     ///< Inside of a record.
  int64_t pageTokens = 0; ///< Of this region; 0: those of the layout.

  /// Bytes of one head inside a page, below the head's stride.
  int64_t innerBytes() const {
    int64_t bytes = (extentOf(inner) * width + 7) / 8;
    return innerSteps.empty() ? bytes : bytes * innerSteps.back().digit.count;
  }
  int64_t pageBytes(int64_t heads) const {
    int64_t bytes = innerBytes() * heads * extentOf(outer);
    return outerSteps.empty() ? bytes : bytes * outerSteps.back().digit.count;
  }
};

/// The orders of all regions of one tensor.
struct TensorOrder {
  int64_t pageTokens = 0, heads = 0;
  bool isPaged = false;
  /// Heads lie beyond everything that grows: contiguous "hnd".
  bool headsOutside = false;
  int64_t record = 0; ///< Bytes of a token and head, where they lie together.
  std::vector<RegionOrder> regions;
};

Digits join(Digits low, const Digits &high) {
  low.insert(low.end(), high.begin(), high.end());
  return low;
}

/// Whether words of 32 bits hold codes along `dim` alone.
bool fillsWords(const Storage &storage, Dim dim) {
  int64_t bits = storage.width;
  for (const Digit &digit : storage.addr) {
    if (bits >= 32)
      break;
    if (digit.dim != dim)
      return false;
    bits *= digit.count;
  }
  return bits >= 32;
}

/// The derived order of a part's codes, where there is one.
std::optional<Storage> derivedOrder(const spec::PartScheme &part, Tensor tensor,
                                    int64_t tokens, TargetFamily family) {
  if (tokens < kMinFragmentTokens)
    return std::nullopt;
  std::optional<Storage> derived;
  if (std::optional<DotOperand> operand =
          dotOperand(part.codec, tensor, part.channels(), tokens, family))
    derived = operand->storage();
  // A dim with too few binary digits for a word of codes gets digits of the
  // other one, which no dot of the host reads.
  Dim contracted = tensor == Tensor::Key ? 'c' : 't';
  if (derived && family == TargetFamily::Host &&
      elementOf(part.codec, family) == ElementForm::I16 &&
      !fillsWords(*derived, contracted))
    derived.reset();
  return derived;
}

/// A whole digit of an extent.
Digit digitOf(Dim dim, int64_t extent, int64_t place = 1) {
  return {dim, place, extent};
}

/// A region of rows: `columns` elements of `dim` for each step of tokens.
RegionOrder rowsOf(RegionKind kind, unsigned part, unsigned width, Dim dim,
                   int64_t columns, const Digit &tokens, int64_t heads,
                   bool headsOutside) {
  RegionOrder rows{kind, part, width, digitsOf(dim, columns), {}};
  int64_t bytes = (columns * width + 7) / 8;
  if (columns * width % 8 != 0) { // The next row begins with a byte.
    if (headsOutside)
      rows.innerSteps = {{tokens, bytes}};
    else
      rows.outerSteps = {{tokens, bytes * heads}};
    return rows;
  }
  Digits t = digitsOf('t', tokens.count, tokens.place);
  if (headsOutside)
    rows.inner = join(rows.inner, t);
  else
    rows.outer = t;
  return rows;
}

int64_t pageTokensOf(const TensorOrder &order, const RegionOrder &region) {
  return region.pageTokens ? region.pageTokens : order.pageTokens;
}

void addRegions(const spec::Spec &spec, Tensor tensor, unsigned number,
                TargetFamily family, TensorOrder &result) {
  const spec::PartScheme &part = spec::schemeOf(spec, tensor)->parts[number];
  int64_t tokens = result.pageTokens;
  Order order = spec.layout.order;
  std::optional<Storage> derived;
  bool isHnd = order == Order::Hnd, isAuto = order == Order::Auto;
  if (isAuto) {
    derived = derivedOrder(part, tensor, tokens, family);
    // Rows of a head lie together where nothing is derived, but for short
    // pages.
    isAuto = derived ||
             (family == TargetFamily::Host && tokens >= kMinFragmentTokens);
  }
  if (derived)
    result.regions.push_back(
        {RegionKind::Codes, number, part.codec.bits, derived->addr, {}});
  else
    result.regions.push_back(rowsOf(RegionKind::Codes, number, part.codec.bits,
                                    'c', part.channels(), digitOf('t', tokens),
                                    result.heads, isHnd || isAuto));

  if (part.scale && !part.scale->isStatic) {
    int64_t blockTokens = part.scale->tokens;
    int64_t metaTokens = tokens % blockTokens == 0 ? tokens : blockTokens;
    assert((metaTokens == tokens || !result.isPaged) &&
           "refused: scale blocks across pages");
    Digit t = digitOf('t', metaTokens / blockTokens, blockTokens);
    // Beside contiguous "auto" codes rows too: blocks of tokens need not divide
    // a page.
    RegionOrder scales =
        rowsOf(RegionKind::Scales, number, spec::bitsOf(part.scale->dtype), 'b',
               part.blocks(), t, result.heads, isHnd);
    if (isAuto && result.isPaged) {
      // Tokens share a load, or else channels.
      Digits tokens = digitsOf('t', t.count, t.place),
             blocks = digitsOf('b', part.blocks());
      // A lane has every eighth token of a product's rows; those of 32 rows
      // lie together.
      constexpr ptrdiff_t kLaneTokens = 3, kRowTokens = 5;
      if (family == TargetFamily::Nvptx && blockTokens == 1)
        std::rotate(tokens.begin(), tokens.begin() + kLaneTokens,
                    tokens.begin() +
                        std::min<ptrdiff_t>(kRowTokens, std::ssize(tokens)));
      scales.inner =
          blockTokens == 1 ? join(tokens, blocks) : join(blocks, tokens);
      scales.outer = {};
    }
    scales.pageTokens = metaTokens;
    result.regions.push_back(scales);
    if (part.zero != spec::Zero::None) {
      scales.kind = RegionKind::Zeros;
      result.regions.push_back(std::move(scales));
    }
  }
  if (part.outliers == 0)
    return;
  for (RegionKind kind :
       {RegionKind::OutlierIndices, RegionKind::OutlierValues})
    result.regions.push_back(rowsOf(kind, number, 16, 'b', part.outliers,
                                    digitOf('t', tokens), result.heads, isHnd));
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

/// A part behind what its record holds so far, one thing after the other.
void addRecord(const spec::PartScheme &part, unsigned number,
               TensorOrder &result) {
  auto add = [&](RegionKind kind, unsigned width, Dim dim, int64_t count) {
    RegionOrder region{kind, number, width, digitsOf(dim, count), {}};
    region.offset = result.record;
    result.regions.push_back(std::move(region));
    result.record += (count * width + 7) / 8;
  };
  add(RegionKind::Codes, part.codec.bits, 'c', part.channels());
  if (part.scale) {
    unsigned width = spec::bitsOf(part.scale->dtype);
    add(RegionKind::Scales, width, 'b', part.blocks());
    if (part.zero != spec::Zero::None)
      add(RegionKind::Zeros, width, 'b', part.blocks());
  }
  if (part.outliers == 0)
    return;
  add(RegionKind::OutlierIndices, 16, 'b', part.outliers);
  add(RegionKind::OutlierValues, 16, 'b', part.outliers);
}

/// Blocks of 32 codes behind their scale and zero.
void addBlockRecord(const spec::PartScheme &part, const spec::Layout &layout,
                    TensorOrder &result) {
  constexpr int64_t kBlock = 32;
  int64_t blocks = part.channels() / kBlock, bytes = 0;
  std::vector<RegionOrder> regions;
  auto add = [&](RegionKind kind, unsigned width, Dim dim, Digits inside) {
    RegionOrder region{kind, 0, width, std::move(inside), {}};
    region.offset = bytes;
    bytes += extentOf(region.inner) * width / 8;
    int64_t place = dim == 'c' ? kBlock : 1;
    region.innerSteps = {{digitOf(dim, blocks, place), 0}};
    regions.push_back(std::move(region));
  };
  add(RegionKind::Scales, 16, 'b', {});
  if (part.zero != spec::Zero::None)
    add(RegionKind::Zeros, 16, 'b', {});
  unsigned low = lowBits(layout, part.codec);
  if (low < part.codec.bits)
    add(RegionKind::HighCodes, part.codec.bits - low, 'c',
        digitsOf('c', kBlock));
  // A byte holds a code of each half.
  if (low == 4)
    add(RegionKind::Codes, low, 'c',
        join({bitOf('c', 4)}, digitsOf('c', kBlock / 2)));
  else
    add(RegionKind::Codes, low, 'c', digitsOf('c', kBlock));
  for (RegionOrder &region : regions)
    region.innerSteps.front().bytes = bytes;
  std::sort(regions.begin(), regions.end(),
            [](const RegionOrder &a, const RegionOrder &b) {
              return a.kind < b.kind;
            });
  result.record = blocks * bytes;
  result.regions = std::move(regions);
}

/// Heads follow each other, then tokens.
void addRecords(const spec::Spec &spec, const spec::Scheme &scheme,
                TensorOrder &result) {
  if (spec.layout.order == Order::Ggml && !scheme.parts[0].codec.isRaw())
    addBlockRecord(scheme.parts[0], spec.layout, result);
  else
    for (unsigned part = 0; part < scheme.parts.size(); ++part)
      addRecord(scheme.parts[part], part, result);
  for (RegionOrder &region : result.regions)
    region.outerSteps = {
        {digitOf('h', result.heads), result.record},
        {digitOf('t', result.pageTokens), result.record * result.heads}};
}

TensorOrder tensorOrder(const spec::Spec &spec, Tensor tensor,
                        TargetFamily family) {
  TensorOrder result;
  result.isPaged = spec.layout.kind == LayoutKind::Paged;
  result.pageTokens = result.isPaged ? spec.layout.page : kContiguousPageTokens;
  result.heads = spec.attention.kvHeads;
  const spec::Scheme *scheme = spec::schemeOf(spec, tensor);
  if (!scheme)
    return result;
  Order order = spec.layout.order;
  if (order == Order::Ggml || order == Order::Token) {
    addRecords(spec, *scheme, result);
    return result;
  }
  result.headsOutside = order == Order::Hnd && !result.isPaged;
  for (unsigned part = 0; part < scheme->parts.size(); ++part)
    addRegions(spec, tensor, part, family, result);
  return result;
}

/// The digits and steps of a region, heads included where they are inside.
Storage storageOf(const TensorOrder &order, const RegionOrder &region) {
  Storage storage{join(region.inner, {}), region.width, region.innerSteps};
  int64_t heads = order.headsOutside ? 1 : order.heads;
  if (region.innerSteps.empty() && region.outerSteps.empty()) {
    storage.addr = join(join(region.inner, digitsOf('h', heads)), region.outer);
    return storage;
  }
  if (order.record == 0 && heads > 1)
    storage.steps.push_back({digitOf('h', heads), region.innerBytes()});
  storage.steps.insert(storage.steps.end(), region.outerSteps.begin(),
                       region.outerSteps.end());
  std::erase_if(storage.steps,
                [](const Step &step) { return step.digit.count == 1; });
  return storage;
}

PageLayout pageLayoutOf(const TensorOrder &order) {
  PageLayout layout;
  layout.pageTokens = order.pageTokens;
  for (const RegionOrder &region : order.regions) {
    int64_t offset = order.record    ? region.offset
                     : order.isPaged ? layout.bytes
                                     : 0;
    layout.regions.push_back({region.kind, region.part,
                              storageOf(order, region), offset,
                              pageTokensOf(order, region)});
    if (order.record == 0)
      layout.bytes += align(region.pageBytes(order.heads));
  }
  if (order.record)
    layout.bytes = align(order.record * order.heads * order.pageTokens);
  if (!order.isPaged)
    layout.bytes = 0;
  return layout;
}

} // namespace

//===----------------------------------------------------------------------===//
// Pages
//===----------------------------------------------------------------------===//

std::string_view nameOf(RegionKind kind) {
  constexpr std::string_view names[] = {"codes",           "scales",
                                        "zeros",           "high codes",
                                        "outlier indices", "outlier values"};
  return names[size_t(kind)];
}

bool PageLayout::has(RegionKind kind, unsigned part) const {
  return std::any_of(regions.begin(), regions.end(), [&](const Region &region) {
    return region.kind == kind && region.part == part;
  });
}

const Region &PageLayout::region(RegionKind kind, unsigned part) const {
  auto found =
      std::find_if(regions.begin(), regions.end(), [&](const Region &region) {
        return region.kind == kind && region.part == part;
      });
  assert(found != regions.end() && "the scheme has no such region; ask has()");
  return *found;
}

PageLayout pageLayout(const spec::Spec &spec, Tensor tensor,
                      TargetFamily family) {
  return pageLayoutOf(tensorOrder(spec, tensor, family));
}

unsigned regionNumber(const spec::Spec &spec, Tensor tensor, RegionKind kind,
                      unsigned part, TargetFamily family) {
  PageLayout layout = pageLayout(spec, tensor, family);
  auto number = unsigned(&layout.region(kind, part) - layout.regions.data());
  if (tensor == Tensor::Value)
    number += unsigned(pageLayout(spec, Tensor::Key, family).regions.size());
  return number;
}

TensorStrides tensorStrides(const spec::Spec &spec, Tensor tensor,
                            TargetFamily family, int64_t capacity) {
  TensorOrder order = tensorOrder(spec, tensor, family);
  TensorStrides strides;
  strides.record = order.record;
  if (order.isPaged) {
    PageLayout layout = pageLayoutOf(order);
    strides.bytes = layout.bytes;
    bool isKey = tensor == Tensor::Key, isShared = spec.layout.interleaved;
    int64_t other =
        isShared ? pageLayout(spec, isKey ? Tensor::Value : Tensor::Key, family)
                       .bytes
                 : 0;
    int64_t begin = isKey ? 0 : other;
    for (size_t i = 0; i < layout.regions.size(); ++i)
      strides.regions.push_back(
          {begin + layout.regions[i].offset, layout.bytes + other,
           order.record ? order.record : order.regions[i].innerBytes()});
    return strides;
  }
  assert(capacity % order.pageTokens == 0 &&
         "a contiguous cache grows by whole pages");
  if (order.record) {
    int64_t page = order.record * order.heads * order.pageTokens;
    for (const RegionOrder &region : order.regions)
      strides.regions.push_back({region.offset, page, order.record});
    strides.bytes = align(page * (capacity / order.pageTokens));
    return strides;
  }
  for (const RegionOrder &region : order.regions) {
    int64_t tokens = pageTokensOf(order, region);
    int64_t pages = (capacity + tokens - 1) / tokens;
    int64_t inner = region.innerBytes(), page = region.pageBytes(order.heads);
    strides.regions.push_back({strides.bytes, order.headsOutside ? inner : page,
                               order.headsOutside ? inner * pages : inner});
    strides.bytes += align(page * pages);
  }
  return strides;
}

int64_t pageBytes(const spec::Spec &spec, TargetFamily family) {
  int64_t bytes = 0;
  for (Tensor tensor : {Tensor::Key, Tensor::Value})
    bytes += tensorStrides(spec, tensor, family, kContiguousPageTokens).bytes;
  return bytes;
}

std::string layoutTable(const spec::Spec &spec, TargetFamily family) {
  std::string text =
      "| tensor | region | bits | offset | order |\n|---|---|---|---|---|\n";
  for (Tensor tensor : {Tensor::Key, Tensor::Value})
    for (const Region &region : pageLayout(spec, tensor, family).regions) {
      text += tensor == Tensor::Key ? "| key" : "| value";
      if (spec::schemeOf(spec, tensor)->parts.size() > 1)
        text += std::to_string(region.part);
      text += " | ";
      text += nameOf(region.kind);
      text += " | " + std::to_string(region.storage.width) + " | " +
              std::to_string(region.offset) + " | " + str(region.storage) +
              " |\n";
    }
  return text;
}

unsigned lowBits(const spec::Layout &layout, const spec::Codec &codec) {
  return layout.order == Order::Ggml && codec.isInt() && codec.bits < 8
             ? 4
             : codec.bits;
}

} // namespace kvc::layout
