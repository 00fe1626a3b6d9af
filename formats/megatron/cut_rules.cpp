// SPDX-License-Identifier: Apache-2.0
// Rows are tried from the first to the last, so what is special stands before what is general:
// experts before the MLP, the heads of BERT before attention. A name that no row matches has no
// rule. Below version 1 two rows for the old order of queries, keys and values go before all.
// A gated layer holds on each rank a part of gate and then one of up. A plain cut would give the
// right shape and wrong content, so `(gate|up)` cuts each of them. The parts of Mamba's
// projections have sizes from the arguments; where these are not known, the rows are left out.
// Rows of the vocabulary may be padding only where the number of words is known. Experts are cut
// over `etp`, which is the same axis as `tp` where both have the same size.
// Down projections of latent attention are cut or whole by how the model was built, so the number
// of stored rows decides. A stated shape is given only if all of its extents are known.

#include "formats/megatron/cut_rules.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>

#include "core/base/checked.hpp"
#include "formats/megatron/names.hpp"

namespace ttcheck::formats {
namespace {

/// `gated` (empty: no other) takes the place of `dims` where the activation is a gated one.
struct Row {
  std::string_view match;
  std::string_view dims;
  std::string_view gated = {};
};

// The first row that matches counts.
constexpr std::array kRows = {
    // Vocabulary. The padding rows are noise, and as many as the number of ranks needs.
    Row{"**.{word_embeddings,output_layer,word_embeddings_for_head}.weight", "v[tp:pad=vocab] h"},
    Row{"**.{output_layer,lm_head}.bias", "v[tp:pad=vocab]"},
    // Experts, one by one or numbered within one module.
    Row{"**.experts.local_experts.*.{linear_fc1,dense_h_to_4h}.weight", "x[etp] y",
        "(gate|up)[etp] y"},
    Row{"**.experts.local_experts.*.{linear_fc1,dense_h_to_4h}.bias", "x[etp]", "(gate|up)[etp]"},
    Row{"**.experts.local_experts.*.{linear_fc2,dense_4h_to_h}.weight", "x y[etp]"},
    Row{"**.experts.local_experts.*.{linear_fc2,dense_4h_to_h}.bias", "*"},
    Row{"**.experts.linear_fc1.weight{e}", "x[etp] y", "(gate|up)[etp] y"},
    Row{"**.experts.linear_fc1.bias{e}", "x[etp]", "(gate|up)[etp]"},
    Row{"**.experts.linear_fc2.weight{e}", "x y[etp]"},
    Row{"**.experts.linear_fc2.bias{e}", "*"},
    // Norms, wherever they are fused in. The Mamba mixer's own norm is cut with its channels.
    Row{"**.mixer.norm.weight", "x[tp]"},
    Row{"**.{layer_norm_weight,layer_norm_bias}", "*"},
    Row{"**.{*norm,*layernorm,*layer_norm}.{weight,bias}", "*"},
    // BERT's heads.
    Row{"**.{lm_head,pooler,binary_head}.**", "*"},
    // Attention.
    Row{"**.{linear_qkv,linear_q,linear_kv,query_key_value,query,key_value}.weight", "x[tp] y"},
    Row{"**.{linear_qkv,linear_q,linear_kv,query_key_value,query,key_value}.bias", "x[tp]"},
    Row{"**.{linear_q_proj,linear_q_up_proj,linear_kv_up_proj}.weight", "x[tp] y"},
    Row{"**.{linear_q_down_proj,linear_kv_down_proj,linear_qkv_down_proj}.weight", "*"},
    Row{"**.{linear_proj,dense}.weight", "x y[tp]"},
    Row{"**.{linear_proj,dense}.bias", "*"},
    // MLP; shared experts are cut like it.
    Row{"**.{linear_fc1,dense_h_to_4h}.weight", "x[tp] y", "(gate|up)[tp] y"},
    Row{"**.{linear_fc1,dense_h_to_4h}.bias", "x[tp]", "(gate|up)[tp]"},
    Row{"**.{linear_fc2,dense_4h_to_h}.weight", "x y[tp]"},
    Row{"**.{linear_fc2,dense_4h_to_h}.bias", "*"},
    Row{"**.router.**", "*"},
    Row{"**.shared_experts.gate_weight", "*"},
    // Mamba.
    Row{"**.mixer.conv1d.weight", "{xBC}[tp] one k"},
    Row{"**.mixer.conv1d.bias", "{xBC}[tp]"},
    Row{"**.mixer.in_proj.weight", "{zxBCdt}[tp] h"},
    Row{"**.mixer.out_proj.weight", "x y[tp]"},
    Row{"**.mixer.{A_log,D,dt_bias}", "x[tp]"},
    // Multi-token prediction; positions.
    Row{"**.eh_proj.weight", "x[tp] y"},
    Row{"**.{position_embeddings,tokentype_embeddings}.weight", "*"},
};

/// The version below which the parts of query_key_value lie apart (checkpointing.py,
/// fix_query_key_value_ordering).
constexpr double kPartsTogether = 1.0;

std::string with_parts(std::string text, std::string_view mark, const std::string& parts) {
  const std::size_t at = text.find(mark);
  if (at != std::string::npos) text.replace(at, mark.size(), parts);
  return text;
}

std::string dims_of(const Row& row, const MegatronArgs& args) {
  std::string dims(args.swiglu && !row.gated.empty() ? row.gated : row.dims);
  const std::int64_t shared = checked_mul(args.mamba_groups, args.mamba_state);
  const std::string x_b_c = fmt::format("x:{}|B:{}|C:{}", args.mamba_inner, shared, shared);
  dims = with_parts(std::move(dims), "{xBC}", "(" + x_b_c + ")");
  dims = with_parts(std::move(dims), "{zxBCdt}",
                    fmt::format("(z:{}|{}|dt:{})", args.mamba_inner, x_b_c, args.mamba_heads));
  if (args.vocab == 0) dims = with_parts(std::move(dims), ":pad=vocab", "");
  if (dims.find("[etp]") != std::string::npos && args.etp == args.tp) dims += " # etp:=tp";
  return dims;
}

/// Channels of the MLP that a name is of; 0: not known.
std::int64_t ffn_of(const MegatronArgs& args, std::string_view name) {
  if (name.find(".shared_experts.") != std::string_view::npos) return args.shared_ffn;
  if (is_expert_name(name)) return args.expert_ffn;
  return name.find("mlp.linear_fc") != std::string_view::npos ? args.ffn : 0;
}

TensorRule rule(std::string_view match, const std::string& dims) {
  TensorRule made;
  made.match = match;
  made.glob = std::make_shared<const Glob>(match);
  made.dims = std::make_shared<const Placement>(parse_dims(dims));
  return made;
}

}  // namespace

Layout megatron_layout(const MegatronArgs& args, double version) {
  Layout layout;
  layout.file = "Megatron's rules";
  if (version < kPartsTogether) {
    layout.tensors.push_back(rule("**.query_key_value.weight", "(q|k|v)[tp] h"));
    layout.tensors.push_back(rule("**.query_key_value.bias", "(q|k|v)[tp]"));
  }
  for (const Row& row : kRows) {
    const bool mamba = row.dims.find('{') != std::string_view::npos;
    if (mamba && (args.mamba_inner == 0 || args.mamba_groups == 0 || args.mamba_state == 0 ||
                  args.mamba_heads == 0)) {
      continue;
    }
    layout.tensors.push_back(rule(row.match, dims_of(row, args)));
  }
  return layout;
}

std::shared_ptr<const Placement> cut_down_projection(const MegatronArgs& args,
                                                     std::string_view name, const Shape& local) {
  std::int64_t rows = 0;
  std::string dims = "x[tp] y";
  if (name.ends_with(".linear_q_down_proj.weight")) {
    rows = args.q_lora;
  } else if (name.ends_with(".linear_kv_down_proj.weight")) {
    rows = args.kv_lora;
  } else if (name.ends_with(".linear_qkv_down_proj.weight") && args.q_lora > 0) {
    rows = checked_add(args.q_lora, args.kv_lora);
    dims = fmt::format("(q:{}|kv:{})[tp] y", args.q_lora, args.kv_lora);
  }
  const bool cut = args.tp > 1 && rows > 0 && local.size() == 2 && local[0] < rows &&
                   rows % args.tp == 0 && local[0] == rows / args.tp;
  return cut ? std::make_shared<const Placement>(parse_dims(dims)) : nullptr;
}

std::optional<Shape> stated_shape(const MegatronArgs& args, std::string_view name) {
  const auto is = [&](std::string_view end) {
    return name.ends_with(end) &&
           (name.size() == end.size() || name[name.size() - end.size() - 1] == '.');
  };
  const std::int64_t heads = args.plain_qkv ? args.heads : 0;
  const std::int64_t out_of_heads = checked_mul(heads, args.head_dim);
  const std::int64_t qkv =
      checked_mul(checked_add(heads, checked_mul<std::int64_t>(2, args.groups)), args.head_dim);
  Shape shape;
  if (is("word_embeddings.weight") || is("output_layer.weight")) {
    shape = {args.padded_vocab, args.hidden};
  } else if (is("linear_qkv.weight") && heads > 0) {
    shape = {qkv, args.hidden};
  } else if (is("self_attention.linear_proj.weight") && heads > 0) {
    shape = {args.hidden, out_of_heads};
  } else if (args.same_layers && is("linear_fc1.weight")) {
    shape = {checked_mul(ffn_of(args, name), std::int64_t{args.swiglu ? 2 : 1}), args.hidden};
  } else if (args.same_layers && is("linear_fc2.weight")) {
    shape = {args.hidden, ffn_of(args, name)};
  } else if (is("mlp.router.weight")) {
    shape = {args.experts, args.hidden};
  } else if (is("input_layernorm.weight") || is("pre_mlp_layernorm.weight") ||
             is("decoder.final_layernorm.weight")) {
    shape = {args.hidden};
  }
  if (shape.empty()) return std::nullopt;
  for (const std::int64_t extent : shape) {
    if (extent <= 0) return std::nullopt;
  }
  return shape;
}

}  // namespace ttcheck::formats
