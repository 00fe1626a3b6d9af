// SPDX-License-Identifier: Apache-2.0
// Without a tie there is at most one deal: each stage takes layers off the front until its size
// is reached, and where a size ends within a layer nothing fits. A tied layer and its twin are
// taken out of the row, and every stage may have it or not; so the ways fork, and all of them are
// followed stage by stage. A way counts when all layers are dealt out, several stages have the
// tied layer, and one of these covers the place of its number; its twin's place is then covered
// by another one.
//
// What the stages hold beyond one copy of each layer says which layers are worth trying: a tied
// one's size divides it. A twin is any later layer of the same names and shapes. 16 ties, 64
// pairs, 64 ways a stage and 64 deals are the limits, and ways beyond them are dropped; which of
// the deals is right the caller finds out.

#include "formats/deepspeed/stage_parameters.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/checked.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kMostTies = 16;   ///< layers that are tried as the tied one
constexpr std::size_t kMostTwins = 64;  ///< pairs of layers that are tried as one module
constexpr std::size_t kMostPaths = 64;

/// Parameters [begin, end) have the number of one layer.
struct Layer {
  std::size_t begin = 0, end = 0;
  std::int64_t size = 0;
};

/// The first stages dealt out: where the next begins among the layers that are left, and for each
/// stage where it ended and whether it has the tied layer.
struct Path {
  std::size_t at = 0;
  std::vector<std::pair<std::size_t, bool>> stages;
};

class Dealer {
 public:
  Dealer(const std::vector<Candidate>& parameters, const std::vector<std::int64_t>& sizes,
         StageUnit unit)
      : parameters_(parameters), sizes_(sizes) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const bool same = i > 0 && prefix(i) == prefix(i - 1);
      if (!same) layers_.push_back({i, i, 0});
      layers_.back().end = i + 1;
      const std::int64_t one =
          unit == StageUnit::parameters ? 1 : element_count(parameters[i].shape);
      layers_.back().size = checked_add(layers_.back().size, one);
    }
  }

  std::vector<StageDeal> deal() {
    if (sizes_.empty() || layers_.empty()) return {};
    add(std::nullopt, std::nullopt);
    if (sizes_.size() == 1) return std::move(deals_);
    const std::int64_t more = surplus();
    std::size_t tries = 0;
    for (std::size_t i = 0; more > 0 && i < layers_.size() && tries < kMostTies; ++i) {
      if (layers_[i].size == 0 || more % layers_[i].size != 0) continue;
      ++tries;
      add(i, std::nullopt);
    }
    tries = 0;
    for (std::size_t i = 0; more >= 0 && i < layers_.size(); ++i) {
      for (std::size_t j = layers_.size(); j-- > i + 1 && tries < kMostTwins;) {
        if (!alike(layers_[i], layers_[j])) continue;
        ++tries;
        add(i, j);
      }
    }
    return std::move(deals_);
  }

 private:
  std::string_view prefix(std::size_t i) const {
    const std::string_view name = parameters_[i].name;
    return name.substr(0, name.find('.') + 1);
  }

  /// How much the stages hold beyond one copy of each layer.
  std::int64_t surplus() const {
    std::int64_t more = 0;
    for (const std::int64_t size : sizes_) more = checked_add(more, size);
    for (const Layer& layer : layers_) more = checked_sub(more, layer.size);
    return more;
  }

  bool alike(const Layer& a, const Layer& b) const {
    if (a.size == 0 || a.end - a.begin != b.end - b.begin) return false;
    for (std::size_t k = 0; k < a.end - a.begin; ++k) {
      const Candidate& one = parameters_[a.begin + k];
      const Candidate& other = parameters_[b.begin + k];
      if (one.shape != other.shape) return false;
      if (one.name.substr(prefix(a.begin).size()) != other.name.substr(prefix(b.begin).size())) {
        return false;
      }
    }
    return true;
  }

  void add(std::optional<std::size_t> tied, std::optional<std::size_t> twin) {
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (tied != i && twin != i) left.push_back(i);
    }
    std::vector<Path> paths = {{}};
    for (const std::int64_t size : sizes_) {
      std::vector<Path> longer;
      for (const Path& path : paths) {
        extend(path, size, left, false, longer);
        if (tied && layers_[*tied].size <= size) {
          extend(path, size - layers_[*tied].size, left, true, longer);
        }
      }
      paths = std::move(longer);
    }
    for (const Path& path : paths) {
      if (path.at != left.size() || deals_.size() >= kMostPaths) continue;
      if (tied && !holds_tied(path, left, *tied, twin)) continue;
      deals_.push_back(made(path, left, tied, twin));
    }
  }

  void extend(const Path& path, std::int64_t size, const std::vector<std::size_t>& left,
              bool with_tied, std::vector<Path>& longer) const {
    std::size_t at = path.at;
    while (size > 0 && at < left.size() && layers_[left[at]].size <= size) {
      size -= layers_[left[at++]].size;
    }
    if (size != 0 || longer.size() >= kMostPaths) return;
    Path& next = longer.emplace_back(path);
    next.at = at;
    next.stages.emplace_back(at, with_tied);
  }

  /// A tied layer is on several stages, among them those in whose place it and its twin stand.
  static bool holds_tied(const Path& path, const std::vector<std::size_t>& left, std::size_t tied,
                         std::optional<std::size_t> twin) {
    const auto count = std::ranges::count(path.stages, true, &std::pair<std::size_t, bool>::second);
    if (count < 2) return false;
    const auto own = stage_of(path, left, tied);
    if (!own) return false;
    if (!twin) return true;
    const auto other = stage_of(path, left, *twin, true);
    return other && *other != *own;
  }

  /// The first, or the last, stage with the tied layer in whose stretch of layers `layer` stands.
  static std::optional<std::size_t> stage_of(const Path& path, const std::vector<std::size_t>& left,
                                             std::size_t layer, bool last = false) {
    std::optional<std::size_t> found;
    std::size_t begin = 0;
    for (std::size_t s = 0; s < path.stages.size(); ++s) {
      const std::size_t end = path.stages[s].first;
      const bool after = begin == 0 || left[begin - 1] < layer;
      const bool before = end == left.size() || layer < left[end];
      if (path.stages[s].second && after && before && (last || !found)) found = s;
      begin = end;
    }
    return found;
  }

  StageDeal made(const Path& path, const std::vector<std::size_t>& left,
                 std::optional<std::size_t> tied, std::optional<std::size_t> twin) const {
    StageDeal deal;
    if (tied) deal.tied = prefix(layers_[*tied].begin);
    if (twin) deal.twin = prefix(layers_[*twin].begin);
    std::size_t begin = 0;
    for (const auto& [end, with_tied] : path.stages) {
      std::vector<Candidate>& stage = deal.stages.emplace_back();
      if (with_tied) append(layers_[*tied], stage);
      for (; begin < end; ++begin) append(layers_[left[begin]], stage);
    }
    return deal;
  }

  void append(const Layer& layer, std::vector<Candidate>& stage) const {
    for (std::size_t i = layer.begin; i < layer.end; ++i) stage.push_back(parameters_[i]);
  }

  const std::vector<Candidate>& parameters_;
  const std::vector<std::int64_t>& sizes_;
  std::vector<Layer> layers_;
  std::vector<StageDeal> deals_;
};

}  // namespace

std::vector<StageDeal> deal_stages(const std::vector<Candidate>& parameters,
                                   const std::vector<std::int64_t>& sizes, StageUnit unit) {
  return Dealer(parameters, sizes, unit).deal();
}

}  // namespace ttcheck::formats
