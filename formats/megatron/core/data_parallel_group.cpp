// SPDX-License-Identifier: Apache-2.0
// The order of parameters is that in which modules register theirs, so each name gets a position
// by tables of prefixes: section of the model, layer, module of the layer, and what tells
// parameters of a module apart. The choice of modules moves some of them (ModuleOrder).
// The stage of a parameter follows from its section or from the layers of each chunk. The
// embedding has copies on other stages: where further tokens are predicted, and as the head where
// it is tied. A group's number is read both as one of the groups of dense parameters and as one
// of the groups of experts, and both kinds are listed: the fit of the buffer decides which of
// them it holds.
// What a rank has of a tensor is every n-th part of its n ranks, sorted by place: of gate and up
// it is one part each. A tensor in one part is whole on all ranks; where the parts do not divide,
// the parameter is left out. At most 2^27 parts are looked at for all groups, or an Error says
// so.

#include "formats/megatron/core/data_parallel_group.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <tuple>
#include <utility>

#include "core/base/checked.hpp"
#include "formats/megatron/stage_layers.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::int64_t kDecoderLayers = 10;  ///< section of the layers
constexpr std::int64_t kLast = 20;           ///< sections from here on are on the last stage
constexpr std::int64_t kPredicted = 25;      ///< layers of multi-token prediction
constexpr std::int64_t kHead = 30;
constexpr std::size_t kMaxWork = std::size_t{1} << 27;    // parts looked at, for all groups
constexpr std::string_view kExpertBias = ".expert_bias";  // no parameter: not trained

struct Prefix {
  std::string_view text;
  std::int64_t order;
};

constexpr std::array kSections = {
    Prefix{"embedding.word_embeddings.", 0},
    Prefix{"embedding.position_embeddings.", 1},
    Prefix{"embedding.", 2},
    Prefix{"decoder.layers.", kDecoderLayers},
    Prefix{"decoder.", kLast},
    Prefix{"mtp.", kPredicted},
    Prefix{"output_layer.", kHead},
};

constexpr std::int64_t kInputNorm = 0, kFusableNorm = 1, kQkv = 20;

constexpr std::array kModules = {
    Prefix{"input_layernorm.", kInputNorm},
    Prefix{"self_attention.linear_qkv.layer_norm_", kFusableNorm},
    Prefix{"self_attention.linear_proj.", 10},
    Prefix{"self_attention.linear_qkv.", kQkv},
    Prefix{"self_attention.linear_q_proj.", 21},
    Prefix{"self_attention.linear_q_down_proj.", 22},
    Prefix{"self_attention.linear_qkv_down_proj.", 22},
    Prefix{"self_attention.linear_q_up_proj.layer_norm_", 23},
    Prefix{"self_attention.linear_q_up_proj.", 24},
    Prefix{"self_attention.linear_kv_down_proj.", 25},
    Prefix{"self_attention.linear_kv_up_proj.layer_norm_", 26},
    Prefix{"self_attention.linear_kv_up_proj.", 27},
    Prefix{"self_attention.q_layernorm.", 30},
    Prefix{"self_attention.k_layernorm.", 40},
    Prefix{"self_attention.kv_layernorm.", 40},
    Prefix{"self_attention.", 50},
    Prefix{"pre_mlp_layernorm.", 60},
    Prefix{"mlp.linear_fc1.layer_norm_", 60},
    Prefix{"mlp.router.", 70},
    Prefix{"mlp.experts.", 80},
    Prefix{"mlp.shared_experts.linear_fc1.", 90},
    Prefix{"mlp.shared_experts.linear_fc2.", 100},
    Prefix{"mlp.shared_experts.", 110},
    Prefix{"mlp.linear_fc1.", 120},
    Prefix{"mlp.linear_fc2.", 130},
};

/// The modules of a layer of multi-token prediction, around the decoder layer that it wraps.
constexpr std::array kPredictedModules = {
    Prefix{"enorm.", -3},
    Prefix{"hnorm.", -2},
    Prefix{"eh_proj.", -1},
    Prefix{"final_layernorm.", 200},
};
constexpr std::string_view kWrapped = "transformer_layer.";

template <std::size_t N>
std::int64_t order_of(const std::array<Prefix, N>& rows, std::string_view name,
                      std::int64_t other) {
  for (const Prefix& row : rows) {
    if (name.starts_with(row.text)) return row.order;
  }
  return other;
}

/// Takes `word` and the number behind it off the front, with the dot; none: it is not there.
std::optional<std::int64_t> take_number(std::string_view& name, std::string_view word) {
  if (!name.starts_with(word)) return std::nullopt;
  std::int64_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, fault] = std::from_chars(name.data() + word.size(), end, number);
  if (fault != std::errc{} || stop == end || *stop != '.' || number < 0) return std::nullopt;
  name.remove_prefix(static_cast<std::size_t>(stop - name.data()) + 1);
  return number;
}

}  // namespace

/// The place of a parameter in the model.
struct GroupPosition {
  std::int64_t section = 0, layer = 0, module = 0, first = 0, second = 0, third = 0;
  std::optional<std::int64_t> expert;

  auto key() const { return std::tuple(section, layer, module, first, second, third); }
};

namespace {

GroupPosition position_of(std::string_view name, ModuleOrder order) {
  GroupPosition at;
  const bool bias = name.ends_with("bias");
  at.section = order_of(kSections, name, kLast);
  at.third = bias ? 1 : 0;
  if (at.section == kPredicted) {
    at.layer = take_number(name, "mtp.layers.").value_or(0);
    at.module = order_of(kPredictedModules, name, 0);
    if (!name.starts_with(kWrapped)) return at;
    name.remove_prefix(kWrapped.size());
  } else if (at.section == kDecoderLayers) {
    at.layer = take_number(name, "decoder.layers.").value_or(0);
  } else {
    return at;
  }
  at.module = order_of(kModules, name, 75);
  if (at.module == kFusableNorm && order.fused_norms) {
    at.module = kQkv;
    at.first = -1;
  }
  at.expert = take_number(name, "mlp.experts.experts.");
  if (at.expert) {
    const std::int64_t layer = name.starts_with("linear_fc1.") ? 0 : 1;
    at.first = order.grouped_experts ? layer : *at.expert;
    at.second = order.grouped_experts ? at.third : layer;
    if (order.grouped_experts) at.third = *at.expert;
  }
  return at;
}

/// A group's coordinates among those of its kind of parameters.
struct Place {
  std::int64_t tp = 0, pp = 0, ep = 0;
};

Place dense_place(const MegatronArgs& args, std::int64_t group) {
  return {group % args.tp, group / args.tp, 0};
}

Place expert_place(const MegatronArgs& args, std::int64_t group) {
  return {group % args.etp, group / args.etp / args.ep, group / args.etp % args.ep};
}

/// The parts of a tensor that the rank `index` of `ranks` holds: a plain share, or one of each of
/// what is fused (gate and up). Empty when they do not divide.
std::vector<Record> share(std::vector<Record> parts, std::int64_t index, std::int64_t ranks) {
  std::ranges::sort(parts, {}, [](const Record& part) { return part.box_lo.value_or(Extents()); });
  const auto same = [](const Record& a, const Record& b) { return a.box_lo == b.box_lo; };
  parts.erase(std::unique(parts.begin(), parts.end(), same), parts.end());
  const auto count = static_cast<std::int64_t>(parts.size());
  if (count == 1 && parts.front().logical == parts.front().shape) return parts;
  if (count % ranks != 0) return {};
  std::vector<Record> own;
  for (std::int64_t i = index; i < count; i += ranks) {
    own.push_back(std::move(parts[static_cast<std::size_t>(i)]));
  }
  return own;
}

/// The stage and its model chunk that hold what stands there.
struct Home {
  std::int64_t stage = 0;
  std::size_t chunk = 0;

  bool operator==(const Home&) const = default;
};

Home home_of_chunk(std::size_t chunk, const MegatronArgs& args) {
  const auto pp = static_cast<std::size_t>(args.pp);
  return {static_cast<std::int64_t>(chunk % pp), chunk / pp};
}

Home last_home(const MegatronArgs& args) {
  return {args.pp - 1, static_cast<std::size_t>(args.vpp - 1)};
}

std::optional<Home> home_of(const GroupPosition& at, const MegatronArgs& args,
                            const std::vector<std::int64_t>& layers, std::size_t predicting) {
  if (at.section < kDecoderLayers) return Home();
  if (at.section == kPredicted) return home_of_chunk(predicting, args);
  if (at.section >= kLast) return last_home(args);
  std::int64_t end = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    end = checked_add(end, layers[i]);
    if (at.layer >= end) continue;
    return home_of_chunk(i, args);
  }
  return std::nullopt;
}

/// The other places of the embedding: beside the layers that predict further tokens, which then
/// have the head as well, or as the head of the last stage (language_module.py).
std::vector<std::pair<GroupPosition, Home>> copies_of(const GroupPosition& at,
                                                      const MegatronArgs& args, std::size_t chunk) {
  std::vector<std::pair<GroupPosition, Home>> copies;
  if (at.section >= kDecoderLayers || args.pp == 1) return copies;
  const Home last = last_home(args);
  const Home predicting = home_of_chunk(chunk, args);
  if (args.predicting > 0 && predicting != Home()) copies.emplace_back(at, predicting);
  const bool head = !args.untied && at.section == 0;
  if (head && !(args.predicting > 0 && predicting == last)) {
    copies.emplace_back(at, last);
    copies.back().first.section = kHead;
  }
  return copies;
}

}  // namespace

/// A parameter of a stage, before it is shared out.
struct GroupParameters::Entry {
  GroupPosition at;
  const std::string* name = nullptr;
  const std::vector<Record>* parts = nullptr;
  std::size_t chunk = 0;
};

GroupParameters::GroupParameters(const MegatronWeights& weights, const MegatronArgs& args)
    : weights_(weights),
      args_(args),
      layers_(layers_by_chunk(args)),
      predicting_(predicting_chunk(args)) {}

GroupParameters::~GroupParameters() = default;

const GroupParameters::Stages& GroupParameters::stages(ModuleOrder order) {
  const auto [found, fresh] = by_order_.try_emplace({order.fused_norms, order.grouped_experts});
  Stages& stages = found->second;
  if (!fresh || layers_.empty()) return stages;
  for (const auto& [name, parts] : weights_) {
    if (name.ends_with(kExpertBias)) continue;
    const GroupPosition at = position_of(name, order);
    if (const auto home = home_of(at, args_, layers_, predicting_)) {
      stages[home->stage].push_back({at, &name, &parts, home->chunk});
    }
    for (const auto& [position, home] : copies_of(at, args_, predicting_)) {
      stages[home.stage].push_back({position, &name, &parts, home.chunk});
    }
  }
  for (auto& [stage, entries] : stages) {
    std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
      return std::pair(a.at.key(), std::string_view(*a.name)) <
             std::pair(b.at.key(), std::string_view(*b.name));
    });
  }
  return stages;
}

std::vector<GroupParameter> GroupParameters::of(std::int64_t group, ModuleOrder order) {
  const Stages& all = stages(order);
  const Place dense = dense_place(args_, group), expert = expert_place(args_, group);
  std::vector<GroupParameter> out;
  const auto add = [&](std::int64_t stage) {
    const auto entries = all.find(stage);
    if (entries == all.end()) return;
    for (const Entry& entry : entries->second) {
      const Place& place = entry.at.expert ? expert : dense;
      if (place.pp == stage) take(entry, place.tp, place.ep, out);
    }
  };
  add(dense.pp);
  if (expert.pp != dense.pp) add(expert.pp);
  return out;
}

/// Adds what the rank (tp, ep) holds of a parameter.
void GroupParameters::take(const Entry& entry, std::int64_t tp, std::int64_t ep,
                           std::vector<GroupParameter>& out) {
  work_ = checked_add(work_, entry.parts->size() + 1);
  if (work_ > kMaxWork)
    throw Error::unable("limit reached: too many groups of too many parameters");
  const GroupPosition& at = entry.at;
  if (at.expert) {
    const std::int64_t each = args_.experts / args_.ep;
    if (each <= 0 || *at.expert / each != ep) return;
  }
  GroupParameter one;
  one.parts = share(*entry.parts, tp, at.expert ? args_.etp : args_.tp);
  if (one.parts.empty()) return;
  BufferParameter& parameter = one.parameter;
  parameter.name = *entry.name;
  parameter.chunk = entry.chunk;
  parameter.expert = at.expert.has_value();
  parameter.tied =
      args_.embedding_is_shared() && (at.section == 0 || (at.section == kHead && !args_.untied));
  parameter.weight.dtype = one.parts.front().dtype;
  std::int64_t size = 0;
  for (const Record& part : one.parts) {
    const std::int64_t count = element_count(part.shape);
    Piece piece = part.piece;
    if (!piece.cells.empty()) return;  // padded: of no back end that has buffers
    piece.cells = {{Box{{size}, {count}}, 0, {1}}};
    parameter.parts.push_back(std::move(piece));
    size = checked_add(size, count);
  }
  parameter.weight.shape = {size};
  out.push_back(std::move(one));
}

}  // namespace ttcheck::formats
