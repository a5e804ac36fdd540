//===- hash_test.cpp - SHA-256 and the layout hash ------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "SpecText.h"
#include "kvc/Spec/Sha256.h"

#include <gtest/gtest.h>
#include <set>

using namespace kvc;
using namespace kvc::spec;

namespace {

TEST(Sha256Test, FipsVectors) {
  EXPECT_EQ(sha256Hex("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256Hex(""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(
      sha256Hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256Hex("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                      "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrs"
                      "mnopqrstnopqrstu"),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(sha256Hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256Test, PiecesMakeNoDifference) {
  std::string text;
  for (int i = 0; i < 300; ++i)
    text += char('a' + i % 26);
  for (size_t size = 0; size <= text.size(); size += 7) {
    std::string message = text.substr(0, size);
    Sha256 whole;
    whole.update(message);
    for (size_t piece : {1, 3, 63, 64, 65}) {
      Sha256 parts;
      for (size_t at = 0; at < size; at += piece)
        parts.update(std::string_view(message).substr(at, piece));
      Sha256 copy = whole;
      EXPECT_EQ(parts.finish(), copy.finish())
          << size << " in pieces of " << piece;
    }
  }
}

std::string hashOf(const char *patch) {
  return layoutHash(test::parsePatched(patch));
}

TEST(LayoutHashTest, IsTheSameForever) {
  // Saved caches carry it: a change here makes them foreign.
  EXPECT_EQ(hashOf("{}"),
            "b0b5c3189e978a12e630c286d508f43a8e89c3d0f0155090146e1f1b625ae538");
}

TEST(LayoutHashTest, IgnoresWhatDecidesNoByte) {
  for (
      const char *patch : {
          R"({"name": "other"})",
          R"({"attention": {"q_heads": 8}})",
          R"({"attention": {"scale": 0.5}})",
          R"({"attention": {"mask": "none"}})",
          R"({"attention": {"window": 16, "window_sinks": 2}})",
          R"({"attention": {"softcap": 20.0, "alibi": true, "sink_logits": true}})",
          R"({"io": {"output": "f32"}})",
          R"({"key": {"scale": {"channels": 128}}})",
          R"({"key": {"round": "even", "clip": 1}})",
          R"({"key": {"rope": {"style": "half", "dims": 64}}})",
          R"({"key": {"codec": null, "scale": null, "parts": [{"channels": [0, 128], "codec": "int4", "scale": {"tokens": 1, "channels": "all", "dtype": "f16"}}]}})",
          R"({"layout": {"kind": "contiguous", "order": "auto"}})",
      })
    EXPECT_EQ(hashOf(patch), hashOf("{}")) << patch;
  // The slice of K that is V decides no byte either.
  EXPECT_EQ(
      hashOf(R"({"attention": {"value_is_key": "all"}, "value": null})"),
      hashOf(R"({"attention": {"value_is_key": [0, 64]}, "value": null})"));
}

TEST(LayoutHashTest, TellsApartWhatDecidesBytes) {
  std::set<std::string> seen;
  int patches = 0;
  for (const char *patch : {
           "{}",
           R"({"attention": {"kv_heads": 16}})",
           R"({"attention": {"head_dim": 64}})",
           R"({"attention": {"value_dim": 64}})",
           R"({"attention": {"value_is_key": "all"}, "value": null})",
           R"({"io": {"query": "bf16"}})",
           R"({"key": {"codec": "int8"}})",
           R"({"key": {"codec": "f16", "scale": null}})",
           R"({"key": {"codec": "bf16", "scale": null}})",
           R"({"value": {"codec": "int8"}})",
           R"({"key": {"codec": "lut", "table": {"bits": 2}}})",
           R"({"key": {"codec": "lut", "table": {"bits": 3}}})",
           R"({"key": {"codec": "lut", "table": [0, 1, 2, 3]}})",
           R"({"key": {"codec": "lut", "table": [0, 1, 2, 4]}})",
           R"({"key": {"scale": {"channels": 64}}})",
           R"({"key": {"scale": {"dtype": "bf16"}}})",
           R"({"key": {"scale": {"dtype": "e4m3"}}})",
           R"({"key": {"scale": {"dtype": "e4m3", "global": 0.5}}})",
           R"({"key": {"scale": {"round": "up"}}})",
           R"({"key": {"scale": {"floor": 0.001}}})",
           R"({"key": {"scale": {"tokens": "all", "static": true}}})",
           R"({"segments": {"recent": 8}})",
           R"({"segments": {"recent": 8}, "key": {"scale": {"tokens": 8}}})",
           R"({"segments": {"sink": 8}})",
           R"({"key": {"zero": "min"}})",
           R"({"key": {"zero": "code"}})",
           R"({"key": {"clip": 0.5}})",
           R"({"key": {"estimate": "signed"}})",
           R"({"key": {"codes_from": "exact"}})",
           R"({"key": {"round": "up"}})",
           R"({"key": {"rotate": 64}})",
           R"({"key": {"smooth": true}})",
           R"({"key": {"outliers": 1}})",
           R"({"layout": {"order": "nhd"}})",
           R"({"layout": {"kind": "paged", "page": 64}})",
           R"({"layout": {"kind": "paged", "page": 128}})",
           R"({"layout": {"kind": "paged", "page": 64, "interleaved": true}})",
           R"({"attention": {"window": 16}, "layout": {"kind": "ring"}})",
           R"({"attention": {"window": 32}, "layout": {"kind": "ring"}})",
       }) {
    EXPECT_TRUE(seen.insert(hashOf(patch)).second) << patch;
    ++patches;
  }
  EXPECT_EQ(seen.size(), size_t(patches));
}

} // namespace
