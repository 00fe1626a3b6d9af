// SPDX-License-Identifier: Apache-2.0
// torch says for each mesh axis what it does; the dims grammar wants for each tensor dimension
// the axes that cut it, outermost first. Axes are taken from the last of the mesh to the first,
// and each is put behind those later ones whose sizes multiply to its factor: of
// `_StridedShard(0, 2)` over dp and `Shard(0)` over tp of 2, tp cuts first. An axis with the
// factor 1 comes before all later ones, which is mesh order. Where one factor has no such place,
// the dimension's order is the mesh's, and factors above 1 are strides. A `shard_order` counts
// before all this if it names exactly the axes that cut the dimension, each once; factors above 1
// are strides then, too. Partial placements become addends, joined by sum, average or maximum. An
// unknown placement, another way to join, or a missing one is an Error for the tensor.

#include "formats/torch/placements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/error.hpp"
#include "formats/objects/known.hpp"
#include "formats/torch/attribute.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kMostDims = 64;

/// What one mesh axis does to the tensor.
struct AxisCut {
  std::optional<std::size_t> dimension;  ///< that it shards
  std::int64_t factor = 1;               ///< of _StridedShard
  Reduce reduce = Reduce::none;
};

/// Names, and the numbers of torch.distributed.ReduceOp, of sums that can be put together.
Reduce reduce_of(Value how) {
  struct Row {
    std::string_view name;
    std::int64_t number;
    Reduce reduce;
  };
  constexpr std::array kRows = {Row{"sum", 0, Reduce::sum}, Row{"avg", 1, Reduce::avg},
                                Row{"max", 4, Reduce::max}};
  const bool called = how.args().size() < 8;
  const std::vector<Value> given = called ? construction(how) : std::vector<Value>();
  const auto number = given.empty() ? std::nullopt : given.front().integer();
  for (const Row& row : kRows) {
    if (how.text() == row.name || number == row.number) return row.reduce;
  }
  throw Error("addends of a DTensor are joined in a way that is not known", how.where());
}

std::size_t dimension_of(Value placement, std::size_t dimensions) {
  const auto dim = attribute_or_argument(placement, "dim", 0).integer();
  const auto count = static_cast<std::int64_t>(dimensions);
  if (!dim || *dim < -count || *dim >= count) {
    throw Error(fmt::format("a placement shards no dimension of {}", dimensions),
                placement.where());
  }
  return static_cast<std::size_t>(*dim < 0 ? *dim + count : *dim);
}

AxisCut cut_of(Value placement, std::size_t dimensions) {
  const Global* made = class_of(placement);
  const std::string_view name = made == nullptr ? "" : std::string_view(made->name);
  AxisCut cut;
  if (name == "Replicate") return cut;
  if (name == "Shard" || name == "_StridedShard") {
    cut.dimension = dimension_of(placement, dimensions);
    if (name == "Shard") return cut;
    const auto factor = attribute_or_argument(placement, "split_factor", 1).integer();
    if (!factor || *factor < 1) throw Error("_StridedShard has no factor", placement.where());
    cut.factor = *factor;
    return cut;
  }
  if (name == "Partial" || name == "_Partial") {
    const Value how = attribute_or_argument(placement, "reduce_op", 0);
    cut.reduce = how ? reduce_of(how) : Reduce::sum;
    return cut;
  }
  throw Error(fmt::format("placement {} is not known", name.empty() ? "of no class" : name),
              placement.where());
}

using Order = std::vector<std::size_t>;  // mesh axes, outermost cut first

/// The place at which an axis of that factor cuts among those later in the mesh, which `order` has:
/// behind the ones whose sizes multiply to it; none where none do.
std::optional<std::size_t> place_in(const Order& order, std::int64_t factor,
                                    const std::vector<Axis>& axes) {
  std::int64_t product = 1;
  for (std::size_t i = 0; i <= order.size(); ++i) {
    if (product == factor) return i;
    if (i == order.size() || product > factor / axes[order[i]].size) return std::nullopt;
    product *= axes[order[i]].size;
  }
  return std::nullopt;
}

/// The order in which axes cut one dimension; `strides` is set where factors stay what they say.
Order order_of(const std::vector<AxisCut>& cuts, std::size_t dimension,
               const std::vector<Axis>& axes, bool& strides) {
  Order by_factor;
  Order by_mesh;
  bool explained = true;
  for (std::size_t i = cuts.size(); i-- > 0;) {
    if (cuts[i].dimension != dimension) continue;
    by_mesh.insert(by_mesh.begin(), i);
    const auto place = place_in(by_factor, cuts[i].factor, axes);
    explained = explained && place;
    if (explained) by_factor.insert(by_factor.begin() + static_cast<std::ptrdiff_t>(*place), i);
  }
  strides = !explained;
  return explained ? by_factor : by_mesh;
}

/// `shard_order`: (dimension, axes) entries, as named tuples. None when it does not name the axes
/// that cut the dimension, each once.
std::optional<Order> stated_order(Value spec, const std::vector<AxisCut>& cuts,
                                  std::size_t dimension) {
  for (const Value& entry :
       short_sequence(attribute(spec, "shard_order"), kMostDims).value_or(std::vector<Value>())) {
    const Value dim = attribute_or_argument(entry, "tensor_dim", 0);
    if (dim.integer() != static_cast<std::int64_t>(dimension)) continue;
    Order order;
    const Value list = attribute_or_argument(entry, "mesh_dims", 1);
    for (const Value& axis : short_sequence(list, cuts.size()).value_or(std::vector<Value>())) {
      const auto i = axis.integer();
      if (!i || *i < 0 || *i >= std::ssize(cuts)) return std::nullopt;
      const auto at = static_cast<std::size_t>(*i);
      if (cuts[at].dimension != dimension || std::ranges::count(order, at) > 0) return std::nullopt;
      order.push_back(at);
    }
    const auto cutting =
        std::ranges::count_if(cuts, [&](const AxisCut& cut) { return cut.dimension == dimension; });
    if (std::ssize(order) != cutting) return std::nullopt;
    return order;
  }
  return std::nullopt;
}

}  // namespace

std::shared_ptr<const Placement> placement_of_spec(Value spec, const std::vector<Axis>& axes,
                                                   std::size_t dimensions) {
  const auto placements = short_sequence(attribute(spec, "placements"), axes.size());
  if (!placements || placements->size() != axes.size()) {
    throw Error(fmt::format("a DTensor has no placement for each of {} mesh axes", axes.size()),
                spec.where());
  }
  std::vector<AxisCut> cuts;
  bool whole = true;
  for (const Value& placement : *placements) {
    cuts.push_back(cut_of(placement, dimensions));
    whole = whole && !cuts.back().dimension && cuts.back().reduce == Reduce::none;
  }
  if (whole) return nullptr;
  auto made = std::make_shared<Placement>();
  for (std::size_t d = 0; d < dimensions; ++d) {
    DimSpec& dim = made->dims.emplace_back();
    dim.name = fmt::format("d{}", d);
    bool strides = true;
    const auto stated = stated_order(spec, cuts, d);
    for (const std::size_t i : stated ? *stated : order_of(cuts, d, axes, strides)) {
      ShardSpec& shard = dim.shards.emplace_back();
      shard.axis = axes[i].name;
      if (strides && cuts[i].factor > 1) shard.stride = cuts[i].factor;
    }
  }
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    if (cuts[i].reduce != Reduce::none) made->partial.emplace_back(axes[i].name, cuts[i].reduce);
  }
  return made;
}

}  // namespace ttcheck::formats
