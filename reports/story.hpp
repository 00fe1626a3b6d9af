// SPDX-License-Identifier: Apache-2.0
#pragma once
// What came out, told once, as the screen, the page and the summary of a job show it alike: what,
// where, on which ranks, by how much, what was right before, what is only behind it, and how to go
// on. Words of the field; codes stand behind them. All text is escaped (reports/escape.hpp).

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/verdict.hpp"

namespace ttcheck::reports {

/// One line under its label.
struct StoryLine {
  std::string_view label;
  std::string text;
  int weight = 0;  ///< where room is short lighter lines are left out first
};

/// What was opened as one side.
struct StorySide {
  std::string_view label;
  std::string path, words;  ///< "hf, tp=4, 312 tensors, 2.1 GiB"
};

/// One of the tensors that are wrong, or some that are alike.
struct StoryRow {
  std::string name;
  std::string off_by, explained, ranks, step;
  bool first = false;  ///< the first difference
};

struct Story {
  std::string headline;  ///< "DIVERGED"
  std::string sentence;  ///< "at layers.1.mlp.act_fn, forward of step 12, on rank 1 (tp=1) only"
  std::vector<StorySide> sides;
  std::vector<StoryLine> lines;  ///< in the order in which they are read
  std::string rows_title;
  std::vector<StoryRow> rows;
  std::int64_t more = 0;  ///< rows that are left out
  std::vector<StoryLine> commands;
};

/// `rows`: the most that are told.
Story story_of(const Verdict& verdict, std::size_t rows);

/// The parts of a story, each in a file of its own.
std::string story_headline(const Verdict& verdict);
std::string story_sentence(const Verdict& verdict);
/// Of the first difference: what came before it, how far it is off, why, what is right and wrong
/// beside it.
std::vector<StoryLine> story_first(const Verdict& verdict);
/// Whether it says that one side lacks a tensor, or has it in another shape.
bool tells_lack(const Finding& finding);
/// What one side lacks, and other findings in a line each.
std::vector<StoryLine> story_findings(const Verdict& verdict);
void tell_rows(const Verdict& verdict, std::size_t most, Story& story);

}  // namespace ttcheck::reports
