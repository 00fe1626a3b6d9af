// SPDX-License-Identifier: Apache-2.0
#include "reports/screen_words.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace ttcheck::reports {
namespace {

constexpr ScreenWord kWords[] = {
    {"EQUAL",
     "Every tensor is the same bit for bit, or one side is the other after a cast that is named."},
    {"NOISE",
     "What differs does so by no more than rounding explains, or what repeated runs showed, or "
     "what "
     "was stated. When that may be trusted: ttcheck-limits(7)."},
    {"DIVERGED",
     "Something differs by more, is missing, or has another shape. The exit code has 1 in it."},
    {"UNDECIDED",
     "All was read and decides nothing: the two are farther apart than rounding makes them and "
     "nearer than other training does. A common ancestor (--base), repeats (calibrate) or "
     "optimizer "
     "state would settle it. The exit code has 2 in it."},
    {"NOT-COMPARABLE",
     "The two cannot be compared, or something that was asked could not be read. The exit code has "
     "2 in it."},
    {"MISSING", "The reference has it and the candidate lacks it; no numbers differ."},
    {"UNEXPECTED", "The candidate has it and the reference lacks it; no numbers differ."},
    {"TRANSPOSED", "Shapes differ as they do where a matrix was stored the other way."},
    {"borderline", "Beyond the limit by less than twice: more evidence may overturn it."},
    {"cause?",
     "What stands before the first difference and may have caused it: a setting, a counter, a file "
     "that is not there."},
    {"what",
     "How far the first tensor that is wrong is off, beside how much of that is explained."},
    {"off by",
     "The size of the difference over the size of the reference, both as norms of the tensor, "
     "unless the line says of what else: of the worst row, the worst element, on average."},
    {"explained",
     "How much a correct run may be off there: what rounding comes to by dtype, op and depth, what "
     "repeated runs showed, or what was stated. -v says where each comes from."},
    {"worst at", "The element that is farthest off, and what both sides hold there."},
    {"where", "The rows, columns, heads, blocks or ranks to which the difference is confined."},
    {"why", "What explains the difference once it is corrected for, or why that is not known."},
    {"right",
     "What agrees before the first difference: earlier steps, and in this one the records before "
     "it "
     "in the order of the step."},
    {"behind it", "What else is wrong later in the step, and how much of it only passes this on."},
    {"also wrong",
     "Records that are wrong though what went into them is right: further faults of their own."},
    {"others", "What is right beside what is wrong."},
    {"largest", "Of noise, the tensor that is nearest to its limit."},
    {"record", "One tensor of a trace: what an op took or gave, in one phase of one step."},
    {"ranks", "Those whose part of the tensor is wrong; - where the format has none."},
    {"not there", "What only one side has, or what could not be read."},
    {"left out", "What was not compared, and by which rule."},
    {"known",
     "Differences for which the file that --known names has an entry, and why it says they are no "
     "fault. They count for nothing else in the answer."},
    {"relation",
     "What two stored states are to each other: copies, the same training in other arithmetic, or "
     "trained apart."},
};

bool same_letters(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

}  // namespace

std::span<const ScreenWord> screen_words() { return kWords; }

const ScreenWord* screen_word(std::string_view word) {
  const auto* row = std::ranges::find_if(
      kWords, [&](const ScreenWord& one) { return same_letters(one.word, word); });
  return row == std::end(kWords) ? nullptr : row;
}

}  // namespace ttcheck::reports
