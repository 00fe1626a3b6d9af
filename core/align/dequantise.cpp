// SPDX-License-Identifier: Apache-2.0
#include "core/align/dequantise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "core/align/map_rules.hpp"
#include "core/align/names.hpp"
#include "core/base/name_map.hpp"
#include "core/model/decode.hpp"

namespace ttcheck::align {
namespace {

constexpr std::string_view kWeight = ".weight";

struct Convention {
  std::string_view instead_of;  ///< the end of the weight's name; empty: it stays
  std::string_view ending;
  double factor;
  bool rows;  ///< one scale a row, and nothing else
};

constexpr std::array kConventions = {
    Convention{"", "_scale_inv", 1, false},
    Convention{"", "_scale", 1, false},
    // bitsandbytes, functional.py, int8_vectorwise_dequant
    Convention{kWeight, ".SCB", 1.0 / 127, true},
};

/// What writers keep beside it for the inputs of a layer, or to say how the weight lies.
constexpr std::array kBeside = {std::string_view(".input_scale"),
                                std::string_view(".activation_scale"),
                                std::string_view(".weight_format")};

std::string ended(std::string_view name, std::string_view instead_of, std::string_view ending) {
  if (!name.ends_with(instead_of)) return {};
  return fmt::format("{}{}", name.substr(0, name.size() - instead_of.size()), ending);
}

bool is_eight_bits(DType dtype) {
  return dtype == DType::i8 || dtype == DType::f8_e4m3fn || dtype == DType::f8_e5m2 ||
         dtype == DType::f8_e4m3fnuz || dtype == DType::f8_e5m2fnuz;
}

using Index = NameMap<std::size_t>;

/// A side's tensors by their bare names.
Index index_of(const std::vector<Tensor>& tensors) {
  Index index;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    index.try_emplace(bare(tensors[i].identity.name), i);
  return index;
}

/// A weight, its scale, and how they go together.
struct Match {
  std::size_t weight, scale;
  Extents block;
  double factor;
  std::string rule;
};

std::string_view scheme_of(const Shape& stored, const Extents& block) {
  if (block == stored) return "tensor";
  const bool rows = block.back() == stored.back() &&
                    std::ranges::all_of(block.begin(), block.end() - 1,
                                        [](std::int64_t extent) { return extent == 1; });
  return rows ? "channel" : "block";
}

bool has_plain_values(const Tensor& tensor) {
  return tensor.stored && tensor.holes.empty() && tensor.reduce == Reduce::none &&
         !tensor.undeclared && !tensor.pieces.empty();
}

/// The weight with the scale of that name, if there is one that fits.
std::optional<Match> matched(const std::vector<Tensor>& tensors, const Index& index,
                             std::size_t weight, const std::string& name, double factor) {
  const auto found = name.empty() ? index.end() : index.find(bare(name));
  if (found == index.end()) return std::nullopt;
  const Tensor& stored = tensors[weight];
  const Tensor& scale = tensors[found->second];
  const bool real = !is_exact(scale.dtype) && !is_complex(scale.dtype);
  if (!real || !has_plain_values(scale) || !scale.replicas.empty()) return std::nullopt;
  auto block = blocks_of(stored.shape, scale.shape);
  if (!block) return std::nullopt;
  std::string rule = fmt::format("dequant({})", scheme_of(stored.shape, *block));
  return Match{weight, found->second, std::move(*block), factor, std::move(rule)};
}

/// What the other side has tells whether values are to be compared, or what is stored.
bool other_has(const std::vector<Tensor>& others, const Index& other_index, const Tensor& weight,
               const std::string& scale) {
  const auto same = other_index.find(bare(weight.identity.name));
  return other_index.contains(bare(scale)) ||
         (same != other_index.end() && others[same->second].dtype == weight.dtype);
}

std::optional<Match> by_convention(const std::vector<Tensor>& tensors, const Index& index,
                                   std::size_t weight, const std::vector<Tensor>& others,
                                   const Index& other_index) {
  const std::string& name = tensors[weight].identity.name;
  if (index.contains(bare(name + "_zero_point"))) return std::nullopt;
  for (const Convention& convention : kConventions) {
    const std::string scale = ended(name, convention.instead_of, convention.ending);
    auto match = matched(tensors, index, weight, scale, convention.factor);
    if (!match || (convention.rows && match->rule != "dequant(channel)")) continue;
    if (other_has(others, other_index, tensors[weight], scale)) return std::nullopt;
    return match;
  }
  return std::nullopt;
}

/// What stands for one in a scale of that name, whoever says that it is one.
double factor_of(std::string_view scale) {
  const auto found = std::ranges::find_if(kConventions, [&](const Convention& convention) {
    return scale.ends_with(convention.ending);
  });
  return found == kConventions.end() ? 1 : found->factor;
}

/// The match as a map of the user says it; the scale where the map or a convention names it.
std::optional<Match> by_map(const std::vector<Tensor>& tensors, const Index& index,
                            std::size_t weight, const UserMap& map) {
  const std::string& name = tensors[weight].identity.name;
  if (!map.dequantises(name)) return std::nullopt;
  const std::string stated = map.scale_of(name);
  std::optional<Match> match = matched(tensors, index, weight, stated, factor_of(stated));
  for (const Convention& convention : kConventions) {
    if (match) break;
    const std::string scale = ended(name, convention.instead_of, convention.ending);
    match = matched(tensors, index, weight, scale, convention.factor);
  }
  const std::string wanted = fmt::format("dequant({})", map.op().arguments.front());
  return match && match->rule == wanted ? match : std::nullopt;
}

std::vector<Match> matches_of(const std::vector<Tensor>& tensors, const std::vector<Tensor>& others,
                              const std::vector<UserMap>& maps) {
  const auto is_candidate = [](const Tensor& tensor) {
    return is_eight_bits(tensor.dtype) && tensor.kind == Kind::weight && !tensor.shape.empty() &&
           element_count(tensor.shape) > 0 && has_plain_values(tensor);
  };
  std::vector<Match> matches;
  if (std::ranges::none_of(tensors, is_candidate)) return matches;
  const Index index = index_of(tensors);
  const Index other_index = index_of(others);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!is_candidate(tensors[i])) continue;
    std::optional<Match> match;
    for (const UserMap& map : maps) {
      if (!match) match = by_map(tensors, index, i, map);
    }
    if (!match) match = by_convention(tensors, index, i, others, other_index);
    if (match) matches.push_back(std::move(*match));
  }
  return matches;
}

/// Half a step, and what the scale's own rounding adds.
Rounding rounding_of(const Tensor& weight, const Match& match, double largest) {
  constexpr double kSlack = 1 + 1.0 / 64;
  Rounding rounding;
  rounding.source = fmt::format("half a step of {} with a scale a {}", name(weight.dtype),
                                match.rule.substr(match.rule.find('(') + 1));
  rounding.source.pop_back();
  const double half = epsilon(weight.dtype) / 2;  // of integers 0: all steps are as the least one
  rounding.rtol = kSlack * half / (1 - half);
  rounding.atol = kSlack * largest * match.factor * value_of(weight.dtype, 1) / 2;
  return rounding;
}

Piece seen(const Piece& piece, const Tensor& weight, const Match& match, const Tensor& scale,
           std::deque<ScaledSource>& sources) {
  Scaled scaled{weight, scale, match.block, match.factor};
  scaled.stored.pieces = {piece};
  scaled.stored.replicas.clear();
  Piece view;
  view.source = &sources.emplace_back(std::move(scaled));
  view.dtype = DType::f32;
  view.rank = piece.rank;
  for (const Cell& cell : piece.cells) {
    view.cells.push_back(
        {cell.box, linear_index(weight.shape, cell.box.lo), row_major_strides(weight.shape)});
  }
  return view;
}

void replace(std::vector<Tensor>& tensors, const std::vector<Match>& matches, Dequantised& made) {
  for (const Match& match : matches) {
    Tensor& weight = tensors[match.weight];
    const Tensor& scale = tensors[match.scale];
    double largest = 0;
    try {
      largest = largest_magnitude(scale);
    } catch (const Error&) {  // said where the weight is read
    }
    Tensor view = weight;
    view.dtype = DType::f32;
    view.rounding = std::make_shared<const Rounding>(rounding_of(weight, match, largest));
    for (auto* list : {&view.pieces, &view.replicas}) {
      for (Piece& piece : *list) piece = seen(piece, weight, match, scale, made.sources);
    }
    const std::string& name = weight.identity.name;
    made.rules.emplace(name, match.rule);
    made.used.emplace(scale.identity.name, match.rule);
    for (const std::string_view ending : kBeside) {
      if (std::string other = ended(name, kWeight, ending); !other.empty()) {
        made.used.emplace(std::move(other), match.rule);
      }
    }
    weight = std::move(view);
  }
}

/// The extent of blocks of which `count` cover `all`: a power of two, of which one at most fits,
/// else an even part. Nothing where neither is.
std::optional<std::int64_t> extent_of_blocks(std::int64_t all, std::int64_t count) {
  if (count <= 0 || count > all) return std::nullopt;
  for (std::int64_t extent = 1; extent < all; extent *= 2) {
    if ((all - 1) / extent + 1 == count) return extent;
  }
  return all % count == 0 ? std::optional(all / count) : std::nullopt;
}

}  // namespace

std::optional<Extents> blocks_of(const Shape& stored, const Shape& scale) {
  Shape grid = scale;
  if (std::ranges::all_of(grid, [](std::int64_t extent) { return extent == 1; })) return stored;
  if (grid.size() > stored.size()) return std::nullopt;
  if (grid.size() < stored.size() && !std::equal(grid.begin(), grid.end(), stored.begin())) {
    return std::nullopt;
  }
  grid.resize(stored.size(), 1);
  Extents block;
  for (std::size_t d = 0; d < stored.size(); ++d) {
    const auto extent = extent_of_blocks(stored[d], grid[d]);
    if (!extent) return std::nullopt;
    block.push_back(*extent);
  }
  return block;
}

Dequantised dequantise(std::vector<Tensor>& reference, std::vector<Tensor>& candidate,
                       const std::vector<MapRule>& maps) {
  const std::vector<UserMap> rules(maps.begin(), maps.end());
  const std::vector<Match> left = matches_of(reference, candidate, rules);
  const std::vector<Match> right = matches_of(candidate, reference, rules);
  Dequantised made;
  replace(reference, left, made);
  replace(candidate, right, made);
  return made;
}

}  // namespace ttcheck::align
