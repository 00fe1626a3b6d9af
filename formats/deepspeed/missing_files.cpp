// SPDX-License-Identifier: Apache-2.0
// Nothing lists the files of a tag, so what should be there follows from the counts of ranks and
// from the files that are. Whether every data-parallel rank writes an optimizer file, or a model
// file, shows in one such file, else in the first ZeRO stage that a `ds_config` states. A layer
// is missed only where another tensor-parallel rank wrote it. Experts are counted by
// `num_experts` of each MM's first model file; other layers that have expert files should have as
// many experts as the highest number in any name tells.
//
// A file that is there and cannot be read is not missing: the opener says that. Missing
// partitions become missing ranks, of which 1024 are listed; each other file is a finding by
// name. Experts said to be missing end at 1024 too.

#include "formats/deepspeed/missing_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "formats/bytes/findings.hpp"
#include "formats/deepspeed/experts.hpp"

namespace ttcheck::formats {
namespace {

class Finder {
 public:
  explicit Finder(DeepspeedTag& tag) : tag_(tag) {
    for (const DeepspeedPart& part : tag_.parts) {
      const DeepspeedFile& file = part.file;
      by_rank_.emplace(file.kind, file.dp.value_or(0), file.mp);
      if (file.kind == DeepspeedKind::expert) {
        experts_.emplace(file.mp, file.layer, file.expert);
        most_experts_ = std::max(most_experts_, file.expert + 1);
        one_layer_ = one_layer_ || !file.path.starts_with("layer_");
      }
      if (file.kind == DeepspeedKind::layer) layers_.emplace(file.layer, file.mp);
    }
  }

  void find() {
    find_ranks();
    find_layers();
    find_experts();
    find_expert_optimizers();
    std::ranges::sort(tag_.missing_ranks);
    for (Finding& finding : findings_.take()) tag_.findings.push_back(std::move(finding));
  }

 private:
  bool any(DeepspeedKind kind) const {
    return std::ranges::any_of(tag_.parts, [&](const DeepspeedPart& part) {
      return part.file.kind == kind && part.file.dp;
    });
  }

  void find_ranks() {
    const std::int64_t stage = stage_stated();
    const bool cut_optimizer = !tag_.merged && (any(DeepspeedKind::optimizer) || stage >= 1);
    const bool cut_model =
        any(DeepspeedKind::model) || (tag_.of(DeepspeedKind::model).empty() && stage == 3);
    for (std::int64_t mp = 0; mp < tag_.ranks.pp * tag_.ranks.tp; ++mp) {
      for (std::int64_t dp = 0; dp < tag_.ranks.dp; ++dp) {
        if (tag_.missing_ranks.size() == kMaxRanksListed) return;
        const std::int32_t rank = tag_.ranks.rank(dp, mp);
        if (cut_optimizer && !by_rank_.contains({DeepspeedKind::optimizer, dp, mp})) {
          tag_.missing_ranks.push_back(rank);
        }
        if ((cut_model || dp == 0) && !by_rank_.contains({DeepspeedKind::model, dp, mp})) {
          say(cut_model ? fmt::format("zero_pp_rank_{}_mp_rank_{:02}_model_states.pt", dp, mp)
                        : fmt::format("mp_rank_{:02}_model_states.pt", mp),
              rank);
        }
      }
    }
  }

  /// The ZeRO stage that the configuration asks for; 0 where it is not there.
  std::int64_t stage_stated() const {
    for (const DeepspeedPart& part : tag_.parts) {
      if (part.torch == nullptr) continue;
      const Value config = item_of(part.torch->root(), "ds_config");
      const auto stage = item_of(item_of(config, "zero_optimization"), "stage").integer();
      if (stage) return *stage;
    }
    return 0;
  }

  /// Says which files of the others are not there, of each layer that one tensor-parallel rank
  /// wrote.
  void find_layers() {
    for (auto [layer, last] = std::pair(layers_.begin(), std::int64_t{-1}); layer != layers_.end();
         ++layer) {
      if (layer->first == last) continue;
      last = layer->first;
      for (std::int64_t rank = 0; tag_.ranks.tp > 1 && rank < tag_.ranks.tp; ++rank) {
        if (layers_.contains({last, rank})) continue;
        say(fmt::format("layer_{:02}-model_{:02}-model_states.pt", last, rank), kNoRank);
      }
    }
  }

  void find_experts() {
    std::set<std::pair<std::int64_t, std::int64_t>> counted;  // MM, layer
    for (const DeepspeedPart* part : tag_.of(DeepspeedKind::model)) {
      if (!checked_.insert(part->file.mp).second) continue;
      const auto stated = sequence(item_of(part->torch->root(), "num_experts"));
      const Value automatic = item_of(part->torch->root(), "ds_autoep_layers");
      const bool listed = stated && (!automatic || automatic.is_none());
      std::int64_t layer = 0;
      for (const Value& count : listed ? *stated : std::vector<Value>()) {
        counted.emplace(part->file.mp, layer);
        find_experts(part->file.mp, layer++, count.integer().value_or(0));
        if (one_layer_ || absent_ == kMaxRanksListed) break;
      }
    }
    std::set<std::pair<std::int64_t, std::int64_t>> uncounted;
    for (const auto& [mp, layer, expert] : experts_) {
      if (!counted.contains({mp, layer})) uncounted.emplace(mp, layer);
    }
    for (const auto& [mp, layer] : uncounted) find_experts(mp, layer, most_experts_);
  }

  void find_experts(std::int64_t mp, std::int64_t layer, std::int64_t count) {
    for (std::int64_t expert = 0; expert < count && absent_ < kMaxRanksListed; ++expert) {
      if (!experts_.emplace(mp, layer, expert).second) continue;
      ++absent_;
      const std::string name = fmt::format("expert_{}_mp_rank_{:02}_model_states.pt", expert, mp);
      say(one_layer_ ? name : fmt::format("layer_{}_{}", layer, name), kNoRank);
    }
  }

  void find_expert_optimizers() {
    std::set<std::int64_t> spread;
    for (const DeepspeedPart& part : tag_.parts) {
      const bool known = part.torch != nullptr && part.file.kind == DeepspeedKind::model &&
                         expert_ranks_of(item_of(part.torch->root(), "optimizer"));
      if (known || part.file.kind == DeepspeedKind::expert_optimizer) spread.insert(part.file.mp);
    }
    for (const std::int64_t mp : spread) {
      for (std::int64_t ep = 0; ep < tag_.ranks.ep; ++ep) {
        if (by_rank_.contains({DeepspeedKind::expert_optimizer, ep, mp})) continue;
        say(fmt::format("expp_rank_{}_mp_rank_{:02}_optim_states.pt", ep, mp),
            tag_.ranks.rank(ep, mp));
      }
    }
  }

  void say(const std::string& name, std::int32_t rank) {
    Finding finding =
        found(Code::missing_rank, name + " is not there", {tag_.given + "/" + name, {}, {}});
    if (rank != kNoRank) finding.ranks = {rank};
    finding.incomplete = true;
    findings_.add(std::move(finding));
    ++tag_.unreadable;
  }

  DeepspeedTag& tag_;
  Findings findings_;
  std::set<std::tuple<DeepspeedKind, std::int64_t, std::int64_t>> by_rank_;  ///< dp, MM
  std::set<std::pair<std::int64_t, std::int64_t>> layers_;                   ///< tensor rank
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> experts_;   ///< MM, layer
  std::set<std::int64_t> checked_;
  std::int64_t most_experts_ = 0;
  std::size_t absent_ = 0;  ///< experts, of all layers
  bool one_layer_ = false;  ///< expert files as the first releases named them
};

}  // namespace

void find_missing(DeepspeedTag& tag) { Finder(tag).find(); }

}  // namespace ttcheck::formats
