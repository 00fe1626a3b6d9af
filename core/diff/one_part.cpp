#include "core/diff/one_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/model/part_alone.hpp"
#include "core/verdict/findings.hpp"

namespace ttcheck::diff {

void fold_part(const MetStep& met, std::span<const TensorResult> results,
               std::span<const Finding> before, std::vector<std::size_t>& diverged,
               std::vector<Finding>& findings) {
  if (met.trace || findings.size() < 2) return;
  const bool weights = std::ranges::any_of(met.pairs, [](const noise::RecordPair& pair) {
    return pair.reference->kind == Kind::weight;
  });
  const std::string part = part_alone(results, before, std::ssize(met.pairs), weights);
  if (part.empty()) return;
  std::vector<Finding> left;
  std::vector<std::size_t> of;
  Finding* first = nullptr;
  std::int64_t more = 0;
  left.reserve(findings.size());
  for (std::size_t n = 0; n < findings.size(); ++n) {
    const bool unexplained = !verdict::names_cause(findings[n]);
    if (unexplained && first != nullptr) {
      ++more;
      continue;
    }
    left.push_back(std::move(findings[n]));
    of.push_back(diverged[n]);
    if (unexplained) first = &left.back();
  }
  if (more > 0) first->message += fmt::format("; and {} more: {}", more, part);
  findings = std::move(left);
  diverged = std::move(of);
}

}  // namespace ttcheck::diff
