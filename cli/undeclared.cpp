#include "cli/undeclared.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/assemble/undeclared.hpp"
#include "core/verdict/findings.hpp"

namespace ttcheck::cli {
void add_sums(const compare::Pair& pair, Work& work) {
  const bool several = !pair.reference->replicas.empty() && !pair.candidate->replicas.empty();
  if (pair.mapped() || several) return;  // of which ranks hold copies on both sides, none is a sum
  for (const bool left : {true, false}) {
    auto sum = assemble::as_addends(left ? *pair.reference : *pair.candidate);
    if (!sum) continue;
    const Tensor& kept = work.sums.emplace_back(std::move(*sum));
    compare::Pair& other = work.alternatives.emplace_back(work.pairs.size(), pair).other;
    (left ? other.reference : other.candidate) = &kept;
  }
}

Finding by_rank_note(std::int64_t count, std::optional<std::int64_t> step) {
  return verdict::note(
      Code::shape_or_dtype, step,
      fmt::format("nothing says how ranks hold them; each rank's is compared with its own, "
                  "in tensors: {}",
                  count));
}

Finding placed_note(std::int64_t count, std::optional<std::int64_t> step) {
  return verdict::note(
      Code::shape_or_dtype, step,
      fmt::format("nothing says how ranks hold them; cut along the one dimension in which "
                  "they are smaller than on the other side, in tensors: {}",
                  count));
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

}  // namespace ttcheck::cli
