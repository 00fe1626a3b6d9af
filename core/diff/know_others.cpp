#include "core/diff/know_others.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/diff/compared_once.hpp"
#include "core/diff/judge_other_ways.hpp"
#include "core/diff/limits_context.hpp"
#include "core/diff/meet_filters.hpp"
#include "core/verdict/findings.hpp"
#include "core/verdict/judge.hpp"
#include "core/verdict/unread.hpp"

namespace ttcheck::diff {
namespace {

constexpr std::size_t kParts = 16;  ///< in which others are read

/// Whether a pair that is not equal is held to another kind of limit where the sides are copies.
bool depends_on_copies(const Work& some, std::span<const compare::Compared> compared,
                       const limits::LimitContext& known, const DiffContext& context) {
  const auto kind = [&](const compare::Pair& pair, bool copies) {
    limits::LimitContext so = known;
    so.copies = copies;
    so.nothing_to_count = false;
    return limits::limit_for(*pair.reference, *pair.candidate, so, context.limits()).kind;
  };
  for (std::size_t i = 0; i < some.pairs.size(); ++i) {
    const compare::Pair& pair = some.pairs[i];
    if (verdict::equal_under(*pair.reference, *pair.candidate, compared[i].metrics)) continue;
    if (kind(pair, false) != kind(pair, true)) return true;
  }
  return false;
}

/// The smallest first; all at once where a pair may be compared in another way, which others tell.
std::vector<std::vector<std::size_t>> parts_of(const Work& others) {
  std::vector<std::size_t> turn(others.pairs.size());
  std::iota(turn.begin(), turn.end(), 0);
  if (turn.empty()) return {};
  if (!others.alternatives.empty()) return {turn};
  std::ranges::stable_sort(
      turn, {}, [&](std::size_t i) { return logical_bytes(*others.pairs[i].reference); });
  std::vector<std::vector<std::size_t>> parts;
  const std::size_t length = (turn.size() + kParts - 1) / kParts;
  for (std::size_t begin = 0; begin < turn.size(); begin += length) {
    const std::size_t end = std::min(begin + length, turn.size());
    parts.emplace_back(turn.begin() + static_cast<std::ptrdiff_t>(begin),
                       turn.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return parts;
}

/// How many pairs tell whether the sides are copies, and how many of them are equal.
struct Votes {
  std::size_t counted = 0, equal = 0;

  void add(const Work& work, std::span<const compare::Compared> compared) {
    const auto [counted_here, equal_here] = votes_of(work, compared);
    counted += counted_here;
    equal += equal_here;
  }
  /// Whatever `left` more pairs are.
  bool decided(std::size_t left) const {
    return equal * 2 >= counted + left || (equal + left) * 2 < counted + left;
  }
};

Finding alone_note(const Work& some, std::uint64_t bytes, const StepPair& steps) {
  Finding note = verdict::note(
      Code::unmeasured_noise, steps.step,
      fmt::format("judged by what was asked for alone: {} MiB of the others would not tell whether "
                  "the sides are copies of each other",
                  bytes >> 20U));
  note.tensor = some.pairs.front().reference->identity.name;
  return note;
}

}  // namespace

void know_others(Work& some, std::span<const compare::Compared> compared, const Work& others,
                 const StepPair& steps, DiffContext& context, Verdict& verdict) {
  if (some.context || others.pairs.empty()) return;
  for (const compare::Pair& pair : others.pairs) {
    limits::observe(some.known, *pair.reference);
    limits::observe(some.known, *pair.candidate);
  }
  limits::LimitContext known = context_of(some, compared, false);
  if (!depends_on_copies(some, compared, known, context)) return;
  Votes votes{some.known_counted, some.known_equal};
  votes.add(some, compared);
  std::size_t left = others.pairs.size();
  std::uint64_t read = 0;
  for (const std::vector<std::size_t>& wanted : parts_of(others)) {
    if (votes.decided(left)) break;
    Work part = some_of(others, wanted);
    read += bytes_of(part);
    if (read > kMostEvidence) return verdict.findings.push_back(alone_note(some, read, steps));
    std::vector<compare::Compared> found = compare_work(part, steps, context);
    if (std::ranges::any_of(found, &compare::Compared::stopped)) {
      context.told.cut_short = true;
      return verdict.findings.push_back(verdict::interruption(
          "whether the sides are copies of each other was not looked at to the end"));
    }
    compare_otherwise(part, found, context.how);
    votes.add(part, found);
    left -= wanted.size();
  }
  known.copies = votes.counted + left > 0 && votes.equal * 2 >= votes.counted;
  known.nothing_to_count = votes.counted + left == 0;
  some.context = known;
}

}  // namespace ttcheck::diff
