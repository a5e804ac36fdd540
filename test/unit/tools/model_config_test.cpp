//===- model_config_test.cpp - The attention of a published model ---------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Curves.h"
#include "kvc/Failure.h"
#include "kvc/ModelConfig.h"

#include <gtest/gtest.h>

using namespace kvc;

namespace {

ModelConfig parse(const std::string &fields) {
  return parseModelConfig("{" + fields + "}", "config.json");
}

std::string messageOfText(const std::string &text) {
  try {
    parseModelConfig(text, "config.json");
  } catch (const Failure &failure) {
    EXPECT_EQ(failure.code, 1);
    return failure.what();
  }
  return "";
}

std::string messageOf(const std::string &fields) {
  return messageOfText("{" + fields + "}");
}

/// Layers and windows of the groups.
std::vector<std::pair<int64_t, int64_t>> groups(const std::string &fields) {
  std::vector<std::pair<int64_t, int64_t>> result;
  for (const ModelLayers &group :
       parse(R"("num_attention_heads": 8, "num_key_value_heads": 2,
                "head_dim": 64, )" +
             fields)
           .groups)
    result.emplace_back(group.layers, group.window);
  return result;
}

using Groups = std::vector<std::pair<int64_t, int64_t>>;

} // namespace

TEST(ModelConfig, HeadsAndChannels) {
  const ModelConfig llama = parse(R"("model_type": "llama", "hidden_size": 512,
               "num_hidden_layers": 3, "num_attention_heads": 8)");
  EXPECT_EQ(llama.layers(), 3);
  EXPECT_EQ(llama.qHeads, 8);
  EXPECT_EQ(llama.kvHeads, 8);
  EXPECT_EQ(llama.headDim, 64);
  EXPECT_EQ(llama.query, KVC_BF16);
  EXPECT_EQ(llama.maxTokens, 0);
  // A head_dim of its own need not be hidden_size / heads.
  const ModelConfig qwen =
      parse(R"("model_type": "qwen3", "hidden_size": 512, "head_dim": 128,
               "num_hidden_layers": 3, "num_attention_heads": 8,
               "num_key_value_heads": 2, "dtype": "float16",
               "max_position_embeddings": 4096)");
  EXPECT_EQ(qwen.kvHeads, 2);
  EXPECT_EQ(qwen.headDim, 128);
  EXPECT_EQ(qwen.query, KVC_F16);
  EXPECT_EQ(qwen.maxTokens, 4096);
  const ModelConfig latent =
      parse(R"("model_type": "deepseek_v3", "num_hidden_layers": 61,
               "num_attention_heads": 128, "num_key_value_heads": 128,
               "kv_lora_rank": 512, "qk_rope_head_dim": 64)");
  EXPECT_EQ(latent.kvHeads, 1);
  EXPECT_EQ(latent.headDim, 576);
  EXPECT_EQ(latent.latent, 512);
  const ModelConfig gemma =
      parse(R"("model_type": "gemma3", "torch_dtype": "float32",
               "text_config": {"num_hidden_layers": 12,
               "sliding_window": 1024})");
  EXPECT_EQ(gemma.qHeads, 8);
  EXPECT_EQ(gemma.kvHeads, 4);
  EXPECT_EQ(gemma.headDim, 256);
  EXPECT_EQ(gemma.query, KVC_F32);
}

TEST(ModelConfig, WhichLayersHaveAWindow) {
  EXPECT_EQ(groups(R"("model_type": "mistral", "num_hidden_layers": 4,
                      "sliding_window": 4096)"),
            (Groups{{4, 4096}}));
  EXPECT_EQ(groups(R"("model_type": "mistral", "num_hidden_layers": 4,
                      "sliding_window": null)"),
            (Groups{{4, 0}}));
  EXPECT_EQ(groups(R"("model_type": "llama", "num_hidden_layers": 4,
                      "sliding_window": 4096)"),
            (Groups{{4, 0}}));
  const std::string late = R"("model_type": "qwen2", "num_hidden_layers": 4,
                              "sliding_window": 100, "max_window_layers": 3,)";
  EXPECT_EQ(groups(late + R"("use_sliding_window": false)"), (Groups{{4, 0}}));
  EXPECT_EQ(groups(late + R"("use_sliding_window": true)"),
            (Groups{{3, 0}, {1, 100}}));
  EXPECT_EQ(groups(R"("model_type": "qwen2", "num_hidden_layers": 4,
                      "sliding_window": 100, "max_window_layers": 0,
                      "use_sliding_window": true)"),
            (Groups{{4, 100}}));
  // Layers that are listed with a window have none where there is none.
  const std::string listed = R"("num_hidden_layers": 2, "layer_types":
                      ["full_attention", "sliding_attention"], )";
  EXPECT_EQ(groups(listed + R"("model_type": "gpt_oss",
                      "sliding_window": null)"),
            (Groups{{2, 0}}));
  EXPECT_EQ(groups(listed + R"("model_type": "qwen3", "sliding_window": 100,
                      "use_sliding_window": false)"),
            (Groups{{2, 0}}));
  EXPECT_EQ(groups(listed + R"("model_type": "qwen3", "sliding_window": 100,
                      "use_sliding_window": true)"),
            (Groups{{1, 0}, {1, 100}}));
  EXPECT_EQ(groups(R"("model_type": "gemma2", "num_hidden_layers": 5,
                      "sliding_window": 100)"),
            (Groups{{2, 0}, {3, 100}}));
  EXPECT_EQ(groups(R"("model_type": "gemma3_text", "num_hidden_layers": 13,
                      "sliding_window": 100)"),
            (Groups{{2, 0}, {11, 100}}));
  EXPECT_EQ(groups(R"("model_type": "gpt_oss", "num_hidden_layers": 3,
                      "sliding_window": 128, "layer_types": ["full_attention",
                      "full_attention", "sliding_attention"])"),
            (Groups{{2, 0}, {1, 128}}));
}

TEST(ModelConfig, SaysWhatIsWrong) {
  const std::string llama = R"("model_type": "llama", "num_hidden_layers": 2,
                               "num_attention_heads": 8, )";
  EXPECT_EQ(messageOf(llama + R"("hidden_size": 100)"),
            "config.json: hidden_size: expected a multiple of "
            "num_attention_heads (8), got 100");
  EXPECT_EQ(messageOf(llama + R"("head_dim": 64.0)"),
            "config.json: head_dim: expected an integer from 1 to 1073741824, "
            "got \"64.0\"");
  EXPECT_EQ(messageOf(llama + R"("head_dim": 64, "torch_dtype": "int8")"),
            "config.json: torch_dtype: expected bfloat16, float16 or float32, "
            "got \"int8\"");
  EXPECT_EQ(messageOf(R"("model_type": "gpt_oss", "num_hidden_layers": 3,
                         "layer_types": ["full_attention"])"),
            "config.json: layer_types: expected a list of num_hidden_layers "
            "(3) names, got 1");
  EXPECT_EQ(messageOf(R"("model_type": "gemma2", "num_hidden_layers": 4)"),
            "config.json: sliding_window: expected an integer, got nothing");
  EXPECT_EQ(messageOf(R"("model_type": 3)"),
            "config.json: model_type: expected a string, got \"3\"");
  EXPECT_EQ(messageOf(R"("model_type": "llama", "num_hidden_layers": 99999)"),
            "config.json: num_hidden_layers: expected at most 65536, got "
            "99999");
  for (const char *other : {"[]", "null", "3"})
    EXPECT_EQ(messageOfText(other),
              "config.json: expected a config.json of a model, a JSON object, "
              "got something else");
  EXPECT_EQ(messageOfText("no JSON"),
            "config.json: expected JSON, got none: parse error at line 1, "
            "column 2: syntax error while parsing value - invalid literal; "
            "last read: 'no'");
  EXPECT_EQ(messageOfText("{\"model_type\":\n"),
            "config.json: expected JSON, got none: parse error at line 2, "
            "column 1: syntax error while parsing value - unexpected end of "
            "input; expected '[', '{', or a literal");
  EXPECT_EQ(messageOf(R"("model_type": "qwen2", "num_hidden_layers": 2,
                         "use_sliding_window": true, "max_window_layers": -1)"),
            "config.json: max_window_layers: expected an integer from 0 to "
            "1073741824, got \"-1\"");
}

TEST(CurvesSvg, DrawsWhatHasALogarithm) {
  CurvePlot plot{"a < b", "x", "y", {}};
  plot.curves.push_back({"one", {{1024, 100}, {2048, 50}, {4096, 0}}});
  plot.curves.push_back({"none", {{1024, 0}}});
  const std::string svg = asSvg(plot);
  EXPECT_NE(svg.find("a &lt; b"), std::string::npos);
  EXPECT_NE(svg.find(">one</text>"), std::string::npos);
  EXPECT_EQ(svg.find(">none</text>"), std::string::npos);
  // 1k to 4k on the axis; the curve begins on its left edge, at the top.
  EXPECT_NE(svg.find(">1k</text>"), std::string::npos);
  EXPECT_NE(svg.find(">4k</text>"), std::string::npos);
  EXPECT_NE(svg.find("points=\"70.0,48.0 420.0,"), std::string::npos) << svg;
  EXPECT_EQ(asSvg(CurvePlot()).find("nan"), std::string::npos);
}
