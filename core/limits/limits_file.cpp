#include "core/limits/limits_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/limits/model.hpp"

namespace ttcheck::limits {

const LimitEntry* LimitsFile::entry_for(const Identity& identity) const {
  const LimitEntry* best = nullptr;  // the last one, so the one at the highest address
  const auto offer = [&](std::size_t i) {
    const LimitEntry& entry = entries[i];
    if (entry.phase == Phase::none || entry.phase == identity.phase) best = std::max(best, &entry);
  };
  const std::string_view op = module_of(identity);
  for (const std::string_view name : {std::string_view(identity.name), op}) {
    const auto found = by_name.find(std::string(name));
    if (found == by_name.end()) continue;
    for (const std::size_t i : found->second) offer(i);
  }
  for (auto i = with_wildcards.rbegin(); i != with_wildcards.rend(); ++i) {
    if (best != nullptr && &entries[*i] < best) break;
    if (entries[*i].glob->matches(identity.name) || entries[*i].glob->matches(op)) offer(*i);
  }
  return best;
}

Limit measured_limit(const LimitsFile& limits, const LimitEntry& entry, const Tensor& reference,
                     DType coarsest) {
  const double eps = std::max(entry.eps.value_or(0), epsilon(coarsest));
  const double floor = limits.m0 * eps * kind_factor(reference);
  Limit limit;
  limit.kind = LimitKind::measured;
  limit.measured = entry.d;
  const double allowed = limits.m * entry.d;
  limit.rel = std::max(allowed, floor);
  limit.row = std::max(kRowFactor * limit.rel, limits.m * entry.row);
  limit.outlier = std::max(kOutlierFactor * limit.rel, limits.m * entry.outlier);
  limit.source = allowed >= floor
                     ? fmt::format("{}: {:g} x measured {:.3g}", limits.file, limits.m, entry.d)
                     : fmt::format("{}: {:.3g} eps, above {:g} x measured {:.3g}", limits.file,
                                   floor / eps, limits.m, entry.d);
  limit.group =
      fmt::format("{}: {:g} x measured, at least {:g} eps", limits.file, limits.m, limits.m0);
  return limit;
}

}  // namespace ttcheck::limits
