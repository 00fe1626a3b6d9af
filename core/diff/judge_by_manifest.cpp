// SPDX-License-Identifier: Apache-2.0
#include "core/diff/judge_by_manifest.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include "core/limits/limits.hpp"
#include "core/model/name_rules.hpp"
#include "core/verdict/judge.hpp"
#include "core/verdict/tally.hpp"

namespace ttcheck::diff {
namespace {

/// The entry of the tensor in its side's manifest; null where it has none or of another shape.
const ManifestEntry* entry_of(const Tensor& tensor, std::optional<std::int64_t> step,
                              const Manifest& manifest) {
  const auto found = manifest.entries.find({step, manifest_name(tensor.identity)});
  if (found == manifest.entries.end()) return nullptr;
  const ManifestEntry& entry = found->second;
  return entry.shape == tensor.shape && entry.dtype == name(tensor.dtype) ? &entry : nullptr;
}

/// What the manifest says of a step, by name.
auto entries_of(std::optional<std::int64_t> step, const Manifest& manifest) {
  const auto begin = manifest.entries.lower_bound({step, {}});
  const auto end = std::find_if(begin, manifest.entries.end(),
                                [&](const auto& entry) { return entry.first.first != step; });
  return std::ranges::subrange(begin, end);
}

/// Whether a name and its entry, of any step, are another's.
bool is_same(const auto& one, const auto& other) {
  return one.first.second == other.first.second && one.second == other.second;
}

/// Copies must be compared with each other, which a hash of one does not tell.
bool held_by_several(const Tensor& tensor) {
  return !tensor.replicas.empty() || !tensor.term_replicas.empty() || tensor.undeclared;
}

}  // namespace

bool equal_by_manifest(const Tensor& reference, const Tensor& candidate, std::string_view rule,
                       const StepPair& steps, const DiffContext& context) {
  const auto [left, right] = context.how.manifests;
  if (left == nullptr || right == nullptr) return false;
  if (reference.identity != candidate.identity || rule != kSameName) return false;
  if (held_by_several(reference) || held_by_several(candidate)) return false;
  const ManifestEntry* one = entry_of(reference, context.reference.steps[steps.reference], *left);
  const ManifestEntry* other =
      entry_of(candidate, context.candidate.steps[steps.candidate], *right);
  return one != nullptr && other != nullptr && *one == *other;
}

std::optional<std::size_t> first_apart_by_manifest(std::span<const StepPair> pairs,
                                                   const DiffContext& context) {
  const auto [left, right] = context.how.manifests;
  if (left == nullptr || right == nullptr) return std::nullopt;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto one = entries_of(context.reference.steps[pairs[i].reference], *left);
    const auto other = entries_of(context.candidate.steps[pairs[i].candidate], *right);
    if (one.empty() || other.empty()) return std::nullopt;
    const bool same = std::ranges::equal(
        one, other, [](const auto& mine, const auto& theirs) { return is_same(mine, theirs); });
    if (!same) return i > 0 ? std::optional(i) : std::nullopt;
  }
  return std::nullopt;
}

void know_equal_by_manifest(MetStep& met, std::size_t place, const DiffContext& context) {
  const Tensor& reference = *met.pairs[place].reference;
  const ManifestEntry* const entry =
      entry_of(reference, context.reference.steps[met.steps.reference], *context.how.manifests[0]);
  limits::observe(met.work.known, reference, reference);
  if (entry->constant) return;
  ++met.work.known_counted;
  ++met.work.known_equal;
}

void add_equal_by_manifest(MetStep& met, std::size_t place, const DiffContext& context,
                           Verdict& verdict) {
  const Tensor& reference = *met.pairs[place].reference;
  know_equal_by_manifest(met, place, context);
  TensorResult result = verdict::result_of(reference, *met.pairs[place].candidate);
  result.step = met.step;
  result.pair = place;
  result.rule = kByManifest;
  result.limit.source = kManifestSource;
  ++verdict.coverage.paired;
  const bool keep = context.how.keep_equal || result.trace != nullptr;  // equal inputs clear an op
  verdict::add_result(std::move(result), keep, verdict);
}

}  // namespace ttcheck::diff
