// SPDX-License-Identifier: Apache-2.0
#include "core/diff/ancestor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "core/align/align.hpp"
#include "core/base/error.hpp"
#include "core/base/name_map.hpp"
#include "core/compare/pair_values.hpp"
#include "core/model/stated_numbers.hpp"

namespace ttcheck::diff {
namespace {

bool is_usable(const compare::Pair& pair, const Tensor& base) {
  return !pair.mapped() && base.shape == pair.reference->shape && !is_exact(base.dtype) &&
         compare::has_real_values({&base, &base});
}

/// Meets the ancestor's tensors by the names of one side.
void meet_by_name(const Work& work, const Tensor* compare::Pair::* side, Ancestor& ancestor) {
  NameViewMap<const Tensor*> named;
  for (const Tensor& tensor : ancestor.opened.assembly.tensors) {
    named.emplace(tensor.identity.name, &tensor);
  }
  ancestor.by_pair.assign(work.pairs.size(), nullptr);
  for (std::size_t i = 0; i < work.pairs.size(); ++i) {
    const auto found = named.find((work.pairs[i].*side)->identity.name);
    if (found == named.end() || !is_usable(work.pairs[i], *found->second)) continue;
    ancestor.by_pair[i] = found->second;
  }
}

bool meets(const Ancestor& ancestor) {
  return std::ranges::any_of(ancestor.by_pair, [](const Tensor* one) { return one != nullptr; });
}

/// Meets the ancestor's tensors as the names of the reference meet those of any other run.
void align_names(const Work& work, const DiffContext& context, Ancestor& ancestor) {
  std::vector<Tensor> reference;
  for (const compare::Pair& pair : work.pairs) reference.push_back(*pair.reference);
  ancestor.views = ancestor.opened.assembly.tensors;
  const align::Alignment met =
      align::align(reference, ancestor.views, context.how.align, numbers_of(ancestor.opened.facts));
  for (const align::PairIndex& one : met.pairs) {
    const Tensor& base = ancestor.views[one.candidate];
    if (one.rescaling != nullptr || !is_usable(work.pairs[one.reference], base)) continue;
    ancestor.by_pair[one.reference] = &base;
  }
}

/// The newest of the run's steps that is below `step`, else its newest.
std::size_t newest_below(const Run& run, const std::optional<std::int64_t>& step) {
  for (std::size_t i = run.steps.size(); step && i-- > 0;) {
    if (run.steps[i] && *run.steps[i] < *step) return i;
  }
  return run.steps.size() - 1;
}

std::string name_of(const Run& run, std::size_t index) {
  const auto& step = run.steps[index];
  return step ? fmt::format("step {}", *step) : run.path;
}

Ancestor opened(const Run& run, std::size_t index) {
  Ancestor ancestor;
  ancestor.name = name_of(run, index);
  ancestor.opened = read_step(run, index);
  put_together(run, ancestor.opened);
  return ancestor;
}

}  // namespace

Ancestor named_ancestor(const Work& work, const StepPair& steps, const DiffContext& context) {
  const Run& run = *context.how.base;
  if (run.steps.empty()) throw Error("holds no state", {.file = run.path});
  const std::size_t index = newest_below(run, steps.step);
  Ancestor ancestor = opened(run, index);
  ancestor.name = run.steps[index] ? fmt::format("{} {}", run.path, ancestor.name) : run.path;
  meet_by_name(work, &compare::Pair::reference, ancestor);
  if (!meets(ancestor)) meet_by_name(work, &compare::Pair::candidate, ancestor);
  if (!meets(ancestor)) align_names(work, context, ancestor);
  if (!meets(ancestor)) {
    throw Error("is no ancestor: it has none of the tensors", {.file = run.path})
        .because("no-ancestor");
  }
  return ancestor;
}

std::optional<std::array<Ancestor, 2>> step_before(const Work& work, const StepPair& steps,
                                                   const DiffContext& context) {
  if (!steps.step || steps.reference == 0 || steps.candidate == 0) return std::nullopt;
  const auto& step = context.reference.steps[steps.reference - 1];
  if (!step || context.candidate.steps[steps.candidate - 1] != step) return std::nullopt;
  try {
    std::array<Ancestor, 2> both = {opened(context.reference, steps.reference - 1),
                                    opened(context.candidate, steps.candidate - 1)};
    meet_by_name(work, &compare::Pair::reference, both[0]);
    meet_by_name(work, &compare::Pair::candidate, both[1]);
    return both;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace ttcheck::diff
