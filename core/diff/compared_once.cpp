// SPDX-License-Identifier: Apache-2.0
#include "core/diff/compared_once.hpp"

#include <memory>
#include <utility>

#include "core/diff/compare_all.hpp"

namespace ttcheck::diff {
namespace {

compare::Compared copy_of(const compare::Compared& one) {
  auto sample = one.sample ? std::make_unique<const compare::Sampled>(*one.sample) : nullptr;
  return {one.metrics, one.reference_differs, one.candidate_differs, nullptr, std::move(sample)};
}

}  // namespace

std::vector<compare::Compared> ComparedOnce::compare(const Work& work, const StepPair& steps,
                                                     const DiffOptions& how, bool sample) {
  OfStep& found = of_step(steps);
  const std::vector<char> open = with_other_ways(work);
  std::vector<compare::Compared> all(work.pairs.size());
  std::vector<std::size_t> fresh;
  std::vector<compare::Pair> pairs;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto before = open[i] == 0 ? found.find(work.places[i]) : found.end();
    if (before != found.end()) {
      all[i] = copy_of(before->second.first);
    } else {
      fresh.push_back(i);
      pairs.push_back(work.pairs[i]);
    }
  }
  if (pairs.empty()) return all;
  std::vector<compare::Compared> compared = compare_all(pairs, how, sample);
  for (std::size_t n = 0; n < fresh.size(); ++n) {
    const std::size_t i = fresh[n];
    all[i] = std::move(compared[n]);
    if (open[i] != 0 || !all[i].whole()) continue;
    found.emplace(work.places[i], Found{copy_of(all[i]), {}});
  }
  return all;
}

std::vector<SecondLook*> ComparedOnce::second_looks(const Work& work, const StepPair& steps) {
  OfStep& found = of_step(steps);
  const std::vector<char> open = with_other_ways(work);
  std::vector<SecondLook*> looks(work.pairs.size());
  for (std::size_t i = 0; i < looks.size(); ++i) {
    const auto kept = open[i] == 0 ? found.find(work.places[i]) : found.end();
    looks[i] = kept != found.end() ? &kept->second.second : nullptr;
  }
  return looks;
}

std::vector<const Metrics*> ComparedOnce::known(const StepPair& steps, std::size_t pairs) const {
  std::vector<const Metrics*> known(pairs);
  const auto step = found_.find({steps.reference, steps.candidate});
  if (step == found_.end()) return known;
  for (const auto& [place, found] : step->second) known[place] = &found.first.metrics;
  return known;
}

std::vector<compare::Compared> compare_work(const Work& work, const StepPair& steps, bool sample,
                                            const DiffContext& context) {
  return context.once != nullptr ? context.once->compare(work, steps, context.how, sample)
                                 : compare_all(work.pairs, context.how, sample);
}

}  // namespace ttcheck::diff
