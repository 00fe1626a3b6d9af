// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "reports/first.hpp"
#include "reports/fold.hpp"
#include "reports/off_by.hpp"
#include "reports/story.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

/// Columns that say the same in every row are left out.
struct ShownColumns {
  bool ranks = false, steps = false;
};

StoryRow row_of(const Group& group, const ShownColumns& shown) {
  const TensorResult& worst = *group.worst;
  StoryRow row;
  row.name = name_of(group);
  if (group.results.size() > 1) {
    row.name += fmt::format(" ({})", thousands(std::ssize(group.results)));
  }
  row.off_by = off_cell(worst);
  row.explained = explained_cell(worst);
  if (shown.ranks) row.ranks = folded(wrong_ranks_of(group));
  if (shown.steps) row.step = stepped(steps_of(group));
  return row;
}

}  // namespace

void tell_rows(const Verdict& verdict, std::size_t most, Story& story) {
  std::vector<const TensorResult*> wrong;
  for (const TensorResult& one : verdict.tensors) {
    if (one.outcome() == Outcome::diverged) wrong.push_back(&one);
  }
  if (wrong.size() < 2) return;
  const bool trace = wrong.front()->identity.phase != Phase::none;
  std::vector<Group> groups;
  if (trace) {  // what passes an error on follows what made it
    for (const TensorResult* const one : wrong) groups.push_back({one, {one}});
  } else {
    groups = fold(wrong);
  }
  const TensorResult* const first = result_of_first(verdict);
  const ShownColumns shown{verdict.candidate && verdict.candidate->mesh.world_size() > 1,
                           verdict.tally.steps.size() > 1};
  story.rows_title = trace ? "in the order of the step" : "in the order of the model";
  for (const Group& group : groups) {
    if (story.rows.size() == most) break;
    story.rows.push_back(row_of(group, shown));
    story.rows.back().first = std::ranges::find(group.results, first) != group.results.end();
  }
  story.more = std::ssize(groups) - std::ssize(story.rows);
}

}  // namespace ttcheck::reports
