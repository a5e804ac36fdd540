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

  /// Bytes of one head inside a page, below the head's stride.
  int64_t innerBytes() const { return extentOf(inner) * width / 8; }
  int64_t pageBytes(int64_t heads) const {
    return innerBytes() * heads * extentOf(outer);
  }
};

/// The orders of all regions of one tensor.
struct TensorOrder {
  int64_t pageTokens = 0, heads = 0;
  bool isPaged = false;
  /// Heads lie beyond everything that grows: contiguous "hnd".
  bool headsOutside = false;
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

void addRegions(const spec::Spec &spec, Tensor tensor, unsigned number,
                TargetFamily family, TensorOrder &result) {
  const spec::PartScheme &part = spec::schemeOf(spec, tensor)->parts[number];
  int64_t tokens = result.pageTokens;
  Order order = spec.layout.order;
  std::optional<Storage> derived;
  if (order == Order::Auto) {
    derived = derivedOrder(part, tensor, tokens, family);
    if (!derived)
      order = Order::Nhd;
  }

  Digits c = digitsOf('c', part.channels()), t = digitsOf('t', tokens);
  RegionOrder codes{RegionKind::Codes, number, part.codec.bits, {}, {}};
  switch (order) {
  case Order::Nhd:
    codes.inner = c, codes.outer = t;
    break;
  case Order::Hnd:
    codes.inner = join(c, t);
    break;
  default:
    codes.inner = derived->addr;
  }
  result.regions.push_back(std::move(codes));

  if (!part.scale || part.scale->isStatic)
    return;
  int64_t blockTokens = part.scale->tokens;
  assert(tokens % blockTokens == 0 && "refused: scale blocks across pages");
  Digits b = digitsOf('b', part.blocks());
  t = digitsOf('t', tokens / blockTokens, blockTokens);
  RegionOrder scales{
      RegionKind::Scales, number, spec::bitsOf(part.scale->dtype), {}, {}};
  if (order == Order::Hnd)
    scales.inner = join(b, t);
  else if (order == Order::Auto && result.isPaged)
    scales.inner = join(t, b);
  else // Beside contiguous "auto" codes too: blocks of tokens need not divide a
       // page.
    scales.inner = b, scales.outer = t;
  result.regions.push_back(scales);
  if (part.zero != spec::Zero::None) {
    scales.kind = RegionKind::Zeros;
    result.regions.push_back(std::move(scales));
  }
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
  assert((order == Order::Nhd || order == Order::Hnd || order == Order::Auto) &&
         "refused: records per token");
  result.headsOutside = order == Order::Hnd && !result.isPaged;
  for (unsigned part = 0; part < scheme->parts.size(); ++part) {
    assert(scheme->parts[part].outliers == 0 && "refused: outliers");
    addRegions(spec, tensor, part, family, result);
  }
  return result;
}

PageLayout pageLayoutOf(const TensorOrder &order) {
  PageLayout layout;
  layout.pageTokens = order.pageTokens;
  Digits heads = order.headsOutside ? Digits() : digitsOf('h', order.heads);
  for (const RegionOrder &region : order.regions) {
    Storage storage{join(join(region.inner, heads), region.outer),
                    region.width};
    layout.regions.push_back(
        {region.kind, region.part, std::move(storage), layout.bytes});
    layout.bytes += align(region.pageBytes(order.heads));
  }
  if (!order.isPaged) {
    layout.bytes = 0;
    for (Region &region : layout.regions)
      region.offset = 0;
  }
  return layout;
}

} // namespace

//===----------------------------------------------------------------------===//
// Pages
//===----------------------------------------------------------------------===//

std::string_view nameOf(RegionKind kind) {
  constexpr std::string_view names[] = {"codes", "scales", "zeros"};
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
      strides.regions.push_back({begin + layout.regions[i].offset,
                                 layout.bytes + other,
                                 order.regions[i].innerBytes()});
    return strides;
  }
  assert(capacity % order.pageTokens == 0 &&
         "a contiguous cache grows by whole pages");
  int64_t pages = capacity / order.pageTokens;
  for (const RegionOrder &region : order.regions) {
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
              std::to_string(region.offset) + " | " + str(region.storage.addr) +
              " |\n";
    }
  return text;
}

} // namespace kvc::layout
