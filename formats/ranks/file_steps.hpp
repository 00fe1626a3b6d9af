// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether the files of a checkpoint are of one step, by the steps that optimizers count for each
// parameter. A counter may lag behind the others (a parameter that was frozen at first, an expert
// that got no token), so single ones prove nothing; a file in which all are others than in every
// other file does.

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "core/model/run.hpp"

namespace ttcheck::formats {

/// The value of a whole array of one element; none of a part of one, where it cannot be read, and
/// where it is no number.
std::optional<double> scalar_of(const Record& record);

/// The steps that a state's facts count: `iteration`, `global_step`, `last_epoch` and the like.
std::set<double> stated_steps(const std::vector<Fact>& facts);

/// The highest step that an optimizer counts, of some records, and where.
struct NewestStep {
  double step = 0;
  Where where;
};
std::optional<NewestStep> newest_step(const std::vector<Record>& records);

/// TT507 for each file all of whose counters state one step, where those of the other files state
/// others. Which are right, `named` by the checkpoint's name tells, else the counts among the
/// facts, else most files. Looks at some records of each file.
std::vector<Finding> check_file_steps(const State& state, std::optional<std::int64_t> named);

}  // namespace ttcheck::formats
