// SPDX-License-Identifier: Apache-2.0
// An affine map gives each block of a part as two views, as torch.as_strided takes them: `source`
// in the logical tensor, `dest` in the part. Such views can describe any pattern, and only those
// that are boxes are used: `dest` is dense, `source` has the strides of the logical tensor, so
// that its offset is the box's first corner, and the blocks of a part fill it one behind the
// other. One piece of another form makes the whole map unused. Sub-parameters are rows behind
// each other, cut by the stated widths of each rank, which add up to the sizes, or else evenly.
//
// An entry that is not understood, or whose numbers overflow, is counted, and one finding a kind
// says how many; their parameters fall to the other rules. A part has 64 blocks at most, widths
// are of 4096 ranks at most, and entries are charged to the file's budget.

#include "formats/deepspeed/tp_pieces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/checked.hpp"
#include "formats/bytes/findings.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kMostExpressions = 256;  ///< that are not literal
constexpr std::size_t kMostLiterals = 4096;
constexpr std::int64_t kMostBlocks = 64;  ///< of one part
constexpr std::int64_t kVersion = 1;      ///< `AFFINE_MAP_FORMAT_VERSION`
constexpr std::size_t kMostDims = 64;
constexpr std::size_t kMostRanks = 4096;  ///< tensor-parallel ones, that widths are of

std::optional<Shape> counts_in(Value value, std::size_t most = kMostDims) {
  const auto items = sequence(value);
  if (!items || items->size() > most) return std::nullopt;
  Shape counts;
  for (const Value& item : *items) {
    const auto count = item.integer();
    if (!count || *count < 0) return std::nullopt;
    counts.push_back(*count);
  }
  return counts;
}

/// An offset and strides, as torch.as_strided takes them.
struct View {
  std::int64_t offset = 0;
  Extents strides;
};

std::optional<View> view_of(Value value) {
  const auto items = sequence(value);
  if (!items || items->size() != 2) return std::nullopt;
  const auto offset = (*items)[0].integer();
  auto strides = counts_in((*items)[1]);
  if (!offset || *offset < 0 || !strides) return std::nullopt;
  return View{*offset, *std::move(strides)};
}

/// True where these are the strides of elements one behind the other; an extent of 1 has any.
bool is_dense(const Shape& shape, const Extents& strides) {
  const Extents dense = row_major_strides(shape);
  if (strides.size() != shape.size()) return false;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] > 1 && strides[d] != dense[d]) return false;
  }
  return true;
}

/// A piece as a block; none for one that is scaled, strided in its part, or no box of the whole.
std::optional<DeepspeedBlock> block_of(Value piece, const Shape& logical) {
  auto shape = counts_in(item_of(piece, "shape"));
  const auto source = view_of(item_of(piece, "source"));
  const auto dest = view_of(item_of(piece, "dest"));
  const Value scale = item_of(piece, "scale");
  if (!shape || !source || !dest || (scale && scale.number() != 1.0)) return std::nullopt;
  if (shape->size() != logical.size() || source->strides.size() != logical.size()) {
    return std::nullopt;
  }
  if (!is_dense(*shape, dest->strides)) return std::nullopt;
  DeepspeedBlock block{logical, Extents(logical.size(), 0), *shape, dest->offset};
  if (element_count(*shape) == 0) return block;
  if (source->offset >= element_count(logical)) return std::nullopt;
  block.lo = unravel(logical, source->offset);
  const Extents strides = row_major_strides(logical);
  for (std::size_t d = 0; d < logical.size(); ++d) {
    const bool as_whole = (*shape)[d] == 1 || source->strides[d] == strides[d];
    if (!as_whole || (*shape)[d] > logical[d] - block.lo[d]) return std::nullopt;
  }
  return block;
}

/// True where the blocks lie one behind the other and are all of a part.
bool fill(std::vector<DeepspeedBlock>& blocks, std::int64_t elements) {
  std::ranges::sort(blocks, {}, &DeepspeedBlock::begin);
  std::int64_t end = 0;
  for (const DeepspeedBlock& block : blocks) {
    if (block.begin != end) return false;
    end = checked_add(end, element_count(block.shape));
  }
  return end == elements;
}

}  // namespace

class DeepspeedPieces::Reader {
 public:
  Reader(WalkBudget& budget, const Where& where) : budget_(budget), where_(where) {}

  DeepspeedPieces read(Value info, std::vector<Finding>& findings) {
    read_affine(item_of(info, "affine_map"));
    const Value widths = item_of(info, "sub_param_shard_widths");
    for (const Value& entry : items_of(item_of(info, "parameter_with_sub_params"))) {
      look_at(entry);
      const auto patterns = sequence(item_of(entry, "patterns"));
      if (!patterns) ++left_out_[1];
      for (const Value& pattern : patterns.value_or(std::vector<Value>())) {
        read_entry(left_out_[1], [&] { return read_sub_params(pattern, entry, widths); });
      }
    }
    say("affine_map", left_out_[0], findings);
    say("parameter_with_sub_params", left_out_[1], findings);
    return std::move(made_);
  }

 private:
  static std::vector<Value> items_of(Value list) {
    return sequence(list).value_or(std::vector<Value>());
  }

  void look_at(Value value) {
    if (!budget_.look_at(value))
      throw Error::unable("limit reached: too many maps of parameters", where_);
  }

  /// Counts an entry that `read` does not understand, or whose numbers overflow: the others count
  /// all the same. Throws Error when the budget is spent.
  template <typename Read>
  void read_entry(std::size_t& left_out, const Read& read) {
    bool understood = false;
    try {
      understood = read();
    } catch (const Error&) {
      if (budget_.spent()) throw;
    }
    if (!understood) ++left_out;
  }

  /// None for what is no text: an empty expression would fit all names.
  std::optional<DeepspeedPattern> expression(Value value) {
    const auto text = value.text();
    auto pattern = text ? DeepspeedPattern::parse(*text) : std::nullopt;
    if (!pattern || !budget_.keep(text->size())) return std::nullopt;
    const bool room =
        pattern->literal() ? ++literals_ <= kMostLiterals : ++expressions_ <= kMostExpressions;
    return room ? std::move(pattern) : std::nullopt;
  }

  void read_affine(Value map) {
    const auto entries = mapping(item_of(map, "params"));
    if (!entries) return;
    if (item_of(map, "version").integer().value_or(kVersion) > kVersion) {
      left_out_[0] += entries->size();
      return;
    }
    for (const KeyValue& one : *entries) {
      read_entry(left_out_[0], [&] { return read_map(one.first, one.second); });
    }
  }

  bool read_map(Value key, Value entry) {
    look_at(entry);
    auto pattern = expression(key);
    auto parts = parts_of(entry);
    if (!pattern || !parts) return false;
    made_.affine_.push_back({std::move(*pattern), std::move(*parts)});
    return true;
  }

  std::optional<Parts> parts_of(Value entry) {
    const auto logical = counts_in(item_of(entry, "logical_shape"));
    const auto ranks = mapping(item_of(entry, "ranks"));
    if (!logical || !ranks) return std::nullopt;
    Parts parts;
    for (const auto& [key, value] : *ranks) {
      look_at(value);
      const auto rank = key.integer();
      auto shape = counts_in(item_of(value, "shard_shape"));
      if (!rank || !shape) return std::nullopt;
      Part part{std::move(*shape), {}};
      const std::vector<Value> pieces = items_of(item_of(value, "pieces"));
      if (std::ssize(pieces) > kMostBlocks) return std::nullopt;
      for (const Value& piece : pieces) {
        look_at(piece);
        auto block = block_of(piece, *logical);
        if (!block) return std::nullopt;
        if (element_count(block->shape) > 0) part.blocks.push_back(std::move(*block));
      }
      if (!fill(part.blocks, element_count(part.shape))) return std::nullopt;
      parts.emplace(*rank, std::move(part));
    }
    return parts;
  }

  /// Before version 0.4 all sub-parameters are cut evenly, and a count says how many there are.
  bool read_sub_params(Value text, Value entry, Value widths) {
    auto pattern = expression(text);
    const auto dim = item_of(entry, "partition_dim").integer();
    const auto shape = sequence(item_of(entry, "shape"));
    if (!pattern || dim != 0 || !shape || shape->empty()) return false;
    SubParams made{std::move(*pattern), {}, {}, shape->front().integer().value_or(0)};
    if (const auto sizes = counts_in(shape->front()))
      made.sizes.assign(sizes->begin(), sizes->end());
    const std::vector<Value> stated = items_of(item_of(widths, *text.text()));
    const std::int64_t there = made.sizes.empty() ? made.equal : std::ssize(made.sizes);
    if (there > kMostBlocks || (!stated.empty() && std::ssize(stated) != there)) return false;
    if (!add_widths(stated, made)) return false;
    std::int64_t rows = 0;  // of all: that they overflow is said here, and of this entry alone
    for (const std::int64_t size : made.sizes) rows = checked_add(rows, size);
    made_.sub_params_.push_back(std::move(made));
    return true;
  }

  /// False where the widths are not those of the sub-parameters' sizes.
  bool add_widths(const std::vector<Value>& stated, SubParams& made) {
    std::vector<std::int64_t> sums;
    for (const Value& one : stated) {
      look_at(one);
      const auto widths = counts_in(one, kMostRanks);
      if (!widths) return false;
      if (made.ranks.empty()) made.ranks.resize(widths->size());
      if (widths->size() != made.ranks.size()) return false;
      std::int64_t all = 0;
      for (std::size_t rank = 0; rank < widths->size(); ++rank) {
        made.ranks[rank].push_back({all, (*widths)[rank], 0});
        all = checked_add(all, (*widths)[rank]);
      }
      for (std::vector<SubParamRows>& rows : made.ranks) rows.back().all = all;
      sums.push_back(all);
    }
    if (made.sizes.empty() && !sums.empty()) made.sizes.assign(sums.size(), sums.front());
    return sums.empty() || sums == made.sizes;
  }

  void say(std::string_view key, std::size_t count, std::vector<Finding>& findings) const {
    if (count == 0) return;
    findings.push_back(
        odd(where_,
            fmt::format("{} is not understood for {} of its parameters, whose parts may lie "
                        "elsewhere",
                        key, count),
            Code::name_mapping));
  }

  WalkBudget& budget_;
  const Where& where_;
  DeepspeedPieces made_;
  std::size_t left_out_[2] = {0, 0};
  std::size_t literals_ = 0, expressions_ = 0;
};

DeepspeedPieces DeepspeedPieces::read(Value info, WalkBudget& budget, const Where& where,
                                      std::vector<Finding>& findings) {
  return Reader(budget, where).read(info, findings);
}

const DeepspeedPieces::Affine* DeepspeedPieces::affine(std::string_view name) const {
  const auto found =
      std::ranges::find_if(affine_, [&](const Affine& one) { return one.pattern.matches(name); });
  return found == affine_.end() ? nullptr : &*found;
}

bool DeepspeedPieces::has_several(std::string_view name) const {
  const auto maps =
      std::ranges::count_if(affine_, [&](const Affine& one) { return one.pattern.matches(name); });
  const SubParams* first = sub_params(name);
  if (maps > 0 || first == nullptr) return maps > 1;
  return std::ranges::any_of(sub_params_, [&](const SubParams& one) {
    const bool alike =
        one.ranks == first->ranks && one.sizes == first->sizes && one.equal == first->equal;
    return !alike && one.pattern.matches(name);
  });
}

const DeepspeedPieces::SubParams* DeepspeedPieces::sub_params(std::string_view name) const {
  const auto found = std::ranges::find_if(
      sub_params_, [&](const SubParams& one) { return one.pattern.matches(name); });
  return found == sub_params_.end() ? nullptr : &*found;
}

std::vector<SubParamRows> DeepspeedPieces::rows_of(const SubParams& stated, const Shape& shape,
                                                   std::int64_t rank, std::int64_t count) {
  if (!stated.ranks.empty()) {
    const bool all = std::ssize(stated.ranks) == count;
    return all ? stated.ranks[static_cast<std::size_t>(rank)] : std::vector<SubParamRows>();
  }
  std::vector<SubParamRows> rows;
  for (const std::int64_t size : stated.sizes) {
    if (size % count != 0) return {};
    rows.push_back({checked_mul(rank, size / count), size / count, size});
  }
  if (!rows.empty() || stated.equal < 1 || shape[0] % stated.equal != 0) return rows;
  const std::int64_t here = shape[0] / stated.equal;
  rows.assign(static_cast<std::size_t>(stated.equal),
              {checked_mul(rank, here), here, checked_mul(count, here)});
  return rows;
}

std::optional<std::vector<DeepspeedBlock>> DeepspeedPieces::blocks_of(std::string_view name,
                                                                      const Shape& shape,
                                                                      std::int64_t rank,
                                                                      std::int64_t count) const {
  if (const Affine* stated = affine(name)) {
    const auto part = stated->parts.find(rank);
    const bool fits = part != stated->parts.end() && std::ssize(stated->parts) == count &&
                      part->second.shape == shape;
    return fits ? std::optional(part->second.blocks) : std::nullopt;
  }
  const SubParams* stated = shape.empty() ? nullptr : sub_params(name);
  if (stated == nullptr) return std::nullopt;
  return blocks_of_rows(shape, rows_of(*stated, shape, rank, count));
}

std::optional<std::vector<DeepspeedBlock>> blocks_of_rows(const Shape& shape,
                                                          const std::vector<SubParamRows>& rows) {
  if (rows.empty() || shape.empty()) return std::nullopt;
  std::int64_t here = 0;
  Shape logical = shape;
  logical[0] = 0;
  for (const SubParamRows& one : rows) {
    here = checked_add(here, one.here);
    logical[0] = checked_add(logical[0], one.all);
  }
  if (here != shape[0]) return std::nullopt;
  std::vector<DeepspeedBlock> blocks;
  std::int64_t begin = 0, all = 0;
  for (const SubParamRows& one : rows) {
    DeepspeedBlock block{logical, Extents(shape.size(), 0), shape, begin};
    block.lo[0] = checked_add(all, one.before);
    block.shape[0] = one.here;
    begin = checked_add(begin, element_count(block.shape));
    all = checked_add(all, one.all);
    if (element_count(block.shape) > 0) blocks.push_back(std::move(block));
  }
  return blocks;
}

}  // namespace ttcheck::formats
