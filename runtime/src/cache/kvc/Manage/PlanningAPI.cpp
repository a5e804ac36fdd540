//===- PlanningAPI.cpp - kvc/planning.h -----------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/planning.h"

#include "kvc/Base/Checked.h"
#include "kvc/Base/Struct.h"
#include "kvc/Layout/PageLayout.h"
#include "kvc/Manage/Capacity.h"
#include "kvc/Spec/Bytes.h"
#include "kvc/Spec/Segments.h"

#include <array>

using namespace kvc;
using namespace kvc::manage;

namespace {

/// A group with the bytes of its blocks.
struct Sized {
  Group group;
  int64_t blockBytes = 0, rawBlockBytes = 0;

  int64_t blocks(int64_t tokens) const { return mostBodyBlocks(group, tokens); }
  int64_t rawBlocks(int64_t tokens) const {
    return mostRawBlocks(group, tokens);
  }
  Checked bytes(int64_t tokens) const {
    return Checked(blocks(tokens)) * blockBytes +
           Checked(rawBlocks(tokens)) * rawBlockBytes;
  }

  double tokenBytes() const {
    return double(group.layers) *
           (ofTensor(spec::Tensor::Key) + ofTensor(spec::Tensor::Value));
  }
  /// Of the rows that hold a token of a sequence of `length` tokens.
  double rowBytes(int64_t length) const {
    const Ends ends = group.endsAt(group.emptyEnds(), length, length);
    const double gone =
        double(group.freedBlocks(ends, length).size() * group.page);
    double bytes = 0;
    for (auto [tensor, end] : {std::pair(spec::Tensor::Key, ends.key),
                               std::pair(spec::Tensor::Value, ends.value)}) {
      const double coded = double(end - group.sink);
      bytes += (coded - gone) * ofTensor(tensor);
      if (group.hasRaw)
        bytes += (double(length) - coded) * ofRawTensor(tensor);
    }
    return double(group.layers) * bytes;
  }

private:
  /// Of a coded token of one layer.
  double ofTensor(spec::Tensor tensor) const {
    const spec::Spec &spec = group.spec->spec;
    const spec::Scheme *scheme = spec::schemeOf(spec, tensor);
    return scheme
               ? spec::bytesPerToken(*scheme) * double(spec.attention.kvHeads)
               : 0;
  }
  double ofRawTensor(spec::Tensor tensor) const {
    const spec::Spec &spec = group.spec->spec;
    return spec::schemeOf(spec, tensor)
               ? double(spec::channelsOf(spec, tensor) *
                        bytesOf(spec.io.query) * spec.attention.kvHeads)
               : 0;
  }
};

using Groups = std::vector<Sized>;

kvc_status blockBytesOf(const spec::Spec &spec, int64_t layers, int64_t number,
                        kvc_diag *diag, int64_t &bytes) {
  const Checked all =
      Checked(layout::pageBytes(spec, layout::TargetFamily::Host)) * layers;
  if (!all.isValid())
    return fail(diag, KVC_INVALID_ARGUMENT,
                "options.groups[%lld].layers: expected blocks of fewer than "
                "2^63 bytes, got %lld layers",
                static_cast<long long>(number), static_cast<long long>(layers));
  bytes = all.get();
  return KVC_OK;
}

kvc_status readOptions(const kvc_manager_options *options, kvc_diag *diag,
                       Groups &groups) {
  kvc_manager_options given;
  KVC_TRY(readStruct(options, "options", diag, given));
  KVC_TRY(checkGrowth(given, diag));
  std::vector<kvc_layer_group> list;
  KVC_TRY(readGroups(given, diag, list));
  for (size_t g = 0; g < list.size(); ++g) {
    KVC_TRY(checkGroup(list[g], int64_t(g), diag));
    Sized &made = groups.emplace_back(Sized{Group(list[g], given)});
    const spec::Spec &spec = made.group.spec->spec;
    KVC_TRY(
        blockBytesOf(spec, list[g].layers, int64_t(g), diag, made.blockBytes));
    if (made.group.hasRaw)
      KVC_TRY(blockBytesOf(spec::rawRows(spec), list[g].layers, int64_t(g),
                           diag, made.rawBlockBytes));
  }
  return KVC_OK;
}

Checked bytesOfSequence(const Groups &groups, int64_t tokens) {
  Checked bytes = 0;
  for (const Sized &group : groups)
    bytes = bytes + group.bytes(tokens);
  return bytes;
}

/// The largest number of tokens that `fits`, which no larger one does.
template <typename Fits>
int64_t mostTokens(const Fits &fits) {
  int64_t low = 0, high = manage::kMaxTokens;
  while (low < high) {
    const int64_t middle = low + (high - low + 1) / 2;
    if (fits(middle))
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/// All pools for so many sequences of so many tokens.
struct Pools {
  std::vector<int64_t> blocks, rawBlocks; ///< By group.
  Checked bytes = 0, count = 0;

  Pools(const Groups &groups, int64_t tokens, int64_t sequences) {
    std::vector<int64_t> sizes;
    auto add = [&](int64_t size, int64_t each) {
      const Checked wanted = Checked(each) * sequences;
      // At least one block is a manager's rule.
      const Checked given =
          wanted.isValid() ? std::max<int64_t>(wanted.get(), 1) : wanted;
      const bool isNew =
          std::find(sizes.begin(), sizes.end(), size) == sizes.end();
      if (isNew)
        sizes.push_back(size);
      count = count + given + int64_t(isNew);
      bytes = bytes + (given + int64_t(isNew)) * size;
      return given.saturated();
    };
    for (const Sized &group : groups) {
      blocks.push_back(add(group.blockBytes, group.blocks(tokens)));
      rawBlocks.push_back(
          group.group.hasRaw ? add(group.rawBlockBytes, group.rawBlocks(tokens))
                             : 0);
    }
  }
  /// Whether a manager may have such pools, in so many bytes (0: any).
  bool fit(int64_t most) const {
    return bytes.isValid() && count.isValid() &&
           count.get() <= manage::kMaxTokens &&
           (most == 0 || bytes.get() <= most);
  }
};

double wasteOf(const Groups &groups, int64_t tokens, int64_t sequenceBytes) {
  int64_t page = 1;
  for (const Sized &group : groups)
    page = std::max(page, group.group.page);
  const int64_t first = std::max<int64_t>(tokens - page + 1, 0);
  double rows = 0;
  for (int64_t length = first; length <= tokens; ++length)
    for (const Sized &group : groups)
      rows += group.rowBytes(length);
  return double(sequenceBytes) - rows / double(tokens - first + 1);
}

kvc_status checkRequest(const kvc_memory_request &request, kvc_diag *diag) {
  KVC_TRY(checkCount("request.tokens", request.tokens, diag));
  KVC_TRY(checkCount("request.sequences", request.sequences, diag));
  if (request.bytes < 0)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "request.bytes: expected 0 or more, got %lld",
                static_cast<long long>(request.bytes));
  const int zeros =
      (request.bytes == 0) + (request.tokens == 0) + (request.sequences == 0);
  if (zeros > 1)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "request: expected at least two of bytes, tokens and "
                "sequences, got %d",
                3 - zeros);
  return KVC_OK;
}

/// What does not fit, and what would do.
kvc_status failRequest(const Groups &groups, int64_t tokens, int64_t sequences,
                       int64_t bytes, kvc_diag *diag) {
  const Pools pools(groups, tokens, sequences);
  if (!pools.fit(0))
    return fail(diag, KVC_UNSUPPORTED,
                "request: expected at most %lld blocks and 2^63 bytes, got "
                "more for %lld sequences of %lld tokens",
                static_cast<long long>(manage::kMaxTokens),
                static_cast<long long>(sequences),
                static_cast<long long>(tokens));
  return fail(diag, KVC_OUT_OF_BLOCKS,
              "request.bytes: expected %lld for %lld %s of %lld %s, got %lld",
              static_cast<long long>(pools.bytes.get()),
              static_cast<long long>(sequences),
              sequences == 1 ? "sequence" : "sequences",
              static_cast<long long>(tokens), tokens == 1 ? "token" : "tokens",
              static_cast<long long>(bytes));
}

} // namespace

extern "C" kvc_status kvc_memory_for(const kvc_manager_options *options,
                                     int64_t group, int64_t tokens,
                                     kvc_diag *diag, kvc_group_memory *memory) {
  return guarded(diag, [&]() -> kvc_status {
    Groups groups;
    KVC_TRY(readOptions(options, diag, groups));
    KVC_TRY(checkCount("tokens", tokens, diag));
    if (group < 0 || group >= int64_t(groups.size()))
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "group: expected 0 to %zu, got %lld", groups.size() - 1,
                  static_cast<long long>(group));
    const Sized &sized = groups[size_t(group)];
    const Checked bytes = sized.bytes(tokens);
    if (!bytes.isValid())
      return fail(diag, KVC_UNSUPPORTED,
                  "tokens: expected fewer than 2^63 bytes, got more for %lld",
                  static_cast<long long>(tokens));
    kvc_group_memory made{};
    made.block_bytes = sized.blockBytes;
    made.raw_block_bytes = sized.rawBlockBytes;
    made.blocks = sized.blocks(tokens);
    made.raw_blocks = sized.rawBlocks(tokens);
    made.bytes = bytes.get();
    made.row_bytes = sized.rowBytes(tokens);
    made.token_bytes = sized.tokenBytes();
    return writeStruct(made, "memory", diag, memory);
  });
}

extern "C" kvc_status kvc_bytes_for(const kvc_manager_options *options,
                                    int64_t tokens, kvc_diag *diag,
                                    int64_t *bytes) {
  return guarded(diag, [&]() -> kvc_status {
    Groups groups;
    KVC_TRY(readOptions(options, diag, groups));
    KVC_TRY(checkCount("tokens", tokens, diag));
    KVC_TRY(requirePointer(bytes, "bytes", diag));
    const Checked all = bytesOfSequence(groups, tokens);
    if (!all.isValid())
      return fail(diag, KVC_UNSUPPORTED,
                  "tokens: expected fewer than 2^63 bytes, got more for %lld",
                  static_cast<long long>(tokens));
    *bytes = all.get();
    return KVC_OK;
  });
}

extern "C" kvc_status kvc_tokens_for(const kvc_manager_options *options,
                                     int64_t bytes, kvc_diag *diag,
                                     int64_t *tokens) {
  return guarded(diag, [&]() -> kvc_status {
    Groups groups;
    KVC_TRY(readOptions(options, diag, groups));
    KVC_TRY(requirePointer(tokens, "tokens", diag));
    if (bytes < 0)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "bytes: expected 0 or more, got %lld",
                  static_cast<long long>(bytes));
    *tokens = mostTokens([&](int64_t count) {
      const Checked all = bytesOfSequence(groups, count);
      return all.isValid() && all.get() <= bytes;
    });
    return KVC_OK;
  });
}

extern "C" kvc_status kvc_plan_memory(const kvc_manager_options *options,
                                      const kvc_memory_request *request,
                                      kvc_diag *diag, kvc_memory_plan *plan,
                                      int64_t *blocks, int64_t *raw_blocks) {
  return guarded(diag, [&]() -> kvc_status {
    Groups groups;
    KVC_TRY(readOptions(options, diag, groups));
    kvc_memory_request given;
    KVC_TRY(readStruct(request, "request", diag, given));
    KVC_TRY(checkRequest(given, diag));
    int64_t tokens = given.tokens, sequences = given.sequences;
    if (tokens == 0)
      tokens = mostTokens([&](int64_t count) {
        return Pools(groups, count, sequences).fit(given.bytes);
      });
    // What a sequence takes does not depend on how many there are: the same
    // search, for pools grow with them.
    if (sequences == 0)
      sequences = mostTokens([&](int64_t count) {
        return Pools(groups, tokens, count).fit(given.bytes);
      });
    tokens = std::max<int64_t>(tokens, 1);
    sequences = std::max<int64_t>(sequences, 1);
    const Pools pools(groups, tokens, sequences);
    if (!pools.fit(given.bytes))
      return failRequest(groups, tokens, sequences, given.bytes, diag);
    kvc_memory_plan made{};
    made.bytes = pools.bytes.get();
    made.tokens = tokens;
    made.sequences = sequences;
    made.sequence_bytes = bytesOfSequence(groups, tokens).get();
    made.waste_bytes = wasteOf(groups, tokens, made.sequence_bytes);
    KVC_TRY(writeStruct(made, "plan", diag, plan));
    if (blocks)
      std::copy(pools.blocks.begin(), pools.blocks.end(), blocks);
    if (raw_blocks)
      std::copy(pools.rawBlocks.begin(), pools.rawBlocks.end(), raw_blocks);
    return KVC_OK;
  });
}
