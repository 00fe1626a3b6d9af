#include "formats/megatron_core_group.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <tuple>
#include <utility>

#include "core/base/checked.hpp"
#include "formats/megatron_stages.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::int64_t kLayers = 10;  ///< section of the layers
constexpr std::int64_t kLast = 20;    ///< sections from here on are on the last stage
constexpr std::int64_t kHead = 30;
constexpr std::string_view kExpertBias = ".expert_bias";  // no parameter: not trained

struct Prefix {
  std::string_view text;
  std::int64_t order;
};

constexpr std::array kSections = {
    Prefix{"embedding.word_embeddings.", 0},
    Prefix{"embedding.position_embeddings.", 1},
    Prefix{"embedding.", 2},
    Prefix{"decoder.layers.", kLayers},
    Prefix{"decoder.", kLast},
    Prefix{"mtp.", 25},
    Prefix{"output_layer.", kHead},
};

constexpr std::int64_t kInputNorm = 0, kQkv = 20;

constexpr std::array kModules = {
    Prefix{"input_layernorm.", kInputNorm},
    Prefix{"self_attention.linear_qkv.layer_norm_", kInputNorm},
    Prefix{"self_attention.linear_proj.", 10},
    Prefix{"self_attention.linear_qkv.", kQkv},
    Prefix{"self_attention.q_layernorm.", 30},
    Prefix{"self_attention.k_layernorm.", 40},
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

/// Where a parameter stands in the model.
struct Position {
  std::int64_t section = 0, layer = 0, module = 0, first = 0, second = 0, third = 0;
  std::optional<std::int64_t> expert;

  auto key() const { return std::tuple(section, layer, module, first, second, third); }
};

Position position_of(std::string_view name, ModuleOrder order) {
  Position at;
  const bool bias = name.ends_with("bias");
  at.section = order_of(kSections, name, kLast);
  at.third = bias ? 1 : 0;
  if (at.section != kLayers) return at;
  at.layer = take_number(name, "decoder.layers.").value_or(0);
  at.module = order_of(kModules, name, 75);
  if (at.module == kInputNorm && order.fused_norms) {
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

class Builder {
 public:
  Builder(const MegatronWeights& weights, const MegatronArgs& args, std::int64_t group,
          ModuleOrder order)
      : weights_(weights),
        args_(args),
        dense_(dense_place(args, group)),
        expert_(expert_place(args, group)),
        order_(order),
        layers_(layers_by_chunk(args)) {}

  std::vector<GroupParameter> build() {
    if (layers_.empty()) return {};
    for (const auto& [name, parts] : weights_) {
      if (name.ends_with(kExpertBias)) continue;
      const Position at = position_of(name, order_);
      const Place& place = at.expert ? expert_ : dense_;
      if (const auto chunk = chunk_of(at, place.pp)) add(name, parts, at, place, *chunk);
      const bool copy = !args_.untied && args_.pp > 1 && at.section == 0;
      if (copy && place.pp == args_.pp - 1) {
        Position head = at;
        head.section = kHead;
        add(name, parts, head, place, static_cast<std::size_t>(args_.vpp - 1));
      }
    }
    std::ranges::sort(found_, [](const Found& a, const Found& b) {
      return std::pair(a.at.key(), a.one.parameter.name) <
             std::pair(b.at.key(), b.one.parameter.name);
    });
    std::vector<GroupParameter> out;
    for (Found& one : found_) out.push_back(std::move(one.one));
    return out;
  }

 private:
  struct Found {
    Position at;
    GroupParameter one;
  };

  /// The model chunk of stage `stage` that holds what stands there.
  std::optional<std::size_t> chunk_of(const Position& at, std::int64_t stage) const {
    if (at.section < kLayers) return stage == 0 ? std::optional<std::size_t>(0) : std::nullopt;
    if (at.section >= kLast) {
      if (stage != args_.pp - 1) return std::nullopt;
      return static_cast<std::size_t>(args_.vpp - 1);
    }
    std::int64_t end = 0;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      end = checked_add(end, layers_[i]);
      if (at.layer >= end) continue;
      const auto pp = static_cast<std::size_t>(args_.pp);
      if (static_cast<std::int64_t>(i % pp) != stage) return std::nullopt;
      return i / pp;
    }
    return std::nullopt;
  }

  void add(const std::string& name, const std::vector<Record>& parts, const Position& at,
           const Place& place, std::size_t chunk) {
    if (at.expert) {
      const std::int64_t each = args_.experts / args_.ep;
      if (each <= 0 || *at.expert / each != place.ep) return;
    }
    GroupParameter one;
    one.parts = share(parts, place.tp, at.expert ? args_.etp : args_.tp);
    if (one.parts.empty()) return;
    BufferParameter& parameter = one.parameter;
    parameter.name = name;
    parameter.chunk = chunk;
    parameter.expert = at.expert.has_value();
    parameter.tied = !args_.untied && args_.pp > 1 && at.section % kHead == 0;
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
    found_.push_back({at, std::move(one)});
  }

  const MegatronWeights& weights_;
  const MegatronArgs& args_;
  Place dense_, expert_;
  ModuleOrder order_;
  std::vector<std::int64_t> layers_;
  std::vector<Found> found_;
};

}  // namespace

std::vector<GroupParameter> group_parameters(const MegatronWeights& weights,
                                             const MegatronArgs& args, std::int64_t group,
                                             ModuleOrder order) {
  return Builder(weights, args, group, order).build();
}

}  // namespace ttcheck::formats
