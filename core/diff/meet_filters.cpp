// SPDX-License-Identifier: Apache-2.0
#include "core/diff/meet_filters.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "core/base/name_filter.hpp"
#include "core/verdict/findings.hpp"

namespace ttcheck::diff {
namespace {

/// Counts what the user's filters leave out.
class Filters {
 public:
  explicit Filters(const NameGlobs& names) : filter_(names), counts_(filter_.rules().size()) {}

  /// Counts the pair under its rule where it is left out.
  bool leaves_out(const std::string& reference, const std::string& candidate) {
    return count(filter_.left_out_by(reference, candidate), 2);
  }
  bool leaves_out(const std::string& alone) { return count(filter_.left_out_by(alone), 1); }

  void report(align::Alignment& alignment) const {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] > 0) alignment.excluded_by.emplace_back(filter_.rules()[i], counts_[i]);
    }
  }

 private:
  bool count(std::optional<std::size_t> rule, std::int64_t tensors) {
    if (rule) counts_[*rule] += tensors;
    return rule.has_value();
  }

  NameFilter filter_;
  std::vector<std::int64_t> counts_;  ///< of tensors, by rule
};

}  // namespace

void apply_filters(MetStep& met, const NameGlobs& names) {
  if (!names.any()) return;
  Filters filters(names);
  align::Alignment& alignment = met.alignment;
  met.evidence.assign(alignment.pairs.size(), 0);
  for (std::size_t place = 0; place < alignment.pairs.size(); ++place) {
    const align::PairIndex& pair = alignment.pairs[place];
    const std::string& reference = met.reference()[pair.reference].identity.name;
    const std::string& candidate = met.candidate()[pair.candidate].identity.name;
    if (filters.leaves_out(reference, candidate)) met.evidence[place] = 1;
  }
  const auto drop = [&](std::vector<std::size_t>& alone, const std::vector<Tensor>& tensors) {
    std::erase_if(alone,
                  [&](std::size_t i) { return filters.leaves_out(tensors[i].identity.name); });
  };
  drop(alignment.only_reference, met.reference());
  drop(alignment.only_candidate, met.candidate());
  filters.report(alignment);
}

Finding stands_alone(std::uint64_t bytes, std::optional<std::int64_t> step) {
  return verdict::note(
      Code::unmeasured_noise, step,
      fmt::format("judged by its own records alone: diff also reads the others of the step, "
                  "{} MiB, which may show that it is chance, or wrong within its limit",
                  bytes >> 20U));
}

}  // namespace ttcheck::diff
