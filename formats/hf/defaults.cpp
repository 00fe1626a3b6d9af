// SPDX-License-Identifier: Apache-2.0
// A row holds the value of one fact and the types of models whose configuration has it by default,
// between blanks, so that a type is found with its borders. script/hf-defaults writes the rows.

#include "formats/hf/defaults.hpp"

#include <fmt/format.h>

#include <string>
#include <variant>

namespace ttcheck::formats {
namespace {

/// Of the release kTransformers.
struct Row {
  std::string_view fact;
  std::variant<bool, std::int64_t, double, std::string_view> value;
  std::string_view types;  ///< a blank on both sides of each
};

constexpr Row kRows[] = {
    Row{"model.activation", std::string_view("gelu"),
        " bart bert bert-generation biogpt blenderbot blenderbot-small camembert convbert "
        "data2vec-text deberta deberta-v2 electra ernie git gpt_neox gpt_neox_japanese gte ibert "
        "jina_embeddings_v3 layoutlm led longformer luke marian mbart megatron-bert mpnet mra mvp "
        "pegasus pegasus_x perceiver plbart prophetnet rembert roberta roberta-prelayernorm "
        "roc_bert roformer squeezebert tapas trocr whisper xglm xlm-roberta xlm-roberta-xl xmod "
        "yoso zamba "},
    Row{"model.activation", std::string_view("gelu_new"),
        " albert big_bird bigbird_pegasus codegen fnet funnel gpt-sw3 gpt2 gptj nystromformer "
        "phi "},
    Row{"model.activation", std::string_view("gelu_pytorch_tanh"),
        " gemma gpt_bigcode starcoder2 "},
    Row{"model.activation", std::string_view("relu"),
        " fsmt m2m_100 mobilebert nllb-moe opt reformer seamless_m4t seamless_m4t_v2 "},
    Row{"model.activation", std::string_view("relu2"),
        " arcee bitnet jais2 nanochat nemotron neomme persimmon "},
    Row{"model.activation", std::string_view("silu"),
        " afmoe aria_text axk1 axk2 bailing_hybrid bamba beam cohere cohere2 cohere2_moe "
        "cohere_compass_text cwm deepseek_v2 deepseek_v3 deepseek_v32 deepseek_v4 diffllama doge "
        "dory dots1 ernie4_5 ernie4_5_moe esmc eurobert exaone exaone4 exaone_moe falcon_h1 "
        "falcon_mamba flex_olmo flint glm glm4 glm4_moe glm4_moe_lite glm_moe_dsa gpt_oss granite "
        "granite_swa granitemoe granitemoe_swa granitemoehybrid granitemoeshared helium hrm_text "
        "hunyuan_v1_dense hunyuan_v1_moe hy_v3 hy_v4 hyperclovax inkling2_loop_text inkling2_text "
        "inkling_text internlm3 iquestcoder jamba jetmoe kimi_linear kolibri1 laguna lara_mini "
        "llama llama4_text longcat_flash mamba mellum mimo_v2_flash minicpm3 minimax minimax_m2 "
        "minimax_m3_vl_text ministral ministral3 mistral mixtral moshi nomic_bert olmo olmo2 olmo3 "
        "olmo_hybrid olmoe phi3 phi4_multimodal phimoe qwen2 qwen2_moe qwen3 qwen3_5_moe_text "
        "qwen3_5_text qwen3_moe qwen3_next qwen4_exp_text sarvam_mla sarvam_moe seed_oss smollm3 "
        "solar_open stablelm ultrabert voxtral_realtime_text youtu zaya "},
    Row{"model.activation", std::string_view("xielu"), " apertus apertus1p5_text "},
    Row{"model.experts_per_token", std::int64_t{10}, " qwen3_next qwen4_exp_text "},
    Row{"model.experts_per_token", std::int64_t{1}, " llama4_text zaya "},
    Row{"model.experts_per_token", std::int64_t{2},
        " cohere2_moe granitemoe granitemoe_swa granitemoehybrid granitemoeshared jamba jetmoe "
        "minimax mixtral nemotron_h phimoe "},
    Row{"model.experts_per_token", std::int64_t{4},
        " glm4_moe_lite gpt_oss lara_mini lfm2_moe minimax_m3_vl_text qwen2_moe "},
    Row{"model.experts_per_token", std::int64_t{5}, " flex_olmo "},
    Row{"model.experts_per_token", std::int64_t{64}, " doge "},
    Row{"model.experts_per_token", std::int64_t{6},
        " afmoe deepseek_v4 flint inkling_text kolibri1 sarvam_moe "},
    Row{"model.experts_per_token", std::int64_t{8},
        " axk1 axk2 beam deepseek_v3 deepseek_v32 exaone_moe glm4_moe glm_moe_dsa hy_v3 hy_v4 "
        "inkling2_loop_text inkling2_text laguna mellum mimo_v2_flash minimax_m2 olmoe "
        "qwen3_5_moe_text qwen3_moe sarvam_mla solar_open "},
    Row{"model.head_dim", std::int64_t{1280}, " musicflamingo "},
    Row{"model.head_dim", std::int64_t{128},
        " afmoe aria_text beam cohere2 cohere2_moe cohere_compass_text cwm ernie4_5 exaone flint "
        "glm glm4 helium hrm_text hy_v3 hyperclovax inkling2_loop_text inkling2_text inkling_text "
        "internlm3 iquestcoder jais2 kolibri1 laguna lara_mini lfm3 llama llama4_text mellum "
        "minimax_m2 minimax_m3_vl_text ministral3 mistral moshi nemotron nemotron_h qwen3 seed_oss "
        "solar_open ultrabert voxtral_realtime_text zaya "},
    Row{"model.head_dim", std::int64_t{192}, " mimo_v2_flash "},
    Row{"model.head_dim", std::int64_t{256},
        " dory gemma gemma2 gemma3_text gemma3n_text gemma4_text gemma4_unified_text "
        "qwen3_5_moe_text qwen3_5_text qwen3_next qwen4_exp_text recurrent_gemma t5gemma2_text "
        "vaultgemma "},
    Row{"model.head_dim", std::int64_t{32}, " axk2 minicpm3 "},
    Row{"model.head_dim", std::int64_t{512}, " deepseek_v4 "},
    Row{"model.head_dim", std::int64_t{64},
        " axk1 bailing_hybrid deepseek_v2 deepseek_v3 deepseek_v32 diffllama esmc eurobert "
        "glm_moe_dsa gpt_oss hy_v4 kimi_linear longcat_flash neomme nomic_bert sarvam_mla "
        "sarvam_moe youtu "},
    Row{"model.head_dim", std::int64_t{80}, " arcee "},
    Row{"model.heads", std::int64_t{10}, " recurrent_gemma "},
    Row{"model.heads", std::int64_t{128}, " deepseek_v3 deepseek_v32 "},
    Row{"model.heads", std::int64_t{12},
        " bert big_bird camembert convbert data2vec-text deberta distilbert ernie esm eurobert "
        "funnel git gpt-sw3 gpt2 gpt_bigcode gte hrm_text ibert layoutlm longformer luke "
        "modernbert modernbert-decoder mpnet mra nomic_bert nystromformer openai-gpt opt reformer "
        "roberta roberta-prelayernorm roc_bert roformer squeezebert tapas xlm-roberta xmod yoso "},
    Row{"model.heads", std::int64_t{16},
        " afmoe bert-generation biogpt codegen ctrl dbrx dory ernie4_5 flaubert gemma gptj "
        "jina_embeddings_v3 lara_mini lfm3 megatron-bert mpt neomme olmoe qwen2_moe "
        "qwen3_5_moe_text qwen3_5_text qwen3_next qwen4_exp_text smollm3 xlm xlnet youtu zamba "},
    Row{"model.heads", std::int64_t{18}, " rembert "},
    Row{"model.heads", std::int64_t{20}, " bitnet ernie4_5_moe glm4_moe_lite granite_swa helium "},
    Row{"model.heads", std::int64_t{24}, " deberta-v2 inkling2_loop_text starcoder2 "},
    Row{"model.heads", std::int64_t{26}, " jais2 "},
    Row{"model.heads", std::int64_t{30}, " olmo_hybrid "},
    Row{"model.heads", std::int64_t{32},
        " apertus apertus1p5_text arcee aria_text axk2 bailing_hybrid bamba cpmant deepseek_v2 "
        "diffllama dots1 exaone exaone4 exaone_moe falcon_h1 flex_olmo flint glm glm4 "
        "gpt_neox_japanese granite granitemoe granitemoe_swa granitemoehybrid granitemoeshared "
        "hunyuan_v1_dense hunyuan_v1_moe hy_v4 hyperclovax internlm3 jamba jetmoe kimi_linear lfm2 "
        "lfm2_moe llama mellum minimax ministral ministral3 mistral mixtral moshi nemotron_h olmo "
        "olmo2 olmo3 phi phi3 phi4_multimodal phimoe qwen2 qwen3 qwen3_moe stablelm ultrabert "
        "voxtral_realtime_text xlm-roberta-xl "},
    Row{"model.heads", std::int64_t{40}, " esmc iquestcoder llama4_text minicpm3 "},
    Row{"model.heads", std::int64_t{48},
        " beam cwm inkling2_text kolibri1 laguna minimax_m2 nemotron "},
    Row{"model.heads", std::int64_t{4}, " electra mobilebert "},
    Row{"model.heads", std::int64_t{64},
        " albert axk1 cohere cohere2 cohere2_moe cohere_compass_text deepseek_v4 glm_moe_dsa "
        "gpt_neox gpt_oss hy_v3 inkling_text longcat_flash mimo_v2_flash minimax_m3_vl_text "
        "persimmon sarvam_mla sarvam_moe solar_open "},
    Row{"model.heads", std::int64_t{6}, " nanochat "},
    Row{"model.heads", std::int64_t{71}, " falcon "},
    Row{"model.heads", std::int64_t{80}, " seed_oss "},
    Row{"model.heads", std::int64_t{8},
        " bloom doge gemma2 gemma3_text gemma3n_text gemma4_text gemma4_unified_text t5gemma2_text "
        "vaultgemma zaya "},
    Row{"model.heads", std::int64_t{96}, " glm4_moe "},
    Row{"model.kv_heads", std::int64_t{128}, " deepseek_v3 deepseek_v32 "},
    Row{"model.kv_heads", std::int64_t{16}, " gemma jetmoe qwen2_moe youtu zamba "},
    Row{"model.kv_heads", std::int64_t{1}, " dbrx deepseek_v4 gpt_bigcode "},
    Row{"model.kv_heads", std::int64_t{20}, " glm4_moe_lite helium "},
    Row{"model.kv_heads", std::int64_t{2},
        " ernie4_5 gemma3n_text glm glm4 internlm3 qwen3_5_moe_text qwen3_next qwen4_exp_text "
        "starcoder2 zaya "},
    Row{"model.kv_heads", std::int64_t{32},
        " axk2 bailing_hybrid dots1 exaone4 exaone_moe kimi_linear qwen2 qwen3 stablelm "},
    Row{"model.kv_heads", std::int64_t{40}, " minicpm3 "},
    Row{"model.kv_heads", std::int64_t{4},
        " dory ernie4_5_moe flint gemma2 gemma3_text gemma4_text gemma4_unified_text granite_swa "
        "kolibri1 lara_mini lfm3 mellum mimo_v2_flash minimax_m3_vl_text neomme qwen3_5_text "
        "qwen3_moe sarvam_moe smollm3 t5gemma2_text vaultgemma "},
    Row{"model.kv_heads", std::int64_t{5}, " bitnet "},
    Row{"model.kv_heads", std::int64_t{64}, " axk1 glm_moe_dsa "},
    Row{"model.kv_heads", std::int64_t{8},
        " bamba beam cwm exaone falcon_h1 glm4_moe gpt_oss hy_v3 inkling2_loop_text inkling2_text "
        "inkling_text iquestcoder jamba laguna lfm2 lfm2_moe llama4_text minimax minimax_m2 "
        "ministral ministral3 mistral mixtral nemotron_h phi4_multimodal phimoe seed_oss "
        "solar_open voxtral_realtime_text "},
    Row{"model.norm_eps", 1.5625e-07, " glm glm4 "},
    Row{"model.norm_eps", 1e-05,
        " afmoe apertus apertus1p5_text arcee bamba bitnet bloom codegen cohere cohere2 "
        "cohere2_moe cohere_compass_text cwm diffllama ernie4_5 ernie4_5_moe eurobert exaone "
        "exaone4 exaone_moe falcon falcon_h1 falcon_mamba glm4_moe glm4_moe_lite glm_moe_dsa "
        "gpt-sw3 gpt2 gpt_bigcode gpt_neox gpt_neox_japanese gpt_oss gptj granite_swa "
        "hunyuan_v1_dense hunyuan_v1_moe hy_v3 hy_v4 internlm3 iquestcoder jais2 "
        "jina_embeddings_v3 kimi_linear llama4_text longcat_flash mamba mimo_v2_flash minicpm3 "
        "minimax ministral3 mixtral mpt mra nemotron_h nystromformer olmo2 olmo3 olmoe openai-gpt "
        "persimmon phi phi3 phi4_multimodal phimoe rwkv seamless_m4t seamless_m4t_v2 solar_open "
        "stablelm xlm-roberta-xl zamba zaya "},
    Row{"model.norm_eps", 1e-06,
        " aria_text axk1 axk2 bailing_hybrid beam ctrl deepseek_v2 deepseek_v3 deepseek_v32 "
        "deepseek_v4 doge dots1 flex_olmo flint gemma gemma2 gemma3_text gemma3n_text gemma4_text "
        "gemma4_unified_text granite granitemoe granitemoe_swa granitemoehybrid granitemoeshared "
        "hrm_text hyperclovax inkling2_loop_text inkling2_text inkling_text jamba jetmoe kolibri1 "
        "laguna lara_mini llama longt5 mellum minimax_m2 minimax_m3_vl_text ministral mistral mt5 "
        "nanochat olmo_hybrid qwen2 qwen2_moe qwen3 qwen3_5_moe_text qwen3_5_text qwen3_moe "
        "qwen3_next qwen4_exp_text recurrent_gemma sarvam_mla sarvam_moe seed_oss smollm3 "
        "switch_transformers t5 t5gemma2_text ultrabert umt5 vaultgemma voxtral_realtime_text "
        "youtu "},
    Row{"model.norm_eps", 1e-07, " deberta deberta-v2 "},
    Row{"model.norm_eps", 1e-08, " helium moshi "},
    Row{"model.norm_eps", 1e-09, " funnel "},
    Row{"model.norm_eps", 1e-12,
        " albert bert bert-generation big_bird biogpt camembert convbert data2vec-text electra "
        "ernie esm flaubert fnet git gte ibert layoutlm longformer luke megatron-bert mobilebert "
        "mpnet nomic_bert perceiver reformer rembert roberta roberta-prelayernorm roc_bert "
        "roformer squeezebert tapas xlm xlm-roberta xlnet xmod yoso "},
    Row{"model.rope_factor", 16.0, " cwm ministral3 "},
    Row{"model.rope_factor", 32.0, " gpt_oss "},
    Row{"model.rope_factor", 8.0, " apertus apertus1p5_text "},
    Row{"model.rope_theta", 1000.0, " nomic_bert "},
    Row{"model.rope_theta", 10000.0,
        " afmoe arcee aria_text axk1 axk2 bamba cohere2 cohere2_moe dbrx deepseek_v2 deepseek_v3 "
        "deepseek_v32 deepseek_v4 diffllama doge dots1 esm esmc eurobert exaone4 exaone_moe falcon "
        "falcon_h1 flint gemma gemma2 glm glm4 glm4_moe glm4_moe_lite glm_moe_dsa gpt_neox "
        "gpt_neox_japanese granite granite_swa granitemoe granitemoe_swa granitemoehybrid "
        "granitemoeshared hrm_text hunyuan_v1_dense hunyuan_v1_moe hy_v4 hyperclovax internlm3 "
        "iquestcoder jais2 jetmoe kolibri1 lara_mini llama minicpm3 ministral mistral moshi "
        "nanochat nemotron olmo olmo2 olmo_hybrid olmoe persimmon phi phi3 phi4_multimodal qwen2 "
        "qwen2_moe qwen3 qwen3_5_moe_text qwen3_5_text qwen3_moe qwen3_next qwen4_exp_text "
        "recurrent_gemma sarvam_mla seed_oss stablelm starcoder2 vaultgemma voxtral_realtime_text "
        "youtu "},
    Row{"model.rope_theta", 100000.0, " helium "},
    Row{"model.rope_theta", 1000000.0,
        " cwm lfm2 lfm2_moe minimax ministral3 mixtral phimoe solar_open "},
    Row{"model.rope_theta", 10000000.0, " longcat_flash "},
    Row{"model.rope_theta", 11158840.0, " hy_v3 "},
    Row{"model.rope_theta", 1200.0, " musicflamingo "},
    Row{"model.rope_theta", 12000000.0, " apertus apertus1p5_text "},
    Row{"model.rope_theta", 150000.0, " gpt_oss "},
    Row{"model.rope_theta", 160000.0, " gte "},
    Row{"model.rope_theta", 20000.0, " jina_embeddings_v3 "},
    Row{"model.rope_theta", 2000000.0, " smollm3 "},
    Row{"model.rope_theta", 500000.0,
        " bitnet blt cohere ernie4_5 ernie4_5_moe exaone flex_olmo llama4_text "},
    Row{"model.rope_theta", 5000000.0, " minimax_m2 minimax_m3_vl_text "},
    Row{"model.rope_theta", 6000000.0, " bailing_hybrid "},
    Row{"model.rope_theta", 8000000.0, " sarvam_moe "},
    Row{"model.rope_type", std::string_view("default"),
        " afmoe arcee aria_text axk1 axk2 bailing_hybrid bamba bitnet blt cohere cohere2 "
        "cohere2_moe dbrx deepseek_v2 deepseek_v3 deepseek_v32 diffllama doge dots1 ernie4_5 "
        "ernie4_5_moe esmc eurobert exaone exaone4 exaone_moe falcon falcon_h1 flex_olmo flint "
        "gemma gemma2 glm glm4 glm4_moe glm4_moe_lite glm_moe_dsa gpt_neox gpt_neox_japanese "
        "granite granite_swa granitemoe granitemoe_swa granitemoehybrid granitemoeshared gte "
        "helium hrm_text hunyuan_v1_dense hunyuan_v1_moe hy_v3 hy_v4 hyperclovax internlm3 "
        "iquestcoder jais2 jetmoe jina_embeddings_v3 kolibri1 lara_mini lfm2 lfm2_moe llama "
        "llama4_text longcat_flash minicpm3 minimax minimax_m2 minimax_m3_vl_text ministral "
        "mistral mixtral moshi musicflamingo nanochat nemotron nomic_bert olmo olmo2 olmo_hybrid "
        "olmoe persimmon phi phi3 phi4_multimodal phimoe qwen2 qwen2_moe qwen3 qwen3_5_moe_text "
        "qwen3_5_text qwen3_moe qwen3_next qwen4_exp_text recurrent_gemma sarvam_mla sarvam_moe "
        "seed_oss smollm3 solar_open stablelm starcoder2 vaultgemma voxtral_realtime_text youtu "},
    Row{"model.rope_type", std::string_view("llama3"), " apertus apertus1p5_text cwm "},
    Row{"model.rope_type", std::string_view("yarn"), " gpt_oss ministral3 "},
    Row{"model.rotary_fraction", 0.125, " deepseek_v4 "},
    Row{"model.rotary_fraction", 0.2, " musicflamingo "},
    Row{"model.rotary_fraction", 0.25,
        " gpt_neox qwen3_5_moe_text qwen3_5_text qwen3_next stablelm "},
    Row{"model.rotary_fraction", 0.5,
        " bamba glm glm4 glm4_moe nemotron persimmon phi recurrent_gemma "},
    Row{"model.rotary_fraction", 1.0, " gpt_neox_japanese phi3 phi4_multimodal sarvam_moe "},
    Row{"model.sliding_window", std::int64_t{0}, " qwen2_moe "},
    Row{"model.sliding_window", std::int64_t{1024}, " afmoe dory gemma4_unified_text mellum "},
    Row{"model.sliding_window", std::int64_t{128},
        " deepseek_v4 gpt_oss granite_swa granitemoe_swa ultrabert "},
    Row{"model.sliding_window", std::int64_t{129}, " mimo_v2_flash "},
    Row{"model.sliding_window", std::int64_t{256}, " lfm3 neomme "},
    Row{"model.sliding_window", std::int64_t{3000}, " moshi "},
    Row{"model.sliding_window", std::int64_t{4096},
        " cohere2 cohere2_moe cohere_compass_text dots1 exaone4 exaone_moe gemma2 gemma3_text "
        "ministral mistral olmo3 t5gemma2_text vaultgemma voxtral_realtime_text "},
    Row{"model.sliding_window", std::int64_t{512},
        " beam gemma3n_text gemma4_text laguna lara_mini "},
    Row{"model.sliding_window", std::int64_t{513}, " flint kolibri1 "},
    Row{"model.sliding_window", std::int64_t{64}, " modernbert-decoder "},
    Row{"model.sliding_window", std::int64_t{8192}, " cwm "},
    Row{"model.tied_embeddings", false,
        " afmoe apertus apertus1p5_text arcee aria_text axk1 axk2 bailing_hybrid bamba beam bitnet "
        "blt codegen cwm dbrx deepseek_v2 deepseek_v3 deepseek_v32 deepseek_v4 diffllama doge dory "
        "dots1 dots3_note emu3 esmc eurobert exaone exaone4 exaone_moe falcon_h1 flex_olmo flint "
        "fsmt fuyu git glm glm4 glm4_moe glm4_moe_lite glm_moe_dsa gpt_neox gpt_oss gptj granite "
        "granitemoe granitemoe_swa granitemoehybrid granitemoeshared helium hrm_text "
        "hunyuan_v1_dense hunyuan_v1_moe hy_v3 hy_v4 hyperclovax internlm3 iquestcoder jais2 jamba "
        "kimi_linear kolibri1 laguna llama llama4 llama4_text longcat_flash mellum mimo_v2_flash "
        "minimax minimax_m2 minimax_m3_vl_text ministral ministral3 mistral mixtral modernvbert "
        "moshi nanochat nemotron nemotron_h olmo olmo2 olmo3 olmo_hybrid olmoe persimmon phi phi3 "
        "phi4_multimodal phimoe qwen2 qwen2_moe qwen3 qwen3_5 qwen3_5_moe qwen3_5_moe_text "
        "qwen3_5_text qwen3_moe qwen3_next qwen4_exp qwen4_exp_text reformer rembert rwkv "
        "sarvam_mla sarvam_moe seed_oss solar_open stablelm ultrabert ultravbert xlstm "},
    Row{"model.tied_embeddings", true,
        " albert bart bert bert-generation big_bird bigbird_pegasus biogpt blenderbot "
        "blenderbot-small bloom camembert cohere cohere2 cohere2_moe cohere_compass_text convbert "
        "cpmant ctrl data2vec-text deberta deberta-v2 distilbert electra ernie ernie4_5 "
        "ernie4_5_moe esm falcon falcon_mamba flaubert fnet funnel gemma gemma2 gemma3 gemma3_text "
        "gemma3n gemma3n_text gemma4 gemma4_text gemma4_unified gemma4_unified_assistant "
        "gemma4_unified_text glmasr got_ocr2 gpt-sw3 gpt2 gpt_bigcode gpt_neox_japanese "
        "granite_speech granite_speech_plus granite_swa gte ibert jetmoe jina_embeddings_v3 "
        "lara_mini layoutlm led lfm2 lfm2_moe lfm3 longformer longt5 luke m2m_100 mamba marian "
        "mbart megatron-bert minicpm3 mobilebert modernbert modernbert-decoder "
        "moss_transcribe_diarize mpnet mpt mra mt5 mvp neomme nllb-moe nystromformer openai-gpt "
        "opt pegasus pegasus_x plbart prophetnet qwen3_asr recurrent_gemma roberta "
        "roberta-prelayernorm roc_bert roformer seamless_m4t seamless_m4t_v2 smollm3 squeezebert "
        "starcoder2 switch_transformers t5 t5gemma t5gemma2 t5gemma2_text tapas trocr umt5 "
        "vaultgemma voxtral_realtime whisper xglm xlm xlm-roberta xlm-roberta-xl xlnet xmod yoso "
        "youtu zamba zaya "},
};

}  // namespace

std::optional<FactValue> hf_default(std::string_view model_type, std::string_view fact) {
  const std::string word = fmt::format(" {} ", model_type);
  for (const Row& row : kRows) {
    if (row.fact != fact || row.types.find(word) == std::string_view::npos) continue;
    if (const auto* text = std::get_if<std::string_view>(&row.value)) return std::string(*text);
    if (const auto* number = std::get_if<std::int64_t>(&row.value)) return *number;
    if (const auto* real = std::get_if<double>(&row.value)) return *real;
    return std::get<bool>(row.value);
  }
  return std::nullopt;
}

}  // namespace ttcheck::formats
