//===- CacheFixture.h - A cache and short calls on it -----------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_RUNTIME_CACHEFIXTURE_H
#define KVC_TEST_UNIT_RUNTIME_CACHEFIXTURE_H

#include "FakeModule.h"

#include <gtest/gtest.h>

namespace kvc::test {

/// Short calls that fail the test where they should succeed.
struct Cache {
  CachePtr handle;
  Message message;

  Cache() = default;
  explicit Cache(const kvc_cache_options &options) {
    kvc_cache *made = nullptr;
    EXPECT_EQ(kvc_cache_create(&options, message.get(), &made), KVC_OK)
        << message.text;
    handle.reset(made);
  }
  kvc_cache *get() const { return handle.get(); }

  kvc_sequence create() {
    kvc_sequence sequence = 0;
    EXPECT_EQ(kvc_cache_create_sequence(get(), message.get(), &sequence),
              KVC_OK)
        << message.text;
    EXPECT_NE(sequence, 0u);
    return sequence;
  }
  kvc_status append(const std::vector<kvc_sequence> &sequences,
                    const std::vector<int64_t> &tokens) {
    kvc_append_request request = {sizeof(request), int64_t(sequences.size()),
                                  sequences.data(), tokens.data()};
    kvc_status probe = kvc_cache_can_append(get(), &request, nullptr);
    kvc_status status = kvc_cache_append(get(), &request, message.get());
    EXPECT_EQ(probe, status);
    return status;
  }
  void commit(kvc_sequence sequence, int64_t tokens) {
    EXPECT_EQ(kvc_cache_commit(get(), sequence, tokens, message.get()), KVC_OK)
        << message.text;
  }
  void grow(kvc_sequence sequence, int64_t tokens) {
    EXPECT_EQ(append({sequence}, {tokens}), KVC_OK) << message.text;
    commit(sequence, tokens);
  }
  kvc_status free(kvc_sequence sequence) {
    return kvc_cache_free_sequence(get(), sequence, message.get());
  }
  int64_t length(kvc_sequence sequence) {
    int64_t length = -1;
    EXPECT_EQ(kvc_cache_length(get(), sequence, message.get(), &length),
              KVC_OK);
    return length;
  }
  int64_t pending(kvc_sequence sequence) {
    int64_t length = -1;
    EXPECT_EQ(kvc_cache_pending_length(get(), sequence, message.get(), &length),
              KVC_OK);
    return length;
  }
  kvc_cache_stats stats() {
    kvc_cache_stats stats = {};
    stats.struct_size = sizeof(stats);
    EXPECT_EQ(kvc_cache_get_stats(get(), message.get(), &stats), KVC_OK);
    EXPECT_EQ(stats.null + stats.used + stats.free, stats.total);
    return stats;
  }
  kvc_cache_view view(kvc_sequence sequence) {
    kvc_cache_view view = {};
    EXPECT_EQ(kvc_cache_get_view(get(), sequence, message.get(), &view),
              KVC_OK);
    return view;
  }
  std::vector<int32_t> table(kvc_sequence sequence, int64_t columns) {
    std::vector<int32_t> table(size_t(columns), -7);
    int32_t length = -1;
    EXPECT_EQ(kvc_cache_block_table(get(), &sequence, 1, columns, message.get(),
                                    table.data(), &length),
              KVC_OK)
        << message.text;
    EXPECT_EQ(length, pending(sequence));
    return table;
  }
  bool says(const std::string &text) const {
    return std::string(message.text).find(text) != std::string::npos;
  }
};

inline kvc_cache_options cacheOptions(const kvc_spec *spec) {
  kvc_cache_options options = {};
  options.struct_size = sizeof(options);
  options.spec = spec;
  return options;
}

inline SpecText pagedText(int page, const std::string &more = "") {
  SpecText text;
  text.layout = R"({"kind": "paged", "page": )" + std::to_string(page) +
                R"(, "order": "nhd")" + more + "}";
  return text;
}

} // namespace kvc::test

#endif // KVC_TEST_UNIT_RUNTIME_CACHEFIXTURE_H
