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
  explicit Filters(const align::AlignOptions& options)
      : filter_(options.include, options.exclude), counts_(filter_.rules().size()) {}

  /// Counts it under its rule where it is left out.
  bool leaves_out(const std::string& name, std::int64_t tensors) {
    const auto rule = filter_.left_out_by(name);
    if (rule) counts_[*rule] += tensors;
    return rule.has_value();
  }

  void report(align::Alignment& alignment) const {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] > 0) alignment.excluded_by.emplace_back(filter_.rules()[i], counts_[i]);
    }
  }

 private:
  NameFilter filter_;
  std::vector<std::int64_t> counts_;  ///< of tensors, by rule
};

}  // namespace

void apply_filters(MetStep& met, const align::AlignOptions& options) {
  if (options.include.empty() && options.exclude.empty()) return;
  Filters filters(options);
  align::Alignment& alignment = met.alignment;
  met.evidence.assign(alignment.pairs.size(), 0);
  for (std::size_t place = 0; place < alignment.pairs.size(); ++place) {
    const Tensor& tensor = met.reference()[alignment.pairs[place].reference];
    if (filters.leaves_out(tensor.identity.name, 2)) met.evidence[place] = 1;
  }
  const auto drop = [&](std::vector<std::size_t>& alone, const std::vector<Tensor>& tensors) {
    std::erase_if(alone,
                  [&](std::size_t i) { return filters.leaves_out(tensors[i].identity.name, 1); });
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
