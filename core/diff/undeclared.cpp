// SPDX-License-Identifier: Apache-2.0
#include "core/diff/undeclared.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "core/assemble/ways.hpp"
#include "core/verdict/findings.hpp"

namespace ttcheck::diff {
namespace {

Finding told(std::string_view how, std::int64_t count, std::optional<std::int64_t> step) {
  return verdict::note(
      Code::shape_or_dtype, step,
      fmt::format("nothing says how ranks hold them{}, in tensors: {}", how, count));
}

}  // namespace

void add_ways(const compare::Pair& pair, const Mesh& reference, const Mesh& candidate, Work& work) {
  if (pair.mapped()) return;
  // Of which ranks hold copies on both sides, none is a sum.
  const bool several = !pair.reference->replicas.empty() && !pair.candidate->replicas.empty();
  for (const bool left : {true, false}) {
    const Tensor& tensor = left ? *pair.reference : *pair.candidate;
    const Mesh& mesh = left ? reference : candidate;
    const auto offer = [&](Tensor&& way, bool parts) {
      const Tensor& kept = work.ways.emplace_back(std::move(way));
      Alternative& one = work.alternatives.emplace_back(work.pairs.size(), pair, parts);
      (left ? one.other.reference : one.other.candidate) = &kept;
    };
    const auto offer_sums = [&](const Tensor& of, bool parts) {
      if (several) return;
      for (Tensor& sum : assemble::as_addends(of, mesh)) offer(std::move(sum), parts);
    };
    offer_sums(tensor, false);
    for (Tensor& cut : assemble::in_parts(tensor, work.parts)) {
      offer_sums(cut, true);
      offer(std::move(cut), true);
    }
  }
}

Finding lost_note(std::int64_t count, std::optional<std::int64_t> step) {
  return verdict::note(Code::missing_rank, step,
                       fmt::format("one side lacks ranks that the other has; compared without "
                                   "them, tensors: {}",
                                   count));
}

Finding untold_note(std::int64_t count, std::optional<std::int64_t> step) {
  return verdict::note(
      Code::missing_rank, step,
      fmt::format("nothing says how ranks hold them, ranks are missing, and the other side is not "
                  "of the same ranks; not compared, tensors: {}",
                  count));
}

Finding by_rank_note(std::int64_t count, std::optional<std::int64_t> step) {
  return told("; each rank's is compared with its own", count, step);
}

Finding placed_note(std::int64_t count, std::optional<std::int64_t> step) {
  return told("; cut along the one dimension in which they are smaller than on the other side",
              count, step);
}

Finding data_parallel_note(const assemble::DataParallel& made, std::optional<std::int64_t> step) {
  return told(
      fmt::format("; what is of the batch is taken as dims = \"{}\", losses and gradients of all "
                  "else as \"{}\"",
                  made.cut, made.mean),
      made.tensors, step);
}

Finding cut_note(std::int64_t count, std::optional<std::int64_t> step) {
  return told(
      ", and their shape fits several axes; cut along the one along which alone parameters are "
      "unlike",
      count, step);
}

Finding parts_note(std::int64_t count, std::optional<std::int64_t> step) {
  return told(
      "; taken as one range of each of the fused parts a rank (gate|up, q|k|v), they come near "
      "the other side and one range of the whole does not",
      count, step);
}

Finding unlike_note(std::int64_t count, std::optional<std::int64_t> step) {
  return verdict::note(
      Code::shape_or_dtype, step,
      fmt::format("nothing says how ranks hold them, and they recorded different hashes of what "
                  "may be addends; not compared, tensors: {}",
                  count));
}

Finding addends_note(std::int64_t count, std::optional<std::int64_t> step) {
  Finding finding =
      verdict::note(Code::partial_sum, step,
                    fmt::format("nothing says how ranks hold them; their sum over the ranks, "
                                "which is compared, comes near the other side and no rank's "
                                "own values do, in tensors: {}",
                                count));
  finding.severity = Severity::warning;
  return finding;
}

}  // namespace ttcheck::diff
