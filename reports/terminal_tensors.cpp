// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "reports/columns.hpp"
#include "reports/escape.hpp"
#include "reports/fold.hpp"
#include "reports/terminal_parts.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

using Results = std::vector<const TensorResult*>;

/// The results by outcome, all in one walk: results are large, and may be many.
std::array<Results, kOutcomes.size()> by_outcome(const Verdict& verdict) {
  std::array<Results, kOutcomes.size()> results;
  for (const TensorResult& one : verdict.tensors) {
    results[static_cast<std::size_t>(one.outcome())].push_back(&one);
  }
  return results;
}

/// One group per result, for --all.
std::vector<Group> each(const Results& results) {
  std::vector<Group> groups;
  groups.reserve(results.size());
  for (const TensorResult* one : results) groups.push_back({one, {one}});
  return groups;
}

std::vector<std::string> row_of(const Group& group, bool judged) {
  const TensorResult& worst = *group.worst;
  return {name_of(group),
          thousands(static_cast<std::int64_t>(group.results.size())),
          dtypes_of(worst),
          judged ? short_number(worst.error) : "",
          judged ? short_number(worst.limit_shown()) : "",
          judged ? short_number(worst.ratio) : terminal_text(worst.cast),
          folded(wrong_ranks_of(group)),
          folded(steps_of(group))};
}

/// A table of the groups of one outcome, at most `top` rows.
std::string table(std::string_view title, const std::vector<Group>& groups, bool judged,
                  const ReportOptions& options, bool worst_first = false) {
  if (groups.empty()) return "";
  const std::size_t most =
      options.top == 0 || options.all ? groups.size() : static_cast<std::size_t>(options.top);
  Columns columns("lrlrrrll");
  columns.add({std::string(title), "tensors", "dtype", "error", "limit", judged ? "ratio" : "cast",
               "ranks", "steps"});
  std::vector<const Group*> order;
  order.reserve(groups.size());
  for (const Group& group : groups) order.push_back(&group);
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(most, order.size()));
  if (worst_first) {  // of one ratio, the first
    std::ranges::partial_sort(order, end, std::greater{}, [&](const Group* group) {
      return std::pair(group->worst->ratio, groups.data() - group);
    });
  }
  order.erase(end, order.end());
  for (const Group* group : order) columns.add(row_of(*group, judged));
  std::string text = table_section(columns, options);
  if (groups.size() > most) {
    text += fmt::format("... and {} like these (--top 0, --all)\n",
                        counted(static_cast<std::int64_t>(groups.size() - most), "row"));
  }
  return text;
}

}  // namespace

std::string tensors_section(const Verdict& verdict, const ReportOptions& options) {
  const auto all = by_outcome(verdict);
  const auto groups = [&](Outcome outcome) {
    const Results& results = all[static_cast<std::size_t>(outcome)];
    return options.all ? each(results) : fold(results);
  };
  std::string text = table("Beyond the limit", groups(Outcome::diverged), true, options);
  text += table("Not comparable", groups(Outcome::not_comparable), false, options);
  // Beside a divergence, what is within its limit matters little.
  ReportOptions fewer = options;
  if (verdict.outcome == Outcome::diverged && options.top > 3) fewer.top = 3;
  text += table("Within the limit", groups(Outcome::noise), true, fewer, !options.all);
  if (options.all) text += table("Equal", groups(Outcome::equal), false, options);
  return text;
}

}  // namespace ttcheck::reports
