// SPDX-License-Identifier: Apache-2.0
#pragma once
// The end of the pass list: everything that a report prints. Reports are pure functions of it.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/model/dtype.hpp"
#include "core/model/fact.hpp"
#include "core/model/finding.hpp"
#include "core/model/kind.hpp"
#include "core/model/limit.hpp"
#include "core/model/mesh.hpp"
#include "core/model/metrics.hpp"
#include "core/model/one_sided.hpp"
#include "core/model/record.hpp"
#include "core/model/relation.hpp"
#include "core/model/shown.hpp"

namespace ttcheck {

enum class Outcome : std::uint8_t { equal, noise, diverged, not_comparable };

inline constexpr std::array<std::string_view, 4> kOutcomes = {"equal", "noise", "diverged",
                                                              "not-comparable"};
constexpr std::string_view name(Outcome outcome) {
  return kOutcomes[static_cast<std::size_t>(outcome)];
}

/// Which test decided what a result is, and so what its error is of.
enum class Test : std::uint8_t {
  none,         ///< nothing had to be tested
  rel,          ///< of the tensor: ||B - A|| / ||A||
  moved,        ///< of a stored state: sum |b - a| / sum |a|
  row,          ///< of the worst row
  outlier,      ///< of the worst element
  elementwise,  ///< the largest quotient of a tolerance
  exact,        ///< no difference is allowed
  rest,         ///< beside a sentinel
  terms,        ///< relative to what a gradient sums
  statistics,   ///< stored ones
  hash,         ///< stored ones
  replica,      ///< of a copy that must be the same
  non_finite,   ///< NaN or Inf on one side
  grid,         ///< values on a coarser grid
  recomputed,   ///< of an op, from its own inputs
  unmoved,      ///< by an update
  lean,         ///< of most values, to one side
  own,          ///< behind inputs that are equal: what one op may make of round-off
  energy        ///< of groups of runs
};

inline constexpr std::array<std::string_view, 19> kTests = {
    "",           "rel",     "moved",      "row",          "outlier", "elementwise", "exact",
    "rest",       "terms",   "statistics", "hash",         "replica", "non-finite",  "grid",
    "recomputed", "unmoved", "lean",       "own-roundoff", "energy"};
constexpr std::string_view name(Test test) { return kTests[static_cast<std::size_t>(test)]; }

/// Whether what it finds is wrong whatever a limit says, and whatever chance may do.
constexpr bool decides_alone(Test test) {
  return test == Test::replica || test == Test::grid || test == Test::recomputed ||
         test == Test::unmoved || test == Test::lean || test == Test::own;
}

/// One side, as `info` and the head of every report show it.
struct RunSummary {
  std::string path;
  std::string format;
  Mesh mesh;
  std::vector<std::int64_t> steps;
  std::int64_t tensors = 0;  ///< distinct names
  std::uint64_t bytes = 0;   ///< of logical tensors
};

/// Counts that add up: every tensor of both sides is in exactly one class.
struct Coverage {
  std::int64_t paired = 0;   ///< (step, tensor)
  std::int64_t weights = 0;  ///< of these
  std::int64_t only_reference = 0, only_candidate = 0, excluded = 0, unreadable = 0;
  std::vector<std::pair<std::string, std::int64_t>> excluded_by;  ///< rule, count
  std::vector<OneSided> beside;  ///< of these, what only one side has beside the weights of both
  std::vector<std::int64_t> steps_only_reference, steps_only_candidate;
  std::uint64_t bytes_compared = 0, bytes_read = 0, bytes_unclaimed = 0;
};

/// The records of a trace's step that are right before its first difference, in causal order.
struct Before {
  std::int64_t equal = 0, noise = 0;
  Identity last;  ///< of these
};

/// The place where the runs part first.
struct Divergence {
  std::optional<std::int64_t> step;
  std::optional<std::int64_t> microbatch;
  Phase phase = Phase::none;
  std::string op;
  std::string tensor;
  std::vector<std::int32_t> ranks;
  AxisCoordinates axes;
  std::optional<Extents> index;
  std::optional<bool> introduced;
  std::optional<Before> before = {};  ///< nothing of checkpoints, nor where no record is
  std::int32_t call = 0;              ///< of the record; no report prints it
};

/// A record in which an error came about, though all that went into it was within its limit.
struct ErrorRoot {
  std::optional<std::int64_t> step;
  Identity identity;
  std::int64_t inherited = 0;        ///< records that only pass its error on
  std::vector<std::size_t> heirs{};  ///< these, by their place among the pairs of the step
};

/// The places where both sides store one element.
struct Places {
  std::optional<Where> reference, candidate;
};

/// What stands beside a limit: what chance may do to this result, by a rule (core/noise/rules).
struct Allowance {
  std::string rule;
  double amount = 0;  ///< of an element's difference, or as the rule's row says
};

/// One compared pair.
struct TensorResult {
  std::optional<std::int64_t> step;
  Identity identity;           ///< the reference's
  std::string candidate_name;  ///< where it differs from the reference's; else empty
  std::string rule;            ///< how the names met: "same", "drop-root model", "map:..."
  std::size_t pair = 0;        ///< its place among the pairs of its step, in their order
  Kind kind = Kind::weight;
  Outcome by_limit = Outcome::equal;  ///< of what was compared, held to its limit
  Shape shape;
  DType dtype = DType::f32, candidate_dtype = DType::f32;
  std::string cast;  ///< named cast under which they are equal; empty: none needed
  Metrics metrics;
  std::optional<Detail> detail;      ///< where a second pass was made
  std::vector<RankError> ranks;      ///< where a second pass was made
  std::optional<Sentinel> sentinel;  ///< where one hides the rest from the limit
  std::optional<Moved> moved;        ///< of a stored state that differs
  bool odd = false;                  ///< it differs otherwise than its siblings
  Limit limit;
  std::optional<Allowance> allowance;  ///< by which it is noise; none where its limit does
  double error = 0;    ///< what the test that decided measured: rel, quotient, row or outlier
  double allowed = 0;  ///< and how much of it would be right
  double ratio = 0;  ///< error / allowed, the largest of the tests; infinite where none is allowed
  Test test = Test::none;                ///< which one decided
  std::shared_ptr<const Places> places;  ///< of the worst element; null where none is beyond
  std::optional<std::array<double, 2>> values =
      {};  ///< both sides' at the worst element; of the first that diverged in each step
  std::vector<std::int32_t> wrong_ranks;
  std::shared_ptr<const TraceRecord> trace;  ///< the reference's; null for checkpoints

  /// What follows of all that was found: nobody sets it, so that nobody overturns it.
  Outcome outcome() const {
    if (decides_alone(test)) return Outcome::diverged;
    return allowance ? Outcome::noise : by_limit;
  }

  /// Beyond a limit that nobody stated by less than twice: more evidence may overturn it.
  bool is_borderline() const {
    const bool estimated = limit.kind == LimitKind::model || limit.kind == LimitKind::measured ||
                           limit.kind == LimitKind::state;
    return outcome() == Outcome::diverged && by_limit == Outcome::diverged &&
           !decides_alone(test) && estimated && ratio > 1 && ratio < 2;
  }

  /// The number beside `error`: of the test that decided, else of the limit.
  double limit_shown() const { return test == Test::none ? limit.rel : allowed; }
};

/// What became of all pairs, also of those whose rows are not kept.
struct Tally {
  std::array<std::int64_t, kOutcomes.size()> outcomes{};
  std::map<std::string, std::int64_t>
      casts;  ///< of equal pairs, by cast; bitwise ones are not here
  std::map<std::string, std::int64_t> limits;  ///< by the limit's source
  std::map<std::string, std::int64_t> rules;   ///< by the rule that made the names meet
  std::set<std::int64_t> steps;
  std::int64_t borderline = 0;  ///< of those that diverged
  std::int64_t with_nan = 0;    ///< pairs with NaN at the same places on both sides

  std::int64_t of(Outcome outcome) const { return outcomes[static_cast<std::size_t>(outcome)]; }
};

struct FactResult {
  std::string name;
  std::optional<FactValue> reference, candidate;
  std::string verdict;  ///< "equal" "differs" "unread" "only-reference" "only-candidate" "note"
  std::optional<Severity> severity = {};  ///< of the TT309 that it comes to; none: it comes to none
  bool opaque = false;                    ///< a random state or a blob
  std::string assumed = {};  ///< the side whose value is the framework's default; empty: none
  std::optional<std::int64_t> step = {};  ///< the first in which it is so, behind the first of all
};

/// Two names that met though they are not the same.
struct Rename {
  std::string reference, candidate;
  std::string rule;
};

/// What a search for the first bad place came to.
struct Search {
  std::string axis;              ///< "steps", "ops"
  std::vector<std::string> log;  ///< a line for each place that was looked at, in that order
  std::optional<std::int64_t> first_bad_step, last_good_step;
  std::string first_bad_op, last_good_op;  ///< paths of ops; empty: none
  std::int64_t examined = 0, total = 0;    ///< places
  std::uint64_t bytes_read = 0;            ///< some more than once: recomputing reads what went in
  std::uint64_t bytes_total = 0;           ///< of all places
};

/// How far correct runs were seen to be apart in one tensor.
struct CalibratedTensor {
  Identity identity;  ///< micro-batch and call are not told apart
  double d = 0;       ///< largest rel
  double row = 0, outlier = 0;
  std::int64_t samples = 0;
};

/// What `calibrate` measured.
struct Calibration {
  std::vector<std::string> runs;           ///< paths, less the reference's
  std::vector<std::string> perturbations;  ///< of each of them; empty: none
  std::int64_t comparisons = 0;            ///< pairs of runs
  double m = 0, m0 = 0, eps = 0;
  std::string file;  ///< that was written; empty: none
  std::vector<CalibratedTensor> tensors;
};

/// Differences that a file of known ones has an entry for; they are set apart from the verdict.
struct KnownTold {
  std::int64_t count = 0;  ///< of tensors, and of findings that are of none
  std::string reason, date;
  std::string first{};  ///< the name of the first tensor of these; empty: none
};

/// All of one command's answer.
struct Verdict {
  std::string command;               ///< "diff", "info"
  std::optional<Outcome> outcome;    ///< none for `info`
  std::optional<Relation> relation;  ///< of two stored states; of several steps the furthest apart
  std::string reason;                ///< of not-comparable: "incomplete", "other weights"
  bool complete = true;
  int exit = 0;
  std::optional<RunSummary> reference, candidate;
  Coverage coverage;
  std::optional<Divergence> first;
  std::vector<ErrorRoot> roots;  ///< in causal order
  std::vector<Finding> findings;
  Tally tally;
  std::vector<TensorResult> tensors;  ///< equal ones only where a report lists every pair
  std::vector<FactResult> facts;
  std::vector<KnownTold> known;            ///< where a file of them was named: entries that matched
  std::optional<Search> search;            ///< of `bisect`
  std::optional<Calibration> calibration;  ///< of `calibrate`
  std::optional<Shown> shown;              ///< of `show`
  std::shared_ptr<const Profile> profile;  ///< of the first difference's tensor, where a report
                                           ///< draws it; else null
  std::vector<Rename> renames;             ///< where somebody asked for them (--show-map)
  std::vector<std::string> argv;           ///< as the JSON contract wants it
};

}  // namespace ttcheck
